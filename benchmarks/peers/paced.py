"""Calls with pauses between them: what a program that serves requests does.

    latencies(side, Pace(seconds=1.5, calls=30, pause_s=0.005))     seconds of every call

A turn lasts `seconds`, or until so many calls have been made, within LONGEST times as much.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.peers.subjects import Side

WARM_S = 0.05  # after a stop caches are others', and threads have to be woken
WARM_CALLS = 3  # at least
LONGEST = 4.0


@dataclass(frozen=True, slots=True)
class Pace:
    """One turn of a side: how long, the calls that it makes at least, and the seconds that it
    sleeps before each.
    """

    seconds: float
    calls: int = 1
    pause_s: float = 0.0


def latencies(side: Side, pace: Pace) -> list[float]:
    """Seconds of every counted call; some are made before any counts."""
    begun = time.perf_counter()
    made = 0
    while made < WARM_CALLS or time.perf_counter() - begun < WARM_S:
        side.call()
        made += 1
    taken: list[float] = []
    begun = time.perf_counter()
    while True:
        spent = time.perf_counter() - begun
        enough = spent >= pace.seconds and len(taken) >= pace.calls
        if taken and (enough or spent >= LONGEST * pace.seconds):
            return taken
        if pace.pause_s:
            time.sleep(pace.pause_s)
        started = time.perf_counter()
        side.call()
        taken.append(time.perf_counter() - started)

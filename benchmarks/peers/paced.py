"""Calls with pauses between them, by several threads: what a program that serves requests does.

    latencies(side, Pace(seconds=1.5, calls=30, pause_s=0.005, threads=2))     seconds of every call

A turn lasts `seconds`, or until so many calls have been made, within LONGEST times as much.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.peers.subjects import Side

WARM_S = 0.05  # after a stop caches are others', and threads have to be woken
WARM_CALLS = 3  # of each thread, at least
LONGEST = 4.0


@dataclass(frozen=True, slots=True)
class Pace:
    """One turn of a side: how long, the calls that it makes at least, the seconds that a thread
    sleeps before each, and how many threads call at once.
    """

    seconds: float
    calls: int = 1
    pause_s: float = 0.0
    threads: int = 1


def latencies(side: Side, pace: Pace) -> list[float]:
    """Seconds of every counted call of all threads.

    Each thread calls some times before any call counts; then all begin together.
    """
    calls = [side.call]
    while len(calls) < pace.threads:
        calls.append(side.another() if side.another else side.call)
    if pace.threads == 1:
        _warm(side.call)
        return _paced(side.call, pace)
    return _together(calls, pace)


def _together(calls: list[Callable[[], Any]], pace: Pace) -> list[float]:
    """One thread for each of `calls`; the first error of any of them is raised."""
    barrier = threading.Barrier(len(calls))
    found: list[float] = []
    errors: list[Exception] = []

    def caller(call: Callable[[], Any]) -> None:
        # Whatever a library raises in a thread is raised where the thread is waited for.
        try:
            _warm(call)
            barrier.wait()
            found.extend(_paced(call, pace))
        except Exception as error:
            errors.append(error)
            barrier.abort()

    threads = [threading.Thread(target=caller, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


def _warm(call: Callable[[], Any]) -> None:
    begun = time.perf_counter()
    made = 0
    while made < WARM_CALLS or time.perf_counter() - begun < WARM_S:
        call()
        made += 1


def _paced(call: Callable[[], Any], pace: Pace) -> list[float]:
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
        call()
        taken.append(time.perf_counter() - started)

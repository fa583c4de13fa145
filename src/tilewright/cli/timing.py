"""Time several functions fairly in one process.

timings = interleaved({"ours": f, "theirs": g}, seconds=5)     timings["ours"].median_s

They take turns in short blocks, in an order that rotates, so that a busy moment of the machine hits
all of them. Each block begins with a pause, because thread pools go on spinning for some
milliseconds and would take cores from the next one, and with calls that do not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

PAUSE_S = 0.03
BLOCK_S = 0.25
WARM_CALLS = 2
LEAST_CALLS = 3  # counted calls of a block


@dataclass(frozen=True, slots=True)
class CallTimes:
    """Wall seconds of every counted call, the Python call included."""

    calls_s: tuple[float, ...]

    @property
    def median_s(self) -> float:
        """The typical call."""
        return median(self.calls_s)

    @property
    def least_s(self) -> float:
        """The quickest call."""
        return min(self.calls_s)

    @property
    def mean_s(self) -> float:
        """What a call takes in a row of them: its reciprocal is the throughput."""
        return fmean(self.calls_s)

    def percentile_s(self, percent: float) -> float:
        """So many percent of the calls took no longer."""
        return float(np.percentile(self.calls_s, percent))


def interleaved(
    functions: Mapping[str, Callable[[], object]], seconds: float
) -> dict[str, CallTimes]:
    """Call every function for about `seconds` in all (at least one block each)."""
    names = list(functions)
    calls: dict[str, list[float]] = {name: [] for name in names}
    started = time.perf_counter()
    turn = 0
    while turn == 0 or time.perf_counter() - started < seconds:
        for i in range(len(names)):
            name = names[(turn + i) % len(names)]
            calls[name] += _block(functions[name])
        turn += 1
    return {name: CallTimes(tuple(found)) for name, found in calls.items()}


def _block(function: Callable[[], object]) -> list[float]:
    time.sleep(PAUSE_S)
    for _ in range(WARM_CALLS):
        function()
    found: list[float] = []
    begun = time.perf_counter()
    while len(found) < LEAST_CALLS or time.perf_counter() - begun < BLOCK_S:
        started = time.perf_counter()
        function()
        found.append(time.perf_counter() - started)
    return found

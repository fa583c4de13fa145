"""Seconds of tuning from Unix times: the time between runs does not count.

clock = Clock([(100.0, 160.0), (1000.0, 1030.0)])
clock.at(130.0), clock.at(500.0), clock.at(1010.0)     30.0, 60.0, 70.0
clock.total                                            90.0
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilewright.records.answers import TrialLine
from tilewright.records.rows import RunRow

Interval = tuple[float, float]
IDLE_S = 120.0  # a longer silence between trials that belong to no recorded run ended a run


class Clock:
    """Runs while any of some intervals (Unix seconds) does; they may overlap."""

    def __init__(self, intervals: Iterable[Interval]) -> None:
        merged = _merged(intervals)
        self._starts = np.array([start for start, _ in merged])
        self._ends = np.array([end for _, end in merged])
        lengths = np.cumsum([0.0, *(self._ends - self._starts)])
        self._offsets = lengths[:-1]
        self.total = float(lengths[-1])

    @staticmethod
    def of(runs: Iterable[RunRow], lines: Sequence[TrialLine]) -> Clock:
        """From recorded runs, and from the trials themselves where no run covers them.

        Databases of earlier versions, and imported ones, have trials without a run.
        """
        intervals = [(run.started_at, run.started_at + run.seconds) for run in runs]
        covered = Clock(intervals)
        known = covered.covers([line.created_at for line in lines])
        last = float("-inf")
        for line in [x for x, inside in zip(lines, known, strict=True) if not inside]:
            now = line.created_at
            if not 0.0 <= now - last <= IDLE_S:
                intervals.append((now - line.build_s - line.run_s, now))
            else:
                intervals.append((last, now))
            last = now
        return Clock(intervals)

    def covers(self, times: Sequence[float]) -> NDArray[np.bool_]:
        """Whether each time lies within an interval."""
        if not len(self._starts):
            return np.zeros(len(times), bool)
        number = np.searchsorted(self._starts, times, side="right") - 1
        begun: NDArray[np.bool_] = number >= 0
        return begun & (np.asarray(times) <= self._ends[number])

    def at(self, times: ArrayLike) -> NDArray[np.float64]:
        """The clock's reading at each time, in seconds."""
        if not len(self._starts):
            return np.zeros(np.shape(times))
        number = np.searchsorted(self._starts, times, side="right") - 1
        inside = np.minimum(times, self._ends[number]) - self._starts[number]
        return np.where(number < 0, 0.0, self._offsets[number] + inside)

    def steps(self, times: ArrayLike) -> NDArray[np.float64]:
        """Seconds from each of some growing times back to the one before, or to the run's start."""
        readings = self.at(times)
        if not len(readings):
            return readings
        number = np.searchsorted(self._starts, times, side="right") - 1
        before = np.concatenate([[0.0], readings[:-1]])
        taken: NDArray[np.float64] = readings - np.maximum(before, self._offsets[number])
        return np.maximum(0.0, taken)


def _merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Disjoint intervals that cover the same times, in order."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged

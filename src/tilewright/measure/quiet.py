"""Timings that nothing else disturbed: tried again if threads had to wait for a core meanwhile.

    patience = Patience()
    timing = undisturbed(lambda: time_it(), patience)

A parallel region is as slow as its last thread. While another process runs on one of its cores,
every call takes 2 to 12 times as long, for as long as that lasts: no median over 60 ms helps, good
programs are given up and the cost model learns nonsense. The kernel knows how long threads that
were ready to run waited for a core. Where it does not say, nothing counts as disturbed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

DISTURBED = 0.1  # seconds that threads waited per second; up to 0.1 costs less than 3 %
TASKS = Path("/proc/self/task")


@dataclass(slots=True)
class Patience:
    """Seconds that may be spent on trying again: some to begin with, then a share of what timing
    takes. So a machine that is never quiet makes a tuning run only that much longer.
    """

    left_s: float = 1.0
    share: float = 0.2
    most_s: float = 4.0

    def earn(self, seconds: float) -> None:
        """A timing took that long."""
        self.left_s = min(self.most_s, self.left_s + self.share * seconds)

    def spend(self, seconds: float) -> bool:
        """Whether there is enough left to try again for so long; it is taken if so."""
        enough = seconds <= self.left_s
        if enough:
            self.left_s -= seconds
        return enough


def waited_s() -> float:
    """Seconds that this process's present threads have waited for a core while ready to run."""
    waited_ns = 0
    for counters in TASKS.glob("*/schedstat"):  # none on other systems
        try:
            waited_ns += int(counters.read_text().split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread has ended
    return waited_ns * 1e-9


def undisturbed(
    timed: Callable[[], Result],
    patience: Patience,
    waited: Callable[[], float] = waited_s,
    clock: Callable[[], float] = time.perf_counter,
) -> Result:
    """What `timed` returns, called again while it is disturbed and `patience` lasts; if no call
    was left alone, what the least disturbed one returned.
    """
    calls: list[tuple[float, Result]] = []
    while True:
        before, started = waited(), clock()
        found = timed()
        took = clock() - started
        calls.append(((waited() - before) / max(took, 1e-9), found))
        if calls[-1][0] <= DISTURBED:
            patience.earn(took)
            return found
        if not patience.spend(took):
            return min(calls, key=lambda call: call[0])[1]

"""Timings that nothing else disturbed: tried again if something did meanwhile.

    patience, pace = Patience(), Pace(target)
    timing = undisturbed(lambda: time_it(), patience, pace.slowdown)

A parallel region is as slow as its last thread. While another process runs on one of its cores,
calls take several times as long for seconds, so that no median helps. Two things tell:

- how long this process's threads, ready to run, waited for a core, which the kernel counts;
- how long a fixed piece of work takes on all threads: all that shows that a virtual machine's cores
  were put on one physical core.

A third slows some programs for longer than it is worth waiting: how far apart the cores are, which
a virtual machine's are now and then (docs/findings.md). It is only noted, as the time of a region
without work, which is little but handing cache lines from thread to thread.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from tilewright.measure.ceilings import OWN_BYTES, fma_ir, load_kernel, meeting_ir
from tilewright.runtime.buffers import aligned_empty
from tilewright.runtime.cpu import pointer_array
from tilewright.target import CpuTarget

Result = TypeVar("Result")

# Seconds waited per second, or the fixed work's time above its least: so much is how a processor
# changes its clock.
DISTURBED = 0.2
PACE_STEPS = 2000
PACE_CALLS = 11  # the first ones wake threads up; the median counts
REGION_CALLS = 61
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


class Pace:
    """How fast this machine is just now: at a fixed number of multiply-adds on each of a target's
    threads, and at entering and leaving a parallel region.
    """

    def __init__(self, target: CpuTarget) -> None:
        """Compile it. Raises RunError if `target` is not this machine."""
        self.target = target
        self._kernel = load_kernel(fma_ir(PACE_STEPS, target), target)
        self._meeting = load_kernel(meeting_ir(target), target)
        sizes = (2 * target.vector_bits // 8, 1, OWN_BYTES * target.cores)
        self._buffers = [aligned_empty((size,), np.dtype(np.uint8)) for size in sizes]
        self._buffers[0].view(np.float32)[:] = 0.5  # the factors
        self._pointers = pointer_array([b.ctypes.data for b in self._buffers])
        self._given = ctypes.addressof(self._pointers)
        self._least = float("inf")

    def slowdown(self) -> float:
        """How much longer it takes now than it ever took: 0 for as long, 1 for twice."""
        seconds = self._kernel.bench(self._given, 0, PACE_CALLS)
        self._least = min(self._least, float(seconds.min()))
        return float(np.median(seconds)) / self._least - 1.0

    def region_s(self) -> float:
        """Seconds that a parallel region takes now in which all threads only meet."""
        return float(np.median(self._meeting.bench(self._given, 0, REGION_CALLS)))


def waited_s() -> float:
    """Seconds that this process's present threads have waited for a core while ready to run; 0 on
    systems that do not say.
    """
    waited_ns = 0
    for counters in TASKS.glob("*/schedstat"):
        try:
            waited_ns += int(counters.read_text().split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread has ended
    return waited_ns * 1e-9


def undisturbed(
    timed: Callable[[], Result],
    patience: Patience,
    slowdown: Callable[[], float],
    limit_s: float = float("inf"),
    waited: Callable[[], float] = waited_s,
    clock: Callable[[], float] = time.perf_counter,
) -> Result:
    """What `timed` returns, called again while it is disturbed, `patience` lasts and all calls
    take less than `limit_s`; if no call was left alone, what the least disturbed one returned.
    """
    calls: list[tuple[float, Result]] = []
    slow, first = slowdown(), clock()
    while True:
        waited_before, started = waited(), clock()
        found = timed()
        took = clock() - started
        share = (waited() - waited_before) / max(took, 1e-9)
        slow_before, slow = slow, slowdown()
        calls.append((max(share, slow_before, slow), found))
        patience.earn(took)
        in_time = clock() + took - first <= limit_s
        if calls[-1][0] <= DISTURBED or not in_time or not patience.spend(took):
            return min(calls, key=lambda call: call[0])[1]

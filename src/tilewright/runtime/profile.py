"""Where a run spends its time, kernel by kernel.

    profile = net.profile(inputs)
    print(profile)

    kernel           calls       time   GFLOP/s    share
    t0_conv_relu         3    2.10 ms     310.2   62.1 %
    …

The times are taken in the run itself, by native code between the kernels; plain runs, without
those clocks, take turns with them and give the latency. Of each kind the middle half counts, the
runs that were neither the quickest nor the slowest, with their mean: so the kernels of a run add
up, which medians of single kernels would not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.contract.artifact import NetworkStep
from tilewright.ground.errors import InputError
from tilewright.ground.text import count, duration, preformatted

Seconds = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KernelTime:
    """All calls of one kernel in a run: their seconds and FLOPs."""

    kernel: str
    calls: int
    seconds: float
    flops: int

    @property
    def gflops(self) -> float:
        """GFLOP/s; 0 where nothing is computed or the clock saw no time."""
        return self.flops / self.seconds / 1e9 if self.seconds else 0.0


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """Kernels, the longest first; `latency_s` is that of a plain native run, and `runs` how many of
    each kind there were.
    """

    kernels: tuple[KernelTime, ...]
    latency_s: float
    runs: int

    @property
    def kernels_s(self) -> float:
        """The sum over the kernels."""
        return sum(k.seconds for k in self.kernels)

    def share(self, kernel: KernelTime) -> float:
        """The part of all kernels' time that `kernel` takes."""
        return kernel.seconds / self.kernels_s if self.kernels_s else 0.0

    def __repr__(self) -> str:
        first = f", the longest {self.kernels[0].kernel}" if self.kernels else ""
        kernels = count(len(self.kernels), "kernel")
        return f"Profile({duration(self.latency_s)} a run of {kernels}{first})"

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def __str__(self) -> str:
        width = max([len("kernel"), *(len(k.kernel) for k in self.kernels)])
        lines = [f"{'kernel':{width}}  calls    time (µs)   GFLOP/s    share"]
        for k in self.kernels:
            rate = f"{k.gflops:9.1f}" if k.flops else f"{'–':>9}"
            times = f"{k.calls:5}  {k.seconds * 1e6:11.1f}  {rate}  {self.share(k):6.1%}"
            lines.append(f"{k.kernel:{width}}  {times}")
        lines.append(
            f"{self.kernels_s * 1e6:.1f} µs in kernels, {self.latency_s * 1e6:.1f} µs a run"
        )
        return "\n".join(lines)


def profile(
    steps: Sequence[NetworkStep],
    timed: Callable[[], Seconds],
    plain: Callable[[], float],
    runs: int,
) -> Profile:
    """Run `timed` (the seconds of each step) and `plain` (of the whole) in turns, `runs` times.

    Raises InputError for fewer than one.
    """
    if runs < 1:
        raise InputError(f"a profile needs at least one run, not {runs}")
    rows, whole = [], []
    for _ in range(runs):
        rows.append(timed())
        whole.append([plain()])
    each = _middle(np.array(rows))
    names = dict.fromkeys(s.kernel for s in steps)
    kernels = []
    for name in names:
        mine = [i for i, s in enumerate(steps) if s.kernel == name]
        seconds, flops = float(each[mine].sum()), sum(steps[i].flops for i in mine)
        kernels.append(KernelTime(name, len(mine), seconds, flops))
    kernels.sort(key=lambda k: -k.seconds)
    return Profile(tuple(kernels), float(_middle(np.array(whole))[0]), runs)


def _middle(rows: Seconds) -> Seconds:
    """The mean of the rows whose sums are in the middle half, column by column."""
    order = np.argsort(rows.sum(axis=1), kind="stable")
    cut = len(rows) // 4
    mean: Seconds = rows[order[cut : len(rows) - cut]].mean(axis=0)
    return mean

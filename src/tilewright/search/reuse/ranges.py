"""In which ranges of usage an operator's good programs lie, given a good one of a relative's.

    ranges = ranges_of(target, here, there)          Nest of the operator, and of its relative
    ranges.hold(usage, given)                        bool [n]

GPUs, as published (ETO, equations 1 to 3), with r1 = |I(rL')| / |I(rL)| and r2 = |I(L)| / |I(L')|
for the loops L of the operator and L' of the relative:

    B / B' in [r1, r2]    T / T' in [1, r2]    M / M' in [1, r2]       ends in either order

CPUs: what carries over is the register tile, of which there are then as many more as there are more
outputs, and the level of the caches that a block fits in; how many blocks there are is free. The
widths are those that keep nine of ten good programs (docs/reuse.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from tilewright.cost.candidates import Bools, Floats
from tilewright.cost.usage import Usage
from tilewright.search.reuse.family import Operator, ratios
from tilewright.target import CpuTarget, Target

TILES = 3.0  # register tiles of at most so many times the size, or that part of it
BLOCK_BYTES = 32.0  # the same of what a block keeps near
ROUNDING = 1e-6  # of usage, which is a float


@dataclass(frozen=True)
class Ranges:
    """Bounds of usage relative to that of a relative's program: of blocks, threads, and bytes of
    all blocks or of each.
    """

    blocks: tuple[float, float]
    threads: tuple[float, float]
    bytes: tuple[float, float] = (0.0, inf)
    block_bytes: tuple[float, float] = (0.0, inf)

    def hold(self, usage: Usage, given: Usage) -> Bools:
        """Which of `usage`, `[n]`, lie in them for a program that takes `given`, `[1]`."""
        each = usage.bytes / usage.blocks
        return (
            _within(usage.blocks / given.blocks, self.blocks)
            & _within(usage.threads / given.threads, self.threads)
            & _within(_ratio(usage.bytes, given.bytes), self.bytes)
            & _within(_ratio(each, given.bytes / given.blocks), self.block_bytes)
        )


def ranges_of(target: Target, here: Operator, there: Operator) -> Ranges:
    """The ranges for one operator from a program of another."""
    if isinstance(target, CpuTarget):
        outputs = here.outputs / there.outputs
        return Ranges(
            blocks=(0.0, inf),
            threads=(outputs / TILES, outputs * TILES),
            block_bytes=(1 / BLOCK_BYTES, BLOCK_BYTES),
        )
    return published(here, there)


def published(here: Operator, there: Operator) -> Ranges:
    """ETO's, whatever the target."""
    r1, r2 = ratios(here, there)
    return Ranges(blocks=ordered(r1, r2), threads=ordered(1.0, r2), bytes=ordered(1.0, r2))


def ordered(a: float, b: float) -> tuple[float, float]:
    return min(a, b), max(a, b)


def _ratio(amount: Floats, given: Floats) -> Floats:
    """A program without shared memory is like one without."""
    unlike = np.where(amount == 0, 1.0, inf)
    return np.divide(amount, given, out=unlike, where=given > 0)


def _within(ratio: Floats, bounds: tuple[float, float]) -> Bools:
    low, high = bounds
    return (ratio >= low * (1 - ROUNDING)) & (ratio <= high * (1 + ROUNDING))

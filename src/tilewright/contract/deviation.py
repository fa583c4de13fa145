"""How far arrays are from others, and whether that is rounding alone.

    worst, relative = difference([y], [reference])
    found, = compare(["y"], [y], [reference], GivenTolerance())
    found.is_allowed

For what a whole network computes, here and elsewhere; the gate of a kernel (`measure/gate.py`)
knows its sums, and allows less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.contract.artifact import Array

RTOL, ATOL = 1e-3, 1e-5
NARROW_RTOL = 2e-2  # where values are stored in 16 bits


@dataclass(frozen=True, slots=True)
class GivenTolerance:
    """How far values may be from others. `rtol` None: as their type allows.

    Relative to the largest of them, not each to its own: a sum whose terms cancel is as far off as
    its terms are large. Integers and bools must be equal unless `rtol` is given.
    """

    rtol: float | None = None
    atol: float = ATOL

    @staticmethod
    def of(reference: Array, is_narrow: bool) -> GivenTolerance:
        """As its type allows; with `is_narrow` it was computed from values of 16 bits."""
        is_float = reference.dtype.kind not in "biu"
        return GivenTolerance(NARROW_RTOL if is_narrow and is_float else None)

    def allows(self, reference: Array) -> float:
        """The largest difference from `reference` that is none."""
        if self.rtol is None and reference.dtype.kind in "biu":
            return 0.0
        largest = float(np.max(np.abs(_finite(reference)), initial=0.0))
        return self.atol + self.relative(reference) * largest

    def relative(self, reference: Array) -> float:
        """What is allowed of the largest value."""
        if self.rtol is not None:
            return self.rtol
        return NARROW_RTOL if reference.dtype.itemsize <= 2 else RTOL


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far one array is from the reference: at most, relative to the largest value, and what is
    allowed.
    """

    name: str
    worst: float
    relative: float
    allowed: float

    @property
    def is_allowed(self) -> bool:
        """Whether it counts as equal; NaN in one of the two only does not."""
        return self.worst <= self.allowed

    @property
    def words(self) -> str:
        """How far, in words: `by 0.3, 0.12 of the largest value`."""
        return f"by {self.worst:.3g}, {self.relative:.2g} of the largest value"


def compare(
    names: Sequence[str], ours: Sequence[Array], theirs: Sequence[Array], tolerance: GivenTolerance
) -> list[Deviation]:
    """How far each of some arrays is from the reference."""
    return [
        Deviation(name, *_difference(a, b), tolerance.allows(b))
        for name, a, b in zip(names, ours, theirs, strict=True)
    ]


def _difference(ours: Array, theirs: Array) -> tuple[float, float]:
    if ours.shape != theirs.shape:
        return float("inf"), float("inf")
    return difference([ours], [theirs])


def _finite(array: Array) -> Array:
    values = np.asarray(array, np.float64)
    return values[np.isfinite(values)]


def difference(outputs: Sequence[Array], reference: Sequence[Array]) -> tuple[float, float]:
    """(largest absolute difference, the same relative to the reference's largest magnitude).

    NaN where only one of the two is NaN; equal infinities differ by nothing.
    """
    worst, scale = 0.0, 0.0
    for ours, theirs in zip(outputs, reference, strict=True):
        a, b = _wide(ours), _wide(theirs)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        gaps = np.abs(np.where(same, 0.0, a) - np.where(same, 0.0, b))
        worst = float(np.max(gaps, initial=worst))  # NaN stays, as it would not with Python's max
        scale = float(np.max(np.abs(b[np.isfinite(b)]), initial=scale))
    return worst, worst / scale if scale else worst


def _wide(array: Array) -> Array:
    """Values of any type in one that has nearly all of them: integers of 64 bits need its bits."""
    exact = array.dtype.kind in "iu" and array.dtype.itemsize == 8
    return np.asarray(array, np.longdouble if exact else np.float64)

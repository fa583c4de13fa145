"""How a factor lies in memory, and how it is made to lie better.

    view(factor, ("b",), ("m",), ("k",), extents)      K contiguous, ld 64, 8 elements an access
    Packed.of(factor, (("m",), ("k",)), extents, 8)    [m, k padded to 8]

A factor is read in place where it is a matrix (of a batch) with one contiguous side. Otherwise, or
for wider accesses, it is packed: a constant when the function is loaded, an input by a kernel of
its own into memory of the plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod

from tilewright.contract.artifact import BufferSpec, Packing, aligned
from tilewright.cutlass.epilogue import group_stride
from tilewright.cutlass.parameters import ACCESS_BYTES, element_bytes
from tilewright.expr.contraction import Axes, Factor, NoMatchError
from tilewright.expr.reference import static_shape

PACKED_RANK = 6  # dimensions that tw_pack.h goes through
PACKED_THREADS = 128
PACKED_COUNT = 8  # elements a thread


@dataclass(frozen=True, slots=True)
class View:
    """A matrix in memory: whether K is its contiguous side, elements from one row of the other side
    (or from one k) to the next, from one matrix of the batch to the next, and how many elements one
    access can have.
    """

    k_contiguous: bool
    ld: int
    step: int
    align: int


def view(
    factor: Factor, batch: Axes, free: Axes, depth: Axes, extents: Mapping[str, int]
) -> View | None:
    """A factor as it lies; None where it is no matrix with a contiguous side."""
    if not factor.is_plain:
        return None
    strides = {a: factor.stride(a) for a in (*batch, *free, *depth)}
    found = [group_stride(strides, axes, extents) for axes in (batch, free, depth)]
    if any(s is None for s in found):
        return None
    step, across, along = (int(s or 0) for s in found)
    rows = prod(extents[a] for a in free)
    k = prod(extents[a] for a in depth)
    if along == 1 or k == 1:
        return View(True, across if free else k, step, _align(factor, k, across, step))
    if across == 1 or rows == 1:
        return View(False, along, step, _align(factor, rows, along, step))
    return None


def _align(factor: Factor, *counts: int) -> int:
    most = ACCESS_BYTES // element_bytes(factor.tensor.dtype.name)
    return gcd(most, *counts)


@dataclass(frozen=True, slots=True)
class Packed:
    """A tensor with its dimensions in `order`, each filled up with zeros to an extent of `padded`.
    Dimensions of one element that no group names are left out of neither.
    """

    factor: Factor
    order: tuple[int, ...]
    padded: tuple[int, ...]

    @staticmethod
    def of(factor: Factor, dimensions: Sequence[int], padded: Mapping[int, int]) -> Packed:
        """`dimensions` in their new order; those of `padded` (by their old number) get that many
        elements. Raises NoMatchError where others have more than one element.
        """
        shape = static_shape(factor.tensor)
        left = [d for d in range(len(shape)) if d not in dimensions]
        if any(shape[d] != 1 for d in left):
            raise NoMatchError(f"{factor.tensor.name} has more dimensions than a matrix's")
        order = (*left, *dimensions)
        return Packed(factor, order, tuple(padded.get(d, shape[d]) for d in order))

    @property
    def packing(self) -> Packing:
        """The same for a constant."""
        shape = static_shape(self.factor.tensor)
        to = dict(zip(self.order, self.padded, strict=True))
        name = self.factor.tensor.dtype.name
        source = BufferSpec(self.factor.tensor.name, shape, name)
        return Packing(source, tuple((to[d],) for d in range(len(shape))), self.order)

    @property
    def elements(self) -> int:
        """As many as are written."""
        return prod(self.padded)

    @property
    def bytes(self) -> int:
        return aligned(self.elements * element_bytes(self.factor.tensor.dtype.name))

    @property
    def blocks(self) -> int:
        return -(-self.elements // (PACKED_COUNT * PACKED_THREADS))

    @property
    def values(self) -> tuple[int, ...]:
        """`PackSizes` of tw_pack.h. Raises NoMatchError for more dimensions than that has."""
        shape = static_shape(self.factor.tensor)
        strides = [prod(shape[d + 1 :]) for d in range(len(shape))]
        kept = [
            (to, shape[d], strides[d])
            for d, to in zip(self.order, self.padded, strict=True)
            if to > 1
        ]
        missing = PACKED_RANK - len(kept)
        if missing < 0 or self.padded[-1] % PACKED_COUNT:
            raise NoMatchError(f"{self.factor.tensor.name} is not packed on a device")
        rows = [(1, 1, 0)] * missing + kept
        return tuple(row[i] for i in range(3) for row in rows)

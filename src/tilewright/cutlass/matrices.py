"""How a factor lies in memory, and how it is made to lie better.

    matrix_of(factor, ("b",), ("m",), ("k",))      K contiguous, ld 64, 8 elements an access
    Packed.of(factor, ("m", "k"), {"k": 8})        [m, k padded to 8]

A factor is read in place where it is a matrix (of a batch) with one contiguous side. Otherwise, or
for wider accesses, it is packed: a constant when the function is loaded, an input by a kernel of
its own into memory of the plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod

from tilewright.contract.artifact import BufferSpec, Packing, aligned
from tilewright.cutlass.parameters import ACCESS_BYTES
from tilewright.expr.contraction.factors import AffineRead
from tilewright.expr.contraction.groups import Axes
from tilewright.expr.reference import static_shape
from tilewright.ground.errors import ScheduleError

PACKED_RANK = 6  # dimensions that tw_pack.h goes through
PACKED_THREADS = 128
PACKED_COUNT = 8  # elements a thread


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix in memory: whether K is its contiguous side, elements from one row of the other side
    (or from one k) to the next, from one matrix of the batch to the next, and how many elements one
    access can have.
    """

    k_contiguous: bool
    ld: int
    step: int
    align: int


def matrix_of(factor: AffineRead, batch: Axes, free: Axes, depth: Axes) -> Matrix | None:
    """A factor as it lies; None where it is no matrix with a contiguous side."""
    step, across, along = (factor.step(axes) for axes in (batch, free, depth))
    if not factor.is_plain or step is None or across is None or along is None:
        return None
    rows, k = (prod(factor.extents[a] for a in axes) for axes in (free, depth))
    most = ACCESS_BYTES // factor.dtype.bytes
    if along == 1 or k == 1:
        return Matrix(True, across if free else k, step, gcd(most, k, across, step))
    if across == 1 or rows == 1:
        return Matrix(False, along, step, gcd(most, rows, along, step))
    return None


@dataclass(frozen=True, slots=True)
class Packed:
    """What is read of a tensor, with its dimensions in `order`, each filled up with zeros to as
    many elements as `padded` says. A constant must be read whole.
    """

    factor: AffineRead
    order: tuple[int, ...]
    padded: tuple[int, ...]

    @staticmethod
    def of(factor: AffineRead, axes: Sequence[str | None], filled: Mapping[str, int]) -> Packed:
        """What is read of a plain factor, dimensions in the order of the axes that index them; some
        `filled` up to an extent.
        """
        pairs = zip(factor.indices, factor.counts, strict=True)
        to = [filled.get(i.axis or "", n) for i, n in pairs]
        last = factor.dimensions(axes)
        order = (*(d for d in range(len(to)) if d not in last), *last)
        return Packed(factor, order, tuple(to[d] for d in order))

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
        return aligned(self.elements * self.factor.dtype.bytes)

    @property
    def blocks(self) -> int:
        return -(-self.elements // (PACKED_COUNT * PACKED_THREADS))

    @property
    def values(self) -> tuple[int, ...]:
        """`PackSizes` of tw_pack.h. Raises ScheduleError for more dimensions than that has."""
        shape = static_shape(self.factor.tensor)
        strides = [prod(shape[d + 1 :]) for d in range(len(shape))]
        kept = [
            (to, self.factor.counts[d], strides[d])
            for d, to in zip(self.order, self.padded, strict=True)
            if to > 1
        ]
        missing = PACKED_RANK - len(kept)
        if missing < 0 or self.padded[-1] % PACKED_COUNT:
            raise ScheduleError(f"{self.factor.tensor.name} is not packed on a device")
        rows = [(1, 1, 0)] * missing + kept
        return tuple(row[i] for i in range(3) for row in rows)

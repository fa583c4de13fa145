"""The factors of a contraction, and where in memory their elements are.

    found = read_of(x[n, h * 2 + r - 1, c], extents)
    found.stride("h"), found.step(("n", "h")), found.offset     in elements

Read off the mathematics alone (`expr.access`): no operator is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tilewright.expr.access import AffineIndex, affine_index
from tilewright.expr.dtypes import DType
from tilewright.expr.index.intervals import AT_LEAST_ZERO
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import Binary, Cast, Const, Expr, Read, Select, Tensor, binary
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import Placeholder
from tilewright.expr.traversal import conjuncts


@dataclass(frozen=True, slots=True)
class NoMatch:
    """Why a computation is none that somebody has a program for."""

    reason: str


@dataclass(frozen=True, slots=True)
class Factor:
    """What is multiplied: `value` over the axes of the contraction, in memory, or if it were there,
    of `dtype`.
    """

    value: Expr
    dtype: DType


@dataclass(frozen=True, slots=True)
class AffineRead:
    """Elements of a tensor at indices that are affine in axes of more than one element, whose
    `extents` there are.
    """

    tensor: Tensor
    indices: tuple[AffineIndex, ...]
    extents: Mapping[str, int]

    @property
    def dtype(self) -> DType:
        return self.tensor.dtype

    @property
    def is_plain(self) -> bool:
        """Whether every dimension is one of the axes as it is, or its first element."""
        return all(i.axis is not None or not (i.coefficients or i.offset) for i in self.indices)

    @property
    def counts(self) -> tuple[int, ...]:
        """Elements of each dimension that are read; of a window's, all."""
        return tuple(
            n if i.axis is None and i.coefficients else self.extents.get(i.axis or "", 1)
            for i, n in zip(self.indices, static_shape(self.tensor), strict=True)
        )

    @property
    def is_whole(self) -> bool:
        """Whether all elements are read."""
        return self.counts == self.tensor.shape

    def dimensions(self, axes: Sequence[str | None]) -> list[int]:
        """The dimensions that these axes index, each of them alone."""
        found = ([d for d, i in enumerate(self.indices) if a in dict(i.coefficients)] for a in axes)
        return [at[0] for at in found if len(at) == 1]

    @property
    def _rows(self) -> list[tuple[AffineIndex, int]]:
        """Indices, and elements between neighbours of that dimension."""
        shape = static_shape(self.tensor)
        return [(i, prod(shape[d + 1 :])) for d, i in enumerate(self.indices)]

    @property
    def strides(self) -> dict[str, int]:
        """Elements between two neighbouring values of each axis that moves it."""
        found: dict[str, int] = {}
        for index, row in reversed(self._rows):
            for name, k in index.coefficients:
                found[name] = found.get(name, 0) + row * k
        return found

    @property
    def offset(self) -> int:
        """Elements before that at index 0 of every axis."""
        return sum(row * index.offset for index, row in self._rows)

    def stride(self, axis: str) -> int:
        """Elements between two neighbouring values of `axis`."""
        return self.strides.get(axis, 0)

    def step(self, axes: Sequence[str]) -> int | None:
        """Elements from one value of a group of axes, counted through, to the next; None where that
        is not the same for all.
        """
        strides = self.strides
        step = reach = strides.get(axes[-1], 0) if axes else 0
        for axis in reversed(axes):
            if strides.get(axis, 0) != reach:
                return None
            reach *= self.extents[axis]
        return step

    def is_run(self, axis: str, count: int) -> bool:
        """Whether so many neighbours along an axis are one element, or a run from a multiple on."""
        strides = self.strides
        step = strides.pop(axis, 0)
        if step == 0:
            return True
        along = axis in dict(self.indices[-1].coefficients)
        return step == 1 and along and all(s % count == 0 for s in (*strides.values(), self.offset))


def read_of(read: Read, extents: Mapping[str, int]) -> AffineRead | NoMatch:
    """Where the elements of a read are, over axes of these extents; or that its indices are not
    affine.
    """
    simplifier = Simplifier()
    indices = []
    for index in read.indices:
        form = affine_index(index, extents, simplifier)
        if form is None:
            return NoMatch(f"{read.tensor.name} is not read at sums of multiples of axes")
        indices.append(live(form, extents))
    return AffineRead(read.tensor, tuple(indices), extents)


def live(index: AffineIndex, extents: Mapping[str, int]) -> AffineIndex:
    """Without axes of one element, whose only value is 0."""
    kept = tuple((name, k) for name, k in index.coefficients if extents[name] > 1)
    return AffineIndex(kept, index.offset)


def in_memory(e: Expr, extents: Mapping[str, int]) -> AffineRead | NoMatch:
    """A factor that is read, or 0 outside of its tensor: a window's border, where every test is one
    of its bounds.
    """
    while isinstance(e, Cast) and e.dtype == e.x.dtype:
        e = e.x
    condition: Expr | None = None
    if isinstance(e, Select) and isinstance(e.b, Const) and e.b.value == 0:
        condition, e = e.cond, e.a
    if not isinstance(e, Read) or not isinstance(e.tensor.source, Placeholder):
        return NoMatch("a factor is computed, not read")
    found = read_of(e, extents)
    if condition is not None and isinstance(found, AffineRead):
        inside = {
            _form(bound, extents)
            for index, extent in zip(e.indices, static_shape(e.tensor), strict=True)
            for bound in (index, binary("sub", extent - 1, index))
        }
        if not {_at_least_zero(test, extents) for test in conjuncts(condition)} <= inside:
            return NoMatch(f"{e.tensor.name} is 0 elsewhere than outside of its bounds")
    return found


def _form(e: Expr, extents: Mapping[str, int]) -> AffineIndex | None:
    return affine_index(e, extents, Simplifier())


def _at_least_zero(test: Expr, extents: Mapping[str, int]) -> AffineIndex | None:
    """The form that a comparison of ints says to be 0 or more."""
    match test:
        case Binary(op, a, b) if op in AT_LEAST_ZERO and a.dtype.name == "int64":
            factor, shift = AT_LEAST_ZERO[op]
            return _form((a - b) * factor + shift, extents)
    return None

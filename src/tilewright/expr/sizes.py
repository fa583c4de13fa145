"""Extents over sizes: what they are for values of these, at their most, and in memory.

    s, rows = Var("S"), Size("S", 1, 512)
    x = placeholder((s, 768))               an extent is an int or an expression over sizes
    extent_at((s + 1) // 2, {"S": 37})      19
    most((s + 1) // 2, (rows,))             256

What must hold for all values (proofs, how much memory there is) works with the *most* of each
extent (`stored_shape`). Within that memory a call's rows follow each other, as its own extents say
(`stored_extents`): strides are products of sizes. Rows whose own length varies are a fixed *pitch*
apart, as long as the most of them, and so is what lies in rows over a size that is `pitched`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

import numpy as np

from tilewright.contract.artifact import ALIGNMENT
from tilewright.contract.formulas import OPERATIONS, SIZE, Formula
from tilewright.contract.sizes import Sizes, timed_points
from tilewright.expr.evaluate import evaluate
from tilewright.expr.index.extents import plain, product
from tilewright.expr.index.facts import Facts
from tilewright.expr.index.intervals import Interval, intersection, interval
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Binary, Const, Expr, Extent, Shape, Tensor, Var, as_expr, binary
from tilewright.expr.tensors import canonical
from tilewright.expr.traversal import free_vars, rewriting, walk
from tilewright.ground.errors import ExprError

FAR_ROWS = 512
"""Rows a multiple of so many bytes apart meet in few sets of a cache: they get a line more."""


def ranges_of(sizes: Sizes) -> dict[str, Interval]:
    """Bounds of the variables."""
    return {s.name: Interval(s.least, s.most) for s in sizes}


NO_SIZES: Mapping[str, Interval] = ranges_of(())
"""The bounds of the variables of a program without sizes."""


def extent_at(extent: Extent, values: Mapping[str, int]) -> int:
    """An extent for these values of the sizes."""
    if isinstance(extent, int):
        return extent
    return int(evaluate(extent, {name: np.asarray(v, np.int64) for name, v in values.items()}))


def shape_at(tensor: Tensor, values: Mapping[str, int]) -> tuple[int, ...]:
    """A tensor's shape for these values of the sizes."""
    return tuple(extent_at(e, values) for e in tensor.shape)


def simplified(extent: Extent, sizes: Sizes) -> Extent:
    """An extent in canonical form, by the ranges of the sizes, whose values decide which of two is
    the least, and the greatest.
    """
    ranges = ranges_of(sizes)
    found = simplify(as_expr(extent), ranges)
    if not any(isinstance(e, Binary) and e.op in ("min", "max") for e in walk(found)):
        return plain(found)
    facts = Facts(ranges)

    def decided(e: Expr, rewrite: Callable[[Expr], Expr]) -> Expr | None:
        if not (isinstance(e, Binary) and e.op in ("min", "max")):
            return None
        a, b = rewrite(e.a), rewrite(e.b)
        gap = intersection(facts.bounds(a - b), facts.tried(a - b))
        if gap.lo is not None and gap.lo >= 0:
            return b if e.op == "min" else a
        if gap.hi is not None and gap.hi <= 0:
            return a if e.op == "min" else b
        return binary(e.op, a, b)

    return plain(simplify(rewriting(decided)(found), ranges))


def formula_of(extent: Extent, sizes: Sizes) -> Formula:
    """An extent as an artifact has it. Raises ExprError for one that is no arithmetic."""
    match extent:
        case int():
            return extent
        case Const(value):
            return int(value)
        case Var(name):
            return SIZE, [s.name for s in sizes].index(name)
        case Binary(op, a, b) if op in OPERATIONS:
            return op, formula_of(a, sizes), formula_of(b, sizes)
    raise ExprError(f"{extent} is no arithmetic of sizes")


def most(extent: Extent, sizes: Sizes) -> int:
    """The greatest value of an extent. Raises ExprError where the sizes do not bound it."""
    return _end(extent, sizes).hi or 0


def least(extent: Extent, sizes: Sizes) -> int:
    """The least value of an extent."""
    return _end(extent, sizes).lo or 0


def mean(extent: Extent, sizes: Sizes) -> int:
    """What an extent is on average over the points that are timed, rounded, at least 1."""
    if isinstance(extent, int):
        return max(1, extent)
    found = sum(p.weight * extent_at(extent, p.values) for p in timed_points(sizes))
    return max(1, round(found))


def _end(extent: Extent, sizes: Sizes) -> Interval:
    if isinstance(extent, int):
        return Interval(extent, extent)
    ranges = ranges_of(sizes)
    found = interval(simplify(extent, ranges), ranges)
    if found.hi is None:
        raise ExprError(f"no sizes bound the extent {extent}")
    return found


def stored_shape(tensor: Tensor, sizes: Sizes) -> tuple[int, ...]:
    """The most of `stored_extents`."""
    return tuple(most(e, sizes) for e in stored_extents(tensor, sizes))


def stored_extents(tensor: Tensor, sizes: Sizes) -> Shape:
    """The extents by which a tensor lies in memory, row-major. A last one that varies, of several,
    takes the most of it in whole cache lines: so rows are a fixed pitch apart, one that spreads
    them over the sets of a cache.
    """
    extents = [most(e, sizes) if is_pitched(e, sizes) else e for e in tensor.shape]
    if len(extents) > 1 and not isinstance(tensor.shape[-1], int):
        line = max(1, ALIGNMENT // tensor.dtype.bytes)
        last = -(-most(extents[-1], sizes) // line) * line
        extents[-1] = last + line if last * tensor.dtype.bytes % FAR_ROWS == 0 else last
    return tuple(extents)


def is_pitched(extent: Extent, sizes: Sizes) -> bool:
    """Whether an extent is over a size that is pitched."""
    used = free_vars(as_expr(extent))
    return any(s.pitched and s.name in used for s in sizes)


def stored_at(tensor: Tensor, sizes: Sizes, values: Mapping[str, int]) -> tuple[int, ...]:
    """The extents by which a tensor lies in memory for these values of the sizes."""
    return tuple(extent_at(e, values) for e in stored_extents(tensor, sizes))


def stored_strides(tensor: Tensor, sizes: Sizes) -> Shape:
    """How many elements apart neighbours along each dimension are; 0 where that would vary, and
    there is but one.
    """
    extents = stored_extents(tensor, sizes)
    strides = (canonical(product(extents[d + 1 :])) for d in range(tensor.rank))
    return tuple(
        0 if e == 1 and not isinstance(stride, int) else stride
        for e, stride in zip(tensor.shape, strides, strict=True)
    )


def varying_strides(tensor: Tensor, sizes: Sizes) -> Shape:
    """The strides of a tensor where a call's sizes say them; () where they are numbers."""
    strides = stored_strides(tensor, sizes)
    return () if all(isinstance(stride, int) for stride in strides) else strides


def sure_elements(tensor: Tensor, sizes: Sizes) -> int:
    """How many elements from the first on are in memory whatever the sizes are: that of a caller
    ends with its last row.
    """
    first, extents = _rows_of(tensor.shape), stored_extents(tensor, sizes)
    extents = (*tensor.shape[: first + 1], *extents[first + 1 :])
    return prod(least(e, sizes) for e in extents)


def is_contiguous(tensor: Tensor, sizes: Sizes) -> bool:
    """Whether a tensor's memory is that of a contiguous array of the same shape, with room behind
    it: no rows are apart.
    """
    first = _rows_of(tensor.shape) + 1
    return tensor.shape[first:] == stored_extents(tensor, sizes)[first:]


def _rows_of(shape: Shape) -> int:
    """The dimension that counts rows: the first that is not always one."""
    return next((d for d, e in enumerate(shape) if e != 1), 0)

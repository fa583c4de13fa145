"""Shape rules shared by the operators: broadcasting, options per axis, padding, dtypes.

broadcast_shapes((4, 1), (3,)) == (4, 3)
padding_pairs(1, 2) == ((1, 1), (1, 1))
matching_groups((1, 6, 4, 5), (2, 3, 20)) == [([1], [0, 1]), ([2, 3], [2])]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from tilewright.expr.dtypes import DTYPES, DType
from tilewright.expr.nodes import Expr, Read, Tensor, as_expr, binary, cast
from tilewright.ground.errors import ExprError

Pairs: TypeAlias = tuple[tuple[int, int], ...]
Padding: TypeAlias = int | Sequence[int | tuple[int, int]]
PerAxis: TypeAlias = int | Sequence[int]

SPATIAL_NAMES = {1: ("w",), 2: ("h", "w"), 3: ("d", "h", "w")}


def extents(x: Tensor) -> tuple[int, ...]:
    """The shape as ints. Raises ExprError for a symbolic one: operators are pure math."""
    if not all(isinstance(e, int) for e in x.shape):
        raise ExprError(f"{x.name} has the symbolic shape {x.shape}; operators need ints")
    return tuple(e for e in x.shape if isinstance(e, int))


def with_axes(names: Sequence[str], fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn(*indices)` with named parameters, which `compute` takes as the axes' names."""

    def named(*indices: Any) -> Any:
        return fn(*indices)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in names]
    named.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return named


def spatial_names(rank: int) -> tuple[str, ...]:
    """Axis names of `rank` spatial dimensions: ("h", "w") for images."""
    return SPATIAL_NAMES.get(rank, tuple(f"s{d}" for d in range(rank)))


def axis_index(axis: int, rank: int, who: str) -> int:
    """A possibly negative axis as 0 <= axis < rank."""
    if not -rank <= axis < rank:
        raise ExprError(f"{who}: axis {axis} is outside the {rank} dimensions")
    return axis % rank


def axis_indices(axes: int | Sequence[int] | None, rank: int, who: str) -> tuple[int, ...]:
    """Sorted axes without repeats; None means all."""
    if axes is None:
        return tuple(range(rank))
    listed = (axes,) if isinstance(axes, int) else tuple(axes)
    found = sorted(axis_index(a, rank, who) for a in listed)
    if len(set(found)) != len(found):
        raise ExprError(f"{who}: axes {listed} name one dimension twice")
    return tuple(found)


def per_axis(value: PerAxis, rank: int, what: str, least: int = 1) -> tuple[int, ...]:
    """One int per spatial axis. Raises ExprError on a wrong count or a value below `least`."""
    values = (value,) * rank if isinstance(value, int) else tuple(int(v) for v in value)
    if len(values) != rank:
        raise ExprError(f"{what} {value!r} needs {rank} values, one a spatial axis")
    if any(v < least for v in values):
        raise ExprError(f"{what} {value!r} must be at least {least}")
    return values


def padding_pairs(padding: Padding, rank: int) -> Pairs:
    """(before, after) per axis from an int, one int an axis or one pair an axis."""
    listed = (padding,) * rank if isinstance(padding, int) else tuple(padding)
    if len(listed) != rank:
        raise ExprError(f"padding {padding!r} needs {rank} values, one a spatial axis")
    pairs = tuple((p, p) if isinstance(p, int) else (int(p[0]), int(p[1])) for p in listed)
    if any(p < 0 for pair in pairs for p in pair):
        raise ExprError(f"padding {padding!r} must not be negative")
    return pairs


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """NumPy's broadcasting. Raises ExprError where extents differ and neither is 1."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as e:
        raise ExprError(f"shapes {shapes} do not broadcast together") from e


def broadcast_read(x: Tensor, indices: Sequence[Any]) -> Read:
    """The element of `x` that meets `indices` of a shape it broadcasts to."""
    own = indices[len(indices) - x.rank :]
    return x[tuple(0 if e == 1 else i for e, i in zip(x.shape, own, strict=True))]


def at_axis(index: Sequence[Any], axis: int, place: Any) -> tuple[Any, ...]:
    """`index` with `place` at position `axis`."""
    return (*index[:axis], place, *index[axis + 1 :])


def clamped(i: Any, extent: int) -> Expr:
    """The index within `extent` that is nearest to `i`."""
    return binary("min", binary("max", i, 0), extent - 1)


def matching_groups(
    source: Sequence[int], target: Sequence[int]
) -> list[tuple[list[int], list[int]]]:
    """Which dimensions of a reshape correspond: the shortest runs with equal products.

    Dimensions of extent 1 belong to none. The shapes have equally many elements.
    """
    old = [d for d, e in enumerate(source) if e > 1]
    new = [d for d, e in enumerate(target) if e > 1]
    groups = []
    while old:
        left, right = [old.pop(0)], [new.pop(0)]
        while (a := prod(source[d] for d in left)) != (b := prod(target[d] for d in right)):
            if a < b:
                left.append(old.pop(0))
            else:
                right.append(new.pop(0))
        groups.append((left, right))
    return groups


def accumulated(x: Any) -> Expr:
    """An expression in the type its products and sums are kept in (int8 → int32)."""
    e = as_expr(x)
    return cast(e.dtype.accumulator, e)


def sum_dtype(*operands: Tensor, wanted: str | None = None) -> DType:
    """Storage type of a sum of products of `operands`, unless one is `wanted`: floats keep theirs,
    integers widen.
    """
    if wanted is not None:
        return DTYPES[wanted]
    first = operands[0].dtype
    names = {t.dtype.name for t in operands}
    if not first.is_float:
        return first.accumulator
    if len(names) > 1:
        raise ExprError(f"operands have dtypes {sorted(names)}; cast one of them")
    return first

"""Shape rules shared by the operators: broadcasting, options per axis, padding, dtypes.

broadcast_shapes((4, 1), (3,)) == (4, 3)
padding_pairs(1, 2) == ((1, 1), (1, 1))
matching_groups((1, 6, 4, 5), (2, 3, 20)) == [([1], [0, 1]), ([2, 3], [2])]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from tilewright.expr.dtypes import DTYPES, DType
from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Expr, Extent, Read, Shape, Tensor, as_expr, binary, cast
from tilewright.expr.tensors import canonical
from tilewright.expr.text import extent_text, shape_text
from tilewright.ground.errors import ExprError

Pairs: TypeAlias = tuple[tuple[Extent, Extent], ...]
Padding: TypeAlias = int | Sequence[int | tuple[Extent, Extent]]
PerAxis: TypeAlias = int | Sequence[int]

SPATIAL_NAMES = {1: ("w",), 2: ("h", "w"), 3: ("d", "h", "w")}


class Unequal(ExprError):
    """Two extents that an operator needs to be one, so that it may be said that they are."""

    def __init__(self, message: str, a: Extent, b: Extent) -> None:
        super().__init__(message)
        self.extents = (a, b)


def numbers(extents: Iterable[Extent], who: str) -> tuple[int, ...]:
    """Extents that an operator needs to know. Raises ExprError for one over sizes."""
    return tuple(number(e, who) for e in extents)


def number(extent: Extent, who: str) -> int:
    """An extent that an operator needs to know. Raises ExprError for one over sizes."""
    if not isinstance(extent, int):
        raise ExprError(f"{who} needs a number where the extent is {extent_text(extent)}")
    return extent


def with_axes(names: Sequence[str], fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn(*indices)` with named parameters, which `compute` takes as the axes' names."""

    def named(*indices: Any) -> Any:
        return fn(*indices)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in names]
    # What `inspect.signature` reads first (PEP 362); no type of a function says that it may be set.
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
    """(before, after) per axis from an int, one int an axis or one pair an axis. Raises ExprError
    for a negative one; those over sizes are taken to be none.
    """
    listed = (padding,) * rank if isinstance(padding, int) else tuple(padding)
    if len(listed) != rank:
        raise ExprError(f"padding {padding!r} needs {rank} values, one a spatial axis")
    pairs = tuple(
        (p, p) if isinstance(p, int) else (canonical(p[0]), canonical(p[1])) for p in listed
    )
    if any(isinstance(p, int) and p < 0 for pair in pairs for p in pair):
        raise ExprError(f"padding {padding!r} must not be negative")
    return pairs


def broadcast_shapes(*shapes: Shape) -> Shape:
    """NumPy's broadcasting. Raises ExprError where extents differ and neither is 1: a size that
    may be 1 meets only itself.
    """
    rank = max(map(len, shapes), default=0)
    whole: list[Extent] = []
    for column in zip(*((1,) * (rank - len(s)) + tuple(s) for s in shapes), strict=True):
        wide = {e for e in column if e != 1}
        if len(wide) > 1:
            listed = ", ".join(map(shape_text, shapes))
            a, b, *_ = dict.fromkeys(e for e in column if e != 1)
            raise Unequal(f"shapes ({listed}) do not broadcast together", a, b)
        whole.append(wide.pop() if wide else 1)
    return tuple(whole)


def broadcast_read(x: Tensor, indices: Sequence[Any]) -> Read:
    """The element of `x` that meets `indices` of a shape it broadcasts to."""
    own = indices[len(indices) - x.rank :]
    return x[tuple(0 if e == 1 else i for e, i in zip(x.shape, own, strict=True))]


def at_axis(index: Sequence[Any], axis: int, place: Any) -> tuple[Any, ...]:
    """`index` with `place` at position `axis`."""
    return (*index[:axis], place, *index[axis + 1 :])


def clamped(i: Any, extent: Extent) -> Expr:
    """The index within `extent` that is nearest to `i`; 0 where a size makes that nothing."""
    last = extent - 1 if isinstance(extent, int) else binary("max", extent - 1, 0)
    return binary("min", binary("max", i, 0), last)


def matching_groups(
    source: Sequence[Extent], target: Sequence[Extent]
) -> list[tuple[list[int], list[int]]]:
    """Which dimensions of a reshape correspond: the shortest runs with equal products.

    Dimensions of extent 1 belong to none. The shapes have equally many elements.
    """
    old, new = _products(source), _products(target)
    groups: list[tuple[list[int], list[int]]] = []
    low, high = 0, 0
    for n, (product, _) in enumerate(old, 1):
        end = next((m for m, (p, _) in enumerate(new[high:], high + 1) if p == product), None)
        if end is not None:
            groups.append(([d for _, d in old[low:n]], [d for _, d in new[high:end]]))
            low, high = n, end
    return groups


def _products(shape: Sequence[Extent]) -> list[tuple[Extent, int]]:
    """The dimensions but those of extent 1, each with the product up to it."""
    found: list[tuple[Extent, int]] = []
    total: Extent = 1
    for d, e in enumerate(shape):
        if e != 1:
            total = canonical(mul(total, e))
            found.append((total, d))
    return found


def mean_of(total: Expr, count: Extent) -> Expr:
    """A sum of `count` floats over their number, a product where that is known."""
    if isinstance(count, int):
        return total * (1 / count)
    return total / cast(total.dtype, as_expr(count))


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

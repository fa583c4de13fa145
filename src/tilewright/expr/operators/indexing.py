"""Operators whose data say where elements go, and those that count along an axis, as pure math.

    scatter_elements(x, indices, updates, axis=1)     gather_nd(x, indices)     cumulative(x, 1)
    top_indices(x, k=5)                               reverse_sequence(x, lengths)

Nothing is written twice: an element asks which updates mean it, a reduction over all of them. That
needs no order of execution; on CPUs a schedule finds one that touches each update once
(`schedule/forms`), on GPUs it costs (elements along the axis) x (updates).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from tilewright.expr.dtypes import BOOL, DTYPES, FLOAT32, INT32, INT64
from tilewright.expr.nodes import Expr, Extent, Tensor, as_expr, binary, call, cast, const, select
from tilewright.expr.operators.elementwise import elementwise
from tilewright.expr.operators.movement import clamped_index
from tilewright.expr.operators.shapes import (
    accumulated,
    at_axis,
    axis_index,
    clamped,
    number,
    numbers,
)
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import min as min_over
from tilewright.expr.tensors import prod as prod_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ExprError

COMBINE: dict[str, tuple[str, Callable[..., Any], Callable[[Any, Any], Any]]] = {
    "add": ("sum", sum_over, lambda a, b: a + b),
    "mul": ("prod", prod_over, lambda a, b: a * b),
    "max": ("max", max_over, lambda a, b: binary("max", a, b)),
    "min": ("min", min_over, lambda a, b: binary("min", a, b)),
}


def _wrapped(value: Expr, extent: Extent) -> Expr:
    """An index that may count from the end; one out of range stays out of range."""
    i = cast(INT64, value)
    return select(i < 0, i + extent, i)


def _scatter(
    x: Tensor,
    count: Extent,
    meant: Callable[[tuple[Any, ...], Any], Expr],
    update: Callable[[tuple[Any, ...], Any], Expr],
    reduction: str,
    name: str,
) -> Tensor:
    """`x` with those of `count` updates that an element is `meant` by; the last one wins."""
    shape = x.shape
    k = reduce_axis(count, "k")
    if reduction == "none":

        def last(*index: Any) -> Expr:
            number = cast(INT32, as_expr(k))
            return max_over(select(meant(index, k), number, const(-1, INT32)), k)

        winner = compute(shape, last, name=f"{name}_winner", dtype=INT32)

        def taken(*index: Any) -> Expr:
            number = cast(INT64, winner[index])
            return select(number >= 0, update(index, clamped(number, count)), x[index])

        return compute(shape, taken, name=name, dtype=x.dtype)
    if reduction not in COMBINE:
        raise ExprError(f"{name}: unknown reduction {reduction!r}; known: none, {list(COMBINE)}")
    op, over, combine = COMBINE[reduction]
    kind = x.dtype.accumulator if reduction in ("add", "mul") else x.dtype.compute
    neutral = const(kind.neutral(op), kind)

    def total(*index: Any) -> Any:
        return over(select(meant(index, k), cast(kind, update(index, k)), neutral), k)

    updates = compute(shape, total, name=f"{name}_updates", dtype=kind)

    def combined(*index: Any) -> Any:
        return combine(cast(kind, x[index]), updates[index])

    return compute(shape, combined, name=name, dtype=x.dtype)


def scatter_elements(
    x: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: int = 0,
    *,
    reduction: str = "none",
    name: str = "scatter_elements",
) -> Tensor:
    """y = x, then y[.., indices[.., j, ..], ..] = updates[.., j, ..] along `axis`.

    `reduction` ("add", "mul", "max", "min") combines instead; with "none" the last update of an
    element wins. Indices out of range are ignored. Raises ExprError for shapes that do not fit.
    """
    at = axis_index(axis, x.rank, name)
    shape, window = x.shape, indices.shape
    if window != updates.shape or len(window) != x.rank:
        raise ExprError(f"{name}: indices {window} and updates {updates.shape} for {shape}")

    def is_shorter(d: int) -> bool:
        a, b = window[d], shape[d]
        return a < b if isinstance(a, int) and isinstance(b, int) else a != b

    shorter = [is_shorter(d) for d in range(x.rank)]

    def meant(index: tuple[Any, ...], k: Any) -> Expr:
        test = _wrapped(indices[at_axis(index, at, k)], shape[at]).eq(index[at])
        for d, i in enumerate(index):
            if d != at and shorter[d]:
                test = select(i < window[d], test, const(False, test.dtype))
        return test

    def update(index: tuple[Any, ...], k: Any) -> Expr:
        # What lies outside of `updates` is not meant, and must not be read either.
        inside = tuple(
            binary("min", i, window[d] - 1) if shorter[d] else i for d, i in enumerate(index)
        )
        return updates[at_axis(inside, at, k)]

    return _scatter(x, window[at], meant, update, reduction, name)


def scatter_nd(
    x: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    reduction: str = "none",
    name: str = "scatter_nd",
) -> Tensor:
    """y = x, then y[indices[n, 0], indices[n, 1], ..] = updates[n] for every n.

    `indices` [n, depth] name the leading `depth` dimensions, `updates` are [n, *the others]. Order,
    range and `reduction` as in `scatter_elements`.
    """
    shape, (count, last) = x.shape, indices.shape
    depth = number(last, name)
    if updates.shape != (count, *shape[depth:]):
        raise ExprError(f"{name}: indices {indices.shape}, updates {updates.shape} for {shape}")

    def meant(index: tuple[Any, ...], k: Any) -> Expr:
        test = _wrapped(indices[k, 0], shape[0]).eq(index[0])
        for d in range(1, depth):
            test = test & _wrapped(indices[k, d], shape[d]).eq(index[d])
        return test

    def update(index: tuple[Any, ...], k: Any) -> Expr:
        return updates[(k, *index[depth:])]

    return _scatter(x, count, meant, update, reduction, name)


def gather_nd(
    x: Tensor, indices: Tensor, batch_dims: int = 0, *, name: str = "gather_nd"
) -> Tensor:
    """y[b.., q..] = x[b.., indices[b.., q.., 0], indices[b.., q.., 1], ..], as `gather` clamps."""
    shape = x.shape
    outer, depth = list(indices.shape[:-1]), number(indices.shape[-1], name)
    if batch_dims + depth > len(shape) or outer[:batch_dims] != list(shape[:batch_dims]):
        raise ExprError(f"{name}: indices {indices.shape} with {batch_dims=} for {shape}")

    def body(*index: Any) -> Expr:
        where = index[: len(outer)]
        found = [
            clamped_index(indices[(*where, d)], shape[batch_dims + d], name) for d in range(depth)
        ]
        return x[(*index[:batch_dims], *found, *index[len(outer) :])]

    whole = (*outer, *shape[batch_dims + depth :])
    return compute(whole, body, name=name, dtype=x.dtype)


def cumulative(
    x: Tensor,
    axis: int = 0,
    *,
    product: bool = False,
    exclusive: bool = False,
    reverse: bool = False,
    name: str = "cumulative",
) -> Tensor:
    """Sum (or product) of the elements up to each one along `axis`, from the end if `reverse`.

    `exclusive` leaves the element itself out. One masked reduction along the axis.
    """
    at = axis_index(axis, x.rank, name)
    over, neutral = (prod_over, 1) if product else (sum_over, 0)
    k = reduce_axis(x.shape[at], "k")

    def body(*index: Any) -> Any:
        i, j = (index[at], as_expr(k)) if not reverse else (as_expr(k), index[at])
        counted = j < i if exclusive else j <= i
        value = accumulated(x[at_axis(index, at, k)])
        return over(select(counted, value, const(neutral, value.dtype)), k)

    return compute(x.shape, body, name=name, dtype=x.dtype)


def before(other: Expr, own: Expr, there: Expr, here: Expr, *, largest: bool) -> Expr:
    """Whether the element `there` with a key comes before the one `here`: it has the larger (or
    smaller) key, or an equal one and stands in front.
    """
    wins = other > own if largest else other < own
    return wins | (other.eq(own) & (there < here))


def top_indices(
    x: Tensor, k: int, axis: int = -1, *, largest: bool = True, name: str = "top_indices"
) -> Tensor:
    """int64 indices of the `k` largest (or smallest) elements along `axis`, in order.

    Of equal elements the first comes first; NaN is larger than any number, as in PyTorch. An
    element's rank is the number of those before it. Raises ExprError when there are fewer than `k`.
    """
    at = axis_index(axis, x.rank, name)
    shape = numbers(x.shape, name)
    extent = shape[at]
    if not 1 <= k <= extent:
        raise ExprError(f"{name}: {k} of {extent} elements")
    j = reduce_axis(extent, "j")
    key = _keyed(x, f"{name}_key")

    def ahead(*index: Any) -> Any:
        other, own = key[at_axis(index, at, j)], key[index]
        test = before(other, own, as_expr(j), as_expr(index[at]), largest=largest)
        return sum_over(cast(INT64, test), j)

    rank = compute(shape, ahead, name=f"{name}_rank", dtype=INT64)

    def pick(*index: Any) -> Any:
        mine = rank[at_axis(index, at, j)].eq(index[at])
        return max_over(select(mine, as_expr(j), const(0, INT64)), j)

    return compute(at_axis(shape, at, k), pick, name=name, dtype=INT64)


def _keyed(x: Tensor, name: str) -> Tensor:
    """Integers in the order of the elements, NaN last."""
    if x.dtype.is_float:
        return elementwise(lambda v: call("sortable", v), x, name=name)
    if x.dtype == BOOL:
        return elementwise(lambda v: cast(DTYPES["uint8"], v), x, name=name)
    return x


def triangle(x: Tensor, offset: int = 0, *, upper: bool = True, name: str = "triangle") -> Tensor:
    """The upper (or lower) triangle of the last two dimensions, 0 elsewhere; see `np.triu`."""
    if x.rank < 2:
        raise ExprError(f"{name} needs matrices, got {x.shape}")

    def body(*index: Any) -> Expr:
        row, column = index[-2] + offset, index[-1]
        kept = as_expr(column) >= row if upper else as_expr(column) <= row
        return select(kept, x[index], const(0, x.dtype.compute))

    return compute(x.shape, body, name=name, dtype=x.dtype)


def reverse_sequence(
    x: Tensor, lengths: Tensor, *, batch_axis: int, time_axis: int, name: str = "reverse_sequence"
) -> Tensor:
    """The first `lengths[b]` elements along `time_axis` reversed, the others in place."""
    extent = x.shape[time_axis]

    def body(*index: Any) -> Expr:
        t = as_expr(index[time_axis])
        length = cast(INT64, lengths[index[batch_axis]])
        source = select(t < length, length - 1 - t, t)
        return x[at_axis(index, time_axis, clamped(source, extent))]

    return compute(x.shape, body, name=name, dtype=x.dtype)


def write_slice(
    x: Tensor,
    update: Tensor,
    starts: Tensor,
    *,
    axis: int,
    circular: bool = False,
    name: str = "write_slice",
) -> Tensor:
    """`x` with `update` written at `starts[b]` along `axis`, b being the first index.

    `circular` goes on at the beginning of the axis; otherwise what lies outside is dropped.
    """
    at = axis_index(axis, x.rank, name)
    extent, width = numbers(x.shape, name)[at], numbers(update.shape, name)[at]

    def body(*index: Any) -> Expr:
        offset = as_expr(index[at]) - cast(INT64, starts[index[0]])
        if circular:
            offset = offset % extent
        inside = (offset >= 0) & (offset < width)
        return select(inside, update[at_axis(index, at, clamped(offset, width))], x[index])

    return compute(numbers(x.shape, name), body, name=name, dtype=x.dtype)


def count_grams(x: Tensor, grams: Tensor, *, skips: int, name: str = "count_grams") -> Tensor:
    """float32 [b, n]: how often each row of `grams` [n, length] occurs in the rows of `x` [b, t].

    The elements of an occurrence are 1 + 0, 1, .. `skips` positions apart.
    """
    rows, width = numbers(x.shape, name)
    count, length = numbers(grams.shape, name)
    distances = skips + 1 if length > 1 else 1
    start, skip = reduce_axis(width, "t"), reduce_axis(distances, "s")

    def body(b: Any, n: Any) -> Any:
        step = as_expr(skip) + 1
        found = as_expr(start) + step * (length - 1) < width
        for d in range(length):
            at = binary("min", as_expr(start) + step * d, width - 1)
            found = found & cast(INT64, x[b, at]).eq(cast(INT64, grams[n, d]))
        return sum_over(cast(FLOAT32, found), (start, skip))

    return compute((rows, count), body, name=name, dtype=FLOAT32)


def determinant(x: Tensor, *, name: str = "determinant") -> Tensor:
    """Of the matrices in the last two dimensions, by expansion: for up to 5 rows.

    Raises ExprError for larger matrices, whose expansion has too many terms.
    """
    *outer, rows, columns = numbers(x.shape, name)
    if rows != columns or rows > 5:
        raise ExprError(f"{name}: needs square matrices of at most 5 rows, got {x.shape}")

    def minor(index: tuple[Any, ...], row: int, left: tuple[int, ...]) -> Expr:
        if row == rows:
            return const(1, x.dtype.compute)
        terms = [
            x[(*index, row, column)] * minor(index, row + 1, left[:n] + left[n + 1 :])
            for n, column in enumerate(left)
        ]
        rest = enumerate(terms[1:])
        return reduce(lambda sum_, t: sum_ + t[1] if t[0] % 2 else sum_ - t[1], rest, terms[0])

    return compute(
        outer, lambda *index: minor(index, 0, tuple(range(rows))), name=name, dtype=x.dtype
    )

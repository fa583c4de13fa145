"""Reductions over axes, and the positions of extremes.

    reduce_sum(x, axes=(1,))     reduce_mean(x, keepdims=True)     argmax(x, axis=-1)

Plain ones are one stage. Those that finish with arithmetic (mean, l2, logsumexp) add an
elementwise stage. `argmax` takes two: the value, then the least index where it is found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tilewright.expr.dtypes import INT64, DType
from tilewright.expr.index.extents import product
from tilewright.expr.nodes import Axis, Expr, Tensor, as_expr, call, const, select
from tilewright.expr.operators.elementwise import elementwise, quotient
from tilewright.expr.operators.shapes import accumulated, axis_index, axis_indices, mean_of
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import min as min_over
from tilewright.expr.tensors import prod as prod_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ExprError

Axes: TypeAlias = int | Sequence[int] | None


def reduce(
    x: Tensor,
    axes: Axes,
    body: Callable[[Expr, tuple[Axis, ...]], Any],
    *,
    keepdims: bool,
    dtype: DType,
    name: str,
) -> Tensor:
    """One reduction stage over `axes` (all when None): `body(element, axes)` builds the Reduce."""
    gone = axis_indices(axes, x.rank, name)
    if not gone:
        raise ExprError(f"{name}: no axes to reduce over in shape {x.shape}")
    over = {d: reduce_axis(x.shape[d], f"r{d}") for d in gone}

    def element(*index: Any) -> Any:
        left = iter(index)
        where = []
        for d in range(x.rank):
            kept = next(left) if keepdims or d not in over else None
            where.append(over.get(d, kept))
        return body(x[tuple(where)], tuple(over.values()))

    shape = [1 if d in over else e for d, e in enumerate(x.shape) if keepdims or d not in over]
    return compute(shape, element, name=name, dtype=dtype)


def sum_type(x: Tensor) -> DType:
    """Storage of a sum: floats keep their type, narrow integers widen to int32."""
    return x.dtype if x.dtype.is_float else x.dtype.accumulator


def _reduction(
    default: str,
    doc: str,
    over: Callable[..., Any],
    value: Callable[[Expr], Expr] = accumulated,
    dtype: Callable[[Tensor], DType] = sum_type,
) -> Callable[..., Tensor]:
    """The operator of one stage that takes `over` of `value` of the elements."""

    def operator(
        x: Tensor, axes: Axes = None, *, keepdims: bool = False, name: str = default
    ) -> Tensor:
        def body(v: Expr, gone: tuple[Axis, ...]) -> Any:
            return over(value(v), gone)

        return reduce(x, axes, body, keepdims=keepdims, dtype=dtype(x), name=name)

    operator.__name__ = operator.__qualname__ = f"reduce_{default}"
    operator.__doc__ = f"{doc} over `axes` (all when None)."
    return operator


def _size(v: Expr) -> Expr:
    return call("abs", accumulated(v))


def _square(v: Expr) -> Expr:
    return accumulated(v) * accumulated(v)


reduce_sum = _reduction("sum", "Sum", sum_over)
reduce_prod = _reduction("prod", "Product", prod_over)
reduce_max = _reduction("max", "Maximum", max_over, lambda v: v, lambda x: x.dtype)
reduce_min = _reduction("min", "Minimum", min_over, lambda v: v, lambda x: x.dtype)
reduce_l1 = _reduction("l1", "Sum of absolute values", sum_over, _size)
reduce_sum_square = _reduction("sum_square", "Sum of squares", sum_over, _square)


def reduce_l2(x: Tensor, axes: Axes = None, *, keepdims: bool = False, name: str = "l2") -> Tensor:
    """Square root of the sum of squares over `axes` (all when None), of floats."""
    squares = reduce_sum_square(x, axes, keepdims=keepdims, name=f"{name}_squares")
    return elementwise(lambda v: call("sqrt", v), squares, name=name)


def reduce_mean(
    x: Tensor, axes: Axes = None, *, keepdims: bool = False, name: str = "mean"
) -> Tensor:
    """Mean over `axes` (all when None); integers round towards zero."""
    total = reduce_sum(x, axes, keepdims=keepdims, name=f"{name}_sum")
    count = product(x.shape[d] for d in axis_indices(axes, x.rank, name))

    def body(v: Expr) -> Expr:
        return mean_of(v, count) if v.dtype.is_float else quotient(v, count)

    return elementwise(body, total, name=name)


def reduce_logsumexp(
    x: Tensor, axes: Axes = None, *, keepdims: bool = False, name: str = "logsumexp"
) -> Tensor:
    """log Σ exp(x) over `axes` (all when None), shifted by the maximum against overflow."""
    top = reduce_max(x, axes, keepdims=True, name=f"{name}_max")
    # exp(x - inf) would be NaN: an infinite maximum is not subtracted.
    shift = elementwise(lambda v: select(call("isinf", v), 0, v), top, name=f"{name}_shift")
    shifted = elementwise(
        lambda v, s: call("exp", v - s), x, shift, name=f"{name}_exp", dtype=x.dtype
    )
    total = reduce_sum(shifted, axes, keepdims=True, name=f"{name}_sum")
    gone = () if keepdims else axis_indices(axes, x.rank, name)

    def body(*index: Any) -> Expr:
        left = iter(index)
        where = tuple(0 if d in gone else next(left) for d in range(x.rank))
        return call("log", total[where]) + shift[where]

    shape = [e for d, e in enumerate(total.shape) if d not in gone]
    return compute(shape, body, name=name, dtype=x.dtype)


def _extreme_index(
    default: str, which: str, extreme: Callable[..., Tensor]
) -> Callable[..., Tensor]:
    def operator(
        x: Tensor,
        axis: int = 0,
        *,
        keepdims: bool = False,
        select_last: bool = False,
        name: str = default,
    ) -> Tensor:
        best = extreme(x, axis, keepdims=True, name=f"{name}_value")
        return _index_of(x, best, axis, keepdims, select_last, name)

    operator.__name__ = operator.__qualname__ = default
    operator.__doc__ = (
        f"int64 index of the {which} along `axis`, the first of equals (or the last); NaN before "
        "anything else, as in NumPy."
    )
    return operator


def same(x: Expr, best: Expr) -> Expr:
    """Whether `x` is `best`, the extreme of data that `x` is one of."""
    return x.eq(best) | call("isnan", x) if x.dtype.is_float else x.eq(best)


argmax = _extreme_index("argmax", "maximum", reduce_max)
argmin = _extreme_index("argmin", "minimum", reduce_min)


def _index_of(
    x: Tensor, best: Tensor, axis: int, keepdims: bool, select_last: bool, name: str
) -> Tensor:
    """Where `best` stands along `axis`; NaN, which is the best of its row, stands for itself."""
    at = axis_index(axis, x.rank, name)
    extent = x.shape[at]
    k = reduce_axis(extent, f"r{at}")

    def body(*index: Any) -> Expr:
        before, after = index[:at], index[at + 1 :] if keepdims else index[at:]
        found = same(x[(*before, k, *after)], best[(*before, 0, *after)])
        if select_last:
            return max_over(select(found, as_expr(k), const(0, INT64)), k)
        return min_over(select(found, as_expr(k), as_expr(extent - 1)), k)

    shape = [e for d, e in enumerate(best.shape) if keepdims or d != at]
    return compute(shape, body, name=name, dtype=INT64)

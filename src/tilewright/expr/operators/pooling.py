"""Pooling over the spatial dimensions, channels last, of any rank.

    max_pool(x, 3, stride=2, padding=1)     [n, h, w, c] -> [n, h', w', c]
    avg_pool(x, 2, stride=2)                a sum stage, then the division
    global_avg_pool(x)                      [n, h, w, c] -> [n, 1, 1, c]

Padding is a stage of its own, absent when it is all zero. In ceil mode the last window may hang
over the end: that is extra padding after, never counted in an average.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Unpack

from tilewright.expr.dtypes import INT64, DType
from tilewright.expr.index.extents import add, sub
from tilewright.expr.nodes import (
    Expr,
    Extent,
    Read,
    Tensor,
    as_expr,
    binary,
    call,
    const,
    select,
)
from tilewright.expr.operators.elementwise import elementwise
from tilewright.expr.operators.reduce import reduce_max, reduce_mean
from tilewright.expr.operators.shapes import (
    PerAxis,
    clamped,
    mean_of,
    numbers,
    spatial_names,
    with_axes,
)
from tilewright.expr.operators.windows import Sliding, Windows
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import min as min_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ExprError


class Pooling(Sliding, total=False):
    """How a pool's windows slide; `ceil_mode` is False by default."""

    ceil_mode: bool


def max_pool(
    x: Tensor, kernel: PerAxis, *, name: str = "max_pool", **sliding: Unpack[Pooling]
) -> Tensor:
    """Maximum of each window; padding never wins.

    Raises ExprError for options that do not fit `x`, or padding as wide as the window.
    """
    windows = _windows(x, kernel, name, sliding)
    padded = windows.padded(x, x.dtype.neutral("max"), name=f"{name}_pad")
    return _over_windows(padded, windows, max_over, x.dtype, name)


def sum_pool(
    x: Tensor, kernel: PerAxis, *, name: str = "sum_pool", **sliding: Unpack[Pooling]
) -> Tensor:
    """Sum of each window; padding adds nothing."""
    windows = _windows(x, kernel, name, sliding)
    padded = windows.padded(x, name=f"{name}_pad")
    return _over_windows(padded, windows, sum_over, x.dtype, name)


def avg_pool(
    x: Tensor,
    kernel: PerAxis,
    *,
    count_include_pad: bool = False,
    name: str = "avg_pool",
    **sliding: Unpack[Pooling],
) -> Tensor:
    """Mean of each window; `count_include_pad` divides by the padded window's size.

    Raises ExprError for options that do not fit `x`, or padding as wide as the window.
    """
    windows = _windows(x, kernel, name, sliding)
    padded = windows.padded(x, name=f"{name}_pad")
    total = _over_windows(padded, windows, sum_over, x.dtype.accumulator, f"{name}_sum")

    def scale(*index: Any) -> Expr:
        count = _count(index[1:-1], windows, count_include_pad)
        value = total[index]
        return mean_of(value, count)

    return compute(total.shape, with_axes(_names(windows), scale), name=name, dtype=x.dtype)


def max_pool_indices(
    x: Tensor,
    kernel: PerAxis,
    *,
    column_major: bool = False,
    name: str = "max_pool_indices",
    **sliding: Unpack[Pooling],
) -> Tensor:
    """int64 places [n, c, *spatial] of the maxima in a flat [n, c, *spatial], the first of equals.

    `column_major` counts the spatial dimensions from the first one. Of several NaN it is the last,
    as in PyTorch; padding is nowhere.
    """
    spatial, channels = numbers(x.shape[1:-1], name), x.shape[-1]
    best = max_pool(x, kernel, name=f"{name}_value", **sliding)
    windows = _windows(x, kernel, name, sliding)
    padded = windows.padded(x, x.dtype.neutral("max"), name=f"{name}_pad")
    strides = _strides(spatial[::-1])[::-1] if column_major else _strides(spatial)
    image = prod(spatial)

    def body(*index: Any) -> Expr:
        n, *window, c = index
        place: Expr = (as_expr(n) * channels + c) * image
        inside: Expr = as_expr(True)
        rows = zip(windows.at(window), windows.pads, windows.spatial, strides, strict=True)
        for i, (before, after), extent, step in rows:
            place = place + (i - before) * step
            if before != 0 or after != 0:
                inside = inside & (i >= before) & (i < add(before, extent))
        value = _element(padded, index, windows)
        found = select(value.eq(best[index]) & inside, place, const(2**62, INT64))
        if x.dtype.is_float:  # the last NaN is the least of these
            found = select(call("isnan", value), -1 - place, found)
        return min_over(found, windows.axes)

    named = with_axes(_names(windows), body)
    first = compute(best.shape, named, name=f"{name}_first", dtype=INT64)
    return elementwise(lambda v: select(v < 0, -1 - v, v), first, name=name)


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides."""
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def col2im(
    x: Tensor,
    shape: Sequence[int],
    kernel: Sequence[int],
    *,
    name: str = "col2im",
    **sliding: Unpack[Sliding],
) -> Tensor:
    """[n, c · windows' elements, windows] -> [n, c, *shape]: each element added where it came from.

    Raises ExprError when the extents of `x` do not fit the windows.
    """
    windows = Windows.over(shape, kernel, name=name, **sliding)
    out = numbers(windows.out, name)
    batch, columns, places = x.shape[0], *numbers(x.shape[1:], name)
    if places != prod(out) or columns % prod(kernel):
        raise ExprError(f"{name}: {x.shape} does not fit {out} windows of {kernel}")
    axes = [reduce_axis(k, f"r{d}") for d, k in enumerate(kernel)]

    def body(n: Any, c: Any, *at: Any) -> Expr:
        column, window, valid = as_expr(c), as_expr(0), as_expr(True)
        for d, (i, stride, count) in enumerate(zip(at, windows.stride, out, strict=True)):
            start = i + windows.pads[d][0] - axes[d] * windows.dilation[d]
            number = start // stride
            valid = valid & (start >= 0) & (number < count) & (start % stride).eq(0)
            column = column * kernel[d] + axes[d]
            window = window * count + clamped(number, count)
        value = x[n, column, window]
        return sum_over(select(valid, value, const(0, value.dtype)), axes)

    whole = (batch, columns // prod(kernel), *shape)
    return compute(whole, body, name=name, dtype=x.dtype)


def global_avg_pool(x: Tensor, *, name: str = "global_avg_pool") -> Tensor:
    """Mean over all spatial dimensions, which stay with extent 1."""
    return reduce_mean(x, tuple(range(1, x.rank - 1)), keepdims=True, name=name)


def global_max_pool(x: Tensor, *, name: str = "global_max_pool") -> Tensor:
    """Maximum over all spatial dimensions, which stay with extent 1."""
    return reduce_max(x, tuple(range(1, x.rank - 1)), keepdims=True, name=name)


def _windows(x: Tensor, kernel: PerAxis, name: str, sliding: Pooling) -> Windows:
    """Windows over `x`, each of which sees some of it."""
    if x.rank < 3:
        raise ExprError(f"{name} needs [n, *spatial, c], got {x.shape}")
    windows = Windows.over(x.shape[1:-1], kernel, name=name, **sliding)
    for pads, reach in zip(windows.pads, windows.reach, strict=True):
        if any(isinstance(p, int) and p >= reach for p in pads):
            raise ExprError(f"{name}: the padding {pads} is as wide as a window, {reach} elements")
    return windows


def _names(windows: Windows) -> tuple[str, ...]:
    return ("n", *spatial_names(len(windows.out)), "c")


def _element(padded: Tensor, index: Sequence[Any], windows: Windows) -> Read:
    n, *window, c = index
    return padded[(n, *windows.at(window), c)]


def _over_windows(
    padded: Tensor, windows: Windows, over: Callable[..., Any], dtype: DType, name: str
) -> Tensor:
    """One stage that reduces every window."""

    def body(*index: Any) -> Any:
        return over(_element(padded, index, windows), windows.axes)

    shape = (padded.shape[0], *windows.out, padded.shape[-1])
    return compute(shape, with_axes(_names(windows), body), name=name, dtype=dtype)


def _count(window: Sequence[Any], windows: Windows, count_include_pad: bool) -> Extent:
    """Elements that each window averages over: an int where that is the same everywhere."""
    constant, varying = 1, None
    rows = zip(
        *(window, windows.spatial, windows.kernel, windows.stride, windows.dilation),
        *(windows.pads, windows.reach, windows.out, windows.hang),
        strict=True,
    )
    for position, extent, kernel, stride, dilation, (before, after), reach, count, hang in rows:
        low, high = (sub(0, before), add(extent, after)) if count_include_pad else (0, extent)
        if isinstance(count, int) and isinstance(high, int) and isinstance(before, int):
            fits = (count - 1) * stride - before + reach <= high
        else:
            fits = (count_include_pad or after == 0) and not hang
        if fits and (count_include_pad or before == 0):
            constant *= kernel
            continue
        inside = _inside(position * stride - before, (low, high), kernel, dilation)
        varying = inside if varying is None else varying * inside
    return constant if varying is None else varying * constant


def _inside(start: Expr, bounds: tuple[Extent, Extent], kernel: int, dilation: int) -> Expr:
    """How many of start, start + dilation, … (`kernel` of them) lie in [bounds[0], bounds[1])."""
    step = dilation - 1
    first = binary("max", (as_expr(bounds[0]) - start + step) // dilation, 0)
    end = binary("min", (as_expr(bounds[1]) - start + step) // dilation, kernel)
    return binary("max", end - first, 1)

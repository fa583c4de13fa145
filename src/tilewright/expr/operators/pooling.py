"""Pooling over the spatial dimensions, channels last, of any rank.

    max_pool(x, 3, stride=2, padding=1)     [n, h, w, c] -> [n, h', w', c]
    avg_pool(x, 2, stride=2)                a sum stage, then the division
    global_avg_pool(x)                      [n, h, w, c] -> [n, 1, 1, c]

Padding is a stage of its own, absent when it is all zero. In ceil mode the last window may hang
over the end: that is extra padding after, never counted in an average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from tilewright.errors import ExprError
from tilewright.expr.dtypes import INT64
from tilewright.expr.nodes import Axis, Expr, Read, Tensor, as_expr, binary, cast, const, select
from tilewright.expr.operators.convolution import pad_spatial
from tilewright.expr.operators.elementwise import elementwise
from tilewright.expr.operators.reduce import reduce_max, reduce_mean
from tilewright.expr.operators.shapes import (
    Padding,
    Pairs,
    PerAxis,
    extents,
    lowest,
    padding_pairs,
    per_axis,
    spatial_names,
    window_extent,
    with_axes,
)
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import min as min_over
from tilewright.expr.tensors import sum as sum_over


@dataclass(frozen=True, slots=True)
class Windows:
    """Sliding windows over one tensor: one entry a spatial dimension.

    `pads` are those asked for; `hang` is what ceil mode adds after them.
    """

    spatial: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pads: Pairs
    hang: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def all_pads(self) -> Pairs:
        return tuple((b, a + h) for (b, a), h in zip(self.pads, self.hang, strict=True))


def max_pool(
    x: Tensor,
    kernel: PerAxis,
    *,
    stride: PerAxis = 1,
    padding: Padding = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    name: str = "max_pool",
) -> Tensor:
    """Maximum of each window; padding never wins.

    Raises ExprError for options that do not fit `x`, or padding as wide as the window.
    """
    windows = _windows(x, kernel, stride, padding, dilation, ceil_mode, name)
    padded = pad_spatial(x, windows.all_pads, value=lowest(x.dtype), name=f"{name}_pad")
    axes, shape, names = _axes(x, windows)

    def body(*index: Any) -> Expr:
        return max_over(_element(padded, index, axes, windows), axes)

    return compute(shape, with_axes(names, body), name=name, dtype=x.dtype)


def max_pool_indices(
    x: Tensor,
    kernel: PerAxis,
    *,
    stride: PerAxis = 1,
    padding: Padding = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    column_major: bool = False,
    name: str = "max_pool_indices",
) -> Tensor:
    """int64 places [n, c, *spatial] of the maxima in a flat [n, c, *spatial], the first of equals.

    `column_major` counts the spatial dimensions from the first one. NaN is nowhere.
    """
    options: Any = {"stride": stride, "padding": padding, "dilation": dilation}
    best = max_pool(x, kernel, **options, ceil_mode=ceil_mode, name=f"{name}_value")
    windows = _windows(x, kernel, stride, padding, dilation, ceil_mode, name)
    padded = pad_spatial(x, windows.all_pads, value=lowest(x.dtype), name=f"{name}_pad")
    axes, shape, names = _axes(x, windows)
    strides = _strides(windows.spatial[::-1])[::-1] if column_major else _strides(windows.spatial)
    channels, image = shape[-1], prod(windows.spatial)

    def body(*index: Any) -> Expr:
        n, *at, c = index
        place: Expr = (as_expr(n) * channels + c) * image
        rows = zip(at, axes, windows.stride, windows.dilation, windows.pads, strides, strict=True)
        for p, r, s, d, (before, _), step in rows:
            place = place + (p * s + r * d - before) * step
        found = _element(padded, index, axes, windows).eq(best[index])
        return min_over(select(found, place, const(2**62, INT64)), axes)

    first = compute(shape, with_axes(names, body), name=f"{name}_first", dtype=INT64)
    most = shape[0] * channels * image - 1
    # Where nothing equals the maximum (NaN), any valid place will do.
    return elementwise(lambda v: binary("min", v, most), first, name=name)


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides."""
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def sum_pool(
    x: Tensor,
    kernel: PerAxis,
    *,
    stride: PerAxis = 1,
    padding: Padding = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    name: str = "sum_pool",
) -> Tensor:
    """Sum of each window; padding adds nothing."""
    windows = _windows(x, kernel, stride, padding, dilation, ceil_mode, name)
    padded = pad_spatial(x, windows.all_pads, name=f"{name}_pad")
    axes, shape, names = _axes(x, windows)

    def body(*index: Any) -> Expr:
        return sum_over(_element(padded, index, axes, windows), axes)

    return compute(shape, with_axes(names, body), name=name, dtype=x.dtype)


def col2im(
    x: Tensor,
    shape: Sequence[int],
    kernel: Sequence[int],
    *,
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    name: str = "col2im",
) -> Tensor:
    """[n, c · windows' elements, windows] -> [n, c, *shape]: each element added where it came from.

    Raises ExprError when the extents of `x` do not fit the windows.
    """
    rows = zip(shape, kernel, stride, dilation, padding, strict=True)
    counts = [window_extent(*row) for row in rows]
    batch, columns, places = extents(x)
    if places != prod(counts) or columns % prod(kernel):
        raise ExprError(f"{name}: {x.shape} does not fit {counts} windows of {kernel}")
    axes = [reduce_axis(k, f"r{d}") for d, k in enumerate(kernel)]

    def body(n: Any, c: Any, *at: Any) -> Expr:
        column, window, valid = as_expr(c), as_expr(0), as_expr(True)
        for d, i in enumerate(at):
            start = i + padding[d][0] - axes[d] * dilation[d]
            number = start // stride[d]
            valid = valid & (start >= 0) & (number < counts[d]) & (start % stride[d]).eq(0)
            column = column * kernel[d] + axes[d]
            window = window * counts[d] + binary("min", binary("max", number, 0), counts[d] - 1)
        value = x[n, column, window]
        return sum_over(select(valid, value, const(0, value.dtype)), axes)

    whole = (batch, columns // prod(kernel), *shape)
    return compute(whole, body, name=name, dtype=x.dtype)


def avg_pool(
    x: Tensor,
    kernel: PerAxis,
    *,
    stride: PerAxis = 1,
    padding: Padding = 0,
    dilation: PerAxis = 1,
    ceil_mode: bool = False,
    count_include_pad: bool = False,
    name: str = "avg_pool",
) -> Tensor:
    """Mean of each window; `count_include_pad` divides by the padded window's size.

    Raises ExprError for options that do not fit `x`, or padding as wide as the window.
    """
    windows = _windows(x, kernel, stride, padding, dilation, ceil_mode, name)
    padded = pad_spatial(x, windows.all_pads, name=f"{name}_pad")
    axes, shape, names = _axes(x, windows)

    def add_up(*index: Any) -> Expr:
        return sum_over(_element(padded, index, axes, windows), axes)

    sums = with_axes(names, add_up)
    total = compute(shape, sums, name=f"{name}_sum", dtype=x.dtype.accumulator)

    def scale(*index: Any) -> Expr:
        count = _count(index[1:-1], windows, count_include_pad)
        value = total[index]
        return value * (1 / count) if isinstance(count, int) else value / cast(value.dtype, count)

    return compute(shape, with_axes(names, scale), name=name, dtype=x.dtype)


def global_avg_pool(x: Tensor, *, name: str = "global_avg_pool") -> Tensor:
    """Mean over all spatial dimensions, which stay with extent 1."""
    return reduce_mean(x, tuple(range(1, x.rank - 1)), keepdims=True, name=name)


def global_max_pool(x: Tensor, *, name: str = "global_max_pool") -> Tensor:
    """Maximum over all spatial dimensions, which stay with extent 1."""
    return reduce_max(x, tuple(range(1, x.rank - 1)), keepdims=True, name=name)


def _windows(
    x: Tensor,
    kernel: PerAxis,
    stride: PerAxis,
    padding: Padding,
    dilation: PerAxis,
    ceil_mode: bool,
    name: str,
) -> Windows:
    rank = x.rank - 2
    if rank < 1:
        raise ExprError(f"{name} needs [n, *spatial, c], got {x.shape}")
    spatial = extents(x)[1:-1]
    kernels, strides = per_axis(kernel, rank, "kernel"), per_axis(stride, rank, "stride")
    dilations, pads = per_axis(dilation, rank, "dilation"), padding_pairs(padding, rank)
    out, hang = [], []
    for e, k, s, d, (before, after) in zip(spatial, kernels, strides, dilations, pads, strict=True):
        reach = (k - 1) * d + 1
        room = e + before + after - reach
        if room < 0 or max(before, after) >= reach:
            raise ExprError(f"{name}: a window reaching {reach} on {e} + padding {(before, after)}")
        count = room // s + 1
        # A window of ceil mode that would start beyond the data and the padding before is dropped.
        if ceil_mode and room % s and count * s < e + before:
            count += 1
        out.append(count)
        hang.append(max(0, (count - 1) * s - room))
    return Windows(spatial, kernels, strides, dilations, pads, tuple(hang), tuple(out))


def _axes(x: Tensor, windows: Windows) -> tuple[tuple[Axis, ...], tuple[int, ...], tuple[str, ...]]:
    """Reduction axes, output shape and output axes' names."""
    names = spatial_names(len(windows.kernel))
    axes = tuple(reduce_axis(k, f"r{n}") for k, n in zip(windows.kernel, names, strict=True))
    return axes, (extents(x)[0], *windows.out, extents(x)[-1]), ("n", *names, "c")


def _element(padded: Tensor, index: Sequence[Any], axes: Sequence[Axis], windows: Windows) -> Read:
    n, *at, c = index
    rows = zip(at, windows.stride, axes, windows.dilation, strict=True)
    return padded[(n, *(p * s + r * d for p, s, r, d in rows), c)]


def _count(at: Sequence[Any], windows: Windows, count_include_pad: bool) -> int | Expr:
    """Elements that each window averages over: an int where that is the same everywhere."""
    bounds = [
        (-before, extent + after) if count_include_pad else (0, extent)
        for extent, (before, after) in zip(windows.spatial, windows.pads, strict=True)
    ]
    constant, varying = 1, None
    for d, position in enumerate(at):
        reach = (windows.kernel[d] - 1) * windows.dilation[d] + 1
        before = windows.pads[d][0]
        last = (windows.out[d] - 1) * windows.stride[d] - before
        if bounds[d][0] <= -before and last + reach <= bounds[d][1]:
            constant *= windows.kernel[d]
            continue
        start = position * windows.stride[d] - before
        inside = _inside(start, bounds[d], windows.kernel[d], windows.dilation[d])
        varying = inside if varying is None else varying * inside
    return constant if varying is None else varying * constant


def _inside(start: Expr, bounds: tuple[int, int], kernel: int, dilation: int) -> Expr:
    """How many of start, start + dilation, … (`kernel` of them) lie in [bounds[0], bounds[1])."""
    step = dilation - 1
    first = binary("max", (as_expr(bounds[0]) - start + step) // dilation, 0)
    end = binary("min", (as_expr(bounds[1]) - start + step) // dilation, kernel)
    return binary("max", end - first, 1)

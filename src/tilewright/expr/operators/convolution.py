"""Convolutions of any rank, channels last: padding stage, reduction stage, bias stage.

    conv(x, w)              [n, *spatial, c] x [*kernel, c / groups, o] -> [n, *spatial, o]
    depthwise_conv(x, w)    [n, *spatial, c] x [*kernel, c, m] -> [n, *spatial, c * m]
    conv_transpose(x, w)    [n, *spatial, c] x [*kernel, c, o / groups] -> [n, *spatial, o]
    capsule_conv2d(x, w)    [n, h, w, s, s, c] x [kh, kw, s, s, c, o] -> [n, h, w, s, s, o]

Options: `stride`, `padding` and `dilation` (see `Sliding`). Padding is a stage of its own, absent
when it is all zero.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Unpack

from tilewright.expr.index.extents import add, mul, sub
from tilewright.expr.nodes import Axis, Expr, Extent, Shape, Tensor, const, select
from tilewright.expr.operators.matmul import add_bias
from tilewright.expr.operators.shapes import (
    Padding,
    PerAxis,
    accumulated,
    number,
    numbers,
    padding_pairs,
    per_axis,
    spatial_names,
    sum_dtype,
    with_axes,
)
from tilewright.expr.operators.windows import Sliding, Windows
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.expr.text import shape_text
from tilewright.ground.errors import ExprError


def conv(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    groups: int = 1,
    dtype: str | None = None,
    name: str = "conv",
    **sliding: Unpack[Sliding],
) -> Tensor:
    """Convolution (cross-correlation) over all dimensions between batch and channels; the sums are
    stored as `dtype`.

    Output channel `o` belongs to group `o // (o_total / groups)` and reads that group's input
    channels. Raises ExprError for shapes or options that do not fit together.
    """
    spatial, channels = _image(x, w, name)
    *kernel, depth, outputs = numbers(w.shape, name)
    if channels != depth * groups or outputs % groups:
        raise ExprError(
            f"{name}: {groups} groups do not fit input {shape_text(x.shape)} and weights "
            f"{w.shape}; weights are [*kernel, channels / groups, outputs]"
        )
    windows = Windows.over(spatial, kernel, name=name, **sliding)
    padded = windows.padded(x, name=f"{name}_pad")
    c, per_group = reduce_axis(depth, "rc"), outputs // groups

    def channels_of(o: Any) -> Operands:
        first = (o // per_group) * depth if groups > 1 else 0
        return (first + c,), (*windows.axes, c, o)

    return _product(padded, w, windows, channels_of, (c,), {"c": outputs}, name, bias, dtype)


def depthwise_conv(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    name: str = "depthwise",
    **sliding: Unpack[Sliding],
) -> Tensor:
    """Each channel convolved by itself with `m` kernels: output channel `c * m + j` reads `c`.

    Raises ExprError for shapes or options that do not fit together.
    """
    spatial, channels = _image(x, w, name)
    *kernel, channels_w, multiplier = numbers(w.shape, name)
    if channels != channels_w:
        raise ExprError(f"{name}: {channels} channels, weights {w.shape} are for {channels_w}")
    windows = Windows.over(spatial, kernel, name=name, **sliding)
    padded = windows.padded(x, name=f"{name}_pad")

    def channels_of(o: Any) -> Operands:
        c, j = (o, 0) if multiplier == 1 else (o // multiplier, o % multiplier)
        return (c,), (*windows.axes, c, j)

    outputs = {"c": channels * multiplier}
    return _product(padded, w, windows, channels_of, (), outputs, name, bias)


def conv_transpose(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    stride: PerAxis = 1,
    padding: Padding = 0,
    dilation: PerAxis = 1,
    output_padding: PerAxis = 0,
    groups: int = 1,
    name: str = "conv_transpose",
) -> Tensor:
    """The transpose of `conv`: y[i * stride - pad + r * dilation] += x[i] * w[r].

    Written as a gather, as in Ansor's benchmark: a stage inserts zeros between the elements of
    `x` (a select on the index modulo the stride) and around them; a convolution of stride 1 with
    the flipped kernel follows. Output extent: (in - 1) * stride - pads + reach + output_padding.
    Raises ExprError for shapes or options that do not fit together.
    """
    spatial, channels = _image(x, w, name)
    *kernel, channels_w, per_group = numbers(w.shape, name)
    if channels != channels_w or channels % groups:
        raise ExprError(
            f"{name}: {groups} groups do not fit input {shape_text(x.shape)} and weights "
            f"{w.shape}; weights are [*kernel, channels, outputs / groups]"
        )
    rank = len(spatial)
    strides, pads = per_axis(stride, rank, "stride"), padding_pairs(padding, rank)
    dilations = per_axis(dilation, rank, "dilation")
    extra = per_axis(output_padding, rank, "output_padding", least=0)
    reaches = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    rows = zip(spatial, strides, pads, reaches, extra, strict=True)
    out = [add(mul(sub(i, 1), s), sub(e + r, add(*p))) for i, s, p, r, e in rows]
    if any(isinstance(e, int) and e < 1 for e in out):
        raise ExprError(f"{name}: padding {padding!r} leaves no output: {out}")
    offsets = [sub(r - 1, before) for r, (before, _) in zip(reaches, pads, strict=True)]
    room = [add(e, r - 1) for e, r in zip(out, reaches, strict=True)]
    spread = _insert_zeros(x, strides, offsets, room, name=f"{name}_dilate")
    windows = Windows.over(room, kernel, dilation=dilations, name=name)
    depth = channels // groups
    c = reduce_axis(depth, "rc")

    def channels_of(o: Any) -> Operands:
        group, column = (o // per_group, o % per_group) if groups > 1 else (0, o)
        flipped = (k - 1 - r for k, r in zip(kernel, windows.axes, strict=True))
        return (group * depth + c,), (*flipped, group * depth + c, column)

    outputs = {"c": per_group * groups}
    return _product(spread, w, windows, channels_of, (c,), outputs, name, bias)


def capsule_conv2d(
    x: Tensor,
    w: Tensor,
    *,
    stride: PerAxis = 1,
    padding: Padding = 0,
    name: str = "capsule_conv2d",
) -> Tensor:
    """Convolution whose elements are small square matrices (Ansor's CAP; capsule size 4).

    y[n, h, w, i, j, o] = Σ x[n, h', w', i, k, c] · w[rh, rw, k, j, c, o] over rh, rw, k, c.
    Raises ExprError for shapes or options that do not fit together.
    """
    if x.rank != 6 or w.rank != 6:
        raise ExprError(f"{name}: needs 6 dimensions each, got {x.shape} and {w.shape}")
    spatial, (rows, inner, channels) = x.shape[1:3], numbers(x.shape[3:], name)
    *kernel, inner_w, columns, channels_w, outputs = numbers(w.shape, name)
    if (inner, channels) != (inner_w, channels_w):
        raise ExprError(f"{name}: input {x.shape} and weights {w.shape} do not fit together")
    windows = Windows.over(spatial, kernel, stride=stride, padding=padding, name=name)
    padded = windows.padded(x, name=f"{name}_pad")
    k, c = reduce_axis(inner, "rk"), reduce_axis(channels, "rc")

    def elements_of(i: Any, j: Any, o: Any) -> Operands:
        return (i, k, c), (*windows.axes, k, j, c, o)

    rest = {"i": rows, "j": columns, "c": outputs}
    return _product(padded, w, windows, elements_of, (k, c), rest, name)


Operands = tuple[tuple[Any, ...], tuple[Any, ...]]
"""Indices of the data after the spatial ones, and all those of the weights."""


def _product(
    padded: Tensor,
    w: Tensor,
    windows: Windows,
    operands_of: Callable[..., Operands],
    over: tuple[Axis, ...],
    rest: dict[str, int],
    name: str,
    bias: Tensor | None = None,
    dtype: str | None = None,
) -> Tensor:
    """Windows times weights, summed over the windows' axes and `over`, plus the bias.

    `rest` are names and extents of the output's dimensions after the spatial ones; `operands_of`
    says what is read for an index of these.
    """
    rank = len(windows.out)

    def body(n: Any, *index: Any) -> Expr:
        ours, theirs = operands_of(*index[rank:])
        value = accumulated(padded[(n, *windows.at(index[:rank]), *ours)])
        return sum_over(value * accumulated(w[theirs]), (*windows.axes, *over))

    names = ("n", *spatial_names(rank), *rest)
    reduced = name if bias is None else f"{name}_sum"
    shape = (padded.shape[0], *windows.out, *rest.values())
    kind = sum_dtype(padded, w, wanted=dtype)
    y = compute(shape, with_axes(names, body), name=reduced, dtype=kind)
    return y if bias is None else add_bias(y, bias, name=name)


def _insert_zeros(
    x: Tensor,
    strides: Sequence[int],
    offsets: Sequence[Extent],
    room: Sequence[Extent],
    *,
    name: str,
) -> Tensor:
    """z[j] = x[(j - offset) / stride] where that is an index of x, else 0."""
    batch, *spatial, channels = x.shape

    def body(n: Any, *index: Any) -> Expr:
        *at, c = index
        shifted = [j - o for j, o in zip(at, offsets, strict=True)]
        inside = []
        for u, extent, stride in zip(shifted, spatial, strides, strict=True):
            inside += [u >= 0, u < (extent - 1) * stride + 1]
            inside += [(u % stride).eq(0)] if stride > 1 else []
        test = reduce(operator.and_, inside)
        value = x[(n, *(u // s for u, s in zip(shifted, strides, strict=True)), c)]
        return select(test, value, const(0, value.dtype))

    names = ("n", *spatial_names(len(spatial)), "c")
    shape = (batch, *room, channels)
    return compute(shape, with_axes(names, body), name=name, dtype=x.dtype)


def _conv_of_rank(rank: int, shapes: str) -> Callable[..., Tensor]:
    def operator(x: Tensor, w: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
        named = {"name": f"conv{rank}d", **options}
        if x.rank != rank + 2:
            raise ExprError(f"{named['name']} needs {rank + 2} dimensions, got {x.shape}")
        return conv(x, w, bias, **named)

    operator.__name__ = operator.__qualname__ = f"conv{rank}d"
    operator.__doc__ = f"`conv` of {shapes}; the same options."
    return operator


conv1d = _conv_of_rank(1, "[n, w, c] with [kw, c / groups, o]")
conv2d = _conv_of_rank(2, "[n, h, w, c] with [kh, kw, c / groups, o]")
conv3d = _conv_of_rank(3, "[n, d, h, w, c] with [kd, kh, kw, c / groups, o]")


def _image(x: Tensor, w: Tensor, name: str) -> tuple[Shape, int]:
    """Spatial extents and channels of `x`, which has as many dimensions as its weights."""
    if x.rank < 3 or w.rank != x.rank:
        shown = shape_text(x.shape)
        raise ExprError(f"{name}: input {shown} and weights {w.shape} do not fit together")
    return x.shape[1:-1], number(x.shape[-1], name)

"""Convolutions of any rank, channels last: padding stage, reduction stage, bias stage.

    conv(x, w)              [n, *spatial, c] x [*kernel, c / groups, o] -> [n, *spatial, o]
    depthwise_conv(x, w)    [n, *spatial, c] x [*kernel, c, m] -> [n, *spatial, c * m]
    conv_transpose(x, w)    [n, *spatial, c] x [*kernel, c, o / groups] -> [n, *spatial, o]
    capsule_conv2d(x, w)    [n, h, w, s, s, c] x [kh, kw, s, s, c, o] -> [n, h, w, s, s, o]

Options: `stride` and `dilation` (an int or one an axis), `padding` (an int, one an axis, or a pair
(before, after) an axis). Padding is a stage of its own, absent when it is all zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilewright.errors import ExprError
from tilewright.expr.nodes import Axis, Expr, Tensor, const, select
from tilewright.expr.operators.matmul import add_bias
from tilewright.expr.operators.movement import pad
from tilewright.expr.operators.shapes import (
    Padding,
    Pairs,
    PerAxis,
    accumulated,
    extents,
    padding_pairs,
    per_axis,
    spatial_names,
    sum_dtype,
    window_extent,
    with_axes,
)
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import sum as sum_over


def conv(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    stride: PerAxis = 1,
    padding: Padding = 0,
    dilation: PerAxis = 1,
    groups: int = 1,
    name: str = "conv",
) -> Tensor:
    """Convolution (cross-correlation) over all dimensions between batch and channels.

    Output channel `o` belongs to group `o // (o_total / groups)` and reads that group's input
    channels. Raises ExprError for shapes or options that do not fit together.
    """
    rank = _spatial_rank(x, w, name)
    batch, *spatial, channels = extents(x)
    *kernel, depth, outputs = extents(w)
    if channels != depth * groups or outputs % groups:
        raise ExprError(
            f"{name}: {groups} groups do not fit input {x.shape} and weights {w.shape}; weights "
            f"are [*kernel, channels / groups, outputs]"
        )
    strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
    pads = padding_pairs(padding, rank)
    out = [
        window_extent(*row) for row in zip(spatial, kernel, strides, dilations, pads, strict=True)
    ]
    padded = pad_spatial(x, pads, name=f"{name}_pad")
    window = _kernel_axes(kernel)
    c = reduce_axis(depth, "rc")
    per_group = outputs // groups

    def body(n: Any, *index: Any) -> Expr:
        *at, o = index
        first = (o // per_group) * depth if groups > 1 else 0
        value = padded[(n, *_window(at, strides, window, dilations), first + c)]
        return sum_over(accumulated(value) * accumulated(w[(*window, c, o)]), (*window, c))

    return _finish((batch, *out, outputs), body, bias, name, x, w)


def conv1d(x: Tensor, w: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    """`conv` of [n, w, c] with [kw, c / groups, o]; the same options."""
    return _conv_of_rank(1, x, w, bias, options)


def conv2d(x: Tensor, w: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    """`conv` of [n, h, w, c] with [kh, kw, c / groups, o]; the same options."""
    return _conv_of_rank(2, x, w, bias, options)


def conv3d(x: Tensor, w: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    """`conv` of [n, d, h, w, c] with [kd, kh, kw, c / groups, o]; the same options."""
    return _conv_of_rank(3, x, w, bias, options)


def depthwise_conv(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    stride: PerAxis = 1,
    padding: Padding = 0,
    dilation: PerAxis = 1,
    name: str = "depthwise",
) -> Tensor:
    """Each channel convolved by itself with `m` kernels: output channel `c * m + j` reads `c`.

    Raises ExprError for shapes or options that do not fit together.
    """
    rank = _spatial_rank(x, w, name)
    batch, *spatial, channels = extents(x)
    *kernel, channels_w, multiplier = extents(w)
    if channels != channels_w:
        raise ExprError(f"{name}: {channels} channels, weights {w.shape} are for {channels_w}")
    strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
    pads = padding_pairs(padding, rank)
    out = [
        window_extent(*row) for row in zip(spatial, kernel, strides, dilations, pads, strict=True)
    ]
    padded = pad_spatial(x, pads, name=f"{name}_pad")
    window = _kernel_axes(kernel)

    def body(n: Any, *index: Any) -> Expr:
        *at, o = index
        c, j = (o, 0) if multiplier == 1 else (o // multiplier, o % multiplier)
        value = padded[(n, *_window(at, strides, window, dilations), c)]
        return sum_over(accumulated(value) * accumulated(w[(*window, c, j)]), window)

    return _finish((batch, *out, channels * multiplier), body, bias, name, x, w)


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
    rank = _spatial_rank(x, w, name)
    batch, *spatial, channels = extents(x)
    *kernel, channels_w, per_group = extents(w)
    if channels != channels_w or channels % groups:
        raise ExprError(
            f"{name}: {groups} groups do not fit input {x.shape} and weights {w.shape}; weights "
            f"are [*kernel, channels, outputs / groups]"
        )
    strides, dilations = per_axis(stride, rank, "stride"), per_axis(dilation, rank, "dilation")
    pads = padding_pairs(padding, rank)
    extra = per_axis(output_padding, rank, "output_padding", least=0)
    reaches = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    rows = zip(spatial, strides, pads, reaches, extra, strict=True)
    out = [(i - 1) * s - sum(p) + r + e for i, s, p, r, e in rows]
    if any(e < 1 for e in out):
        raise ExprError(f"{name}: padding {padding!r} leaves no output: {out}")
    offsets = [r - 1 - before for r, (before, _) in zip(reaches, pads, strict=True)]
    room = [e + r - 1 for e, r in zip(out, reaches, strict=True)]
    spread = _insert_zeros(x, strides, offsets, room, name=f"{name}_dilate")
    window = _kernel_axes(kernel)
    depth = channels // groups
    c = reduce_axis(depth, "rc")

    def body(n: Any, *index: Any) -> Expr:
        *at, o = index
        group, column = (o // per_group, o % per_group) if groups > 1 else (0, o)
        value = spread[(n, *_window(at, (1,) * rank, window, dilations), group * depth + c)]
        flipped = [k - 1 - r for k, r in zip(kernel, window, strict=True)]
        weight = w[(*flipped, group * depth + c, column)]
        return sum_over(accumulated(value) * accumulated(weight), (*window, c))

    return _finish((batch, *out, per_group * groups), body, bias, name, x, w)


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
    batch, *spatial, rows, inner, channels = extents(x)
    *kernel, inner_w, columns, channels_w, outputs = extents(w)
    if (inner, channels) != (inner_w, channels_w):
        raise ExprError(f"{name}: input {x.shape} and weights {w.shape} do not fit together")
    strides, pads = per_axis(stride, 2, "stride"), padding_pairs(padding, 2)
    out = [window_extent(*row) for row in zip(spatial, kernel, strides, (1, 1), pads, strict=True)]
    padded = pad_spatial(x, pads, name=f"{name}_pad")
    window = _kernel_axes(kernel)
    k, c = reduce_axis(inner, "rk"), reduce_axis(channels, "rc")

    def body(n: Any, h: Any, v: Any, i: Any, j: Any, o: Any) -> Expr:
        value = padded[(n, *_window((h, v), strides, window, (1, 1)), i, k, c)]
        weight = w[(*window, k, j, c, o)]
        return sum_over(accumulated(value) * accumulated(weight), (*window, k, c))

    shape = (batch, *out, rows, columns, outputs)
    axes = with_axes(("n", "h", "w", "i", "j", "c"), body)
    return compute(shape, axes, name=name, dtype=sum_dtype(x, w))


def pad_spatial(x: Tensor, pads: Pairs, *, value: float | int = 0, name: str) -> Tensor:
    """Pad the dimensions after the batch by `pads`; `x` itself when they are all zero."""
    rest = x.rank - 1 - len(pads)
    return pad(x, ((0, 0), *pads, *((0, 0),) * rest), value=value, name=name)


def _insert_zeros(
    x: Tensor, strides: Sequence[int], offsets: Sequence[int], room: Sequence[int], *, name: str
) -> Tensor:
    """z[j] = x[(j - offset) / stride] where that is an index of x, else 0."""
    batch, *spatial, channels = extents(x)

    def body(n: Any, *index: Any) -> Expr:
        *at, c = index
        shifted = [j - o for j, o in zip(at, offsets, strict=True)]
        inside = []
        for u, extent, stride in zip(shifted, spatial, strides, strict=True):
            inside += [u >= 0, u < (extent - 1) * stride + 1]
            inside += [(u % stride).eq(0)] if stride > 1 else []
        test = inside[0]
        for condition in inside[1:]:
            test = test & condition
        value = x[(n, *(u // s for u, s in zip(shifted, strides, strict=True)), c)]
        return select(test, value, const(0, value.dtype))

    names = ("n", *spatial_names(len(spatial)), "c")
    shape = (batch, *room, channels)
    return compute(shape, with_axes(names, body), name=name, dtype=x.dtype)


def _conv_of_rank(
    rank: int, x: Tensor, w: Tensor, bias: Tensor | None, options: dict[str, Any]
) -> Tensor:
    named = {"name": f"conv{rank}d", **options}
    if x.rank != rank + 2:
        raise ExprError(f"{named['name']} needs {rank + 2} dimensions, got {x.shape}")
    return conv(x, w, bias, **named)


def _spatial_rank(x: Tensor, w: Tensor, name: str) -> int:
    if x.rank < 3 or w.rank != x.rank:
        raise ExprError(f"{name}: input {x.shape} and weights {w.shape} do not fit together")
    return x.rank - 2


def _kernel_axes(kernel: Sequence[int]) -> tuple[Axis, ...]:
    names = spatial_names(len(kernel))
    return tuple(reduce_axis(e, f"r{n}") for e, n in zip(kernel, names, strict=True))


def _window(
    at: Sequence[Any], strides: Sequence[int], window: Sequence[Axis], dilations: Sequence[int]
) -> list[Expr]:
    """Input positions: output position * stride + kernel position * dilation."""
    rows = zip(at, strides, window, dilations, strict=True)
    return [p * s + r * d for p, s, r, d in rows]


def _finish(
    shape: tuple[int, ...], body: Any, bias: Tensor | None, name: str, x: Tensor, w: Tensor
) -> Tensor:
    names = ("n", *spatial_names(len(shape) - 2), "c")
    reduced = name if bias is None else f"{name}_sum"
    y = compute(shape, with_axes(names, body), name=reduced, dtype=sum_dtype(x, w))
    return y if bias is None else add_bias(y, bias, name=name)

"""ONNX pooling and local response normalisation: windows over channels-last images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from tilewright.graph.ir import Value
from tilewright.graph.onnx_ops.call import Call, Translator
from tilewright.graph.onnx_ops.contraction import (
    channels_first,
    channels_last,
    per_axis,
    window_pads,
)


def max_pool(call: Call) -> Sequence[Value]:
    """The maxima, and their places in the input as one row."""
    x = call.input(0)
    y = _pool(call, "max_pool", x)
    if not any(call.used_outputs[1:]):
        return [y]
    column_major = bool(call.attribute("storage_order", 0))
    return [y, _pool(call, "max_pool_indices", x, column_major=column_major)]


def avg_pool(call: Call) -> Value:
    x = call.input(0)
    return _pool(
        call, "avg_pool", x, count_include_pad=bool(call.attribute("count_include_pad", 0))
    )


def _pool(call: Call, op: str, x: Value, **options: bool) -> Value:
    kernel = tuple(int(k) for k in call.attribute("kernel_shape"))
    y = call.emit(
        op,
        channels_last(call, x),
        kernel=kernel,
        stride=per_axis(call, "strides", len(kernel)),
        padding=window_pads(call, x.shape[2:], kernel),
        dilation=per_axis(call, "dilations", len(kernel)),
        ceil_mode=bool(call.attribute("ceil_mode", 0)),
        **options,
    )
    return channels_first(call, y)


def global_pool(op: str) -> Callable[[Call], Value]:
    """A reduction over every spatial dimension."""

    def translate(call: Call) -> Value:
        x = call.input(0)
        return call.emit(op, x, axes=tuple(range(2, x.rank)), keepdims=True)

    return translate


def lrn(call: Call) -> Value:
    y = call.emit(
        "lrn",
        channels_last(call, call.input(0)),
        size=int(call.attribute("size")),
        alpha=float(call.attribute("alpha", 1e-4)),
        beta=float(call.attribute("beta", 0.75)),
        bias=float(call.attribute("bias", 1.0)),
    )
    return channels_first(call, y)


def lp_pool(call: Call) -> Value:
    """The p-norm of each window."""
    p = float(call.attribute("p", 2))
    return _root(call, _pool(call, "sum_pool", _power(call, call.input(0), p)), p)


def global_lp_pool(call: Call) -> Value:
    x, p = call.input(0), float(call.attribute("p", 2))
    powers = _power(call, x, p)
    total = call.emit("reduce_sum", powers, axes=tuple(range(2, x.rank)), keepdims=True)
    return _root(call, total, p)


def _power(call: Call, x: Value, p: float) -> Value:
    size = call.emit("absolute", x)
    return size if p == 1 else call.emit("power", size, call.literal(p, x))


def _root(call: Call, x: Value, p: float) -> Value:
    return x if p == 1 else call.emit("power", x, call.literal(1 / p, x))


def max_unpool(call: Call) -> Value:
    """Values at the flat places they came from, zeros elsewhere."""
    x, at = call.input(0), call.input(1)
    kernel = tuple(int(k) for k in call.attribute("kernel_shape"))
    strides = per_axis(call, "strides", len(kernel))
    pads = call.attribute("pads") or [0] * (2 * len(kernel))
    rows = zip(x.shape[2:], kernel, strides, pads[: len(kernel)], pads[len(kernel) :], strict=True)
    shape = (*x.shape[:2], *((n - 1) * s - a - b + k for n, k, s, a, b in rows))
    zeros = call.literal(np.zeros(call.table(prod(shape))), x)
    call.check_indices(at, (zeros.elements,), zeros)
    y = call.emit(
        "scatter_elements",
        zeros,
        call.builder.reshape(at, (at.elements,)),
        call.builder.reshape(x, (x.elements,)),
        axis=0,
        reduction="none",
    )
    y = call.builder.reshape(y, shape)
    wanted = call.ints(2, "output_shape") or shape
    if wanted == shape:
        return y
    pads_after = tuple((0, w - n) for w, n in zip(wanted, shape, strict=True))
    return call.emit("pad", y, pads=pads_after, mode="constant", value=0)


def col2im(call: Call) -> Value:
    x = call.input(0)
    shape, kernel = (
        tuple(int(n) for n in call.known(i, w)) for i, w in enumerate(WINDOW_SHAPES, 1)
    )
    return call.emit(
        "col2im",
        x,
        shape=shape,
        kernel=kernel,
        stride=per_axis(call, "strides", len(shape)),
        padding=window_pads(call, shape, kernel),
        dilation=per_axis(call, "dilations", len(shape)),
    )


WINDOW_SHAPES = ("image_shape", "block_shape")

WINDOW: dict[str, Translator] = {
    "AveragePool": avg_pool,
    "Col2Im": col2im,
    "GlobalAveragePool": global_pool("reduce_mean"),
    "GlobalLpPool": global_lp_pool,
    "GlobalMaxPool": global_pool("reduce_max"),
    "LRN": lrn,
    "LpPool": lp_pool,
    "MaxPool": max_pool,
    "MaxUnpool": max_unpool,
}

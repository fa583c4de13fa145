"""ONNX pooling and local response normalisation: windows over channels-last images."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.call import OperatorCall, Translator
from tilewright.graph.onnx.ops.contraction import Ints, on_image, sliding


def max_pool(
    call: OperatorCall, x: Value, *, kernel_shape: Ints, storage_order: bool = False, **window: Any
) -> Sequence[Value]:
    """The maxima, and their places in the input as one row."""
    y = _pool(call, "max_pool", x, kernel_shape, window)
    if not any(call.used_outputs[1:]):
        return [y]
    return [y, _pool(call, "max_pool_indices", x, kernel_shape, window, column_major=storage_order)]


def avg_pool(
    call: OperatorCall,
    x: Value,
    *,
    kernel_shape: Ints,
    count_include_pad: bool = False,
    **window: Any,
) -> Value:
    return _pool(call, "avg_pool", x, kernel_shape, window, count_include_pad=count_include_pad)


def _pool(
    call: OperatorCall, op: str, x: Value, kernel: Ints, window: dict[str, Any], **options: bool
) -> Value:
    others = {k: v for k, v in window.items() if k != "ceil_mode"}
    counted = window.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID")  # as many as strides
    ceil_mode = bool(window.get("ceil_mode", 0)) and not counted
    slides = sliding(call, x.extents[2:], kernel, **others)
    return on_image(call, op, x, kernel=tuple(kernel), **slides, ceil_mode=ceil_mode, **options)


def global_pool(op: str) -> Translator:
    """A reduction over every spatial dimension."""

    def translate(call: OperatorCall, x: Value) -> Value:
        return call.emit(op, x, axes=tuple(range(2, x.rank)), keepdims=True)

    return translate


def lrn(
    call: OperatorCall,
    x: Value,
    *,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
) -> Value:
    return on_image(call, "lrn", x, size=size, alpha=alpha, beta=beta, bias=bias)


def lp_pool(
    call: OperatorCall, x: Value, *, kernel_shape: Ints, p: float = 2.0, **window: Any
) -> Value:
    """The p-norm of each window."""
    powers = _power(call, call.emit("absolute", x), p)
    return _power(call, _pool(call, "sum_pool", powers, kernel_shape, window), 1 / p)


def global_lp_pool(call: OperatorCall, x: Value, *, p: float = 2.0) -> Value:
    powers = _power(call, call.emit("absolute", x), p)
    total = call.emit("reduce_sum", powers, axes=tuple(range(2, x.rank)), keepdims=True)
    return _power(call, total, 1 / p)


def _power(call: OperatorCall, x: Value, p: float) -> Value:
    return x if p == 1 else call.emit("power", x, call.literal(p, x))


def max_unpool(
    call: OperatorCall,
    x: Value,
    at: Value,
    output_shape: Value | None = None,
    *,
    kernel_shape: Ints,
    strides: Ints | None = None,
    pads: Ints | None = None,
) -> Value:
    """Values at the flat places they came from, zeros elsewhere."""
    slides = sliding(call, x.shape[2:], kernel_shape, strides=strides, pads=pads)
    rows = zip(x.shape[2:], kernel_shape, slides["stride"], slides["padding"], strict=True)
    shape = (*x.shape[:2], *((n - 1) * s - a - b + k for n, k, s, (a, b) in rows))
    zeros = call.literal(np.zeros(call.table(prod(shape))), x)
    call.check_indices(at, (zeros.elements,), zeros)
    indices, values = (call.builder.reshape(v, (v.elements,)) for v in (at, x))
    y = call.emit("scatter_elements", zeros, indices, values, axis=0, reduction="none")
    y = call.builder.reshape(y, shape)
    wanted = call.ints(output_shape, "output_shape") or shape
    if wanted == shape:
        return y
    pads_after = tuple((0, w - n) for w, n in zip(wanted, shape, strict=True))
    return call.emit("pad", y, pads=pads_after, mode="constant", value=0)


def col2im(
    call: OperatorCall, x: Value, image_shape: Value, block_shape: Value, **window: Any
) -> Value:
    shape = call.known_ints(image_shape, "image_shape")
    kernel = call.known_ints(block_shape, "block_shape")
    slides = sliding(call, shape, kernel, **window)
    return call.emit("col2im", x, shape=shape, kernel=kernel, **slides)


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

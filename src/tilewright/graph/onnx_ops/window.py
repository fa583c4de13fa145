"""ONNX pooling, local response normalisation and resizing: windows over channels-last images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.graph.ir import Value
from tilewright.graph.onnx_ops.call import Call, Translator
from tilewright.graph.onnx_ops.contraction import (
    channels_first,
    channels_last,
    per_axis,
    window_pads,
)


def max_pool(call: Call) -> Value:
    call.only_output()
    return _pool(call, "max_pool")


def avg_pool(call: Call) -> Value:
    return _pool(call, "avg_pool", count_include_pad=bool(call.attribute("count_include_pad", 0)))


def _pool(call: Call, op: str, **options: bool) -> Value:
    x = call.input(0)
    kernel = tuple(int(k) for k in call.attribute("kernel_shape"))
    y = call.emit(
        op,
        channels_last(call, x),
        kernel=kernel,
        strides=per_axis(call, "strides", len(kernel)),
        pads=window_pads(call, x.shape[2:], kernel),
        dilations=per_axis(call, "dilations", len(kernel)),
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


def resize(call: Call) -> Value:
    """Nearest neighbour, output i reading input floor(i · in / out) (asymmetric, floor)."""
    x = call.input(0)
    mode = call.attribute("mode", b"nearest").decode()
    if mode != "nearest":
        call.reject(f"mode {mode!r} is not supported; only nearest is")
    if call.op_type == "Resize" and call.opset >= 11:
        where = call.attribute("coordinate_transformation_mode", b"half_pixel").decode()
        rounding = call.attribute("nearest_mode", b"round_prefer_floor").decode()
        if not _reads_floor(call, x, where, rounding):
            call.reject(f"coordinates {where!r} rounded by {rounding!r} are not supported")
    shape = _resized(call, x)
    if shape[:2] != x.shape[:2]:
        call.reject(f"it resizes batch or channels: {x.shape} to {shape}")
    return channels_first(call, call.emit("upsample", channels_last(call, x), shape=shape[2:]))


def _reads_floor(call: Call, x: Value, where: str, rounding: str) -> bool:
    """Whether the mode equals floor(i · in / out): always, or because scales are integers."""
    if (where, rounding) == ("asymmetric", "floor"):
        return True
    pairs = zip(x.shape, _resized(call, x), strict=True)
    whole = all(new % old == 0 for old, new in pairs)
    nearest = rounding in ("round_prefer_floor", "round_prefer_ceil")
    return whole and where in ("half_pixel", "half_pixel_symmetric") and nearest


def _resized(call: Call, x: Value) -> tuple[int, ...]:
    inputs = (2, 3) if call.op_type == "Resize" and call.opset >= 11 else (1, 9)
    sizes = call.constant(inputs[1], "sizes")
    if sizes is not None and sizes.size:
        return tuple(int(n) for n in sizes)
    scales = call.constant(inputs[0], "scales")
    listed = call.attribute("scales") if scales is None else scales
    if listed is None or len(listed) != x.rank or call.attribute("axes") is not None:
        call.reject("it needs scales or sizes for every dimension")
    return tuple(int(np.floor(n * float(s))) for n, s in zip(x.shape, listed, strict=True))


WINDOW: dict[str, Translator] = {
    "AveragePool": avg_pool,
    "GlobalAveragePool": global_pool("reduce_mean"),
    "GlobalMaxPool": global_pool("reduce_max"),
    "LRN": lrn,
    "MaxPool": max_pool,
    "Resize": resize,
    "Upsample": resize,
}

"""Sums of products of bytes, whose zero points are taken out of the sums.

    Σ (a - za)(b - zb)  =  Σ ab  -  za Σ b  -  zb Σ a  +  K za zb           in int32, which wraps

What is left of the sum is what instructions for dots multiply: bytes, the first ones unsigned and
the second, weights as a rule, signed. Weights less their zero point are signed bytes where they
fit, so that zb is none; what depends on weights alone is a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tilewright.expr.operators.shapes import number
from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.call import OperatorCall
from tilewright.graph.onnx.ops.contraction import conv, matmul, sliding
from tilewright.graph.onnx.ops.movement import pad

Zero = Value | None
MIDDLE = 128  # between signed and unsigned bytes


def matmul_sums(call: OperatorCall, a: Value, b: Value, za: Zero = None, zb: Zero = None) -> Value:
    """(a - za) @ (b - zb) of bytes; za is one or one a row, zb one or one a column."""
    za, zb = _live(za and along(call, za, 1)), _live(zb and along(call, zb, 0))
    if min(a.rank, b.rank) < 2:
        return matmul(call, shifted(call, a, za), shifted(call, b, zb))
    a, za = _unsigned(call, a, za)
    b, zb = _signed(call, b, zb)

    def over(x: Value, axis: int) -> Value:
        return call.emit("reduce_sum", call.cast(x, "int32"), axes=(axis,), keepdims=True)

    rows, columns = (lambda: over(a, a.rank - 1)), (lambda: over(b, b.rank - 2))
    return _corrected(
        call, matmul(call, a, b), za, zb, rows, columns, number(a.extents[-1], a.name)
    )


def conv_sums(
    call: OperatorCall, x: Value, w: Value, zx: Zero = None, zw: Zero = None, **window: Any
) -> Value:
    """conv(x - zx, w - zw) of bytes, both channels-first: zx is one, zw one or one an output
    channel. What is around the image is zero, so zx before anything is taken from it.
    """
    zx, zw = _live(zx and along(call, zx, 0)), _live(zw and along(call, zw, w.rank - 1))
    groups = window.get("group", 1)
    weights, zero = _signed(call, w, zw)
    if groups > 1 and zero is not None:
        return conv(call, shifted(call, x, zx), shifted(call, w, zw), **window)
    x, zx = _unsigned(call, x, zx)
    window.pop("kernel_shape", None)
    if zx is not None:
        spatial, kernel = x.extents[2:], w.shape[2:]
        around = {k: window.pop(k) for k in ("auto_pad", "pads") if k in window}
        slides = {k: window[k] for k in ("strides", "dilations") if k in window}
        pairs = sliding(call, spatial, kernel, **around, **slides)["padding"]
        both = [0, 0, *(p[0] for p in pairs), 0, 0, *(p[1] for p in pairs)]
        x = pad(call, x, paddings=tuple(both), value=call.cast(zx, x.dtype))
    zero = zero and channelwise(call, zero, w.rank - 2)

    def windows() -> Value:
        ones = call.literal(np.ones((1, *w.shape[1:]), np.int8))
        return conv(call, x, ones, **window)

    def of_weights() -> Value:
        axes = tuple(range(1, w.rank))
        total = call.emit("reduce_sum", call.cast(weights, "int32"), axes=axes, keepdims=False)
        return channelwise(call, total, w.rank - 2)

    sums = conv(call, x, weights, **window)
    return _corrected(call, sums, zx, zero, windows, of_weights, prod(w.shape[1:]))


def shifted(call: OperatorCall, x: Value, zero: Zero) -> Value:
    """`x` minus its zero point, in int32."""
    y, zero = call.cast(x, "int32"), _live(zero)
    return y if zero is None else call.emit("subtract", y, call.cast(zero, "int32"))


def _corrected(
    call: OperatorCall,
    sums: Value,
    za: Zero,
    zb: Zero,
    left: Callable[[], Value],
    right: Callable[[], Value],
    depth: int,
) -> Value:
    """`sums` of products as if zero points had been taken from both factors: `left` and `right`
    give the sums of one factor.
    """
    if za is not None:
        shift = right()
        if zb is not None:
            each = call.emit("multiply", call.cast(zb, "int32"), call.literal(np.int32(depth)))
            shift = call.emit("subtract", shift, each)
        sums = call.emit("subtract", sums, call.emit("multiply", shift, call.cast(za, "int32")))
    if zb is not None:
        shift = call.emit("multiply", left(), call.cast(zb, "int32"))
        sums = call.emit("subtract", sums, shift)
    return sums


def _unsigned(call: OperatorCall, x: Value, zero: Zero) -> tuple[Value, Zero]:
    """The same differences of unsigned bytes."""
    if x.dtype == "uint8":
        return x, zero
    return _moved(call, x, MIDDLE, "uint8"), _live(_moved(call, zero, MIDDLE, "int32"))


def _signed(call: OperatorCall, w: Value, zero: Zero) -> tuple[Value, Zero]:
    """The same differences of signed bytes: without a zero point where that is known to fit."""
    if w.dtype == "int8" and zero is None:
        return w, None
    less = 0 if zero is None else zero.constant
    if w.constant is not None and less is not None:
        values = w.constant.astype(np.int32) - less
        if values.min() >= -MIDDLE and values.max() < MIDDLE:
            return call.literal(values.astype(np.int8)), None
    if w.dtype == "int8":
        return w, zero
    return _moved(call, w, -MIDDLE, "int8"), _live(_moved(call, zero, -MIDDLE, "int32"))


def _moved(call: OperatorCall, x: Zero, by: int, kind: str) -> Value:
    """`x + by` as another kind of integer."""
    step = np.array(by, np.int32)
    if x is None:
        return call.literal(step.astype(kind))
    if x.constant is not None:
        return call.literal((x.constant + step).astype(kind))
    return call.cast(call.emit("add", call.cast(x, "int32"), call.literal(step)), kind)


def _live(zero: Zero) -> Zero:
    """A zero point that is not known to be 0."""
    return None if zero is None or (zero.constant is not None and not zero.constant.any()) else zero


def along(call: OperatorCall, value: Value, after: int) -> Value:
    """A zero point or scale: one value, or one an index of a dimension with `after` behind it."""
    if value.elements > 1 and (value.rank != 1 or not after):
        return value
    return channelwise(call, value, after)


def channelwise(call: OperatorCall, value: Value, after: int) -> Value:
    """One value, or one an index of a dimension with `after` behind it, of whatever shape."""
    shape = (value.elements, *(1,) * after) if value.elements > 1 else ()
    return call.builder.reshape(value, shape)

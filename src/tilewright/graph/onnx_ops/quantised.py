"""ONNX's quantised operators: integers in, exact int32 sums, one rounding at the end.

QuantizeLinear(x, s, z)         →  cast(clip(round(x / s) + z))
MatMulInteger(a, b, za, zb)     →  matmul(int32(a) - za, int32(b) - zb)
QLinearMatMul(..)               →  quantise(float(MatMulInteger(..)) · sa · sb / sy)
"""

from __future__ import annotations

import numpy as np
import onnx

from tilewright.errors import ExprError
from tilewright.expr.dtypes import DTYPES, dtype
from tilewright.graph.ir import Value
from tilewright.graph.onnx_ops.call import Call, Translator
from tilewright.graph.onnx_ops.contraction import convolve, product


def spread(call: Call, value: Value, x: Value, axis: int) -> Value:
    """A scale or zero point that meets `x`: one value, one along `axis`, or one a block."""
    if value.rank == 0 or value.elements == 1:
        return call.builder.reshape(value, ())
    if value.rank == 1 and x.rank > 1:
        shape = [1] * x.rank
        shape[axis] = value.elements
        value = call.builder.reshape(value, shape)
    block = int(call.attribute("block_size", 0))
    if value.shape[axis] in (1, x.shape[axis]) or not block:
        return value
    rows = np.arange(x.shape[axis]) // block
    return call.emit("gather", value, call.literal(rows), axis=axis)


def _axis(call: Call, x: Value) -> int:
    axis = int(call.attribute("axis", 1))
    return axis % x.rank if -x.rank <= axis < x.rank else 0


def rounded(call: Call, x: Value, zero: Value | None, kind: str) -> Value:
    """`x` to the nearest integer, plus the zero point, within the range of `kind`."""
    y = call.emit("round_half_even", x)
    if zero is not None:
        y = call.emit("add", y, call.emit("cast_to", zero, dtype=y.dtype))
    limits = np.iinfo(kind)
    y = call.emit("clip", y, low=float(limits.min), high=float(limits.max))
    return call.emit("cast_to", y, dtype=kind)


def _integer(call: Call, number: int) -> str:
    """The name of an ONNX integer type that we have."""
    try:
        name = dtype(onnx.helper.tensor_dtype_to_np_dtype(number)).name
    except ExprError:
        name = onnx.TensorProto.DataType.Name(number)
    if name not in DTYPES or DTYPES[name].kind not in ("int", "uint"):
        call.reject(f"quantisation to {name} is not supported")
    return name


def quantize(call: Call) -> Value:
    x, scale, zero = call.input(0), call.input(1), call.optional(2)
    number = int(call.attribute("output_dtype", 0))
    kind = _integer(call, number) if number else zero.dtype if zero is not None else "uint8"
    if DTYPES[kind].kind not in ("int", "uint"):
        call.reject(f"quantisation to {kind} is not supported")
    axis = _axis(call, x)
    # float16 and integers are divided in float32, where every quantised value is exact.
    wide = "float64" if "float64" in (x.dtype, scale.dtype) else "float32"
    x = x if x.dtype == wide else call.emit("cast_to", x, dtype=wide)
    scale = scale if scale.dtype == wide else call.emit("cast_to", scale, dtype=wide)
    quotient = call.emit("divide", x, spread(call, scale, x, axis))
    return rounded(call, quotient, None if zero is None else spread(call, zero, x, axis), kind)


def dequantize(call: Call) -> Value:
    x, scale, zero = call.input(0), call.input(1), call.optional(2)
    number = int(call.attribute("output_dtype", 0))
    result = scale.dtype
    if number:
        result = dtype(onnx.helper.tensor_dtype_to_np_dtype(number)).name
    axis = _axis(call, x)
    y = shifted(call, x, None if zero is None else spread(call, zero, x, axis))
    wide = "float64" if "float64" in (scale.dtype, result) else "float32"
    scale = scale if scale.dtype == wide else call.emit("cast_to", scale, dtype=wide)
    y = call.emit("multiply", call.emit("cast_to", y, dtype=wide), spread(call, scale, x, axis))
    return y if result == wide else call.emit("cast_to", y, dtype=result)


def shifted(call: Call, x: Value, zero: Value | None) -> Value:
    """`x` minus its zero point, in int32."""
    y = x if x.dtype == "int32" else call.emit("cast_to", x, dtype="int32")
    if zero is None or (zero.constant is not None and not zero.constant.any()):
        return y
    return call.emit(
        "subtract", y, zero if zero.dtype == "int32" else call.emit("cast_to", zero, dtype="int32")
    )


def _rows(call: Call, value: Value | None) -> Value | None:
    """A zero point or scale of each row [m] as a column [m, 1]."""
    if value is None or value.rank != 1 or value.elements == 1:
        return value if value is None or value.elements > 1 else call.builder.reshape(value, ())
    return call.builder.reshape(value, (value.elements, 1))


def _columns(call: Call, value: Value | None) -> Value | None:
    if value is not None and value.elements == 1:
        return call.builder.reshape(value, ())
    return value


def matmul_integer(call: Call) -> Value:
    a = shifted(call, call.input(0), _rows(call, call.optional(2)))
    return product(call, a, shifted(call, call.input(1), _columns(call, call.optional(3))))


def conv_integer(call: Call) -> Value:
    """Padding stands for zero, that is for the zero point of the input."""
    x, w = call.input(0), call.input(1)
    x = shifted(call, x, _columns(call, call.optional(2)))
    return convolve(call, x, shifted(call, w, _channels(call, call.optional(3), w.rank)), None)


def _channels(call: Call, value: Value | None, rank: int) -> Value | None:
    """A value for each output channel of weights of `rank` dimensions."""
    if value is None or value.elements == 1:
        return _columns(call, value)
    return call.builder.reshape(value, (value.elements, *(1,) * (rank - 1)))


def _requantised(call: Call, sums: Value, scales: Value, y: Value, zero: Value) -> Value:
    """int32 sums in units of `scales`, quantised by the scale `y`."""
    ratio = call.emit("divide", scales, _columns(call, y) or y)
    if ratio.dtype != "float32":
        ratio = call.emit("cast_to", ratio, dtype="float32")
    real = call.emit("multiply", call.emit("cast_to", sums, dtype="float32"), ratio)
    return rounded(call, real, _columns(call, zero), zero.dtype)


def qlinear_matmul(call: Call) -> Value:
    a, sa, za, b, sb, zb, sy, zy = (call.input(i) for i in range(8))
    left = shifted(call, a, _rows(call, za))
    sums = product(call, left, shifted(call, b, _columns(call, zb)))
    rows, columns = _rows(call, sa), _columns(call, sb)
    assert rows is not None and columns is not None, "both scales are there"
    return _requantised(call, sums, call.emit("multiply", rows, columns), sy, zy)


def qlinear_conv(call: Call) -> Value:
    x, sx, zx, w, sw, zw, sy, zy = (call.input(i) for i in range(8))
    centred = shifted(call, x, _columns(call, zx))
    weights = shifted(call, w, _channels(call, zw, w.rank))
    sums = convolve(call, centred, weights, call.optional(8))
    scale = call.emit("multiply", sx, sw)
    if scale.elements > 1:
        scale = call.builder.reshape(scale, (scale.elements, *(1,) * (x.rank - 2)))
    else:
        scale = call.builder.reshape(scale, ())
    return _requantised(call, sums, scale, sy, zy)


QUANTISED: dict[str, Translator] = {
    "ConvInteger": conv_integer,
    "DequantizeLinear": dequantize,
    "MatMulInteger": matmul_integer,
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "QuantizeLinear": quantize,
}

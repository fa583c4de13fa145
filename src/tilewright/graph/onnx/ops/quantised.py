"""ONNX's quantised operators: integers in, exact int32 sums, one rounding at the end.

QuantizeLinear(x, s, z)         →  cast(clip(round(x / s) + z))
MatMulInteger(a, b, za, zb)     →  matmul(int32(a) - za, int32(b) - zb), see `integer_products`
QLinearMatMul(..)               →  quantise(float(MatMulInteger(..)) · sa · sb / sy)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import onnx

from tilewright.expr.contraction.groups import NARROW
from tilewright.expr.dtypes import DTYPES, FEW_BITS, dtype
from tilewright.expr.nodes import Extent
from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops import contraction
from tilewright.graph.onnx.ops.call import (
    Known,
    OperatorCall,
    Translator,
    translate,
    translate_one,
)
from tilewright.graph.onnx.ops.few_bits import dequantised, packed_product
from tilewright.graph.onnx.ops.integer_products import (
    along,
    channelwise,
    conv_sums,
    matmul_sums,
    shifted,
)
from tilewright.graph.onnx.ops.window import max_pool as window_max_pool
from tilewright.graph.passes.row_windows import has_rows
from tilewright.ground.errors import ExprError

SHORTEST = 8
"""Products of a sum along one axis: fewer are multiplied as floats."""
FEWEST = 16
"""Rows and columns of a product of two activations: with fewer, laying one out takes as long."""


def spread(call: OperatorCall, value: Value, x: Value, axis: int, block: int) -> Value:
    """A scale or zero point that meets `x`: one value, one along `axis`, or one a block."""
    if value.rank == 0 or value.elements == 1:
        return call.builder.reshape(value, ())
    axis = axis % x.rank if -x.rank <= axis < x.rank else 0
    if value.rank == 1 and x.rank > 1:
        shape = [1] * x.rank
        shape[axis] = value.elements
        value = call.builder.reshape(value, shape)
    if value.shape[axis] in (1, x.extents[axis]) or not block:
        return value
    rows = np.arange(x.shape[axis]) // block
    return call.emit("gather", value, call.literal(rows), axis=axis)


def rounded(call: OperatorCall, x: Value, zero: Value | None, kind: str) -> Value:
    """`x` to the nearest integer, plus the zero point, within the range of `kind`."""
    return call.cast(_limited(call, x, zero, kind), FEW_BITS.get(kind, kind))


def _limited(call: OperatorCall, x: Value, zero: Value | None, kind: str) -> Value:
    """The same in the type of `x`."""
    y = call.emit("round_half_even", x)
    if zero is not None:
        y = call.emit("add", y, call.cast(zero, y.dtype))
    limits: Any = ml_dtypes.iinfo(kind)  # type: ignore[no-untyped-call]
    return call.emit("clip", y, low=float(limits.min), high=float(limits.max))


def _integer(call: OperatorCall, number: int) -> str:
    """The name of an ONNX integer type that we have, or that is stored as one."""
    try:
        name = onnx.helper.tensor_dtype_to_np_dtype(number).name
        if name in FEW_BITS:
            return name
        name = dtype(onnx.helper.tensor_dtype_to_np_dtype(number)).name
    except ExprError:
        name = onnx.TensorProto.DataType.Name(number)
    if name not in DTYPES or DTYPES[name].kind not in ("int", "uint"):
        call.reject(f"quantisation to {name} is not supported")
    return name


def quantize(
    call: OperatorCall,
    x: Value,
    scale: Value,
    zero: Value | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Value:
    kind = "uint8" if zero is None else call.few.types.get(zero, zero.dtype)
    if output_dtype:
        kind = _integer(call, output_dtype)
    if DTYPES[FEW_BITS.get(kind, kind)].kind not in ("int", "uint"):
        call.reject(f"quantisation to {kind} is not supported")
    # float16 and integers are divided in float32, where every quantised value is exact.
    wide = "float64" if "float64" in (x.dtype, scale.dtype) else "float32"
    x, scale = call.cast(x, wide), call.cast(scale, wide)
    quotient = call.emit("divide", x, spread(call, scale, x, axis, block_size))
    zeros = None if zero is None else spread(call, zero, x, axis, block_size)
    return rounded(call, quotient, zeros, kind)


def dynamic_quantize(call: OperatorCall, x: Value) -> Sequence[Value]:
    """`x` in unsigned bytes from its least to its greatest, 0 among them; the scale, the zero."""
    every = tuple(range(x.rank))
    none, most = call.literal(0.0, x), call.literal(255.0, x)
    low, high = (call.emit(f"reduce_{m}", x, axes=every, keepdims=False) for m in ("min", "max"))
    low, high = call.emit("minimum", low, none), call.emit("maximum", high, none)
    scale = call.emit("divide", call.emit("subtract", high, low), most)
    zero = call.emit("subtract", none, call.emit("divide", low, scale))
    zero = _limited(call, zero, None, "uint8")
    # One value, so that one kernel makes both.
    both = call.emit("where", call.literal(np.array([True, False])), scale, zero)
    scale, zero = (call.emit("element", both, at=i) for i in range(2))
    zero = call.cast(zero, "uint8")
    return [quantize(call, x, scale, zero), scale, zero]


def dequantize(
    call: OperatorCall,
    x: Value,
    scale: Value,
    zero: Value | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Value:
    result = scale.dtype
    if output_dtype:
        result = dtype(onnx.helper.tensor_dtype_to_np_dtype(output_dtype)).name
    if scale.dtype == result == "float32" and x.dtype in NARROW["int32"]:
        of_x = [scale] if zero is None else [scale, zero]
        y = call.emit("dequantize", x, *(spread(call, v, x, axis, block_size) for v in of_x))
        return dequantised(call, y, x, scale, zero, axis, block_size)
    y = shifted(call, x, None if zero is None else spread(call, zero, x, axis, block_size))
    wide = "float64" if "float64" in (scale.dtype, result) else "float32"
    scale = spread(call, call.cast(scale, wide), x, axis, block_size)
    return call.cast(call.emit("multiply", call.cast(y, wide), scale), result)


@dataclass(frozen=True, slots=True)
class Quantised:
    """What a float is made of: `(x - zero) * scale`, all of one rank or a single number."""

    x: Value
    scale: Value
    zero: Value | None

    @staticmethod
    def of(call: OperatorCall, y: Value) -> Quantised | None:
        """How `y` was made of bytes; None if it was not."""
        node = call.builder.maker(y)
        if node is None:
            return None
        if node.op == "dequantize":
            x, scale, *zero = node.inputs
            return Quantised(x, scale, zero[0] if zero else None)
        inner = Quantised.of(call, node.inputs[0]) if node.op == "transpose" else None
        if inner is None:
            return None
        permutation: Any = node.attributes["permutation"]

        def turned(v: Value) -> Value:
            return call.builder.transpose(v, permutation) if v.rank else v

        return Quantised(turned(inner.x), turned(inner.scale), inner.zero and turned(inner.zero))

    def is_along(self, axis: int) -> bool:
        """Whether its scale is one number, or one for each index of a dimension."""
        shape = self.scale.shape
        return self.scale.rank == 0 or shape[axis] == self.scale.elements


def of_bytes(
    call: OperatorCall, x: Value, w: Value, channel: int, depth: Extent
) -> tuple[Quantised, Quantised] | None:
    """The bytes that a contraction may multiply instead of floats: of an image or matrix in one
    scale, by what has one scale a `channel`, over so many that instructions for dots gain.
    """
    left, right = Quantised.of(call, x), Quantised.of(call, w)
    if left is None or right is None:
        return None
    if not isinstance(depth, int) or depth < SHORTEST:
        return None
    zeros = right.zero is None or right.zero.elements in (1, right.scale.elements)
    one = left.scale.rank == 0 and (left.zero is None or left.zero.rank == 0)
    return (left, right) if one and zeros and right.is_along(channel) else None


def matmul(call: OperatorCall, a: Value, b: Value) -> Value:
    return _product(call, a, b) or packed_product(call, a, b) or contraction.matmul(call, a, b)


def _product(call: OperatorCall, a: Value, b: Value) -> Value | None:
    """The product of matrices of bytes, in floats; None of others, and of two small ones that are
    computed.
    """
    found = None if min(a.rank, b.rank) < 2 else of_bytes(call, a, b, b.rank - 1, a.extents[-1])
    if found is None:
        return None
    left, right = found
    around = a.extents[-2], b.extents[-1]
    if right.x.constant is None and any(isinstance(n, int) and n < FEWEST for n in around):
        return None
    sums = matmul_sums(call, left.x, right.x, left.zero, right.zero)
    scale = call.emit("multiply", left.scale, right.scale)
    return call.emit("multiply", call.cast(sums, "float32"), scale)


def gemm(
    call: OperatorCall,
    a: Value,
    b: Value,
    c: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: bool = False,
    transB: bool = False,
) -> Value:
    y = None
    if not transA and alpha == beta == 1.0:
        right = call.builder.transpose(b, (1, 0)) if transB else b
        y = _product(call, a, right) or packed_product(call, a, right)
    if y is None:
        return contraction.gemm(call, a, b, c, alpha=alpha, beta=beta, transA=transA, transB=transB)
    return y if c is None else call.emit("add", y, c)


def conv(call: OperatorCall, x: Value, w: Value, bias: Value | None = None, **window: Any) -> Value:
    found = None
    if window.get("group", 1) == 1 and w.rank > 2:
        outputs, channels, *_, taps = w.shape
        dilation = (window.get("dilations") or (1,))[-1]
        rows = has_rows(taps, channels, outputs, dilation)
        found = of_bytes(call, x, w, 0, channels * taps if rows else channels)
    if found is None or found[1].x.constant is None:
        return contraction.conv(call, x, w, bias, **window)
    left, right = found
    sums = conv_sums(call, left.x, right.x, left.zero, right.zero, **window)
    each = channelwise(call, right.scale, x.rank - 2)
    y = call.emit("multiply", call.cast(sums, "float32"), call.emit("multiply", left.scale, each))
    return y if bias is None else call.emit("add", y, channelwise(call, bias, x.rank - 2))


def max_pool(call: OperatorCall, x: Value, **window: Any) -> Sequence[Known]:
    """Of bytes where floats stand for them, in one positive scale: the order is the same."""
    found = None if any(call.used_outputs[1:]) else Quantised.of(call, x)
    scale = None if found is None or found.scale.rank else found.scale.constant
    if found is None or scale is None or not scale > 0:
        return translate(window_max_pool, call, [x], window)
    y = translate_one(window_max_pool, call, [found.x], window)
    zero = [found.zero] if found.zero else []
    return [call.emit("dequantize", y, found.scale, *zero)]


def requantised(call: OperatorCall, sums: Value, scales: Value, y: Value, zero: Value) -> Value:
    """int32 sums in units of `scales`, quantised by the scale `y`."""
    ratio = call.cast(call.emit("divide", scales, along(call, y, 0)), "float32")
    real = call.emit("multiply", call.cast(sums, "float32"), ratio)
    return rounded(call, real, along(call, zero, 0), zero.dtype)


def qlinear_matmul(
    call: OperatorCall,
    a: Value,
    sa: Value,
    za: Value,
    b: Value,
    sb: Value,
    zb: Value,
    sy: Value,
    zy: Value,
) -> Value:
    sums = matmul_sums(call, a, b, za, zb)
    scales = call.emit("multiply", along(call, sa, 1), along(call, sb, 0))
    return requantised(call, sums, scales, sy, zy)


def qlinear_conv(
    call: OperatorCall,
    x: Value,
    sx: Value,
    zx: Value,
    w: Value,
    sw: Value,
    zw: Value,
    sy: Value,
    zy: Value,
    bias: Value | None = None,
    **window: Any,
) -> Value:
    sums = conv_sums(call, x, w, zx, zw, **window)
    if bias is not None:
        sums = call.emit("add", sums, channelwise(call, bias, x.rank - 2))
    scale = along(call, call.emit("multiply", sx, sw), x.rank - 2)
    return requantised(call, sums, scale, sy, zy)


QUANTISED: dict[str, Translator] = {
    "Conv": conv,
    "ConvInteger": conv_sums,
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": dynamic_quantize,
    "Gemm": gemm,
    "MatMul": matmul,
    "MatMulInteger": matmul_sums,
    "MaxPool": max_pool,
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "QuantizeLinear": quantize,
}

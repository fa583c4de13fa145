"""onnxruntime's quantised operators, as its quantisers and its optimiser write them.

    QLinearAdd(a, sa, za, b, sb, zb, sy, zy)  →  quantise(dequantise(a) + dequantise(b), sy, zy)
    MatMulIntegerToFloat(a, b, sa, sb, ..)    →  float(MatMulInteger(a, b, ..)) · sa · sb + bias

Those that compute with floats are the float operator between bytes, as QDQ spells it; products are
sums of integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.attention import attention
from tilewright.graph.onnx.ops.call import (
    Known,
    OperatorCall,
    Translator,
    translate,
    translate_one,
)
from tilewright.graph.onnx.ops.contraction import channels_first
from tilewright.graph.onnx.ops.contraction import channels_last as to_last
from tilewright.graph.onnx.ops.integer_products import along, matmul_sums
from tilewright.graph.onnx.ops.onnxruntime import embed_layer_norm
from tilewright.graph.onnx.ops.quantised import (
    dequantize,
    dynamic_quantize,
    qlinear_conv,
    quantize,
    requantised,
)
from tilewright.graph.onnx.ops.reduction import reduction, softmax
from tilewright.graph.onnx.ops.window import avg_pool, global_pool


def _bytes(call: OperatorCall, y: Value, like: Value, scale: Value, zero: Value | None) -> Value:
    """`y` as integers of the kind of `like`."""
    none = call.literal(np.zeros((), like.dtype))
    return quantize(call, y, scale, none if zero is None else zero)


def one(translator: Translator) -> Translator:
    """A float operator of one operand, between bytes."""

    def translated(
        call: OperatorCall,
        x: Value,
        sx: Value,
        zx: Value | None,
        sy: Value,
        zy: Value | None = None,
        **options: Any,
    ) -> Value:
        y = translate_one(translator, call, [dequantize(call, x, sx, zx)], options)
        return _bytes(call, y, x, sy, zy)

    return translated


def two(op: str) -> Translator:
    """An elementwise operator of two operands, between bytes."""

    def translated(
        call: OperatorCall,
        a: Value,
        sa: Value,
        za: Value | None,
        b: Value,
        sb: Value,
        zb: Value | None,
        sy: Value,
        zy: Value | None = None,
    ) -> Value:
        y = call.emit(op, dequantize(call, a, sa, za), dequantize(call, b, sb, zb))
        return _bytes(call, y, a, sy, zy)

    return translated


def either(image: Translator) -> Translator:
    """An operator of channels-first images whose images may be channels-last."""

    def translated(
        call: OperatorCall, x: Value, *others: Value | None, channels_last: bool = False, **o: Any
    ) -> Value:
        first = channels_first(call, x) if channels_last else x
        y = translate_one(image, call, [first, *others], o)
        return to_last(call, y) if channels_last else y

    return translated


def concat(call: OperatorCall, sy: Value, zy: Value, *parts: Value, axis: int) -> Value:
    """Of parts with a scale and a zero point each."""
    triples = list(zip(parts[::3], parts[1::3], parts[2::3], strict=True))
    alike = [quantize(call, dequantize(call, *t), sy, zy) for t in triples]
    return call.joined(alike, call.axis(axis, alike[0].rank))


def where(
    call: OperatorCall,
    condition: Value,
    x: Value,
    sx: Value,
    zx: Value,
    y: Value,
    sy: Value,
    zy: Value,
    sz: Value,
    zz: Value,
) -> Value:
    sides = [dequantize(call, x, sx, zx), dequantize(call, y, sy, zy)]
    return quantize(call, call.emit("where", condition, *sides), sz, zz)


def qsoftmax(call: OperatorCall, x: Value, *, axis: int = -1, opset: int) -> Value:
    return translate_one(softmax("softmax"), replace(call, opset=opset), [x], {"axis": axis})


def qgemm(
    call: OperatorCall,
    a: Value,
    sa: Value,
    za: Value,
    b: Value,
    sb: Value,
    zb: Value,
    c: Value | None = None,
    sy: Value | None = None,
    zy: Value | None = None,
    *,
    alpha: float = 1.0,
    transA: bool = False,
    transB: bool = False,
) -> Value:
    """alpha · (a' - za) (b' - zb) · sa · sb, with `c` in units of alpha · sa · sb: floats if there
    is no scale of the result.
    """
    a = call.builder.transpose(a, (1, 0)) if transA else a
    b = call.builder.transpose(b, (1, 0)) if transB else b
    sums = matmul_sums(call, a, b, za, zb)
    sums = sums if c is None else call.emit("add", sums, c)
    scales = call.emit("multiply", along(call, sa, 0), along(call, sb, 0))
    scales = call.emit("multiply", scales, call.literal(alpha, scales))
    if sy is None:
        return call.emit("multiply", call.cast(sums, "float32"), scales)
    return requantised(call, sums, scales, sy, zy or call.literal(np.zeros((), a.dtype)))


def matmul_to_float(
    call: OperatorCall,
    a: Value,
    b: Value,
    sa: Value,
    sb: Value,
    za: Value | None = None,
    zb: Value | None = None,
    bias: Value | None = None,
) -> Value:
    sums = matmul_sums(call, a, b, za, zb)
    scales = call.emit("multiply", along(call, sa, 1), along(call, sb, 0))
    y = call.emit("multiply", call.cast(sums, "float32"), scales)
    return y if bias is None else call.emit("add", y, bias)


def dynamic_matmul(
    call: OperatorCall,
    a: Value,
    b: Value,
    sb: Value,
    zb: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """Of floats that are quantised in one scale, by their least and their greatest."""
    q, scale, zero = dynamic_quantize(call, a)
    return matmul_to_float(call, q, b, scale, sb, zero, zb, bias)


def qattention(
    call: OperatorCall,
    x: Value,
    w: Value,
    bias: Value,
    sx: Value,
    sw: Value,
    mask: Value | None = None,
    zx: Value | None = None,
    zw: Value | None = None,
    past: Value | None = None,
    **options: Any,
) -> Sequence[Known]:
    """Attention whose projection multiplies bytes."""
    real, weights = dequantize(call, x, sx, zx), dequantize(call, w, sw, zw)
    return attention(call, real, weights, bias, mask, past, **options)


def qembed_layer_norm(
    call: OperatorCall,
    ids: Value,
    segment_ids: Value | None,
    words: Value,
    positions: Value,
    segments: Value | None,
    gamma: Value,
    beta: Value,
    mask: Value | None,
    *kinds: Value | None,
    epsilon: float = 1e-12,
) -> Sequence[Known]:
    """Of tables of bytes; `kinds` are the five scales, then the five zero points."""
    tables = [words, positions, segments, gamma, beta]
    rows = zip(tables, kinds[:5], kinds[5:], strict=True)
    real = [t and s and dequantize(call, t, s, z) for t, s, z in rows]
    inputs = [ids, segment_ids, *real, mask]
    return translate(embed_layer_norm, call, inputs, {"epsilon": epsilon})[:2]


QLINEAR: dict[str, Translator] = {
    "DequantizeLinear": dequantize,
    "DynamicQuantizeMatMul": dynamic_matmul,
    "MatMulIntegerToFloat": matmul_to_float,
    "QAttention": qattention,
    "QEmbedLayerNormalization": qembed_layer_norm,
    "QGemm": qgemm,
    "QLinearAdd": two("add"),
    "QLinearAveragePool": one(either(avg_pool)),
    "QLinearConcat": concat,
    "QLinearConv": either(qlinear_conv),
    "QLinearGlobalAveragePool": one(either(global_pool("reduce_mean"))),
    "QLinearLeakyRelu": one("leaky_relu"),
    "QLinearMul": two("multiply"),
    "QLinearReduceMean": one(reduction("reduce_mean")),
    "QLinearSigmoid": one("sigmoid"),
    "QLinearSoftmax": one(qsoftmax),
    "QLinearWhere": where,
    "QuantizeLinear": quantize,
}

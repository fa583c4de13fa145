"""Operators of onnxruntime's own domain, com.microsoft, that its optimiser and exporters write.

    SkipLayerNormalization(x, skip, gamma, beta, bias)  →  layer_norm(x + skip + bias, gamma, beta)

Each is a few operators of the library. Some stand in ONNX's own domain in files, too, where ONNX
has them not, or not yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.expr.index.extents import product
from tilewright.expr.operators.shapes import number
from tilewright.expr.sizes import most
from tilewright.graph.ir import Attribute, Value
from tilewright.graph.onnx.ops.attention import (
    attention,
    group_query_attention,
    multi_head_attention,
    rotary_embedding,
)
from tilewright.graph.onnx.ops.call import Known, OperatorCall, Translator
from tilewright.graph.onnx.ops.contraction import channels_first, conv, gemm, matmul
from tilewright.graph.onnx.ops.contraction import channels_last as to_last
from tilewright.graph.onnx.ops.few_bits import gather_block_quantized, matmul_nbits
from tilewright.graph.onnx.ops.indexing import trilu
from tilewright.graph.onnx.ops.movement import unsqueeze
from tilewright.graph.onnx.ops.recurrent import dynamic_quantize_lstm
from tilewright.graph.onnx.ops.reduction import layer_norm
from tilewright.graph.onnx.ops.sampling import grid_sample
from tilewright.graph.onnx.ops.window import max_pool

# ---- activations ----------------------------------------------------------------------------


def _sum(call: OperatorCall, *terms: Value | None) -> Value:
    """The sum of those that are there; the first is."""
    first, *others = (t for t in terms if t is not None)
    for term in others:
        first = call.emit("add", first, term)
    return first


def gelu(approximate: bool) -> Translator:
    """Of x + bias, which is optional."""

    def translate(call: OperatorCall, x: Value, bias: Value | None = None) -> Value:
        return call.emit("gelu", _sum(call, x, bias), approximate=approximate)

    return translate


def quick_gelu(call: OperatorCall, x: Value, *, alpha: float = 1.702) -> Value:
    return call.emit("silu", x, alpha=alpha)


def bias_split_gelu(call: OperatorCall, x: Value, bias: Value) -> Value:
    """The first half of x + bias, times the gelu of the second."""
    total = call.emit("add", x, bias)
    axis, half = x.rank - 1, number(x.extents[-1], x.name) // 2
    a, b = (call.cut(total, axis, low, low + half) for low in (0, half))
    return call.emit("multiply", a, call.emit("gelu", b, approximate=False))


def bias_add(call: OperatorCall, x: Value, bias: Value, skip: Value) -> Value:
    return _sum(call, x, bias, skip)


def bias_softmax(
    call: OperatorCall, x: Value, bias: Value, *, axis: int = 1, is_inner_broadcast: int
) -> Value:
    """Over all from `axis` on, as ONNX's was before opset 13."""
    cut, total = call.axis(axis, x.rank), call.emit("add", x, bias)
    flat = call.builder.reshape(total, (product(x.extents[:cut]), product(x.extents[cut:])))
    return call.builder.reshape(call.emit("softmax", flat, axis=1), x.extents)


ACTIVATIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Clip": ("clip", ("low", "high")),
    "Elu": ("elu", ("alpha",)),
    "HardSigmoid": ("hard_sigmoid", ("alpha", "beta")),
    "LeakyRelu": ("leaky_relu", ("alpha",)),
    "Relu": ("relu", ()),
    "Sigmoid": ("sigmoid", ()),
    "Softplus": ("softplus", ()),
    "Softsign": ("softsign", ()),
    "Tanh": ("tanh", ()),
    "ThresholdedRelu": ("thresholded_relu", ("alpha",)),
}
"""What a fused operator ends with: the library's operator and what its parameters are."""


def _activated(call: OperatorCall, x: Value, name: str, parameters: Sequence[float]) -> Value:
    if not name:
        return x
    if name not in ACTIVATIONS:
        call.reject(f"activation {name!r} is not supported; known: {', '.join(ACTIVATIONS)}")
    op, names = ACTIVATIONS[name]
    given: dict[str, Attribute] = dict(zip(names, map(float, parameters), strict=False))
    return call.emit(op, x, **given)


# ---- products -------------------------------------------------------------------------------


def fused_conv(
    call: OperatorCall,
    x: Value,
    w: Value,
    bias: Value | None = None,
    z: Value | None = None,
    *,
    activation: str = "",
    activation_params: Sequence[float] = (),
    **window: Any,
) -> Value:
    """Convolution, plus `z`, and then the activation."""
    y = _sum(call, conv(call, x, w, bias, **window), z)
    return _activated(call, y, activation, activation_params)


def nhwc(fused: bool) -> Translator:
    """A convolution of channels-last images; weights [out, in, *kernel] if it is `fused`, else
    [out, *kernel, in].
    """

    def translate(
        call: OperatorCall,
        x: Value,
        w: Value,
        bias: Value | None = None,
        z: Value | None = None,
        **options: Any,
    ) -> Value:
        w = w if fused else channels_first(call, w)
        added = None if z is None else channels_first(call, z)
        y = fused_conv(call, channels_first(call, x), w, bias, added, **options)
        return to_last(call, y)

    return translate


def nhwc_max_pool(call: OperatorCall, x: Value, **options: Any) -> Value:
    (y,) = max_pool(replace(call, used_outputs=(True,)), channels_first(call, x), **options)
    assert isinstance(y, Value), "it has one output"
    return to_last(call, y)


def fused_matmul(
    call: OperatorCall,
    a: Value,
    b: Value,
    *,
    alpha: float = 1.0,
    transA: bool = False,
    transB: bool = False,
    transBatchA: bool = False,
    transBatchB: bool = False,
) -> Value:
    """alpha · a' b'; a batch is transposed where its dimensions lie between the matrix's two."""
    a = _turned(call, a, transA, transBatchA)
    b = _turned(call, b, transB, transBatchB)
    y = matmul(call, a, b)
    return y if alpha == 1.0 else call.emit("multiply", y, call.literal(alpha, y))


def _turned(call: OperatorCall, x: Value, matrix: bool, batch: bool) -> Value:
    order = list(range(x.rank))
    if batch and x.rank > 2:
        order = [*order[1:-1], 0, order[-1]]
    if matrix and x.rank > 1:
        order[-2:] = order[:-3:-1]
    return call.builder.transpose(x, order)


def fused_gemm(
    call: OperatorCall,
    a: Value,
    b: Value,
    c: Value | None = None,
    *,
    activation: str = "",
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
    **options: Any,
) -> Value:
    given = (activation_alpha, activation_beta, activation_gamma)
    parameters = [p for p in given if p is not None]
    return _activated(call, gemm(call, a, b, c, **options), activation, parameters)


def gemm_fast_gelu(call: OperatorCall, x: Value, w: Value, bias: Value | None = None) -> Value:
    return call.emit("gelu", _sum(call, matmul(call, x, w), bias), approximate=True)


# ---- normalisations -------------------------------------------------------------------------


def simplified_layer_norm(
    call: OperatorCall, x: Value, scale: Value, *, axis: int = -1, epsilon: float = 1e-5
) -> Value:
    call.only_output()
    axes = tuple(range(call.axis(axis, x.rank), x.rank))
    return call.emit("rms_norm", x, scale, axes=axes, epsilon=epsilon)


def skip_layer_norm(
    call: OperatorCall,
    x: Value,
    skip: Value,
    gamma: Value,
    beta: Value | None = None,
    bias: Value | None = None,
    *,
    epsilon: float = 1e-12,
) -> Sequence[Known]:
    """Of x + skip + bias, which is the fourth output. onnxruntime fills neither the second nor the
    third.
    """
    total = _sum(call, x, skip, bias)
    _no_statistics(call)
    affine = [gamma] if beta is None else [gamma, beta]
    return [call.emit("layer_norm", total, *affine, epsilon=epsilon), None, None, total]


def skip_simplified_layer_norm(
    call: OperatorCall,
    x: Value,
    skip: Value,
    gamma: Value,
    bias: Value | None = None,
    *,
    epsilon: float = 1e-12,
) -> Sequence[Known]:
    """As `skip_layer_norm`, without a mean."""
    total = _sum(call, x, skip, bias)
    _no_statistics(call)
    return [call.emit("rms_norm", total, gamma, epsilon=epsilon), None, None, total]


def _no_statistics(call: OperatorCall) -> None:
    replace(call, used_outputs=call.used_outputs[:3]).only_output()


def embed_layer_norm(
    call: OperatorCall,
    ids: Value,
    segment_ids: Value | None,
    words: Value,
    positions: Value,
    segments: Value | None,
    gamma: Value,
    beta: Value,
    mask: Value | None = None,
    position_ids: Value | None = None,
    *,
    epsilon: float = 1e-12,
    mask_index_type: int = 0,
) -> Sequence[Known]:
    """Of the sum of rows of up to three tables; then the number of ones in each row of a mask, and
    the sum.
    """
    batch, length = ids.extents
    if position_ids is None:
        position_ids = call.builder.reshape(call.steps(length, rows=positions), (1, length))
    pairs = [(words, ids), (positions, position_ids)]
    if segments is not None and segment_ids is not None:
        pairs.append((segments, segment_ids))
    for table, at in pairs:
        call.check_indices(at, table.shape[:1], table)
    total = _sum(call, *(call.emit("gather", table, at, axis=0) for table, at in pairs))
    y = call.emit("layer_norm", total, gamma, beta, epsilon=epsilon)
    if mask is None:
        count = call.cut(
            call.literal(np.zeros(most(batch, call.builder.sizes), np.int32)), 0, 0, batch
        )
    else:
        ones = call.cast(call.emit("equal", mask, call.literal(1, mask)), "int32")
        count = call.emit("reduce_sum", ones, axes=(1,), keepdims=False)
    return [y, count, total]


def group_norm(
    call: OperatorCall,
    x: Value,
    gamma: Value,
    beta: Value,
    skip: Value | None = None,
    bias: Value | None = None,
    *,
    groups: int,
    activation: int,
    channels_last: bool = True,
    epsilon: float = 1e-5,
) -> Sequence[Known]:
    """Of images [n, h, w, c], or [n, c, h, w]; then silu, if asked for. The second output is what
    was normalised.
    """
    if skip is not None and skip.rank == 2:
        skip = call.builder.reshape(skip, (skip.extents[0], 1, 1, skip.extents[1]))
    elif skip is not None and not channels_last:
        skip = to_last(call, skip)
    total = _sum(call, x if channels_last else to_last(call, x), skip, bias)
    affine = [call.cast(v, x.dtype) for v in (gamma, beta)]
    y = call.emit("group_norm", total, *affine, groups=groups, epsilon=epsilon)
    y = call.emit("silu", y) if activation else y
    return [v if channels_last else channels_first(call, v) for v in (y, total)]


FUSED: dict[str, Translator] = {
    "Attention": attention,
    "BiasAdd": bias_add,
    "BiasGelu": gelu(approximate=False),
    "BiasSoftmax": bias_softmax,
    "BiasSplitGelu": bias_split_gelu,
    "DynamicQuantizeLSTM": dynamic_quantize_lstm,
    "EmbedLayerNormalization": embed_layer_norm,
    "ExpandDims": unsqueeze,
    "FastGelu": gelu(approximate=True),
    "FusedConv": fused_conv,
    "FusedGemm": fused_gemm,
    "FusedMatMul": fused_matmul,
    "GatherBlockQuantized": gather_block_quantized,
    "Gelu": gelu(approximate=False),
    "GemmFastGelu": gemm_fast_gelu,
    "GridSample": grid_sample,
    "GroupNorm": group_norm,
    "GroupQueryAttention": group_query_attention,
    "LayerNormalization": layer_norm,
    "MatMulNBits": matmul_nbits,
    "MultiHeadAttention": multi_head_attention,
    "NhwcConv": nhwc(fused=False),
    "NhwcFusedConv": nhwc(fused=True),
    "NhwcMaxPool": nhwc_max_pool,
    "QuickGelu": quick_gelu,
    "RotaryEmbedding": rotary_embedding,
    "SimplifiedLayerNormalization": simplified_layer_norm,
    "SkipGroupNorm": group_norm,
    "SkipLayerNormalization": skip_layer_norm,
    "SkipSimplifiedLayerNormalization": skip_simplified_layer_norm,
    "TransposeMatMul": fused_matmul,
    "Trilu": trilu,
}

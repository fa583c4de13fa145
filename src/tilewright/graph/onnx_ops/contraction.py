"""ONNX convolutions and matrix products, written on channels-last operands.

    Conv(x[n, c, h, w], w[o, c, kh, kw])  →  transpose(conv(transpose(x), w[kh, kw, c, o]))

The transposes of activations cancel in the channels-last pass; those of weights are done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilewright.graph.ir import Value
from tilewright.graph.onnx_ops.call import Call, Translator


def channels_last(call: Call, x: Value) -> Value:
    """[n, c, *spatial] → [n, *spatial, c]."""
    if x.rank < 3:
        call.reject(f"its input {x} has no spatial dimension")
    return call.builder.transpose(x, (0, *range(2, x.rank), 1))


def channels_first(call: Call, x: Value) -> Value:
    """[n, *spatial, c] → [n, c, *spatial]."""
    return call.builder.transpose(x, (0, x.rank - 1, *range(1, x.rank - 1)))


def window_pads(
    call: Call, spatial: Sequence[int], kernel: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """(before, after) per spatial dimension, from `pads` or `auto_pad`."""
    rank = len(spatial)
    auto = call.attribute("auto_pad", b"NOTSET").decode()
    if auto == "VALID":
        return ((0, 0),) * rank
    if auto == "NOTSET":
        listed = tuple(call.attribute("pads") or (0,) * (2 * rank))
        return tuple(zip(listed[:rank], listed[rank:], strict=True))
    if auto not in ("SAME_UPPER", "SAME_LOWER"):
        call.reject(f"auto_pad {auto!r} is not known")
    strides = call.attribute("strides") or (1,) * rank
    dilations = call.attribute("dilations") or (1,) * rank
    pairs = []
    for n, k, s, d in zip(spatial, kernel, strides, dilations, strict=True):
        total = max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
        less, more = total // 2, total - total // 2
        pairs.append((less, more) if auto == "SAME_UPPER" else (more, less))
    return tuple(pairs)


def per_axis(call: Call, name: str, rank: int) -> tuple[int, ...]:
    """`strides` or `dilations`, 1 by default."""
    return tuple(int(v) for v in call.attribute(name) or (1,) * rank)


def conv(call: Call) -> Value:
    return convolve(call, call.input(0), call.input(1), call.optional(2))


def convolve(call: Call, x: Value, w: Value, bias: Value | None) -> Value:
    """`x` with weights `w`, both channels-first, by the attributes of `call`."""
    groups = int(call.attribute("group", 1))
    rank = x.rank - 2
    window = tuple(call.attribute("kernel_shape") or w.shape[2:])
    if window != w.shape[2:]:
        call.reject(f"its kernel_shape {window} is not that of its weights {w}")
    nhwc = channels_last(call, x)
    options: dict[str, Any] = {
        "stride": per_axis(call, "strides", rank),
        "padding": window_pads(call, x.shape[2:], w.shape[2:]),
        "dilation": per_axis(call, "dilations", rank),
    }
    kernel = call.builder.transpose(w, (*range(2, w.rank), 1, 0))
    if groups > 1 and groups == x.shape[1] and w.shape[1] == 1:
        shape = (*w.shape[2:], groups, w.shape[0] // groups)
        kernel = call.builder.reshape(kernel, shape)
        y = call.emit("depthwise_conv", nhwc, kernel, **options)
    else:
        y = call.emit("conv", nhwc, kernel, **options, groups=groups)
    return channels_first(call, _with_bias(call, y, bias))


def _with_bias(call: Call, y: Value, bias: Value | None) -> Value:
    return y if bias is None else call.builder.emit("add", y, bias, name=f"{call.name}.bias")


def conv_transpose(call: Call) -> Value:
    x, w = call.input(0), call.input(1)
    rank = x.rank - 2
    strides = per_axis(call, "strides", rank)
    dilations = per_axis(call, "dilations", rank)
    extra = tuple(call.attribute("output_padding") or (0,) * rank)
    pads, extra = _transposed_pads(call, x.shape[2:], w.shape[2:], strides, dilations, extra)
    y = call.emit(
        "conv_transpose",
        channels_last(call, x),
        call.builder.transpose(w, (*range(2, w.rank), 0, 1)),
        stride=strides,
        padding=pads,
        dilation=dilations,
        output_padding=extra,
        groups=int(call.attribute("group", 1)),
    )
    return channels_first(call, _with_bias(call, y, call.optional(2)))


def _transposed_pads(
    call: Call,
    spatial: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    extra: tuple[int, ...],
) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Pads and output padding: explicit, or for `output_shape` (in · stride for SAME)."""
    auto = call.attribute("auto_pad", b"NOTSET").decode()
    wanted = call.attribute("output_shape")
    if wanted is None and auto in ("NOTSET", "VALID"):
        return window_pads(call, spatial, kernel), extra
    if wanted is None:
        wanted = [n * s for n, s in zip(spatial, strides, strict=True)]
    pairs, more_after = [], []
    rows = zip(spatial, kernel, strides, dilations, extra, wanted, strict=True)
    for n, k, s, d, e, out in rows:
        total = (n - 1) * s + (k - 1) * d + 1 + e - out
        more_after.append(e + max(0, -total))
        total = max(0, total)
        less, more = total // 2, total - total // 2
        pairs.append((less, more) if auto == "SAME_UPPER" else (more, less))
    return tuple(pairs), tuple(more_after)


def matmul(call: Call) -> Value:
    return product(call, call.input(0), call.input(1))


def product(call: Call, a: Value, b: Value) -> Value:
    """NumPy's rules: a vector operand is a matrix of one row or column."""
    left = call.builder.reshape(a, (1, *a.shape)) if a.rank == 1 else a
    right = call.builder.reshape(b, (*b.shape, 1)) if b.rank == 1 else b
    y = call.emit("matmul", left, right)
    shape = list(y.shape)
    if b.rank == 1:
        shape.pop()
    if a.rank == 1:
        shape.pop(-1 if b.rank == 1 else -2)
    return call.builder.reshape(y, shape)


def gemm(call: Call) -> Value:
    """alpha · a' b' + beta · c."""
    a, b, c = call.input(0), call.input(1), call.optional(2)
    if call.attribute("transA", 0):
        a = call.builder.transpose(a, (1, 0))
    if call.attribute("transB", 0):
        b = call.builder.transpose(b, (1, 0))
    y = call.emit("matmul", a, b)
    y = _scaled(call, y, float(call.attribute("alpha", 1.0)))
    if c is None:
        return y
    return _with_bias(call, y, _scaled(call, c, float(call.attribute("beta", 1.0))))


def _scaled(call: Call, x: Value, factor: float) -> Value:
    if factor == 1.0:
        return x
    if x.constant is not None:
        return call.literal(x.constant * factor, x)
    return call.emit("multiply", x, call.literal(factor, x))


def einsum(call: Call) -> Value:
    operands = [call.input(i) for i in range(len(call.inputs))]
    return call.emit("einsum", *operands, equation=call.attribute("equation").decode())


CONTRACTION: dict[str, Translator] = {
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "Einsum": einsum,
    "Gemm": gemm,
    "MatMul": matmul,
}

"""ONNX reductions and normalisations."""

from __future__ import annotations

from math import prod

import numpy as np

from tilewright.graph.ir import Value
from tilewright.graph.onnx_ops.call import Call, Translator
from tilewright.graph.onnx_ops.contraction import channels_first, channels_last


def reduction(op: str) -> Translator:
    """Axes are an attribute in older opsets, an input in newer ones; none means all."""

    def translate(call: Call) -> Value:
        x = call.input(0)
        listed = call.ints(1, "axes")
        if not listed and call.attribute("noop_with_empty_axes", 0):
            return x
        axes = sorted({call.normal_axis(a, x.rank) for a in listed or range(x.rank)})
        if not axes:
            return x
        keepdims = bool(call.attribute("keepdims", 1))
        return call.emit(op, x, axes=tuple(axes), keepdims=keepdims)

    return translate


def log_sum(call: Call) -> Value:
    total = reduction("reduce_sum")(call)
    assert isinstance(total, Value)
    return call.emit("log", total)


def arg(op: str) -> Translator:
    def translate(call: Call) -> Value:
        x = call.input(0)
        return call.emit(
            op,
            x,
            axis=call.axis(0, x.rank),
            keepdims=bool(call.attribute("keepdims", 1)),
            select_last=bool(call.attribute("select_last_index", 0)),
        )

    return translate


def softmax(op: str) -> Translator:
    """Before opset 13 everything from `axis` on is one dimension, and `axis` defaults to 1."""

    def translate(call: Call) -> Value:
        x = call.input(0)
        if call.opset >= 13:
            return call.emit(op, x, axis=call.axis(-1, x.rank))
        cut = call.axis(1, x.rank)
        if prod(x.shape[cut:]) == x.shape[cut]:
            return call.emit(op, x, axis=cut)
        flat = call.builder.reshape(x, (prod(x.shape[:cut]), prod(x.shape[cut:])))
        return call.builder.reshape(call.emit(op, flat, axis=1), x.shape)

    return translate


def batch_norm(call: Call) -> Value:
    """x · factor + shift a channel; with constant statistics both are computed here."""
    if call.attribute("training_mode", 0):
        call.reject("training mode is not supported")
    call.only_output()
    x, epsilon = call.input(0), float(call.attribute("epsilon", 1e-5))
    scale, bias, mean, variance = (call.input(i) for i in range(1, 5))
    column = (x.shape[1],) + (1,) * (x.rank - 2)
    known = [v.constant for v in (scale, bias, mean, variance)]
    if all(a is not None for a in known):
        s, b, m, v = (np.asarray(a, np.float64) for a in known)
        factor = s / np.sqrt(v + epsilon)
        parts = [call.literal(a.reshape(column), x) for a in (factor, b - m * factor)]
    else:
        root = call.emit("sqrt", call.emit("add", variance, call.literal(epsilon, variance)))
        ratio = call.emit("divide", scale, root)
        shift = call.emit("subtract", bias, call.emit("multiply", mean, ratio))
        parts = [call.builder.reshape(p, column) for p in (ratio, shift)]
    return call.emit("add", call.emit("multiply", x, parts[0]), parts[1])


def instance_norm(call: Call) -> Value:
    x, epsilon = call.input(0), float(call.attribute("epsilon", 1e-5))
    nhwc = channels_last(call, x)
    y = call.emit("instance_norm", nhwc, call.input(1), call.input(2), epsilon=epsilon)
    return channels_first(call, y)


def group_norm(call: Call) -> Value:
    """Scale and bias have one value a group before opset 21, one a channel from it on."""
    x, groups = call.input(0), int(call.attribute("num_groups"))
    affine = []
    for i, what in ((1, "scale"), (2, "bias")):
        value = call.input(i)
        if value.shape == (groups,) != (x.shape[1],):
            array = call.constant(i, what)
            assert array is not None, "the input is there, as its shape was compared"
            value = call.literal(np.repeat(array, x.shape[1] // groups), value)
        affine.append(value)
    epsilon = float(call.attribute("epsilon", 1e-5))
    nhwc = channels_last(call, x)
    return channels_first(
        call, call.emit("group_norm", nhwc, *affine, groups=groups, epsilon=epsilon)
    )


def layer_norm(call: Call) -> Value:
    call.only_output()
    x = call.input(0)
    operands = [v for v in (call.input(1), call.optional(2)) if v is not None]
    epsilon = float(call.attribute("epsilon", 1e-5))
    return call.emit("layer_norm", x, *operands, axis=call.axis(-1, x.rank), epsilon=epsilon)


def rms_norm(call: Call) -> Value:
    x, epsilon = call.input(0), float(call.attribute("epsilon", 1e-5))
    axes = tuple(range(call.axis(-1, x.rank), x.rank))
    return call.emit("rms_norm", x, call.input(1), axes=axes, epsilon=epsilon)


def lp_normalization(call: Call) -> Value:
    """x divided by its L1 or L2 norm along `axis`; 0 where that is 0."""
    x = call.input(0)
    p = int(call.attribute("p", 2))
    if p not in (1, 2):
        call.reject(f"p is {p}, not 1 or 2")
    op = f"reduce_l{p}"
    norm = call.emit(op, x, axes=(call.axis(-1, x.rank),), keepdims=True)
    zero = call.literal(0.0, x)
    return call.emit("where", call.emit("equal", norm, zero), zero, call.emit("divide", x, norm))


REDUCTION: dict[str, Translator] = {
    "ArgMax": arg("argmax"),
    "ArgMin": arg("argmin"),
    "BatchNormalization": batch_norm,
    "GroupNormalization": group_norm,
    "InstanceNormalization": instance_norm,
    "LayerNormalization": layer_norm,
    "LogSoftmax": softmax("log_softmax"),
    "LpNormalization": lp_normalization,
    "RMSNormalization": rms_norm,
    "ReduceL1": reduction("reduce_l1"),
    "ReduceL2": reduction("reduce_l2"),
    "ReduceLogSum": log_sum,
    "ReduceLogSumExp": reduction("reduce_logsumexp"),
    "ReduceMax": reduction("reduce_max"),
    "ReduceMean": reduction("reduce_mean"),
    "ReduceMin": reduction("reduce_min"),
    "ReduceProd": reduction("reduce_prod"),
    "ReduceSum": reduction("reduce_sum"),
    "ReduceSumSquare": reduction("reduce_sum_square"),
    "Softmax": softmax("softmax"),
}

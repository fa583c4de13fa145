"""ONNX reductions and normalisations."""

from __future__ import annotations

import numpy as np

from tilewright.expr.index.extents import product
from tilewright.expr.operators.shapes import number, numbers
from tilewright.expr.tensors import canonical
from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.call import Given, OperatorCall, Translator, numpy_dtype
from tilewright.graph.onnx.ops.contraction import on_image


def reduction(op: str, after: str = "") -> Translator:
    """Axes are an attribute in older opsets, an input in newer ones; none means all, or that each
    element is reduced by itself.
    """

    def translate(
        call: OperatorCall,
        x: Value,
        axes: Given = None,
        *,
        keepdims: bool = True,
        noop_with_empty_axes: bool = False,
    ) -> Value:
        wanted = call.ints(axes, "axes")
        every = () if noop_with_empty_axes else range(x.rank)
        over = tuple(sorted({call.axis(a, x.rank) for a in wanted or every}))
        y = call.emit(op, x, axes=over, keepdims=keepdims) if over else _of_one(call, op, x)
        return call.emit(after, y) if after else y

    return translate


def _of_one(call: OperatorCall, op: str, x: Value) -> Value:
    """What reduction `op` makes of each element alone."""
    match op:
        case "reduce_l1" | "reduce_l2":
            return call.emit("absolute", x)
        case "reduce_sum_square":
            return call.emit("multiply", x, x)
    return x


def arg(op: str) -> Translator:
    def translate(
        call: OperatorCall,
        x: Value,
        *,
        axis: int = 0,
        keepdims: bool = True,
        select_last_index: bool = False,
    ) -> Value:
        at = call.axis(axis, x.rank)
        return call.emit(op, x, axis=at, keepdims=keepdims, select_last=select_last_index)

    return translate


def softmax(op: str) -> Translator:
    """Before opset 13 everything from `axis` on is one dimension, and `axis` defaults to 1."""

    def translate(call: OperatorCall, x: Value, *, axis: int | None = None) -> Value:
        if call.opset >= 13:
            return call.emit(op, x, axis=call.axis(-1 if axis is None else axis, x.rank))
        cut = call.axis(1 if axis is None else axis, x.rank)
        if canonical(product(x.extents[cut:])) == x.extents[cut]:
            return call.emit(op, x, axis=cut)
        flat = call.builder.reshape(x, (product(x.extents[:cut]), product(x.extents[cut:])))
        return call.builder.reshape(call.emit(op, flat, axis=1), x.extents)

    return translate


def batch_norm(
    call: OperatorCall,
    x: Value,
    scale: Value,
    bias: Value,
    mean: Value,
    variance: Value,
    *,
    epsilon: float = 1e-5,
    training_mode: bool = False,
    spatial: bool = True,
) -> Value:
    """x · factor + shift a channel; with constant statistics both are computed here. Before opset 9
    each element may have its own, if not `spatial`.
    """
    if training_mode:
        call.reject("training mode is not supported")
    call.only_output()
    own = x.extents[1:2] if spatial else x.extents[1:]
    column = (*numbers(own, f"a normalisation of {x.name}"), *(1,) * (x.rank - 2) * spatial)
    known = [v.constant for v in (scale, bias, mean, variance)]
    if all(a is not None for a in known):
        s, b, m, v = (np.asarray(a, np.float64) for a in known)
        factor = s / np.sqrt(v + epsilon)
        both = np.stack([factor, b - m * factor])
        fit = np.isfinite(both.astype(numpy_dtype(x))).all()
        y = x if fit else call.cast(x, "float32")  # m · factor is soon too large for a float16
        parts = [call.literal(a.reshape(column), y) for a in both]
    else:
        y = x
        root = call.emit("sqrt", call.emit("add", variance, call.literal(epsilon, variance)))
        ratio = call.emit("divide", scale, root)
        shift = call.emit("subtract", bias, call.emit("multiply", mean, ratio))
        parts = [call.builder.reshape(p, column) for p in (ratio, shift)]
    y = call.emit("add", call.emit("multiply", y, parts[0]), parts[1])
    return call.cast(y, x.dtype)


def instance_norm(
    call: OperatorCall, x: Value, scale: Value, bias: Value, *, epsilon: float = 1e-5
) -> Value:
    return on_image(call, "instance_norm", x, scale, bias, epsilon=epsilon)


def group_norm(
    call: OperatorCall,
    x: Value,
    scale: Value,
    bias: Value,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
) -> Value:
    """Scale and bias have one value a group before opset 21, one a channel from it on."""
    affine = []
    for value, what in ((scale, "scale"), (bias, "bias")):
        if value.shape == (num_groups,) != (x.extents[1],):
            array = np.repeat(call.known(value, what), number(x.extents[1], x.name) // num_groups)
            value = call.literal(array, value)
        affine.append(value)
    return on_image(call, "group_norm", x, *affine, groups=num_groups, epsilon=epsilon)


def layer_norm(
    call: OperatorCall,
    x: Value,
    scale: Value,
    bias: Value | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
) -> Value:
    call.only_output()
    affine = [scale] if bias is None else [scale, bias]
    return call.emit("layer_norm", x, *affine, axis=call.axis(axis, x.rank), epsilon=epsilon)


def rms_norm(
    call: OperatorCall, x: Value, scale: Value, *, axis: int = -1, epsilon: float = 1e-5
) -> Value:
    axes = tuple(range(call.axis(axis, x.rank), x.rank))
    return call.emit("rms_norm", x, scale, axes=axes, epsilon=epsilon)


def lp_normalization(call: OperatorCall, x: Value, *, axis: int = -1, p: int = 2) -> Value:
    """x divided by its L1 or L2 norm along `axis`; 0 where that is 0."""
    if p not in (1, 2):
        call.reject(f"p is {p}, not 1 or 2")
    norm = call.emit(f"reduce_l{p}", x, axes=(call.axis(axis, x.rank),), keepdims=True)
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
    "ReduceLogSum": reduction("reduce_sum", after="log"),
    "ReduceLogSumExp": reduction("reduce_logsumexp"),
    "ReduceMax": reduction("reduce_max"),
    "ReduceMean": reduction("reduce_mean"),
    "ReduceMin": reduction("reduce_min"),
    "ReduceProd": reduction("reduce_prod"),
    "ReduceSum": reduction("reduce_sum"),
    "ReduceSumSquare": reduction("reduce_sum_square"),
    "Softmax": softmax("softmax"),
}

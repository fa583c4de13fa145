"""ONNX elementwise operators: activations, arithmetic, comparisons, logic, casts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import reduce

import numpy as np
import onnx

from tilewright.expr.dtypes import dtype
from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.call import Given, OperatorCall, Translator
from tilewright.ground.errors import ExprError


def binary(op: str) -> Translator:
    """Before opset 7 the second operand has the dimensions of the first from `axis` on."""

    def translate(call: OperatorCall, a: Value, b: Value, *, axis: int | None = None) -> Value:
        if axis is not None and b.rank:
            after = a.rank - call.axis(axis, a.rank) - b.rank
            b = call.builder.reshape(b, (*b.extents, *(1,) * after))
        return call.emit(op, a, b)

    return translate


def variadic(op: str) -> Translator:
    """Any number of operands, combined from the left."""

    def translate(call: OperatorCall, *operands: Value) -> Value:
        return reduce(lambda a, b: call.emit(op, a, b), operands)

    return translate


def mean(call: OperatorCall, *operands: Value) -> Value:
    total = reduce(lambda a, b: call.emit("add", a, b), operands)
    return call.emit("multiply", total, call.literal(1 / len(operands), total))


def clip(call: OperatorCall, x: Value, min: Given = None, max: Given = None) -> Value:
    """Bounds are attributes before opset 11, inputs after; run-time bounds become min and max."""
    bounds = {"maximum": (min, -math.inf), "minimum": (max, math.inf)}
    if all(not isinstance(b, Value) or b.is_constant for b, _ in bounds.values()):
        known = [call.constant(b, "bound") for b, _ in bounds.values()]
        ends = zip(known, bounds.values(), strict=True)
        return limited(call, x, *(usual if b is None else b.item() for b, (_, usual) in ends))
    for op, (bound, _) in bounds.items():
        x = call.emit(op, x, bound) if isinstance(bound, Value) else x
    return x


def limited(call: OperatorCall, x: Value, low: float, high: float) -> Value:
    """`x` between bounds, in its own type; infinite ones do not limit."""
    number = float if dtype(x.dtype).is_float else int
    bounds = {"low": low, "high": high}
    return call.emit("clip", x, **{k: number(b) for k, b in bounds.items() if not math.isinf(b)})


def prelu(call: OperatorCall, x: Value, slope: Value) -> Value:
    """The slope broadcasts to `x` from the right; a vector of channels was meant before opset 7."""
    if slope.rank == 1 and x.rank > 2 and slope.elements not in (1, x.extents[-1]):
        slope = call.builder.reshape(slope, (slope.elements, *(1,) * (x.rank - 2)))
    return call.emit("prelu", x, slope)


def gelu(call: OperatorCall, x: Value, *, approximate: str = "none") -> Value:
    return call.emit("gelu", x, approximate=approximate == "tanh")


def cast(call: OperatorCall, x: Value, *, to: int | str) -> Value:
    """Before opset 6 types are named."""
    to = onnx.TensorProto.DataType.Value(to) if isinstance(to, str) else to
    return call.cast(x, _named(call, to))


def bit_cast(call: OperatorCall, x: Value, *, to: int) -> Value:
    """Of integers: those of as many bits wrap around."""
    name = _named(call, to)
    kinds = {dtype(n).numpy.kind for n in (x.dtype, name)}
    if not kinds <= {"i", "u", "b"} or dtype(name).bytes != dtype(x.dtype).bytes:
        call.reject(f"the bits of {x.dtype} as {name} are no part of the math")
    return call.cast(x, name)


def _named(call: OperatorCall, to: int) -> str:
    """The type of this number in ONNX."""
    name = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(to)).name
    try:
        return dtype(name).name
    except ExprError:
        call.reject(f"cast to {onnx.TensorProto.DataType.Name(to)} is not supported")


def binarize(call: OperatorCall, x: Value, *, threshold: float = 0.0) -> Value:
    """Whether elements are above a threshold, in their own type."""
    return call.cast(call.emit("greater", x, call.literal(threshold, x)), x.dtype)


def modulo(call: OperatorCall, a: Value, b: Value, *, fmod: bool = False) -> Value:
    return call.emit("fmod" if fmod else "mod", a, b)


def isinf(
    call: OperatorCall, x: Value, *, detect_negative: bool = True, detect_positive: bool = True
) -> Value:
    if detect_negative and detect_positive:
        return call.emit("isinf", x)
    if not detect_negative and not detect_positive:
        return call.literal(np.zeros(call.table(*x.shape), np.bool_))
    return call.emit("equal", x, call.literal(-np.inf if detect_negative else np.inf, x))


def dropout(
    call: OperatorCall, x: Value, ratio: Value | None = None, training: Value | None = None
) -> Sequence[Value]:
    """Nothing at inference, where the mask is true everywhere."""
    mode = call.constant(training, "training_mode")
    if mode is not None and bool(mode):
        call.reject("training mode is not supported")
    if not any(call.used_outputs[1:]):
        return [x]
    return [x, call.literal(np.ones(call.table(*x.shape), np.bool_))]


def shift(call: OperatorCall, x: Value, bits: Value, *, direction: str) -> Value:
    return call.emit(f"shift_{direction.lower()}", x, bits)


def identity(call: OperatorCall, x: Value) -> Value:
    return x


# ---- of opset 1, before they were taken out of ONNX --------------------------------------------


def affine(
    call: OperatorCall, x: Value, *, alpha: float = 1.0, beta: float = 0.0, scale: float = 1.0
) -> Value:
    """alpha · x + beta, or `Scale`, which has a factor alone."""
    y = call.emit("multiply", x, call.literal(alpha * scale, x))
    return call.emit("add", y, call.literal(beta, x)) if beta else y


def scaled_tanh(call: OperatorCall, x: Value, *, alpha: float, beta: float) -> Value:
    """alpha · tanh(beta · x)."""
    return affine(call, call.emit("tanh", affine(call, x, alpha=beta)), alpha=alpha)


def parametric_softplus(call: OperatorCall, x: Value, *, alpha: float, beta: float) -> Value:
    """alpha · log(1 + exp(beta · x))."""
    return affine(call, call.emit("softplus", affine(call, x, alpha=beta)), alpha=alpha)


def image_scaler(
    call: OperatorCall, x: Value, *, scale: float = 1.0, bias: Sequence[float] = ()
) -> Value:
    """scale · x + a number a channel, of images [n, c, h, w]."""
    y = affine(call, x, scale=scale)
    if not bias:
        return y
    return call.emit("add", y, call.literal(np.reshape(bias, (-1, 1, 1)), x))


CALLED_ALIKE = (
    *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseAnd", "BitwiseNot"),
    *("BitwiseOr", "BitwiseXor", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp"),
    *("Floor", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Mish"),
    *("Reciprocal", "Relu", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus"),
    *("Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu", "Where"),
)
"""Operators that the library has under the same name, in its own spelling."""

ELEMENTWISE: dict[str, Translator] = {
    **{name: re.sub("(?<!^)(?=[A-Z])", "_", name).lower() for name in CALLED_ALIKE},
    "Abs": "absolute",
    "Add": binary("add"),
    "Affine": affine,
    "And": binary("logical_and"),
    "BitShift": shift,
    "BitCast": bit_cast,
    "Cast": cast,
    "Clip": clip,
    "Div": binary("divide"),
    "Dropout": dropout,
    "Equal": binary("equal"),
    "Gelu": gelu,
    "Greater": binary("greater"),
    "GreaterOrEqual": "greater_equal",
    "Identity": identity,
    "ImageScaler": image_scaler,
    "IsInf": isinf,
    "IsNaN": "isnan",
    "Less": binary("less"),
    "LessOrEqual": "less_equal",
    "Max": variadic("maximum"),
    "Mean": mean,
    "Min": variadic("minimum"),
    "Mod": modulo,
    "Mul": binary("multiply"),
    "Neg": "negative",
    "Not": "logical_not",
    "Or": binary("logical_or"),
    "PRelu": prelu,
    "ParametricSoftplus": parametric_softplus,
    "Pow": binary("power"),
    "Round": "round_half_even",
    "Scale": affine,
    "ScaledTanh": scaled_tanh,
    "Sub": binary("subtract"),
    "Sum": variadic("add"),
    "Swish": "silu",
    "Xor": binary("logical_xor"),
}

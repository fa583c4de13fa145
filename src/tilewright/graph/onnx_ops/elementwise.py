"""ONNX elementwise operators: activations, arithmetic, comparisons, logic, casts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
import onnx

from tilewright.errors import ExprError
from tilewright.expr.dtypes import dtype
from tilewright.graph.ir import Value
from tilewright.graph.onnx_ops.call import Call, Translator


def simple(op: str) -> Translator:
    """Same operands, no attributes."""

    def translate(call: Call) -> Value:
        return call.emit(op, *(call.input(i) for i in range(len(call.inputs))))

    return translate


def parametric(op: str, **defaults: float) -> Translator:
    """Same operands; float attributes with ONNX's defaults."""

    def translate(call: Call) -> Value:
        given = {k: float(call.attribute(k, v)) for k, v in defaults.items()}
        return call.emit(op, *(call.input(i) for i in range(len(call.inputs))), **given)

    return translate


def variadic(op: str) -> Translator:
    """Any number of operands, combined from the left."""

    def translate(call: Call) -> Value:
        operands = [call.input(i) for i in range(len(call.inputs))]
        return reduce(lambda a, b: call.emit(op, a, b), operands)

    return translate


def mean(call: Call) -> Value:
    total = variadic("add")(call)
    assert isinstance(total, Value)
    return call.emit("multiply", total, call.literal(1 / len(call.inputs), total))


def clip(call: Call) -> Value:
    """Bounds are attributes before opset 11, inputs after; run-time bounds become min and max."""
    x = call.input(0)
    if call.opset < 11:
        return limited(call, x, call.attribute("min", -math.inf), call.attribute("max", math.inf))
    bounds = [call.optional(1), call.optional(2)]
    if all(b is None or b.is_constant for b in bounds):
        known = [None if b is None or b.constant is None else b.constant.item() for b in bounds]
        low, high = (
            e if k is None else k for k, e in zip(known, (-math.inf, math.inf), strict=True)
        )
        return limited(call, x, low, high)
    for op, bound in zip(("maximum", "minimum"), bounds, strict=True):
        x = x if bound is None else call.emit(op, x, bound)
    return x


def limited(call: Call, x: Value, low: float, high: float) -> Value:
    """`x` between bounds, in its own type; infinite ones do not limit."""
    number = float if dtype(x.dtype).is_float else int
    pairs = zip(("low", "high"), (low, high), strict=True)
    return call.emit("clip", x, **{k: number(b) for k, b in pairs if not math.isinf(b)})


def prelu(call: Call) -> Value:
    """The slope broadcasts to `x` from the right; a vector of channels was meant before opset 7."""
    x, slope = call.input(0), call.input(1)
    if slope.rank == 1 and x.rank > 2 and slope.elements not in (1, x.shape[-1]):
        slope = call.builder.reshape(slope, (slope.elements, *(1,) * (x.rank - 2)))
    return call.emit("prelu", x, slope)


def gelu(call: Call) -> Value:
    approximate = call.attribute("approximate", b"none") in (b"tanh", "tanh")
    return call.emit("gelu", call.input(0), approximate=approximate)


def cast(call: Call) -> Value:
    number = int(call.attribute("to"))
    name = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number)).name
    try:
        dtype(name)
    except ExprError:
        call.reject(f"cast to {onnx.TensorProto.DataType.Name(number)} is not supported")
    x = call.input(0)
    return x if x.dtype == name else call.emit("cast_to", x, dtype=name)


def modulo(call: Call) -> Value:
    op = "fmod" if call.attribute("fmod", 0) else "mod"
    return call.emit(op, call.input(0), call.input(1))


def isinf(call: Call) -> Value:
    x = call.input(0)
    signs = [call.attribute(f"detect_{s}", 1) for s in ("negative", "positive")]
    if all(signs):
        return call.emit("isinf", x)
    if not any(signs):
        return call.literal(np.zeros(call.table(*x.shape), np.bool_))
    return call.emit("equal", x, call.literal(-np.inf if signs[0] else np.inf, x))


def dropout(call: Call) -> Sequence[Value]:
    """Nothing at inference, where the mask is true everywhere."""
    training = call.constant(2, "training_mode")
    if training is not None and bool(training):
        call.reject("training mode is not supported")
    x = call.input(0)
    if not any(call.used_outputs[1:]):
        return [x]
    return [x, call.literal(np.ones(call.table(*x.shape), np.bool_))]


def shift(call: Call) -> Value:
    direction = call.attribute("direction").decode()
    return call.emit(f"shift_{direction.lower()}", call.input(0), call.input(1))


def identity(call: Call) -> Value:
    return call.input(0)


ELEMENTWISE: dict[str, Translator] = {
    "Abs": simple("absolute"),
    "Acos": simple("acos"),
    "Acosh": simple("acosh"),
    "Add": simple("add"),
    "And": simple("logical_and"),
    "Asin": simple("asin"),
    "Asinh": simple("asinh"),
    "Atan": simple("atan"),
    "Atanh": simple("atanh"),
    "BitShift": shift,
    "BitwiseAnd": simple("bitwise_and"),
    "BitwiseNot": simple("bitwise_not"),
    "BitwiseOr": simple("bitwise_or"),
    "BitwiseXor": simple("bitwise_xor"),
    "Cast": cast,
    "Ceil": simple("ceil"),
    "Celu": parametric("celu", alpha=1.0),
    "Clip": clip,
    "Cos": simple("cos"),
    "Cosh": simple("cosh"),
    "Div": simple("divide"),
    "Dropout": dropout,
    "Elu": parametric("elu", alpha=1.0),
    "Equal": simple("equal"),
    "Erf": simple("erf"),
    "Exp": simple("exp"),
    "Floor": simple("floor"),
    "Gelu": gelu,
    "Greater": simple("greater"),
    "GreaterOrEqual": simple("greater_equal"),
    "HardSigmoid": parametric("hard_sigmoid", alpha=0.2, beta=0.5),
    "HardSwish": simple("hard_swish"),
    "Identity": identity,
    "IsInf": isinf,
    "IsNaN": simple("isnan"),
    "LeakyRelu": parametric("leaky_relu", alpha=0.01),
    "Less": simple("less"),
    "LessOrEqual": simple("less_equal"),
    "Log": simple("log"),
    "Max": variadic("maximum"),
    "Mean": mean,
    "Min": variadic("minimum"),
    "Mish": simple("mish"),
    "Mod": modulo,
    "Mul": simple("multiply"),
    "Neg": simple("negative"),
    "Not": simple("logical_not"),
    "Or": simple("logical_or"),
    "PRelu": prelu,
    "Pow": simple("power"),
    "Reciprocal": simple("reciprocal"),
    "Relu": simple("relu"),
    "Round": simple("round_half_even"),
    "Selu": parametric("selu", alpha=1.67326319217681884765625, gamma=1.05070102214813232421875),
    "Shrink": parametric("shrink", lambd=0.5, bias=0.0),
    "Sigmoid": simple("sigmoid"),
    "Sign": simple("sign"),
    "Sin": simple("sin"),
    "Sinh": simple("sinh"),
    "Softplus": simple("softplus"),
    "Softsign": simple("softsign"),
    "Sqrt": simple("sqrt"),
    "Sub": simple("subtract"),
    "Sum": variadic("add"),
    "Swish": parametric("silu", alpha=1.0),
    "Tan": simple("tan"),
    "Tanh": simple("tanh"),
    "ThresholdedRelu": parametric("thresholded_relu", alpha=1.0),
    "Where": simple("where"),
    "Xor": simple("logical_xor"),
}

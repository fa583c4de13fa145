"""Elementwise operators: the library's, and compositions that only graphs use.

    ELEMENTWISE["add"](x, y, name="t")    ELEMENTWISE["clip"](x, low=0.0, high=6.0, name="t")

Operands broadcast as in NumPy; a constant of one element arrives as a Python number, so that it
becomes a literal of the expression.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tilewright.expr import operators as lib
from tilewright.expr.nodes import Expr, Tensor, as_expr, binary, call, select
from tilewright.expr.operators.elementwise import Value, elementwise, quotient


def celu(x: Tensor, *, alpha: float, name: str) -> Tensor:
    """max(x, 0) + min(0, alpha · (exp(x / alpha) - 1))."""

    def body(v: Expr) -> Expr:
        return binary("max", v, 0) + (call("exp", binary("min", v, 0) / alpha) - 1) * alpha

    return elementwise(body, x, name=name)


def clip(x: Tensor, *, low: float, high: float, name: str) -> Tensor:
    """`x` limited to [low, high]; infinite bounds do not limit."""
    number: type[float] | type[int] = float if x.dtype.is_float else int
    bounds = [None if math.isinf(b) else number(b) for b in (low, high)]
    return lib.clip(x, *bounds, name=name)


def swish(x: Tensor, *, alpha: float, name: str) -> Tensor:
    """x · sigmoid(alpha · x)."""
    if alpha == 1.0:
        return lib.silu(x, name=name)
    return elementwise(lambda v: v * call("sigmoid", v * alpha), x, name=name)


def thresholded_relu(x: Tensor, *, alpha: float, name: str) -> Tensor:
    """x where above alpha, 0 elsewhere."""
    return elementwise(lambda v: select(v > alpha, v, 0.0), x, name=name)


def shrink(x: Tensor, *, lambd: float, bias: float, name: str) -> Tensor:
    """x moved towards 0 by `bias` outside [-lambd, lambd], 0 inside."""

    def body(v: Expr) -> Expr:
        return select(v < -lambd, v + bias, select(v > lambd, v - bias, 0.0))

    return elementwise(body, x, name=name)


def fmod(a: Value, b: Value, *, name: str) -> Tensor:
    """a - b · trunc(a / b): the result has the sign of `a`."""

    def body(x: Any, y: Any) -> Expr:
        like = next(e.dtype for e in (x, y) if not isinstance(e, (int, float)))
        a, b = as_expr(x, like), as_expr(y, like)
        if not like.is_float:
            return as_expr(a - b * quotient(a, b))
        # Of magnitudes it is exact, however large the quotient.
        rest = call("abs", a) % call("abs", b)
        return select(a < 0, -rest, rest)

    return elementwise(body, a, b, name=name)


def power(a: Value, b: Value, *, name: str) -> Tensor:
    """`a ** b`; small literal exponents become products and roots."""
    products: dict[float, Callable[[Any], Any]] = {
        1: lambda v: v,
        2: lambda v: v * v,
        3: lambda v: v * v * v,
        0.5: lambda v: call("sqrt", v),
        -0.5: lambda v: 1.0 / call("sqrt", v),
        -1: lambda v: 1.0 / v,
    }
    if isinstance(a, Tensor) and isinstance(b, (int, float)):
        if b in (products if a.dtype.is_float else (1, 2, 3)):
            return elementwise(products[b], a, name=name)
        return lib.power(a, float(b) if a.dtype.is_float else b, name=name)
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype != b.dtype:
        b = lib.cast_to(b, a.dtype, name=f"{name}_exponent")
    return lib.power(a, b, name=name)


ELEMENTWISE: dict[str, Callable[..., Tensor]] = {
    "abs": lib.absolute,
    "acos": lib.acos,
    "acosh": lib.acosh,
    "add": lib.add,
    "and": lib.logical_and,
    "asin": lib.asin,
    "asinh": lib.asinh,
    "atan": lib.atan,
    "atanh": lib.atanh,
    "bitwise_and": lib.bitwise_and,
    "bitwise_not": lib.bitwise_not,
    "bitwise_or": lib.bitwise_or,
    "bitwise_xor": lib.bitwise_xor,
    "cast": lambda x, *, to, name: lib.cast_to(x, to, name=name),
    "ceil": lib.ceil,
    "celu": celu,
    "clip": clip,
    "cos": lib.cos,
    "cosh": lib.cosh,
    "div": lib.divide,
    "elu": lib.elu,
    "eq": lib.equal,
    "erf": lib.erf,
    "exp": lib.exp,
    "floor": lib.floor,
    "fmod": fmod,
    "ge": lib.greater_equal,
    "gelu": lib.gelu,
    "gt": lib.greater,
    "hard_sigmoid": lib.hard_sigmoid,
    "hard_swish": lib.hard_swish,
    "isinf": lib.isinf,
    "isnan": lib.isnan,
    "le": lib.less_equal,
    "leaky_relu": lib.leaky_relu,
    "log": lib.log,
    "lt": lib.less,
    "max": lib.maximum,
    "min": lib.minimum,
    "mish": lib.mish,
    "mod": lib.mod,
    "mul": lib.multiply,
    "ne": lib.not_equal,
    "neg": lib.negative,
    "not": lib.logical_not,
    "or": lib.logical_or,
    "pow": power,
    "prelu": lib.prelu,
    "reciprocal": lib.reciprocal,
    "relu": lib.relu,
    "round": lib.round_half_even,
    "selu": lib.selu,
    "shift_left": lib.shift_left,
    "shift_right": lib.shift_right,
    "shrink": shrink,
    "sigmoid": lib.sigmoid,
    "sign": lib.sign,
    "sin": lib.sin,
    "sinh": lib.sinh,
    "softplus": lib.softplus,
    "softsign": lib.softsign,
    "sqrt": lib.sqrt,
    "sub": lib.subtract,
    "swish": swish,
    "tan": lib.tan,
    "tanh": lib.tanh,
    "thresholded_relu": thresholded_relu,
    "where": lib.where,
    "xor": lib.logical_xor,
}

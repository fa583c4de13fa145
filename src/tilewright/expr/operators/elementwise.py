"""Elementwise operators with NumPy broadcasting: one stage each.

    add(x, y)     relu(x)     clip(x, 0, 6)     where(mask, x, 0.0)     cast_to(x, "float16")

Operands are tensors or Python numbers; a number takes the dtype of the tensors beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from tilewright.errors import ExprError
from tilewright.expr.dtypes import FLOAT64, DType
from tilewright.expr.dtypes import dtype as dtype_of
from tilewright.expr.nodes import Expr, Tensor, as_expr, binary, call, cast, select
from tilewright.expr.operators.shapes import broadcast_read, broadcast_shapes, extents
from tilewright.expr.tensors import compute

Value: TypeAlias = Tensor | float | int | bool


def elementwise(
    fn: Callable[..., Any], *operands: Value, name: str, dtype: str | DType | None = None
) -> Tensor:
    """`fn` of the operands' elements, over the shape that they broadcast to.

    The result is stored as `dtype`, by default as the first tensor whose compute type is the
    expression's. Raises ExprError when no operand is a tensor or shapes do not broadcast.
    """
    tensors = [t for t in operands if isinstance(t, Tensor)]
    if not tensors:
        raise ExprError(f"{name} needs at least one tensor")
    shape = broadcast_shapes(*(extents(t) for t in tensors))

    def body(*index: Any) -> Any:
        return fn(*(broadcast_read(t, index) if isinstance(t, Tensor) else t for t in operands))

    if dtype is None:
        kind = as_expr(fn(*(_sample(t) for t in operands))).dtype
        dtype = next((t.dtype for t in tensors if t.dtype.compute == kind), kind)
    return compute(shape, body, name=name, dtype=dtype)


def _sample(operand: Value) -> Any:
    return operand[(0,) * operand.rank] if isinstance(operand, Tensor) else operand


def _binary(op: str, default: str) -> Callable[..., Tensor]:
    def operator(a: Value, b: Value, *, name: str = default) -> Tensor:
        return elementwise(lambda x, y: binary(op, x, y), a, b, name=name)

    operator.__name__ = operator.__qualname__ = default
    operator.__doc__ = f"`{op}` of two operands, broadcast; comparisons give bool."
    return operator


def _unary(fn: str, default: str) -> Callable[..., Tensor]:
    def operator(x: Tensor, *, name: str = default) -> Tensor:
        return elementwise(lambda v: call(fn, v), x, name=name)

    operator.__name__ = operator.__qualname__ = default
    operator.__doc__ = f"`{fn}` of every element."
    return operator


add = _binary("add", "add")
subtract = _binary("sub", "subtract")
multiply = _binary("mul", "multiply")
floor_divide = _binary("floordiv", "floor_divide")
mod = _binary("mod", "mod")
minimum = _binary("min", "minimum")
maximum = _binary("max", "maximum")
less = _binary("lt", "less")
less_equal = _binary("le", "less_equal")
greater = _binary("gt", "greater")
greater_equal = _binary("ge", "greater_equal")
equal = _binary("eq", "equal")
not_equal = _binary("ne", "not_equal")
logical_and = _binary("and", "logical_and")
logical_or = _binary("or", "logical_or")
logical_xor = _binary("ne", "logical_xor")

negative = _unary("neg", "negative")
absolute = _unary("abs", "absolute")
exp = _unary("exp", "exp")
log = _unary("log", "log")
sqrt = _unary("sqrt", "sqrt")
tanh = _unary("tanh", "tanh")
erf = _unary("erf", "erf")
sigmoid = _unary("sigmoid", "sigmoid")
sin = _unary("sin", "sin")
cos = _unary("cos", "cos")
floor = _unary("floor", "floor")
ceil = _unary("ceil", "ceil")
round_half_even = _unary("round", "round_half_even")
trunc = _unary("trunc", "trunc")
logical_not = _unary("not", "logical_not")
isnan = _unary("isnan", "isnan")
isinf = _unary("isinf", "isinf")


def _bits(fn: str, default: str) -> Callable[..., Tensor]:
    def operator(a: Value, b: Value, *, name: str = default) -> Tensor:
        return elementwise(lambda x, y: call(fn, x, y), a, b, name=name)

    operator.__name__ = operator.__qualname__ = default
    operator.__doc__ = f"`{fn}` of two integer operands, broadcast."
    return operator


bitwise_and = _bits("bitand", "bitwise_and")
bitwise_or = _bits("bitor", "bitwise_or")
bitwise_xor = _bits("bitxor", "bitwise_xor")
shift_left = _bits("shl", "shift_left")
shift_right = _bits("shr", "shift_right")


def bitwise_not(x: Tensor, *, name: str = "bitwise_not") -> Tensor:
    """All bits of integers inverted."""
    ones = (1 << x.dtype.bits) - 1 if x.dtype.kind == "uint" else -1
    return elementwise(lambda v: call("bitxor", v, ones), x, name=name)


def divide(a: Value, b: Value, *, name: str = "divide") -> Tensor:
    """`a / b`; integers round towards zero, as ONNX Div does."""
    return elementwise(quotient, a, b, name=name)


def quotient(a: Any, b: Any) -> Expr:
    """The expression `a / b`; integers round towards zero."""
    like = next(as_expr(e).dtype for e in (a, b) if not isinstance(e, (int, float)))
    if like.is_float:
        return binary("div", a, b)
    x, y = as_expr(a, like), as_expr(b, like)
    if like.kind == "uint":
        return x // y
    size = call("abs", x) // call("abs", y)
    return select((x < 0).ne(y < 0), -size, size)


def power(a: Value, b: Value, *, name: str = "power") -> Tensor:
    """`a ** b` of floats; integers go through float64, exact below 2⁵³."""

    def body(x: Any, y: Any) -> Expr:
        like = next(e.dtype for e in (x, y) if not isinstance(e, (int, float)))
        if like.is_float:
            return call("pow", x, y)
        wide = call("pow", *(cast(FLOAT64, as_expr(e, like)) for e in (x, y)))
        return cast(like, call("round", wide))

    return elementwise(body, a, b, name=name)


def where(condition: Tensor, a: Value, b: Value, *, name: str = "where") -> Tensor:
    """`a` where `condition` (bool) holds, else `b`; all three broadcast."""
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        raise ExprError(f"{name}: one of the two values must be a tensor, to give the dtype")
    dtype = a.dtype if isinstance(a, Tensor) else b.dtype if isinstance(b, Tensor) else None
    return elementwise(select, condition, a, b, name=name, dtype=dtype)


def cast_to(x: Tensor, dtype: str | DType, *, name: str = "cast") -> Tensor:
    """`x` stored as `dtype`; float to int truncates, anything to bool is `!= 0`."""
    storage = dtype_of(dtype)
    return elementwise(lambda v: cast(storage, v), x, name=name, dtype=storage)


def sign(x: Tensor, *, name: str = "sign") -> Tensor:
    """-1, 0 or 1; NaN stays NaN."""

    def body(v: Expr) -> Expr:
        one = as_expr(1, v.dtype)
        lower = select(v < 0, -one, v) if v.dtype.kind != "uint" else v
        return select(v > 0, one, lower)

    return elementwise(body, x, name=name)


def reciprocal(x: Tensor, *, name: str = "reciprocal") -> Tensor:
    """1 / x."""
    return elementwise(lambda v: 1.0 / v, x, name=name)


def relu(x: Tensor, *, name: str = "relu") -> Tensor:
    """max(x, 0)."""
    return elementwise(lambda v: binary("max", v, 0), x, name=name)


def leaky_relu(x: Tensor, alpha: float = 0.01, *, name: str = "leaky_relu") -> Tensor:
    """x where positive, alpha · x elsewhere."""
    return elementwise(lambda v: select(v >= 0, v, v * alpha), x, name=name)


def prelu(x: Tensor, slope: Tensor, *, name: str = "prelu") -> Tensor:
    """x where positive, slope · x elsewhere; the slope broadcasts."""
    return elementwise(lambda v, s: select(v >= 0, v, v * s), x, slope, name=name)


def elu(x: Tensor, alpha: float = 1.0, *, name: str = "elu") -> Tensor:
    """x where positive, alpha · (exp(x) - 1) elsewhere."""
    return elementwise(lambda v: select(v >= 0, v, (call("exp", v) - 1) * alpha), x, name=name)


def selu(
    x: Tensor, alpha: float = 1.67326319, gamma: float = 1.05070102, *, name: str = "selu"
) -> Tensor:
    """gamma · elu(x, alpha), with the constants of ONNX."""

    def body(v: Expr) -> Expr:
        return select(v >= 0, v, (call("exp", v) - 1) * alpha) * gamma

    return elementwise(body, x, name=name)


def clip(
    x: Tensor, low: Value | None = None, high: Value | None = None, *, name: str = "clip"
) -> Tensor:
    """x limited to [low, high]; a bound that is None does not limit."""
    bounds = [("max", low), ("min", high)]
    given = [(op, bound) for op, bound in bounds if bound is not None]

    def body(v: Expr, *limits: Any) -> Expr:
        for (op, _), limit in zip(given, limits, strict=True):
            v = binary(op, v, limit)
        return v

    return elementwise(body, x, *(bound for _, bound in given), name=name)


def gelu(x: Tensor, *, approximate: bool = False, name: str = "gelu") -> Tensor:
    """x · Φ(x), with erf, or with the tanh approximation (Hendrycks and Gimpel, 2016)."""

    def exact(v: Expr) -> Expr:
        return v * 0.5 * (call("erf", v * math.sqrt(0.5)) + 1)

    def fitted(v: Expr) -> Expr:
        inner = (v + v * v * v * 0.044715) * math.sqrt(2 / math.pi)
        return v * 0.5 * (call("tanh", inner) + 1)

    return elementwise(fitted if approximate else exact, x, name=name)


def silu(x: Tensor, *, name: str = "silu") -> Tensor:
    """x · sigmoid(x)."""
    return elementwise(lambda v: v * call("sigmoid", v), x, name=name)


def hard_sigmoid(
    x: Tensor, alpha: float = 0.2, beta: float = 0.5, *, name: str = "hard_sigmoid"
) -> Tensor:
    """alpha · x + beta, limited to [0, 1]."""
    return elementwise(lambda v: _unit(v * alpha + beta), x, name=name)


def hard_swish(x: Tensor, *, name: str = "hard_swish") -> Tensor:
    """x · clip(x / 6 + 1/2, 0, 1)."""
    return elementwise(lambda v: v * _unit(v * (1 / 6) + 0.5), x, name=name)


def _unit(v: Expr) -> Expr:
    return binary("min", binary("max", v, 0), 1)


def softplus(x: Tensor, *, name: str = "softplus") -> Tensor:
    """log(1 + exp(x)), written so that a large x does not overflow."""
    return elementwise(_softplus, x, name=name)


def _softplus(v: Expr) -> Expr:
    return binary("max", v, 0) + call("log", call("exp", -call("abs", v)) + 1)


def mish(x: Tensor, *, name: str = "mish") -> Tensor:
    """x · tanh(softplus(x))."""
    return elementwise(lambda v: v * call("tanh", _softplus(v)), x, name=name)


def softsign(x: Tensor, *, name: str = "softsign") -> Tensor:
    """x / (1 + |x|)."""
    return elementwise(lambda v: v / (call("abs", v) + 1), x, name=name)

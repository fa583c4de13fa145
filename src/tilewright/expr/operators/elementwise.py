"""Elementwise operators with NumPy broadcasting: one stage each.

    add(x, y)     relu(x)     clip(x, 0, 6)     where(mask, x, 0.0)     cast_to(x, "float16")

Operands are tensors or Python numbers; a number takes the dtype of the tensors beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from tilewright.expr.dtypes import FLOAT32, FLOAT64, INT32, DType
from tilewright.expr.dtypes import dtype as dtype_of
from tilewright.expr.nodes import Expr, Tensor, as_expr, binary, call, cast, select
from tilewright.expr.operators.shapes import broadcast_read, broadcast_shapes
from tilewright.expr.tensors import compute
from tilewright.ground.errors import ExprError

Value: TypeAlias = Tensor | float | int | bool

TANH_IS_ONE = 20.0  # of softplus(x), for all x from here on, in float64


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
    shape = broadcast_shapes(*(t.shape for t in tensors))

    def body(*index: Any) -> Any:
        return fn(*(broadcast_read(t, index) if isinstance(t, Tensor) else t for t in operands))

    if dtype is None:
        kind = as_expr(fn(*(_sample(t) for t in operands))).dtype
        dtype = next((t.dtype for t in tensors if t.dtype.compute == kind), kind)
    return compute(shape, body, name=name, dtype=dtype)


def _sample(operand: Value) -> Any:
    return operand[(0,) * operand.rank] if isinstance(operand, Tensor) else operand


def pointwise(fn: Callable[..., Any], default: str, doc: str) -> Callable[..., Tensor]:
    """The operator that computes `fn` of its operands' elements; its stage is called `default`."""

    def operator(*operands: Value, name: str = default) -> Tensor:
        return elementwise(fn, *operands, name=name)

    operator.__name__ = operator.__qualname__ = default
    operator.__doc__ = doc
    return operator


def _binary(op: str, default: str) -> Callable[..., Tensor]:
    doc = f"`{op}` of two operands, broadcast; comparisons give bool."
    return pointwise(lambda x, y: binary(op, x, y), default, doc)


def _bits(fn: str, default: str) -> Callable[..., Tensor]:
    doc = f"`{fn}` of two integer operands, broadcast."
    return pointwise(lambda x, y: call(fn, x, y), default, doc)


def _unary(fn: str, default: str) -> Callable[..., Tensor]:
    return pointwise(lambda x: call(fn, x), default, f"`{fn}` of every element.")


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

bitwise_and = _bits("bitand", "bitwise_and")
bitwise_or = _bits("bitor", "bitwise_or")
bitwise_xor = _bits("bitxor", "bitwise_xor")
shift_left = _bits("shl", "shift_left")
shift_right = _bits("shr", "shift_right")


def quotient(a: Any, b: Any) -> Expr:
    """The expression `a / b`; integers round towards zero."""
    like = _tensor_dtype(a, b)
    if like.is_float:
        return binary("div", a, b)
    x, y = as_expr(a, like), as_expr(b, like)
    if like.kind == "uint":
        return x // y
    below = x // y  # the magnitudes' quotient would not do: the least number has none
    return select((x < 0).ne(y < 0) & (x % y).ne(0), below + 1, below)


def _tensor_dtype(*elements: Any) -> DType:
    """The dtype of the first that is no plain number."""
    return next(as_expr(e).dtype for e in elements if not isinstance(e, (int, float)))


def _remainder(x: Any, y: Any) -> Expr:
    like = _tensor_dtype(x, y)
    a, b = as_expr(x, like), as_expr(y, like)
    if not like.is_float:
        return as_expr(a - b * quotient(a, b))
    # Of magnitudes it is exact, however large the quotient.
    rest = call("abs", a) % call("abs", b)
    return select(a < 0, -rest, rest)


def _sign(v: Expr) -> Expr:
    one = as_expr(1, v.dtype)
    lower = select(v < 0, -one, v) if v.dtype.kind != "uint" else v
    return select(v > 0, one, lower)


def _unit(v: Expr) -> Expr:
    return binary("min", binary("max", v, 0), 1)


def _softplus(v: Expr) -> Expr:
    return binary("max", v, 0) + call("log", call("exp", -call("abs", v)) + 1)


def _tanh_softplus(v: Expr) -> Expr:
    """With e = exp(x): ((1 + e)² - 1) / ((1 + e)² + 1), which is 1 long before e² overflows."""
    e = call("exp", binary("min", v, TANH_IS_ONE))
    rise = e * (e + 2)
    return rise / (rise + 2)


divide = pointwise(quotient, "divide", "`a / b`; integers round towards zero, as ONNX Div does.")
fmod = pointwise(_remainder, "fmod", "a - b · trunc(a / b): the result has the sign of `a`.")
sign = pointwise(_sign, "sign", "-1, 0 or 1; NaN stays NaN.")
reciprocal = pointwise(lambda v: 1.0 / v, "reciprocal", "1 / x.")
relu = pointwise(lambda v: binary("max", v, 0), "relu", "max(x, 0).")
prelu = pointwise(
    lambda v, slope: select(v >= 0, v, v * slope),
    "prelu",
    "x where positive, slope · x elsewhere; the slope broadcasts.",
)
hard_swish = pointwise(
    lambda v: v * _unit(v * (1 / 6) + 0.5), "hard_swish", "x · clip(x / 6 + 1/2, 0, 1)."
)
softplus = pointwise(
    _softplus, "softplus", "log(1 + exp(x)), written so that a large x does not overflow."
)
tanh_softplus = pointwise(_tanh_softplus, "tanh_softplus", "tanh(softplus(x)), of one exponential.")
mish = pointwise(lambda v: v * _tanh_softplus(v), "mish", "x · tanh(softplus(x)).")
softsign = pointwise(lambda v: v / (call("abs", v) + 1), "softsign", "x / (1 + |x|).")


def bitwise_not(x: Tensor, *, name: str = "bitwise_not") -> Tensor:
    """All bits of integers inverted."""
    ones = (1 << x.dtype.bits) - 1 if x.dtype.kind == "uint" else -1
    return elementwise(lambda v: call("bitxor", v, ones), x, name=name)


POWERS: dict[float, Callable[[Any], Any]] = {
    1: lambda v: v,
    2: lambda v: v * v,
    3: lambda v: v * v * v,
    0.5: lambda v: call("sqrt", v),
    -0.5: lambda v: 1.0 / call("sqrt", v),
    -1: lambda v: 1.0 / v,
}


def power(a: Value, b: Value, *, name: str = "power") -> Tensor:
    """`a ** b` in the type of `a`; small exponents that are numbers become products and roots.

    Integers go through float64, exact below 2⁵³.
    """
    if isinstance(a, Tensor) and isinstance(b, (int, float)):
        if b in (POWERS if a.dtype.is_float else (1, 2, 3)):
            return elementwise(POWERS[b], a, name=name)
        b = float(b) if a.dtype.is_float else b
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype != b.dtype:
        b = cast_to(b, a.dtype, name=f"{name}_exponent")

    def body(x: Any, y: Any) -> Expr:
        like = _tensor_dtype(x, y)
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


def leaky_relu(x: Tensor, alpha: float = 0.01, *, name: str = "leaky_relu") -> Tensor:
    """x where positive, alpha · x elsewhere."""
    return elementwise(lambda v: select(v >= 0, v, v * alpha), x, name=name)


def thresholded_relu(x: Tensor, alpha: float = 1.0, *, name: str = "thresholded_relu") -> Tensor:
    """x where above alpha, 0 elsewhere."""
    return elementwise(lambda v: select(v > alpha, v, 0.0), x, name=name)


def shrink(x: Tensor, lambd: float = 0.5, bias: float = 0.0, *, name: str = "shrink") -> Tensor:
    """x moved towards 0 by `bias` outside [-lambd, lambd], 0 inside."""

    def body(v: Expr) -> Expr:
        return select(v < -lambd, v + bias, select(v > lambd, v - bias, 0.0))

    return elementwise(body, x, name=name)


def elu(x: Tensor, alpha: float = 1.0, *, name: str = "elu") -> Tensor:
    """x where positive, alpha · (exp(x) - 1) elsewhere."""
    return elementwise(lambda v: select(v >= 0, v, (call("exp", v) - 1) * alpha), x, name=name)


def celu(x: Tensor, alpha: float = 1.0, *, name: str = "celu") -> Tensor:
    """max(x, 0) + min(0, alpha · (exp(x / alpha) - 1))."""

    def body(v: Expr) -> Expr:
        return binary("max", v, 0) + (call("exp", binary("min", v, 0) / alpha) - 1) * alpha

    return elementwise(body, x, name=name)


def selu(
    x: Tensor,
    alpha: float = 1.67326319217681884765625,
    gamma: float = 1.05070102214813232421875,
    *,
    name: str = "selu",
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


def silu(x: Tensor, alpha: float = 1.0, *, name: str = "silu") -> Tensor:
    """x · sigmoid(alpha · x)."""

    def body(v: Expr) -> Expr:
        return v * call("sigmoid", v if alpha == 1.0 else v * alpha)

    return elementwise(body, x, name=name)


def hard_sigmoid(
    x: Tensor, alpha: float = 0.2, beta: float = 0.5, *, name: str = "hard_sigmoid"
) -> Tensor:
    """alpha · x + beta, limited to [0, 1]."""
    return elementwise(lambda v: _unit(v * alpha + beta), x, name=name)


def dequantize(x: Value, scale: Value, zero: Value = 0, *, name: str = "dequantize") -> Tensor:
    """`(x - zero) * scale` of integers, in float32."""

    def real(x: Any, scale: Any, zero: Any) -> Expr:
        less = cast(INT32, as_expr(x)) - cast(INT32, as_expr(zero))
        return cast(FLOAT32, less) * cast(FLOAT32, as_expr(scale))

    return elementwise(real, x, scale, zero, name=name, dtype=FLOAT32)

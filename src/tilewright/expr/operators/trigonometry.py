"""Trigonometric and hyperbolic functions and their inverses, in terms of the few intrinsics.

    tan(x)   asin(x)   acos(x)   atan(x)   sinh(x)   cosh(x)   asinh(x)   acosh(x)   atanh(x)

Accurate to a few units in the last place also near zero, where the textbook formulas cancel. `atan`
is the rational approximation of the Cephes library (Moshier, 1989), good for float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tilewright.expr.nodes import Expr, call, select
from tilewright.expr.operators.elementwise import pointwise

ATAN_P = (
    *(-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1),
    *(-1.228866684490136173410e2, -6.485021904942025371773e1),
)
ATAN_Q = (
    *(1.0, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2),
    *(4.853903996359136964868e2, 1.945506571482613964425e2),
)
SINH = tuple(1 / math.factorial(n) for n in range(19, 1, -2))


def _polynomial(x: Expr, coefficients: Sequence[float]) -> Expr:
    """Horner's rule, the highest power first."""
    total = x * coefficients[0] + coefficients[1]
    for c in coefficients[2:]:
        total = total * x + c
    return total


def _log1p(x: Expr) -> Expr:
    """log(1 + x); what 1 + x loses is made up by the quotient (Kahan)."""
    whole = x + 1
    plain = call("log", whole)
    return select(whole.eq(1), x, select(whole > 2, plain, plain * (x / (whole - 1))))


def _atan(x: Expr) -> Expr:
    size = call("abs", x)
    large, small = size > math.tan(3 * math.pi / 8), size <= 0.66
    near = select(large, -1 / size, select(small, size, (size - 1) / (size + 1)))
    start = select(large, math.pi / 2, select(small, 0 * size, math.pi / 4))
    square = near * near
    ratio = _polynomial(square, ATAN_P) / _polynomial(square, ATAN_Q)
    found = start + (near + near * square * ratio)
    return select(x < 0, -found, found)


def _sinh(x: Expr) -> Expr:
    square = x * x
    series = x + x * square * _polynomial(square, SINH)
    # Half the exponent, twice: the sum is finite as long as the result is.
    half = call("exp", call("abs", x) * 0.5)
    wide = half * 0.5 * half - 0.5 / half / half
    return select(call("abs", x) < 1, series, select(x < 0, -wide, wide))


def _cosh(x: Expr) -> Expr:
    half = call("exp", call("abs", x) * 0.5)
    return half * 0.5 * half + 0.5 / half / half


def _asinh(x: Expr) -> Expr:
    size = call("abs", x)
    near = _log1p(size + size * size / (call("sqrt", size * size + 1) + 1))
    found = select(size > 1e9, call("log", size) + math.log(2), near)
    return select(x < 0, -found, found)


def _acosh(x: Expr) -> Expr:
    above = x - 1
    near = _log1p(above + call("sqrt", above) * call("sqrt", x + 1))
    return select(x > 1e9, call("log", x) + math.log(2), near)


def _atanh(x: Expr) -> Expr:
    size = call("abs", x)
    found = _log1p(size * 2 / (1 - size)) * 0.5
    return select(x < 0, -found, found)


tan = pointwise(lambda v: call("sin", v) / call("cos", v), "tan", "The tangent; `x` in radians.")
asin = pointwise(
    lambda v: _atan(v / call("sqrt", (1 - v) * (v + 1))), "asin", "The angle whose sine is `x`."
)
acos = pointwise(
    lambda v: _atan(call("sqrt", (1 - v) / (v + 1))) * 2, "acos", "The angle whose cosine is `x`."
)
atan = pointwise(_atan, "atan", "The angle whose tangent is `x`.")
sinh = pointwise(_sinh, "sinh", "The hyperbolic sine.")
cosh = pointwise(_cosh, "cosh", "The hyperbolic cosine.")
asinh = pointwise(_asinh, "asinh", "The number whose hyperbolic sine is `x`.")
acosh = pointwise(_acosh, "acosh", "The number whose hyperbolic cosine is `x`.")
atanh = pointwise(_atanh, "atanh", "The number whose hyperbolic tangent is `x`.")

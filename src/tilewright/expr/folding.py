"""Folding of literals, exactly as the compiled program would compute them.

    cast(int64, 2.7) -> 2       1.5 * 2.0 -> 3.0       x * 1.0 -> x       1.0 / 3.0 stays

A floating-point operation on literals is folded only when its result is exact, so that it has the
same value in float32, in float64 and in real arithmetic. Rewrites keep signed zeros and NaN:
`x + 0.0` and `x * 0.0` stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tilewright.expr.dtypes import BOOL, DType
from tilewright.expr.index.intervals import of_dtype
from tilewright.expr.nodes import (
    COMPARISONS,
    INTEGER_RULES,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    const,
)

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "min": min,
    "max": max,
}
ROUNDING: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
}


def fold(e: Expr) -> Expr:
    """`e`, or a simpler equal expression where its operands are literals (or a literal one)."""
    match e:
        case Binary(op, Const() as a, Const() as b):
            return _binary(e, op, a, b)
        case Binary("mul", x, Const(1.0, kind)) if kind.is_float:
            return x
        case Binary("mul", Const(1.0, kind), x) if kind.is_float:
            return x
        case Binary("div", x, Const(1.0, kind)) if kind.is_float:
            return x
        case Call("neg", (Call("neg", (x,)),)):
            return x
        case Call(fn, (Const(_, kind) as x,)):
            return _call(e, fn, x.held, kind)
        case Cast(to, x) if x.dtype == to:
            return x
        case Cast(to, Const(_, kind) as x):
            return _cast(e, to, x.held, kind)
    return e


def _binary(e: Expr, op: str, a: Const, b: Const) -> Expr:
    kind = a.dtype
    if op in COMPARISONS:
        return Const(COMPARE[op](a.held, b.held), BOOL)
    if kind.is_float:
        return _float(e, op, float(a.held), float(b.held), kind)
    if kind == BOOL or op not in INTEGER_RULES or (op in ("floordiv", "mod") and not b.value):
        return e
    return _fits(e, INTEGER_RULES[op](int(a.value), int(b.value)), kind)


def _fits(e: Expr, value: int, kind: DType) -> Expr:
    limits = of_dtype(kind)
    inside = limits.lo is None or limits.hi is None or limits.lo <= value <= limits.hi
    return Const(value, kind) if inside else e


def _float(e: Expr, op: str, a: float, b: float, kind: DType) -> Expr:
    rule = EXACT.get(op)
    if rule is None or not (math.isfinite(a) and math.isfinite(b)) or (op == "div" and b == 0):
        return e
    exact = rule(Fraction(a), Fraction(b))
    if exact == 0:  # its sign depends on the operands' signs
        return e
    value = float(exact)
    return Const(value, kind) if _exactly(value, exact, kind) else e


def _exactly(value: float, exact: Fraction, kind: DType) -> bool:
    if not math.isfinite(value):
        return False
    with np.errstate(over="ignore"):
        stored = float(np.asarray(value, kind.numpy))
    return math.isfinite(stored) and Fraction(stored) == exact


def _call(e: Expr, fn: str, value: int | float | bool, kind: DType) -> Expr:
    if fn == "not":
        return Const(not value, BOOL)
    if fn == "neg":
        return Const(-value, kind) if kind.is_float else _fits(e, -int(value), kind)
    if fn in ("isnan", "isinf"):
        return Const(getattr(math, fn)(value), BOOL)
    if fn == "abs" and not kind.is_float:
        return _fits(e, abs(int(value)), kind)
    rounded = ROUNDING.get(fn)
    if rounded is None or not kind.is_float or not math.isfinite(value):
        return e
    result = float(rounded(value))
    return Const(math.copysign(result, value) if fn != "abs" else result, kind)


def _cast(e: Expr, to: DType, value: int | float | bool, kind: DType) -> Expr:
    if kind.is_float and not math.isfinite(value):
        return const(value, to) if to.is_float else e
    if to == BOOL:
        return Const(value != 0, BOOL)
    if to.is_float:
        return const(value, to) if _exactly(float(value), Fraction(value), to) else e
    return _fits(e, int(value), to)

"""Scalar math for expressions, as `compute` bodies write it.

    B = compute(A.shape, lambda i, j: exp(A[i, j]) * 2, name="B")

Each takes and returns one element's expression (the tensor operators of `expr.operators` are made
of them). Bare Python numbers take the other operand's dtype; mixing dtypes raises ExprError.
"""

from __future__ import annotations

from typing import Any

from tilewright.expr.nodes import Expr, binary, call


def abs(x: Any) -> Expr:
    """The magnitude."""
    return call("abs", x)


def ceil(x: Any) -> Expr:
    """The least integer not below, as a float."""
    return call("ceil", x)


def cos(x: Any) -> Expr:
    """The cosine; `x` in radians."""
    return call("cos", x)


def dot4(total: Any, a: Any, b: Any) -> Expr:
    """`total` plus four products of bytes: unsigned ones in `a`, signed ones in `b`, int32 all."""
    return call("dot4", total, a, b)


def erf(x: Any) -> Expr:
    """The error function."""
    return call("erf", x)


def exp(x: Any) -> Expr:
    """e to the power `x`."""
    return call("exp", x)


def floor(x: Any) -> Expr:
    """The largest integer not above, as a float."""
    return call("floor", x)


def fma(a: Any, b: Any, c: Any) -> Expr:
    """a * b + c, rounded once."""
    return call("fma", a, b, c)


def isinf(x: Any) -> Expr:
    """Whether `x` is infinite, as a bool."""
    return call("isinf", x)


def isnan(x: Any) -> Expr:
    """Whether `x` is not a number, as a bool."""
    return call("isnan", x)


def log(x: Any) -> Expr:
    """The natural logarithm."""
    return call("log", x)


def maximum(a: Any, b: Any) -> Expr:
    """The larger of two elements (`max` reduces over an axis)."""
    return binary("max", a, b)


def minimum(a: Any, b: Any) -> Expr:
    """The smaller of two elements (`min` reduces over an axis)."""
    return binary("min", a, b)


def power(a: Any, b: Any) -> Expr:
    """a to the power b."""
    return call("pow", a, b)


def round(x: Any) -> Expr:
    """The nearest integer as a float; halves go to the even one."""
    return call("round", x)


def sigmoid(x: Any) -> Expr:
    """1 / (1 + exp(-x))."""
    return call("sigmoid", x)


def sin(x: Any) -> Expr:
    """The sine; `x` in radians."""
    return call("sin", x)


def sqrt(x: Any) -> Expr:
    """The square root."""
    return call("sqrt", x)


def tanh(x: Any) -> Expr:
    """The hyperbolic tangent."""
    return call("tanh", x)


def trunc(x: Any) -> Expr:
    """The integer part, as a float."""
    return call("trunc", x)

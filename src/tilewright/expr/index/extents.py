"""Arithmetic on extents: ints give ints, expressions give lightly folded expressions.

    mul(4, 8) -> 32      mul(T, 1) -> T      ceildiv(T, 1) -> T      minimum(T, T) -> T

Bound inference is written once with these and runs on one candidate (ints) or symbolically
(int64 expressions over decision variables, later evaluated on columns). Extents are at least 0
and divisors at least 1.
"""

from __future__ import annotations

from tilewright.expr.dtypes import INT64
from tilewright.expr.nodes import Binary, Const, Expr, Extent


def plain(x: Extent) -> Extent:
    """`x` with a literal turned into an int."""
    return int(x.value) if isinstance(x, Const) else x


def expression(x: Extent) -> Expr:
    """`x` as an int64 expression."""
    return Const(x, INT64) if isinstance(x, int) else x


def add(a: Extent, b: Extent) -> Extent:
    """`a + b`."""
    a, b = plain(a), plain(b)
    if isinstance(a, int):
        if isinstance(b, int):
            return a + b
        a, b = b, a
    return a if b == 0 else Binary("add", a, expression(b))


def sub(a: Extent, b: Extent) -> Extent:
    """`a - b`."""
    a, b = plain(a), plain(b)
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if isinstance(b, int):
        return add(a, -b)
    return 0 if a == b else Binary("sub", expression(a), b)


def mul(a: Extent, b: Extent) -> Extent:
    """`a * b`."""
    a, b = plain(a), plain(b)
    if isinstance(a, int):
        if isinstance(b, int):
            return a * b
        a, b = b, a
    if isinstance(b, int) and b in (0, 1):
        return a if b else 0
    return Binary("mul", a, expression(b))


def floordiv(a: Extent, b: Extent) -> Extent:
    """`a // b`."""
    a, b = plain(a), plain(b)
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if a == 0 or b == 1:
        return a
    return 1 if a == b else Binary("floordiv", expression(a), expression(b))


def ceildiv(a: Extent, b: Extent) -> Extent:
    """`a / b` rounded up."""
    a, b = plain(a), plain(b)
    if isinstance(a, int):
        if isinstance(b, int):
            return -(-a // b)
        return 1 if a == 1 else add(floordiv(a - 1, b), 1)  # one operation fewer than a + b - 1
    if b == 1:
        return a
    return 1 if a == b else floordiv(add(a, sub(b, 1)), b)


def minimum(a: Extent, b: Extent) -> Extent:
    """The smaller of two."""
    return _extremum("min", plain(a), plain(b))


def maximum(a: Extent, b: Extent) -> Extent:
    """The larger of two."""
    return _extremum("max", plain(a), plain(b))


def _extremum(op: str, a: Extent, b: Extent) -> Extent:
    if isinstance(a, int):
        if isinstance(b, int):
            return min(a, b) if op == "min" else max(a, b)
        a, b = b, a
    if a == b or (isinstance(a, Binary) and a.op == op and b in (a.a, a.b)):
        return a
    return Binary(op, a, expression(b))

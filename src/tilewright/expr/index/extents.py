"""Arithmetic on extents: ints give ints, expressions give lightly folded expressions.

    mul(4, 8) -> 32      mul(T, 1) -> T      ceildiv(T, 1) -> T      minimum(T, T) -> T

Bound inference is written once with these and runs on one candidate (ints) or symbolically
(int64 expressions over decision variables, later evaluated on columns). Extents are at least 0
and divisors at least 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from tilewright.expr.nodes import INTEGER_RULES, Binary, Const, Extent, as_expr, binary


def plain(x: Extent) -> Extent:
    """`x` with a literal turned into an int."""
    return int(x.value) if isinstance(x, Const) else x


def _applied(op: str, a: Extent, b: Extent) -> Extent:
    """`a op b`; of what commutes, a number stands on the right."""
    a, b = plain(a), plain(b)
    if isinstance(a, int):
        if isinstance(b, int):
            return INTEGER_RULES[op](a, b)
        if op in ("add", "mul", "min", "max"):
            a, b = b, a
    return plain(binary(op, a, b)) if isinstance(b, int) else Binary(op, as_expr(a), b)


def add(a: Extent, b: Extent) -> Extent:
    """`a + b`."""
    return _applied("add", a, b)


def sub(a: Extent, b: Extent) -> Extent:
    """`a - b`."""
    a, b = plain(a), plain(b)
    if isinstance(b, int):
        return add(a, -b)
    return 0 if a == b else _applied("sub", a, b)


def mul(a: Extent, b: Extent) -> Extent:
    """`a * b`."""
    return _applied("mul", a, b)


def product(of: Iterable[Extent]) -> Extent:
    """Of all of them."""
    one: Extent = 1
    return reduce(mul, of, one)


def floordiv(a: Extent, b: Extent) -> Extent:
    """`a // b`."""
    a, b = plain(a), plain(b)
    if a == b:
        return 1
    return a if a == 0 else _applied("floordiv", a, b)


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
    for x, y in ((a, b), (b, a)):
        if x == y or (isinstance(x, Binary) and x.op == op and y in (x.a, x.b)):
            return x
    return _applied(op, a, b)

"""How many operations of which kind one execution of a store takes.

    operations(a * b, "sum", FLOAT32, {"i", "k"})     ((("float", "mad"), 1),)

By ("float" | "int" | "bool" | "select", kind), sorted: what `Store.operations` holds. A schedule
counts on the expression of the math, before tiles enter its indices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tilewright.expr.dtypes import DType
from tilewright.expr.nodes import (
    COMPARISONS,
    NARROWING,
    ROUNDINGS,
    Binary,
    Call,
    Expr,
    Read,
    Select,
    children,
    free_vars,
    reads,
)
from tilewright.nest.nodes import Operations

OPERATIONS = ("mad", "addsub", "mul", "divmod", "cmp", "math", "other")


def operations(
    value: Expr, reduce: str | None, dtype: DType, axes: Collection[str] | None = None
) -> Operations:
    """Those of `value`, and of its reduction into an element of type `dtype`; a product that is
    summed counts as one multiply-add.

    With `axes`, the variables of the math, indices count, too, but not arithmetic on extents alone
    (without `axes` and reads): in a program it is a literal. Without, loops are in the indices
    already, and these do not count.
    """
    counts: dict[tuple[str, str], int] = {}
    for each in _found(value, reduce, dtype, None if axes is None else frozenset(axes)):
        counts[each] = counts.get(each, 0) + 1
    return tuple(sorted(counts.items()))


def _found(
    value: Expr, reduce: str | None, dtype: DType, axes: frozenset[str] | None
) -> Iterator[tuple[str, str]]:
    kind = "float" if dtype.is_float else "int"
    if reduce == "sum" and isinstance(value, Binary) and value.op == "mul":
        yield kind, "mad"
        yield from _of(value.a, axes)
        yield from _of(value.b, axes)
        return
    if reduce is not None:
        yield kind, {"sum": "addsub", "prod": "mul"}.get(reduce, "cmp")
    yield from _of(value, axes)


def _of(e: Expr, axes: frozenset[str] | None) -> Iterator[tuple[str, str]]:
    if axes is None and isinstance(e, Read):
        return
    if axes is not None and isinstance(e, Binary) and not reads(e) and not free_vars(e) & axes:
        return
    match e:
        case Select():
            yield "select", "select"
        case Binary("and" | "or"):
            yield "bool", "bool"
        case Binary() | Call():
            yield _class_of(e), _kind(e)
    for part in children(e):
        yield from _of(part, axes)


def _class_of(e: Binary | Call) -> str:
    operand = e.a if isinstance(e, Binary) else e
    return "float" if operand.dtype.is_float else "int"


def _kind(e: Binary | Call) -> str:
    match e:
        case Binary("add" | "sub"):
            return "addsub"
        case Binary("mul"):
            return "mul"
        case Binary("div" | "floordiv" | "mod"):
            return "divmod"
        case Binary(op) if op in COMPARISONS or op in ("min", "max"):
            return "cmp"
        case Call(fn) if fn in ("neg", "abs", "not", *ROUNDINGS, *NARROWING):
            return "other"
    return "math"

"""How many operations of which kind one execution of a store takes.

    operations(a * b, "sum", FLOAT32, {"i", "k"})     ((("float", "mad"), 1),)

By ("float" | "int" | "bool" | "select", kind), sorted: what `Store.operations` holds. A schedule
counts on the expression of the math, before tiles enter its indices.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

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
    Var,
)
from tilewright.expr.traversal import PerNode, children
from tilewright.nest.nodes import Operations

Counts: TypeAlias = dict[tuple[str, str], int]
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
    kind = "float" if dtype.is_float else "int"
    own: Counts = {}
    parts: tuple[Expr, ...] = (value,)
    if reduce == "sum" and isinstance(value, Binary) and value.op == "mul":
        own, parts = {(kind, "mad"): 1}, children(value)
    elif reduce is not None:
        own = {(kind, {"sum": "addsub", "prod": "mul"}.get(reduce, "cmp")): 1}
    return tuple(sorted(_sum([own, *map(_counter(axes), parts)]).items()))


def _counter(axes: Collection[str] | None) -> PerNode[Counts]:
    """Counts the operations of expressions; what stands in several places counts in each."""
    moving = frozenset(axes or ())
    is_literal = PerNode[bool](
        lambda e, ask: (
            not isinstance(e, Read)
            and not (isinstance(e, Var) and e.name in moving)
            and all(map(ask, children(e)))
        )
    )

    def found(e: Expr, ask: Callable[[Expr], Counts]) -> Counts:
        if isinstance(e, Read) if axes is None else isinstance(e, Binary) and is_literal(e):
            return {}
        match e:
            case Select():
                own = {("select", "select"): 1}
            case Binary("and" | "or"):
                own = {("bool", "bool"): 1}
            case Binary() | Call():
                own = {(_class_of(e), _kind(e)): 1}
            case _:
                own = {}
        return _sum([own, *map(ask, children(e))])

    return PerNode(found)


def _sum(parts: Sequence[Counts]) -> Counts:
    total: Counts = {}
    for part in parts:
        for operation, count in part.items():
            total[operation] = total.get(operation, 0) + count
    return total


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

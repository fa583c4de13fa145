"""Windows: all values that an index takes while some loops stand still and others run.

    window(y.0 * 7 + y.1 + ry, y.0 outside, y.1 < 7 and ry < 3 inside) -> base y.0 * 7, span 9

An index expression is split into a base (a function of the loops outside) and a span (how far it
moves over all loops inside). Everything is arithmetic on extents, ints or expressions over decision
variables.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.expr.index.extents import add, ceildiv, maximum, minimum, mul, plain, sub
from tilewright.expr.index.simplify import FALSE, affine, simplify
from tilewright.expr.nodes import (
    Axis,
    Binary,
    Const,
    Expr,
    Extent,
    Select,
    Var,
    as_expr,
    binary,
    select,
)
from tilewright.expr.traversal import free_vars, reads


@dataclass(frozen=True, slots=True)
class Window:
    """All values `base <= x < base + span` that an index takes.

    `rough`: the span is more than the index needs (a division whose base is not aligned), so it
    may cover a whole axis although loops outside still move the base.
    """

    base: Expr
    span: Extent
    rough: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a window is looked at: iterations of loop variables inside and outside of it.

    A loop that is inside or outside by a position decision is in both; where it is on the other
    side its extent there is 1.
    """

    inside: dict[str, Extent]
    outside: dict[str, Extent]


FULL = None  # an index whose window is not known: take the whole axis


def window(e: Expr, where: Surroundings) -> Window | None:
    """Split an index into base and span; None where it can be anything."""
    match e:
        case Const():
            return Window(e, 1)
        case Var(name, _) if name in where.inside and name not in where.outside:
            return Window(as_expr(0), where.inside[name])
        case Var(name, _):
            return Window(e, where.inside.get(name, 1))
        case Binary(op, a, b):
            left, right = window(a, where), window(b, where)
            return FULL if left is None or right is None else _combine(op, left, right, where)
        case Select() if not reads(e) and not free_vars(e) & where.inside.keys():
            return Window(e, 1)  # decisions or outer loops choose; data might lie past a guard
        case Select(_, a, b):
            left, right = window(a, where), window(b, where)
            return FULL if left is None or right is None else _hull(left, right)
    return FULL


def _combine(op: str, a: Window, b: Window, where: Surroundings) -> Window | None:
    if a.span == 1 and b.span == 1:
        return Window(binary(op, a.base, b.base), 1)
    rough = a.rough or b.rough
    match op:
        case "add":
            return Window(a.base + b.base, sub(add(a.span, b.span), 1), rough)
        case "sub":
            low = b.base + as_expr(sub(b.span, 1))
            return Window(a.base - low, sub(add(a.span, b.span), 1), rough)
        case "mul":
            if b.span == 1:
                return _scale(a, b.base)
            return _scale(b, a.base) if a.span == 1 else FULL
        case "floordiv" if b.span == 1:
            return _floordiv(a, b.base, where)
        case "mod" if b.span == 1:
            return Window(as_expr(0), plain(b.base))
    return FULL


def _scale(w: Window, by: Expr) -> Window:
    reach = sub(w.span, 1)
    if isinstance(by, Const) and by.value < 0:
        low = (w.base + as_expr(reach)) * by
        return Window(low, add(mul(reach, -int(by.value)), 1), w.rough)
    return Window(w.base * by, add(mul(reach, plain(by)), 1), w.rough)


def _floordiv(a: Window, by: Expr, where: Surroundings) -> Window:
    base, divisor = simplify(a.base // by), plain(by)
    exact = ceildiv(a.span, divisor)
    # an unaligned base may reach one element further
    further = add(ceildiv(sub(a.span, 1), divisor), 1)
    match _is_multiple(a.base, by, where):
        case Const(True, _):
            return Window(base, exact, a.rough)
        case Const():
            return Window(base, further, True)
        case aligned:
            return Window(base, plain(select(aligned, as_expr(exact), as_expr(further))), True)


def _is_multiple(base: Expr, by: Expr, where: Surroundings) -> Expr:
    """The condition that `by` divides `base` for all values of the loops that really run."""
    split = affine(base, where.outside)
    if split is None:
        return FALSE
    terms, rest = split
    found = (rest % by).eq(0)
    for name, k in terms.items():
        found = found & ((k % by).eq(0) | as_expr(where.outside[name]).eq(1))
    return simplify(found)


def _hull(a: Window, b: Window) -> Window | None:
    gap = simplify(b.base - a.base)
    if not isinstance(gap, Const):
        return FULL
    shift, rough = int(gap.value), a.rough or b.rough
    if shift >= 0:
        return Window(a.base, maximum(a.span, add(b.span, shift)), rough)
    return Window(b.base, maximum(b.span, sub(a.span, shift)), rough)


def union(old: Window | None, new: Window | None, axis: Axis) -> Window:
    everything = Window(as_expr(0), axis.extent)
    if new is None:
        return everything
    if old is None:
        return new
    return _hull(old, new) or everything


def clip(w: Window | None, axis: Axis, has_sizes: bool) -> Window:
    """At most the whole axis; a window as large as the axis starts at 0. Where extents are sizes
    of the program tiles of them are not clipped.
    """
    if w is None:
        return Window(as_expr(0), axis.extent)
    span = plain(simplify(as_expr(w.span)))
    if isinstance(span, int) and isinstance(axis.extent, int):
        if span >= axis.extent:
            return Window(as_expr(0), axis.extent)
        return Window(simplify(w.base), span)
    if has_sizes and not isinstance(axis.extent, int):
        base = simplify(w.base)
        whole = base == as_expr(0) and not isinstance(span, int)
        return Window(base, axis.extent if whole else span)
    if not w.rough:
        return Window(simplify(w.base), minimum(span, axis.extent))
    moves = select(as_expr(span) < as_expr(axis.extent), as_expr(1), as_expr(0))
    return Window(simplify(w.base * moves), minimum(span, axis.extent))

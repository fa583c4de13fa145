"""What is known at a place of a nest: ranges of the loops around it, conditions that hold there.

    facts = Facts.of({"y": Interval(0, 7), "r": Interval(0, 2)})
    facts.assume(y * 2 + r < 15).bounds(y * 2 + r + 1)  ->  Interval(0 + 1, 14 + 1)

A condition narrows the variables in it, and any expression that differs from it by a bounded
term. `bounds` is sound, not always exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tilewright.expr.dtypes import INT64
from tilewright.expr.intervals import (
    ARITHMETIC_BOUNDS,
    Interval,
    add,
    floordiv,
    interval,
    negate,
    point,
)
from tilewright.expr.nodes import Binary, Call, Const, Expr, Select, Var, free_vars
from tilewright.expr.simplify import Simplifier

NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
# a op b, as bounds of a - b.
DIFFERENCES = {
    "lt": Interval(None, -1),
    "le": Interval(None, 0),
    "gt": Interval(1, None),
    "ge": Interval(0, None),
    "eq": point(0),
}


def intersection(a: Interval, b: Interval) -> Interval:
    """The integers in both; empty where `lo > hi`."""
    lo = b.lo if a.lo is None else a.lo if b.lo is None else max(a.lo, b.lo)
    hi = b.hi if a.hi is None else a.hi if b.hi is None else min(a.hi, b.hi)
    return Interval(lo, hi)


def is_empty(a: Interval) -> bool:
    """Whether no integer lies in `a`."""
    return a.lo is not None and a.hi is not None and a.lo > a.hi


@dataclass(frozen=True, slots=True)
class Facts:
    """Bounds of variables, and bounds of expressions that hold besides."""

    ranges: Mapping[str, Interval]
    known: tuple[tuple[Expr, Interval], ...]
    simplifier: Simplifier

    @classmethod
    def of(cls, ranges: Mapping[str, Interval]) -> Facts:
        """Variables in `ranges`, nothing else known."""
        return cls(dict(ranges), (), Simplifier(ranges))

    @property
    def impossible(self) -> bool:
        """Whether no values of the variables satisfy the facts: the place is never reached."""
        return any(map(is_empty, self.ranges.values())) or any(is_empty(i) for _, i in self.known)

    def loop(self, var: Var, extent: int) -> Facts:
        """Inside a loop: 0 <= var < extent."""
        ranges = {**self.ranges, var.name: Interval(0, extent - 1)}
        return Facts(ranges, self.known, Simplifier(ranges))

    def assume(self, cond: Expr, holds: bool = True) -> Facts:
        """The facts where `cond` is true (or false, with `holds=False`)."""
        found = [(self.simplifier.simplify(e), i) for e, i in _differences(cond, holds)]
        if not found:
            return self
        known = [*self.known, *found]
        ranges = dict(self.ranges)
        # Twice: what the second condition says of a variable may help the first.
        for e, i in known * 2:
            _narrow(ranges, self.simplifier, e, i)
        checked = tuple((e, intersection(i, interval(e, ranges))) for e, i in known)
        if any(map(is_empty, ranges.values())):
            return Facts(ranges, checked, self.simplifier)
        return Facts(ranges, checked, Simplifier(ranges))

    def bounds(self, e: Expr) -> Interval:
        """Bounds of an int64 expression here."""
        return self._bounds(self.simplifier.simplify(e))

    def _bounds(self, e: Expr) -> Interval:
        found = self.simplifier.bounds(e)
        match e:
            case Const() | Var():
                pass
            case Binary(op, a, b) if op in ARITHMETIC_BOUNDS and self.known:
                rule = ARITHMETIC_BOUNDS[op]
                found = intersection(found, rule(self._bounds(a), self._bounds(b)))
            case Select(cond, a, b) if e.dtype == INT64:
                yes, no = self.assume(cond), self.assume(cond, holds=False)
                found = intersection(found, _either(yes, a, no, b))
        names = free_vars(e) if self.known else set()
        for fact, bounds in self.known:
            if names & free_vars(fact):
                ahead = add(bounds, self.simplifier.bounds(e - fact))
                behind = add(negate(bounds), self.simplifier.bounds(e + fact))
                found = intersection(found, intersection(ahead, behind))
        return found


def _either(yes: Facts, a: Expr, no: Facts, b: Expr) -> Interval:
    if yes.impossible:
        return no.bounds(b)
    return yes.bounds(a) if no.impossible else yes.bounds(a).union(no.bounds(b))


def _differences(cond: Expr, holds: bool) -> Iterator[tuple[Expr, Interval]]:
    """Expressions and the bounds that the condition (or its negation) gives them."""
    match cond:
        case Call("not", (x,)):
            yield from _differences(x, not holds)
        case Binary("and" | "or" as op, a, b) if (op == "and") == holds:
            yield from _differences(a, holds)
            yield from _differences(b, holds)
        case Binary(op, a, b) if op in NEGATED and a.dtype == INT64:
            bounds = DIFFERENCES.get(op if holds else NEGATED[op])
            if bounds is not None:
                yield a - b, bounds


def _narrow(ranges: dict[str, Interval], simplifier: Simplifier, e: Expr, bounds: Interval) -> None:
    """Narrow each variable v of `c * v + rest` to what `bounds` of the sum leave it."""
    names = free_vars(e)
    split = simplifier.affine(e, names)
    if split is None:
        return
    terms, constant = split
    for name, c in terms.items():
        if not isinstance(c, Const) or name not in ranges:
            continue
        rest = interval(constant, ranges)
        for other, k in terms.items():
            if other != name:
                rest = add(rest, interval(k * Var(other), ranges))
        left = add(bounds, negate(rest))
        ranges[name] = intersection(ranges[name], _divided(left, int(c.value)))


def _divided(a: Interval, c: int) -> Interval:
    """The integers v with c * v in `a`."""
    if c < 0:
        return _divided(negate(a), -c)
    hi = floordiv(a, point(c)).hi
    lo = negate(floordiv(negate(a), point(c))).lo
    return Interval(lo, hi)

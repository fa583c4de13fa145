"""Affine forms of index expressions: `const + sum(coefficient * name)`.

    y.0*28 + y.1*7 + ry - 1   ->   Affine(-1, (("ry", 1), ("y.0", 28), ("y.1", 7)))

A name is a loop variable, or stands for an index expression that is no such sum (a floor division,
a modulo, a table read): `AffineForms.opaque` remembers its definition. Terms are sorted, so equal
forms are equal values and can be dictionary keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from tilewright.expr.dtypes import INT64
from tilewright.expr.index.intervals import (
    AT_LEAST_ZERO,
    NATURAL,
    UNBOUNDED,
    Interval,
    add,
    intersection,
    is_empty,
    may_wrap,
    multiples,
    negate,
)
from tilewright.expr.nodes import COMPARISONS, Binary, Call, Const, Expr, Var, as_expr
from tilewright.expr.traversal import PerNode, free_vars

Terms: TypeAlias = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Affine:
    """`const + sum(k * name for name, k in terms)`; terms are sorted, no coefficient is 0."""

    const: int
    terms: Terms = ()

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """`self + other * factor`."""
        const = self.const + other.const * factor
        if not other.terms or factor == 0:
            return Affine(const if factor else self.const, self.terms)
        if not self.terms:
            return Affine(const, tuple((n, k * factor) for n, k in other.terms))
        total = dict(self.terms)
        for name, k in other.terms:
            total[name] = total.get(name, 0) + k * factor
        return Affine(const, _sorted(total.items()))

    def shifted(self, by: int) -> Affine:
        """`self + by`."""
        return Affine(self.const + by, self.terms)

    def replaced(self, values: Mapping[str, Affine]) -> Affine:
        """The form with every name replaced by its value; all must be given."""
        const, total = self.const, dict[str, int]()
        for name, k in self.terms:
            value = values[name]
            const += value.const * k
            for n, c in value.terms:
                total[n] = total.get(n, 0) + c * k
        return Affine(const, _sorted(total.items()) if total else ())

    def times(self, factor: int) -> Affine:
        """`self * factor`."""
        return ZERO.plus(self, factor)

    def wrapped(self) -> Affine:
        """The form with numbers that int64 holds, of the same value there."""
        terms = tuple((n, INT64.wrapped(k)) for n, k in self.terms)
        return Affine(INT64.wrapped(self.const), tuple(t for t in terms if t[1]))

    def coefficient(self, name: str) -> int:
        """The coefficient of `name` (0 where it does not occur)."""
        for n, k in self.terms:
            if n == name:
                return k
        return 0

    def without(self, name: str) -> Affine:
        """The form with the term of `name` left out."""
        return Affine(self.const, tuple(t for t in self.terms if t[0] != name))

    def split(self, names: frozenset[str]) -> tuple[Affine, Affine]:
        """(terms over `names` with const 0, the rest with the constant)."""
        inside = tuple(t for t in self.terms if t[0] in names)
        outside = tuple(t for t in self.terms if t[0] not in names)
        return Affine(0, inside), Affine(self.const, outside)

    def at_least_zero(self, op: str) -> Affine:
        """What is `>= 0` where the form is `op` 0, by an order comparison."""
        factor, shift = AT_LEAST_ZERO[op]
        return self.times(factor).shifted(shift)

    def stride(self) -> int:
        """The greatest common divisor of the coefficients (0 for a constant)."""
        return gcd(*(k for _, k in self.terms))

    def bounds(self, ranges: Mapping[str, Interval]) -> Interval:
        """The smallest and largest value for names in `ranges` (None: unbounded)."""
        lo: int | None = self.const
        hi: int | None = self.const
        for name, k in self.terms:
            reach = ranges.get(name, UNBOUNDED)
            low, high = (reach.lo, reach.hi) if k > 0 else (reach.hi, reach.lo)
            lo = None if lo is None or low is None else lo + k * low
            hi = None if hi is None or high is None else hi + k * high
        return Interval(lo, hi)

    def narrow(self, ranges: dict[str, Interval], within: Interval = NATURAL) -> None:
        """Narrow the names in `ranges` to what they are where the form lies `within`."""
        for name, k in self.terms:
            if name in ranges:
                rest = self.without(name).bounds(ranges)
                found = multiples(add(within, negate(rest)), k)
                ranges[name] = intersection(ranges[name], found)


ZERO = Affine(0)


def _sorted(items: Iterable[tuple[str, int]]) -> Terms:
    return tuple(sorted(t for t in items if t[1]))


class AffineForms:
    """Turns index expressions into affine forms, naming what is none.

    `opaque` maps each such name to its expression, `inside` to the loop variables within it.

        of(e)           the affine form of an int64 expression
        condition(e)    a comparison of integers as a form that is `>= 0` where it holds, None for
                        other conditions                               i < 7   ->   6 - i

    Both are remembered for each node.
    """

    def __init__(self) -> None:
        self.opaque: dict[str, Expr] = {}
        self.inside: dict[str, frozenset[str]] = {}
        self._names: dict[Expr, str] = {}
        self.condition = PerNode(self._condition)
        self.of = PerNode(self._of)

    def difference(self, e: Expr) -> Affine | None:
        """`a - b` of a comparison of integers that do not wrap; None for other conditions."""
        match e:
            case Binary(op, a, b) if op in COMPARISONS and a.dtype == INT64:
                return None if may_wrap(a) or may_wrap(b) else self.of(a).plus(self.of(b), -1)
        return None

    def _condition(self, e: Expr, _: Callable[[Expr], Affine | None]) -> Affine | None:
        match e:
            case Binary(op, _, _) if op in AT_LEAST_ZERO:
                difference = self.difference(e)
                return None if difference is None else difference.at_least_zero(op)
        return None

    def narrowed(
        self, ranges: Mapping[str, Interval], conds: Iterable[Expr]
    ) -> dict[str, Interval]:
        """`ranges` where the conditions hold, too. One that leaves nothing is left out."""
        known = dict(ranges)
        for cond in conds:
            form, inside = self.condition(cond), dict(known)
            if form is not None:
                form.narrow(inside)
            known = known if any(map(is_empty, inside.values())) else inside
        return known

    def _of(self, e: Expr, _: Callable[[Expr], Affine]) -> Affine:
        match e:
            case Const(value, _):
                return Affine(int(value))
            case Var(name, _):
                return Affine(0, ((name, 1),))
            case Binary("add", a, b):
                return self.of(a).plus(self.of(b))
            case Binary("sub", a, b):
                return self.of(a).plus(self.of(b), -1)
            case Binary("mul", a, b):
                left, right = self.of(a), self.of(b)
                if not right.terms:
                    return left.times(right.const)
                if not left.terms:
                    return right.times(left.const)
            case Call("neg", (x,)):
                return self.of(x).times(-1)
        return self.atom(e)

    def product(self, a: Affine, b: Affine) -> Affine:
        """`a * b`, multiplied out: what is no number times another is an opaque name.

        (4*i.0 + i.1) * (64*W)    ->    256 * (i.0*W) + 64 * (i.1*W)
        """
        found = a.times(b.const)
        for m, k in b.terms:
            found = found.plus(Affine(0, ((m, a.const),)) if a.const else ZERO, k)
            for n, j in a.terms:
                found = found.plus(self.atom(self.leaf(n) * self.leaf(m)), j * k)
        return found

    def leaf(self, name: str) -> Expr:
        """The expression that a name of a form stands for."""
        return self.opaque.get(name, Var(name))

    def atom(self, e: Expr) -> Affine:
        """The form of an expression that is not looked into."""
        name = self._names.get(e)
        if name is None:
            name = f"#{len(self._names)}"
            self._names[e] = name
            self.opaque[name] = e
            self.inside[name] = frozenset(free_vars(e))
        return Affine(0, ((name, 1),))

    def variables(self, form: Affine) -> frozenset[str]:
        """Loop variables of a form, those within opaque names included."""
        found: set[str] = set()
        for name, _ in form.terms:
            found |= self.inside.get(name, frozenset((name,)))
        return frozenset(found)

    def expr(self, form: Affine) -> Expr:
        """The expression of a affine form."""
        total: Expr | None = None
        for name, k in form.terms:
            leaf = self.leaf(name)
            term = leaf if k == 1 else leaf * k
            total = term if total is None else total + term
        if total is None:
            return as_expr(form.const)
        return total if form.const == 0 else total + form.const

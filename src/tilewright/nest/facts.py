"""What is known at a place of a nest: ranges of the loops around it, conditions that hold there.

    facts = Facts.of({"y": Interval(0, 7), "r": Interval(0, 2)})
    facts.assume(y * 2 + r < 15).bounds(y * 4 + r)  ->  [0, 28]: 2 · (y * 2 + r) - r

Expressions are read as linear forms over atoms (variables, quotients, remainders, …). A condition
bounds its form; it narrows the variables in it and every form that contains a multiple of it.
`bounds` is sound, not always exact; `tried` is exact, for variables of few values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import gcd, lcm, prod
from typing import TypeAlias

import numpy as np

from tilewright.expr.dtypes import INT64
from tilewright.expr.evaluate import Array, evaluate
from tilewright.expr.index.intervals import (
    ARITHMETIC_BOUNDS,
    AT_LEAST_ZERO,
    FAR,
    NEGATED,
    UNBOUNDED,
    Interval,
    add,
    cast,
    floordiv,
    interval,
    magnitude,
    may_wrap,
    negate,
    point,
    scale,
)
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import (
    Binary,
    Call,
    Const,
    Expr,
    Select,
    Var,
    as_expr,
    free_vars,
    reads,
)

Form: TypeAlias = dict[Expr, int]
"""Σ coefficient · atom."""

MOST_TRIED = 1 << 22
"""Combinations of values."""


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
    """Bounds of variables, and bounds of linear forms that hold besides."""

    ranges: Mapping[str, Interval]
    known: tuple[tuple[Form, Interval], ...]
    simplifier: Simplifier
    _atoms: dict[Expr, Interval] = field(default_factory=dict)

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
        known = list(self.known)
        for a, b, bounds in _differences(cond, holds):
            (left, m), (right, n) = self._form(a), self._form(b)
            form, constant = _plus(left, right, -1), m - n
            _include(known, form, constant, bounds)
            for whole in self._undivided_facts(form, add(bounds, point(-constant))):
                _include(known, *whole)
        if known == list(self.known):
            return self
        ranges = dict(self.ranges)
        # Twice: what the second condition says of a variable may help the first.
        for form, bounds in known * 2:
            self._narrow(ranges, form, bounds)
        if any(map(is_empty, ranges.values())):
            return Facts(ranges, tuple(known), self.simplifier)
        found = Facts(ranges, tuple(known), Simplifier(ranges))
        for form, bounds in tuple(known):
            # Narrower ranges may write the same sum otherwise: x % 9 becomes x - 9.
            again, constant = found._form(_expression(form))
            if again and again != form:
                _include(known, again, constant, bounds)
        sums = tuple((form, intersection(b, found._sum(form))) for form, b in known)
        return Facts(ranges, sums, found.simplifier)

    def _undivided_facts(self, form: Form, b: Interval) -> Iterator[tuple[Form, int, Interval]]:
        """`k·(a // c) + rest` in [lo, hi] puts `k·a + c·rest` in [c·lo, c·hi + k·(c - 1)]."""
        for atom, k in form.items():
            match atom:
                case Binary("floordiv", a, Const(c, _)) if 1 < c < FAR:
                    inner, constant = self._form(a)
                    rest = {other: m for other, m in form.items() if other != atom}
                    whole = _plus(_times(rest, int(c)), inner, k)
                    slack = Interval(*sorted((0, k * (int(c) - 1))))
                    yield whole, k * constant, add(scale(b, int(c)), slack)

    def bounds(self, e: Expr) -> Interval:
        """Bounds of an int64 expression here."""
        form, constant = self._form(e)
        return add(self._bounds(form), point(constant))

    def tried(self, e: Expr) -> Interval:
        """Bounds of an int64 expression here, by its values for all that variables may be: of its
        own, and of those that conditions on them are about. UNBOUNDED where these are too many.
        """
        facts = [(_expression(form), bounds) for form, bounds in self.known]
        for conditions in (facts, []):
            own = free_vars(e)
            mine = [c for c in conditions if free_vars(c[0]) & own and not reads(c[0])]
            names = sorted(own.union(*(free_vars(c) for c, _ in mine)))
            ranges = [self.ranges.get(name, UNBOUNDED) for name in names]
            known = [(r.lo, r.hi) for r in ranges if r.lo is not None and r.hi is not None]
            count = prod(hi - lo + 1 for lo, hi in known)
            if len(known) == len(names) and count <= MOST_TRIED and not reads(e):
                values = np.ix_(*(np.arange(lo, hi + 1) for lo, hi in known))
                return _every(e, mine, dict(zip(names, values, strict=True)))
        return UNBOUNDED

    def _form(self, e: Expr) -> tuple[Form, int]:
        """The linear form and the constant of an int64 expression."""
        form: Form = {}
        constant = _collect(self.simplifier.simplify(e), 1, form)
        return {atom: k for atom, k in form.items() if k}, constant

    def _bounds(self, form: Form) -> Interval:
        found = self._reduced(form, 0)
        for atom, k in form.items():
            quotient = self._quotient(atom)
            if quotient is not None:
                found = intersection(found, self._undivided(form, atom, k, *quotient))
                for other in form:
                    if form[other] == -k and k > 0:
                        found = intersection(found, self._difference(form, atom, other))
        return found

    def _difference(self, form: Form, x: Expr, y: Expr) -> Interval:
        """`k·(a // c) - k·(b // c) + rest` by the bounds of `a - b`; `b // d` is `b·n // (d·n)`."""
        upper, lower = self._quotient(x), self._quotient(y)
        if upper is None or lower is None:
            return UNBOUNDED
        (a, p), (b, q) = upper, lower
        c, k = lcm(p, q), form[x]
        gap = self.bounds(a * (c // p) - b * (c // q))
        above = negate(floordiv(negate(gap), point(c)))
        steps = Interval(floordiv(gap, point(c)).lo, above.hi)
        rest = {atom: m for atom, m in form.items() if atom not in (x, y)}
        return add(scale(steps, k), self._bounds(rest))

    def _reduced(self, form: Form, start: int) -> Interval:
        """Bounds of `form`, also by the known forms from number `start` on.

        `p · form = q · fact + rest`, where p and q are such that the rest has an atom less.
        """
        found = self._sum(form)
        for number in range(start, len(self.known)):
            fact, bounds = self.known[number]
            for p, q in _ratios(form, fact):
                rest = self._reduced(_plus(_times(form, p), fact, -q), number + 1)
                found = intersection(found, _divided(add(rest, scale(bounds, q)), p))
        return found

    def _undivided(self, form: Form, atom: Expr, k: int, a: Expr, c: int) -> Interval:
        """`k·x + k·(a // c) + rest` is `k·((c·x + a) // c) + rest`."""
        others = {other: m for other, m in form.items() if other != atom}
        whole = {other: m // k * c for other, m in others.items() if m % k == 0}
        rest = {other: m for other, m in others.items() if m % k}
        inner, constant = self._form(a)
        if atom in inner:
            return UNBOUNDED
        bounds = add(self._bounds(_plus(whole, inner, 1)), point(constant))
        return add(scale(floordiv(bounds, point(c)), k), self._bounds(rest))

    def _sum(self, form: Form) -> Interval:
        found = point(0)
        for atom, k in form.items():
            found = add(found, scale(self._atom(atom), k))
        return found

    def _atom(self, e: Expr) -> Interval:
        if e not in self._atoms:
            # A known form may hold the atom itself: meanwhile it has its plain bounds.
            self._atoms[e] = interval(e, self.ranges)
            self._atoms[e] = self._atom_bounds(e, self._atoms[e])
        return self._atoms[e]

    def _atom_bounds(self, e: Expr, known: Interval) -> Interval:
        match e:
            case Binary(op, a, b) if op in ARITHMETIC_BOUNDS:
                rule = ARITHMETIC_BOUNDS[op]
                found = intersection(known, cast(rule(self.bounds(a), self.bounds(b)), INT64))
                quotient = self._quotient(e) if op == "mod" else None
                if quotient is not None:
                    a, c = quotient
                    found = intersection(found, floordiv(self.bounds(a), point(c)))
                return found
            case Call("abs", (x,)):
                return intersection(known, magnitude(self.bounds(x)))
            case Select(cond, a, b):
                yes, no = self.assume(cond), self.assume(cond, holds=False)
                return intersection(known, _either(yes, a, no, b))
        return known

    def _quotient(self, e: Expr) -> tuple[Expr, int] | None:
        """`(a, c)` where `e` is `a // c`: `(x + z // c) % b` is `((c·x + z) % (c·b)) // c`."""
        match e:
            case Binary("floordiv", a, Const(c, _)) if c > 0:
                return a, int(c)
            case Binary("mod", a, Const(b, _)) if b > 0:
                form, constant = self._form(a)
                for atom, k in form.items():
                    match atom:
                        case Binary("floordiv", z, Const(c, _)) if 0 < c < FAR // b and k == 1:
                            rest = {other: m for other, m in form.items() if other != atom}
                            whole = (_expression(rest) + constant) * c + z
                            return whole % (c * b), int(c)
        return None

    def _narrow(self, ranges: dict[str, Interval], form: Form, bounds: Interval) -> None:
        """Narrow each variable v of `c · v + rest` to what `bounds` of the sum leave it."""
        for atom, c in form.items():
            if not isinstance(atom, Var):
                continue
            rest = point(0)
            for other, k in form.items():
                if other != atom:
                    rest = add(rest, scale(interval(other, ranges), k))
            left = _divided(add(bounds, negate(rest)), c)
            ranges[atom.name] = intersection(ranges.get(atom.name, UNBOUNDED), left)


def _every(
    e: Expr, conditions: list[tuple[Expr, Interval]], values: Mapping[str, Array]
) -> Interval:
    """Bounds of an expression for all values that satisfy the conditions; empty if none do."""
    holds: Array = np.ones(np.broadcast_shapes(*(v.shape for v in values.values())), np.bool_)
    for condition, bounds in conditions:
        found = evaluate(condition, values)
        holds &= found >= (found if bounds.lo is None else bounds.lo)
        holds &= found <= (found if bounds.hi is None else bounds.hi)
    every = np.broadcast_to(evaluate(e, values), holds.shape)[holds]
    return Interval(int(every.min()), int(every.max())) if every.size else Interval(0, -1)


def _collect(e: Expr, factor: int, form: Form) -> int:
    """Add `factor · e` to `form`; returns the constant that is left over. A sum of data that may
    wrap around is no sum.
    """
    if may_wrap(e):
        form[e] = form.get(e, 0) + factor
        return 0
    match e:
        case Const(value, _):
            return factor * int(value)
        case Binary("add", a, b):
            return _collect(a, factor, form) + _collect(b, factor, form)
        case Binary("sub", a, b):
            return _collect(a, factor, form) + _collect(b, -factor, form)
        case Binary("mul", a, Const(k, _)):
            return _collect(a, factor * int(k), form)
        case Call("neg", (x,)):
            return _collect(x, -factor, form)
    form[e] = form.get(e, 0) + factor
    return 0


def _expression(form: Form) -> Expr:
    total = as_expr(0)
    for atom, k in form.items():
        total = total + atom * k
    return total


def _include(known: list[tuple[Form, Interval]], form: Form, constant: int, b: Interval) -> None:
    """Add `form + constant in b`, merged with what is known of the form or its negative."""
    bounds = add(b, point(-constant))
    negative = {atom: -k for atom, k in form.items()}
    for number, (other, old) in enumerate(known):
        if other in (form, negative):
            ours = bounds if other == form else negate(bounds)
            known[number] = (other, intersection(old, ours))
            return
    known.append((form, bounds))


def _plus(a: Form, b: Form, factor: int) -> Form:
    found = dict(a)
    for atom, k in b.items():
        found[atom] = found.get(atom, 0) + factor * k
    return {atom: k for atom, k in found.items() if k}


def _times(form: Form, factor: int) -> Form:
    return form if factor == 1 else {atom: factor * k for atom, k in form.items()}


def _ratios(form: Form, fact: Form) -> set[tuple[int, int]]:
    """Pairs (p, q), p > 0, for which `p · form - q · fact` lacks one of their common atoms."""
    pairs = set()
    for atom, k in form.items():
        if atom in fact:
            p, q = fact[atom] // gcd(k, fact[atom]), k // gcd(k, fact[atom])
            pairs.add((p, q) if p > 0 else (-p, -q))
    return pairs


def _either(yes: Facts, a: Expr, no: Facts, b: Expr) -> Interval:
    if yes.impossible:
        return no.bounds(b)
    return yes.bounds(a) if no.impossible else yes.bounds(a).union(no.bounds(b))


def _differences(cond: Expr, holds: bool) -> Iterator[tuple[Expr, Expr, Interval]]:
    """Pairs of expressions and the bounds that the condition (or its negation) gives the
    difference.
    """
    match cond:
        case Call("not", (x,)):
            yield from _differences(x, not holds)
        case Binary("and" | "or" as op, a, b) if (op == "and") == holds:
            yield from _differences(a, holds)
            yield from _differences(b, holds)
        case Binary(op, a, b) if op in NEGATED and a.dtype == INT64:
            op = op if holds else NEGATED[op]
            if op == "eq":
                yield a, b, point(0)
            elif op in AT_LEAST_ZERO:
                factor, shift = AT_LEAST_ZERO[op]
                yield a, b, scale(Interval(-shift, None), factor)


def _divided(a: Interval, c: int) -> Interval:
    """The integers v with c * v in `a`."""
    if c < 0:
        return _divided(negate(a), -c)
    hi = floordiv(a, point(c)).hi
    lo = negate(floordiv(negate(a), point(c))).lo
    return Interval(lo, hi)

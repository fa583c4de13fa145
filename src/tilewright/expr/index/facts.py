"""What is known at a place of a nest: ranges of the loops around it, conditions that hold there.

    facts = Facts({"y": Interval(0, 7), "r": Interval(0, 2)})
    facts.assume(y * 2 + r < 15).bounds(y * 4 + r)  ->  [0, 28]: 2 · (y * 2 + r) - r

Expressions are read as affine forms over atoms (variables, quotients, remainders, …). A condition
bounds its form; it narrows the variables in it and every form that contains a multiple of it.
`bounds` is sound, not always exact; `tried` is exact, for variables of few values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import gcd, lcm, prod

import numpy as np

from tilewright.expr.dtypes import INT64
from tilewright.expr.evaluate import Array, evaluate
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.index.intervals import (
    AT_LEAST_ZERO,
    FAR,
    NATURAL,
    NEGATED,
    UNBOUNDED,
    Interval,
    add,
    floordiv,
    intersection,
    interval,
    is_empty,
    may_wrap,
    multiples,
    negate,
    of_node,
    point,
    scale,
)
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import Binary, Call, Const, Expr, Extent, Select, Var
from tilewright.expr.traversal import free_vars, reads

MOST_TRIED = 1 << 22
"""Combinations of values."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Bounds of variables, and bounds of affine forms that hold besides, without their constants.
    Facts that follow from each other share names of `forms`.
    """

    ranges: Mapping[str, Interval]
    known: Mapping[Affine, Interval] = field(default_factory=dict)
    forms: AffineForms = field(default_factory=AffineForms)
    simplifier: Simplifier = field(init=False)
    _atoms: dict[str, Interval] = field(default_factory=dict, init=False)
    _done: dict[Affine, Interval] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "simplifier", Simplifier(self.ranges))

    @property
    def impossible(self) -> bool:
        """Whether no values of the variables satisfy the facts: the place is never reached."""
        return any(map(is_empty, (*self.ranges.values(), *self.known.values())))

    def loop(self, var: Var, extent: Extent) -> Facts:
        """Inside a loop: 0 <= var < extent."""
        most = extent if isinstance(extent, int) else self.bounds(extent).hi or 0
        inside = Facts({**self.ranges, var.name: Interval(0, most - 1)}, self.known, self.forms)
        return inside if isinstance(extent, int) else inside.assume(var < extent)

    def assume(self, cond: Expr, holds: bool = True) -> Facts:
        """The facts where `cond` is true (or false, with `holds=False`)."""
        known = dict(self.known)
        for form, bounds in self._implied(cond, holds):
            _include(known, form, bounds)
            for whole in self._undivided_facts(form, bounds):
                _include(known, *whole)
        if known == self.known:
            return self
        ranges = dict(self.ranges)
        # Twice: what the second condition says of a variable may help the first.
        for form, bounds in [*known.items()] * 2:
            self._narrow(ranges, form, bounds)
        found = Facts(ranges, known, self.forms)
        if found.impossible:
            return found
        for form, bounds in tuple(known.items()):
            # Narrower ranges may write the same sum otherwise: x % 9 becomes x - 9.
            again = found._form(self.forms.expr(form))
            if again.terms and again != form:
                _include(known, again, bounds)
        for form in known:
            known[form] = intersection(known[form], found._sum(form))
        return found

    def _implied(self, cond: Expr, holds: bool) -> Iterator[tuple[Affine, Interval]]:
        """Forms, and where they lie if a condition holds (or does not)."""
        match cond:
            case Call("not", (x,)):
                yield from self._implied(x, not holds)
            case Binary("and" | "or" as op, a, b) if (op == "and") == holds:
                yield from self._implied(a, holds)
                yield from self._implied(b, holds)
            case Binary(op, a, b) if op in NEGATED and a.dtype == INT64:
                op = op if holds else NEGATED[op]
                difference = self._form(a).plus(self._form(b), -1)
                if op == "eq":
                    yield difference, point(0)
                elif op in AT_LEAST_ZERO:
                    yield difference.at_least_zero(op), NATURAL

    def _undivided_facts(self, form: Affine, b: Interval) -> Iterator[tuple[Affine, Interval]]:
        """`k·(a // c) + rest` in [lo, hi] puts `k·a + c·rest` in [c·lo, c·hi + k·(c - 1)]."""
        for name, k in form.terms:
            match self.forms.opaque.get(name):
                case Binary("floordiv", a, Const(c, _)) if 1 < c < FAR:
                    whole = form.without(name).times(int(c)).plus(self._form(a), k)
                    slack = Interval(*sorted((0, k * (int(c) - 1))))
                    yield whole, add(scale(b, int(c)), slack)

    def bounds(self, e: Expr) -> Interval:
        """Bounds of an int64 expression here."""
        return self._bounds(self._form(e))

    def tried(self, e: Expr) -> Interval:
        """Bounds of an int64 expression here, by its values for all that variables may be: of its
        own, and of those that conditions on them are about. UNBOUNDED where these are too many.
        """
        facts = [(self.forms.expr(form), bounds) for form, bounds in self.known.items()]
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

    def _form(self, e: Expr) -> Affine:
        """The form of an int64 expression here. A sum of data that may wrap around is no sum."""
        e = self.simplifier.simplify(e)
        return self.forms.atom(e) if may_wrap(e, linear=True) else self.forms.of(e)

    def _bounds(self, form: Affine) -> Interval:
        if form not in self._done:
            self._done[form] = self._found(form)
        return self._done[form]

    def _found(self, form: Affine) -> Interval:
        found = self._reduced(form)
        for name, k in form.terms:
            match self.forms.opaque.get(name):
                case Binary("min" | "max" as op, a, b):
                    found = intersection(found, self._extremum(form, name, k, op, (a, b)))
                case Call("abs", (x,)):
                    found = intersection(found, self._extremum(form, name, k, "max", (x, 0 - x)))
            quotient = self._quotient(self.forms.opaque.get(name))
            if quotient is not None:
                found = intersection(found, self._undivided(form, name, k, *quotient))
                for other, m in form.terms:
                    if m == -k and k > 0:
                        found = intersection(found, self._difference(form, name, other))
        return found

    def _extremum(
        self, form: Affine, name: str, k: int, op: str, operands: tuple[Expr, Expr]
    ) -> Interval:
        """`k·min(a, b) + rest` lies where `k·a + rest` or `k·b + rest` does, and is at most either
        for k > 0; asked where one of them cancels a part of the rest, or a fact has parts of both.
        """
        rest, inner = form.without(name), [self._form(e) for e in operands]
        parts = [(n, m) for i in inner for n, m in i.terms]
        if not any(rest.coefficient(n) * k * m < 0 for n, m in parts) and not any(
            any(fact.coefficient(n) for n, _ in parts)
            and any(fact.coefficient(n) for n, _ in rest.terms)
            for fact in self.known
        ):
            return UNBOUNDED
        a, b = (self._bounds(rest.plus(i, k)) for i in inner)
        either = intersection(Interval(a.lo, None), Interval(b.lo, None))
        if (op == "min") == (k > 0):
            either = intersection(Interval(None, a.hi), Interval(None, b.hi))
        return intersection(a.union(b), either)

    def _difference(self, form: Affine, x: str, y: str) -> Interval:
        """`k·(a // c) - k·(b // c) + rest` by the bounds of `a - b`; `b // d` is `b·n // (d·n)`."""
        upper, lower = (self._quotient(self.forms.opaque.get(name)) for name in (x, y))
        if upper is None or lower is None:
            return UNBOUNDED
        (a, p), (b, q) = upper, lower
        c = lcm(p, q)
        gap = self.bounds(a * (c // p) - b * (c // q))
        above = negate(floordiv(negate(gap), point(c)))
        steps = Interval(floordiv(gap, point(c)).lo, above.hi)
        rest = form.without(x).without(y)
        return add(scale(steps, form.coefficient(x)), self._bounds(rest))

    def _reduced(self, form: Affine) -> Interval:
        return _by_forms(form, self.known, self._sum)

    def _undivided(self, form: Affine, name: str, k: int, a: Expr, c: int) -> Interval:
        """`k·x + k·(a // c) + rest` is `k·((c·x + a) // c) + rest`."""
        inner, others = self._form(a), form.without(name)
        if inner.coefficient(name):
            return UNBOUNDED
        whole = Affine(0, tuple((n, m // k * c) for n, m in others.terms if m % k == 0))
        rest = Affine(others.const, tuple((n, m) for n, m in others.terms if m % k))
        bounds = self._bounds(whole.plus(inner))
        return add(scale(floordiv(bounds, point(c)), k), self._bounds(rest))

    def _sum(self, form: Affine) -> Interval:
        found = self._of_atoms(form)
        quotients = {n: self._quotient(self.forms.opaque.get(n)) for n, _ in form.terms}
        known = {n: q for n, q in quotients.items() if q is not None}
        return intersection(found, self._relaxed(form, known)) if len(known) > 1 else found

    def _relaxed(self, form: Affine, quotients: Mapping[str, tuple[Expr, int]]) -> Interval:
        """`a // c` is `(a - r) / c`, 0 <= r < c: asked where variables of several cancel."""
        whole_of = lcm(*(c for _, c in quotients.values()))
        whole, slack, terms = form.times(whole_of), point(0), 0
        for name, (a, c) in quotients.items():
            inner, k = self._form(a), form.coefficient(name) * (whole_of // c)
            whole = whole.without(name).plus(inner, k)
            slack = add(slack, scale(Interval(1 - c, 0), k))
            terms += len(inner.terms)
        if len(whole.terms) >= terms:
            return UNBOUNDED
        return multiples(add(self._of_atoms(whole), slack), whole_of)

    def _of_atoms(self, form: Affine) -> Interval:
        return form.bounds({name: self._atom(name) for name, _ in form.terms})

    def _atom(self, name: str) -> Interval:
        e = self.forms.opaque.get(name)
        if e is None:
            return self.ranges.get(name, UNBOUNDED)
        if name not in self._atoms:
            # A known form may hold the atom itself: meanwhile it has its plain bounds.
            self._atoms[name] = interval(e, self.ranges)
            self._atoms[name] = self._atom_bounds(e, self._atoms[name])
        return self._atoms[name]

    def _atom_bounds(self, e: Expr, known: Interval) -> Interval:
        match e:
            case Select(cond, a, b):
                yes, no = self.assume(cond), self.assume(cond, holds=False)
                return intersection(known, _either(yes, a, no, b))
            case Binary("mod", _, _):
                quotient = self._quotient(e)
                if quotient is not None:
                    a, c = quotient
                    known = intersection(known, floordiv(self.bounds(a), point(c)))
        return intersection(known, of_node(e, self._operand))

    def _operand(self, e: Expr) -> Interval:
        return self.bounds(e) if e.dtype == INT64 else interval(e, self.ranges)

    def _quotient(self, e: Expr | None) -> tuple[Expr, int] | None:
        """`(a, c)` where `e` is `a // c`: `(x + z // c) % b` is `((c·x + z) % (c·b)) // c`."""
        match e:
            case Binary("floordiv", a, Const(c, _)) if c > 0:
                return a, int(c)
            case Binary("mod", a, Const(b, _)) if b > 0:
                form = self._form(a)
                for name, k in form.terms:
                    match self.forms.opaque.get(name):
                        case Binary("floordiv", z, Const(c, _)) if 0 < c < FAR // b and k == 1:
                            whole = self.forms.expr(form.without(name)) * c + z
                            return whole % (c * b), int(c)
        return None

    def _narrow(self, ranges: dict[str, Interval], form: Affine, bounds: Interval) -> None:
        """Narrow each variable of a form to what `bounds` of the sum leave it."""
        opaque = {n: self.forms.opaque[n] for n, _ in form.terms if n in self.forms.opaque}
        names = {n: ranges.get(n, UNBOUNDED) for n, _ in form.terms}
        names |= {n: interval(e, ranges) for n, e in opaque.items()}
        form.narrow(names, bounds)
        ranges.update((n, reach) for n, reach in names.items() if n not in opaque)


@dataclass(frozen=True, slots=True)
class LinearFacts:
    """Bounds of variables, and of forms, taken as they stand: less than `Facts` prove, at once."""

    forms: AffineForms
    ranges: Mapping[str, Interval]
    known: Mapping[Affine, Interval] = field(default_factory=dict)
    _atoms: dict[str, Interval] = field(default_factory=dict)  # by these ranges

    def loop(self, var: Var, extent: int) -> LinearFacts:
        """Inside a loop: 0 <= var < extent."""
        ranges = {**self.ranges, var.name: Interval(0, extent - 1)}
        return replace(self, ranges=ranges, _atoms={})

    def assume(self, form: Affine) -> LinearFacts:
        """The facts where a form is at least 0."""
        known = dict(self.known)
        _include(known, form, NATURAL)
        return replace(self, known=known)

    def bounds(self, form: Affine) -> Interval:
        """Bounds of a form here."""
        return _by_forms(form, self.known, self._sum)

    def _sum(self, form: Affine) -> Interval:
        return form.bounds({name: self._atom(name) for name, _ in form.terms})

    def _atom(self, name: str) -> Interval:
        if name not in self._atoms:
            e = self.forms.opaque.get(name)
            known = self.ranges.get(name, UNBOUNDED) if e is None else interval(e, self.ranges)
            self._atoms[name] = known
        return self._atoms[name]


def _by_forms(
    form: Affine,
    known: Mapping[Affine, Interval],
    plain: Callable[[Affine], Interval],
    start: int = 0,
) -> Interval:
    """Bounds of a form, `plain` ones and those by the known forms from number `start` on.

    `p · form = q · fact + rest`, where p and q are such that the rest has an atom less.
    """
    found = plain(form)
    for number, (fact, bounds) in enumerate(known.items()):
        for p, q in _ratios(form, fact) if number >= start else ():
            rest = _by_forms(form.times(p).plus(fact, -q), known, plain, number + 1)
            found = intersection(found, multiples(add(rest, scale(bounds, q)), p))
    return found


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


def _include(known: dict[Affine, Interval], form: Affine, bounds: Interval) -> None:
    """Add that `form` lies in `bounds` to what is known of its terms, of which the first is
    positive.
    """
    if form.terms and form.terms[0][1] < 0:
        form, bounds = form.times(-1), negate(bounds)
    terms = Affine(0, form.terms)
    bounds = add(bounds, point(-form.const))
    known[terms] = intersection(known.get(terms, UNBOUNDED), bounds)


def _ratios(form: Affine, fact: Affine) -> set[tuple[int, int]]:
    """Pairs (p, q), p > 0, for which `p · form - q · fact` lacks one of their common atoms."""
    pairs = set()
    for name, k in form.terms:
        m = fact.coefficient(name)
        if m:
            p, q = m // gcd(k, m), k // gcd(k, m)
            pairs.add((p, q) if p > 0 else (-p, -q))
    return pairs


def _either(yes: Facts, a: Expr, no: Facts, b: Expr) -> Interval:
    if yes.impossible:
        return no.bounds(b)
    return yes.bounds(a) if no.impossible else yes.bounds(a).union(no.bounds(b))

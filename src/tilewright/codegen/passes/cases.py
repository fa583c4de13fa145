"""The cases of a condition: for which values of its outer part the inner conditions agree.

    f0*64 + f < 200, f0 < 4, f < 64 (vector)     t = f0*64: t <= 128 all hold; t = 192 the first 8
    (rh + h) % 2 == 0, rh < 4, h unrolled        t % 2 = 0; t % 2 = 1

The outer part t is over loops that run around; the rest is over loops inside, which are written
out (or, for plain guards, run from a constant start to a constant end). Where loops of both kinds
vary the rest, only two cases are told apart: the condition holds for all of them, or it may not.

    h0*4 + h + rh >= 1, h < 4 (unrolled), rh < 3 runs     h0*4 >= 1: all hold; h0*4 = 0: it varies
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod

from tilewright.codegen.passes.size import BUDGET
from tilewright.expr.dtypes import BOOL
from tilewright.expr.index.affine import Affine, AffineForms, Terms
from tilewright.expr.index.intervals import Interval
from tilewright.expr.nodes import Binary, Const, Expr
from tilewright.nest.nodes import For, Kind


@dataclass(frozen=True, slots=True)
class CaseSplit:
    """A condition over `sign*t + rest`: `>= 0`, or (`modulus` > 0) a remainder that is tested.

    `terms` are those of t, `inner` the (coefficient, extent) of loops inside in `rest`; `runs`:
    these loops run; `mixed`: some of them do. `together`: so many instances of each loop, the lanes
    of a vector, are told apart only where all of them hold or none does (): each is.
    """

    terms: Terms
    modulus: int
    sign: int
    rest: Affine
    inner: tuple[tuple[int, int], ...]
    runs: bool
    mixed: bool = False
    together: tuple[int, ...] = ()

    def settled(self, e: Expr, t: int, forms: AffineForms) -> Expr:
        """The condition `e` that this splits, for one value of t."""
        if self.mixed:
            return Const(True, BOOL) if self.holds(t) else e
        if any(lanes > 1 for lanes in self.together):
            none = self.sign * t + self.greatest < 0
            return Const(not none, BOOL) if none or self.holds(t) else e
        rest = self.rest.shifted(self.sign * t)
        if self.modulus:
            assert isinstance(e, Binary)
            left = forms.expr(Affine(rest.const % self.modulus, rest.terms))
            return Binary(e.op, left % self.modulus, e.b)
        return forms.expr(rest) >= 0 if rest.terms else Const(rest.const >= 0, BOOL)

    def holds(self, t: int) -> bool:
        """Whether all instances of a comparison hold for a value of t."""
        return self.sign * t + self.least >= 0

    @property
    def least(self) -> int:
        """The least value of the inner part."""
        return self.rest.const + sum(min(0, k * (extent - 1)) for k, extent in self.inner)

    @property
    def greatest(self) -> int:
        """The greatest value of the inner part."""
        return self.rest.const + sum(max(0, k * (extent - 1)) for k, extent in self.inner)

    def thresholds(self) -> set[int]:
        """Values of t where the truth of some instance changes: true from (or until) there.

        Of a mixed condition, where all instances begin or cease to hold.
        """
        if self.mixed:
            return {-self.least if self.sign > 0 else self.least + 1}
        steps = self.together or (1,) * len(self.inner)
        spread = product(
            *(
                {k * i for i in (*range(0, extent, step), extent - 1)}
                for (k, extent), step in zip(self.inner, steps, strict=True)
            )
        )
        offsets = {self.rest.const + sum(parts) for parts in spread}
        return {-o for o in offsets} if self.sign > 0 else {o + 1 for o in offsets}

    @property
    def count(self) -> int:
        """Instances of the condition."""
        return prod(extent for _, extent in self.inner)


def split(
    e: Expr, outer: Mapping[str, Interval], inner: Mapping[str, For], forms: AffineForms
) -> CaseSplit | None:
    """Separate a condition's outer part; None where it has none."""
    modulus, form = 0, forms.condition(e)
    if form is None:
        match e:
            case Binary("eq" | "ne", Binary("mod", x, Const(m, kind)), Const()):
                if kind.name == "int64" and m > 1:
                    modulus, form = int(m), forms.of(x)
    if form is None:
        return None
    names = frozenset(n for n, _ in form.terms if _bound(n, outer, inner, forms))
    t, rest = form.split(names)
    loops = [(k, inner.get(n)) for n, k in rest.terms]
    varying = [(k, x.extent) for k, x in loops if x and isinstance(x.extent, int)]
    running = {runs(x) for _, x in loops if x}
    if not t.terms or len(varying) != len(loops) or (modulus and True in running):
        return None
    mixed = len(running) > 1
    sign = 1 if t.terms[0][1] > 0 else -1
    runs_only = running == {True}
    return CaseSplit(t.times(sign).terms, modulus, sign, rest, tuple(varying), runs_only, mixed)


def _bound(
    name: str, outer: Mapping[str, Interval], inner: Mapping[str, For], forms: AffineForms
) -> bool:
    """Whether all variables behind a name are bound outside."""
    used = forms.inside.get(name, frozenset((name,)))
    return all(v in outer and v not in inner for v in used)


def runs(loop: For) -> bool:
    """Whether a loop runs, rather than being written out."""
    return loop.kind in (Kind.SERIAL, Kind.PARALLEL)


@dataclass(frozen=True, slots=True)
class Case:
    """One case: the conditions that select it, a value of t in it, how many values there are, and
    between which they lie (without a modulus).
    """

    conds: tuple[Expr, ...]
    t: int
    values: int = 1
    reach: Interval | None = None


@dataclass(slots=True)
class ConditionGroup:
    """Conditions with one outer part, all mixed or none. `guards`: some guard statements; `deep`:
    some stand inside a loop that runs.
    """

    terms: Terms
    modulus: int
    mixed: bool
    conditions: list[CaseSplit] = field(default_factory=list)
    guards: bool = False
    deep: bool = False

    @property
    def runs(self) -> bool:
        """Whether the conditions only bound loops that run."""
        return all(c.runs for c in self.conditions)

    @property
    def may_stay(self) -> bool:
        """Whether there may be a case in which some instances hold, and some do not."""
        return self.mixed or any(lanes > 1 for c in self.conditions for lanes in c.together)

    @property
    def count(self) -> int:
        """Instances of all conditions."""
        return sum(c.count for c in self.conditions)

    def cases(
        self,
        forms: AffineForms,
        ranges: Mapping[str, Interval],
        known: Interval | None = None,
        most: int = BUDGET.cases,
    ) -> list[Case] | None:
        """The cases that can occur where t is `known` to lie; None where there are more than
        `most`, or where mixed conditions hold together in none.
        """
        t = Affine(0, self.terms)
        reach, stride = known or t.bounds(ranges), max(1, t.stride())
        if self.modulus:
            return self.residues(forms.expr(t), reach, stride)
        if reach.lo is None or reach.hi is None or self.count > BUDGET.instances:
            return None
        found = self.ranges(reach.lo, reach.hi, stride, most)
        if found is None:
            return None
        if self.mixed and not any(all(c.holds(lo) for c in self.conditions) for lo, _ in found):
            return None
        e = forms.expr(t)
        last = found[-1][1]
        return [
            Case(
                (*([e >= lo] * (lo != reach.lo)), *([e <= hi] * (hi != last))),
                lo,
                (hi - lo) // stride + 1,
                Interval(lo, hi),
            )
            for lo, hi in found
        ]

    def ranges(self, low: int, high: int, stride: int, most: int) -> list[tuple[int, int]] | None:
        """[first, last] values of t over which no instance changes."""
        cuts = {c for s in self.conditions for c in s.thresholds() if low < c <= high}
        starts = [low, *sorted(cuts)]
        ends = [s - 1 for s in starts[1:]] + [high]
        found = []
        for lo, hi in zip(starts, ends, strict=True):
            first = low + -(-(lo - low) // stride) * stride
            if first <= hi:
                found.append((first, low + (hi - low) // stride * stride))
            if len(found) > most:
                return None
        return found

    def residues(self, e: Expr, reach: Interval, stride: int) -> list[Case] | None:
        """One case a remainder of t that can occur."""
        m = self.modulus
        if reach.lo is None:
            values = set(range(m))
        else:
            steps = m if reach.hi is None else min(m, (reach.hi - reach.lo) // stride + 1)
            values = {(reach.lo + i * stride) % m for i in range(steps)}
        if len(values) > BUDGET.cases:
            return None
        if len(values) == 1:
            return [Case((), values.pop())]
        return [Case(((e % m).eq(r),), r) for r in sorted(values)]

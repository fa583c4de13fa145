"""Pass: versions of a body for the cases of a condition, chosen outside its inner loops.

A guard such as `f0*64 + f < 200` below the reduction loops depends on f0 alone once f is unrolled
or vectorised. Where f0 is bound, only two cases can occur, and each gets a body of its own, without
guards or with constant ones:

    for f0 < 4 (parallel):                        for f0 < 4 (parallel):
      for rc: for f < 64 (vector):                  if (f0 <= 2): for rc: for f < 64: S
        if (f0*64 + f < 200): S             ->      if (f0 >= 3): for rc: for f < 8: S

The cases follow from the values that the outer part of the condition can take (its bounds and its
stride). The same serves padding: a 3-wide kernel gives a left, a middle and a right case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

from tilewright.codegen.linear import Linear, Linearizer, Terms, condition
from tilewright.codegen.passes.guards import hoisted_guards
from tilewright.codegen.passes.rewrite import (
    EMPTY,
    conjuncts,
    guarded,
    is_empty,
    rebuilt,
    together,
    within,
)
from tilewright.codegen.passes.size import statement_count
from tilewright.expr.dtypes import BOOL
from tilewright.expr.intervals import Interval
from tilewright.expr.nodes import Binary, Const, Expr, Select, transform, walk
from tilewright.nest.nodes import For, If, Kind, Node, Store, bodies

GREATEST_CASES = 6
"""Versions of one body for one condition."""
GREATEST_STATEMENTS = 1024
"""Statements of the whole program up to which guards get versions of their own."""
GREATEST_PADDED_STATEMENTS = 448
"""The same for padding: what is not separated is read through redirected pointers."""
GREATEST_INSTANCES = 4096
"""Instances of one condition that are looked at."""
FALSE = Const(False, BOOL)


@dataclass(frozen=True, slots=True)
class Instance:
    """A condition `sign*t + const + inner >= 0`; `inner` are (coefficient, extent) of variables
    inside. `runs`: they count running loops.
    """

    sign: int
    const: int
    inner: tuple[tuple[int, int], ...]
    runs: bool

    def thresholds(self) -> set[int]:
        """Values of t where the truth of some instance changes: true from (or until) there."""
        offsets = {self.const + sum(parts) for parts in product(*map(_multiples, self.inner))}
        return {-o for o in offsets} if self.sign > 0 else {o + 1 for o in offsets}

    @property
    def count(self) -> int:
        total = 1
        for _, extent in self.inner:
            total *= extent
        return total


def _multiples(term: tuple[int, int]) -> list[int]:
    return [term[0] * i for i in range(term[1])]


@dataclass(slots=True)
class Group:
    """Conditions over one outer part `terms` (its first coefficient is positive)."""

    terms: Terms
    instances: list[Instance] = field(default_factory=list)
    guards: bool = False
    deep: bool = False

    @property
    def runs(self) -> bool:
        """Whether some condition bounds a loop that runs."""
        return any(i.runs for i in self.instances)

    def cases(self, reach: Interval, stride: int) -> list[tuple[int, int]] | None:
        """Ranges of t over which no instance changes; None where there are too many."""
        if reach.lo is None or reach.hi is None:
            return None
        if sum(i.count for i in self.instances) > GREATEST_INSTANCES:
            return None
        cuts = {c for i in self.instances for c in i.thresholds() if reach.lo < c <= reach.hi}
        starts = [reach.lo, *sorted(cuts)]
        ends = [s - 1 for s in starts[1:]] + [reach.hi]
        found = []
        for lo, hi in zip(starts, ends, strict=True):
            first = reach.lo + -(-(lo - reach.lo) // stride) * stride
            if first <= hi:
                found.append((first, reach.lo + (hi - reach.lo) // stride * stride))
            if len(found) > GREATEST_CASES:
                return None
        return found


def versioned(node: Node, vector_bits: int) -> Node:
    """The nest with separate versions for full and partial tiles and for padding."""
    return _Versions(vector_bits, statement_count(node, vector_bits)).visit(node, {}, frozenset())


class _Versions:
    def __init__(self, vector_bits: int, statements: int) -> None:
        self.vector_bits = vector_bits
        self.statements = statements
        self.forms = Linearizer()

    def visit(self, node: Node, ranges: dict[str, Interval], fresh: frozenset[str]) -> Node:
        """`ranges` bounds the loops that run around the node, `fresh` are the innermost of them."""
        if not isinstance(node, For) or node.kind in (Kind.UNROLLED, Kind.VECTOR):
            parts = tuple(self.visit(b, ranges, frozenset()) for b in bodies(node))
            return rebuilt(node, parts)
        inside = within(ranges, node)
        names = fresh | {node.var.name}
        body = node.body
        collapsed = isinstance(body, For) and node.kind is body.kind is Kind.PARALLEL
        if collapsed:
            return rebuilt(node, (self.visit(body, inside, names),))
        return rebuilt(node, (self.level(body, inside, names),))

    def level(self, body: Node, ranges: dict[str, Interval], fresh: frozenset[str]) -> Node:
        """Split `body`, whose outer variables are all bound, by one group of conditions at a time.

        `statements` counts what the whole program has become.
        """
        size = statement_count(body, self.vector_bits)
        for group in self.groups(body, ranges, fresh):
            t = Linear(0, group.terms)
            cases = group.cases(t.bounds(ranges), max(1, t.stride()))
            if cases is None or not self.pays(group, len(cases), size):
                continue
            self.statements += size * (len(cases) - 1)
            parts = []
            for lo, hi in cases:
                inner = self.specialised(body, group, lo, ranges)
                if not is_empty(inner):
                    inner = self.level(inner, ranges, fresh)
                    parts.append(guarded(self.between(t, lo, hi, ranges), inner))
            return together(tuple(parts))
        return self.visit(body, ranges, frozenset())

    def pays(self, group: Group, cases: int, size: int) -> bool:
        """Whether versions are worth their code: for guards, and selects over much code."""
        if cases == 1:
            return True
        limit = GREATEST_STATEMENTS if group.guards and cases == 2 else GREATEST_PADDED_STATEMENTS
        if self.statements + size * (cases - 1) > limit or (group.runs and cases > 2):
            return False
        return group.guards or group.deep or size > 2

    def between(self, t: Linear, lo: int, hi: int, ranges: dict[str, Interval]) -> list[Expr]:
        """The conditions that select a case."""
        reach = t.bounds(ranges)
        e = self.forms.expr(t)
        conds = []
        if lo != reach.lo:
            conds.append(e >= lo)
        if hi != reach.hi and (reach.hi is None or hi + t.stride() <= reach.hi):
            conds.append(e <= hi)
        return conds

    # ---- finding conditions -----------------------------------------------------------------

    def groups(self, body: Node, ranges: dict[str, Interval], fresh: frozenset[str]) -> list[Group]:
        """Conditions by outer part: guards first, then those with the fewest instances."""
        found: dict[Terms, Group] = {}
        self.collect(body, ranges, {}, False, found)
        mine = [g for g in found.values() if fresh & self.forms.variables(Linear(0, g.terms))]
        return sorted(mine, key=lambda g: (not g.guards, sum(i.count for i in g.instances)))

    def collect(
        self,
        node: Node,
        outer: dict[str, Interval],
        inner: dict[str, For],
        deep: bool,
        found: dict[Terms, Group],
    ) -> None:
        for cond, guard in _conditions(node):
            parts = self.parts(cond, outer, inner)
            if parts is not None and (guard or not parts[1].runs):
                group = found.setdefault(parts[0], Group(parts[0]))
                if parts[1] not in group.instances:
                    group.instances.append(parts[1])
                group.guards |= guard
                group.deep |= deep
        if isinstance(node, For):
            deep |= _runs(node)
            inner = inner | {node.var.name: node}
        for b in bodies(node):
            self.collect(b, outer, inner, deep, found)

    def parts(
        self, cond: Expr, outer: dict[str, Interval], inner: dict[str, For]
    ) -> tuple[Terms, Instance] | None:
        """(outer part, the rest) of a condition; None where loops inside that run also vary it
        together with unrolled ones.
        """
        form = condition(cond, self.forms)
        if form is None:
            return None
        t, u = form.split(frozenset(n for n, _ in form.terms if self.bound(n, outer, inner)))
        loops = [(k, inner.get(n)) for n, k in u.terms]
        varying = [(k, x.extent) for k, x in loops if x and isinstance(x.extent, int)]
        running = {_runs(x) for _, x in loops if x}
        if not t.terms or len(varying) != len(loops) or len(running) > 1:
            return None
        sign = 1 if t.terms[0][1] > 0 else -1
        instance = Instance(sign, u.const, tuple(varying), True in running)
        return t.times(sign).terms, instance

    def bound(self, name: str, outer: dict[str, Interval], inner: dict[str, For]) -> bool:
        """Whether all variables behind a name are bound outside."""
        used = self.forms.inside.get(name, frozenset((name,)))
        return all(v in outer and v not in inner for v in used)

    # ---- one version ------------------------------------------------------------------------

    def specialised(self, body: Node, group: Group, t: int, ranges: dict[str, Interval]) -> Node:
        """`body` where the group's outer part is as in the case that contains `t`."""
        return hoisted_guards(self.settle(body, group.terms, t, ranges, {}))

    def settle(
        self, node: Node, terms: Terms, t: int, outer: dict[str, Interval], inner: dict[str, For]
    ) -> Node:
        def leaf(e: Expr) -> Expr | None:
            if not isinstance(e, Binary):
                return None
            parts = self.parts(e, outer, inner)
            if parts is None or parts[0] != terms:
                return None
            form = condition(e, self.forms)
            assert form is not None
            _, rest = form.split(frozenset(n for n, _ in terms))
            rest = rest.shifted(parts[1].sign * t)
            return self.forms.expr(rest) >= 0 if rest.terms else Const(rest.const >= 0, BOOL)

        if isinstance(node, Store):
            return replace(node, value=transform(node.value, leaf))
        if isinstance(node, For):
            inner = inner | {node.var.name: node}
        parts = tuple(self.settle(b, terms, t, outer, inner) for b in bodies(node))
        if isinstance(node, If):
            conds = [c for part in conjuncts(node.cond) for c in conjuncts(transform(part, leaf))]
            return EMPTY if FALSE in conds else guarded(conds, parts[0])
        return rebuilt(node, parts)


def _runs(loop: For) -> bool:
    return loop.kind in (Kind.SERIAL, Kind.PARALLEL)


def _conditions(node: Node) -> Iterator[tuple[Expr, bool]]:
    """(comparison, whether it guards statements) of the node's own conditions."""
    if isinstance(node, If):
        yield from ((e, True) for e in walk(node.cond))
    if isinstance(node, Store):
        for e in walk(node.value):
            if isinstance(e, Select):
                yield from ((c, False) for c in walk(e.cond))

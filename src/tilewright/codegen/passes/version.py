"""Pass: versions of a body for the cases of a condition, chosen outside its inner loops.

A guard such as `f0*64 + f < 200` below the reduction loops depends on f0 alone once f is unrolled
or vectorised. Where f0 is bound, only two cases can occur, and each gets a body of its own, without
guards or with constant ones:

    for f0 < 4 (parallel):                        for f0 < 4 (parallel):
      for rc: for f < 64 (vector):                  if (f0 <= 2): for rc: for f < 64: S
        if (f0*64 + f < 200): S             ->      if (f0 >= 3): for rc: for f < 8: S

The cases follow from the values that the outer part of the condition can take (its bounds and its
stride). The same serves padding: a 3-wide kernel gives a left, a middle and a right case. Where the
kernel's loop runs, the tiles for which all conditions hold get a body without them.

Of a size, the rest of a tile may be anything: each count of rows gets a version, of a vector loop
each count of vectors, of which the last has a mask; of loops that run, full blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.codegen.passes.cases import Case, CaseSplit, ConditionGroup, runs, split
from tilewright.codegen.passes.guards import hoisted_guards
from tilewright.codegen.passes.size import BUDGET, CodeSize, runs_loops
from tilewright.codegen.rewrite import (
    conjunction,
    guarded,
    is_empty,
    rebuilt,
    within,
)
from tilewright.expr.dtypes import BOOL
from tilewright.expr.index.affine import Affine, AffineForms, Terms
from tilewright.expr.index.facts import LinearFacts
from tilewright.expr.index.intervals import Interval, intersection
from tilewright.expr.nodes import Const, Expr, Select
from tilewright.expr.sizes import NO_SIZES
from tilewright.expr.traversal import conjuncts, free_vars, rewriting, walk
from tilewright.nest.nodes import EMPTY, For, If, Kind, Node, Store, bodies, seq
from tilewright.nest.nodes import walk as walk_nodes

WIDE_VECTOR_BITS = 512
"""The budget counts statements on vectors of so many bits: the same tile is more statements on
narrower ones, which versions serve as well."""
TRUE, FALSE = Const(True, BOOL), Const(False, BOOL)
NOTHING: Mapping[Terms, Interval] = {}


def versioned(node: Node, vector_bits: int, sizes: Mapping[str, Interval] = NO_SIZES) -> Node:
    """The nest with separate versions for full and partial tiles and for padding."""
    code = CodeSize(vector_bits)
    versions = _Versions(code, code.statements(node), frozenset(sizes))
    if sizes:
        return versions.level(node, dict(sizes), frozenset())
    return versions.visit(node, {}, frozenset())


class _Versions:
    def __init__(self, code: CodeSize, statements: int, sizes: frozenset[str]) -> None:
        self.code = code
        self.statements = self.summing = statements
        self.sizes = sizes
        self.narrow = max(1, WIDE_VECTOR_BITS // code.vector_bits)
        self.forms = AffineForms()

    def visit(
        self,
        node: Node,
        ranges: dict[str, Interval],
        fresh: frozenset[str],
        reach: Mapping[Terms, Interval] = NOTHING,
    ) -> Node:
        """`ranges` bounds the loops that run around the node, `fresh` are the innermost of them,
        `reach` is where outer parts of conditions on sizes lie.
        """
        if not isinstance(node, For) or node.kind in (Kind.UNROLLED, Kind.VECTOR, Kind.DOT):
            parts = tuple(self.visit(b, ranges, frozenset(), reach) for b in bodies(node))
            return rebuilt(node, parts)
        inside = within(ranges, node)
        names = fresh | {node.var.name}
        bounds, body = self.bounded(node.body)
        reach = {**reach, **dict(self.lying(bounds, inside))}
        collapsed = isinstance(body, For) and node.kind is body.kind is Kind.PARALLEL
        if collapsed:
            return rebuilt(node, (guarded(bounds, self.visit(body, inside, names, reach)),))
        return rebuilt(node, (guarded(bounds, self.level(body, inside, names, reach=reach)),))

    def bounded(self, body: Node) -> tuple[list[Expr], Node]:
        """The conditions on sizes that bound the loop around, which stay there, and the rest."""
        if not self.sizes or not isinstance(body, If):
            return [], body
        conds = list(conjuncts(body.cond))
        own = [c for c in conds if self.sizes & free_vars(c)]
        return own, guarded([c for c in conds if c not in own], body.body)

    def lying(
        self, conds: list[Expr], ranges: Mapping[str, Interval]
    ) -> Iterator[tuple[Terms, Interval]]:
        """Where the outer parts of conditions that hold lie."""
        for cond in conds:
            part = split(cond, ranges, {}, self.forms)
            if part is not None and not part.modulus:
                lies = LinearFacts(self.forms, ranges).bounds(Affine(0, part.terms))
                rest = part.rest.const  # sign * t + rest >= 0
                limit = Interval(-rest, None) if part.sign > 0 else Interval(None, rest)
                yield part.terms, intersection(lies, limit)

    def level(
        self,
        body: Node,
        ranges: dict[str, Interval],
        fresh: frozenset[str],
        done: frozenset[Terms] = frozenset(),
        reach: Mapping[Terms, Interval] = NOTHING,
    ) -> Node:
        """Split `body`, whose outer variables are all bound, by one group of conditions at a time.

        `statements` counts what the whole program has become, and `summing` the same by versions of
        sums that run, for sizes: most time goes there, and what else has borders must not use up
        their limit. The case with the most values comes first, so that it is split further before a
        rare one, a border, has used up the limit.
        `done` are outer parts whose conditions that may stay were looked at, `reach` is where outer
        parts lie in this case: a full tile of padded data needs no version for a border behind it.
        """
        size = self.code.statements(body)
        for group in self.groups(body, ranges, fresh):
            if group.may_stay and group.terms in done:
                continue
            outer = Affine(0, group.terms)
            sized = bool(self.sizes & self.forms.variables(outer))
            most, known = BUDGET.cases, reach.get(group.terms)
            if sized:
                most = group.count + 1
                known = known or LinearFacts(self.forms, ranges).bounds(outer)
            cases = group.cases(self.forms, ranges, known, most)
            if cases is None:
                continue
            more = size * (len(cases) - 1)
            near = sized and self.is_near(body)
            sums = near and runs_loops(body)
            if not (self.pays_sized(more, near, sums) if sized else self.pays(group, cases, size)):
                continue
            if sums:
                self.summing += more
            else:
                self.statements += more
            seen = done | {group.terms} if group.may_stay else done
            versions: dict[int, Node] = {}
            for i in sorted(range(len(cases)), key=lambda i: -cases[i].values):
                inner = hoisted_guards(self.settle(body, group, cases[i].t, ranges, {}))
                if not is_empty(inner):
                    lies = cases[i].reach
                    here = {**reach, group.terms: lies} if lies else reach
                    inner = self.level(inner, ranges, fresh, seen, here)
                    versions[i] = guarded(list(cases[i].conds), inner)
            return seq(*(versions[i] for i in sorted(versions)))
        return self.visit(body, ranges, frozenset(), reach if self.sizes else NOTHING)

    def pays(self, group: ConditionGroup, cases: Sequence[Case], size: int) -> bool:
        """Whether versions are worth their code: for guards, and selects over much code."""
        if len(cases) == 1:
            return True
        limit = BUDGET.guards if group.guards and len(cases) == 2 else BUDGET.padding
        limit = BUDGET.bounds if group.runs else limit
        if self.statements + size * (len(cases) - 1) > limit * self.narrow:
            return False
        if group.runs and len(cases) > 2:
            return False
        return group.guards or group.deep or size > 2

    def pays_sized(self, more: int, near: bool, sums: bool) -> bool:
        """Whether versions for a size are worth so many statements more: large bodies have none
        where they may have them `near` their sums.
        """
        if not more:
            return True
        if not near and more > BUDGET.far_sizes * self.narrow:
            return False
        became = self.summing if sums else self.statements
        return became + more <= BUDGET.sizes * self.narrow

    # ---- finding conditions -----------------------------------------------------------------

    def groups(
        self, body: Node, ranges: dict[str, Interval], fresh: frozenset[str]
    ) -> list[ConditionGroup]:
        """Conditions by outer part: guards first, then those with the fewest instances."""
        found: dict[tuple[Terms, int, bool], ConditionGroup] = {}
        self.collect(body, ranges, {}, False, found)
        mine = [g for g in found.values() if self.belongs(g, body, fresh)]
        return sorted(mine, key=lambda g: (g.mixed, not g.guards, not g.modulus, g.count))

    def belongs(self, group: ConditionGroup, body: Node, fresh: frozenset[str]) -> bool:
        """Whether `body` is the place to split by a group: its variables were bound last, or there
        is a size among them, and no loop that runs inside moves what is stored.
        """
        names = self.forms.variables(Affine(0, group.terms))
        if fresh & names or not self.sizes & names:
            return bool(fresh & names)
        return self.is_near(body)

    def is_near(self, body: Node) -> bool:
        """Whether no loop that runs inside moves what is stored."""
        loops = {n.var.name: n for n in walk_nodes(body) if isinstance(n, For) and runs(n)}
        return _only_reduces(body, list(loops), loops)

    def collect(
        self,
        node: Node,
        outer: dict[str, Interval],
        inner: dict[str, For],
        deep: bool,
        found: dict[tuple[Terms, int, bool], ConditionGroup],
    ) -> None:
        for cond, guard in _conditions(node):
            part = self.split(cond, outer, inner)
            if part is None or (part.runs and not guard):
                continue
            if not part.mixed or _only_reduces(node, [n for n, _ in part.rest.terms], inner):
                key = (part.terms, part.modulus, part.mixed)
                group = found.setdefault(key, ConditionGroup(*key))
                if part not in group.conditions:
                    group.conditions.append(part)
                group.guards |= guard
                group.deep |= deep
        if isinstance(node, For):
            deep |= runs(node)
            inner = inner | {node.var.name: node}
        for b in bodies(node):
            self.collect(b, outer, inner, deep, found)

    def split(
        self, e: Expr, outer: Mapping[str, Interval], inner: Mapping[str, For]
    ) -> CaseSplit | None:
        """A condition's outer part; one on sizes alone says nothing of loops that run."""
        part = split(e, outer, inner, self.forms)
        if part is None or not self.sizes:
            return part
        names = self.forms.variables(Affine(0, part.terms))
        if not names & self.sizes:
            return part
        loops = [inner[n] for n, _ in part.rest.terms]
        if part.runs or part.mixed:
            return replace(part, runs=False, mixed=True) if names - self.sizes else None
        lanes = [self.code.lanes(x) if x.kind is Kind.VECTOR else 1 for x in loops]
        return replace(part, together=tuple(lanes))

    # ---- one version ------------------------------------------------------------------------

    def settle(
        self,
        node: Node,
        group: ConditionGroup,
        t: int,
        outer: dict[str, Interval],
        inner: dict[str, For],
    ) -> Node:
        """`node` with the group's conditions as they are where its outer part is `t`."""

        def leaf(e: Expr, rewrite: Callable[[Expr], Expr]) -> Expr | None:
            if isinstance(e, Select):
                conds = [rewrite(c) for c in conjuncts(e.cond)]
                if FALSE in conds:
                    return rewrite(e.b)
                conds = [c for c in conds if c != TRUE]
                taken = rewrite(e.a)
                return Select(conjunction(conds), taken, rewrite(e.b)) if conds else taken
            part = self.split(e, outer, inner)
            # one whose truth may change within the case was not collected and stays
            if part is None or part not in group.conditions:
                return None
            return part.settled(e, t, self.forms)

        rewrite = rewriting(leaf)
        if isinstance(node, Store):
            return replace(node, value=rewrite(node.value))
        if isinstance(node, For):
            inner = inner | {node.var.name: node}
        parts = tuple(self.settle(b, group, t, outer, inner) for b in bodies(node))
        if isinstance(node, If):
            conds = [c for part in conjuncts(node.cond) for c in conjuncts(rewrite(part))]
            return EMPTY if FALSE in conds else guarded(conds, parts[0])
        return rebuilt(node, parts)


def _only_reduces(node: Node, names: list[str], inner: dict[str, For]) -> bool:
    """Whether none of the loops that run moves what is stored: splitting nearer is better then."""
    running = {n for n in names if runs(inner[n])}
    stores = (s for s in walk_nodes(node) if isinstance(s, Store))
    return not any(running & free_vars(i) for s in stores for i in s.indices)


def _conditions(node: Node) -> Iterator[tuple[Expr, bool]]:
    """(comparison, whether it guards statements) of the node's own conditions."""
    if isinstance(node, If):
        yield from ((e, True) for e in walk(node.cond))
    if isinstance(node, Store):
        for e in walk(node.value):
            if isinstance(e, Select):
                yield from ((c, False) for c in walk(e.cond))

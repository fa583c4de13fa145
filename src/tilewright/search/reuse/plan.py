"""Which task reuses which: planned before a run, at the least expected number of programs.

    plan = make_plan(tasks, target, recorded)       recorded: WorkloadRows, whose programs are known
    plan.tasks                                      the tasks, then bridges of weight 0
    plan.steps                                      in an order in which sources come first
    print(plan)                                     a tree a family

An operator may reuse another of its type (`family.py`) whose space has all of its rules: then what
was found there is best among as much as can be had here. The paper demands besides that one
iteration space dominate the other. On CPUs programs carry over where none does, too
(docs/findings.md); so this is a matter of cost alone.

Costs are expected programs. A search from nothing takes `Costs.search` of them, a reuse those that
the strategy measures and what has to be searched after all, which is the more the farther the
shapes are from each other. A bridge (ETO, section 6.2) costs its default program, too. What the
records hold is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2, prod

from tilewright.errors import InputError
from tilewright.expr.serialize import dag_from_json
from tilewright.records.rows import WorkloadRow
from tilewright.search.reuse.family import (
    Family,
    Nest,
    Operator,
    bridge,
    bridges,
    comparable,
)
from tilewright.search.reuse.graph import Graph, Tree, steiner_tree
from tilewright.search.reuse.strategy import LENGTH
from tilewright.search.tasks import TuningTask, recorded_setting
from tilewright.space.derivation import Rule, derive
from tilewright.space.rules import rules_of
from tilewright.target import Target

SEARCH, REUSE, RECORDED = KINDS = ("search", "reuse", "recorded")
ROOT = ""  # of the graph: searches from nothing
NEAREST = 64  # sources that a task is given to choose from
RECORDS = 32  # recorded workloads of a family to choose from


@dataclass(frozen=True)
class Costs:
    """Expected programs: of a search from nothing; of a default program, confirmed; and of what a
    reuse leaves to be searched, for each octave between the numbers of iterations and for shapes
    of which none dominates the other.
    """

    search: int = 128
    default: int = 5
    octave: float = 0.5
    apart: float = 2.0

    def reuse(self, target: Nest, source: Nest) -> float:
        """Of a program of `source` for `target`."""
        octaves = abs(log2(prod(target) / prod(source)))
        return LENGTH + self.octave * octaves + self.apart * (not comparable(target, source))


@dataclass(frozen=True)
class Step:
    """What is done for one task: searched from nothing, with `programs` trials, or as a source's
    programs suggest, or nothing: it is `recorded`. Hashes are those of tasks.
    """

    task: str
    kind: str
    source: str | None
    programs: int


@dataclass(frozen=True)
class Member:
    """An operator that may reuse and be reused."""

    task: TuningTask
    operator: Operator
    rules: frozenset[tuple[str, ...]]
    is_recorded: bool = False
    is_bridge: bool = False


@dataclass(frozen=True)
class Plan:
    """Steps for the tasks that have relatives, sources first; the others are searched as ever.
    `tasks` are those given, then the bridges in use, of which `considered` came into question.
    """

    tasks: tuple[TuningTask, ...]
    steps: tuple[Step, ...]
    considered: int = 0

    @property
    def programs(self) -> int:
        """How many the steps are expected to measure."""
        return sum(step.programs for step in self.steps)


def make_plan(
    tasks: Sequence[TuningTask],
    target: Target,
    recorded: Iterable[WorkloadRow] = (),
    rules: Sequence[Rule] | None = None,
    costs: Costs | None = None,
    hops: int | None = 1,
) -> Plan:
    """The plan for some tasks. `recorded` are workloads whose programs are known, other tasks or
    these; `hops` is how far bridges go (None: all of them, 0: none).
    """
    planner = _Planner(target, rules, costs or Costs(), hops)
    members = [planner.member(task) for task in tasks]
    families: dict[Family, list[Member]] = {}
    for member in members:
        families.setdefault(member.operator.family, []).append(member)
    for member in planner.recorded(recorded, families):
        families[member.operator.family].append(member)
    steps: list[Step] = []
    used: list[Member] = []
    considered = 0
    for family in families.values():
        known = {m.task.hash: m for m in family}
        between = planner.bridges(list(known.values()))
        considered += len(between)
        some = planner.steps([*known.values(), *between])
        steps += some
        used += [m for m in between if any(m.task.hash == s.task for s in some)]
    return Plan(
        (*tasks, *(m.task for m in used)),
        tuple(steps),
        considered,
    )


@dataclass(frozen=True)
class _Planner:
    target: Target
    rules: Sequence[Rule] | None
    costs: Costs
    hops: int | None

    def member(self, task: TuningTask, is_recorded: bool = False) -> Member:
        """What the planner knows of a task."""
        rules = rules_of(self.target) if self.rules is None else self.rules
        derived = frozenset(d.rules for d in derive(task.dag, self.target, rules))
        return Member(task, Operator.of(task.dag), derived, is_recorded)

    def recorded(
        self, rows: Iterable[WorkloadRow], families: Mapping[Family, Sequence[Member]]
    ) -> list[Member]:
        """The recorded workloads that are of these families, of each the nearest ones."""
        near: dict[Family, list[tuple[float, str, TuningTask]]] = {}
        for row in rows:
            dag = dag_from_json(row.dag)
            operator = Operator.of(dag)
            if operator.family in families:
                nests = (m.operator.nest for m in families[operator.family])
                far = min(self.costs.reuse(nest, operator.nest) for nest in nests)
                task = TuningTask(row.name, dag, 0.0, recorded_setting(row, dag))
                near.setdefault(operator.family, []).append((far, row.hash, task))
        chosen = [sorted(found, key=lambda f: f[:2])[:RECORDS] for found in near.values()]
        return [self.member(task, is_recorded=True) for found in chosen for *_, task in found]

    def bridges(self, family: Sequence[Member]) -> list[Member]:
        """Operators between those of one family, of which none is wanted for itself."""
        first = family[0]
        found = []
        for nest in bridges((m.operator.nest for m in family), self.hops):
            try:
                dag = bridge(first.task.dag, nest)
            except InputError:  # no operator of this family has that nest
                continue
            name = f"bridge_{'x'.join(map(str, nest))}"
            task = TuningTask(name, dag, 0.0, first.task.setting)
            found.append(replace(self.member(task), is_bridge=True))
        return found

    def steps(self, family: Sequence[Member]) -> list[Step]:
        """The cheapest way to programs for all of a family that are wanted, sources first; none
        for one that has no relatives.
        """
        graph = self._graph(family)
        wanted = [m.task.hash for m in family if m.task.weight]
        tree = steiner_tree(graph, ROOT, wanted)
        if len(tree) < 2:
            return []
        by_hash = {m.task.hash: m for m in family}
        return [self._step(by_hash[h], tree[h], graph) for h in _sources_first(tree)]

    def _step(self, member: Member, parent: str, graph: Graph[str]) -> Step:
        programs = round(graph[parent, member.task.hash])
        if parent != ROOT:
            return Step(member.task.hash, REUSE, parent, LENGTH)
        kind = RECORDED if member.is_recorded else SEARCH
        return Step(member.task.hash, kind, None, programs)

    def _graph(self, family: Sequence[Member]) -> Graph[str]:
        """The graph of optimisation choices (ETO, section 6)."""
        graph: dict[tuple[str, str], float] = {}
        for target in family:
            extra = self.costs.default if target.is_bridge else 0
            here = target.task.hash
            graph[ROOT, here] = 0.0 if target.is_recorded else self.costs.search + extra
            if target.is_recorded:
                continue
            found = [
                (self.costs.reuse(target.operator.nest, source.operator.nest) + extra, i)
                for i, source in enumerate(family)
                if source is not target and target.rules <= source.rules
            ]
            for cost, i in sorted(found)[:NEAREST]:
                graph[family[i].task.hash, here] = cost
        return graph


def _sources_first(tree: Tree[str]) -> list[str]:
    """The nodes of a tree but the root, each after its parent."""
    done = [ROOT]
    for parent in done:  # which grows meanwhile
        done += [child for child, source in tree.items() if source == parent]
    return done[1:]

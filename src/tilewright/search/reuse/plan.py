"""Which task reuses which: planned before a run, at the least expected number of programs.

    plan = make_plan(tasks, target, recorded)       recorded: tasks whose programs are known
    plan.tasks                                      the tasks, then bridges of weight 0
    plan.steps                                      in an order in which sources come first
    print(plan)                                     a tree a family

An operator may reuse another of its type (`family.py`) whose space has all of its rules: then what
was found there is best among as much as can be had here. The paper demands besides that one
iteration space dominate the other. On CPUs programs carry over where none does, too
(docs/findings.md); so this is a matter of cost alone.

Costs are expected programs. A search from nothing takes `Costs.search` of them, a reuse those that
its strategy will measure (`edges.py`). A bridge (ETO, section 6.2) costs its default program, too;
there are none where no tree with one can cost less than that without. What the records hold of this
machine is free; what they hold of another one costs a few programs, of which only measuring says
what they are worth here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tilewright.ground.errors import InputError
from tilewright.ground.text import clock, count
from tilewright.records.rows import FOREIGN, RECORDED, REUSE, SEARCH
from tilewright.search.progress import TRIAL_S
from tilewright.search.reuse.correspondence import abilities
from tilewright.search.reuse.edges import Member, ReuseEdges, distance
from tilewright.search.reuse.family import Family, Operator, bridge, bridges
from tilewright.search.reuse.graph import Graph, Tree, cost, steiner_tree
from tilewright.search.reuse.strategy import LENGTH, ROUND
from tilewright.search.strategies.table import RANKED, WHOLE
from tilewright.search.tasks import TuningTask
from tilewright.space.derivation import Rule
from tilewright.target import Target

ROOT = ""  # of the graph: searches from nothing
MINOR = 0.05  # of all work: families that make up less are left to the gradients
MAJOR = 0.25  # those that make up as much get a whole search
BALANCE = 8  # operations in the time of a byte from memory, roughly; only shares are told by it
RECORDS = 32  # recorded workloads of a family to choose from


@dataclass(frozen=True)
class Costs:
    """Expected programs: of a search from nothing; of one more where a step ended badly; of a
    default program, confirmed; of an operator that another machine has programs of. Those of a
    reuse are the edges' of a `mode`, where with `dominated` one operator dominates the other.
    """

    search: int = 128
    fallback: int = 64
    default: int = 5
    foreign: int = ROUND
    mode: str = RANKED
    dominated: bool = False


COSTS = {RANKED: Costs(), WHOLE: Costs(mode=WHOLE, dominated=True)}  # by mode; WHOLE as published


@dataclass(frozen=True)
class PlanStep:
    """What is done for one task, with `programs` trials: searched from nothing, or near the good
    programs of `source`, an earlier step's (REUSE), the records' (RECORDED) or those that
    another machine has of the task itself (FOREIGN). Hashes are tasks'.
    """

    task: str
    kind: str
    source: str | None
    programs: int


@dataclass(frozen=True)
class ReusePlan:
    """Steps for the tasks that matter and have relatives, sources first; others are searched as
    ever. `tasks` are those given, then bridges in use, of which `considered` came into question,
    and other machines' tasks; `recorded` are the sources that this machine's records hold. `rest`
    is how many programs the tasks without steps are worth.
    """

    tasks: tuple[TuningTask, ...]
    steps: tuple[PlanStep, ...]
    recorded: tuple[TuningTask, ...] = ()
    considered: int = 0
    rest: int = 0

    @property
    def programs(self) -> int:
        """How many the steps are expected to measure."""
        return sum(step.programs for step in self.steps)

    def __str__(self) -> str:
        """The steps as trees, and the tasks that have none."""
        lines = [self._summary]
        names = {task.hash: task.name for task in (*self.tasks, *self.recorded)}
        below: dict[str | None, list[str]] = {None: [task.hash for task in self.recorded]}
        told = {task.hash: "recorded" for task in self.recorded}
        for step in self.steps:
            above = None if step.kind == FOREIGN else step.source
            below.setdefault(above, []).append(step.task)
            told[step.task] = f"{_TOLD.get(step.kind, step.kind)}, {step.programs}"
        todo = [(hash_, 0) for hash_ in reversed(below[None])]
        while todo:
            hash_, depth = todo.pop()
            lines.append(f"{'  ' * depth}{'└ ' * bool(depth)}{names[hash_]}: {told[hash_]}")
            todo += [(inner, depth + 1) for inner in reversed(below.get(hash_, []))]
        alone = [task.name for task in self.tasks if task.hash not in told]
        if alone:
            lines.append(f"searched as ever: {', '.join(alone)} (about {self.rest})")
        return "\n".join(lines)

    @property
    def _summary(self) -> str:
        kinds = Counter(step.kind for step in self.steps)
        wanted = sum(task.weight > 0 for task in self.tasks)
        used = len(self.tasks) - wanted
        return (
            f"{count(wanted, 'task')}: {kinds[SEARCH]} to search first, {kinds[REUSE]} to reuse "
            f"others, {kinds[RECORDED]} to reuse records, {kinds[FOREIGN]} to try another "
            f"machine's; {count(self.considered, 'bridge')} considered, {used} used; "
            f"{count(self.programs, 'program')}, about {clock(self.programs * TRIAL_S)}"
        )


_TOLD = {RECORDED: REUSE, FOREIGN: "another machine's"}


def make_plan(
    tasks: Sequence[TuningTask],
    target: Target,
    recorded: Iterable[TuningTask] = (),
    foreign: Iterable[TuningTask] = (),
    rules: Sequence[Rule] | None = None,
    costs: Costs | None = None,
    hops: int | None = 1,
) -> ReusePlan:
    """The plan for some tasks. `recorded` are tasks whose programs are known, others or these,
    `foreign` those that other machines have programs of; `hops` is how far bridges go (None: all of
    them, 0: none).
    """
    costs = costs or COSTS[RANKED]
    edges = ReuseEdges(target, rules, costs.mode, costs.dominated)
    planner = _Planner(target, rules, costs, hops, edges)
    members = [planner.member(task) for task in tasks]
    families: dict[Family, list[Member]] = {}
    for member in members:
        families.setdefault(member.operator.family, []).append(member)
    known = {RECORDED: recorded, FOREIGN: foreign}
    for records in (FOREIGN, RECORDED):  # of a task of both, what this machine has counts
        for member in planner.recorded(known[records], families, records):
            families[member.operator.family].append(member)
    steps: list[PlanStep] = []
    sources: list[Member] = []
    considered = 0
    shares = _shares(tasks, [m.operator.family for m in members])
    for kind, share in sorted(shares.items(), key=lambda pair: -pair[1]):
        if share < MINOR:
            break
        family = {m.task.hash: m for m in families[kind]}
        some, between = planner.steps(list(family.values()), min(1.0, share / MAJOR))
        considered += len(between)
        every = [*family.values(), *between]
        steps += some
        reused = {step.source for step in some}
        sources += [m for m in every if m.task.hash in reused]
    return ReusePlan(
        (*tasks, *(m.task for m in sources if m.is_helper)),
        tuple(steps),
        tuple(m.task for m in sources if m.records == RECORDED),
        considered,
        rest_of(tasks, {step.task for step in steps}, costs.search),
    )


def rest_of(tasks: Sequence[TuningTask], stepped: Collection[str], search: int) -> int:
    """Programs that the tasks without steps are worth: each a whole search where its family is a
    MAJOR part of the work, and the less the less it is.
    """
    families = [Operator.of(task.dag.heaviest).family for task in tasks]
    shares = _shares(tasks, families)
    left = (f for task, f in zip(tasks, families, strict=True) if task.hash not in stepped)
    return sum(round(search * min(1.0, shares[family] / MAJOR)) for family in left)


def _shares(tasks: Sequence[TuningTask], families: Sequence[Family]) -> dict[Family, float]:
    """Each family's part of all work."""
    work: dict[Family, float] = defaultdict(float)
    for task, family in zip(tasks, families, strict=True):
        work[family] += _work(task)
    return {family: part / sum(work.values()) for family, part in work.items()}


@dataclass(frozen=True)
class _Planner:
    target: Target
    rules: Sequence[Rule] | None
    costs: Costs
    hops: int | None
    edges: ReuseEdges

    def member(self, task: TuningTask, records: str | None = None) -> Member:
        """What the planner knows of a task."""
        rules = abilities(task.dag.heaviest, self.target, self.rules)
        return Member(task, Operator.of(task.dag.heaviest), rules, records)

    def recorded(
        self,
        tasks: Iterable[TuningTask],
        families: Mapping[Family, Sequence[Member]],
        records: str,
    ) -> list[Member]:
        """The tasks with such records that are of these families, of each the nearest ones."""
        near: dict[Family, list[tuple[float, str, TuningTask]]] = {}
        for task in tasks:
            operator = Operator.of(task.dag.heaviest)
            if operator.family in families:
                nests = (m.operator.nest for m in families[operator.family])
                far = min(distance(nest, operator.nest) for nest in nests)
                near.setdefault(operator.family, []).append((far, task.hash, task))
        chosen = [sorted(found, key=lambda f: f[:2])[:RECORDS] for found in near.values()]
        wanted = {m.task.hash: m.task for some in families.values() for m in some}
        return [
            self.member(wanted.get(hash_, task), records)
            for found in chosen
            for _, hash_, task in found
        ]

    def bridges(self, family: Sequence[Member]) -> list[Member]:
        """Operators between those of one family, of which none is wanted for itself."""
        first = family[0]
        found = []
        for nest in bridges((m.operator.nest for m in family), self.hops):
            try:
                dag = bridge(first.task.dag.heaviest, nest)
            except InputError:  # no operator of this family has that nest
                continue
            name = f"bridge_{'x'.join(map(str, nest))}"
            task = TuningTask(name, dag, 0.0, first.task.setting)
            found.append(self.member(task))
        return found

    def steps(
        self, family: Sequence[Member], worth: float
    ) -> tuple[list[PlanStep], Sequence[Member]]:
        """The cheapest way to programs for all of a family that are wanted, sources first, and the
        bridges that came into question; no steps where none has relatives. A search gets that part
        of its programs that it is `worth`.
        """
        search = self.costs.search * worth
        graph = self._graph(family, search)
        tree = self._tree(family, graph)
        between: Sequence[Member] = ()
        if self.hops != 0 and cost(tree, graph) > self._least(family, graph, search):
            between = self.bridges(family)
            every = [*family, *between]
            more = self._graph(every, search)
            other = self._tree(every, more)
            if cost(other, more) < cost(tree, graph):
                family, graph, tree = every, more, other
        return self._steps(family, graph, tree), between

    def _tree(self, family: Sequence[Member], graph: Graph[str]) -> Tree[str]:
        """The cheaper of two: that with helpers is an approximation, which may cost more than one
        without.
        """
        wanted = [m.task.hash for m in family if m.task.weight]
        helpers = {m.task.hash for m in family if m.is_helper}
        direct = {edge: c for edge, c in graph.items() if not helpers.intersection(edge)}
        trees = [steiner_tree(some, ROOT, wanted) for some in (direct, graph)]
        return min(trees, key=lambda tree: cost(tree, graph))

    def _least(self, family: Sequence[Member], graph: Graph[str], search: float) -> float:
        """What no tree with a bridge costs less than: the cheapest edge into every operator that is
        wanted and into a bridge, at least one of them from the root.
        """
        least = min(self.edges.least, search)
        wanted = sum(min(least, graph[ROOT, m.task.hash]) for m in family if m.task.weight)
        first = min(c for (source, _), c in graph.items() if source == ROOT)
        return wanted + max(first, least) + self.costs.default

    def _steps(
        self, family: Sequence[Member], graph: Graph[str], tree: Tree[str]
    ) -> list[PlanStep]:
        records = {m.task.hash: m.records for m in family}
        if all(records[task] is None for task in tree) and len(tree) < 2:
            return []  # a search from nothing, as without a plan
        helpers = {m.task.hash for m in family if m.is_helper}
        found = []
        work = {m.task.hash: _work(m.task) for m in family}
        for task in _sources_first(tree, work):
            source = tree[task]
            extra = self.costs.default if task in helpers else 0
            if source != ROOT:
                kind = RECORDED if records[source] == RECORDED else REUSE
                programs = max(1, round(graph[source, task] - extra))
                found.append(PlanStep(task, kind, source, programs))
            elif records[task] == FOREIGN:
                programs = self.costs.foreign if task in helpers else LENGTH
                found.append(PlanStep(task, FOREIGN, task, programs))
            elif records[task] is None:
                found.append(PlanStep(task, SEARCH, None, round(graph[ROOT, task])))
        return found

    def _graph(self, family: Sequence[Member], search: float) -> Graph[str]:
        """The graph of optimisation choices (ETO, section 6)."""
        graph: dict[tuple[str, str], float] = {}
        for target in family:
            extra = self.costs.default if target.is_helper else 0
            here = target.task.hash
            if target.records == RECORDED:
                graph[ROOT, here] = 0.0
                continue
            foreign = self.costs.foreign if target.is_helper else LENGTH
            graph[ROOT, here] = (foreign if target.records == FOREIGN else search) + extra
            for source, programs in self.edges.into(target, family).items():
                graph[source, here] = programs + extra
        return graph


def _work(task: TuningTask) -> float:
    """About what a task adds to its models' time, in operations."""
    return task.weight * (task.flops + BALANCE * task.dag.heaviest.least_bytes)


def _sources_first(tree: Tree[str], work: Mapping[str, float]) -> list[str]:
    """The nodes of a tree but the root, each after its parent; of those whose parents are done the
    one first below which most work is.
    """
    below = dict(work)
    for task in tree:
        source = tree[task]
        while source != ROOT:
            below[source] += work[task]
            source = tree[source]
    ready, done = [t for t, source in tree.items() if source == ROOT], []
    while ready:
        task = max(ready, key=lambda t: below[t])
        ready.remove(task)
        done.append(task)
        ready += [t for t, source in tree.items() if source == task]
    return done

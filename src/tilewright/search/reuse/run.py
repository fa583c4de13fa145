"""A plan in a tuning run: what a tuner is given instead of one strategy and the gradients alone.

    planned = Planned.begin(tasks, database, machine, target, rules, seed)
    planned.plan.tasks               those given, and bridges
    planned.maker(task)              what proposes a task's programs
    planned.scheduler(...)           the plan's steps first, then the gradients

The plan is recorded before anything is measured, and which programs a step reuses when it begins:
a resumed run does what the interrupted one would have done, whatever was recorded meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from math import inf
from statistics import median
from typing import Any, TypeAlias

from tilewright.cost.candidates import Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.ground import log
from tilewright.ground.errors import RecordsError
from tilewright.ground.text import count
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.matching import others_like
from tilewright.records.reader import Reader
from tilewright.records.rows import DEFAULT, FOREIGN, RECORDED, ReuseRow, Trial, best_first
from tilewright.search.model.cost_model import CostModel
from tilewright.search.objectives import ObjectiveModel
from tilewright.search.progress import TRIAL_S
from tilewright.search.reuse.correspondence import Named, kin
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.hierarchical import WholeReuse
from tilewright.search.reuse.plan import Costs, PlanStep, ReusePlan, make_plan, rest_of
from tilewright.search.reuse.strategy import Relative, ReuseStrategy
from tilewright.search.strategies.memory import as_population
from tilewright.search.strategies.table import RANKED, WHOLE, EvolutionStrategy, Maker, Strategy
from tilewright.search.task_scheduler import TaskInfo, TaskScheduler
from tilewright.search.tasks import TuningTask
from tilewright.space.derivation import Rule
from tilewright.space.space import Space
from tilewright.target import Target

PROGRAMS = 3  # of relatives, their best, that a reuse begins with
WELL_KNOWN = 32  # trials that make a recorded workload a source
Searching: TypeAlias = EvolutionStrategy | ReuseStrategy | WholeReuse
BEHIND = 0.7  # of what the estimate leads to expect, by the others of a tree: too slow to be left


@dataclass
class Planned:
    """A plan and the records that it draws on. `name` is the plan's, `mode` how its steps reuse; a
    task that ends up behind gets `fallback` programs more.
    """

    plan: ReusePlan
    name: str
    database: Database
    machine: Machine
    target: Target
    rules: Sequence[Rule] | None
    seed: int
    fallback: int
    mode: str = RANKED
    _rows: dict[str, ReuseRow] = field(default_factory=dict)
    _spaces: dict[str, Space] = field(default_factory=dict)
    _scheduler: PlanScheduler | None = None
    _searched: dict[str, Searching] = field(default_factory=dict)

    @staticmethod
    def begin(
        tasks: Sequence[TuningTask],
        database: Database,
        machine: Machine,
        target: Target,
        rules: Sequence[Rule] | None,
        seed: int,
        costs: Costs | None = None,
        hops: int | None = 1,
    ) -> Planned:
        """The plan that this run, of that seed, was begun with; a new one, by `costs` and `hops`
        (see `make_plan`), where it begins now.
        """
        chosen = costs or Costs()
        known_by = [*sorted(t.hash for t in tasks), *([WHOLE] if chosen.mode == WHOLE else [])]
        name = sha256(" ".join(known_by).encode()).hexdigest()[:32]
        rows = database.plan(machine.fingerprint, name, seed)
        if rows:
            plan = _recorded_plan(tasks, rows, database, chosen.search)
        else:
            recorded, foreign = known_tasks(database, machine)
            plan = make_plan(tasks, target, recorded, foreign, rules, chosen, hops)
            rows = _record(plan, name, database, machine, seed)
        return Planned(
            plan, name, database, machine, target, rules, seed, chosen.fallback, chosen.mode,
            {row.workload_hash: row for row in rows},
        )  # fmt: skip

    def maker(self, task: TuningTask) -> Maker:
        """What proposes a task's programs."""

        def make(space: Space, extractor: FeatureExtractor, model: CostModel) -> Strategy:
            self._spaces[task.hash] = space
            parts, row = (space, extractor, model), self._rows.get(task.hash)
            found: Searching
            if row is None or row.source_hash is None:
                found = EvolutionStrategy(*parts)
            elif self.mode == WHOLE and row.kind != FOREIGN:
                found = WholeReuse(*parts, partial(self.relatives, row))
            else:
                found = ReuseStrategy(*parts, partial(self.relatives, row), row.programs)
            self._searched[task.hash] = found
            return found

        return make

    def scheduler(self, *args: Any, **options: Any) -> PlanScheduler:
        """A scheduler that walks over the plan first; arguments are those of `PlanScheduler` behind
        what the plan says.
        """
        index = {task.hash: i for i, task in enumerate(self.plan.tasks)}
        allotments = [(index[s.task], s.programs) for s in self.plan.steps if s.programs]

        def more() -> dict[int, int]:
            return {index[task]: self.fallback for task in self.behind()}

        def is_over(task: int) -> bool | None:
            strategy = self._searched[self.plan.tasks[task].hash]
            return None if isinstance(strategy, EvolutionStrategy) else strategy.is_over

        self._scheduler = PlanScheduler(allotments, is_over, more, *args, **options)
        return self._scheduler

    @property
    def spent(self) -> dict[str, int]:
        """How many programs each step has measured so far, by its task's hash."""
        spent = self._scheduler.spent if self._scheduler else {}
        return {self.plan.tasks[i].hash: programs for i, programs in spent.items()}

    @property
    def left_out(self) -> list[str]:
        """Names of the tasks whose steps the budget did not reach, the heaviest first."""
        left = self._scheduler.left if self._scheduler else []
        return [self.plan.tasks[i].name for i in left if self.plan.tasks[i].weight]

    def tell(self) -> None:
        """Log what reuses took of what was expected; warn of tasks that were left out."""
        reuses = [step for step in self.plan.steps if step.source is not None]
        if reuses:
            log.info(
                "reuse took %d of %d expected programs",
                sum(self.spent.get(step.task, 0) for step in reuses),
                sum(step.programs for step in reuses),
            )
        if names := self.left_out:
            tasks = count(len(names), "task")
            log.warning(
                "the budget ended before the plan: %s not begun (%s)", tasks, ", ".join(names)
            )

    def behind(self) -> list[str]:
        """The tasks whose programs, by the estimate, should be quicker: their share of it is less
        than BEHIND of what the others in their tree have of theirs.
        """
        trees: dict[str, dict[str, float]] = {}
        for task in (step.task for step in self.plan.steps):
            strategy = self._searched[task]
            if strategy.measured:
                seconds, best = strategy.measured[0]
                (estimated,) = strategy.extractor.latency(as_population([best]))
                trees.setdefault(self._first(task), {})[task] = float(estimated) / seconds
        return [
            task
            for shares in trees.values()
            for task, share in shares.items()
            if share < BEHIND * median(shares.values()) and self._task(task).weight
        ]

    def _first(self, task: str) -> str:
        """Where a task's tree begins."""
        row = self._rows.get(task)
        while row is not None and row.source_hash not in (None, task):
            task = str(row.source_hash)
            row = self._rows.get(task)
        return task

    def relatives(self, row: ReuseRow) -> list[Relative]:
        """Whom a step reuses, with the programs that it began with, or begins now."""
        if not row.trials:
            row = self.database.pin(replace(row, trials=tuple(self._examples(row))))
        found = self._with_programs(row.workload_hash, row.trials)
        if not found:
            log.warning(
                "%s: none of its source's programs can be had by today's rules; it is searched as "
                "if it had no relatives", self._task(row.workload_hash).name,
            )  # fmt: skip
        return found

    def _with_programs(self, task: str, trials: Sequence[int]) -> list[Relative]:
        """The operators of some trials, with those of their programs that are of use to a task."""
        known = [t for t in map(self.database.trial, trials) if t is not None]
        found = []
        for workload in dict.fromkeys(t.workload_hash for t in known):
            of_it = [t for t in known if t.workload_hash == workload]
            programs = [p for t in of_it if (p := self._program(task, t)) is not None]
            if programs:
                space = self._space(workload)
                named = Named(space, Operator.of(space.dag))
                every = self.database.trials(workload, of_it[0].machine)
                untuned = (t for t in every if t.origin == DEFAULT)
                gain = gain_of([*islice(untuned, 1), *of_it])
                found.append(Relative(named, concatenate(programs), gain))
        return found

    def _task(self, workload_hash: str) -> TuningTask:
        known = (t for t in self.plan.tasks if t.hash == workload_hash)
        return next(known, None) or recorded_task(self.database, workload_hash)

    def _examples(self, row: ReuseRow) -> list[int]:
        """Ids of the source's best trials and, where the source had few trials itself, of the best
        one that it descends from; where none of these can be had here, of the next source's.
        """
        task, source = row.workload_hash, row.source_hash
        assert source is not None
        if row.kind == FOREIGN:
            others = (self._best(task, task, PROGRAMS, m) for m in self._others)
            return next(filter(None, others), [])
        first = self._first(task)
        tree = (s.task for s in self.plan.steps if self._first(s.task) == first)
        rest = (other for other in tree if other != task)
        for other in dict.fromkeys([source, first, *rest]):
            found = self._best(task, other, PROGRAMS - (first != other))
            if found and other != source:
                log.warning(
                    "%s: no program of %s can be had here; it reuses %s",
                    *(self._task(h).name for h in (task, source, other)),
                )
            if found:
                return found if first == other else [*found, *self._best(task, first, 1)]
        return _ids(best_first(self._trials(source)), PROGRAMS)  # none of use, but found again

    def _best(self, task: str, source: str, n: int, machine: Machine | None = None) -> list[int]:
        """Ids of a source's best trials on a machine (None: this one) that are of use to a task."""
        ranked = best_first(self._trials(source, machine))
        return _ids((t for t in ranked if self._program(task, t) is not None), n)

    def _trials(self, workload_hash: str, machine: Machine | None = None) -> Iterable[Trial]:
        return self.database.trials(workload_hash, (machine or self.machine).fingerprint)

    def _program(self, task: str, trial: Trial) -> Population | None:
        """A trial's program in its own space, None where today's rules do not make such programs
        there or of the task.
        """
        there = self._space(trial.workload_hash)
        found = there.row_of(trial.gene)
        rules = {kin(sketch.rules) for sketch in self._space(task).sketches}
        is_of_use = found is not None and kin(there.sketches[found.sketch[0]].rules) in rules
        return found if is_of_use else None

    @property
    def _others(self) -> list[Machine]:
        return others_like(self.database, self.machine)

    def _space(self, workload_hash: str) -> Space:
        if workload_hash not in self._spaces:
            task = self._task(workload_hash)
            self._spaces[workload_hash] = task.space(self.target, self.rules)
        return self._spaces[workload_hash]


def _ids(trials: Iterable[Trial], n: int) -> list[int]:
    return [t.id for t in islice(trials, n) if t.id is not None]


def gain_of(trials: Iterable[Trial]) -> float:
    """How many times as fast as the untuned program of their workload the best of some trials is;
    inf where that is not known. As they were measured in the search: what confirms them comes
    later.
    """
    known = [(t.origin == DEFAULT, t.measured_s) for t in trials if t.measured_s]
    untuned = next((seconds for is_default, seconds in known if is_default), inf)
    return untuned / min((seconds for _, seconds in known), default=1.0)


def well_known(database: Reader, machine: str) -> list[TuningTask]:
    """The workloads of which a machine's records hold programs to reuse."""
    trials: Counter[str] = Counter()
    for group in database.training_set(machine):
        trials[group.workload_hash] += len(group.decisions)
    rows = [row for row in database.workloads() if trials[row.hash] >= WELL_KNOWN]
    return [TuningTask.of(row) for row in rows]


def known_tasks(database: Database, machine: Machine) -> tuple[list[TuningTask], list[TuningTask]]:
    """The workloads of which this machine's records hold programs to reuse, and those of which
    other machines' do.
    """
    elsewhere: dict[str, TuningTask] = {}
    for other in others_like(database, machine):
        elsewhere |= {task.hash: task for task in well_known(database, other.fingerprint)}
    return well_known(database, machine.fingerprint), list(elsewhere.values())


def _record(
    plan: ReusePlan, name: str, database: Database, machine: Machine, seed: int
) -> list[ReuseRow]:
    database.add_machine(machine)
    for task in plan.tasks:
        database.add_workload(task.row)
    rows = [
        ReuseRow(
            machine.fingerprint,
            name,
            seed,
            position,
            s.task,
            s.kind,
            s.source,
            s.programs,
            s.programs * TRIAL_S,
        )
        for position, s in enumerate(plan.steps)
    ]
    return database.add_plan(rows)


def _recorded_plan(
    tasks: Sequence[TuningTask], rows: Sequence[ReuseRow], database: Database, search: int
) -> ReusePlan:
    """A plan as the records have it."""
    wanted = {task.hash for task in tasks}
    bridges = [r.workload_hash for r in rows if r.workload_hash not in wanted]
    sources = dict.fromkeys(r.source_hash for r in rows if r.kind == RECORDED and r.source_hash)
    steps = tuple(PlanStep(r.workload_hash, r.kind, r.source_hash, r.programs) for r in rows)
    return ReusePlan(
        (*tasks, *(recorded_task(database, h) for h in bridges)),
        steps,
        tuple(recorded_task(database, h) for h in sources),
        rest=rest_of(tasks, {r.workload_hash for r in rows}, search),
    )


def recorded_task(database: Database, workload_hash: str) -> TuningTask:
    """A recorded workload as a task that nobody waits for."""
    row = database.workload(workload_hash)
    if row is None:
        raise RecordsError(
            f"{database.name} lacks workload {workload_hash[:8]}, which a plan of reuse names: "
            "tune with another seed, which plans anew"
        )
    return TuningTask.of(row)


class PlanScheduler(TaskScheduler):
    """Gives the plan's steps their programs, one after the other: as many as `allotments`, (task,
    programs), say, or until one `is_over` (None: it does not know). Then those tasks that ended up
    behind get `more` of them, and the gradients divide what is left of the budget, or `rest`
    programs. Tasks of no model are bridges, which get their step and nothing else.
    """

    def __init__(
        self,
        allotments: Sequence[tuple[int, int]],
        is_over: Callable[[int], bool | None],
        more: Callable[[], Mapping[int, int]],
        tasks: Sequence[TaskInfo],
        models: Sequence[ObjectiveModel],
        *args: Any,
        rest: int | None = None,
        **options: Any,
    ) -> None:
        wanted = {task for model in models for task in model.tasks}
        bridges = tuple(i for i in range(len(tasks)) if i not in wanted)
        first, *others = models
        weights = (*first.weights, *(0.0 for _ in bridges))
        first = replace(first, tasks=(*first.tasks, *bridges), weights=weights)
        super().__init__(tasks, [first, *others], *args, **options)
        self._left = dict(allotments)
        self.spent = dict.fromkeys(self._left, 0)  # by the steps
        self._is_over, self._rest = is_over, rest
        self._more: Callable[[], Mapping[int, int]] | None = more

    def tell(self, task: int, best_latency_s: float, trials: int) -> None:
        super().tell(task, best_latency_s, trials)
        if self._rest is not None and self._step() is None:
            self._rest -= trials
        left = self._left.get(task, 0) - trials
        over = self._is_over(task) if self._more else None
        if self._more and task in self.spent:
            self.spent[task] += trials
        self._left[task] = left if over is None else 0 if over else max(left, 1)
        self._extend()

    def exhausted(self, task: int) -> None:
        super().exhausted(task)
        self._left[task] = 0
        self._extend()

    @property
    def left(self) -> list[int]:
        """The tasks whose steps have not begun."""
        return [task for task in self._left if not self._curves[task] and self._left[task] > 0]

    def _extend(self) -> None:
        if self._more is not None and self._step() is None:
            self._left = {t: n for t, n in self._more().items() if not self._exhausted[t]}
            self._more = None

    @property
    def done(self) -> bool:
        is_spent = self._rest is not None and self._rest <= 0
        return self._step() is None and (is_spent or super().done)

    def most(self, task: int) -> float:
        return super().most(task) if self._step() is None else self._left[task]

    @property
    def ready(self) -> bool:
        """A step's programs are known when those before are, so no two steps are under way."""
        step = self._step()
        if step is not None:
            return step not in self.held and self._left[step] > sum(self._under_way[step])
        return super().ready and (self._rest is None or self._rest > sum(map(sum, self._under_way)))

    def next(self) -> int:
        step = self._step()
        return super().next() if step is None else step

    def _step(self) -> int | None:
        """The first task whose step is not over."""
        return next((task for task, programs in self._left.items() if programs > 0), None)

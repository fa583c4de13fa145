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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from statistics import median
from typing import Any

from tilewright.cost.candidates import concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.errors import RecordsError
from tilewright.log import log
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import RECORDED, ReuseRow, best_first
from tilewright.search.cost_model import CostModel
from tilewright.search.memory import as_population
from tilewright.search.objectives import ObjectiveModel
from tilewright.search.progress import TRIAL_S
from tilewright.search.reuse.correspondence import Named
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.plan import Costs, Plan, Step, make_plan
from tilewright.search.reuse.strategy import Relative, ReuseStrategy
from tilewright.search.strategies import EvolutionStrategy, Maker, Strategy
from tilewright.search.task_scheduler import TaskInfo, TaskScheduler
from tilewright.search.tasks import TuningTask
from tilewright.space.derivation import Rule
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.text import count

PROGRAMS = 3  # of relatives, their best, that a reuse begins with
WELL_KNOWN = 32  # trials that make a recorded workload a source
BEHIND = 0.7  # of what the estimate leads to expect, by the others of a tree: too slow to be left


@dataclass
class Planned:
    """A plan and the records that it draws on. `machine` is a fingerprint, `name` the plan's;
    a task that ends up behind gets `fallback` programs more.
    """

    plan: Plan
    name: str
    database: Database
    machine: str
    target: Target
    rules: Sequence[Rule] | None
    seed: int
    fallback: int
    _rows: dict[str, ReuseRow] = field(default_factory=dict)
    _spaces: dict[str, Space] = field(default_factory=dict)
    _scheduler: PlanScheduler | None = None
    _searched: dict[str, EvolutionStrategy | ReuseStrategy] = field(default_factory=dict)

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
        name = sha256(" ".join(sorted(t.hash for t in tasks)).encode()).hexdigest()[:32]
        chosen = costs or Costs()
        rows = database.plan(machine.fingerprint, name, seed)
        if rows:
            plan = _recorded_plan(tasks, rows, database)
        else:
            known = well_known(database, machine.fingerprint)
            plan = make_plan(tasks, target, known, rules, chosen, hops)
            rows = _record(plan, name, database, machine, seed)
        return Planned(
            plan, name, database, machine.fingerprint, target, rules, seed, chosen.fallback,
            {row.workload_hash: row for row in rows},
        )  # fmt: skip

    def maker(self, task: TuningTask) -> Maker:
        """What proposes a task's programs."""

        def make(space: Space, extractor: FeatureExtractor, model: CostModel) -> Strategy:
            self._spaces[task.hash] = space
            row = self._rows.get(task.hash)
            if row is None or row.source_hash is None:
                found: EvolutionStrategy | ReuseStrategy
                found = EvolutionStrategy(space, extractor, model)
            else:
                found = ReuseStrategy(space, extractor, model, partial(self.relatives, row))
            self._searched[task.hash] = found
            return found

        return make

    def scheduler(self, *args: Any, **options: Any) -> PlanScheduler:
        """A scheduler that walks over the plan first; arguments are those of `TaskScheduler`."""
        index = {task.hash: i for i, task in enumerate(self.plan.tasks)}
        allotments = [(index[s.task], s.programs) for s in self.plan.steps if s.programs]

        def more() -> dict[int, int]:
            return {index[task]: self.fallback for task in self.behind()}

        self._scheduler = PlanScheduler(allotments, more, *args, **options)
        return self._scheduler

    @property
    def left_out(self) -> list[str]:
        """Names of the tasks whose steps the budget did not reach, the heaviest first."""
        left = self._scheduler.left if self._scheduler else []
        return [self.plan.tasks[i].name for i in left if self.plan.tasks[i].weight]

    def tell_left_out(self) -> None:
        """Warn of them, where there are any."""
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
        while task in self._rows and (source := self._rows[task].source_hash) is not None:
            task = source
        return task

    def relatives(self, row: ReuseRow) -> list[Relative]:
        """Whom a step reuses, with the programs that it began with, or begins now."""
        if not row.trials:
            row = self.database.pin(replace(row, trials=tuple(self._examples(row))))
        found = self._with_programs(row.trials)
        if not found:
            log.warning(
                "%s: none of its source's programs can be had by today's rules; it is searched as "
                "if it had no relatives", self._task(row.workload_hash).name,
            )  # fmt: skip
        return found

    def _with_programs(self, trials: Sequence[int]) -> list[Relative]:
        """The operators of some trials, with those of their programs that are in their spaces."""
        known = [t for t in map(self.database.trial, trials) if t is not None]
        found = []
        for workload in dict.fromkeys(t.workload_hash for t in known):
            space = self._space(workload)
            genes = [t.gene for t in known if t.workload_hash == workload]
            programs = [p for p in map(space.row_of, genes) if p is not None]
            if programs:
                named = Named(space, Operator.of(space.dag))
                found.append(Relative(named, concatenate(programs)))
        return found

    def _task(self, workload_hash: str) -> TuningTask:
        known = (t for t in self.plan.tasks if t.hash == workload_hash)
        return next(known, None) or recorded_task(self.database, workload_hash)

    def _examples(self, row: ReuseRow) -> list[int]:
        """Ids of the source's best trials and, where the source had few trials itself, of the best
        one that it descends from; where rules have changed and none of these can be had any more,
        of the next source's.
        """
        source, first = row.source_hash, self._first(row.workload_hash)
        assert source is not None
        tree = (s.task for s in self.plan.steps if self._first(s.task) == first)
        rest = (task for task in tree if task != row.workload_hash)
        for other in dict.fromkeys([source, first, *rest]):
            found = self._best(other, PROGRAMS - (first != other))
            if found:
                return found if first == other else [*found, *self._best(first, 1)]
        return self._best(source, PROGRAMS, of_today=False)

    def _best(self, workload_hash: str, n: int, of_today: bool = True) -> list[int]:
        """Ids of a workload's best trials, those of its space `of_today`."""
        ranked = best_first(self.database.trials(workload_hash, self.machine))
        had = (t for t in ranked if not of_today or self._space(workload_hash).row_of(t.gene))
        return [t.id for t in islice(had, n) if t.id is not None]

    def _space(self, workload_hash: str) -> Space:
        if workload_hash not in self._spaces:
            task = self._task(workload_hash)
            self._spaces[workload_hash] = task.space(self.target, self.rules)
        return self._spaces[workload_hash]


def well_known(database: Database, machine: str) -> list[TuningTask]:
    """The workloads of which a machine's records hold programs to reuse."""
    trials: Counter[str] = Counter()
    for group in database.training_set(machine):
        trials[group.workload_hash] += len(group.decisions)
    rows = [row for row in database.workloads() if trials[row.hash] >= WELL_KNOWN]
    return [TuningTask.of(row) for row in rows]


def _record(
    plan: Plan, name: str, database: Database, machine: Machine, seed: int
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
    tasks: Sequence[TuningTask], rows: Sequence[ReuseRow], database: Database
) -> Plan:
    """A plan as the records have it."""
    wanted = {task.hash for task in tasks}
    bridges = [r.workload_hash for r in rows if r.workload_hash not in wanted]
    sources = dict.fromkeys(r.source_hash for r in rows if r.kind == RECORDED and r.source_hash)
    steps = tuple(Step(r.workload_hash, r.kind, r.source_hash, r.programs) for r in rows)
    return Plan(
        (*tasks, *(recorded_task(database, h) for h in bridges)),
        steps,
        tuple(recorded_task(database, h) for h in sources),
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
    """Gives the plan's steps their programs, one after the other; then those tasks that ended up
    behind `more` of them; and what is left of the budget as the gradients say. `allotments` are
    (task, programs). Tasks of no model are bridges, which get their step and nothing else.
    """

    def __init__(
        self,
        allotments: Sequence[tuple[int, int]],
        more: Callable[[], Mapping[int, int]],
        tasks: Sequence[TaskInfo],
        models: Sequence[ObjectiveModel],
        *args: Any,
        **options: Any,
    ) -> None:
        wanted = {task for model in models for task in model.tasks}
        bridges = tuple(i for i in range(len(tasks)) if i not in wanted)
        first, *others = models
        weights = (*first.weights, *(0.0 for _ in bridges))
        first = replace(first, tasks=(*first.tasks, *bridges), weights=weights)
        super().__init__(tasks, [first, *others], *args, **options)
        self._left = dict(allotments)
        self._more: Callable[[], Mapping[int, int]] | None = more

    def tell(self, task: int, best_latency_s: float, trials: int) -> None:
        super().tell(task, best_latency_s, trials)
        self._left[task] = self._left.get(task, 0) - trials
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
        return self._step() is None and super().done

    def next(self) -> int:
        step = self._step()
        return super().next() if step is None else step

    def _step(self) -> int | None:
        """The first task whose step is not over."""
        return next((task for task, programs in self._left.items() if programs > 0), None)

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
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Any

from tilewright.cost.candidates import concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.errors import RecordsError
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import RECORDED, ReuseRow
from tilewright.search.cost_model import CostModel
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

PROGRAMS = 3  # of relatives, their best, that a reuse begins with
WELL_KNOWN = 32  # trials that make a recorded workload a source


@dataclass
class Planned:
    """A plan and the records that it draws on. `machine` is a fingerprint, `name` the plan's."""

    plan: Plan
    name: str
    database: Database
    machine: str
    target: Target
    rules: Sequence[Rule] | None
    seed: int
    _rows: dict[str, ReuseRow] = field(default_factory=dict)
    _spaces: dict[str, Space] = field(default_factory=dict)

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
        rows = database.plan(machine.fingerprint, name, seed)
        if rows:
            plan = _recorded_plan(tasks, rows, database)
        else:
            known = well_known(database, machine.fingerprint)
            plan = make_plan(tasks, target, known, rules, costs, hops)
            rows = _record(plan, name, database, machine, seed)
        return Planned(
            plan, name, database, machine.fingerprint, target, rules, seed,
            {row.workload_hash: row for row in rows},
        )  # fmt: skip

    def maker(self, task: TuningTask) -> Maker:
        """What proposes a task's programs."""

        def make(space: Space, extractor: FeatureExtractor, model: CostModel) -> Strategy:
            self._spaces[task.hash] = space
            row = self._rows.get(task.hash)
            if row is None or row.source_hash is None:
                return EvolutionStrategy(space, extractor, model)
            return ReuseStrategy(space, extractor, model, partial(self.relatives, row))

        return make

    def scheduler(self, *args: Any, **options: Any) -> PlanScheduler:
        """A scheduler that walks over the plan first; arguments are those of `TaskScheduler`."""
        index = {task.hash: i for i, task in enumerate(self.plan.tasks)}
        allotments = [(index[s.task], s.programs) for s in self.plan.steps if s.programs]
        return PlanScheduler(allotments, *args, **options)

    def relatives(self, row: ReuseRow) -> list[Relative]:
        """Whom a step reuses, with the programs that it began with, or begins now."""
        if not row.trials:
            row = self.database.pin(replace(row, trials=tuple(self._examples(row))))
        trials = [t for t in map(self.database.trial, row.trials) if t is not None]
        found = []
        for workload in dict.fromkeys(t.workload_hash for t in trials):
            space = self._space(workload)
            genes = [t.gene for t in trials if t.workload_hash == workload]
            programs = [p for p in map(space.row_of, genes) if p is not None]
            if programs:
                named = Named(space, Operator.of(space.dag))
                found.append(Relative(named, concatenate(programs)))
        return found

    def _examples(self, row: ReuseRow) -> list[int]:
        """Ids of the source's best trials and, where the source had few trials itself, of the best
        one that it descends from.
        """
        source = first = row.source_hash
        while first in self._rows and self._rows[first].source_hash is not None:
            first = self._rows[first].source_hash
        assert source is not None and first is not None
        if first == source:
            return self._best(source, PROGRAMS)
        return [*self._best(source, PROGRAMS - 1), *self._best(first, 1)]

    def _best(self, workload_hash: str, n: int) -> list[int]:
        trials = [t for t in self.database.trials(workload_hash, self.machine) if t.ok]
        ranked = sorted(trials, key=lambda t: (not t.confirmed_s, t.latency_s, t.id))
        return [t.id for t in ranked[:n] if t.id is not None]

    def _space(self, workload_hash: str) -> Space:
        if workload_hash not in self._spaces:
            task = recorded_task(self.database, workload_hash)
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
    """Gives the plan's steps their programs, one after the other, and what is left of the budget
    as the gradients say. `allotments` are (task, programs). Tasks of no model are bridges, which
    get nothing else.
    """

    def __init__(
        self,
        allotments: Sequence[tuple[int, int]],
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

    def tell(self, task: int, best_latency_s: float, trials: int) -> None:
        super().tell(task, best_latency_s, trials)
        if task in self._left:
            self._left[task] -= trials

    def exhausted(self, task: int) -> None:
        super().exhausted(task)
        self._left.pop(task, None)

    @property
    def done(self) -> bool:
        return self._step() is None and super().done

    def next(self) -> int:
        step = self._step()
        return super().next() if step is None else step

    def _step(self) -> int | None:
        """The first task whose step is not over."""
        return next((task for task, programs in self._left.items() if programs > 0), None)

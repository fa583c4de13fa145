"""What a machine's records tell of its tasks and models, as arrays and sums.

    history = read_history(database, machine, programs)
    history.tasks[0].best_s, history.models[0].curve().latency_s

All figures of the page come from here. A trial's latency is the one to believe: of its
confirmation, where it was confirmed. Seconds of tuning are those of `Clock`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import geometric_mean

import numpy as np
from numpy.typing import NDArray

from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import (
    DEFAULT,
    CeilingsRow,
    LoadRow,
    ModelRow,
    ModelTask,
    RunRow,
    TrialLine,
    WorkloadRow,
    told_apart,
)
from tilewright.report.clock import Clock
from tilewright.report.roofline import Roofline

Floats = NDArray[np.float64]
MOST_PAIRS = 256  # trials of a round that are compared pair by pair


@dataclass(frozen=True, slots=True)
class Program:
    """The printed forms of a task's best program.

    `least_bytes` are read and written at least: every input and output once. `note` says why a
    form is missing. `ir` is for `target`.
    """

    least_bytes: int = 0
    math: str = ""
    sketch: str = ""
    decisions: tuple[tuple[str, int], ...] = ()
    steps: str = ""
    nest: str = ""
    ir: str = ""
    target: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Trials that failed alike, with the first one's message."""

    stage: str
    error: str
    message: str
    trials: int
    tasks: int


@dataclass(frozen=True)
class TaskHistory:
    """One task on one machine.

    `lines` are its trials in order, `at_s` the seconds of tuning when each was recorded, `given_s`
    how long the task was worked on. `calls` names the models and how often each runs it.
    """

    workload: WorkloadRow
    lines: tuple[TrialLine, ...]
    at_s: Floats
    given_s: float
    calls: tuple[tuple[str, int], ...]
    program: Program | None
    roofline: Roofline

    @property
    def name(self) -> str:
        return self.workload.name

    @property
    def key(self) -> str:
        """A short unique name for links."""
        return self.workload.hash[:12]

    @cached_property
    def latency_s(self) -> Floats:
        """Of each trial; infinite where it failed. Where programs were measured again in turns,
        none that was not counts for faster than the best of them.
        """
        found = _floats([line.latency_s for line in self.lines])
        again = np.array([line.confirmed for line in self.lines], bool)
        if not (again & np.isfinite(found)).any():
            return found
        return np.where(again, found, np.maximum(found, found[again].min()))

    @cached_property
    def best(self) -> TrialLine | None:
        """The fastest correct trial, of those measured again if there are any; ties: the first."""
        later = np.array([not line.confirmed for line in self.lines], bool)
        number = int(np.lexsort((later, self.latency_s))[0]) if self.lines else 0
        return self.lines[number] if np.isfinite(self.latency_s[number]) else None

    @property
    def best_s(self) -> float | None:
        """Its latency."""
        return None if self.best is None else self.best.latency_s

    @property
    def default_s(self) -> float | None:
        """The latency of the untuned program, unless it does not compare with that of the best:
        one was measured again in turns and the other was not.
        """
        default = next((x for x in self.lines if x.origin == DEFAULT), None)
        if default is None or self.best is None:
            return None if default is None else default.latency_s
        is_same = self.best.confirmed == default.confirmed
        return default.latency_s if is_same or self.best is default else None

    @property
    def failed(self) -> int:
        """How many trials failed."""
        return sum(line.error is not None for line in self.lines)

    @property
    def weight(self) -> int:
        """Calls in all models together; 1 for a task of none."""
        return sum(calls for _, calls in self.calls) or 1

    @property
    def cost_s(self) -> float:
        """What it adds to the estimated latency; infinite while nothing ran."""
        return float("inf") if self.best_s is None else self.weight * self.best_s

    @property
    def improvements(self) -> NDArray[np.int64]:
        """Numbers of the trials that were faster than all before."""
        best = np.minimum.accumulate(self.latency_s)
        before = np.concatenate([[np.inf], best[:-1]])
        return np.flatnonzero(best < before)

    @property
    def least_s(self) -> float | None:
        """The least time that the machine's limits allow; None where they are not known."""
        bytes_ = self.program.least_bytes if self.program else 0
        return self.roofline.least_s(self.workload.flops, bytes_)

    @property
    def roofline_fraction(self) -> float | None:
        """How near the best program comes to that, from 0 to 1 (measured limits vary a little)."""
        if self.best_s is None or self.least_s is None:
            return None
        return self.least_s / self.best_s

    @cached_property
    def predicted(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Of trials that were predicted and ran: score, measured share of the best speed, number.

        The share is of the task's fastest trial as measured then.
        """
        rows = [
            (x.predicted, x.measured_s, i)
            for i, x in enumerate(self.lines)
            if x.predicted is not None and x.measured_s is not None
        ]
        table = np.array(rows, np.float64).reshape(-1, 3)
        fastest = min((x.measured_s for x in self.lines if x.measured_s is not None), default=0.0)
        return table[:, 0], fastest / table[:, 1], table[:, 2].astype(np.int64)

    @cached_property
    def ranking(self) -> tuple[int, int]:
        """Pairs of one round that the cost model put in the right order, and all such pairs.

        Predictions of different rounds are not comparable: the model has learned meanwhile.
        """
        rounds: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for x in self.lines:
            if x.predicted is not None and x.measured_s is not None:
                rounds.setdefault((x.seed, x.round), []).append((x.predicted, -x.measured_s))
        right = total = 0
        for members in rounds.values():
            score, speed = np.array(members[:MOST_PAIRS]).T
            signs = np.sign(score[:, None] - score) * np.sign(speed[:, None] - speed)
            right += int((signs > 0).sum()) // 2
            total += int((signs != 0).sum()) // 2
        return right, total

    @property
    def failures(self) -> list[Failure]:
        """Its errors, most frequent first."""
        return failures([self])


@dataclass(frozen=True, slots=True)
class Curve:
    """Best latency of a model after each improvement: seconds of tuning, trials, latency."""

    at_s: Floats
    trials: NDArray[np.int64]
    latency_s: Floats


@dataclass(frozen=True)
class ModelHistory:
    """A network, or (not `whole`) a task that belongs to none: tasks, how often it runs each."""

    name: str
    tasks: tuple[TaskHistory, ...]
    calls: tuple[int, ...]
    whole: bool = True

    @property
    def best_s(self) -> float | None:
        """Estimated latency: the sum over all calls; None while a task has no program."""
        return self._sum([task.best_s for task in self.tasks])

    @property
    def default_s(self) -> float | None:
        """The same, untuned."""
        return self._sum([task.default_s for task in self.tasks])

    def _sum(self, seconds: Sequence[float | None]) -> float | None:
        known = [n * s for n, s in zip(self.calls, seconds, strict=True) if s is not None]
        return sum(known) if len(known) == len(self.tasks) else None

    @property
    def trials(self) -> int:
        """Trials of its tasks."""
        return sum(len(task.lines) for task in self.tasks)

    @cached_property
    def curve(self) -> Curve:
        """How its estimated latency fell, from where every task had a program."""
        events = sorted(
            (task.lines[i].id, float(task.at_s[i]), number, float(task.latency_s[i]))
            for number, task in enumerate(self.tasks)
            for i in task.improvements
        )
        ids = np.sort(np.array([line.id for task in self.tasks for line in task.lines]))
        best = [float("inf")] * len(self.tasks)
        rows = []
        for id_, at_s, number, seconds in events:
            best[number] = seconds
            total = sum(n * s for n, s in zip(self.calls, best, strict=True))
            if np.isfinite(total):
                rows.append((at_s, int(np.searchsorted(ids, id_)) + 1, total))
        at, trials, latency = zip(*rows, strict=True) if rows else ((), (), ())
        return Curve(_floats(at), np.array(trials, np.int64), _floats(latency))


@dataclass(frozen=True)
class History:
    """All of one machine. `tasks` are those that cost most first; `others` are other machines."""

    source: str
    machine: Machine
    tasks: tuple[TaskHistory, ...]
    models: tuple[ModelHistory, ...]
    runs: tuple[RunRow, ...]
    ceilings: CeilingsRow | None
    clock: Clock
    others: tuple[tuple[Machine, int], ...] = field(default=())
    loads: tuple[LoadRow, ...] = ()

    @property
    def trials(self) -> int:
        return sum(len(task.lines) for task in self.tasks)

    @property
    def failed(self) -> int:
        return sum(task.failed for task in self.tasks)

    @property
    def speedup(self) -> float | None:
        """Geometric mean over models of untuned / tuned; None where no model has both."""
        found = [m.default_s / m.best_s for m in self.models if m.default_s and m.best_s]
        return geometric_mean(found) if found else None

    @property
    def shares(self) -> dict[str, float]:
        """Wall seconds of all recorded runs by activity; empty when none is recorded."""
        names = ("search", "train", "build", "run", "other")
        sums = {name: sum(getattr(run, f"{name}_s") for run in self.runs) for name in names}
        rest = sum(run.seconds for run in self.runs) - sum(sums.values())
        return {**sums, "other": sums["other"] + max(0.0, rest)} if self.runs else {}

    @property
    def unconfirmed(self) -> int:
        """How many tasks' best programs were not measured again in turns with the untuned ones."""
        best = [task.best for task in self.tasks if task.best is not None]
        return sum(not x.confirmed and x.origin != DEFAULT for x in best)

    @property
    def busy(self) -> tuple[tuple[int, str], ...]:
        """The numbers, from 1, of runs whose machine was busy, and why."""
        starts = [run.started_at for run in self.runs]
        return tuple(
            (starts.index(load.started_at) + 1, load.reason)
            for load in self.loads
            if load.started_at in starts
        )

    @property
    def ranking(self) -> tuple[int, int]:
        """See `TaskHistory.ranking`; over all tasks."""
        each = [task.ranking for task in self.tasks]
        return sum(right for right, _ in each), sum(total for _, total in each)

    @property
    def failures(self) -> list[Failure]:
        """All errors, most frequent first."""
        return failures(self.tasks)


def read_history(
    database: Database, machine: Machine, programs: Mapping[str, Program], source: str
) -> History:
    """Everything the page says. `programs` are by workload hash; `source` names the database."""
    lines = database.history(machine.fingerprint)
    runs = tuple(run for run in database.runs() if run.machine == machine.fingerprint)
    clock = Clock.of(runs, lines)
    ceilings = next((c for c in database.ceilings() if c.machine == machine.fingerprint), None)
    models = told_apart(database.models())
    tasks = _tasks(database, models, lines, clock, programs, Roofline(ceilings))
    counts: Counter[str] = Counter()
    for row in database.summary().coverage:
        counts[row.machine] += row.trials
    others = [(m, counts[m.fingerprint]) for m in database.machines() if m != machine]
    return History(
        source=source,
        machine=machine,
        tasks=tuple(sorted(tasks.values(), key=lambda t: (-t.cost_s, t.name))),
        models=tuple(_models(models, tasks)),
        runs=runs,
        ceilings=ceilings,
        clock=clock,
        others=tuple((m, n) for m, n in others if n),
        loads=tuple(x for x in database.loads() if x.machine == machine.fingerprint),
    )


def _tasks(
    database: Database,
    models: Sequence[ModelRow],
    lines: Sequence[TrialLine],
    clock: Clock,
    programs: Mapping[str, Program],
    roofline: Roofline,
) -> dict[str, TaskHistory]:
    """Every task that has trials, by hash."""
    order = np.argsort([line.created_at for line in lines], kind="stable")
    steps = np.zeros(len(lines))
    steps[order] = clock.steps([lines[i].created_at for i in order])
    readings = clock.at([line.created_at for line in lines])
    members: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        members.setdefault(line.workload_hash, []).append(number)
    calls: dict[str, list[tuple[str, int]]] = {}
    for model in models:
        for task in model.tasks:
            calls.setdefault(task.workload_hash, []).append((model.name, task.weight))
    return {
        workload.hash: TaskHistory(
            workload=workload,
            lines=tuple(lines[i] for i in members[workload.hash]),
            at_s=readings[members[workload.hash]],
            given_s=float(steps[members[workload.hash]].sum()),
            calls=tuple(calls.get(workload.hash, ())),
            program=programs.get(workload.hash),
            roofline=roofline,
        )
        for workload in database.workloads()
        if workload.hash in members
    }


def _models(models: Sequence[ModelRow], tasks: Mapping[str, TaskHistory]) -> list[ModelHistory]:
    """The models whose tasks all have trials here, then every task that is in none of them."""
    whole = [m for m in models if m.tasks and all(t.workload_hash in tasks for t in m.tasks)]
    used = {task.workload_hash for model in whole for task in model.tasks}
    alone = [
        ModelRow(t.workload.hash, t.name, (ModelTask(t.workload.hash, 1),))
        for t in tasks.values()
        if t.workload.hash not in used
    ]
    return [
        ModelHistory(
            model.name,
            tuple(tasks[t.workload_hash] for t in model.tasks),
            tuple(t.weight for t in model.tasks),
            model in whole,
        )
        for model in (*whole, *alone)
    ]


def failures(tasks: Sequence[TaskHistory]) -> list[Failure]:
    """Errors of some tasks by stage, class and first line, most frequent first."""
    found: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for task in tasks:
        for line in task.lines:
            if line.error is not None:
                head = line.message.partition("\n")[0]
                key = (line.stage, line.error, head)
                found.setdefault(key, []).append((task.workload.hash, line.message))
    rows = [
        Failure(stage, error, members[0][1], len(members), len({task for task, _ in members}))
        for (stage, error, _), members in found.items()
    ]
    return sorted(rows, key=lambda row: (-row.trials, row.stage, row.error))


def _floats(values: Sequence[float | None]) -> Floats:
    """An array with infinity for None."""
    return np.array([np.inf if v is None else v for v in values], np.float64)

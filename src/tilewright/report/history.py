"""What a machine's records tell of its models and runs, as arrays and sums.

    history.models[0].best_s, history.models[0].curve.latency_s, history.tasks[0].best_s

`reading.py` makes a history from a database, `tasks.py` has what is known of one task. All figures
of the page come from here; seconds of tuning are those of `Clock`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean, geometric_mean

import numpy as np
from numpy.typing import NDArray

from tilewright.records.machine import Machine
from tilewright.records.rows import DEFAULT, CeilingsRow, FactsRow, LoadRow, RunRow
from tilewright.report.clock import Clock
from tilewright.report.tasks import FailureLine, Floats, TaskHistory, failures, floats


@dataclass(frozen=True, slots=True)
class Curve:
    """Best latency of a model after each improvement: seconds of tuning, trials, latency."""

    at_s: Floats
    trials: NDArray[np.int64]
    latency_s: Floats


@dataclass(frozen=True)
class ModelHistory:
    """A network, or (not `whole`) a task that belongs to none: tasks, how often it runs each.

    `measured` are latencies of the network as a whole, by program: "untuned", "tuned", and of
    other programs that ran beside it.
    """

    name: str
    tasks: tuple[TaskHistory, ...]
    calls: tuple[int, ...]
    whole: bool = True
    measured: dict[str, float] = field(default_factory=dict)

    @property
    def confirmed(self) -> bool:
        """Whether any task's latencies are of turns."""
        return any(task.best is not None and task.best.confirmed for task in self.tasks)

    @property
    def best_s(self) -> float | None:
        """Estimated latency: the sum over all calls; None while a task has no program.

        Once there are confirmed figures, a task without them counts as untuned.
        """
        return self._sum([t.sure_s if self.confirmed else t.best_s for t in self.tasks])

    @property
    def speedup(self) -> float | None:
        """How many times faster than untuned; None while nothing is confirmed."""
        if not self.confirmed or self.best_s is None or self.default_s is None:
            return None
        return self.default_s / self.best_s

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
            if not self.confirmed or task.sure_s == task.best_s or task.lines[i].origin == DEFAULT
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
        return Curve(floats(at), np.array(trials, np.int64), floats(latency))


@dataclass(frozen=True, slots=True)
class Cost:
    """What all calls of a task take in a run, and how much of it is above the machine's limits (the
    most that could still be gained; None where they are not known).
    """

    task: TaskHistory
    seconds: float
    gap_s: float | None


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
    facts: tuple[FactsRow, ...] = ()

    @property
    def name(self) -> str:
        """The model's, if it is about one; else the database's."""
        return self.models[0].name if len(self.models) == 1 else self.source

    @property
    def trials(self) -> int:
        return sum(len(task.lines) for task in self.tasks)

    @property
    def failed(self) -> int:
        return sum(task.failed for task in self.tasks)

    @property
    def speedup(self) -> float | None:
        """Geometric mean over models of untuned / tuned; None where no model has both."""
        found = [m.speedup for m in self.models if m.speedup is not None]
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
        return sum(task.best is not None and not task.confirmed for task in self.tasks)

    @property
    def searched(self) -> int:
        """Trials that are not default programs."""
        return sum(line.origin != DEFAULT for task in self.tasks for line in task.lines)

    @property
    def costs(self) -> tuple[Cost, ...]:
        """What each task that ran adds to one run of every model, the largest gap first."""
        is_sure = any(model.confirmed for model in self.models)
        found = []
        for task in self.tasks:
            seconds = task.sure_s if is_sure else task.best_s
            if seconds is not None:
                least_s = task.least_s
                gap = None if least_s is None else task.weight * max(0.0, seconds - least_s)
                found.append(Cost(task, task.weight * seconds, gap))
        return tuple(sorted(found, key=lambda cost: (-(cost.gap_s or 0.0), -cost.seconds)))

    @property
    def beyond(self) -> int:
        """How many tasks are clearly faster than the limits, which were measured too low then."""
        return sum((task.roofline_fraction or 0.0) > 1.05 for task in self.tasks)

    def facts_of(self, run: RunRow) -> dict[str, str | float]:
        """What is known of a run's start; nothing of runs of earlier versions."""
        return next((f.facts for f in self.facts if f.at == run.started_at), {})

    def load_of(self, run: RunRow) -> str:
        """Why the machine was busy meanwhile, if it was."""
        return next((x.reason for x in self.loads if x.started_at == run.started_at), "")

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
    def predicted(self) -> int:
        """How many programs were predicted before they ran."""
        return sum(len(task.predicted[0]) for task in self.tasks)

    @property
    def rank_correlation(self) -> float | None:
        """The mean over tasks."""
        return _mean([task.rank_correlation for task in self.tasks])

    @property
    def regret(self) -> float | None:
        """The mean over tasks."""
        return _mean([task.regret for task in self.tasks])

    @property
    def failures(self) -> list[FailureLine]:
        """All errors, most frequent first."""
        return failures(self.tasks)


def _mean(values: Sequence[float | None]) -> float | None:
    """Of those that are known."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None

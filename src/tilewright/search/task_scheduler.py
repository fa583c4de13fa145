"""Which task gets the next unit of tuning: gradient descent on the objective (paper section 6).

Input: the tasks, the models that they make up, an objective; then the best latency of a task after
each unit of tuning spent on it. Output: the next task.

    scheduler = TaskScheduler(tasks, models, TotalLatency(), seed=0)
    while budget lasts and not scheduler.done:
        task = scheduler.next()
        scheduler.tell(task, best_latency_s, trials)        # or .exhausted(task): nothing left

The gain expected of one more unit for task i, with latency g after t units (appendix A), is

    df/dg_i * (alpha * (g(t - window) - g(t)) / window
               + (1 - alpha) * max(g / t, g - beta * C_i / max_k V_k))

C_i are its floating-point operations, V_k those per second of the similar tasks k: what they
reached, it may reach. Tasks are similar when their structure keys (shapes left out) are equal. The
task of largest gain is next; one time in `1 / epsilon` it is any task that can gain.

`next` depends on what was told, in order, and on the seed, and on nothing else: a run that is
resumed by telling it the past again goes on as the uninterrupted one. Where several units are spent
at once, one that is under way (`expect`) counts as if it had made nothing better, until it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.ground.errors import InputError
from tilewright.search.objectives import Goal, Objective, ObjectiveModel, as_objective

Floats = npt.NDArray[np.float64]

GAIN = 1e-3  # of the objective: less is nothing better


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """What the scheduler knows of a task before it is tuned.

    flops: useful floating-point operations of one run; 0 if it only moves data.
    structure: the similarity key; tasks with the same one differ in shapes only.
    default_latency_s: what its verified default program takes; None or inf if it has none.
    """

    name: str
    flops: float
    structure: str = ""
    default_latency_s: float | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit spent: the task's best latency after it (inf if nothing ran yet) and its trials."""

    task: int
    best_latency_s: float
    trials: int


def unit_trials(budget: int, tasks: int) -> int:
    """How many trials make a unit: six or more units for each task, yet 4 to 64 trials each."""
    return min(max(budget // (6 * max(tasks, 1)), 4), 64)


class TaskScheduler:
    """Allots units of tuning to tasks; deterministic by `seed`.

    Before gradients count, every task that matters gets one unit, the most costly first. A task
    with no program that runs is taken for as slow as its flops at the slowest task's speed, so it
    is tried again, less and less often, and never holds up the others.
    """

    def __init__(
        self,
        tasks: Sequence[TaskInfo],
        models: Sequence[ObjectiveModel],
        objective: Objective | Callable[[Sequence[float]], float] | None = None,
        *,
        seed: int = 0,
        alpha: float = 0.2,
        beta: float = 2.0,
        window: int = 3,
        epsilon: float = 0.05,
    ) -> None:
        """`objective`: see `objectives.as_objective`; the other names are the paper's.

        Raises InputError if models and tasks or objective do not fit together.
        """
        self.tasks = tuple(tasks)
        self.goal = Goal(as_objective(objective), models, len(tasks))
        self.seed = seed
        self.alpha = alpha
        self.beta = beta
        self.window = window
        self.epsilon = epsilon
        self.history: list[Unit] = []
        self._flops = np.array([task.flops for task in tasks], np.float64)
        self._best = np.array([task.default_latency_s or np.inf for task in tasks], np.float64)
        self._curves: list[list[float]] = [[] for _ in tasks]
        self._exhausted = np.zeros(len(tasks), np.bool_)
        self._under_way: list[list[int]] = [[] for _ in tasks]  # trials of units not told yet
        self.held: frozenset[int] = frozenset()
        """Tasks that cannot have another unit before what is under way is told."""
        self.fruitless_trials = 0
        """How many trials there were since one made the objective better by a thousandth."""
        self._reached = self._current()

    # ---- what happened ------------------------------------------------------------------------

    def tell(self, task: int, best_latency_s: float, trials: int) -> None:
        """A unit was spent on `task`; `best_latency_s` is its best so far, inf if nothing ran."""
        if not best_latency_s > 0:
            raise InputError(f"task {self.tasks[task].name}: a latency of {best_latency_s} s")
        if self._under_way[task]:
            self._under_way[task].pop(0)
        self._best[task] = min(self._best[task], best_latency_s)
        self._curves[task].append(float(self._best[task]))
        self.history.append(Unit(task, best_latency_s, trials))
        self.fruitless_trials += trials
        current = self._current()
        if self._reached - current > GAIN * abs(self._reached):
            self._reached, self.fruitless_trials = current, 0

    def expect(self, task: int, trials: int) -> None:
        """A unit of so many trials is under way for `task`, to be told in its turn."""
        self._under_way[task].append(trials)

    def begin(self, task: int, default_latency_s: float) -> None:
        """The default program of `task` was measured (inf: it fails): no estimate counts longer."""
        self._best[task] = default_latency_s
        self._reached = self._current()

    def exhausted(self, task: int) -> None:
        """`task` has no program left to measure: it is not chosen again."""
        self._exhausted[task] = True

    # ---- where things stand -------------------------------------------------------------------

    @property
    def units(self) -> npt.NDArray[np.int64]:
        """Units spent on each task, those under way included."""
        pairs = zip(self._curves, self._under_way, strict=True)
        return np.array([len(curve) + len(more) for curve, more in pairs], np.int64)

    @property
    def best_latencies_s(self) -> Floats:
        """The best latency of each task, its default program included; inf where nothing ran."""
        return self._best.copy()

    @property
    def value(self) -> float:
        """The objective now; a task where nothing ran counts as described above."""
        return self.goal.value(self._latencies(), self._curves)

    def _current(self) -> float:
        """The objective by latencies alone."""
        return self.goal.value(self._latencies())

    @property
    def done(self) -> bool:
        """Whether no task can make the objective better: all exhausted, stalled or quick enough."""
        return not self._eligible().any()

    @property
    def ready(self) -> bool:
        """Whether a task that is not held can have a unit now."""
        return bool(self._open().any())

    def most(self, task: int) -> float:
        """How many trials one unit of a task may have."""
        return np.inf

    # ---- what is next -------------------------------------------------------------------------

    def next(self) -> int:
        """The task to spend a unit on; the same one until something is told, or expected.

        When `done`, the task with fewest units. Raises InputError when all tasks are exhausted.
        """
        eligible = self._open()
        if not eligible.any():
            if self._exhausted.all():
                raise InputError("no task has a program left to measure: stop tuning")
            return int(np.where(self._exhausted, np.inf, self.units).argmin())
        gains = np.where(eligible, self.gains(), -np.inf)
        fresh = eligible & (self.units == 0)
        if fresh.any():
            return int(np.where(fresh, gains, -np.inf).argmax())
        rng = np.random.default_rng([self.seed, int(self.units.sum())])
        if rng.random() < self.epsilon:
            return int(rng.choice(np.flatnonzero(eligible)))
        return int(gains.argmax())

    def gains(self) -> Floats:
        """How much better one more unit is expected to make the objective, for each task."""
        latencies = self._latencies()
        recent = np.array([self._recent(task) for task in range(len(self.tasks))])
        ahead = np.maximum(
            latencies / np.maximum(self.units, 1), latencies - self.beta * self._similar(latencies)
        )
        slope = self.goal.gradient(latencies, self._curves)
        return slope * (self.alpha * recent + (1 - self.alpha) * ahead)

    def _eligible(self) -> npt.NDArray[np.bool_]:
        return ~self._exhausted & (self.goal.gradient(self._latencies(), self._curves) > 0)

    def _open(self) -> npt.NDArray[np.bool_]:
        """The eligible tasks that are not held."""
        eligible = self._eligible()
        eligible[list(self.held)] = False
        return eligible

    def _recent(self, task: int) -> float:
        """Latency won for each of the last `window` units; 0 while there are not as many."""
        curve = self._curves[task]
        curve = curve + curve[-1:] * len(self._under_way[task])
        if len(curve) <= self.window or not np.isfinite(curve[-1 - self.window]):
            return 0.0
        return (curve[-1 - self.window] - curve[-1]) / self.window

    def _similar(self, latencies: Floats) -> Floats:
        """Each task's latency at the speed of its quickest similar task; inf if it has none."""
        speed = np.where(np.isfinite(self._best), self._flops / latencies, 0.0)
        result = np.full(len(self.tasks), np.inf)
        for i, task in enumerate(self.tasks):
            peers = [
                speed[k]
                for k, other in enumerate(self.tasks)
                if k != i and task.structure and other.structure == task.structure
            ]
            if max(peers, default=0.0) > 0 and task.flops > 0:
                result[i] = task.flops / max(peers)
        return result

    def _latencies(self) -> Floats:
        """The best latency of each task; where nothing ran, its flops at the slowest speed."""
        known = np.isfinite(self._best)
        speeds = self._flops[known] / self._best[known]
        slowest = min(speeds[speeds > 0], default=1e9)
        return np.where(known, self._best, np.maximum(self._flops, 1.0) / slowest)


class RoundRobin(TaskScheduler):
    """Equal numbers of units for all tasks that can gain: what gradients are compared with."""

    def next(self) -> int:
        """The task with fewest units among those that can make the objective better."""
        eligible = self._open()
        if not eligible.any():
            return super().next()
        return int(np.where(eligible, self.units, np.inf).argmin())

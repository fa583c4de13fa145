"""A tuning run at one moment, with what follows from its figures.

snapshot = Snapshot.of(progress)
snapshot.best_s, snapshot.left_s, snapshot.rows[snapshot.current].name
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from tilewright.search.progress import Progress, TaskResult, weighted_sum
from tilewright.search.tuner import DEFAULTS_SHARE


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A `Progress` at one moment. `taken` is on the monotonic clock.

    The tuner calls its observer after every round and goes on; what is shown must not change
    while it is drawn.
    """

    rows: tuple[TaskResult, ...]
    current: int
    trials: int
    elapsed_s: float
    minutes: float | None
    budget_trials: int | None
    shares: dict[str, float]
    phase: str
    taken: float
    default_programs_s: float = 0.0
    default_programs: int = 0
    default_share: float = 1.0
    load: str = ""
    busy: str = ""

    @staticmethod
    def of(progress: Progress) -> Snapshot:
        """Copy what is shown."""
        return Snapshot(
            rows=progress.tasks,
            current=progress.current,
            trials=progress.trials,
            elapsed_s=progress.elapsed_s,
            minutes=progress.budget.minutes,
            budget_trials=progress.budget.trials,
            shares=dict(vars(progress.shares)),
            phase=progress.phase,
            taken=time.monotonic(),
            default_programs_s=progress.default_programs_s,
            default_programs=progress.default_programs,
            default_share=progress.default_share,
            load=progress.load,
            busy=progress.busy,
        )

    @property
    def confirmed(self) -> bool:
        """Whether there are figures of turns."""
        return any(r.confirmed for r in self.rows)

    @property
    def best_s(self) -> float | None:
        """Estimated latency of everything: the weighted sum; None while nothing is known of a task.
        What is not confirmed counts as untuned, once there are confirmed figures.
        """
        confirmed = self.confirmed
        return weighted_sum((r.weight, r.sure_s if confirmed else r.hoped_s) for r in self.rows)

    @property
    def default_s(self) -> float | None:
        """The same with default programs."""
        return weighted_sum((r.weight, r.untuned_s) for r in self.rows)

    @property
    def measured(self) -> int:
        """How many tasks' default programs have a figure."""
        return sum(r.default_s is not None for r in self.rows)

    @property
    def defaults_take_s(self) -> float | None:
        """Expected seconds from the start until the search begins; None where it has begun, or
        before anything is known.
        """
        if not 0.0 < self.default_share < 1.0:
            return None
        expected = self.elapsed_s / self.default_share
        if self.minutes is None:
            return expected
        return min(expected, max(self.elapsed_s, self.minutes * 60 * DEFAULTS_SHARE))

    @property
    def errors(self) -> int:
        """Failed trials."""
        return sum(r.errors for r in self.rows)

    @property
    def left_s(self) -> float | None:
        """Expected seconds to go when the snapshot was taken; None where it cannot be known."""
        by_time = None if self.minutes is None else self.minutes * 60 - self.elapsed_s
        by_trials = None
        if self.budget_trials is not None and self.trials:
            rest = self.budget_trials - self.trials
            by_trials = self.elapsed_s / self.trials * rest
        known = [max(0.0, left) for left in (by_time, by_trials) if left is not None]
        return min(known, default=None)

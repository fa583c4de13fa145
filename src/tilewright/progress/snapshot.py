"""A tuning run at one moment, with what follows from its figures.

snapshot = Snapshot.of(progress)
snapshot.best_s, snapshot.left_s, snapshot.task.name
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields

from tilewright.search.progress import Progress, weighted_sum
from tilewright.search.tuner import DEFAULTS_SHARE


@dataclass(frozen=True, slots=True)
class Snapshot(Progress):
    """A `Progress`, with what a screen tells of it. `taken` is on the monotonic clock."""

    taken: float = 0.0

    @staticmethod
    def of(progress: Progress) -> Snapshot:
        """Taken now."""
        told = {field.name: getattr(progress, field.name) for field in fields(progress)}
        return Snapshot(**told, taken=time.monotonic())

    @property
    def confirmed(self) -> bool:
        """Whether there are figures of turns."""
        return any(r.confirmed for r in self.tasks)

    @property
    def best_s(self) -> float | None:
        """Estimated latency of everything: the weighted sum; None while nothing is known of a task.
        What is not confirmed counts as untuned, once there are confirmed figures.
        """
        confirmed = self.confirmed
        return weighted_sum((r.weight, r.sure_s if confirmed else r.hoped_s) for r in self.tasks)

    @property
    def default_s(self) -> float | None:
        """The same with default programs."""
        return weighted_sum((r.weight, r.untuned_s) for r in self.tasks)

    @property
    def measured(self) -> int:
        """How many tasks' default programs were measured, those that failed included."""
        return sum(r.default_s is not None or bool(r.fault) for r in self.tasks)

    @property
    def defaults_take_s(self) -> float | None:
        """Expected seconds from the start until the search begins; None where it has begun, or
        before anything is known.
        """
        if not 0.0 < self.default_share < 1.0:
            return None
        expected = self.elapsed_s / self.default_share
        if self.budget.minutes is None:
            return expected
        return min(expected, max(self.elapsed_s, self.budget.minutes * 60 * DEFAULTS_SHARE))

    @property
    def errors(self) -> int:
        """Failed trials."""
        return sum(r.errors for r in self.tasks)

    @property
    def left_s(self) -> float | None:
        """Expected seconds to go when the snapshot was taken; None where it cannot be known."""
        by_time = None if self.budget.minutes is None else self.budget.minutes * 60 - self.elapsed_s
        by_trials = None
        if self.budget.trials is not None and self.trials:
            by_trials = self.elapsed_s / self.trials * (self.budget.trials - self.trials)
        known = [max(0.0, left) for left in (by_time, by_trials) if left is not None]
        return min(known, default=None)

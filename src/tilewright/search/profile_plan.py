"""How many programs a profile measures, before it does.

plan = plan_profile(tasks, target)
plan.programs, print(plan)              the sum; and of each task, and how long they take
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.cost.extractor import FeatureExtractor
from tilewright.search.profiler import profile_of
from tilewright.search.progress import TRIAL_S
from tilewright.search.tasks import TuningTask
from tilewright.space.derivation import Rule
from tilewright.target import Target
from tilewright.text import clock, count


@dataclass(frozen=True)
class ProfilePlan:
    """How many programs the profile of each task has."""

    tasks: tuple[TuningTask, ...]
    counts: tuple[int, ...]

    @property
    def programs(self) -> int:
        """How many are measured."""
        return sum(self.counts)

    def __str__(self) -> str:
        """The sum, then a line a task."""
        seconds = (self.programs + len(self.tasks)) * TRIAL_S
        lines = [
            f"{count(len(self.tasks), 'task')}: {count(self.programs, 'program')} to measure, "
            f"about {clock(seconds)}"
        ]
        lines += [f"{t.name}: {n}" for t, n in zip(self.tasks, self.counts, strict=True)]
        return "\n".join(lines)


def plan_profile(
    tasks: Sequence[TuningTask], target: Target, rules: Sequence[Rule] | None = None
) -> ProfilePlan:
    """The plan for some tasks."""
    counts = []
    for task in tasks:
        space = task.space(target, rules)
        counts.append(len(profile_of(space, FeatureExtractor(space)).score))
    return ProfilePlan(tuple(tasks), tuple(counts))

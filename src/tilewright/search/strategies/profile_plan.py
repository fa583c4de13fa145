"""How many programs a profile measures, before it does.

plan = plan_profile(tasks, target)
plan.programs, print(plan)              the sum; and of each task, and how long they take
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.cost.extractor import FeatureExtractor
from tilewright.ground.text import clock, count
from tilewright.search.progress import TRIAL_S
from tilewright.search.strategies.profiler import lengths, profile_of
from tilewright.search.tasks import TuningTask, estimated_s
from tilewright.space.derivation import Rule
from tilewright.target import Target


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
    spaces = [task.space(target, rules) for task in tasks]
    extractors = list(map(FeatureExtractor, spaces))
    costs = [
        task.weight * estimated_s(space, extractor)
        for task, space, extractor in zip(tasks, spaces, extractors, strict=True)
    ]
    listed = map(profile_of, spaces, extractors, lengths(costs))
    return ProfilePlan(tuple(tasks), tuple(len(programs.score) for programs in listed))

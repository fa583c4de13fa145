"""What a tuning run tells: of each task, and of the whole after every round.

def watch(progress):
    print(progress)                        search of conv1: 128 trials in 0:41, 4.31 ms …
    progress.latency_s, progress.untuned_s

tune(model, callbacks=[watch])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tilewright.ground.text import clock, count, duration
from tilewright.search.measuring import Shares
from tilewright.search.tasks import TaskSearch

DEFAULTS, SEARCH, CONFIRMING = "default programs", "search", "confirming"  # phases of a run
TRIAL_S = 0.25  # expected seconds of a trial: turns a budget in minutes into trials


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop: after so many trials or so many minutes, whichever comes first, or after
    `patience` trials in a row that made nothing better.
    """

    trials: int | None = None
    minutes: float | None = None
    patience: int | None = None

    @property
    def expected_trials(self) -> int:
        """How many trials it allows, roughly."""
        by_time = None if self.minutes is None else int(self.minutes * 60 / TRIAL_S)
        known = [n for n in (self.trials, by_time) if n is not None]
        return min(known, default=1000)


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One task during or after tuning; latencies in seconds, None where nothing ran.

    `confirmed`: both latencies are of turns that the two programs took, in processes that did not
    search; else they are of different moments, and do not compare on a busy machine. `expected_s`
    is what the default program is taken for while it was not measured; `fault` says why it has no
    figure though it was to be measured.
    """

    name: str
    weight: float
    flops: int
    trials: int
    errors: int
    default_s: float | None
    best_s: float | None
    confirmed: bool = False
    expected_s: float | None = None
    fault: str = ""

    @staticmethod
    def of(search: TaskSearch) -> TaskResult:
        """As it stands."""
        return TaskResult(
            name=search.task.name,
            weight=search.task.weight,
            flops=search.task.flops,
            trials=search.trials,
            errors=search.errors,
            default_s=search.default_s,
            best_s=search.best_s,
            confirmed=search.confirmed,
            expected_s=search.expected_s,
            fault=search.fault,
        )

    @property
    def untuned_s(self) -> float | None:
        """What it adds to the untuned latency, a call."""
        return self.expected_s if self.default_s is None else self.default_s

    @property
    def sure_s(self) -> float | None:
        """What it takes for sure: unconfirmed programs are taken for no better than untuned."""
        return self.best_s if self.confirmed or self.untuned_s is None else self.untuned_s

    @property
    def hoped_s(self) -> float | None:
        """What it takes by unconfirmed figures, too."""
        return self.expected_s if self.best_s is None else self.best_s

    @property
    def share_s(self) -> float:
        """What the task adds to the estimated latency, infinite while nothing is known."""
        if not self.weight:
            return 0.0
        return float("inf") if self.hoped_s is None else self.weight * self.hoped_s


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a tuning run, as a callback hears it after every round.

    `current` is the position in `tasks` of the one that the round was about, `phase` "default
    programs", "search" or "confirming". `shares` are wall seconds by activity, of them
    `default_programs_s` those until the search began: so many `default_programs` are measured
    before, of which `default_share` (of the work, from 0 to 1) is done. `load` says why the machine
    is busy now, `busy` when it was in this run; both are empty if it was not. `machines` says what
    each of several machines does.
    """

    tasks: tuple[TaskResult, ...]
    current: int
    trials: int
    elapsed_s: float
    budget: Budget
    shares: Shares
    phase: str = SEARCH
    default_programs_s: float = 0.0
    default_programs: int = 0
    default_share: float = 1.0
    load: str = ""
    busy: str = ""
    machines: str = ""

    @property
    def task(self) -> TaskResult:
        """The task that the round was about."""
        return self.tasks[self.current]

    @property
    def latency_s(self) -> float | None:
        """Estimated latency with the best programs; None while a task has none."""
        return weighted_sum((t.weight, t.best_s) for t in self.tasks)

    @property
    def untuned_s(self) -> float | None:
        """The same with default programs."""
        return weighted_sum((t.weight, t.default_s) for t in self.tasks)

    def __str__(self) -> str:
        if self.phase == DEFAULTS:
            known = self.task.default_s is not None
            untuned = (
                f" {duration(self.task.default_s)}" if known else f" {self.task.fault}".rstrip()
            )
            return f"{self.phase}: {self.task.name}{untuned}, after {clock(self.elapsed_s)}"
        together = ""
        if self.latency_s is not None:
            sums = (duration(self.latency_s), duration(self.untuned_s))
            together = f", all together {sums[0]} (untuned {sums[1]})"
        return (
            f"{self.phase} of {self.task.name}: {count(self.trials, 'trial')} in "
            f"{clock(self.elapsed_s)}, its best {duration(self.task.best_s)}{together}"
        )


Callback: TypeAlias = Callable[[Progress], object]


def weighted_sum(parts: Iterable[tuple[float, float | None]]) -> float | None:
    """The sum of weight times seconds; None while one that counts is not known."""
    total = 0.0
    for weight, seconds in parts:
        if not weight:
            continue
        if seconds is None:
            return None
        total += weight * seconds
    return total

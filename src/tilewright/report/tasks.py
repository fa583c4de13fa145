"""What a machine's records tell of one task: its latencies, its errors, its distance to the limits.

    task.best_s, task.speedup, task.least_s, task.rank_correlation

A trial's latency is the one to believe: of its confirmation, where it was confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import numpy as np
from numpy.typing import NDArray

from tilewright.records.answers import TrialLine
from tilewright.records.rows import DEFAULT, CeilingsRow, WorkloadRow


@dataclass(frozen=True, slots=True)
class Roofline:
    """How fast a task could be at most, by a machine's limits, if known (Williams et al., 2009).

    Compute is bounded by the rate of float32 multiply-adds, times what a task's instructions for
    fewer bits gain on it; memory by reading every input and writing every output once, at the rate
    at which as much data are read again and again.
    """

    ceilings: CeilingsRow | None

    def compute_s(self, flops: int, gain: float = 1.0) -> float:
        """Seconds for so many operations, by an instruction so many times as fast as float32's."""
        return 0.0 if self.ceilings is None else flops / (gain * self.ceilings.flops_per_s)

    def memory_s(self, least_bytes: int) -> float:
        """Seconds to move so many bytes."""
        return 0.0 if self.ceilings is None else self.ceilings.seconds(least_bytes)

    def least_s(self, flops: int, least_bytes: int, gain: float = 1.0) -> float | None:
        """The least seconds of a task; None where limits, or both figures, are unknown."""
        return max(self.compute_s(flops, gain), self.memory_s(least_bytes)) or None

    def limit(self, flops: int, least_bytes: int, gain: float = 1.0) -> str:
        """Which of the two it is: "compute" or "memory"."""
        is_compute = self.compute_s(flops, gain) >= self.memory_s(least_bytes)
        return "compute" if is_compute else "memory"


Floats = NDArray[np.float64]
LEAST = 3  # programs: of fewer there is no order worth telling
LIKED = 0.1  # of all, at least one


def rank_correlation(scores: Floats, speeds: Floats) -> float | None:
    """Spearman's, ties in the middle of their ranks; None for few programs or equal ones.

    Only programs that the model liked are measured, so what it tells apart are near ties: the order
    of all is asked for, no pair of neighbours.
    """
    if len(scores) < LEAST:
        return None
    a, b = _ranks(scores), _ranks(speeds)
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else None


def regret(scores: Floats, speeds: Floats) -> float | None:
    """By how much slower the fastest of the programs that were liked best is than the fastest."""
    if len(scores) < LEAST:
        return None
    liked = np.argsort(-scores, kind="stable")[: max(1, round(LIKED * len(scores)))]
    return float(speeds.max() / speeds[liked].max()) - 1.0


def _ranks(values: Floats) -> Floats:
    """From 0, equal values in the middle."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle: Floats = ends - (counts + 1) / 2
    return middle[inverse]


@dataclass(frozen=True, slots=True)
class PrintedProgram:
    """The printed forms of a task's best program.

    `least_bytes` are read and written at least: every input and output once. `own_flops` are the
    operations of a program in Winograd's form, which does fewer than the math says; None for
    others. `gain` is how many times as fast as float32 the instruction is that does them. `note`
    says why a form is missing. `ir` is for `target`. `sizes` are the ranges of its sizes,
    `points_s` its latencies at some of their values, both in words.
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
    own_flops: int | None = None
    gain: float = 1.0
    sizes: str = ""
    points_s: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class FailureLine:
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
    how long the task was worked on. `calls` names the models and how often each runs it;
    `figures_s` are all that was measured of the best program when it was measured last. `reused`
    is the task near whose programs its search began, if it did.
    """

    workload: WorkloadRow
    lines: tuple[TrialLine, ...]
    at_s: Floats
    given_s: float
    calls: tuple[tuple[str, int], ...]
    program: PrintedProgram | None
    roofline: Roofline
    figures_s: tuple[float, ...] = ()
    reused: WorkloadRow | None = None

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
        found = floats([line.latency_s for line in self.lines])
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
    def confirmed(self) -> bool:
        """Whether both latencies are of turns, or of one program: only then do they compare."""
        default_s = self.default_s
        if self.best is None or default_s is None:
            return False
        return self.best.confirmed or self.best.origin == DEFAULT

    @property
    def speedup(self) -> float | None:
        """How many times faster than untuned, where that is known."""
        if self.best_s is None or self.default_s is None or not self.confirmed:
            return None
        return self.default_s / self.best_s

    @property
    def spread(self) -> float | None:
        """How far apart the best program's figures lie, as a share of their median."""
        if len(self.figures_s) < 2:
            return None
        return (max(self.figures_s) - min(self.figures_s)) / median(self.figures_s)

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
        return self.roofline.least_s(self.flops, self.least_bytes, self.gain)

    @property
    def is_winograd(self) -> bool:
        """Whether the best program computes a convolution in Winograd's form."""
        return self.program is not None and self.program.own_flops is not None

    @property
    def flops(self) -> int:
        """Operations of the best program."""
        own = self.program.own_flops if self.program else None
        return self.workload.flops if own is None else own

    @property
    def gain(self) -> float:
        """How many times as fast as float32's the operations may be; 1 where that is not known."""
        return self.program.gain if self.program else 1.0

    @property
    def least_bytes(self) -> int:
        """Bytes that any program reads and writes; 0 where that is not known."""
        return self.program.least_bytes if self.program else 0

    @property
    def sure_s(self) -> float | None:
        """What it takes for sure: what is not confirmed is taken for no better than untuned."""
        return self.best_s if self.confirmed or self.default_s is None else self.default_s

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
    def rank_correlation(self) -> float | None:
        """How well the cost model ordered its programs (Spearman's); None for few of them."""
        return rank_correlation(*self.predicted[:2])

    @cached_property
    def regret(self) -> float | None:
        """By how much the programs that the model liked best missed the fastest."""
        return regret(*self.predicted[:2])

    @property
    def failures(self) -> list[FailureLine]:
        """Its errors, most frequent first."""
        return failures([self])


def failures(tasks: Sequence[TaskHistory]) -> list[FailureLine]:
    """Errors of some tasks by stage, class and first line, most frequent first."""
    found: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for task in tasks:
        for line in task.lines:
            if line.error is not None:
                head = line.message.partition("\n")[0]
                key = (line.stage, line.error, head)
                found.setdefault(key, []).append((task.workload.hash, line.message))
    rows = [
        FailureLine(stage, error, members[0][1], len(members), len({task for task, _ in members}))
        for (stage, error, _), members in found.items()
    ]
    return sorted(rows, key=lambda row: (-row.trials, row.stage, row.error))


def floats(values: Sequence[float | None]) -> Floats:
    """An array with infinity for None."""
    return np.array([np.inf if v is None else v for v in values], np.float64)

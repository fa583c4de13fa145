"""One candidate's trial: the gate first, then the clock.

    timing = run_trial(candidate, RunOptions(repeats=3, min_repeat_ms=20), spent, once)
    timing.latencies_s                     one median of call times per repeat, in seconds

Outputs are poisoned before a candidate's first run and again before the runs that are timed, and
compared with the reference's after both. A `trial_task` has the memory and the loaded programs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from reprlib import repr as shown
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tilewright.contract.artifact import Array, Artifact
from tilewright.contract.surroundings import Setting
from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.measure.gate import OutputGate, Tolerance

Floats: TypeAlias = npt.NDArray[np.float64]

MAX_CALLS = 100_000
# Cold caches, fresh pages, sleeping threads or an interrupted one can cost a run this much, so more
# runs decide whether a candidate is given up.
HICCUP_S = 20e-3
SECOND_CHANCES = 10
# Runs up to this long are warmed up by more than one.
WAKE_UP_S = 2e-3
# Runs from this length on need none before them, and no more of them are timed than take so long
# in all: what disturbs a single run is little beside its own time.
LONG_S, ENOUGH_S = 0.25, 1.0
# Little is enough to know of a candidate so many times slower than the best.
NEAR = 1.25
# Candidate and reference take turns (as long ones) of so many calls of the reference, within these
# bounds: the first calls of each find the other's data in the caches. So many turns, or fewer of
# what is not near the best. Where other data are read between calls, most of a turn goes by with
# that.
TURN_CALLS, SHORTEST_TURN_S, LONGEST_TURN_S, TURN_BETWEEN_S = 10, 2e-3, 10e-3, 20e-3
TURNS, FEW_TURNS = 6, 3
# What both are compared by, of all their calls: one in ten is quiet when the others are not. It is
# the figure, too, of the few calls with other data between.
UNDISTURBED = 0.1
# Of a tuning run: what is worth a repeat of every trial, and how much of it one trial may take.
REPEAT_BUDGET_S, LONGEST_SHARE, SHORTEST_LIMIT_S = 20.0, 0.25, 2.0
MOST_FIGURES, LONGEST_S = 10_000, 10**9  # of an answer
EVICTING = 2  # times as much other data as caches hold evicts nearly all that they held


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a candidate is timed.

    `repeats` figures are taken (fewer of runs that take long), each the median of the calls that
    fit into `min_repeat_ms`, or their quickest tenth where other data are read between calls, as in
    a network (`Setting`); else caches are warm from the call before. A candidate slower than
    `stop_ratio` times `best_s` (seconds; None: no such limit) in its first runs is not timed
    further, one slower than `NEAR` times in its first figure has no other. `timeout_s` ends a run,
    gate included.
    `reference_s` is what the task's reference takes on this machine: the two then run in turns,
    within the time of all repeats, and the one figure is relative to the reference's, given as if
    that took `reference_s` (None: figures as they are).
    """

    repeats: int = 3
    min_repeat_ms: float = 20.0
    best_s: float | None = None
    reference_s: float | None = None
    stop_ratio: float = 3.0
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        if self.repeats < 1 or self.timeout_s <= 0:
            raise RunError(f"repeats must be at least 1 and timeout_s positive; got {self}")

    @staticmethod
    def within(budget_s: float | None) -> RunOptions:
        """Those of a tuning run of so many seconds: in a short one a trial has fewer repeats, and
        none takes more than a share of it.
        """
        usual = RunOptions()
        if budget_s is None:
            return usual
        repeats = min(usual.repeats, max(1, int(budget_s / REPEAT_BUDGET_S)))
        longest_s = max(SHORTEST_LIMIT_S, LONGEST_SHARE * budget_s)
        return RunOptions(repeats=repeats, timeout_s=min(usual.timeout_s, longest_s))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> RunOptions:
        return RunOptions(**data)


@dataclass(slots=True)
class Timing:
    """A candidate that passed the gate. `spent_s` says where its trial's time went; `region_s` is
    what the runner adds, the seconds of an empty parallel region before and after (None: not run
    on cores); `points_s` are the seconds at each point that is timed of a program with sizes.
    """

    latencies_s: list[float] = field(default_factory=list)
    stopped_early: bool = False
    spent_s: dict[str, float] = field(default_factory=dict)
    region_s: float | None = None
    points_s: list[float] = field(default_factory=list)

    @staticmethod
    def of_answer(answer: Mapping[str, Any]) -> Timing:
        """What a runner's `result` says. Raises RunError when it is no such message."""
        latencies, spent = answer.get("latencies_s"), answer.get("spent_s")
        region_s, points = answer.get("region_s"), answer.get("points_s")
        if answer.get("type") != "result":
            raise RunError(f"it is of type {shown(answer.get('type'))}, not 'result'")
        if not isinstance(latencies, list) or not _are(_is_latency, latencies) or not latencies:
            raise RunError(f"latencies_s must be a list of seconds, not {shown(latencies)}")
        if not isinstance(spent, dict) or not _are(is_time, spent.values()):
            raise RunError(f"spent_s must be an object of seconds, not {shown(spent)}")
        if region_s is not None and not is_time(region_s):
            raise RunError(f"region_s must be seconds, not {shown(region_s)}")
        if not isinstance(points, list) or not _are(_is_latency, points):
            raise RunError(f"points_s must be a list of seconds, not {shown(points)}")
        return Timing(latencies, answer.get("stopped_early") is True, spent, region_s, points)


def _are(kind: Callable[[Any], bool], values: Collection[Any]) -> bool:
    return len(values) <= MOST_FIGURES and all(map(kind, values))


def _is_latency(value: Any) -> bool:
    return is_time(value) and value > 0


def is_time(value: Any) -> bool:
    """Whether a JSON value is a length of time in seconds."""
    return type(value) in (int, float) and 0 <= value <= LONGEST_S


class Spent:
    """Wall time since the last mark, by label."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def mark(self, label: str) -> None:
        now = time.perf_counter()
        self.seconds[label] = self.seconds.get(label, 0.0) + now - self._last
        self._last = now


class LoadedCandidate(Protocol):
    """A loaded candidate with its memory, and what runs around it."""

    @property
    def setting(self) -> Setting: ...

    def poison(self) -> None:
        """Fill the outputs with values that are wrong."""
        ...

    def bench(self, count: int) -> Floats:
        """Seconds of each of `count` runs."""
        ...

    def bench_within(self, budget_s: float) -> Floats:
        """Seconds of the runs that fit into `budget_s`, at least one, in its setting."""
        ...

    def check(self, when: str) -> None:
        """Raise WrongAnswer or RunError unless the outputs are right."""
        ...


Retry: TypeAlias = Callable[[Callable[[], Timing]], Timing]
"""Calls a timing, perhaps several times, and returns one of its results."""


def once(timed: Callable[[], Timing]) -> Timing:
    """The retry that does not."""
    return timed()


def run_trial(
    candidate: LoadedCandidate,
    options: RunOptions,
    spent: Spent,
    retry: Retry,
    reference: LoadedCandidate | None = None,
) -> Timing:
    """The gate, then the clock, as often as `retry` likes, then the gate again; see the module's
    docstring. `reference` is what figures are relative to, where `options` ask for it.
    """
    candidate.poison()
    spent.mark("bind")
    first = float(candidate.bench(1)[0])
    spent.mark("first")
    candidate.check("")
    spent.mark("check")
    timing = retry(lambda: _time(candidate, first, options, reference))
    spent.mark("time")
    if not timing.stopped_early:
        candidate.check("after further runs, ")
    spent.mark("check")
    return timing


def _time(
    candidate: LoadedCandidate, first: float, options: RunOptions, reference: LoadedCandidate | None
) -> Timing:
    baseline = None if reference is None else Baseline(reference, options)
    limit = math.inf if options.best_s is None else options.stop_ratio * options.best_s
    if baseline is not None:
        limit *= max(1.0, baseline.slowness)
    first = _second_chances(candidate, first, limit)
    if first > limit:
        return Timing(
            [first if baseline is None else first / baseline.slowness], stopped_early=True
        )
    candidate.poison()
    if first < LONG_S:
        candidate.bench(SECOND_CHANCES if first < WAKE_UP_S else 1)  # warms up
    budget_s = options.min_repeat_ms * 1e-3
    near = math.inf if options.best_s is None else NEAR * options.best_s
    if baseline is not None:
        return Timing([baseline.relative(candidate, near, enough_s=options.repeats * budget_s)])

    def figure() -> float:
        calls = candidate.bench_within(budget_s)
        alone = candidate.setting.is_alone
        return float(np.median(calls)) if alone else _undisturbed([calls])

    figures = [figure()]
    while figures[0] <= near and len(figures) < options.repeats and sum(figures) < ENOUGH_S:
        figures.append(figure())
    return Timing(figures)


class Baseline:
    """How fast the machine is, by its time for the reference.

    On a shared machine the same program takes up to twice as long for seconds or minutes, most
    often because both cores are put on one. Programs of one task then slow down alike.
    """

    def __init__(self, reference: LoadedCandidate, options: RunOptions) -> None:
        assert options.reference_s is not None
        self._reference = reference
        self._usual_s = options.reference_s
        turn_s = min(max(TURN_CALLS * self._usual_s, SHORTEST_TURN_S), LONGEST_TURN_S)
        self._turn_s = turn_s if reference.setting.is_alone else TURN_BETWEEN_S
        reference.bench(1)  # wakes threads
        self._turns = [self._turn()]

    @property
    def slowness(self) -> float:
        """How many times longer than usual the reference takes."""
        return _undisturbed(self._turns) / self._usual_s

    def _turn(self) -> Floats:
        return self._reference.bench_within(self._turn_s)

    def relative(self, candidate: LoadedCandidate, near: float, enough_s: float) -> float:
        """The candidate's time divided by the slowness meanwhile, from turns until all took
        `enough_s`; from a few if it is above `near`.
        """
        turns: list[Floats] = []
        spent_s = 0.0
        while True:
            turns.append(candidate.bench_within(self._turn_s))
            self._turns.append(self._turn())
            found = _undisturbed(turns) / self.slowness
            spent_s += float(turns[-1].sum() + self._turns[-1].sum())
            enough = len(turns) == TURNS or spent_s >= enough_s or found > near
            if enough and (len(turns) >= FEW_TURNS or spent_s >= ENOUGH_S):
                return found


def _undisturbed(turns: Sequence[Floats]) -> float:
    """Seconds of a call that nothing disturbed."""
    return float(np.quantile(np.concatenate(turns), UNDISTURBED))


def _second_chances(candidate: LoadedCandidate, first: float, limit: float) -> float:
    """The shortest run: `first`, or one of a few more while they may be a hiccup's length above
    `limit`.
    """
    if not limit < first < limit + HICCUP_S:
        return first
    spent = 0.0
    for _ in range(SECOND_CHANCES):
        again = float(candidate.bench(1)[0])
        first, spent = min(first, again), spent + again
        if first <= limit or spent >= HICCUP_S:
            break
    return first


class Expected:
    """What a task's candidates are held to: the interface and the outputs of its reference."""

    def __init__(self, reference: Artifact, outputs: Sequence[Array], tolerance: Tolerance) -> None:
        self._reference = reference
        pairs = zip(reference.outputs, outputs, strict=True)
        self._gates = [OutputGate(replace(s, shape=v.shape), v, tolerance) for s, v in pairs]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(g.nbytes for g in self._gates)

    def check_interface(self, artifact: Artifact) -> None:
        """Raise RunError when an artifact has not the interface of its task (constants in their
        logical layouts).
        """
        task, logical = self._reference, artifact.sources
        constants = task.sources
        if (artifact.inputs, artifact.outputs, logical) != (task.inputs, task.outputs, constants):
            raise RunError(
                f"{artifact.entry} has inputs {_names(artifact.inputs)}, constants "
                f"{_names(logical.values())} and outputs {_names(artifact.outputs)}; the task has "
                f"{_names(task.inputs)}, {_names(constants.values())} and {_names(task.outputs)}"
            )

    def poison(self, outputs: Sequence[Array]) -> None:
        """Fill outputs with values that are wrong."""
        for gate, output in zip(self._gates, outputs, strict=True):
            gate.poison(output)

    def check(self, artifact: Artifact, outputs: Sequence[Array], when: str) -> None:
        """Raise WrongAnswer, told `when`, unless every output of an artifact passes its gate."""
        rounding = max(self._reference.rounding, artifact.rounding)
        for gate, output in zip(self._gates, outputs, strict=True):
            try:
                gate.check(output, rounding)
            except WrongAnswer as error:
                raise WrongAnswer(f"{when}{error}") from None


def _names(specs: Any) -> str:
    return "[" + "; ".join(map(str, specs)) + "]"

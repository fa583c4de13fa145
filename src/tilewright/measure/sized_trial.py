"""A task with sizes on the machine that measures: the same programs at several points.

    task = SizedTask(reference, kinds, tolerance, seed, setting, places)
    timing = task.run(candidate, RunOptions())

What a program takes is the mean of what it takes at the points, by their weights; the gate is that
of each. Beyond the sizes every input is NaN, and no output may be written.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from tilewright.contract.artifact import Artifact
from tilewright.contract.surroundings import Setting
from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.measure.gate import Tolerance
from tilewright.measure.inputs import InputKind, Place
from tilewright.measure.trial import (
    Floats,
    LoadedCandidate,
    Retry,
    RunOptions,
    Timing,
    once,
)
from tilewright.measure.trial_task import FixedTask, TrialTask, trial_task_of
from tilewright.target import Target


class SizedTask(TrialTask):
    """A task a place, all with the constants of the first."""

    def __init__(
        self,
        reference: Artifact,
        kinds: Sequence[InputKind],
        tolerance: Tolerance,
        seed: int,
        setting: Setting,
        places: Sequence[Place],
    ) -> None:
        """See `FixedTask`. Raises RunError when the reference cannot run here."""
        kind = trial_task_of(Target.parse(reference.target))
        self._parts: list[FixedTask] = []
        for place in places:
            first = self._parts[0] if self._parts else None
            part = kind(reference, kinds, tolerance, seed, setting, place, first)
            self._parts.append(part)
        self._places = places
        self.expected = self._parts[0].expected
        self.reference_s = sum(part.reference_s for part in self._parts)

    def values_at(self, probes: Sequence[Sequence[int]]) -> list[bytes]:
        each = len(probes) // len(self._parts)
        return [
            values
            for number, part in enumerate(self._parts)
            for values in part.values_at(probes[number * each : (number + 1) * each])
        ]

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self._parts)

    @contextmanager
    def loaded(self, artifact: Artifact) -> Iterator[LoadedCandidate]:
        try:
            with self._parts[0].program(artifact) as program:
                programs = [part.placed(program, artifact) for part in self._parts]
                self._candidate = _AtPlaces(self._places, programs)
                yield self._candidate
        finally:
            self.spoilt = self._parts[0].spoilt

    def run(self, artifact: Artifact, options: RunOptions, retry: Retry = once) -> Timing:
        """See `TrialTask.run`. Where other data are read between calls, most of the time goes by
        with that, once a place: then a figure is of as many calls as all those of other tasks.
        """
        if not self._parts[0].setting.is_alone:
            options = replace(options, repeats=1)
        timing = super().run(artifact, options, retry)
        timing.points_s = self._candidate.points_s(statistics.median(timing.latencies_s))
        return timing

    def baseline(self) -> LoadedCandidate | None:
        found = [program for part in self._parts if (program := part.baseline())]
        return _AtPlaces(self._places, found) if found else None


class _AtPlaces:
    """A program at all places, as one."""

    def __init__(self, places: Sequence[Place], programs: Sequence[LoadedCandidate]) -> None:
        self.setting = programs[0].setting
        self._all = list(zip(places, programs, strict=True))
        self._points: list[tuple[float, float]] = []

    def points_s(self, mean_s: float) -> list[float]:
        """Seconds at each place that is timed, as far as their mean is `mean_s`."""
        found = sum(weight * seconds for weight, seconds in self._points)
        return [seconds * mean_s / found for _, seconds in self._points]

    def poison(self) -> None:
        for _, program in self._all:
            program.poison()

    def bench(self, count: int) -> Floats:
        return self._mean(lambda program: program.bench(count))

    def bench_within(self, budget_s: float) -> Floats:
        timed = sum(place.point.weight > 0 for place, _ in self._all)
        return self._mean(lambda program: program.bench_within(budget_s / timed))

    def _mean(self, seconds: Callable[[LoadedCandidate], Floats]) -> Floats:
        """As many calls as there are of each, the quickest with the quickest, so that a quantile is
        the mean of the quantiles.
        """
        calls = []
        for place, program in self._all:
            if place.point.weight > 0:
                calls.append((place.point.weight, np.sort(seconds(program))))
            else:
                program.bench(1)
        self._points = [(weight, float(np.median(each))) for weight, each in calls]
        count = min(len(each) for _, each in calls)
        shares = (np.arange(count) + 0.5) / count
        found: Floats = np.zeros(count)
        for weight, each in calls:
            found += weight * each[(shares * len(each)).astype(int)]
        return found

    def check(self, when: str) -> None:
        for place, program in self._all:
            try:
                program.check(when)
            except (RunError, WrongAnswer) as error:
                raise type(error)(f"at {place.point}: {error}") from None

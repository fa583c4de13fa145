"""A task on the machine that measures: what all its candidates' trials share.

    task = trial_task_of(target)(reference, kinds, tolerance, seed=0)
    timing = task.run(candidate, RunOptions(repeats=3, min_repeat_ms=20))

`host_trial` and `device_trial` have the memory; which of them serves a target, its backend says.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np

from tilewright.contract.artifact import Array, Artifact
from tilewright.contract.surroundings import ALONE, Setting
from tilewright.measure.gate import Tolerance
from tilewright.measure.inputs import InputKind, Place, make_inputs
from tilewright.measure.trial import (
    Expected,
    LoadedCandidate,
    Retry,
    RunOptions,
    Spent,
    Timing,
    once,
    run_trial,
)
from tilewright.target import Target


class TrialTask(ABC):
    """Inputs, constants and expected outputs of one task, where its candidates run. `reference_s`
    is what its reference took; it is `spoilt` once a candidate may have broken its memory.
    """

    spoilt = False
    reference_s: float
    expected: Expected

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes held on this side while the task is loaded."""

    @abstractmethod
    def loaded(self, artifact: Artifact) -> AbstractContextManager[LoadedCandidate]:
        """A candidate with its memory. Raises RunError when it cannot be loaded."""

    def baseline(self) -> LoadedCandidate | None:
        """The reference beside candidates, where both are timed in turns."""
        return None

    @abstractmethod
    def values_at(self, probes: Sequence[Sequence[int]]) -> list[bytes]:
        """The reference's outputs at flat indices, one list of them for each output, as bytes. To
        be called before any candidate runs.
        """

    def run(self, artifact: Artifact, options: RunOptions, retry: Retry = once) -> Timing:
        """Load, run, check and time a candidate; `retry` may time it several times and choose.

        Raises RunError when it cannot run, has another interface or writes outside its buffers;
        WrongAnswer when an output differs from the reference's.
        """
        self.expected.check_interface(artifact)
        reference = None if options.reference_s is None else self.baseline()
        spent = Spent()
        with self.loaded(artifact) as candidate:
            spent.mark("load")
            timing = run_trial(candidate, options, spent, retry, reference)
        spent.mark("unload")
        timing.spent_s = spent.seconds
        return timing


class FixedTask(TrialTask):
    """With arrays of one shape each."""

    def __init__(
        self,
        reference: Artifact,
        kinds: Sequence[InputKind],
        tolerance: Tolerance,
        seed: int,
        setting: Setting = ALONE,
        place: Place | None = None,
        like: Self | None = None,
    ) -> None:
        """Make the inputs and run `reference` once for the expected outputs.

        `kinds` are those of the inputs, then of the constants in their logical layouts. Inputs of
        a program that runs alone begin where a caller's arrays do, else as other programs' outputs.
        Of a reference with sizes, `place` says what they are, and `like` is the same task at
        another place, with which it shares constants. Raises RunError when the reference cannot run
        here, TargetError without its device.
        """
        shapes = {} if place is None else place.shapes
        specs = [replace(s, shape=shapes.get(s.name, s.shape)) for s in reference.inputs]
        if like is None:
            specs += reference.sources.values()
        self.setting, self.place, self.like = setting, place, like
        self._hold(reference, make_inputs(specs, kinds[: len(specs)], seed))
        started = time.perf_counter()
        self._outputs = self._run_reference(reference)
        self.reference_s = time.perf_counter() - started
        self.expected = Expected(reference, self._outputs, tolerance)

    @property
    def sizes(self) -> Mapping[str, int]:
        """What a program is given."""
        return {} if self.place is None else self.place.point.values

    def live(self, name: str, array: Array) -> Array:
        """The part of an array's memory that is its value."""
        return array if self.place is None else self.place.live(name, array)

    @contextmanager
    def loaded(self, artifact: Artifact) -> Iterator[LoadedCandidate]:
        with self.program(artifact) as program:
            yield self.placed(program, artifact)

    @abstractmethod
    def program(self, artifact: Artifact) -> AbstractContextManager[Any]:
        """A program that is loaded. Raises RunError where it cannot be."""

    @abstractmethod
    def placed(self, program: Any, artifact: Artifact) -> LoadedCandidate:
        """What `program` gave, with the memory of this task."""

    @abstractmethod
    def _hold(self, reference: Artifact, given: Mapping[str, Array]) -> None:
        """Allocate memory, with the inputs and constants in it."""

    @abstractmethod
    def _run_reference(self, reference: Artifact) -> list[Array]:
        """Run it once; its outputs."""

    def values_at(self, probes: Sequence[Sequence[int]]) -> list[bytes]:
        pairs = zip(self._outputs, probes, strict=True)
        return [y.reshape(-1)[np.array(p, dtype=np.int64)].tobytes() for y, p in pairs]


def is_written(whole: Array, live: Array, byte: int) -> bool:
    """Whether memory beyond what is `live` of it has not only this `byte`."""

    def others(array: Array) -> int:
        return int(np.count_nonzero(np.ascontiguousarray(array).view(np.uint8) != byte))

    return live.nbytes < whole.nbytes and others(whole) > others(live)


def trial_task_of(target: Target) -> type[FixedTask]:
    """Where a target's candidates run."""
    found: type[FixedTask] = target.backend.trial.load()
    return found

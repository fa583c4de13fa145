"""One task on the measuring machine, and one candidate's trial: gate first, then the clock.

    task = LoadedTask(reference, kinds, tolerance, seed=0)
    timing = task.run(candidate, RunOptions(repeats=3, min_repeat_ms=20))
    timing.latencies_s                     one median of call times per repeat, in seconds

Every buffer lies between guard pages; inputs and constants are read-only while a candidate runs;
outputs are poisoned before its first run and again before the runs that are timed, and compared
with the reference's after both.
"""

from __future__ import annotations

import ctypes
import math
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tilewright.errors import RunError, WrongAnswer
from tilewright.measure.gate import OutputGate, Tolerance
from tilewright.measure.inputs import InputKind, make_inputs
from tilewright.measure.quiet import Patience, undisturbed
from tilewright.runtime.artifact import Array, Artifact, BufferSpec, Packing, numpy_dtype
from tilewright.runtime.buffers import GuardedBuffer
from tilewright.runtime.cpu import LoadedKernel, Region, pointer_array
from tilewright.target import CpuTarget

MAX_CALLS = 100_000
# Cold caches, fresh pages, sleeping threads or an interrupted one can cost a run this much, so more
# runs decide whether a candidate is given up. By the first run alone one of 40 programs, some of
# them the best, was taken for up to 100 times slower than it is.
HICCUP_S = 20e-3
SECOND_CHANCES = 10
# Runs up to this long are warmed up by more than one.
WAKE_UP_S = 2e-3
EVICTING = 2  # times as much other data as caches hold evicts nearly all that they held


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a candidate is timed.

    `repeats` figures are taken, each the median of the calls that fit into `min_repeat_ms`.
    Caches are warm from the call before unless there is something `between`, as in a network: so
    many bytes of other data are read before each timed call, at least enough to pass through the
    cores' own caches and at most through all, then the inputs, any part by any core. A candidate
    slower than `stop_ratio` times `best_s` (seconds; None: no such limit) in its first runs is not
    timed further. `timeout_s` ends a run, gate included.
    """

    repeats: int = 3
    min_repeat_ms: float = 20.0
    between: int = 0
    best_s: float | None = None
    stop_ratio: float = 3.0
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        if self.between < 0 or self.repeats < 1 or self.timeout_s <= 0:
            raise RunError(
                f"between must not be negative, repeats at least 1 and timeout_s positive; got "
                f"{self}"
            )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> RunOptions:
        return RunOptions(**data)


@dataclass(slots=True)
class Timing:
    """A candidate that passed the gate. `spent_s` says where its trial's time went."""

    latencies_s: list[float] = field(default_factory=list)
    stopped_early: bool = False
    spent_s: dict[str, float] = field(default_factory=dict)


class _Spent:
    """Wall time since the last mark, by label."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def mark(self, label: str) -> None:
        now = time.perf_counter()
        self.seconds[label] = self.seconds.get(label, 0.0) + now - self._last
        self._last = now


class LoadedTask:
    """Inputs, constants and expected outputs of one task, in guarded memory."""

    def __init__(
        self,
        reference: Artifact,
        kinds: Sequence[InputKind],
        tolerance: Tolerance,
        seed: int,
    ) -> None:
        """Make the inputs and run `reference` once for the expected outputs.

        `kinds` are those of the inputs, then of the constants in their logical layouts. Raises
        RunError when the reference cannot run here.
        """
        self._inputs = reference.inputs
        self._outputs = reference.outputs
        self._logical = {p.source.name: p.source for p in reference.packings}
        specs = (*reference.inputs, *self._logical.values())
        self._given = {
            spec.name: _guarded(spec, array)
            for spec, array in zip(specs, make_inputs(specs, kinds, seed).values(), strict=True)
        }
        self._results = [GuardedBuffer(s.bytes, written=True) for s in self._outputs]
        for buffer in self._results:
            buffer.fill()
        started = time.perf_counter()
        with LoadedKernel(reference) as kernel:
            bound = self._bind(reference)
            kernel(bound.buffers, bound.scratch.address)
        self.reference_s = time.perf_counter() - started
        bound.check_slack(reference, self._results)
        pairs = zip(self._outputs, self._results, strict=True)
        self._gates = [OutputGate(s, _view(s, b), tolerance) for s, b in pairs]
        self._other: Array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes held while the task is loaded."""
        buffers = (*self._given.values(), *self._results)
        return sum(b.nbytes for b in buffers) + sum(g.nbytes for g in self._gates)

    def values_at(self, points: Sequence[Sequence[int]]) -> list[bytes]:
        """The reference's outputs at flat indices, one list of them for each output, as bytes.

        To be called before any candidate runs.
        """
        pairs = zip(self._outputs, self._results, points, strict=True)
        flat = ((_view(s, b).reshape(-1), np.array(p, dtype=np.int64)) for s, b, p in pairs)
        return [values[index].tobytes() for values, index in flat]

    def run(
        self, artifact: Artifact, options: RunOptions, patience: Patience | None = None
    ) -> Timing:
        """Load, run, check and time a candidate; again while others disturb it and `patience`,
        None for none, lasts.

        Raises RunError when it cannot run, has another interface or writes outside its buffers;
        WrongAnswer when an output differs from the reference's.
        """
        self._check_interface(artifact)
        spent = _Spent()
        with LoadedKernel(artifact) as kernel:
            spent.mark("load")
            bound = self._bind(artifact)
            self._poison()
            spent.mark("bind")
            first = float(kernel.bench(bound.buffers, bound.scratch.address, 1)[0])
            spent.mark("first")
            self._check(artifact, bound)
            spent.mark("check")
            timing = undisturbed(
                lambda: self._time(kernel, bound, first, options), patience or Patience(0.0, 0.0)
            )
            spent.mark("time")
            if not timing.stopped_early:
                self._check(artifact, bound, "after further runs, ")
            spent.mark("check")
        spent.mark("unload")
        timing.spent_s = spent.seconds
        return timing

    def _time(
        self, kernel: LoadedKernel, bound: _Bound, first: float, options: RunOptions
    ) -> Timing:
        limit = math.inf if options.best_s is None else options.stop_ratio * options.best_s
        first = self._second_chances(kernel, bound, first, limit)
        if first > limit:
            return Timing([first], stopped_early=True)
        reads, readers = self._before(kernel.artifact, options.between)
        self._poison()
        warm_up = SECOND_CHANCES if first < WAKE_UP_S else 1
        kernel.bench(bound.buffers, bound.scratch.address, warm_up)
        seconds = [
            kernel.bench(
                bound.buffers,
                bound.scratch.address,
                MAX_CALLS,
                reads,
                readers,
                budget_s=options.min_repeat_ms * 1e-3,
            )
            for _ in range(options.repeats)
        ]
        return Timing([float(np.median(s)) for s in seconds])

    def _second_chances(
        self, kernel: LoadedKernel, bound: _Bound, first: float, limit: float
    ) -> float:
        """The shortest run: `first`, or one of a few more while they may be a hiccup's length
        above `limit`.
        """
        if not limit < first < limit + HICCUP_S:
            return first
        spent = 0.0
        for _ in range(SECOND_CHANCES):
            again = float(kernel.bench(bound.buffers, bound.scratch.address, 1)[0])
            first, spent = min(first, again), spent + again
            if first <= limit or spent >= HICCUP_S:
                break
        return first

    def _poison(self) -> None:
        for gate, spec, buffer in zip(self._gates, self._outputs, self._results, strict=True):
            gate.poison(_view(spec, buffer))

    def _before(self, artifact: Artifact, between: int) -> tuple[list[Region], int]:
        """What the threads read before each call, and how many threads that are."""
        if not between:
            return [], 0
        target = CpuTarget.of(artifact.target)
        own = EVICTING * target.l2_bytes * target.cores
        nbytes = min(max(between, own), own + EVICTING * target.l3_bytes)
        if self._other is None or self._other.nbytes < nbytes:
            # Written, since pages never touched share one of zeros.
            self._other = np.ones(nbytes, np.uint8)
        inputs = [self._given[s.name] for s in self._inputs]
        regions = [(self._other.ctypes.data, nbytes), *((b.address, b.nbytes) for b in inputs)]
        return regions, target.cores

    def _check(self, artifact: Artifact, bound: _Bound, when: str = "") -> None:
        bound.check_slack(artifact, self._results)
        for gate, spec, buffer in zip(self._gates, self._outputs, self._results, strict=True):
            try:
                gate.check(_view(spec, buffer))
            except WrongAnswer as error:
                raise WrongAnswer(f"{when}{error}") from None

    def _check_interface(self, artifact: Artifact) -> None:
        logical = {p.source.name: p.source for p in artifact.packings}
        wanted = (self._inputs, self._outputs, self._logical)
        if (artifact.inputs, artifact.outputs, logical) != wanted:
            raise RunError(
                f"{artifact.entry} has inputs {_names(artifact.inputs)}, constants "
                f"{_names(logical.values())} and outputs {_names(artifact.outputs)}; the task has "
                f"{_names(self._inputs)}, {_names(self._logical.values())} and "
                f"{_names(self._outputs)}"
            )

    def _bind(self, artifact: Artifact) -> _Bound:
        """Memory for one artifact: packed constants and scratch of its own, the rest shared."""
        pairs = zip(artifact.packings, artifact.constants, strict=True)
        constants = [self._packed(packing, spec) for packing, spec in pairs]
        inputs = [self._given[s.name] for s in artifact.inputs]
        _check_scratch(artifact)
        scratch = GuardedBuffer(artifact.scratch_bytes, written=True)
        scratch.fill()
        return _Bound([*inputs, *constants, *self._results], scratch)

    def _packed(self, packing: Packing, spec: BufferSpec) -> GuardedBuffer:
        logical = self._given[packing.source.name]
        if packing == Packing.identity(packing.source):
            return logical
        packed = GuardedBuffer(spec.bytes)
        packing.apply(_view(packing.source, logical), _view(spec, packed))
        packed.set_writable(False)
        return packed


class _Bound:
    """The native arguments of one artifact; keeps their memory."""

    def __init__(self, arguments: list[GuardedBuffer], scratch: GuardedBuffer) -> None:
        self.scratch = scratch
        self._arguments = arguments
        self._pointers = pointer_array([b.address for b in arguments])
        self.buffers = ctypes.addressof(self._pointers)

    def check_slack(self, artifact: Artifact, results: Sequence[GuardedBuffer]) -> None:
        """Raise RunError when the kernel wrote beside an output or the scratch block."""
        names = [*(s.name for s in artifact.outputs), "the scratch block"]
        for name, buffer in zip(names, [*results, self.scratch], strict=True):
            if not buffer.slack_intact():
                raise RunError(f"{artifact.entry} wrote outside {name} ({buffer.nbytes} bytes)")


def _guarded(spec: BufferSpec, array: Array) -> GuardedBuffer:
    buffer = GuardedBuffer(spec.bytes)
    np.copyto(_view(spec, buffer), array)
    buffer.set_writable(False)
    return buffer


def _view(spec: BufferSpec, buffer: GuardedBuffer) -> Array:
    return buffer.view(spec.shape, numpy_dtype(spec.dtype))


def _check_scratch(artifact: Artifact) -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if artifact.scratch_bytes > memory // 2:
        raise RunError(
            f"{artifact.entry} needs {artifact.scratch_bytes} bytes of scratch memory; this "
            f"machine has {memory}"
        )


def _names(specs: Any) -> str:
    return "[" + "; ".join(map(str, specs)) + "]"

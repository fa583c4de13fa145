"""A task and its candidates' trials on this machine's cores (see `trial`).

    task = HostTask(reference, kinds, tolerance, seed=0)
    timing = task.run(candidate, RunOptions(repeats=3, min_repeat_ms=20))

Every buffer lies between guard pages; inputs and constants are read-only while a candidate runs.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping, Sequence

import numpy as np

from tilewright.contract.artifact import Array, Artifact, BufferSpec, Packing, numpy_dtype
from tilewright.ground.errors import RunError
from tilewright.measure.trial import (
    EVICTING,
    MAX_CALLS,
    Floats,
    LoadedCandidate,
)
from tilewright.measure.trial_task import FixedTask, is_written
from tilewright.runtime.buffers import NUMPY_START, WRITTEN_SLACK, GuardedBuffer, staggered
from tilewright.runtime.cpu import LoadedKernel, Region, pointer_array
from tilewright.target import CpuTarget, memory_bytes

PACKED_BYTES = 256 << 20  # of packed constants that are kept for the next candidates


class HostTask(FixedTask):
    """In guarded memory: what a candidate breaks, it breaks for itself."""

    def _hold(self, reference: Artifact, given: Mapping[str, Array]) -> None:
        self._inputs = reference.inputs
        specs = (*reference.inputs, *reference.sources.values())
        starts = [staggered(slot) for slot in range(len(specs))]
        if self.setting.is_alone:
            starts[: len(self._inputs)] = [NUMPY_START] * len(self._inputs)
        self._given: dict[str, GuardedBuffer] = {}
        self._packings: dict[tuple[Packing, int], GuardedBuffer] = {}
        if self.like is not None:
            self._given |= self.like._given
            self._packings = self.like._packings
        for spec, start in zip(specs, starts, strict=True):
            if spec.name in given:
                self._given[spec.name] = self._guarded(spec, given[spec.name], start)
        self._results = _new_results(reference.outputs, len(specs))

    def _guarded(self, spec: BufferSpec, array: Array, start: int) -> GuardedBuffer:
        buffer = GuardedBuffer(spec.bytes, start=start)
        if array.nbytes < spec.bytes:
            buffer.fill()
        np.copyto(self.live(spec.name, _view(spec, buffer)), array)
        buffer.set_writable(False)
        return buffer

    def _run_reference(self, reference: Artifact) -> list[Array]:
        """In memory of its own: it runs beside candidates, too."""
        own = _new_results(reference.outputs, len(self._given))
        self._reference = _OnHost(self, LoadedKernel(reference), reference, own)
        self._reference.mark()
        self._reference.bench(1)
        self._reference.check_slack()
        return self._reference.outputs()

    @property
    def nbytes(self) -> int:
        own = (*self._given.values(), *self._results, *self._packings.values())
        held = {id(b): b.nbytes for b in (*own, *self._reference.memory)}  # which shares inputs
        return sum(held.values()) + self.expected.nbytes

    def program(self, artifact: Artifact) -> LoadedKernel:
        return LoadedKernel(artifact)

    def placed(self, program: LoadedKernel, artifact: Artifact) -> LoadedCandidate:
        return _OnHost(self, program, artifact, self._results)

    def baseline(self) -> LoadedCandidate:
        return self._reference

    def before(self, artifact: Artifact) -> tuple[list[Region], int]:
        """What the threads read before each call, and how many threads that are: other data, at
        least enough to pass through the cores' own caches and at most through all, then the inputs.
        """
        if self.setting.is_alone:
            return [], 0
        target = CpuTarget.of(artifact.target)
        own = EVICTING * target.l2_bytes * target.cores
        most = own + EVICTING * target.l3_bytes
        other = (_other_data(most).ctypes.data, min(max(self.setting.between_bytes, own), most))
        inputs = [self._given[s.name] for s in self._inputs]
        regions = [other, *((b.address, b.nbytes) for b in inputs)]
        return regions, target.cores

    def bind(self, artifact: Artifact, results: Sequence[GuardedBuffer]) -> Bound:
        """Memory for one artifact: inputs and equally packed constants shared, scratch its own."""
        inputs = [self._given[s.name] for s in artifact.inputs]
        pairs = zip(artifact.packings, artifact.constants, strict=True)
        constants = [
            self._packed(packing, spec, slot)
            for slot, (packing, spec) in enumerate(pairs, len(inputs))
        ]
        _check_scratch(artifact)
        arguments = [*inputs, *constants, *results]
        start = staggered(len(arguments))
        scratch = GuardedBuffer(artifact.scratch_bytes, written=True, start=start)
        scratch.fill()
        return Bound(arguments, scratch)

    def _packed(self, packing: Packing, spec: BufferSpec, slot: int) -> GuardedBuffer:
        logical = self._given[packing.source.name]
        if packing == Packing.identity(packing.source):
            return logical
        packed = self._packings.pop((packing, slot), None)
        if packed is None:
            packed = GuardedBuffer(spec.bytes, start=staggered(slot))
            packing.apply(_view(packing.source, logical), _view(spec, packed))
            packed.set_writable(False)
        self._packings[packing, slot] = packed  # the latest comes last
        while sum(b.nbytes for b in self._packings.values()) > PACKED_BYTES:
            del self._packings[next(iter(self._packings))]
        return packed


class _OnHost:
    """A program of the task, loaded into this process, with its memory."""

    def __init__(
        self,
        task: HostTask,
        kernel: LoadedKernel,
        artifact: Artifact,
        results: Sequence[GuardedBuffer],
    ) -> None:
        self.results = results
        self.setting = task.setting
        self._task = task
        self._kernel = kernel
        self._artifact = artifact
        self._bound = task.bind(artifact, results)
        self._native = (self._bound.buffers, self._bound.scratch.address)

    @property
    def memory(self) -> list[GuardedBuffer]:
        """All that it reads and writes."""
        return self._bound.memory

    def outputs(self) -> list[Array]:
        pairs = zip(self._artifact.outputs, self.results, strict=True)
        return [self._task.live(s.name, _view(s, b)) for s, b in pairs]

    def mark(self) -> None:
        """Make what is written beyond the sizes visible."""
        if self._task.place is not None:
            for buffer in self.results:
                buffer.data.fill(WRITTEN_SLACK)

    def poison(self) -> None:
        self.mark()
        self._task.expected.poison(self.outputs())

    def bench(self, count: int) -> Floats:
        return self._kernel.bench(*self._native, count, sizes=self._task.sizes)

    def bench_within(self, budget_s: float) -> Floats:
        reads, readers = self._task.before(self._artifact)
        return self._kernel.bench(
            *self._native, MAX_CALLS, reads, readers, budget_s=budget_s, sizes=self._task.sizes
        )

    def check(self, when: str) -> None:
        self.check_slack()
        self._task.expected.check(self._artifact, self.outputs(), when)

    def check_slack(self) -> None:
        """Raise RunError if the kernel wrote beside its buffers, or beyond the sizes."""
        self._bound.check_slack(self._artifact, self.results)
        for spec, buffer in zip(self._artifact.outputs, self.results, strict=True):
            live = self._task.live(spec.name, _view(spec, buffer))
            if is_written(buffer.data, live, WRITTEN_SLACK):
                raise RunError(f"{self._artifact.entry} wrote {spec.name} beyond its sizes")


class Bound:
    """The native arguments of one artifact; keeps their memory."""

    def __init__(self, arguments: list[GuardedBuffer], scratch: GuardedBuffer) -> None:
        self.scratch = scratch
        self.memory = [*arguments, scratch]
        self._pointers = pointer_array([b.address for b in arguments])
        self.buffers = ctypes.addressof(self._pointers)

    def check_slack(self, artifact: Artifact, results: Sequence[GuardedBuffer]) -> None:
        """Raise RunError when the kernel wrote beside an output or the scratch block."""
        names = [*(s.name for s in artifact.outputs), "the scratch block"]
        for name, buffer in zip(names, [*results, self.scratch], strict=True):
            if not buffer.slack_intact():
                raise RunError(f"{artifact.entry} wrote outside {name} ({buffer.nbytes} bytes)")


@functools.cache
def _other_data(nbytes: int) -> Array:
    """What is read between calls, the same for all tasks. Written, since pages never touched share
    one of zeros.
    """
    return np.ones(nbytes, np.uint8)


def _new_results(outputs: Sequence[BufferSpec], first: int) -> list[GuardedBuffer]:
    """Memory for outputs, in slots from `first` on."""
    results = [
        GuardedBuffer(s.bytes, written=True, start=staggered(slot))
        for slot, s in enumerate(outputs, first)
    ]
    for buffer in results:
        buffer.fill()
    return results


def _view(spec: BufferSpec, buffer: GuardedBuffer) -> Array:
    return buffer.view(spec.shape, numpy_dtype(spec.dtype))


def _check_scratch(artifact: Artifact) -> None:
    memory = memory_bytes()
    if artifact.scratch_bytes > memory // 2:
        raise RunError(
            f"{artifact.entry} needs {artifact.scratch_bytes} bytes of scratch memory; this "
            f"machine has {memory}"
        )

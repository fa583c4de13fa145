"""A task and its candidates' trials on a device with memory of its own (see `trial`).

    task = DeviceTask(reference, kinds, tolerance, seed=0)
    timing = task.run(candidate, RunOptions())          seconds by the device's clock

Outputs are poisoned and compared on the host. Behind every buffer, and beyond sizes within it, lie
bytes that must stay as they are, and that are no numbers: what is written beyond an output is
found, what is read there spoils the answer. Nothing protects inputs, or the device, from a
candidate that goes astray: once one has failed, the task is `spoilt`, and its process with the
device's context should be replaced.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from tilewright.contract.artifact import Array, Artifact, BufferSpec, numpy_dtype
from tilewright.ground.errors import RunError, TargetError, TilewrightError
from tilewright.measure.trial import (
    EVICTING,
    MAX_CALLS,
    Floats,
    LoadedCandidate,
)
from tilewright.measure.trial_task import FixedTask, is_written
from tilewright.runtime.buffers import WRITTEN_SLACK
from tilewright.runtime.device import Device, OtherData
from tilewright.runtime.devices import open_device
from tilewright.target import GpuTarget, Target

MOST_IN_A_ROW = 64
SLACK_BYTES = 4096
SLACK = 0xFF  # every float of such bytes is a NaN


def device_of(target: Target) -> Device:
    """The device here, if it is the one that `target` names: times of another would be recorded as
    its own. Raises TargetError.
    """
    device = open_device(target)
    here = device.target
    if (here.kind, here.name) != (target.kind, target.name):
        raise TargetError(
            f"the device here is {here.kind}:{here.name}, not {target.kind}:{target.name}: tune "
            f"for {here.kind}, or name a runner on a machine that has it"
        )
    return device


class _DeviceBuffer:
    """Memory on the device for one array, its slack, and a copy of both here. Slack has another
    pattern where kernels write: a NaN that came from an input's would leave no trace.
    """

    def __init__(self, device: Device, spec: BufferSpec, slack: int = SLACK) -> None:
        self.spec = spec
        self._device, self._slack = device, slack
        self.whole = np.full(spec.bytes + SLACK_BYTES, slack, np.uint8)
        self.array = self.whole[: spec.bytes].view(numpy_dtype(spec.dtype)).reshape(spec.shape)
        self.memory = device.allocate(self.whole.nbytes)

    @property
    def nbytes(self) -> int:
        return self.whole.nbytes

    def clear(self) -> None:
        """Slack everywhere, here."""
        self.whole.fill(self._slack)

    def upload(self) -> None:
        """Copy the array, and intact slack, to the device."""
        self.whole[self.spec.bytes :] = self._slack
        self._device.upload(self.whole, self.memory)

    def download(self, entry: str) -> Array:
        """The array as the device has it. Raises RunError when its slack was written."""
        self._device.download(self.memory, self.whole)
        if (self.whole[self.spec.bytes :] != self._slack).any():
            raise RunError(f"{entry} wrote outside {self.spec.name} ({self.spec.bytes} bytes)")
        return self.array


class DeviceTask(FixedTask):
    """In the device's memory, which nothing protects: a candidate that failed spoils the task."""

    def _hold(self, reference: Artifact, given: Mapping[str, Array]) -> None:
        """Memory of a device is aligned, whoever allocates it."""
        target = Target.parse(reference.target)
        assert isinstance(target, GpuTarget)
        self.device = device_of(target)
        self._l2_bytes = target.l2_bytes
        known: Mapping[str, Array] = given if self.like is None else self.like.constants
        self.constants: dict[str, Array] = {name: known[name] for name in reference.sources}
        self.given = [_DeviceBuffer(self.device, s) for s in reference.inputs]
        for buffer in self.given:
            array = given[buffer.spec.name]
            self.live(buffer.spec.name, buffer.array)[...] = array
            buffer.upload()
        self.results = [_DeviceBuffer(self.device, s, WRITTEN_SLACK) for s in reference.outputs]
        for buffer in self.results:
            buffer.upload()

    def _run_reference(self, reference: Artifact) -> list[Array]:
        candidate = _OnDevice(self, _Program(self, reference), reference)
        candidate.bench(1)
        return candidate.outputs()

    @property
    def nbytes(self) -> int:
        held = sum(b.nbytes for b in (*self.given, *self.results))
        if self.like is None:
            held += sum(c.nbytes for c in self.constants.values())
        return held + self.expected.nbytes

    @contextmanager
    def program(self, artifact: Artifact) -> Iterator[_Program]:
        program = _Program(self, artifact)
        try:
            yield program
        except TilewrightError:
            self.spoilt = True
            raise

    def placed(self, program: _Program, artifact: Artifact) -> LoadedCandidate:
        return _OnDevice(self, program, artifact)

    @functools.cached_property
    def other(self) -> OtherData | None:
        """What passes between runs in a network; None where the program runs alone."""
        if self.setting.is_alone:
            return None
        nbytes = min(self.setting.between_bytes, EVICTING * self._l2_bytes)
        renewed = []
        for buffer in self.given:
            twin = self.device.allocate(buffer.nbytes)
            self.device.upload(buffer.whole, twin)
            renewed.append((twin, buffer.memory, buffer.nbytes))
        return OtherData(self.device.allocate(nbytes), nbytes, renewed)


class _Program:
    """What is on the device of a candidate, with packed constants and scratch of its own."""

    def __init__(self, task: DeviceTask, artifact: Artifact) -> None:
        device = task.device
        self.loaded = device.load(artifact)
        self.constants = [_DeviceBuffer(device, s) for s in artifact.constants]
        for buffer, packing in zip(self.constants, artifact.packings, strict=True):
            packing.apply(task.constants[packing.source.name], buffer.array)
            buffer.upload()
        scratch = BufferSpec("scratch", (artifact.scratch_bytes,), "uint8")
        self.scratch = _DeviceBuffer(device, scratch)
        self.scratch.upload()


class _OnDevice:
    """A program on the device with the memory of a task."""

    def __init__(self, task: DeviceTask, program: _Program, artifact: Artifact) -> None:
        self._task = task
        self.setting = task.setting
        self._artifact = artifact
        self._program, self._scratch = program.loaded, program.scratch
        buffers = (*task.given, *program.constants, *task.results)
        self._memory = [b.memory for b in buffers], self._scratch.memory
        self._values = [task.sizes[s.name] for s in artifact.sizes]

    def outputs(self) -> list[Array]:
        """As the device has them. Raises RunError where something else was written."""
        found = []
        for buffer in self._task.results:
            array = buffer.download(self._artifact.entry)
            found.append(self._task.live(buffer.spec.name, array))
            if is_written(array, found[-1], WRITTEN_SLACK):
                raise RunError(f"{self._artifact.entry} wrote {buffer.spec.name} beyond its sizes")
        return found

    def poison(self) -> None:
        results = self._task.results
        if self._task.place is not None:
            for buffer in results:
                buffer.clear()
        self._task.expected.poison([self._task.live(b.spec.name, b.array) for b in results])
        for buffer in results:
            buffer.upload()

    def bench(self, count: int) -> Floats:
        return self._program.time(*self._memory, count, None, self._values)

    def bench_within(self, budget_s: float) -> Floats:
        seconds: list[float] = []
        deadline = time.monotonic() + budget_s
        while not seconds or (len(seconds) < MAX_CALLS and time.monotonic() < deadline):
            # each time at most as many as before
            count = min(max(1, len(seconds)), MOST_IN_A_ROW)
            other = self._task.other
            seconds += self._program.time(*self._memory, count, other, self._values).tolist()
        return np.array(seconds)

    def check(self, when: str) -> None:
        self._scratch.download(self._artifact.entry)
        self._task.expected.check(self._artifact, self.outputs(), when)

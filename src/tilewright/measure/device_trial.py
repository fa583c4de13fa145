"""A task and its candidates' trials on a device with memory of its own (see `trial`).

    task = DeviceTask(reference, kinds, tolerance, seed=0)
    timing = task.run(candidate, RunOptions())          seconds by the device's clock

Outputs are poisoned and compared on the host. Behind every buffer lie bytes that must stay as they
are, and that are no numbers: what is written beyond an output is found, what is read there spoils
the answer. Nothing protects inputs, or the device, from a candidate that goes astray: once one has
failed, the task is `spoilt`, and its process with the device's context should be replaced.
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
from tilewright.measure.trial_task import FixedTask
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
    """Memory on the device for one array, its slack, and a copy of both here."""

    def __init__(self, device: Device, spec: BufferSpec) -> None:
        self.spec = spec
        self._device = device
        self.whole = np.full(spec.bytes + SLACK_BYTES, SLACK, np.uint8)
        self.array = self.whole[: spec.bytes].view(numpy_dtype(spec.dtype)).reshape(spec.shape)
        self.memory = device.allocate(self.whole.nbytes)

    @property
    def nbytes(self) -> int:
        return self.whole.nbytes

    def upload(self) -> None:
        """Copy the array, and intact slack, to the device."""
        self.whole[self.spec.bytes :] = SLACK
        self._device.upload(self.whole, self.memory)

    def download(self, entry: str) -> Array:
        """The array as the device has it. Raises RunError when its slack was written."""
        self._device.download(self.memory, self.whole)
        if (self.whole[self.spec.bytes :] != SLACK).any():
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
        self.constants = {name: given[name] for name in reference.sources}
        self.given = [_DeviceBuffer(self.device, s) for s in reference.inputs]
        for buffer in self.given:
            buffer.array[...] = given[buffer.spec.name]
            buffer.upload()
        self.results = [_DeviceBuffer(self.device, s) for s in reference.outputs]
        for buffer in self.results:
            buffer.upload()

    def _run_reference(self, reference: Artifact) -> list[Array]:
        _OnDevice(self, reference).bench(1)
        return [b.download(reference.entry) for b in self.results]

    @property
    def nbytes(self) -> int:
        held = sum(b.nbytes for b in (*self.given, *self.results))
        held += sum(c.nbytes for c in self.constants.values())
        return held + self.expected.nbytes

    @contextmanager
    def loaded(self, artifact: Artifact) -> Iterator[LoadedCandidate]:
        candidate = _OnDevice(self, artifact)
        try:
            yield candidate
        except TilewrightError:
            self.spoilt = True
            raise

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


class _OnDevice:
    """A candidate loaded onto the device, with packed constants and scratch of its own."""

    def __init__(self, task: DeviceTask, artifact: Artifact) -> None:
        self._task = task
        self.setting = task.setting
        self._artifact = artifact
        device = task.device
        self._program = device.load(artifact)
        self._own = [_DeviceBuffer(device, s) for s in artifact.constants]
        for buffer, packing in zip(self._own, artifact.packings, strict=True):
            packing.apply(task.constants[packing.source.name], buffer.array)
            buffer.upload()
        self._scratch = _DeviceBuffer(
            device, BufferSpec("scratch", (artifact.scratch_bytes,), "uint8")
        )
        self._scratch.array.fill(SLACK)
        self._scratch.upload()
        buffers = (*task.given, *self._own, *task.results)
        self._memory = [b.memory for b in buffers], self._scratch.memory

    def poison(self) -> None:
        results = self._task.results
        self._task.expected.poison([b.array for b in results])
        for buffer in results:
            buffer.upload()

    def bench(self, count: int) -> Floats:
        return self._program.time(*self._memory, count)

    def bench_within(self, budget_s: float) -> Floats:
        seconds: list[float] = []
        deadline = time.monotonic() + budget_s
        while not seconds or (len(seconds) < MAX_CALLS and time.monotonic() < deadline):
            # each time at most as many as before
            count = min(max(1, len(seconds)), MOST_IN_A_ROW)
            seconds += self._program.time(*self._memory, count, self._task.other).tolist()
        return np.array(seconds)

    def check(self, when: str) -> None:
        self._scratch.download(self._artifact.entry)
        outputs = [b.download(self._artifact.entry) for b in self._task.results]
        self._task.expected.check(self._artifact, outputs, when)

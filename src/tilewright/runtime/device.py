"""Functions on a device with memory of its own: arrays in, arrays out.

    fn = DeviceFunction(artifact, OpenclDevice())
    fn.prepare({"weight": w})
    (y,) = fn(x)
    seconds = fn.bench((x,), 10)

What OpenCL, CUDA and the emulation have in common is the `Device` protocol: memory, copies, and a
loaded program whose kernels run in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tilewright.errors import InputError
from tilewright.runtime.artifact import Array, Artifact, BufferSpec, numpy_dtype


class LoadedProgram(Protocol):
    """A program on a device."""

    def run(self, buffers: Sequence[Any], scratch: Any) -> None:
        """Run all kernels and wait for them."""
        ...

    def time(self, buffers: Sequence[Any], scratch: Any, count: int) -> npt.NDArray[np.float64]:
        """Seconds of each of `count` runs, by the device's clock."""
        ...


class Device(Protocol):
    """A device; buffers are whatever it says."""

    def allocate(self, size: int) -> Any:
        """Memory for `size` bytes, uninitialised."""
        ...

    def upload(self, array: Array, buffer: Any) -> None: ...

    def download(self, buffer: Any, array: Array) -> None: ...

    def load(self, artifact: Artifact) -> LoadedProgram:
        """Raises RunError when the device cannot load it."""
        ...


class DeviceFunction:
    """A loaded artifact with its buffers on the device."""

    def __init__(self, artifact: Artifact, device: Device) -> None:
        self.artifact = artifact
        self.device = device
        self._program = device.load(artifact)
        self._buffers = [device.allocate(spec.bytes) for spec in artifact.buffers]
        self._scratch = device.allocate(max(artifact.scratch_bytes, 1))
        self._ready = not artifact.constants

    def prepare(self, constants: Mapping[str, Array]) -> None:
        """Pack the constants (given in their logical layouts, by name) and put them there."""
        names = [p.source.name for p in self.artifact.packings]
        if set(names) != set(constants):
            raise InputError(f"constants given: {sorted(constants)}; wanted: {sorted(names)}")
        first = len(self.artifact.inputs)
        for i, packing in enumerate(self.artifact.packings):
            array = checked(packing.source, constants[packing.source.name])
            self.device.upload(packing.apply(array), self._buffers[first + i])
        self._ready = True

    def __call__(self, *inputs: Array) -> list[Array]:
        """Outputs in the artifact's order. Raises InputError where an input does not fit."""
        self._take(inputs)
        self._program.run(self._buffers, self._scratch)
        outputs = []
        first = len(self._buffers) - len(self.artifact.outputs)
        for i, spec in enumerate(self.artifact.outputs):
            array = np.empty(spec.shape, numpy_dtype(spec.dtype))
            self.device.download(self._buffers[first + i], array)
            outputs.append(array)
        return outputs

    def run(self, inputs: Mapping[str, Array]) -> list[Array]:
        """The same for inputs by name."""
        names = [s.name for s in self.artifact.inputs]
        if set(inputs) != set(names):
            raise InputError(f"inputs given: {sorted(inputs)}; wanted: {sorted(names)}")
        return self(*(inputs[n] for n in names))

    def bench(self, inputs: Sequence[Array], count: int) -> npt.NDArray[np.float64]:
        """Seconds of each of `count` runs on the device; copies are not in them."""
        self._take(inputs)
        return self._program.time(self._buffers, self._scratch, count)

    def _take(self, inputs: Sequence[Array]) -> None:
        if not self._ready:
            names = ", ".join(p.source.name for p in self.artifact.packings)
            raise InputError(f"call prepare() with the constants first: {names}")
        if len(inputs) != len(self.artifact.inputs):
            listed = ", ".join(map(str, self.artifact.inputs)) or "none"
            raise InputError(
                f"{len(inputs)} inputs given, {len(self.artifact.inputs)} needed: {listed}"
            )
        for spec, array, buffer in zip(self.artifact.inputs, inputs, self._buffers, strict=False):
            self.device.upload(checked(spec, array), buffer)


def checked(spec: BufferSpec, array: Array) -> Array:
    """The array, contiguous. Raises InputError where shape or dtype differ."""
    found = np.asarray(array)
    if found.shape != spec.shape or found.dtype != numpy_dtype(spec.dtype):
        raise InputError(f"{spec} is wanted, got {found.dtype} of shape {found.shape}")
    return np.ascontiguousarray(found)

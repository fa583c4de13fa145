"""Functions on a device with memory of its own: arrays in, arrays out.

    fn = DeviceFunction(artifact, OpenclDevice())
    fn.prepare({"weight": w})
    (y,) = fn(x)
    seconds = fn.bench((x,), 10)

What OpenCL, CUDA and the emulation have in common is the `Device` protocol: memory, copies, and a
loaded program whose kernels run in order. A function has one buffer for every array of its
interface, and one for scratch memory (of a network, the arena); constants are uploaded once.
Arrays that are on the device already stay where they are (`DeviceArrays`).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from tilewright.contract.artifact import Array, Artifact, NetworkStep
from tilewright.ground.errors import InputError
from tilewright.runtime.constants import Constants, pack, pack_given
from tilewright.runtime.parameters import (
    ArrayFunction,
    Parameter,
    check_count,
    checked_one,
    positional,
    with_named,
)
from tilewright.runtime.profile import Profile, profile
from tilewright.runtime.tensors import alike
from tilewright.target import Target

Seconds = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OtherData:
    """What other programs of a network leave in the caches before a run: `nbytes` of `memory` are
    written, then inputs anew, as their producers do: `renewed` are (from, to, bytes).
    """

    memory: Any
    nbytes: int
    renewed: Sequence[tuple[Any, Any, int]] = ()


class LoadedProgram(Protocol):
    """A program on a device. Its times are those of the device's clock; copies are not in them."""

    def run(self, buffers: Sequence[Any], scratch: Any) -> None:
        """Run all kernels and wait for them."""
        ...

    def time(
        self, buffers: Sequence[Any], scratch: Any, count: int, other: OtherData | None = None
    ) -> Seconds:
        """Seconds of a run, `count` times: of one, or the mean of several in a row where the clock
        is too coarse for one. Other data passes before each run if there is any.
        """
        ...

    def steps(self, buffers: Sequence[Any], scratch: Any) -> Seconds:
        """Seconds of each launch of one run."""
        ...


class DeviceArrays(Protocol):
    """What a device does with callers' arrays in its memory."""

    def takes(self, value: Any) -> bool:
        """Whether a value is such an array."""
        ...

    def borrowed(self, parameter: Parameter, value: Any, written: bool = False) -> Any:
        """Its memory, as a buffer of one call. Raises InputError for one that does not fit."""
        ...

    def new(self, parameter: Parameter) -> Any:
        """An array for an output, uninitialised. Raises RunError where memory is short."""
        ...

    def check_apart(self, read: Mapping[str, Any], written: Mapping[str, Any]) -> None:
        """Raise InputError where borrowed memory is written and used otherwise, too."""
        ...


class Device(Protocol):
    """A device; buffers are whatever it says, and are given back when nothing refers to them."""

    @property
    def target(self) -> Target:
        """Its facts."""
        ...

    @property
    def arrays(self) -> DeviceArrays | None:
        """How it takes arrays in its memory; None where there are none."""
        ...

    def allocate(self, size: int) -> Any:
        """Memory for `size` bytes, uninitialised. Raises RunError when there is not enough."""
        ...

    def upload(self, array: Array, buffer: Any) -> None: ...

    def download(self, buffer: Any, array: Array) -> None: ...

    def load(self, artifact: Artifact, parts: Sequence[Artifact] = ()) -> LoadedProgram:
        """The launches of `artifact`, whose kernels are in its code or that of `parts`.

        Raises RunError when the device cannot load it.
        """
        ...


class DeviceFunction(ArrayFunction):
    """A loaded artifact with its buffers on the device. Calls of several threads take turns."""

    def __init__(
        self,
        artifact: Artifact,
        device: Device,
        parts: Sequence[Artifact] = (),
        arguments: Sequence[str] | None = None,
        *,
        constants: Constants | None = None,
        name: str | None = None,
    ) -> None:
        """Load `artifact`, whose kernels are in `parts` if it is a network's, and upload its packed
        `constants`; a function without constants is ready at once.

        `arguments` are the names of the inputs in the order in which a caller gives them (None:
        the artifact's). Raises RunError when the device cannot load it or has too little memory.
        """
        super().__init__(artifact, arguments, name)
        self.device = device
        self._program = device.load(artifact, parts)
        self._buffers = [device.allocate(spec.bytes) for spec in artifact.buffers]
        self._scratch = device.allocate(artifact.scratch_bytes)
        self._busy = threading.Lock()
        self._ready = False
        if constants is not None or not artifact.constants:
            self._upload(constants or pack(artifact, {}))

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} cannot be pickled, its memory is on a device: compile in the process that "
            f"runs it"
        )

    def prepare(self, constants: Mapping[str, Any]) -> None:
        """Pack the constants (given in their logical layouts, by name) and put them there.

        Raises InputError for a missing or unknown name, a wrong shape or dtype.
        """
        self._upload(pack_given(self.artifact, constants))

    def _upload(self, constants: Constants) -> None:
        first = len(self.artifact.inputs)
        for array, buffer in zip(constants.arrays, self._buffers[first:], strict=False):
            self.device.upload(array, buffer)
        self._ready = True

    def touch(self) -> None:
        """Nothing: its memory is there once it is loaded."""

    def __call__(
        self, /, *inputs: Any, out: Sequence[Any] | None = None, **named: Any
    ) -> list[Any]:
        """Outputs in the order of `outputs`, in `out` if it is given.

        Inputs and `out` are arrays of NumPy's, or arrays in this device's memory, which are neither
        copied nor kept. Without `out`, outputs are arrays on the device if an input is one, else
        NumPy's; tensors of PyTorch's, if an input is one. Raises InputError where an array does not
        fit.
        """
        if named:
            inputs = tuple(with_named(self._inputs, inputs, named))
        if out is not None:
            self._check_outputs(self._outputs, out)
        with self._busy:
            buffers = self._take(inputs)
            outputs = self._new(inputs) if out is None else list(out)
            self._give(outputs, buffers)
            self._program.run(buffers, self._scratch)
            for parameter, array in zip(self._outputs, outputs, strict=True):
                if not self._is_there(array):
                    self.device.download(buffers[parameter.slot], array)
        return alike(inputs, outputs) if out is None else outputs

    def bench(self, inputs: Mapping[str, Any] | Sequence[Any], count: int) -> Seconds:
        """Seconds of a run on the device, `count` times (see `LoadedProgram.time`); copies are not
        in them.
        """
        with self._busy:
            buffers = self._take(positional(self._inputs, inputs))
            return self._program.time(buffers, self._scratch, count)

    def profile(self, inputs: Mapping[str, Any] | Sequence[Any], runs: int = 20) -> Profile:
        """Time every launch within `runs` runs, by the device's clock; see `runtime.profile`.
        Raises InputError for fewer than one run, or for wrong inputs.
        """
        names = [NetworkStep(launch.kernel, 0) for launch in self.artifact.launches]
        with self._busy:
            memory = self._take(positional(self._inputs, inputs)), self._scratch
            return profile(
                self.artifact.steps or names,
                lambda: self._program.steps(*memory),
                lambda: float(self._program.time(*memory, 1)[0]),
                runs,
            )

    def _is_there(self, value: Any) -> bool:
        """Whether it is an array in the device's memory."""
        arrays = self.device.arrays
        return arrays is not None and arrays.takes(value)

    def _take(self, inputs: Sequence[Any]) -> list[Any]:
        """The buffers of a call: inputs that are there, all others uploaded."""
        if not self._ready:
            raise self._not_prepared()
        check_count(self._inputs, inputs)
        buffers = list(self._buffers)
        for parameter in self._inputs:
            value = inputs[parameter.position]
            if self.device.arrays is not None and self._is_there(value):
                buffers[parameter.slot] = self.device.arrays.borrowed(parameter, value)
            else:
                array = np.ascontiguousarray(checked_one(parameter, value))
                self.device.upload(array, buffers[parameter.slot])
        return buffers

    def _new(self, inputs: Sequence[Any]) -> list[Any]:
        """Arrays for the outputs, where the inputs are."""
        arrays = self.device.arrays
        if arrays is not None and any(map(arrays.takes, inputs)):
            return [arrays.new(p) for p in self._outputs]
        return [np.empty(p.shape, p.dtype) for p in self._outputs]

    def _give(self, outputs: Sequence[Any], buffers: list[Any]) -> None:
        """Put the memory of outputs that are there among the buffers."""
        arrays = self.device.arrays
        if arrays is None:
            return
        for parameter, array in zip(self._outputs, outputs, strict=True):
            if arrays.takes(array):
                buffers[parameter.slot] = arrays.borrowed(parameter, array, written=True)
        arrays.check_apart(
            {p.name: buffers[p.slot] for p in self._inputs},
            {p.name: buffers[p.slot] for p in self._outputs},
        )

    def _check_output(self, parameter: Parameter, array: Any) -> None:
        """One that is there is checked when its memory is taken."""
        if self._is_there(array):
            return
        super()._check_output(parameter, array)
        if not array.flags.c_contiguous or not array.flags.writeable:
            raise InputError(f"output {parameter.name} must be writable and contiguous")

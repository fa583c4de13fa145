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
    check_callable,
    check_count,
    checked_one,
    positional,
    with_named,
)
from tilewright.runtime.profile import Profile, profile
from tilewright.runtime.sizes import DeviceSizes
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
    """A program on a device. Its times are those of the device's clock; copies are not in them.
    `values` are those that its launches take their sizes from (see `Launch`).
    """

    def run(self, buffers: Sequence[Any], scratch: Any, values: Sequence[int] = ()) -> None:
        """Run all kernels and wait for them."""
        ...

    def time(
        self,
        buffers: Sequence[Any],
        scratch: Any,
        count: int,
        other: OtherData | None = None,
        values: Sequence[int] = (),
    ) -> Seconds:
        """Seconds of a run, `count` times: of one, or the mean of several in a row where the clock
        is too coarse for one. Other data passes before each run if there is any.
        """
        ...

    def steps(self, buffers: Sequence[Any], scratch: Any, values: Sequence[int] = ()) -> Seconds:
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


@dataclass(frozen=True, slots=True)
class _Call:
    """The arrays of one call, and the values of its sizes and of what follows from these."""

    inputs: Sequence[Parameter]
    outputs: Sequence[Parameter]
    values: tuple[int, ...] = ()


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
        check_callable(artifact)
        super().__init__(artifact, arguments, name)
        self.device = device
        self._sizes = DeviceSizes(artifact, self._inputs, self._outputs) if artifact.sizes else None
        self._program = device.load(artifact, parts)
        self._buffers = [device.allocate(spec.bytes) for spec in artifact.buffers]
        self._scratch = device.allocate(artifact.scratch_bytes)
        self._all = _Call(self._inputs, self._outputs)
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
        call = self._call(inputs)
        if out is not None:
            self._check_outputs(call.outputs, out)
        with self._busy:
            buffers = self._take(call, inputs)
            outputs = self._new(call, inputs) if out is None else list(out)
            self._give(call, outputs, buffers)
            self._program.run(buffers, self._scratch, call.values)
            for parameter, array in zip(call.outputs, outputs, strict=True):
                if not self._is_there(array):
                    self.device.download(buffers[parameter.slot], array)
        return alike(inputs, outputs) if out is None else outputs

    def bench(self, inputs: Mapping[str, Any] | Sequence[Any], count: int) -> Seconds:
        """Seconds of a run on the device, `count` times (see `LoadedProgram.time`); copies are not
        in them.
        """
        arrays = positional(self._inputs, inputs)
        call = self._call(arrays)
        with self._busy:
            buffers = self._take(call, arrays)
            return self._program.time(buffers, self._scratch, count, values=call.values)

    def profile(self, inputs: Mapping[str, Any] | Sequence[Any], runs: int = 20) -> Profile:
        """Time every launch within `runs` runs, by the device's clock; see `runtime.profile`.
        Raises InputError for fewer than one run, or for wrong inputs.
        """
        names = [NetworkStep(launch.kernel, 0) for launch in self.artifact.launches]
        arrays = positional(self._inputs, inputs)
        call = self._call(arrays)
        with self._busy:
            memory = self._take(call, arrays), self._scratch
            return profile(
                self.artifact.steps or names,
                lambda: self._program.steps(*memory, call.values),
                lambda: float(self._program.time(*memory, 1, values=call.values)[0]),
                runs,
            )

    def _call(self, inputs: Sequence[Any]) -> _Call:
        """The arrays of a call with these inputs, and what its launches take of their shapes."""
        check_count(self._inputs, inputs)
        if self._sizes is None:
            return self._all
        shapes = []
        for parameter in self._inputs:
            value = inputs[parameter.position]
            if self.device.arrays is None or not self._is_there(value):
                value = checked_one(parameter, value)
            elif not parameter.takes(tuple(value.shape)):
                self.device.arrays.borrowed(parameter, value)  # which says what is wrong
            shapes.append(tuple(value.shape))
        values, arrays = self._sizes.find(shapes)
        return _Call(arrays[: len(shapes)], arrays[len(shapes) :], values)

    def _is_there(self, value: Any) -> bool:
        """Whether it is an array in the device's memory."""
        arrays = self.device.arrays
        return arrays is not None and arrays.takes(value)

    def _take(self, call: _Call, inputs: Sequence[Any]) -> list[Any]:
        """The buffers of a call: inputs that are there, all others uploaded."""
        if not self._ready:
            raise self._not_prepared()
        buffers = list(self._buffers)
        for parameter in call.inputs:
            value = inputs[parameter.position]
            if self.device.arrays is not None and self._is_there(value):
                buffers[parameter.slot] = self.device.arrays.borrowed(parameter, value)
            else:
                array = np.ascontiguousarray(checked_one(parameter, value))
                self.device.upload(array, buffers[parameter.slot])
        return buffers

    def _new(self, call: _Call, inputs: Sequence[Any]) -> list[Any]:
        """Arrays for the outputs, where the inputs are."""
        arrays = self.device.arrays
        if arrays is not None and any(map(arrays.takes, inputs)):
            return [arrays.new(p) for p in call.outputs]
        return [np.empty(p.shape, p.dtype) for p in call.outputs]

    def _give(self, call: _Call, outputs: Sequence[Any], buffers: list[Any]) -> None:
        """Put the memory of outputs that are there among the buffers."""
        arrays = self.device.arrays
        if arrays is None:
            return
        for parameter, array in zip(call.outputs, outputs, strict=True):
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

"""Functions on a device with memory of its own: arrays in, arrays out.

    fn = DeviceFunction(artifact, OpenclDevice())
    fn.prepare({"weight": w})
    (y,) = fn(x)
    seconds = fn.bench((x,), 10)

What OpenCL, CUDA and the emulation have in common is the `Device` protocol: memory, copies, and a
loaded program whose kernels run in order. A function has one buffer for every array of its
interface, and one for scratch memory (of a network, the arena); constants are uploaded once.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from tilewright.artifact import Array, Artifact, NetworkStep
from tilewright.errors import InputError
from tilewright.runtime.constants import Constants, pack, pack_given
from tilewright.runtime.parameters import ArrayFunction, checked, positional, with_named
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


class Device(Protocol):
    """A device; buffers are whatever it says, and are given back when nothing refers to them."""

    @property
    def target(self) -> Target:
        """Its facts."""
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
    ) -> None:
        """Load `artifact`, whose kernels are in `parts` if it is a network's, and upload its packed
        `constants`; a function without constants is ready at once.

        `arguments` are the names of the inputs in the order in which a caller gives them (None:
        the artifact's). Raises RunError when the device cannot load it or has too little memory.
        """
        super().__init__(artifact, arguments)
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

    def __call__(
        self, /, *inputs: Any, out: Sequence[Array] | None = None, **named: Any
    ) -> list[Any]:
        """Outputs in the order of `outputs`, in `out` if it is given; tensors of PyTorch's, if an
        input is one. Raises InputError where an array does not fit.
        """
        if named:
            inputs = tuple(with_named(self._inputs, inputs, named))
        outputs = self._taken(out)
        with self._busy:
            self._take(inputs)
            self._program.run(self._buffers, self._scratch)
            results = self._buffers[len(self._buffers) - len(outputs) :]
            for buffer, array in zip(results, outputs, strict=True):
                self.device.download(buffer, array)
        return alike(inputs, outputs) if out is None else outputs

    def bench(self, inputs: Mapping[str, Any] | Sequence[Any], count: int) -> Seconds:
        """Seconds of a run on the device, `count` times (see `LoadedProgram.time`); copies are not
        in them.
        """
        with self._busy:
            self._take(positional(self._inputs, inputs))
            return self._program.time(self._buffers, self._scratch, count)

    def profile(self, inputs: Mapping[str, Any] | Sequence[Any], runs: int = 20) -> Profile:
        """Time every launch within `runs` runs, by the device's clock; see `runtime.profile`.
        Raises InputError for fewer than one run, or for wrong inputs.
        """
        names = [NetworkStep(launch.kernel, 0) for launch in self.artifact.launches]
        with self._busy:
            self._take(positional(self._inputs, inputs))
            memory = self._buffers, self._scratch
            return profile(
                self.artifact.steps or names,
                lambda: self._program.steps(*memory),
                lambda: float(self._program.time(*memory, 1)[0]),
                runs,
            )

    def _take(self, inputs: Sequence[Any]) -> None:
        """Upload the inputs."""
        if not self._ready:
            raise self._not_prepared()
        arrays = checked(self._inputs, inputs)
        for parameter in self._inputs:
            array = np.ascontiguousarray(arrays[parameter.position])
            self.device.upload(array, self._buffers[parameter.slot])

    def _taken(self, out: Sequence[Array] | None) -> list[Array]:
        """The arrays that take the outputs."""
        if out is None:
            return [np.empty(p.shape, p.dtype) for p in self._outputs]
        self._check_outputs(out)
        for parameter, array in zip(self._outputs, out, strict=True):
            if not array.flags.c_contiguous or not array.flags.writeable:
                raise InputError(f"output {parameter.name} must be writable and contiguous")
        return list(out)

"""A program with sizes on a device: memory for the most, with NaN beyond the sizes of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tests.kernel_calls import place_at

from tilewright.build.compile import compile_lowered
from tilewright.contract.artifact import Artifact, BufferSpec, numpy_dtype
from tilewright.measure.inputs import Place
from tilewright.runtime.device import Device
from tilewright.schedule.lower import Lowered
from tilewright.target import Target

Array = np.ndarray[Any, Any]


class SizedProgram:
    """Compiled and loaded once, called with arrays of exactly the extents of a call."""

    def __init__(
        self,
        lowered: Lowered,
        device: Device,
        binary: Callable[[Artifact], Artifact] | None = None,
    ) -> None:
        """`binary` makes what a device loads of what the emulation does."""
        target = device.target if binary is None else Target.parse("emulated")
        compiled, _ = compile_lowered(lowered, target)
        self.artifact = Artifact.from_bytes(compiled.to_bytes())
        assert self.artifact == compiled
        if binary is not None:
            self.artifact = binary(self.artifact)
        self.program, self.device = lowered.program, device
        self.loaded = device.load(self.artifact)

    def __call__(self, arrays: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
        """The outputs. Nothing beyond their extents is written."""
        place = place_at(self.program, sizes)
        whole = {s.name: self._laid_out(s, place, arrays) for s in self.artifact.buffers}
        memory = {s.name: self.device.allocate(s.bytes) for s in self.artifact.buffers}
        for name, array in whole.items():
            self.device.upload(array, memory[name])
        scratch = self.device.allocate(self.artifact.scratch_bytes)
        values = tuple(sizes[s.name] for s in self.artifact.sizes)
        self.loaded.run(list(memory.values()), scratch, values)
        found = {}
        for t in self.program.outputs:
            array = whole[t.name]
            self.device.download(memory[t.name], array)
            found[t.name] = place.live(t.name, array).copy()
            place.live(t.name, array)[...] = np.nan
            assert np.isnan(array).all(), f"{t.name} was written beyond {sizes}"
        return found

    def _laid_out(self, spec: BufferSpec, place: Place, arrays: Mapping[str, Array]) -> Array:
        whole = np.full(spec.shape, np.nan, numpy_dtype(spec.dtype))
        if spec.name in arrays:
            place.live(spec.name, whole)[...] = arrays[spec.name]
        return whole

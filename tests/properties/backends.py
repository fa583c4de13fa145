"""Ways to run a lowered program; every one must agree with `ComputeDAG.evaluate`.

interpreted(lowered, arrays) -> {"C": c}          the NumPy interpreter
shuffled(lowered, arrays) -> {"C": c}             … with parallel loops in random order
compiled(lowered, arrays) -> {"C": c}             native code on this machine
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from tilewright.build.compile import compile_lowered
from tilewright.expr.nodes import Tensor
from tilewright.nest.interpret import interpret
from tilewright.runtime import BufferSpec, CompiledFunction, Packing
from tilewright.schedule.lower import Lowered
from tilewright.schedule.steps import extent_int
from tilewright.target import Target

HOST = Target.parse("cpu")
Array = np.ndarray[Any, Any]
Arrays: TypeAlias = Mapping[str, Array]
Backend: TypeAlias = Callable[[Lowered, Arrays], dict[str, Array]]


def packed(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """The program's constants in the layouts that it wants."""
    return {t.name: _pack(lowered, t, arrays[t.name]) for t in lowered.program.constants}


def _pack(lowered: Lowered, tensor: Tensor, array: Array) -> Array:
    layout = lowered.layouts.get(tensor.name)
    if layout is None:
        return array
    splits = tuple(tuple(extent_int(p) for p in split) for split in layout.splits)
    spec = BufferSpec(tensor.name, array.shape, array.dtype.name)
    return Packing(spec, splits, layout.permutation).apply(array)


def interpreted(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """Every buffer starts uninitialised there, and every access is checked."""
    given = {t.name: arrays[t.name] for t in lowered.program.inputs}
    return interpret(lowered.program, given, packed(lowered, arrays))


def shuffled(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """Interpreted with the iterations of parallel loops in a random order."""
    given = {t.name: arrays[t.name] for t in lowered.program.inputs}
    rng = np.random.default_rng(0)
    return interpret(lowered.program, given, packed(lowered, arrays), rng=rng)


def compiled(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """Built for this machine, with prefetches of all constants, and run in this process."""
    artifact, _ = compile_lowered(lowered, HOST, prefetch=1)
    function = CompiledFunction(artifact)
    function.prepare({t.name: arrays[t.name] for t in lowered.program.constants})
    outputs = function.run({t.name: arrays[t.name] for t in lowered.program.inputs})
    return {t.name: y for t, y in zip(lowered.program.outputs, outputs, strict=True)}

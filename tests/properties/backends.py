"""Ways to run a lowered program; every one must agree with `ComputeDAG.evaluate`.

interpreted(lowered, arrays) -> {"C": c}          the NumPy interpreter
shuffled(lowered, arrays) -> {"C": c}             … with parallel loops in random order
compiled(lowered, arrays) -> {"C": c}             native code on this machine
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from tilewright.build.compile import compile_lowered, packing_of
from tilewright.expr.reference import static_shape
from tilewright.nest.reference.interpret import interpret
from tilewright.runtime import CompiledFunction
from tilewright.schedule.lower import Lowered
from tilewright.target import Target

HOST = Target.parse("cpu")
Array = np.ndarray[Any, Any]
Arrays: TypeAlias = Mapping[str, Array]
Backend: TypeAlias = Callable[[Lowered, Arrays], dict[str, Array]]


def packed(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """The program's constants in the layouts that it wants."""
    packings = {t: packing_of(t, lowered) for t in lowered.program.constants}
    return {
        t.name: p.apply(arrays[p.source.name]).reshape(static_shape(t)) for t, p in packings.items()
    }


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
    function.prepare({p.source.name: arrays[p.source.name] for p in artifact.packings})
    outputs = function.run({t.name: arrays[t.name] for t in lowered.program.inputs})
    return {t.name: y for t, y in zip(lowered.program.outputs, outputs, strict=True)}

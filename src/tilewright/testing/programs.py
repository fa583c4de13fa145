"""One program: proved, run, compared with the mathematics.

    checked(dag, lowered)                           by the interpreter
    checked(dag, lowered, compiled)                 as native code of this machine

Nothing is timed, and all that is random is seeded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from tilewright.build.compile import compile_lowered, packing_of
from tilewright.contract.artifact import Array, Artifact, BufferSpec
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.reference import static_shape
from tilewright.measure.gate import OutputGate
from tilewright.measure.inputs import make_inputs
from tilewright.measure.task import input_kinds, tolerance_of
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.runtime.devices import loaded
from tilewright.schedule.lower import Lowered
from tilewright.target import Target

HOST = Target.parse("cpu")
Arrays: TypeAlias = Mapping[str, Array]
Backend: TypeAlias = Callable[[Lowered, Arrays], dict[str, Array]]
"""Runs a lowered program on a DAG's inputs and constants by name; gives its outputs."""


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


def run_on(target: Target, artifact: Artifact, arrays: Arrays) -> dict[str, Array]:
    """What code makes of a DAG's inputs and constants where its target runs."""
    function = loaded(artifact, target)
    function.prepare({name: arrays[name] for name in artifact.sources})
    outputs = function.run({s.name: arrays[s.name] for s in artifact.inputs})
    return {s.name: y for s, y in zip(artifact.outputs, outputs, strict=True)}


def compiled(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """Built for this machine, with prefetches of all constants, and run in this process."""
    return run_on(HOST, compile_lowered(lowered, HOST, prefetch=1)[0], arrays)


def checked(
    dag: ComputeDAG, lowered: Lowered, backend: Backend = interpreted, seed: int = 0
) -> None:
    """Prove that a program stays within its buffers and writes all of its outputs, and compare it
    with `dag.evaluate` on random data. Raises VerifyError, and WrongAnswer.
    """
    verify(lowered.program)
    tensors = (*dag.inputs, *dag.constants)
    specs = [BufferSpec(t.name, static_shape(t), t.dtype.name) for t in (*tensors, *dag.outputs)]
    arrays = make_inputs(specs[: len(tensors)], input_kinds(dag), seed)
    expected, found = dag.evaluate(arrays), backend(lowered, arrays)
    for spec in specs[len(tensors) :]:
        gate = OutputGate(spec, expected[spec.name], tolerance_of(dag))
        gate.check(found[spec.name], lowered.rounding)

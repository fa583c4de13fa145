"""Compiles a nest for this machine, runs it between guard pages, compares it with NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from assembly import assembly
from kernel_calls import called, native
from tilewright.build.compile import compile_lowered
from tilewright.contract.artifact import Artifact
from tilewright.expr.sizes import shape_at
from tilewright.nest.nodes import Program
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.runtime.cpu import NO_SIZES, LoadedKernel
from tilewright.schedule.lower import Lowered
from tilewright.target import Target

HOST = Target.parse("cpu cores=1")
Array = np.ndarray[Any, Any]
Arrays = Mapping[str, Array]
JUMPS = ("j", "b.", "cbnz", "tbnz")


def random_arrays(
    program: Program, seed: int = 0, sizes: Mapping[str, int] = NO_SIZES
) -> dict[str, Array]:
    """Inputs and constants: signed floats, small integers."""
    rng = np.random.default_rng(seed)
    out = {}
    for t in (*program.inputs, *program.constants):
        shape = shape_at(t, sizes)
        if t.dtype.is_float:
            values = rng.standard_normal(shape)
        else:
            values = rng.integers(0 if t.dtype.kind in ("uint", "bool") else -5, 6, shape)
        out[t.name] = values.astype(t.dtype.numpy)
    return out


def run(program: Program, arrays: Arrays, target: Target = HOST) -> dict[str, Array]:
    """The outputs of the compiled program, its inputs aligned for their elements only. A stray
    access faults or fails an assertion.
    """
    verify(program)
    return native(Lowered(program, {}), arrays, target)


def check_sizes(
    program: Program,
    values: Iterable[Mapping[str, int]],
    target: Target = HOST,
    tolerance: float = 1e-4,
) -> None:
    """The same of one kernel at several sizes."""
    verify(program)
    artifact, _ = compile_lowered(Lowered(program, {}), target)
    with LoadedKernel(Artifact.from_bytes(artifact.to_bytes())) as kernel:
        for sizes in values:
            arrays = random_arrays(program, 0, sizes)
            wanted = interpret(program, arrays, arrays, sizes=sizes)
            got = called(kernel, program, arrays, sizes)
            for name, expected in wanted.items():
                close(got[name], expected, tolerance)


def check(program: Program, target: Target = HOST, tolerance: float = 1e-4, seed: int = 0) -> None:
    """The compiled program computes what the interpreter does."""
    arrays = random_arrays(program, seed)
    wanted = interpret(program, arrays, arrays)
    got = run(program, arrays, target)
    for name, expected in wanted.items():
        close(got[name], expected, tolerance)


def close(got: Array, expected: Array, tolerance: float = 1e-4) -> None:
    """Equal up to a tolerance relative to the largest value."""
    wide = expected.astype(np.float64)
    scale = np.abs(wide[np.isfinite(wide)]).max(initial=1e-30)
    np.testing.assert_allclose(got.astype(np.float64), wide, rtol=tolerance, atol=tolerance * scale)


def loop_bodies(ir: str, target: Target = HOST) -> list[list[str]]:
    """Instructions of every innermost loop of the machine code: from a label to a jump back."""
    bodies = []
    lines = assembly(ir, target).splitlines()
    starts: dict[str, int] = {}
    for i, line in enumerate(lines):
        text = line.strip()
        if text.endswith(":"):
            starts[text[:-1]] = i
        elif text.startswith(JUMPS):
            first = starts.get(text.split()[-1])
            inside = [] if first is None else [x.strip() for x in lines[first + 1 : i]]
            if inside and not any(x.startswith(JUMPS) for x in inside):
                bodies.append(inside)
    return bodies

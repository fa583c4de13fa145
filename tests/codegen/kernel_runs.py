"""Compiles a nest for this machine, runs it between guard pages, compares it with NumPy."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from assembly import assembly
from tilewright.build.compile import compile_lowered
from tilewright.contract.artifact import ALIGNMENT, numpy_dtype
from tilewright.nest.nodes import Program
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.runtime.buffers import GuardedBuffer
from tilewright.runtime.cpu import LoadedKernel, pointer_array
from tilewright.schedule.lower import Lowered
from tilewright.target import Target

HOST = Target.parse("cpu cores=1")
Array = np.ndarray[Any, Any]
Arrays = Mapping[str, Array]
JUMPS = ("j", "b.", "cbnz", "tbnz")


def random_arrays(program: Program, seed: int = 0) -> dict[str, Array]:
    """Inputs and constants: signed floats, small integers."""
    rng = np.random.default_rng(seed)
    out = {}
    for t in (*program.inputs, *program.constants):
        shape = tuple(int(d) for d in t.shape)
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
    artifact, _ = compile_lowered(Lowered(program, {}), target, prefetch=1)
    buffers = []
    for tensor in (*program.inputs, *program.constants):
        array = arrays[tensor.name]
        alignment = array.itemsize if tensor in program.inputs else ALIGNMENT
        buffers.append(GuardedBuffer(array.nbytes, alignment=alignment))
        buffers[-1].view(array.shape, array.dtype)[...] = array
    outputs = {}
    for spec in artifact.outputs:
        dtype = numpy_dtype(spec.dtype)
        buffers.append(GuardedBuffer(math.prod(spec.shape) * dtype.itemsize, written=True))
        buffers[-1].fill()
        outputs[spec.name] = (buffers[-1], buffers[-1].view(spec.shape, dtype))
    scratch = GuardedBuffer(max(64, artifact.scratch_bytes), written=True)
    scratch.fill()
    pointers = pointer_array([b.address for b in buffers])
    with LoadedKernel(artifact) as kernel:
        kernel(ctypes.addressof(pointers), scratch.address)
    assert all(b.slack_intact() for b in (*buffers, scratch))
    return {name: view.copy() for name, (_, view) in outputs.items()}


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

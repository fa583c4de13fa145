"""Calls of a loaded kernel on arrays between guard pages, laid out as its sizes want them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import numpy as np

from tilewright.build.compile import compile_lowered
from tilewright.codegen.llvm import storage
from tilewright.contract.artifact import ALIGNMENT, Artifact, numpy_dtype
from tilewright.contract.sizes import Point
from tilewright.measure.inputs import Place
from tilewright.measure.task import place_of
from tilewright.nest.nodes import Program
from tilewright.runtime.buffers import GuardedBuffer
from tilewright.runtime.cpu import NO_SIZES, LoadedKernel, pointer_array
from tilewright.schedule.lower import Lowered
from tilewright.target import Target
from tilewright.testing import HOST, packed

Array = np.ndarray[Any, Any]
Arrays = Mapping[str, Array]


def called(
    kernel: LoadedKernel, program: Program, arrays: Arrays, sizes: Mapping[str, int] = NO_SIZES
) -> dict[str, Array]:
    """The outputs of a kernel. With sizes, memory beyond arrays is NaN, and what is written there
    fails an assertion.
    """
    artifact, place = kernel.artifact, place_at(program, sizes)
    arrays = {**arrays, **laid_out(artifact, place, arrays)} if sizes else arrays
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
    before = {name: view.copy() for name, (_, view) in outputs.items()}
    kernel(ctypes.addressof(pointers), scratch.address, sizes=sizes)
    assert all(b.slack_intact() for b in (*buffers, scratch))
    found = {}
    for tensor in program.outputs:
        after = outputs[tensor.name][1]
        found[tensor.name] = place.live(tensor.name, after).copy()
        beyond = np.ones(after.shape, np.bool_)
        place.live(tensor.name, beyond)[...] = False
        np.testing.assert_array_equal(after[beyond], before[tensor.name][beyond])
    return found


def poisoned(lowered: Lowered, arrays: Arrays) -> dict[str, Array]:
    """As native code of this machine, where all that a program allocates is NaN at first."""
    with patch.object(storage, "STACK_BYTES", -1):
        return native(lowered, {**arrays, **packed(lowered, arrays)}, HOST)


def native(lowered: Lowered, arrays: Arrays, target: Target) -> dict[str, Array]:
    """As native code, of constants as they are packed."""
    artifact, _ = compile_lowered(lowered, target, prefetch=1)
    with LoadedKernel(artifact) as kernel:
        return called(kernel, lowered.program, arrays)


def place_at(program: Program, values: Mapping[str, int]) -> Place:
    """Where the arrays of a program lie for these values of its sizes."""
    arrays = (*program.inputs, *program.constants, *program.outputs)
    return place_of(Point(values), arrays, program.sizes)


def laid_out(artifact: Artifact, place: Place, arrays: Arrays) -> dict[str, Array]:
    """Arrays in the memory of a kernel with sizes, NaN or the least integer beyond them."""
    found = {}
    for spec in artifact.inputs:
        array = arrays[spec.name]
        is_float = array.dtype.kind not in "iub"
        rest = np.nan if is_float else np.iinfo(array.dtype).min
        found[spec.name] = np.full(spec.shape, rest, array.dtype)
        place.live(spec.name, found[spec.name])[...] = array
    return found

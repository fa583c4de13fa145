"""Loop nest to code: LLVM IR and object code for CPUs, C for GPUs.

    kernel = compile_program(program, target)        kernel.object_code, kernel.entry

For a CPU (`llvm`): nest passes, LLVM IR in SSA form, LLVM's code generator. For a GPU (`clike`):
nest passes, C in the dialect that the device's own compiler translates. Only concrete programs: the
schedule has decided everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tilewright.contract.artifact import Launch
from tilewright.nest.nodes import Program
from tilewright.target import Target


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled program. `externals` are symbols that a loader must provide (the pool of threads,
    libmvec, libm); `scratch_bytes` is the size of the block its caller passes. `ir` is the code as
    text; of a GPU `object_code` is that text, and `launches` are the kernels to call.
    """

    entry: str
    ir: str
    object_code: bytes
    scratch_bytes: int
    externals: tuple[str, ...] = ()
    launches: tuple[Launch, ...] = ()


Emitter: TypeAlias = Callable[[Program, Target, int], Kernel]
"""Compiles a program; constants of so many bytes are fetched ahead of their use (0: none is)."""


def compile_program(program: Program, target: Target, prefetch: int = 0) -> Kernel:
    """Compile a concrete program for a target. Raises BuildError.

    Constants of at least `prefetch` bytes are taken to come from main memory (0: none is); that is
    for CPUs.
    """
    emitter: Emitter = target.backend.emitter.load()
    return emitter(program, target, prefetch)


__all__ = ["Kernel", "compile_program"]

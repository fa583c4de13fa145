"""Loop nest to code: LLVM IR and object code for CPUs, C for GPUs.

    kernel = compile_program(program, target)        kernel.object_code, kernel.entry

For a CPU (`llvm`): nest passes, LLVM IR in SSA form, LLVM's code generator. For a GPU (`clike`):
nest passes, C in the dialect that the device's own compiler translates. Only concrete programs: the
schedule has decided everything.
"""

from __future__ import annotations

from tilewright.codegen.kernel import Emitter, Kernel
from tilewright.nest.nodes import Program
from tilewright.target import Target


def compile_program(program: Program, target: Target, prefetch: int = 0) -> Kernel:
    """Compile a concrete program for a target. Raises BuildError.

    Constants of at least `prefetch` bytes are taken to come from main memory (0: none is); that is
    for CPUs.
    """
    emitter: Emitter = target.backend.emitter.load()
    return emitter(program, target, prefetch)


__all__ = ["Kernel", "compile_program"]

"""Loop nest to object code: nest passes, then LLVM IR in SSA form, then LLVM's code generator.

    kernel = compile_program(program, target)        kernel.object_code, kernel.entry

Only concrete programs: the schedule has decided everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.codegen.llvm.functions import emit
from tilewright.codegen.llvm.machine import compile_ir
from tilewright.codegen.passes import prepared
from tilewright.nest.nodes import Program
from tilewright.target import Target


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled program. `externals` are symbols a loader must provide (libgomp, libmvec, libm);
    `scratch_bytes` is the size of the block its caller passes.
    """

    entry: str
    ir: str
    object_code: bytes
    scratch_bytes: int
    externals: tuple[str, ...]


def compile_program(program: Program, target: Target, prefetch: int = 0) -> Kernel:
    """Compile a concrete program for a target. Raises BuildError.

    Constants of at least `prefetch` bytes are taken to come from main memory (0: none is).
    """
    emitted = emit(prepared(program, target), target, prefetch)
    code = compile_ir(emitted.ir, target)
    return Kernel(emitted.entry, emitted.ir, code, emitted.scratch_bytes, emitted.externals)


__all__ = ["Kernel", "compile_program"]

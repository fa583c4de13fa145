"""Loop nest to code: LLVM IR and object code for CPUs, C for GPUs.

    kernel = compile_program(program, target)        kernel.object_code, kernel.entry

For a CPU: nest passes, LLVM IR in SSA form, LLVM's code generator. For a GPU: OpenCL C or CUDA C++
(`clike`), which the device's own compiler translates. Only concrete programs: the schedule has
decided everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.artifact import Launch
from tilewright.codegen import clike
from tilewright.codegen.llvm.functions import emit
from tilewright.codegen.llvm.machine import compile_ir
from tilewright.codegen.passes import prepared
from tilewright.errors import BuildError
from tilewright.nest.nodes import Program
from tilewright.target import CpuTarget, GpuTarget, Target


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


def compile_program(program: Program, target: Target, prefetch: int = 0) -> Kernel:
    """Compile a concrete program for a target. Raises BuildError.

    Constants of at least `prefetch` bytes are taken to come from main memory (0: none is); that is
    for CPUs.
    """
    if isinstance(target, CpuTarget):
        emitted = emit(prepared(program, target), target, prefetch)
        code = compile_ir(emitted.ir, target)
        return Kernel(emitted.entry, emitted.ir, code, emitted.scratch_bytes, emitted.externals)
    if not isinstance(target, GpuTarget):
        raise BuildError(f"no code is generated for {target.kind} devices")
    source = clike.emit(program, clike.dialect_of(target))
    code = source.text.encode()
    return Kernel(program.name, source.text, code, source.scratch_bytes, (), source.launches)


__all__ = ["Kernel", "compile_program"]

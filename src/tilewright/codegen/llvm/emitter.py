"""A program for a CPU, from its nest to object code."""

from __future__ import annotations

from tilewright.codegen import Kernel
from tilewright.codegen.llvm.functions import emit
from tilewright.codegen.llvm.machine import compile_ir
from tilewright.codegen.passes import prepared
from tilewright.nest.nodes import Program
from tilewright.target import CpuTarget, Target


def compiled(program: Program, target: Target, prefetch: int) -> Kernel:
    """Passes, LLVM IR, LLVM's code generator."""
    assert isinstance(target, CpuTarget)
    emitted = emit(prepared(program, target), target, prefetch)
    code = compile_ir(emitted.ir, target)
    return Kernel(emitted.entry, emitted.ir, code, emitted.scratch_bytes, emitted.externals)

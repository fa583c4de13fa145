"""The machine code of LLVM IR as text."""

from __future__ import annotations

from tilewright.codegen.llvm.machine import machine, parse
from tilewright.target import CpuTarget


def assembly(ir: str, target: CpuTarget) -> str:
    """What `compile_ir` makes object code of, for tests to read."""
    return str(machine(target).emit_assembly(parse(ir, target)))

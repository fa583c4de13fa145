"""Builds kernels: the only package that sees schedules, code generation and artifacts at once."""

from tilewright.build.compile import (
    build,
    build_request,
    compile_lowered,
    compile_request,
    make_request,
)
from tilewright.codegen.llvm.machine import compile_ir
from tilewright.space.default import default_gene

__all__ = [
    "build",
    "build_request",
    "compile_ir",
    "compile_lowered",
    "compile_request",
    "default_gene",
    "make_request",
]

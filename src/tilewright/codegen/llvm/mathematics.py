"""Math intrinsics (first version is completed below)."""

from __future__ import annotations

from tilewright.codegen.llvm.arithmetic import intrinsic, unary
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.machine import Features
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.types import Value


class MathLibrary:
    def __init__(self, b: Builder, m: Module, features: Features) -> None:
        self.b, self.m, self.features = b, m, features

    def call(self, fn: str, args: list[Value]) -> Value:
        if fn == "neg":
            return unary(self.b, "fneg", args[0])
        return intrinsic(self.b, self.m, fn, *args)

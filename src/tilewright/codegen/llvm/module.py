"""One LLVM module as text: what functions share.

    m = Module()
    m.call("llvm.fma.v16f32", "<16 x float>", ["<16 x float>"] * 3)   declares it once

`externals` are the symbols that a loader must provide (the pool of threads, libmvec, libm), `read`
the tensors that code reads: stores to one of them do not pass the caches by, whatever they ask for.
It takes part sums, which would come back from main memory for every step of an outer reduction
loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tilewright.codegen.llvm.types import STORAGE, scalar_literal
from tilewright.expr.dtypes import DType

ZEROS = "@zeros"
ZERO_BYTES = 1024


@dataclass(slots=True)
class Module:
    """Functions, declarations and globals, in the order they came up."""

    functions: list[str] = field(default_factory=list)
    declarations: dict[str, str] = field(default_factory=dict)
    globals: dict[str, str] = field(default_factory=dict)
    externals: set[str] = field(default_factory=set)
    intrinsics: dict[tuple[str, str], str] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    marks: dict[str, str] = field(default_factory=dict)

    def declare(self, name: str, result: str, params: list[str]) -> str:
        """Declare a function once; returns its `@name`."""
        if name not in self.declarations:
            self.declarations[name] = f"declare {result} @{name}({', '.join(params)})"
            if not name.startswith("llvm."):
                self.externals.add(name)
        return f"@{name}"

    def zeros(self) -> str:
        """A block of zeros: where reads go that a condition forbids."""
        self.globals.setdefault(
            "zeros", f"{ZEROS} = internal constant [{ZERO_BYTES} x i8] zeroinitializer, align 64"
        )
        return ZEROS

    def streaming(self, name: str) -> str:
        """The end of a store to the tensor `name` that should pass the caches by."""
        found = self.marks.setdefault(name, f"!{len(self.marks)}")
        return f", !nontemporal {found}"

    def table(self, name: str, values: np.ndarray[Any, Any], dtype: DType) -> str:
        """A constant array in the object file, once by its name."""
        if name in self.globals:
            return self.globals[name].partition(" ")[0]
        symbol = f"@table{len(self.globals)}"
        element = STORAGE[dtype.name]
        text = ", ".join(f"{element} {_stored(v, dtype)}" for v in values.reshape(-1).tolist())
        self.globals[name] = (
            f"{symbol} = internal constant [{values.size} x {element}] [{text}], align 64"
        )
        return symbol

    def text(self, attributes: str) -> str:
        """The module; every function has attribute group #0 with `attributes`."""
        marks = [f"{mark} = !{{i32 1}}" for mark in self.marks.values()]
        parts = [*self.globals.values(), *marks, *self.declarations.values(), *self.functions]
        text = "\n".join(parts) + f"\nattributes #0 = {{ {attributes} }}\n"
        for name in self.read & self.marks.keys():
            text = text.replace(f"{self.streaming(name)}\n", "\n")
        return text


def _stored(value: Any, dtype: DType) -> str:
    """A literal of the storage type."""
    match dtype.name:
        case "bool":
            return str(int(value))
        case "float16":
            return f"0xH{int(np.float16(value).view(np.uint16)):04X}"
        case "bfloat16":
            return str(int(np.asarray(value, dtype.numpy).view(np.uint16)))
    return scalar_literal(value, dtype)

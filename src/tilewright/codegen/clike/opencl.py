"""OpenCL C.

    __kernel __attribute__((reqd_work_group_size(32, 1, 1))) void

Halves are stored and not computed with: arrays of them need an extension, so those of a kernel's
own are of ushort, and the conversions are built in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from tilewright.codegen.clike.dialect import GLOBAL, PRIVATE, SHARED, TABLE, Dialect
from tilewright.expr.dtypes import DType
from tilewright.nest.nodes import Kind

ROUNDED = {
    "float16": """\
inline float tw_float16(float x) {
    ushort bits;
    vstore_half(x, 0, (__private half*)&bits);
    return vload_half(0, (const __private half*)&bits);
}""",
    "bfloat16": """\
inline float tw_bfloat16(float x) {
    uint bits = as_uint(x);
    bits = isnan(x) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
    return as_float(bits & 0xffff0000);
}""",
}


class OpenclC(Dialect):
    """See the module."""

    name = "OpenCL"
    types: ClassVar[Mapping[str, str]] = {
        "float32": "float", "float64": "double", "float16": "half", "int64": "long",
        "int32": "int", "int16": "short", "int8": "char", "uint8": "uchar", "bool": "uchar",
    }  # fmt: skip
    spaces: ClassVar[Mapping[str, str]] = {
        GLOBAL: "__global",
        SHARED: "__local",
        PRIVATE: "__private",
        TABLE: "__constant",
    }
    shared = "__local __attribute__((aligned({})))"
    table = "__constant"
    helper = "inline"
    restrict = "restrict"
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    barrier_global = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
    block_index = "(int)get_group_id(0)"
    thread_index: ClassVar[Mapping[Kind, str]] = {
        Kind.THREAD_X: "(int)get_local_id(0)",
        Kind.THREAD_Y: "(int)get_local_id(1)",
    }
    narrow_vectors: ClassVar[Mapping[str, str]] = {"float16": "ushort"}
    parts_at_ends = True  # PoCL 3.1: what only some threads do behind the loop, none does

    def kernel_head(self, threads: tuple[int, int]) -> str:
        x, y = threads
        return f"__kernel __attribute__((reqd_work_group_size({x}, {y}, 1))) void"

    def element(self, dtype: DType) -> str:
        return "ushort" if dtype.name == "float16" else self.storage(dtype)

    def narrow_load(self, dtype: DType, name: str, space: str, index: str) -> str:
        return f"vload_half({index}, {self._halves(name, space, 'const ')})"

    def narrow_store(self, dtype: DType, name: str, space: str, index: str, value: str) -> str:
        return f"vstore_half({value}, {index}, {self._halves(name, space, '')});"

    def narrow_rounding(self, dtype: DType) -> str:
        return ROUNDED[dtype.name]

    def _halves(self, name: str, space: str, qualifier: str) -> str:
        """An array as one of halves, which that of a parameter is."""
        if space not in (SHARED, PRIVATE):
            return name
        return f"({qualifier}{self.spaces[space]} half*){name}"

    def vector_value(self, kind: str, elements: Sequence[str]) -> str:
        return f"({kind})({', '.join(elements)})"

    def vector_load(
        self, name: str, space: str, dtype: DType, width: int, index: str, copied: bool
    ) -> tuple[str, str]:
        if dtype.name != "float16" or copied:
            return super().vector_load(name, space, dtype, width, index, copied)
        at = f"({self.pointer('half', space, constant=True)}){name} + {index}"
        return f"float{width}", f"vloada_half{width}(0, {at})"

    def vector_store(
        self, name: str, space: str, dtype: DType, index: str, elements: Sequence[str]
    ) -> str:
        if dtype.name != "float16":
            return super().vector_store(name, space, dtype, index, elements)
        width = len(elements)
        value = self.vector_value(f"float{width}", elements)
        at = f"({self.pointer('half', space)}){name} + {index}"
        return f"vstorea_half{width}({value}, 0, {at});"

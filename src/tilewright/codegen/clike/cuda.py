"""CUDA C++.

    extern "C" __global__ void __launch_bounds__(32)

Halves are a type of a header; vectors of them are structures of our own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import ClassVar

from tilewright.codegen.clike.dialect import Dialect
from tilewright.expr.dtypes import DType
from tilewright.nest.nodes import Kind

HALF_HEADER = "#include <cuda_fp16.h>\n"
NUMBERS = """\
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
"""
SHUFFLE = """\
#ifndef tw_shuffle_xor
#define tw_shuffle_xor(value, lanes) __shfl_xor_sync(0xffffffffu, value, lanes)
#endif
"""


class Cuda(Dialect):
    """See the module."""

    name = "CUDA"
    types: ClassVar[Mapping[str, str]] = {
        "float32": "float", "float64": "double", "float16": "__half", "int64": "long long",
        "int32": "int", "int16": "short", "int8": "signed char", "uint8": "unsigned char",
        "bool": "unsigned char",
    }  # fmt: skip
    spaces: ClassVar[Mapping[str, str]] = {}
    shared = "__shared__ __align__(16)"
    table = "__constant__"
    helper = "static __device__ __forceinline__"
    restrict = "__restrict__"
    barrier = "__syncthreads();"
    barrier_global = barrier
    block_index = "(int)blockIdx.x"
    thread_index: ClassVar[Mapping[Kind, str]] = {
        Kind.THREAD_X: "(int)threadIdx.x",
        Kind.THREAD_Y: "(int)threadIdx.y",
    }
    half_vector = "tw_half"
    shuffle = SHUFFLE

    def kernel_head(self, threads: tuple[int, int]) -> str:
        return f'extern "C" __global__ void __launch_bounds__({prod(threads)})'

    def preamble(self, dtypes: Collection[str]) -> Sequence[str]:
        return [HALF_HEADER, NUMBERS] if "float16" in dtypes else [NUMBERS]

    def function(self, fn: str, kind: DType) -> str:
        return super().function(fn, kind) + ("" if kind.bits == 64 else "f")

    def half_load(self, name: str, space: str, index: str) -> str:
        return f"__half2float({name}[{index}])"

    def half_store(self, name: str, space: str, index: str, value: str) -> str:
        return f"{name}[{index}] = __float2half_rn({value});"

    def vector_definition(self, dtype: DType, width: int) -> str:
        if dtype.name != "float16":
            return ""
        kind = self.vector(dtype, width)
        return f"struct __align__({width * dtype.bytes}) {kind} {{ __half of[{width}]; }};\n"

    def vector_value(self, kind: str, elements: Sequence[str]) -> str:
        if kind.startswith(self.half_vector):
            return f"{kind}{{{{{', '.join(f'__float2half_rn({e})' for e in elements)}}}}}"
        return f"make_{kind}({', '.join(elements)})"

    def lane(self, vector: str, dtype: DType, lane: int, width: int) -> str:
        if dtype.name == "float16":
            return f"__half2float({vector}.of[{lane}])"
        return super().lane(vector, dtype, lane, width)

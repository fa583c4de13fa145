"""CUDA C++.

    extern "C" __global__ void __launch_bounds__(32)

Narrow floats are types of headers; vectors of them are structures of our own. Instructions of a
nest are calls of what `cuda_instructions.h` defines; the emulation has functions of these names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import ClassVar

from tilewright.codegen.clike import wgmma
from tilewright.codegen.clike.dialect import Dialect
from tilewright.expr.dtypes import DType
from tilewright.expr.nodes import NARROWING
from tilewright.nest.instructions import BULK_COPY, MBARRIER, PROXY_FENCE, WGMMA
from tilewright.nest.nodes import Kind
from tilewright.target.cuda import STATIC_BYTES

HEADERS = {"float16": "#include <cuda_fp16.h>\n", "bfloat16": "#include <cuda_bf16.h>\n"}
FROM_FLOAT = {"float16": "__float2half_rn", "bfloat16": "__float2bfloat16_rn"}
TO_FLOAT = {"float16": "__half2float", "bfloat16": "__bfloat162float"}
INSTRUCTIONS = Path(__file__).with_name("cuda_instructions.h")
PHASES = Path(__file__).with_name("cuda_phases.h")
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
DYNAMIC_SHARED = """\
#ifndef tw_dynamic_shared
#define tw_dynamic_shared(name) extern __shared__ __align__(1024) unsigned char name[]
#endif
"""


@cache
def _text(file: Path) -> str:
    return file.read_text()


class Cuda(Dialect):
    """See the module."""

    name = "CUDA"
    types: ClassVar[Mapping[str, str]] = {
        "float32": "float", "float64": "double", "float16": "__half",
        "bfloat16": "__nv_bfloat16", "int64": "long long", "int32": "int", "int16": "short",
        "int8": "signed char", "uint8": "unsigned char", "bool": "unsigned char",
    }  # fmt: skip
    spaces: ClassVar[Mapping[str, str]] = {}
    shared = "__shared__ __align__({})"
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
    narrow_vectors: ClassVar[Mapping[str, str]] = {"float16": "tw_half", "bfloat16": "tw_bfloat"}
    aligned = "__align__(16) "
    shuffle = SHUFFLE
    dynamic_shared = DYNAMIC_SHARED
    static_bytes = STATIC_BYTES
    tensor_map = "const __grid_constant__ tw_tensor_map {}"

    def kernel_head(self, threads: tuple[int, int]) -> str:
        return f'extern "C" __global__ void __launch_bounds__({prod(threads)})'

    def preamble(self, dtypes: Collection[str]) -> Sequence[str]:
        return [*(text for name, text in HEADERS.items() if name in dtypes), NUMBERS]

    def instructions(self, name: str, dtype: DType) -> Mapping[str, str]:
        found = {"instructions": _text(INSTRUCTIONS)}
        if name.startswith((MBARRIER, BULK_COPY)):
            found["phases"] = _text(PHASES)
        if name.startswith((WGMMA, PROXY_FENCE)):
            found["wgmma"] = wgmma.DESCRIPTOR
        if columns := re.match(rf"{WGMMA}m64n(\d+)", name):
            found[columns[0]] = wgmma.wrapper(int(columns[1]), dtype.name, self.types[dtype.name])
        return found

    def function(self, fn: str, kind: DType) -> str:
        return super().function(fn, kind) + ("" if kind.bits == 64 else "f")

    def narrow_load(self, dtype: DType, name: str, space: str, index: str) -> str:
        return f"{TO_FLOAT[dtype.name]}({name}[{index}])"

    def narrow_store(self, dtype: DType, name: str, space: str, index: str, value: str) -> str:
        return f"{name}[{index}] = {FROM_FLOAT[dtype.name]}({value});"

    def narrow_rounding(self, dtype: DType) -> str:
        name = dtype.name
        value = f"{TO_FLOAT[name]}({FROM_FLOAT[name]}(x))"
        return f"{HEADERS[name]}{self.helper} float tw_{name}(float x) {{ return {value}; }}"

    def vector_definition(self, dtype: DType, width: int) -> str:
        if dtype.name not in NARROWING:
            return ""
        kind, element = self.vector(dtype, width), self.types[dtype.name]
        return f"struct __align__({width * dtype.bytes}) {kind} {{ {element} of[{width}]; }};\n"

    def vector_value(self, kind: str, elements: Sequence[str]) -> str:
        for name, vector in self.narrow_vectors.items():
            if kind.startswith(vector):
                converted = ", ".join(f"{FROM_FLOAT[name]}({e})" for e in elements)
                return f"{kind}{{{{{converted}}}}}"
        return f"make_{kind}({', '.join(elements)})"

    def lane(self, vector: str, dtype: DType, lane: int, width: int) -> str:
        if dtype.name in NARROWING:
            return f"{TO_FLOAT[dtype.name]}({vector}.of[{lane}])"
        return super().lane(vector, dtype, lane, width)

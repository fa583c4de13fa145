"""The two dialects of C that kernels are written in: how OpenCL C and CUDA C++ spell things.

    CUDA.barrier      "__syncthreads();"
    OPENCL.barrier    "barrier(CLK_LOCAL_MEM_FENCE);"

Whatever differs between them is here; everything else of a kernel is the same text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.errors import BuildError
from tilewright.expr.dtypes import DType
from tilewright.nest.nodes import Kind

GLOBAL, SHARED, PRIVATE, TABLE = "global", "shared", "private", "table"
VECTOR_BYTES = 16  # of one access


@dataclass(frozen=True, slots=True)
class Dialect:
    """One language. `spaces` are the address-space words of pointers, `types` the storage types by
    dtype, `functions` the scalar functions on float32 by intrinsic (float64 ones drop the suffix).
    Vectors of halves are `half_vector` in memory, a `half_struct` where the language has none;
    `half_load` and `half_store` convert whole vectors, where it does that.
    """

    name: str
    kernel: str
    bounds: str
    returns: str
    shared: str
    table: str
    restrict: str
    barrier: str
    barrier_global: str
    aligned: str
    block_index: str
    thread_index: Mapping[Kind, str]
    spaces: Mapping[str, str]
    types: Mapping[str, str]
    functions: Mapping[str, str]
    function_head: str
    double_suffix: str
    vector_literal: str
    half_vector: str
    half_load: str
    half_store: str
    half_struct: str
    prelude: str

    def storage(self, dtype: DType) -> str:
        """The type an element is stored in. Raises BuildError for one that devices lack."""
        if dtype.name not in self.types:
            raise BuildError(
                f"{dtype} is not stored on {self.name} devices; known: {', '.join(self.types)}"
            )
        return self.types[dtype.name]

    def pointer(self, dtype: DType, space: str) -> str:
        """`__global float*`."""
        word = self.spaces[space]
        return f"{word} {self.storage(dtype)}*" if word else f"{self.storage(dtype)}*"

    def vector(self, dtype: DType, width: int) -> str | None:
        """The type of `width` elements in memory that are one access, None where there is none."""
        names = {"float32": "float", "int32": "int", "float16": self.half_vector}
        if dtype.name not in names or width not in (2, 4, 8) or width * dtype.bytes > VECTOR_BYTES:
            return None
        return f"{names[dtype.name]}{width}"

    def vector_at(self, name: str, space: str, dtype: DType, width: int, constant: bool) -> str:
        """A pointer to a vector inside an array; `{}` stands for the index."""
        return f"({self._pointer(space, self.vector(dtype, width), constant)})({name} + {{}})"

    def vector_load(
        self, name: str, space: str, dtype: DType, width: int, index: str, copied: bool
    ) -> tuple[str, str]:
        """Type and text of a loaded vector. Where elements are only copied, as they are stored."""
        if dtype.name != "float16" or not self.half_load or copied:
            address = self.vector_at(name, space, dtype, width, True).format(index)
            return str(self.vector(dtype, width)), f"*{address}"
        pointer = self._pointer(space, "half", True)
        return f"float{width}", self.half_load.format(n=width, at=f"({pointer}){name} + {index}")

    def vector_store(
        self, name: str, space: str, dtype: DType, index: str, elements: list[str]
    ) -> str:
        """A statement that stores computed elements as one vector."""
        width = len(elements)
        if dtype.name == "float16" and self.half_store:
            value = self.vector_literal.format(type=f"float{width}", elements=", ".join(elements))
            at = f"({self._pointer(space, 'half', False)}){name} + {index}"
            return self.half_store.format(n=width, value=value, at=at)
        literal = self.vector_literal
        if dtype.name == "float16":
            elements = [f"__float2half_rn({e})" for e in elements]
            literal = "{type}{{{{{elements}}}}}"
        value = literal.format(type=self.vector(dtype, width), elements=", ".join(elements))
        return f"*{self.vector_at(name, space, dtype, width, False).format(index)} = {value};"

    def lane(self, vector: str, dtype: DType, lane: int, width: int) -> str:
        """One element of a loaded vector, in its compute type."""
        if dtype.name == "float16" and not self.half_load:
            return f"__half2float({vector}.of[{lane}])"
        return f"{vector}.s{lane}" if width > 4 else f"{vector}.{'xyzw'[lane]}"

    def _pointer(self, space: str, kind: str | None, constant: bool) -> str:
        words = (self.spaces[space], "const" if constant else "", f"{kind}*")
        return " ".join(w for w in words if w)


_OPENCL_FUNCTIONS = {
    "abs": "fabs", "exp": "exp", "log": "log", "sqrt": "sqrt", "tanh": "tanh", "erf": "erf",
    "sin": "sin", "cos": "cos", "floor": "floor", "ceil": "ceil", "round": "rint",
    "trunc": "trunc", "pow": "pow", "fma": "fma",
}  # fmt: skip

_INTEGERS = {"int32": "int", "int16": "short"}

OPENCL = Dialect(
    name="OpenCL",
    kernel="__kernel",
    bounds="__attribute__((reqd_work_group_size({x}, {y}, 1)))",
    returns=" void",
    shared="__local",
    table="__constant",
    restrict="restrict",
    barrier="barrier(CLK_LOCAL_MEM_FENCE);",
    barrier_global="barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    aligned="__attribute__((aligned(16)))",
    block_index="(int)get_group_id(0)",
    thread_index={Kind.THREAD_X: "(int)get_local_id(0)", Kind.THREAD_Y: "(int)get_local_id(1)"},
    spaces={GLOBAL: "__global", SHARED: "__local", PRIVATE: "__private", TABLE: "__constant"},
    types={
        "float32": "float", "float64": "double", "float16": "half", "int64": "long",
        **_INTEGERS, "int8": "char", "uint8": "uchar", "bool": "uchar",
    },
    functions=_OPENCL_FUNCTIONS,
    function_head="inline",
    double_suffix="",
    vector_literal="({type})({elements})",
    half_vector="ushort",
    half_load="vloada_half{n}(0, {at})",
    half_store="vstorea_half{n}({value}, 0, {at});",
    half_struct="",
    prelude="",
)  # fmt: skip

CUDA = Dialect(
    name="CUDA",
    kernel='extern "C" __global__ void',
    bounds="__launch_bounds__({threads})",
    returns="",
    shared="__shared__",
    table="__constant__",
    restrict="__restrict__",
    barrier="__syncthreads();",
    barrier_global="__syncthreads();",
    aligned="__align__(16)",
    block_index="(int)blockIdx.x",
    thread_index={Kind.THREAD_X: "(int)threadIdx.x", Kind.THREAD_Y: "(int)threadIdx.y"},
    spaces={GLOBAL: "", SHARED: "", PRIVATE: "", TABLE: ""},
    types={
        "float32": "float", "float64": "double", "float16": "__half", "int64": "long long",
        **_INTEGERS, "int8": "signed char", "uint8": "unsigned char", "bool": "unsigned char",
    },
    functions={name: f"{text}f" for name, text in _OPENCL_FUNCTIONS.items()},
    function_head="static __device__ __forceinline__",
    double_suffix="f",
    vector_literal="make_{type}({elements})",
    half_vector="tw_half",
    half_load="",
    half_store="",
    half_struct="struct __align__({bytes}) tw_half{n} {{ __half of[{n}]; }};\n",
    prelude="""\
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
""",
)  # fmt: skip

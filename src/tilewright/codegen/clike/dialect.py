"""What differs between the dialects of C that kernels are written in.

    dialect.barrier                                  "__syncthreads();"
    dialect.narrow_load(FLOAT16, "x", GLOBAL, "i")   "__half2float(x[i])"

A dialect is a class in a file of its own. What this one spells is what they have in common;
everything else of a kernel is the same text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from tilewright.expr.dtypes import DType
from tilewright.ground.errors import BuildError
from tilewright.nest.nodes import Kind

GLOBAL, SHARED, PRIVATE, TABLE = "global", "shared", "private", "table"
VECTOR_BYTES = 16  # of one access
FUNCTIONS = {
    "abs": "fabs", "exp": "exp", "log": "log", "sqrt": "sqrt", "tanh": "tanh", "erf": "erf",
    "sin": "sin", "cos": "cos", "floor": "floor", "ceil": "ceil", "round": "rint",
    "trunc": "trunc", "pow": "pow", "fma": "fma",
}  # fmt: skip


class Dialect(ABC):
    """One language. Elements are moved as they are stored and computed in their compute type.

    `types` are the storage types by dtype, `spaces` the address-space words of pointers. `shared`
    and `table` begin the declaration of a shared array, which has an alignment, and of a table of
    constants, `helper` that of a function, `aligned` that of an array that is an instruction's
    operand. `narrow_vectors` begin the names of vectors of narrow floats in memory. `shuffle`
    defines `tw_shuffle_xor(value, lanes)`, which exchanges values within a warp, where the language
    can.
    `dynamic_shared` defines `tw_dynamic_shared(name)`, which declares the bytes of shared memory
    that a launch gives, where arrays of a known size have `static_bytes` at most. `tensor_map`
    declares a parameter that is one. With `parts_at_ends`, compilers take threads that met a
    condition in the last iteration of a loop straight to where it is met again behind: where
    threads wait in the loop they wait once more at its end.
    """

    name: ClassVar[str]
    types: ClassVar[Mapping[str, str]]
    spaces: ClassVar[Mapping[str, str]]
    shared: ClassVar[str]
    table: ClassVar[str]
    helper: ClassVar[str]
    restrict: ClassVar[str]
    barrier: ClassVar[str]
    barrier_global: ClassVar[str]
    block_index: ClassVar[str]
    thread_index: ClassVar[Mapping[Kind, str]]
    narrow_vectors: ClassVar[Mapping[str, str]]
    aligned: ClassVar[str] = ""
    shuffle: ClassVar[str] = ""
    dynamic_shared: ClassVar[str] = ""
    static_bytes: ClassVar[int] = 0
    tensor_map: ClassVar[str] = ""
    parts_at_ends: ClassVar[bool] = False

    # ---- functions ----------------------------------------------------------------------------

    @abstractmethod
    def kernel_head(self, threads: tuple[int, int]) -> str:
        """What stands before the name of a kernel with so many threads."""

    def preamble(self, dtypes: Collection[str]) -> Sequence[str]:
        """What stands before kernels that store elements of these dtypes."""
        return ()

    def instructions(self, name: str, dtype: DType) -> Mapping[str, str]:
        """What defines the wrapper of an instruction whose operands are of a dtype, in parts that
        have names. Raises BuildError where the language has none.
        """
        raise BuildError(f"{self.name} has no instructions of warps")

    def function(self, fn: str, kind: DType) -> str:
        """The name of a scalar function. Raises BuildError for one that devices lack."""
        if fn not in FUNCTIONS or not kind.is_float:
            raise BuildError(f"{fn} of {kind} has no function on {self.name} devices")
        return FUNCTIONS[fn]

    # ---- storage ------------------------------------------------------------------------------

    def storage(self, dtype: DType) -> str:
        """The type an element is stored in. Raises BuildError for one that devices lack."""
        if dtype.name not in self.types:
            raise BuildError(
                f"{dtype} is not stored on {self.name} devices; known: {', '.join(self.types)}"
            )
        return self.types[dtype.name]

    def unsigned(self, dtype: DType) -> str:
        """The unsigned type as wide as an integer in a register."""
        return "unsigned int" if dtype.bits <= 32 else "unsigned " + self.types["int64"]

    def element(self, dtype: DType) -> str:
        """The type of the elements of an array that the kernel declares."""
        return self.storage(dtype)

    def pointer(self, kind: str, space: str, constant: bool = False) -> str:
        """`__global const float*`."""
        words = (self.spaces.get(space, ""), "const" if constant else "", f"{kind}*")
        return " ".join(w for w in words if w)

    @abstractmethod
    def narrow_load(self, dtype: DType, name: str, space: str, index: str) -> str:
        """An element of an array of narrow floats as a float."""

    @abstractmethod
    def narrow_store(self, dtype: DType, name: str, space: str, index: str, value: str) -> str:
        """A statement that stores a float as a narrow one."""

    @abstractmethod
    def narrow_rounding(self, dtype: DType) -> str:
        """The definition of `tw_float16(x)`, which is a float as the narrow type holds it."""

    # ---- vectors ------------------------------------------------------------------------------

    def vector(self, dtype: DType, width: int) -> str | None:
        """The type of `width` elements in memory that are one access, None where there is none."""
        names = {"float32": "float", "int32": "int", **self.narrow_vectors}
        if dtype.name not in names or width not in (2, 4, 8) or width * dtype.bytes > VECTOR_BYTES:
            return None
        return f"{names[dtype.name]}{width}"

    def vector_definition(self, dtype: DType, width: int) -> str:
        """The definition of that type, empty where the language has it."""
        return ""

    @abstractmethod
    def vector_value(self, kind: str, elements: Sequence[str]) -> str:
        """A vector of these elements."""

    def vector_at(
        self, name: str, space: str, dtype: DType, width: int, index: str, constant: bool
    ) -> str:
        """The vector inside an array."""
        kind = str(self.vector(dtype, width))
        return f"*({self.pointer(kind, space, constant)})({name} + {index})"

    def vector_load(
        self, name: str, space: str, dtype: DType, width: int, index: str, copied: bool
    ) -> tuple[str, str]:
        """Type and text of a loaded vector, of elements as they are stored if only `copied`."""
        kind = str(self.vector(dtype, width))
        return kind, self.vector_at(name, space, dtype, width, index, constant=True)

    def vector_store(
        self, name: str, space: str, dtype: DType, index: str, elements: Sequence[str]
    ) -> str:
        """A statement that stores computed elements as one vector."""
        width = len(elements)
        value = self.vector_value(str(self.vector(dtype, width)), elements)
        return f"{self.vector_at(name, space, dtype, width, index, constant=False)} = {value};"

    def lane(self, vector: str, dtype: DType, lane: int, width: int) -> str:
        """One element of a loaded vector, in its compute type."""
        return f"{vector}.s{lane}" if width > 4 else f"{vector}.{'xyzw'[lane]}"

"""Data types: what is stored, what is computed with, what is accumulated in.

    float16.storage is np.float16, float16.compute is float32, float16.accumulator is float32

A `DType` is a name with three roles. Narrow floats are stored narrow and computed in float32;
narrow integers are summed in int32 (`quantised` matmuls rely on it). Index arithmetic is int64.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tilewright.expr.hashing import HashedOnce, hashed_once
from tilewright.ground.errors import ExprError


@hashed_once
@dataclass(frozen=True, slots=True)
class DType(HashedOnce):
    """A scalar type. `kind` is "float", "int", "uint" or "bool"; `bits` is the storage width."""

    name: str
    kind: str
    bits: int
    compute_name: str
    accumulator_name: str

    @property
    def bytes(self) -> int:
        """Bytes of one stored element."""
        return max(1, self.bits // 8)

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The NumPy storage dtype (ml_dtypes' for bfloat16)."""
        return np.dtype(ml_dtypes.bfloat16 if self.name == "bfloat16" else self.name)

    @property
    def compute(self) -> DType:
        """The type arithmetic on this type is done in."""
        return DTYPES[self.compute_name]

    @property
    def accumulator(self) -> DType:
        """The type a sum over this type is kept in."""
        return DTYPES[self.accumulator_name]

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    def wrapped(self, value: int) -> int:
        """An integer as this integer type holds it: modulo 2**bits."""
        least = -(1 << (self.bits - 1)) if self.kind == "int" else 0
        return (value - least) % (1 << self.bits) + least

    def neutral(self, op: str) -> int | float | bool:
        """The value that leaves a reduction in this type as it is."""
        if op in ("sum", "prod"):
            return int(op == "prod")
        if self.is_float:
            return float("-inf") if op == "max" else float("inf")
        if self.kind == "bool":
            return op == "min"
        low = self.wrapped(1 << (self.bits - 1)) if self.kind == "int" else 0
        return low if op == "max" else low + (1 << self.bits) - 1

    def __str__(self) -> str:
        return self.name


def _table() -> dict[str, DType]:
    rows = [
        ("float64", "float", 64, "float64", "float64"),
        ("float32", "float", 32, "float32", "float32"),
        ("float16", "float", 16, "float32", "float32"),
        ("bfloat16", "float", 16, "float32", "float32"),
        ("int64", "int", 64, "int64", "int64"),
        ("int32", "int", 32, "int32", "int32"),
        ("int16", "int", 16, "int16", "int32"),
        ("int8", "int", 8, "int8", "int32"),
        ("uint64", "uint", 64, "uint64", "uint64"),
        ("uint32", "uint", 32, "uint32", "uint32"),
        ("uint16", "uint", 16, "uint16", "int32"),
        ("uint8", "uint", 8, "uint8", "int32"),
        ("bool", "bool", 8, "bool", "int32"),
    ]
    return {name: DType(name, kind, bits, c, a) for name, kind, bits, c, a in rows}


DTYPES: dict[str, DType] = _table()
FEW_BITS = {"int2": "int8", "int4": "int8", "uint2": "uint8", "uint4": "uint8"}
"""Types that files have, and in what their elements are stored here, one each."""
FLOAT32 = DTYPES["float32"]
FLOAT64 = DTYPES["float64"]
INT16 = DTYPES["int16"]
INT32 = DTYPES["int32"]
INT64 = DTYPES["int64"]
BOOL = DTYPES["bool"]


def dtype(name: str | DType | np.dtype[np.generic] | type) -> DType:
    """Return the `DType` called `name` (a name, a NumPy dtype or a DType).

    Raises ExprError for a type that Tilewright does not know.
    """
    if isinstance(name, DType):
        return name
    key = name if isinstance(name, str) else np.dtype(name).name
    if key not in DTYPES:
        raise ExprError(f"unknown dtype {key!r}; known: {', '.join(DTYPES)}")
    return DTYPES[key]

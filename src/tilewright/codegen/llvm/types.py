"""LLVM's types, literals and intrinsic names for our dtypes.

compute_type(FLOAT32, 16)  ->  "<16 x float>"      what arithmetic sees
storage_type(BOOL, 16)     ->  "<16 x i8>"         what memory holds
literal(1.0, FLOAT32, 16)  ->  "splat (float 0x3FF0000000000000)"
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from tilewright.expr.dtypes import DType

COMPUTE = {
    "float64": "double",
    "float32": "float",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint64": "i64",
    "uint32": "i32",
    "uint16": "i16",
    "uint8": "i8",
    "bool": "i1",
}
# bfloat16 is kept as its bits: widening is a shift, rounding is integer arithmetic on any target
STORAGE = COMPUTE | {"bool": "i8", "float16": "half", "bfloat16": "i16"}
NAN = "0x7FF8000000000000"
MANGLED = {"double": "f64", "float": "f32", "half": "f16"}


class SsaValue(NamedTuple):
    """An SSA value or literal: its text, its dtype (a compute dtype) and its lanes (1: scalar)."""

    text: str
    dtype: DType
    lanes: int = 1

    @property
    def type(self) -> str:
        """The LLVM type."""
        return compute_type(self.dtype, self.lanes)

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


def vector(element: str, lanes: int) -> str:
    """`element` itself, or a vector of it."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


def compute_type(dtype: DType, lanes: int = 1) -> str:
    """The type of values of `dtype` in registers."""
    return vector(COMPUTE[dtype.compute_name], lanes)


def storage_type(dtype: DType, lanes: int = 1) -> str:
    """The type of `dtype` in memory."""
    return vector(STORAGE[dtype.name], lanes)


def mangled(type_text: str) -> str:
    """How an intrinsic's name spells a type: `<16 x float>` is `v16f32`."""
    if type_text.startswith("<"):
        lanes, element = type_text[1:-1].split(" x ")
        return f"v{lanes}{MANGLED.get(element, element)}"
    return MANGLED.get(type_text, type_text)


def scalar_literal(value: float, dtype: DType) -> str:
    """A scalar constant of a compute dtype; floats are written as their exact bits."""
    if value != value:
        return NAN
    if dtype.is_float:
        rounded = float(np.float32(value)) if dtype.bits == 32 else float(value)
        return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"
    if dtype.kind == "bool":
        return "true" if value else "false"
    return str(int(value))


def literal(value: float, dtype: DType, lanes: int = 1) -> str:
    """A constant, the same in all lanes."""
    text = scalar_literal(value, dtype)
    if lanes == 1:
        return text
    return f"splat ({COMPUTE[dtype.name]} {text})"


def constant(value: float, dtype: DType, lanes: int = 1) -> SsaValue:
    """A `SsaValue` of a literal; `dtype` is a compute dtype."""
    return SsaValue(literal(value, dtype, lanes), dtype, lanes)


def mask_literal(active: int, lanes: int) -> str:
    """The mask whose first `active` lanes are on."""
    return "<" + ", ".join(f"i1 {'true' if i < active else 'false'}" for i in range(lanes)) + ">"


def iota(lanes: int) -> str:
    """<0, 1, 2, ...> of i64."""
    return "<" + ", ".join(f"i64 {i}" for i in range(lanes)) + ">"


def shuffle_mask(indices: list[int]) -> str:
    """The last operand of a shufflevector; -1 is "any"."""
    parts = (f"i32 {i}" if i >= 0 else "i32 poison" for i in indices)
    return f"<{len(indices)} x i32> <{', '.join(parts)}>"

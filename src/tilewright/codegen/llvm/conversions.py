"""Storage to compute and back: narrow floats, bools.

bfloat16: i16 bits << 16 is the float32; back by fptrunc where the CPU converts, else the same
          rounding to nearest even in integer arithmetic
float16:  fpext / fptrunc where the CPU converts, else the same in integer arithmetic
bool:     i8 in memory, i1 in registers
"""

from __future__ import annotations

from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.machine import Features
from tilewright.codegen.llvm.types import SsaValue, storage_type, vector
from tilewright.expr.dtypes import DType

HALF_INFINITY = 0x7C00
HALF_TOO_LARGE = (127 + 16) << 23
FLOAT_INFINITY = 255 << 23
REBIAS = 112 << 23
SMALLEST_NORMAL_HALF = 113 << 23
SUBNORMAL_MAGIC = (112 + 13 + 1) << 23


def from_storage(b: Builder, raw: str, dtype: DType, lanes: int, features: Features) -> SsaValue:
    """A loaded value in its compute dtype."""
    compute = dtype.compute
    match dtype.name:
        case "bool":
            text = b.pure(f"icmp ne {storage_type(dtype, lanes)} {raw}, {_zero(lanes)}", raw)
        case "bfloat16":
            text = _Bits(b, lanes).widen_bfloat(raw)
        case "float16" if features.half:
            kind = storage_type(dtype, lanes)
            text = b.pure(f"fpext {kind} {raw} to {vector('float', lanes)}", raw)
        case "float16":
            text = _Bits(b, lanes).widen_half(raw)
        case _:
            text = raw
    return SsaValue(text, compute, lanes)


def to_storage(b: Builder, value: SsaValue, dtype: DType, features: Features) -> str:
    """A compute value as the text of a storage value."""
    lanes, raw = value.lanes, value.text
    match dtype.name:
        case "bool":
            return b.pure(f"zext {value} to {storage_type(dtype, lanes)}", raw)
        case "bfloat16" if features.bfloat:
            kind = vector("bfloat", lanes)
            rounded = b.pure(f"fptrunc {value} to {kind}", raw)
            return b.pure(f"bitcast {kind} {rounded} to {storage_type(dtype, lanes)}", rounded)
        case "bfloat16":
            return _Bits(b, lanes).round_bfloat(raw)
        case "float16" if features.half:
            return b.pure(f"fptrunc {value} to {storage_type(dtype, lanes)}", raw)
        case "float16":
            return _Bits(b, lanes).round_half(raw)
    return raw


def _zero(lanes: int) -> str:
    return "0" if lanes == 1 else "zeroinitializer"


class _Bits:
    """Integer arithmetic on the bits of `lanes` float32 values."""

    def __init__(self, b: Builder, lanes: int) -> None:
        self.b = b
        self.lanes = lanes
        self.i16, self.i32, self.f32 = (vector(t, lanes) for t in ("i16", "i32", "float"))

    def const(self, bits: int) -> str:
        bits -= (bits >> 31) << 32
        return str(bits) if self.lanes == 1 else f"splat (i32 {bits})"

    def op(self, name: str, a: str, bits: int | str) -> str:
        other = self.const(bits) if isinstance(bits, int) else bits
        return self.b.pure(f"{name} {self.i32} {a}, {other}", a, other)

    def cast(self, how: str, x: str, source: str, to: str) -> str:
        return self.b.pure(f"{how} {source} {x} to {to}", x)

    def where(self, cond: str, a: str, c: str) -> str:
        test = vector("i1", self.lanes)
        return self.b.pure(f"select {test} {cond}, {self.i32} {a}, {self.i32} {c}", cond, a, c)

    def float_op(self, name: str, a: str, magic: int) -> str:
        """`a (op) magic` in float arithmetic, both given as bits."""
        other = self.cast("bitcast", self.const(magic), self.i32, self.f32)
        x = self.cast("bitcast", a, self.i32, self.f32)
        total = self.b.pure(f"{name} {self.f32} {x}, {other}", x, other)
        return self.cast("bitcast", total, self.f32, self.i32)

    def widen_bfloat(self, raw: str) -> str:
        bits = self.op("shl", self.cast("zext", raw, self.i16, self.i32), 16)
        return self.cast("bitcast", bits, self.i32, self.f32)

    def round_bfloat(self, x: str) -> str:
        bits = self.cast("bitcast", x, self.f32, self.i32)
        odd = self.op("and", self.op("lshr", bits, 16), 1)
        rounded = self.op("add", self.op("add", bits, 0x7FFF), odd)
        magnitude = self.op("and", bits, 0x7FFFFFFF)
        is_nan = self.op("icmp ugt", magnitude, FLOAT_INFINITY)
        quiet = self.op("or", bits, 1 << 22)
        high = self.op("lshr", self.where(is_nan, quiet, rounded), 16)
        return self.cast("trunc", high, self.i32, self.i16)

    def widen_half(self, raw: str) -> str:
        half = vector("half", self.lanes)
        bits = self.cast("zext", self.cast("bitcast", raw, half, self.i16), self.i16, self.i32)
        magnitude = self.op("and", bits, 0x7FFF)
        moved = self.op("shl", magnitude, 13)
        normal = self.op("add", moved, REBIAS)
        infinite = self.op("add", moved, 2 * REBIAS)
        small = self.float_op(
            "fsub", self.op("add", moved, SMALLEST_NORMAL_HALF), SMALLEST_NORMAL_HALF
        )
        result = self.where(self.op("icmp ult", magnitude, 0x400), small, normal)
        result = self.where(self.op("icmp uge", magnitude, HALF_INFINITY), infinite, result)
        sign = self.op("shl", self.op("and", bits, 0x8000), 16)
        return self.cast("bitcast", self.op("or", result, sign), self.i32, self.f32)

    def round_half(self, x: str) -> str:
        bits = self.cast("bitcast", x, self.f32, self.i32)
        magnitude = self.op("and", bits, 0x7FFFFFFF)
        odd = self.op("and", self.op("lshr", magnitude, 13), 1)
        rebased = self.op("add", magnitude, (0xFFF - REBIAS) & 0xFFFFFFFF)
        normal = self.op("lshr", self.op("add", rebased, odd), 13)
        summed = self.float_op("fadd", magnitude, SUBNORMAL_MAGIC)
        small = self.op("sub", summed, SUBNORMAL_MAGIC)
        is_nan = self.op("icmp ugt", magnitude, FLOAT_INFINITY)
        large = self.where(is_nan, self.const(0x7E00), self.const(HALF_INFINITY))
        result = self.where(self.op("icmp ult", magnitude, SMALLEST_NORMAL_HALF), small, normal)
        result = self.where(self.op("icmp uge", magnitude, HALF_TOO_LARGE), large, result)
        sign = self.op("lshr", self.op("and", bits, 1 << 31), 16)
        half_bits = self.cast("trunc", self.op("or", result, sign), self.i32, self.i16)
        return self.cast("bitcast", half_bits, self.i16, vector("half", self.lanes))

"""Floats that are rounded, limited and made small integers, as quantisation does.

    uint8(min(max(round(q) + 3.0, 0.0), 255.0))    ->    int32(min(max(q, -3.0), 252.0)) + 3

The limits are whole, so it does not matter whether they come before rounding; then one conversion
rounds, and 32 bits hold the number without a look at its range.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.codegen.llvm.arithmetic import apply, choose, extreme, fcmp
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.types import SsaValue, compute_type, constant, mangled
from tilewright.expr.dtypes import DTYPES, FLOAT32, DType
from tilewright.expr.nodes import Binary, Call, Cast, Const, Expr

INT32 = DTYPES["int32"]
LARGEST = 2**16  # of a limit: sums of whole floats are exact far beyond


@dataclass(frozen=True, slots=True)
class Rounded:
    """`round(value) + shift` within `low` and `high`, all of them whole, as an integer `to`."""

    value: Expr
    shift: int
    low: int
    high: int
    to: DType

    @property
    def is_in_range(self) -> bool:
        """Whether NaN, which as an integer is 0, becomes one of the limits as well."""
        return self.low == 0

    @staticmethod
    def of(e: Expr) -> Rounded | None:
        """What an expression rounds; None where it is another one, or NaN would be another
        number.
        """
        match e:
            case Cast(to, Binary("min", Binary("max", x, Const(low)), Const(high))):
                pass
            case _:
                return None
        shift: float = 0
        match x:
            case Binary("add", inner, Const(number)):
                x, shift = inner, number
        if not isinstance(x, Call) or x.fn != "round" or x.dtype != FLOAT32:
            return None
        if to.kind not in ("int", "uint") or to.bits > 16:
            return None
        numbers = (shift, low, high)
        if not all(float(n).is_integer() and abs(n) <= LARGEST for n in numbers):
            return None
        ends = to.neutral("max"), to.neutral("min")
        found = Rounded(x.args[0], int(shift), int(low), int(high), to)
        fits = ends[0] <= found.low <= found.high <= ends[1]
        return found if fits and (found.is_in_range or not found.shift) else None

    def integer(self, b: Builder, m: Module, x: SsaValue) -> SsaValue:
        """Of the `value` x the number in 32 bits, as many lanes."""
        low, high = (
            constant(float(n - self.shift), x.dtype, x.lanes) for n in (self.low, self.high)
        )
        above = (
            choose(b, fcmp(b, "ogt", x, low), x, low)
            if self.is_in_range
            else extreme(b, "max", x, low)
        )
        inside = extreme(b, "min", above, high)
        kind = compute_type(INT32, x.lanes)
        fn = m.declare(f"llvm.lrint.{mangled(kind)}.{mangled(x.type)}", kind, [x.type])
        whole = SsaValue(b.pure(f"call {kind} {fn}({inside})", inside.text), INT32, x.lanes)
        if not self.shift:
            return whole
        return apply(b, "add", whole, constant(self.shift, INT32, x.lanes))

"""Math intrinsics: which code each one becomes.

    MathLibrary(...).call("exp", [x])

float32 functions are polynomials in IR (`polynomials`): they need no library, mix with the code
around them and have an error of at most 3 units in the last place. float64 functions call glibc's
libmvec where the target has it (4 units), else the C library a lane at a time, as `pow` does.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.codegen.llvm.arithmetic import (
    apply,
    arithmetic,
    choose,
    fcmp,
    fma,
    intrinsic,
    invert,
    unary,
)
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.conversions import from_storage, to_storage
from tilewright.codegen.llvm.dots import dot4
from tilewright.codegen.llvm.machine import Features
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.polynomials import Polynomials
from tilewright.codegen.llvm.types import SsaValue, compute_type, constant, shuffle_mask
from tilewright.expr.dtypes import BOOL, DTYPES, FLOAT32, FLOAT64
from tilewright.expr.nodes import NARROWING
from tilewright.ground.errors import BuildError

# LLVM intrinsics that every target turns into instructions (or, x86 before SSE4.1, libm calls)
DIRECT = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "round": "rint", "trunc": "trunc"}
LIBM_32 = {"floor": "floorf", "ceil": "ceilf", "rint": "rintf", "trunc": "truncf"}
# In libmvec since glibc 2.22
LIBMVEC = ("exp", "log", "sin", "cos", "pow")
# Literal exponents that are multiplications: (dtype, the literal's text) -> exponent
SMALL_POWERS = {
    (dtype.name, constant(power, dtype).text): power
    for dtype in (FLOAT32, FLOAT64)
    for power in (1, 2, 3)
}


class MathLibrary:
    """Writes calls of intrinsics at the current point of a function."""

    def __init__(self, b: Builder, m: Module, features: Features) -> None:
        self.b, self.m, self.features = b, m, features
        self.polynomials = Polynomials(b, m, features)

    def call(self, fn: str, args: list[SsaValue]) -> SsaValue:
        """The intrinsic `fn` on operands of one dtype and equal lanes. Raises BuildError."""
        x = args[0]
        match fn:
            case "neg" | "abs" | "not":
                return self._simple(fn, x)
            case "isnan":
                return fcmp(self.b, "uno", x, x)
            case "sortable":
                return self._sortable(x)
            case "isinf":
                limit = constant(float("inf"), x.dtype, x.lanes)
                return fcmp(self.b, "oeq", intrinsic(self.b, self.m, "fabs", x), limit)
            case "bitand" | "bitor" | "bitxor":
                return apply(self.b, fn.removeprefix("bit"), x, args[1])
            case "shl" | "shr":
                return self._shift(fn, x, args[1])
            case "fma" if x.dtype.is_float:
                return fma(self.b, self.m, self.features.fma, *args)
            case "dot4":
                return dot4(self.b, self.m, self.features.bytes, *args)
            case _ if fn in NARROWING:
                raw = to_storage(self.b, x, DTYPES[fn], self.features)
                return from_storage(self.b, raw, DTYPES[fn], x.lanes, self.features)
        if not x.dtype.is_float:
            raise BuildError(f"{fn} needs float operands, not {x.dtype}; cast them")
        if fn in DIRECT:
            return self._direct(DIRECT[fn], x)
        if x.dtype == FLOAT32 and fn != "pow":
            series: Callable[[SsaValue], SsaValue] = getattr(self.polynomials, fn)
            return series(x)
        return self._library(fn, args)

    def _shift(self, fn: str, x: SsaValue, count: SsaValue) -> SsaValue:
        """Hardware takes a shift modulo the width; by more bits only the sign is left."""
        width = constant(x.dtype.bits, x.dtype, x.lanes)
        inside = SsaValue(self.b.pure(f"icmp ult {count}, {width.text}", count.text), BOOL, x.lanes)
        if fn == "shr" and x.dtype.kind == "int":
            last = constant(x.dtype.bits - 1, x.dtype, x.lanes)
            return apply(self.b, "ashr", x, choose(self.b, inside, count, last))
        zero = constant(0, x.dtype, x.lanes)
        safe = choose(self.b, inside, count, zero)
        shifted = apply(self.b, "shl" if fn == "shl" else "lshr", x, safe)
        return choose(self.b, inside, shifted, zero)

    def _sortable(self, x: SsaValue) -> SsaValue:
        """The bits as an integer, those of a negative number but the sign turned round."""
        kind = DTYPES[f"int{x.dtype.bits}"]
        plain = apply(self.b, "fadd", x, constant(0.0, x.dtype, x.lanes))  # -0 + 0 is +0
        to = constant(0, kind, x.lanes).type
        bits = SsaValue(self.b.pure(f"bitcast {plain} to {to}", plain.text), kind, x.lanes)
        last = constant(kind.bits - 1, kind, x.lanes)
        greatest = constant(kind.neutral("min"), kind, x.lanes)
        turned = apply(self.b, "and", apply(self.b, "ashr", bits, last), greatest)
        keys = apply(self.b, "xor", bits, turned)
        return choose(self.b, fcmp(self.b, "uno", x, x), greatest, keys)

    def _simple(self, fn: str, x: SsaValue) -> SsaValue:
        if fn == "not":
            return invert(self.b, x)
        if x.dtype.is_float:
            return unary(self.b, "fneg", x) if fn == "neg" else intrinsic(self.b, self.m, "fabs", x)
        if x.dtype == BOOL or (fn == "abs" and x.dtype.kind == "uint"):
            return x
        minus = apply(self.b, "sub", constant(0, x.dtype, x.lanes), x)
        return minus if fn == "neg" else arithmetic(self.b, self.m, "max", x, minus)

    def _direct(self, stem: str, x: SsaValue) -> SsaValue:
        if not self.features.rounding and stem in LIBM_32:
            self.m.externals.add(LIBM_32[stem][: None if x.dtype == FLOAT32 else -1])
        return intrinsic(self.b, self.m, stem, x)

    # ---- libraries --------------------------------------------------------------------------

    def _library(self, fn: str, args: list[SsaValue]) -> SsaValue:
        x = args[0]
        if fn == "sigmoid":
            one = constant(1.0, x.dtype, x.lanes)
            e = self._library("exp", [unary(self.b, "fneg", x)])
            return apply(self.b, "fdiv", one, apply(self.b, "fadd", one, e))
        if fn == "pow":
            exponent = args[1].text.removeprefix("splat (").removesuffix(")").split(" ")[-1]
            if (x.dtype.name, exponent) in SMALL_POWERS:
                return self._repeated(x, SMALL_POWERS[x.dtype.name, exponent])
        name = f"{fn}f" if x.dtype == FLOAT32 else fn
        if x.lanes > 1 and self.features.libmvec and fn in LIBMVEC:
            return self._libmvec(name, args)
        return self._each(name, args)

    def _repeated(self, x: SsaValue, times: int) -> SsaValue:
        total = x
        for _ in range(times - 1):
            total = apply(self.b, "fmul", total, x)
        return total

    def _libmvec(self, name: str, args: list[SsaValue]) -> SsaValue:
        """Calls of libmvec's function for whole registers; short vectors are repeated to fill."""
        x = args[0]
        width = self.features.libmvec_lanes(x.dtype.bits)
        kind = compute_type(x.dtype, width)
        signature = f"_ZGV{self.features.libmvec}N{width}{'v' * len(args)}_{name}"
        fn = self.m.declare(signature, kind, [kind] * len(args))
        pieces = []
        for start in range(0, x.lanes, width):
            lanes = [start + i % min(width, x.lanes) for i in range(width)]
            texts = [self._lanes(a, lanes) for a in args]
            call = f"call {kind} {fn}({', '.join(f'{kind} {t}' for t in texts)})"
            pieces.append(SsaValue(self.b.pure(call, *texts), x.dtype, width))
        return self._joined(pieces, x.lanes)

    def _lanes(self, x: SsaValue, lanes: list[int]) -> str:
        if lanes == list(range(x.lanes)):
            return x.text
        text = f"shufflevector {x}, {x.type} poison, {shuffle_mask(lanes)}"
        return self.b.pure(text, x.text)

    def _joined(self, pieces: list[SsaValue], lanes: int) -> SsaValue:
        """Pieces side by side, cut to `lanes`."""
        while len(pieces) > 1:
            pairs = zip(pieces[::2], pieces[1::2], strict=True)
            pieces = [self._concatenated(x, y) for x, y in pairs]
        whole = pieces[0]
        if whole.lanes == lanes:
            return whole
        return SsaValue(self._lanes(whole, list(range(lanes))), whole.dtype, lanes)

    def _concatenated(self, x: SsaValue, y: SsaValue) -> SsaValue:
        mask = shuffle_mask(list(range(2 * x.lanes)))
        text = self.b.pure(f"shufflevector {x}, {y}, {mask}", x.text, y.text)
        return SsaValue(text, x.dtype, 2 * x.lanes)

    def _each(self, name: str, args: list[SsaValue]) -> SsaValue:
        """One call of the C library a lane."""
        x = args[0]
        kind = compute_type(x.dtype)
        fn = self.m.declare(name, kind, [kind] * len(args))
        if x.lanes == 1:
            texts = [a.text for a in args]
            call = f"call {kind} {fn}({', '.join(f'{kind} {t}' for t in texts)})"
            return SsaValue(self.b.pure(call, *texts), x.dtype)
        total = "poison"
        for i in range(x.lanes):
            parts = [self.b.pure(f"extractelement {a}, i64 {i}", a.text) for a in args]
            call = f"call {kind} {fn}({', '.join(f'{kind} {p}' for p in parts)})"
            one = self.b.pure(call, *parts)
            text = f"insertelement {x.type} {total}, {kind} {one}, i64 {i}"
            total = self.b.pure(text, total, one)
        return SsaValue(total, x.dtype, x.lanes)

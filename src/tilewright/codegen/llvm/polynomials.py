"""Elementary functions of float32 vectors as polynomials in IR: any target, any lane count.

    p = Polynomials(b, m, features)          p.exp(x), p.log(x), p.tanh(x), p.erf(x), p.sin(x), ...

Coefficients are weighted minimax fits (Lawson's iteration) of the named function; range reduction
is Cody and Waite's. Errors against the exact value, in units in the last place, for all normal
arguments: exp 2, sigmoid 3, log 2, tanh 3, erf 3, sin and cos 2 for |x| < 2**30. NaN, infinities
and the ends of the ranges give what the C library gives.
"""

from __future__ import annotations

from math import pi

from tilewright.codegen.llvm.arithmetic import apply, choose, compare, convert, fcmp, fma, intrinsic
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.machine import Features
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.types import SsaValue, compute_type, constant
from tilewright.expr.dtypes import FLOAT32, FLOAT64, INT32, INT64

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125
LN2_LOW = 1.42860677e-6
ROUNDING = 12582912.0
"""1.5 * 2**23: adding it leaves the nearest integer in the low bits of a float32."""
ROUNDING_BITS = 0x4B400000
SCALE_LANES = (4, 8, 16)
CURRENT_ROUNDING = 4
ROUNDING_64 = 6755399441055744.0
"""1.5 * 2**52, the same for float64."""
HALF_PI_HIGH = 1.5707963267948966
HALF_PI_LOW = 6.123233995736766e-17
THREE_QUARTERS_BITS = 0x3F400000
MANTISSA_FROM_THREE_QUARTERS = 0b1011
"""Of AVX-512's instruction: within [3/4, 3/2), NaN below 0."""
SMALLEST_NORMAL = 1.1754943508222875e-38

# (e**r - 1 - r) / r**2 on |r| <= ln(2)/2
EXP = (0.49999993451, 0.16666520679, 0.04166838749, 0.0083687111329, 0.0013814610428)
# (e**r - 1 - r) / r**2 on |r| <= ln(2)/32, between the sixteen powers of a register
EXP_SIXTEENTH = (0.50001618972, 0.16666718573)
SIXTEENTHS = tuple(2 ** (i / 16) for i in range(16))
ROUNDING_SIXTEENTHS = 786432.0
"""1.5 * 2**19: adding it leaves the nearest sixteenth in the low bits."""
# (log(1+f) - f + f**2/2) / f**3 on -1/4 <= f <= 1/2
LOG = (
    0.33333449113, -0.25000095842, 0.19990861232, -0.1664731217, 0.14478394901,
    -0.1316119355, 0.10463022705, -0.045074807159,
)  # fmt: skip
# (tanh(x) - x) / x**3 in x**2, |x| <= 0.625
TANH = (-0.33333280683, 0.13331441581, -0.05373971164, 0.02063907869, -0.00570497848)
TANH_IS_ONE = 9.1
# erf(x) / x in x**2, |x| <= 1
ERF_SMALL = (
    1.12837910652, -0.37612625957, 0.11283585429, -0.026853811, 0.00518832775,
    -0.00080101925, 7.853857824e-05,
)  # fmt: skip
# log2(1 - erf(x)) on 1 <= x <= 4
ERF_LARGE = (
    -0.00377862016, -1.6123868227, -0.94386863708, -0.12811109424, 0.0213978868, -0.00166952447,
)  # fmt: skip
# (2**r - 1) / r on |r| <= 1/2, for what is added to 1
EXP2 = (0.69314700365, 0.24022242427, 0.05550733581, 0.00967151299, 0.00132647238)
# (sin(r) - r) / r**3 and (cos(r) - 1 + r**2/2) / r**4 in r**2, |r| <= pi/4
SIN = (-0.16666655242, 0.00833215564, -0.00019514631)
COS = (0.04166664556, -0.00138873095, 2.4432411e-05)


class Polynomials:
    """Writes the functions at the current point; arguments and results are float32 values."""

    def __init__(self, b: Builder, m: Module, features: Features) -> None:
        self.b, self.m, self.features = b, m, features

    # ---- pieces -----------------------------------------------------------------------------

    def const(self, value: float, like: SsaValue) -> SsaValue:
        return constant(value, like.dtype, like.lanes)

    def fma(self, x: SsaValue, y: SsaValue | float, z: SsaValue | float) -> SsaValue:
        y = self.const(y, x) if isinstance(y, float) else y
        z = self.const(z, x) if isinstance(z, float) else z
        return fma(self.b, self.m, self.features.fma, x, y, z)

    def op(self, name: str, x: SsaValue, y: SsaValue | float | int) -> SsaValue:
        """A two-operand instruction, the second operand perhaps a literal."""
        y = y if isinstance(y, SsaValue) else self.const(y, x)
        return apply(self.b, name, x, y)

    def bits(self, x: SsaValue) -> SsaValue:
        """The float32's bits as int32, or back."""
        to = INT32 if x.dtype == FLOAT32 else FLOAT32
        text = self.b.pure(f"bitcast {x} to {compute_type(to, x.lanes)}", x.text)
        return SsaValue(text, to, x.lanes)

    def where(self, test: str, x: SsaValue, limit: float, a: SsaValue, c: SsaValue) -> SsaValue:
        """`a` where the float comparison `x test limit` holds, else `c`."""
        return choose(self.b, fcmp(self.b, test, x, self.const(limit, x)), a, c)

    def horner(self, x: SsaValue, coefficients: tuple[float, ...]) -> SsaValue:
        """The polynomial with these coefficients, lowest degree first."""
        total = self.const(coefficients[-1], x)
        for c in reversed(coefficients[:-1]):
            total = self.fma(total, x, c)
        return total

    def clamped(self, x: SsaValue, low: float, high: float) -> SsaValue:
        """`x` within the bounds; NaN stays."""
        x = self.where("olt", x, low, self.const(low, x), x)
        return self.where("ogt", x, high, self.const(high, x), x)

    def scales(self, x: SsaValue) -> bool:
        """Whether one instruction multiplies by powers of two, or finds them."""
        return bool(self.features.scales) and x.lanes in SCALE_LANES

    def power(self, x: SsaValue) -> SsaValue:
        """2**x, a normal number, to 1e-7: for what is added to 1 or more."""
        shifted = self.op("fadd", x, ROUNDING)
        whole = self.op("fsub", shifted, ROUNDING)
        r = apply(self.b, "fsub", x, whole)
        value = self.fma(self.horner(r, EXP2), r, 1.0)
        if self.scales(x):
            return self.scaled(value, whole)
        n = self.op("sub", self.bits(shifted), ROUNDING_BITS)
        return self.op("fmul", value, self.power_of_two(n))

    def power_of_two(self, n: SsaValue) -> SsaValue:
        """2**n of an int32 in the range of normal exponents."""
        return self.bits(self.op("shl", self.op("add", n, 127), 23))

    def scaled(self, x: SsaValue, n: SsaValue) -> SsaValue:
        """x * 2**n of an integral float n of any size."""
        return self.avx512("scalef", x, n)

    def avx512(self, stem: str, x: SsaValue, *more: SsaValue | int) -> SsaValue:
        """An instruction on all lanes of `x` and of other operands, or with a number."""
        bits, mask = 32 * x.lanes, "i16" if x.lanes == 16 else "i8"
        given = [str(o) if isinstance(o, SsaValue) else f"i32 {o}" for o in (x, *more)]
        args = [*given, str(x), f"{mask} -1"]
        if bits == 512:
            args.append(f"i32 {CURRENT_ROUNDING}")
        types = [a.rpartition(" ")[0] for a in args]
        fn = self.m.declare(f"llvm.x86.avx512.mask.{stem}.ps.{bits}", x.type, types)
        names = [o.text for o in (x, *more) if isinstance(o, SsaValue)]
        text = self.b.pure(f"call {x.type} {fn}({', '.join(args)})", *names)
        return SsaValue(text, x.dtype, x.lanes)

    # ---- functions --------------------------------------------------------------------------

    def exp(self, x: SsaValue) -> SsaValue:
        """e**x: x = n*ln2 + r, 2**n applied in two halves so that both ends of the range work."""
        x = self.clamped(x, -104.0, 89.0)
        if self.scales(x) and x.lanes == len(SIXTEENTHS):
            return self.exp_by_sixteenths(x)
        shifted, whole, r = self.reduced(x, ROUNDING)
        value = self.fma(self.horner(r, (1.0, *EXP)), r, 1.0)
        if self.scales(x):
            return self.scaled(value, whole)
        n = self.op("sub", self.bits(shifted), ROUNDING_BITS)
        half = self.op("ashr", n, 1)
        rest = self.op("sub", n, half)
        once = self.op("fmul", value, self.power_of_two(half))
        return self.op("fmul", once, self.power_of_two(rest))

    def reduced(self, x: SsaValue, rounding: float) -> tuple[SsaValue, SsaValue, SsaValue]:
        """n + `rounding`, n and r of x = n*ln2 + r."""
        shifted = self.fma(x, LOG2_E, rounding)
        whole = self.op("fsub", shifted, rounding)
        return shifted, whole, self.fma(whole, -LN2_LOW, self.fma(whole, -LN2_HIGH, x))

    def exp_by_sixteenths(self, x: SsaValue) -> SsaValue:
        """The same with n in sixteenths, whose powers are looked up in a register."""
        shifted, whole, r = self.reduced(x, ROUNDING_SIXTEENTHS)
        power = self.looked_up(SIXTEENTHS, self.bits(shifted))
        tail = self.fma(self.horner(r, EXP_SIXTEENTH), self.op("fmul", r, r), r)
        return self.scaled(self.fma(power, tail, power), whole)

    def looked_up(self, table: tuple[float, ...], at: SsaValue) -> SsaValue:
        """The elements of a register of numbers at the low bits of `at`, by AVX-512."""
        numbers = ", ".join(str(constant(v, FLOAT32)) for v in table)
        kind = compute_type(FLOAT32, at.lanes)
        fn = self.m.declare(f"llvm.x86.avx512.permvar.sf.{32 * at.lanes}", kind, [kind, at.type])
        text = self.b.pure(f"call {kind} {fn}({kind} <{numbers}>, {at})", at.text)
        return SsaValue(text, FLOAT32, at.lanes)

    def sigmoid(self, x: SsaValue) -> SsaValue:
        """1 / (1 + e**-x)."""
        e = self.exp(SsaValue(self.b.pure(f"fneg {x}", x.text), x.dtype, x.lanes))
        return apply(self.b, "fdiv", self.const(1.0, x), self.op("fadd", e, 1.0))

    def tanh(self, x: SsaValue) -> SsaValue:
        """An odd polynomial near 0, else 1 - 2/(e**2|x| + 1) with the sign of x."""
        magnitude = intrinsic(self.b, self.m, "fabs", x)
        t = self.where("ogt", magnitude, TANH_IS_ONE, self.const(TANH_IS_ONE, x), magnitude)
        e = self.power(self.op("fmul", t, 2 * LOG2_E))
        ratio = apply(self.b, "fdiv", self.const(2.0, x), self.op("fadd", e, 1.0))
        large = self.signed(apply(self.b, "fsub", self.const(1.0, x), ratio), x)
        s = self.op("fmul", x, x)
        small = self.fma(self.op("fmul", self.horner(s, TANH), s), x, x)
        return self.where("olt", magnitude, 0.625, small, large)

    def signed(self, x: SsaValue, sign: SsaValue) -> SsaValue:
        """The magnitude of `x` with the sign of `sign`."""
        return intrinsic(self.b, self.m, "copysign", x, sign)

    def erf(self, x: SsaValue) -> SsaValue:
        """An odd polynomial below 1, else 1 - 2**q(|x|) with the sign of x."""
        magnitude = intrinsic(self.b, self.m, "fabs", x)
        t = self.where("ogt", magnitude, 4.0, self.const(4.0, x), magnitude)
        e = self.power(self.horner(t, ERF_LARGE))
        large = self.signed(apply(self.b, "fsub", self.const(1.0, x), e), x)
        small = self.op("fmul", self.horner(self.op("fmul", x, x), ERF_SMALL), x)
        return self.where("olt", magnitude, 1.0, small, large)

    def log(self, x: SsaValue) -> SsaValue:
        """x = m * 2**e with 3/4 <= m < 3/2."""
        at_once = self.scales(x)
        m, e = self.split_at_once(x) if at_once else self.split(x)
        f = self.op("fsub", m, 1.0)
        s = self.op("fmul", f, f)
        tail = self.op("fmul", self.op("fmul", s, f), self.horner(f, LOG))
        tail = self.fma(e, LN2_LOW, tail)
        tail = self.fma(s, -0.5, tail)
        value = self.fma(e, LN2_HIGH, self.op("fadd", f, tail))
        if at_once:
            return value
        value = self.where("oeq", x, float("inf"), x, value)
        value = self.where("oeq", x, 0.0, self.const(float("-inf"), x), value)
        return self.where("oge", x, 0.0, value, self.const(float("nan"), x))

    def split(self, x: SsaValue) -> tuple[SsaValue, SsaValue]:
        """m and e of the logarithm for a positive, finite number."""
        tiny = fcmp(self.b, "olt", x, self.const(SMALLEST_NORMAL, x))
        scaled = choose(self.b, tiny, self.op("fmul", x, 8388608.0), x)
        shift = choose(self.b, tiny, self.const(-23.0, x), self.const(0.0, x))
        offset = self.op("sub", self.bits(scaled), THREE_QUARTERS_BITS)
        exponent = self.op("ashr", offset, 23)
        mantissa = self.op("sub", self.bits(scaled), self.op("shl", exponent, 23))
        return self.bits(mantissa), self.op("fadd", convert(self.b, exponent, FLOAT32), shift)

    def split_at_once(self, x: SsaValue) -> tuple[SsaValue, SsaValue]:
        """The same for any number: e of 0 and of infinity are infinite."""
        m = self.avx512("getmant", x, MANTISSA_FROM_THREE_QUARTERS)
        e = self.avx512("getexp", x)
        return m, self.op("fsub", e, self.avx512("getexp", m))

    def sin(self, x: SsaValue) -> SsaValue:
        """The sine of x in radians."""
        return self.turned(x, 0)

    def cos(self, x: SsaValue) -> SsaValue:
        """The cosine: the sine a quarter turn on."""
        return self.turned(x, 1)

    def turned(self, x: SsaValue, quarters: int) -> SsaValue:
        """sin(x + quarters*pi/2): the remainder of x by pi/2 in float64, then one of two series."""
        wide = convert(self.b, x, FLOAT64)
        shifted = self.fma(wide, 2 / pi, ROUNDING_64)
        text = self.b.pure(f"bitcast {shifted} to {compute_type(INT64, x.lanes)}", shifted.text)
        low = SsaValue(text, INT64, x.lanes)
        quadrant = self.op("add", convert(self.b, low, INT32), quarters)
        whole = self.op("fsub", shifted, ROUNDING_64)
        r64 = self.fma(whole, -HALF_PI_LOW, self.fma(whole, -HALF_PI_HIGH, wide))
        r = convert(self.b, r64, FLOAT32)
        s = self.op("fmul", r, r)
        sine = self.fma(self.op("fmul", self.horner(s, SIN), s), r, r)
        series = self.fma(self.horner(s, COS), s, -0.5)
        cosine = self.fma(series, s, 1.0)
        zero = constant(0, INT32, x.lanes)
        odd = compare(self.b, "ne", self.op("and", quadrant, 1), zero)
        value = self.bits(choose(self.b, odd, cosine, sine))
        sign = self.op("shl", self.op("and", quadrant, 2), 30)
        return self.bits(self.op("xor", value, sign))

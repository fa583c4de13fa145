"""Arithmetic on values of equal lanes: one function an operator.

    arithmetic(b, m, "max", x, y)   appends instructions to builder `b`, returns the Value

NaN behaves as in NumPy: `max` and `min` pass it on. Integer division by zero gives 0 and never
traps. Comparisons with NaN are false, except `ne`.
"""

from __future__ import annotations

from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.types import SsaValue, compute_type, constant, mangled, vector
from tilewright.expr.dtypes import BOOL, DTYPES, INT64, DType

FLOAT_OPS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
INT_OPS = {"add": "add", "sub": "sub", "mul": "mul"}
BOOL_OPS = {"add": "or", "max": "or", "or": "or", "mul": "and", "min": "and", "and": "and"}
FLOAT_TESTS = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
SIGNED_TESTS = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
UNSIGNED_TESTS = {"lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge", "eq": "eq", "ne": "ne"}


def unary(b: Builder, text: str, x: SsaValue) -> SsaValue:
    """`text` applied to one operand, of its type: `fneg`, for example."""
    return SsaValue(b.pure(f"{text} {x}", x.text), x.dtype, x.lanes)


def apply(b: Builder, text: str, x: SsaValue, y: SsaValue) -> SsaValue:
    """A two-operand instruction on one type."""
    return SsaValue(b.pure(f"{text} {x}, {y.text}", x.text, y.text), x.dtype, x.lanes)


def intrinsic(b: Builder, m: Module, stem: str, *args: SsaValue) -> SsaValue:
    """`llvm.<stem>` overloaded on the operands' common type."""
    kind = args[0].type
    fn = m.intrinsics.get((stem, kind))
    if fn is None:
        fn = m.declare(f"llvm.{stem}.{mangled(kind)}", kind, [kind] * len(args))
        m.intrinsics[stem, kind] = fn
    text = f"call {kind} {fn}({', '.join(f'{kind} {a.text}' for a in args)})"
    return SsaValue(b.pure(text, *(a.text for a in args)), args[0].dtype, args[0].lanes)


def compare(b: Builder, op: str, x: SsaValue, y: SsaValue) -> SsaValue:
    """A comparison; the result is bool."""
    if x.dtype.is_float:
        text = f"fcmp {FLOAT_TESTS[op]} {x}, {y.text}"
    else:
        tests = SIGNED_TESTS if x.dtype.kind == "int" else UNSIGNED_TESTS
        text = f"icmp {tests[op]} {x}, {y.text}"
    return SsaValue(b.pure(text, x.text, y.text), BOOL, x.lanes)


def fcmp(b: Builder, test: str, x: SsaValue, y: SsaValue) -> SsaValue:
    """A float comparison by LLVM's name of it (ordered or not)."""
    return SsaValue(b.pure(f"fcmp {test} {x}, {y.text}", x.text, y.text), BOOL, x.lanes)


def choose(b: Builder, cond: SsaValue, x: SsaValue, y: SsaValue) -> SsaValue:
    """`x` where `cond`, else `y`; the condition may be one i1 for all lanes."""
    text = f"select {cond}, {x}, {y}"
    return SsaValue(b.pure(text, cond.text, x.text, y.text), x.dtype, x.lanes)


def invert(b: Builder, cond: SsaValue) -> SsaValue:
    """Logical not."""
    true = constant(True, BOOL, cond.lanes)
    return apply(b, "xor", cond, true)


def fma(b: Builder, m: Module, fused: bool, x: SsaValue, y: SsaValue, z: SsaValue) -> SsaValue:
    """`x*y + z`, rounded once where the machine has the instruction."""
    if fused:
        return intrinsic(b, m, "fma", x, y, z)
    return apply(b, "fadd", apply(b, "fmul", x, y), z)


def arithmetic(b: Builder, m: Module, op: str, x: SsaValue, y: SsaValue) -> SsaValue:
    """An operator of ARITHMETIC or LOGICAL on operands of one dtype and equal lanes."""
    if x.dtype == BOOL:
        return apply(b, BOOL_OPS[op], x, y)
    if x.dtype.is_float:
        return _float(b, m, op, x, y)
    if op in INT_OPS:
        return apply(b, INT_OPS[op], x, y)
    sign = "s" if x.dtype.kind == "int" else "u"
    if op in ("min", "max"):
        return intrinsic(b, m, f"{sign}{op}", x, y)
    return _divide(b, op, x, y)


def _float(b: Builder, m: Module, op: str, x: SsaValue, y: SsaValue) -> SsaValue:
    match op:
        case "min" | "max":
            return extreme(b, op, x, y)
        case "floordiv":
            return intrinsic(b, m, "floor", apply(b, "fdiv", x, y))
        case "mod":
            return _float_mod(b, m, x, y)
    return apply(b, FLOAT_OPS[op], x, y)


def scaled_reciprocal(b: Builder, m: Module, y: SsaValue) -> tuple[SsaValue, SsaValue]:
    """(f, r) with `x / y = (x*f) * r` for any float32 x: for y shared by the lanes of x, two
    products in place of the division take a tenth of its time.

        f = 2**-64 if |y| > 2**64 else 1;    r = 1 / (y*f)

    Without f a great y would have a denormal reciprocal, which counts as zero. What x*f loses is
    below the smallest normal quotient. The quotient is within 1.5 ulp.
    """
    great = fcmp(b, "ogt", intrinsic(b, m, "fabs", y), constant(2.0**64, y.dtype))
    one = constant(1.0, y.dtype)
    f = choose(b, great, constant(2.0**-64, y.dtype), one)
    return f, apply(b, "fdiv", one, apply(b, "fmul", y, f))


def rounded_quotient(
    b: Builder, m: Module, y: SsaValue, reciprocal: SsaValue, x: SsaValue, near: SsaValue
) -> SsaValue:
    """`x / y` as IEEE rounds it, from `1 / y` and its product with x, `near`: the remainder, which
    a fused multiply-add has exactly, tells what to add (Markstein, 1990). Quotients below 2**-100,
    whose remainders may be denormal, are within 1 ulp.
    """
    rest = intrinsic(b, m, "fma", unary(b, "fneg", near), y, x)
    found = intrinsic(b, m, "fma", rest, reciprocal, near)
    return choose(b, fcmp(b, "uno", found, found), near, found)  # zero, infinity, NaN


def extreme(b: Builder, op: str, x: SsaValue, y: SsaValue) -> SsaValue:
    """The larger (smaller) operand, NaN if either is.

    `p > q ? p : q` gives q when either is NaN, one instruction on x86; so a literal goes first
    and needs no more, otherwise a NaN in p is put back. A literal that is NaN is the result.
    """
    if not y.text.startswith("%"):
        x, y = y, x
    if x.text == constant(float("nan"), x.dtype, x.lanes).text:
        return x
    wins = choose(b, fcmp(b, "ogt" if op == "max" else "olt", x, y), x, y)
    if not x.text.startswith("%"):
        return wins
    return choose(b, fcmp(b, "uno", x, x), x, wins)


def _float_mod(b: Builder, m: Module, x: SsaValue, y: SsaValue) -> SsaValue:
    """The remainder with the divisor's sign."""
    m.externals.add("fmodf" if x.dtype.bits == 32 else "fmod")
    rest = apply(b, "frem", x, y)
    zero = constant(0.0, x.dtype, x.lanes)
    nonzero = fcmp(b, "une", rest, zero)
    opposite = apply(b, "xor", fcmp(b, "olt", rest, zero), fcmp(b, "olt", y, zero))
    wrong = apply(b, "and", nonzero, opposite)
    return choose(b, wrong, apply(b, "fadd", rest, y), rest)


def _divide(b: Builder, op: str, x: SsaValue, y: SsaValue) -> SsaValue:
    """floordiv and mod of data. Divisors 0 and -1 are replaced: hardware traps on them."""
    zero = constant(0, x.dtype, x.lanes)
    one = constant(1, x.dtype, x.lanes)
    by_zero = compare(b, "eq", y, zero)
    safe = choose(b, by_zero, one, y)
    if x.dtype.kind == "uint":
        result = apply(b, "udiv" if op == "floordiv" else "urem", x, safe)
        return choose(b, by_zero, zero, result)
    minus = constant(-1, x.dtype, x.lanes)
    negated = compare(b, "eq", y, minus)
    safe = choose(b, negated, one, safe)
    quotient, rest = apply(b, "sdiv", x, safe), apply(b, "srem", x, safe)
    inexact = compare(b, "ne", rest, zero)
    opposite = compare(b, "lt", apply(b, "xor", rest, safe), zero)
    down = apply(b, "and", inexact, opposite)
    if op == "mod":
        result = choose(b, down, apply(b, "add", rest, safe), rest)
        return choose(b, by_zero, zero, choose(b, negated, zero, result))
    result = choose(b, down, apply(b, "sub", quotient, one), quotient)
    result = choose(b, negated, apply(b, "sub", zero, x), result)
    return choose(b, by_zero, zero, result)


def convert(b: Builder, x: SsaValue, to: DType) -> SsaValue:
    """A cast between compute dtypes; float to int truncates, anything to bool is `!= 0`."""
    if x.dtype == to:
        return x
    if to == BOOL:
        return compare(b, "ne", x, constant(0, x.dtype, x.lanes))
    signed = x.dtype.kind == "int"
    if x.dtype.is_float and not to.is_float and (to.kind == "uint" or to.bits < 32):
        return _whole(b, x, to)
    if x.dtype.is_float:
        how = (
            ("fpext" if to.bits > x.dtype.bits else "fptrunc")
            if to.is_float
            else ("fptosi" if to.kind == "int" else "fptoui")
        )
    elif to.is_float:
        how = "sitofp" if signed else "uitofp"
    elif x.dtype != BOOL and to.bits <= x.dtype.bits:
        if to.bits == x.dtype.bits:
            return SsaValue(x.text, to, x.lanes)
        how = "trunc"
    else:
        how = "sext" if signed else "zext"
    target = compute_type(to, x.lanes)
    return SsaValue(b.pure(f"{how} {x} to {target}", x.text), to, x.lanes)


def _whole(b: Builder, x: SsaValue, to: DType) -> SsaValue:
    """A float as an unsigned or a narrow integer, by a signed conversion to a wider one: what does
    not fit wraps around, as in NumPy, in vectors as one by one.
    """
    if to.bits <= 32:
        return convert(b, convert(b, x, DTYPES["int32"] if to.bits < 32 else INT64), to)
    half = constant(2.0**63, x.dtype, x.lanes)
    great = fcmp(b, "oge", x, half)
    low = convert(b, choose(b, great, apply(b, "fsub", x, half), x), INT64)
    high = choose(b, great, constant(-(2**63), INT64, x.lanes), constant(0, INT64, x.lanes))
    return convert(b, apply(b, "xor", low, high), to)


def neutral(op: str, dtype: DType, lanes: int) -> SsaValue:
    """The value that leaves a reduction as it is; an accumulator of max starts at -inf."""
    return constant(dtype.neutral(op), dtype, lanes)


REDUCE_OPS = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}


def combine(b: Builder, m: Module, op: str, x: SsaValue, y: SsaValue) -> SsaValue:
    """One step of a reduction."""
    return arithmetic(b, m, REDUCE_OPS[op], x, y)


def horizontal(b: Builder, m: Module, op: str, x: SsaValue) -> SsaValue:
    """All lanes reduced to one, by halves (so that the order is fixed and NaN passes)."""
    lanes = x.lanes
    while lanes > 1:
        half = lanes // 2
        kind = vector(compute_type(x.dtype), lanes)
        parts = []
        for start in (0, half):
            name = f"llvm.vector.extract.{mangled(compute_type(x.dtype, half))}.{mangled(kind)}"
            if half == 1:
                text = f"extractelement {kind} {x.text}, i64 {start}"
            else:
                out = compute_type(x.dtype, half)
                fn = m.declare(name, out, [kind, "i64"])
                text = f"call {out} {fn}({kind} {x.text}, i64 {start})"
            parts.append(SsaValue(b.pure(text, x.text), x.dtype, half))
        x = combine(b, m, op, parts[0], parts[1])
        lanes = half
    return x

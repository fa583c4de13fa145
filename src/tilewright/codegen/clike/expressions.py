"""Expressions as C text.

    x * 2 + 1.0    ->    x * 2.0f + 1.0f
    max(a, b)      ->    tw_max_float(a, b)          NaN goes through, as in the reference

Index arithmetic is `int` (`long` where a buffer needs it). Division rounds down: a helper where the
operands may be negative, `/` and `%` elsewhere. Helpers that a kernel uses are written before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import prod

import numpy as np

from tilewright.codegen.clike.dialect import Dialect
from tilewright.codegen.passes.size import BUDGET
from tilewright.expr.dtypes import DTYPES, DType
from tilewright.expr.index.intervals import Interval, interval, may_wrap
from tilewright.expr.nodes import (
    NARROWING,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    Var,
)
from tilewright.expr.traversal import PerNode, children, walk
from tilewright.ground.errors import BuildError
from tilewright.nest.gpu.swizzle import Swizzle

# Text and how tightly it binds in C.
INFIX = {
    "or": ("||", 1), "and": ("&&", 2), "eq": ("==", 3), "ne": ("!=", 3),
    "lt": ("<", 4), "le": ("<=", 4), "gt": (">", 4), "ge": (">=", 4),
    "add": ("+", 5), "sub": ("-", 5), "mul": ("*", 6), "div": ("/", 6),
}  # fmt: skip
OF_BOOLS = {"add": "or", "max": "or", "mul": "and", "min": "and"}
SELECT, UNARY, ATOM = 0, 7, 8
INT_MAX = 2**31 - 1

# Scalar helpers; T is the type, suffixed to the name.
HELPERS = {
    "max": "T tw_max_T(T a, T b) { return a > b || a != a ? a : b; }",
    "min": "T tw_min_T(T a, T b) { return a < b || a != a ? a : b; }",
    "floordiv": "T tw_floordiv_T(T a, T b) { if (b == 0) return 0; if (b == -1) return 0 - a; T q = a / b; return q - (a % b != 0 && (a < 0) != (b < 0)); }",  # noqa: E501
    "mod": "T tw_mod_T(T a, T b) { if (b == 0 || b == -1) return 0; T r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }",  # noqa: E501
}

DOT4 = (
    "int tw_dot4(int t, int a, int b) { int s = 0; for (int n = 0; n < 32; n += 8) "
    "s += (a >> n & 255) * (((b >> n & 255) ^ 128) - 128); "
    "return (int)((unsigned)t + (unsigned)s); }"
)
SWIZZLED = """\
HELPER int tw_swizzled(int at, int unit, int shift, int mask) {
    return at ^ (at >> shift & mask) << unit;
}
"""


def element_count(tensor: Tensor) -> int:
    """The product of a tensor's extents."""
    return prod(e for e in tensor.shape if isinstance(e, int))


def _chosen(e: Expr) -> tuple[Expr, ...]:
    """What of a node is made whatever a select chooses."""
    return (e.cond,) if isinstance(e, Select) else children(e)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor's elements are: its C name, address space, how indices become one, and what
    becomes of that in swizzled rows.
    """

    name: str
    space: str
    dtype: DType
    flat: Callable[[tuple[Expr, ...]], Expr]
    swizzle: Swizzle | None = None


@dataclass(slots=True)
class Expressions:
    """Writes expressions of one kernel. `helpers` collects the functions they need."""

    dialect: Dialect
    places: Mapping[str, Place]
    names: Mapping[str, str]
    ranges: Mapping[str, Interval]
    helpers: dict[str, str] = field(default_factory=dict)
    # Reads that a vector load brought already: (tensor, flat index) -> text.
    loaded: dict[tuple[str, Expr], str] = field(default_factory=dict)
    # Parts of the statement that are variables.
    parts: dict[Expr, str] = field(default_factory=dict)

    @contextmanager
    def naming(
        self, value: Expr, variable: Callable[[str, str], str], certain: bool = True
    ) -> Iterator[None]:
        """Where a statement's value would be long, what it uses again is a variable while it is
        written: `variable` declares one, of a type and a value, and gives its name.

        Reads in the branches of a select may lie outside of their buffers, all of them where the
        statement is not `certain`; what needs these is written in its place.
        """
        size = PerNode[int](lambda e, ask: 1 + sum(map(ask, children(e))))
        if size(value) > BUDGET.value:
            self._name_parts(value, variable, certain)
        yield
        self.parts.clear()

    def _name_parts(self, value: Expr, variable: Callable[[str, str], str], certain: bool) -> None:
        """First what is made whatever a select chooses; then, where all is one that gives a plain
        number else, what is made where its condition holds.
        """
        uses = Counter(id(c) for e in walk(value) for c in children(e))
        made: set[int] = set()
        tests: list[str] = []
        while True:
            if certain:
                made |= {id(e) for e in walk(value, _chosen)}
            name = PerNode(partial(self._name_part, uses, frozenset(made), variable, tests))
            name(value)
            if not (isinstance(value, Select) and certain and not children(value.b)):
                return
            tests.append(self.text(value.cond, 3))
            value = value.a

    def _name_part(
        self,
        uses: Mapping[int, int],
        made: frozenset[int],
        variable: Callable[[str, str], str],
        tests: Sequence[str],
        e: Expr,
        ask: Callable[[Expr], bool],
    ) -> bool:
        """Whether all that `e` reads is `made` where the tests hold; if so, it gets a name where it
        is used again.
        """
        if e in self.parts:
            return True
        operands = list(map(ask, children(e)))
        safe = all(operands) and (id(e) in made or not isinstance(e, Read))
        if safe and uses[id(e)] > 1 and children(e) and not isinstance(e, Read):
            kind = self.type_of(e.dtype)
            text = self.text(e, 1)
            held = f"{' && '.join(tests)} ? {text} : ({kind})0" if tests else self.text(e)
            self.parts[e] = variable(kind, held)
        return safe

    def text(self, e: Expr, least: int = 0) -> str:
        """The expression; in parentheses where it binds less tightly than `least`."""
        text, level = self._text(e)
        return text if level >= least else f"({text})"

    def _text(self, e: Expr) -> tuple[str, int]:
        if self.parts and e in self.parts:
            return self.parts[e], ATOM
        match e:
            case Const():
                text = self.literal(e)
                return text, UNARY if text.startswith("-") else ATOM
            case Var(name):
                return self.names[name], ATOM
            case Read():
                return self.load(e), ATOM
            case Binary():
                return self.binary(e)
            case Call(fn, args):
                return self.call(fn, args, e.dtype)
            case Cast(to, x):
                return self.cast(to.compute, x)
            case Select(cond, a, b):
                branches = f"{self.text(a, 1)} : {self.text(b)}"
                return f"{self.text(cond, 1)} ? {branches}", SELECT
            case Reduce():
                raise BuildError("a nest has loops and updates, not reductions in a value")

    def type_of(self, dtype: DType) -> str:
        """The C type of a computed value."""
        return "int" if dtype.name == "bool" else self.dialect.storage(dtype.compute)

    def literal(self, e: Const) -> str:
        """A number of the compute type."""
        if not e.dtype.is_float:
            whole = int(e.value)
            if whole < 0 and whole == -(1 << (e.dtype.bits - 1)) and e.dtype.bits >= 32:
                return f"({self.literal(Const(whole + 1, e.dtype))} - 1)"  # C has no literal of it
            return str(whole) if abs(whole) <= INT_MAX else f"{whole}L"
        value = float(e.value)
        if value != value:
            return "NAN"
        if value in (float("inf"), float("-inf")):
            return "INFINITY" if value > 0 else "-INFINITY"
        if e.dtype.compute.name == "float64":
            return repr(value)
        text = repr(float(np.float32(value)))
        short = str(np.float32(value))
        return f"{short if 'e' in short or '.' in short else text}f"

    # ---- operations -------------------------------------------------------------------------

    def binary(self, e: Binary) -> tuple[str, int]:
        kind = e.a.dtype.compute
        if kind.name == "bool" and e.op in OF_BOOLS:
            return self._infix(OF_BOOLS[e.op], e)
        if e.op in ("min", "max"):
            return f"{self.helper(e.op, kind)}({self.text(e.a)}, {self.text(e.b)})", ATOM
        if e.op in ("floordiv", "mod"):
            return self.division(e, kind)
        if e.op == "div" and not kind.is_float:
            raise BuildError(f"integers are divided by //, not /: {e}")
        return self._infix(e.op, e)

    def _infix(self, op: str, e: Binary) -> tuple[str, int]:
        if op in ("add", "sub", "mul") and self.wraps(e):
            return self.wrapped(op, e)
        sign, level = INFIX[op]
        # `-` and `/` group from the left; comparisons do not chain.
        left = self.text(e.a, level + 1 if level in (3, 4) else level)
        return f"{left} {sign} {self.text(e.b, level + 1)}", level

    def wraps(self, e: Binary) -> bool:
        """Whether C's int arithmetic could differ from what the type does: indices are no data."""
        kind = e.dtype.compute
        if kind.kind not in ("int", "uint"):
            return False
        return kind.name != "int64" or may_wrap(e)

    def wrapped(self, op: str, e: Binary) -> tuple[str, int]:
        """Arithmetic of integers that wrap around: C does so for unsigned ones only."""
        kind = e.dtype.compute
        unsigned = self.dialect.unsigned(kind)
        a, b = (f"({unsigned}){self.text(x, UNARY)}" for x in (e.a, e.b))
        return f"({self.type_of(kind)})({a} {INFIX[op][0]} {b})", UNARY

    def division(self, e: Binary, kind: DType) -> tuple[str, int]:
        if kind.is_float:
            floor = self.dialect.function("floor", kind)
            quotient = f"{floor}({self.text(e.a, 6)} / {self.text(e.b, 7)})"
            if e.op == "floordiv":
                return quotient, ATOM
            return f"{self.text(e.a, 5)} - {quotient} * {self.text(e.b, 7)}", 5
        a, b = interval(e.a, self.ranges), interval(e.b, self.ranges)
        if a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo > 0:
            sign = "/" if e.op == "floordiv" else "%"
            return f"{self.text(e.a, 6)} {sign} {self.text(e.b, 7)}", 6
        return f"{self.helper(e.op, kind)}({self.text(e.a)}, {self.text(e.b)})", ATOM

    def call(self, fn: str, args: tuple[Expr, ...], dtype: DType) -> tuple[str, int]:
        kind = args[0].dtype.compute
        texts = [self.text(a) for a in args]
        match fn:
            case "neg" if not kind.is_float:
                zero = Const(0, kind)
                return self.binary(Binary("sub", zero, args[0]))
            case "neg":
                return f"-{self.text(args[0], UNARY + 1)}", UNARY
            case "not":
                return f"!{self.text(args[0], UNARY)}", UNARY
            case "isnan":
                x = self.text(args[0], 5)
                return f"{x} != {x}", 3
            case "isinf":
                x = self.dialect.function("abs", kind)
                return f"{x}({texts[0]}) == INFINITY", 3
            case "sigmoid":
                one = "1.0" if kind.name == "float64" else "1.0f"
                x = self.text(args[0], UNARY + 1)
                return f"{one} / ({one} + {self.dialect.function('exp', kind)}(-{x}))", 6
            case "abs" if not kind.is_float:
                x = self.text(args[0], UNARY)
                return f"({self.type_of(kind)})({x} < 0 ? -{x} : {x})", UNARY
            case "sortable":
                return f"{self.sortable(kind)}({texts[0]})", ATOM
            case "dot4":
                self.helpers["tw_dot4"] = f"{self.dialect.helper} {DOT4}"
                return f"tw_dot4({', '.join(texts)})", ATOM
            case _ if fn in NARROWING:
                self.helpers[f"tw_{fn}"] = self.dialect.narrow_rounding(DTYPES[fn])
                return f"tw_{fn}({texts[0]})", ATOM
        return f"{self.dialect.function(fn, kind)}({', '.join(texts)})", ATOM

    def cast(self, to: DType, x: Expr) -> tuple[str, int]:
        if to.name == "bool":
            return f"{self.text(x, 5)} != 0", 3
        if to == x.dtype.compute:
            return self._text(x)
        return f"({self.type_of(to)}){self.text(x, UNARY)}", UNARY

    def sortable(self, kind: DType) -> str:
        """The name of the function that gives a float's bits in their order, noted as needed."""
        integer = DTYPES[f"int{kind.bits}"]
        name, to, of = f"tw_sortable_{kind.name}", self.type_of(integer), self.type_of(kind)
        greatest = f"({to}){integer.neutral('min')}{'' if kind.bits == 32 else 'LL'}"
        self.helpers[name] = (
            f"{self.dialect.helper} {to} {name}({of} x) {{ union {{ {of} f; {to} i; }} u; "
            f"u.f = x == 0 ? 0 : x; return x != x ? {greatest} : "
            f"u.i < 0 ? u.i ^ {greatest} : u.i; }}"
        )
        return name

    def helper(self, name: str, kind: DType) -> str:
        """The name of a helper function, noted as needed."""
        c_type = self.type_of(kind)
        if kind.name == "int64" and name in ("floordiv", "mod"):
            c_type = self.dialect.storage(kind)
        suffix = c_type.replace(" ", "_")
        full = f"tw_{name}_{suffix}"
        if full not in self.helpers:
            text = HELPERS[name].replace(f"tw_{name}_T", full)
            body = text.replace("T a", f"{c_type} a").replace("T b", f"{c_type} b")
            body = body.replace("T q", f"{c_type} q").replace("T r", f"{c_type} r")
            self.helpers[full] = f"{self.dialect.helper} {c_type}{body[1:]}"
        return full

    # ---- memory -----------------------------------------------------------------------------

    def load(self, read: Read) -> str:
        """One element in its compute type."""
        place = self.place(read.tensor.name)
        index = place.flat(read.indices)
        known = self.loaded.get((read.tensor.name, index))
        return known if known is not None else self.element(place, self.at(place, index))

    def at(self, place: Place, index: Expr) -> str:
        """A flat index as the text that finds the element."""
        if place.swizzle is None:
            return self.text(index)
        self.helpers["tw_swizzled"] = SWIZZLED.replace("HELPER", self.dialect.helper)
        s = place.swizzle
        return f"tw_swizzled({self.text(index)}, {s.unit}, {s.shift}, {s.mask})"

    def place(self, tensor: str) -> Place:
        if tensor not in self.places:
            raise BuildError(f"{tensor} is not declared here")
        return self.places[tensor]

    def element(self, place: Place, index: str) -> str:
        """The element at a flat index, converted from how it is stored."""
        if place.dtype.name in NARROWING:
            return self.dialect.narrow_load(place.dtype, place.name, place.space, index)
        return f"{place.name}[{index}]"

    def assignment(self, place: Place, index: str, value: str) -> str:
        """A statement that stores a value of the compute type."""
        if place.dtype.name in NARROWING:
            return self.dialect.narrow_store(place.dtype, place.name, place.space, index, value)
        return f"{place.name}[{index}] = {value};"

"""Index arithmetic while code is written: linear forms over SSA values.

Every loop variable is bound to a `Affine` over SSA names: a number when its loop is unrolled, a
counter when it runs, a counter plus the pseudo name LANE when it is vectorised. Resolving an
access is then integer arithmetic on coefficients; only what remains becomes instructions, each at
the loop level where its operands exist.

    y.0*28 + y.3, with y.0 -> %i4 and y.3 -> 2    resolves to    28*%i4 + 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby

from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.types import SsaValue
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.index.facts import LinearFacts
from tilewright.expr.index.intervals import (
    UNBOUNDED,
    Interval,
    add,
    compare,
    floordiv,
    maximum,
    may_wrap,
    minimum,
    multiply,
    point,
    scale,
)
from tilewright.expr.nodes import ARITHMETIC, Binary, Const, Expr, Select, Var
from tilewright.expr.traversal import PerNode, conjuncts, free_vars, holds_data, reads
from tilewright.nest.nodes import For

LANE = "lane"
SCALES = (1, 2, 4, 8)


def wraps(e: Expr) -> bool:
    """Whether an operation on int64 has to be done on data as the type has it: a sum that may wrap
    around is divided or compared, or data divide.
    """
    match e:
        case Binary("min" | "max", a, b):
            return may_wrap(a) or may_wrap(b)
        case Binary("floordiv" | "mod", a, b):
            return may_wrap(a) or holds_data(b) or (holds_data(a) and not _is_positive(b))
    return False


def _is_positive(e: Expr) -> bool:
    return isinstance(e, Const) and e.value > 0


class Indexer:
    """Resolves index expressions under the bindings `env` of loop variables.

    `scalar` evaluates an expression that is not index arithmetic (a table read, a cast) to a
    value, for which `context` matters besides the bindings; they are given by the evaluator of
    values, who also says how long forms are `known` (None: they are few, and not remembered). While
    `dry` (a scan looks ahead, some variables are unbound), such expressions count as not linear.

    `facts` are what conditions around say of sizes and of loops that run, None in a program without
    sizes; loops that are written out are numbers in them.
    """

    def __init__(self, b: Builder, forms: AffineForms, env: dict[str, Affine]) -> None:
        self.b = b
        self.forms = forms
        self.env = env
        self.dry = False
        self.free = PerNode(lambda e, _: tuple(sorted(free_vars(e))))
        self._decided: dict[object, tuple[bool | None, LinearFacts | None]] = {}
        self.known: dict[object, Affine | None] | None = None
        self.facts: LinearFacts | None = None
        self.scalar: Callable[[Expr], SsaValue]
        self.context: Callable[[Expr], object]

    @property
    def ranges(self) -> Mapping[str, Interval]:
        """Bounds of SSA names and of LANE."""
        return self.b.ranges

    # ---- resolving --------------------------------------------------------------------------

    def resolve(self, form: Affine) -> Affine | None:
        """A form over loop variables as one over SSA names; None where lanes break linearity."""
        values = {}
        for name, _ in form.terms:
            value = self.env.get(name) or self._opaque(name)
            if value is None:
                return None
            values[name] = value
        return form.replaced(values)

    def _opaque(self, name: str) -> Affine | None:
        """What an index expression that is not linear is here. Worked out once for equal bindings
        of its variables, as long as the instructions that this took can be used.
        """
        if name not in self.forms.opaque:
            return None
        e = self.forms.opaque[name]
        key = (name, self.bindings(e))
        found: Affine | None = self.b.recall(key)
        if found is None:
            found = self.of(e)
            if found is not None and not reads(e):
                self.remember(key, found, *(name for name, _ in found.terms))
        return found

    def remember(self, key: object, value: object, *names: str) -> None:
        """Keep what consists of these names as long as they can be used. Where something is known
        of sizes it may have decided the value, so that this is one here alone.
        """
        depth = self.b.depth_of(*names) if self.facts is None else self.b.innermost
        self.b.remember(key, value, depth)

    def bindings(self, e: Expr) -> object:
        """All that what is known of an expression depends on."""
        return tuple(map(self.env.get, self.free(e))), self.ranges.get(LANE), self.dry

    def of(self, e: Expr) -> Affine | None:
        """The linear form of an int64 expression; None where lanes break linearity."""
        if self.known is None or isinstance(e, Const | Var):
            return self._of(e)
        key = (id(e), self.bindings(e), self.context(e))  # `free` keeps the node
        if key not in self.known:
            self.known[key] = self._of(e)
        return self.known[key]

    def _of(self, e: Expr) -> Affine | None:
        match e:
            case Const(value, _):
                return Affine(int(value))
            case Var(name, _):
                return self.env.get(name)
            case Binary(op, a, b) if op in ARITHMETIC and not wraps(e):
                left, right = self.of(a), self.of(b)
                if left is None or right is None:
                    return None
                return self._binary(op, left, right)
            case Select(cond, a, b):
                known = self.decide(cond)
                if known is not None:
                    return self.of(a if known else b)
        if self.dry:
            return None
        data = self.scalar(e)
        return None if data.lanes > 1 else self._atom(data.text)

    def _binary(self, op: str, a: Affine, b: Affine) -> Affine | None:
        match op:
            case "add":
                return a.plus(b)
            case "sub":
                return a.plus(b, -1)
            case "mul" if not b.terms:
                return a.times(b.const)
            case "mul" if not a.terms:
                return b.times(a.const)
            case "floordiv" if not b.terms and b.const > 0:
                return self.quotient(a, b.const)
            case "mod" if not b.terms and b.const > 0:
                quotient = self.quotient(a, b.const)
                return None if quotient is None else a.plus(quotient, -b.const)
            case "min" | "max":
                return self.extreme(op, a, b)
        return self._general(op, a, b)

    def _general(self, op: str, a: Affine, b: Affine) -> Affine | None:
        """A product of two forms, or a division by a value that is not a literal."""
        if a.coefficient(LANE) or b.coefficient(LANE):
            return None
        x, y = self.operand(a), self.operand(b)
        if op == "mul":
            reach = multiply(a.bounds(self.ranges), b.bounds(self.ranges))
            return self._atom(self.b.pure(f"mul i64 {x}, {y}", x, y), reach)
        quotient = self._divide(x, y)
        if op == "floordiv":
            return self._atom(quotient)
        product = self.b.pure(f"mul i64 {quotient}, {y}", quotient, y)
        return a.plus(self._atom(product), -1)

    def _divide(self, x: str, y: str) -> str:
        """Floor division of two i64 of any sign."""
        b = self.b
        q = b.pure(f"sdiv i64 {x}, {y}", x, y)
        r = b.pure(f"srem i64 {x}, {y}", x, y)
        inexact = b.pure(f"icmp ne i64 {r}, 0", r)
        signs = b.pure(f"xor i64 {r}, {y}", r, y)
        opposite = b.pure(f"icmp slt i64 {signs}, 0", signs)
        down = b.pure(f"and i1 {inexact}, {opposite}", inexact, opposite)
        return b.pure(f"add i64 {q}, {b.pure(f'sext i1 {down} to i64', down)}", q, down)

    def quotient(self, a: Affine, d: int) -> Affine | None:
        """`a // d`: multiples of d leave the division, the rest may vanish by its bounds."""
        whole = Affine(0, tuple((n, k // d) for n, k in a.terms if k % d == 0))
        rest = Affine(a.const % d, tuple((n, k) for n, k in a.terms if k % d))
        whole = whole.shifted(a.const // d)
        reach = rest.bounds(self.ranges)
        if reach.lo is not None and reach.hi is not None and reach.lo // d == reach.hi // d:
            return whole.shifted(reach.lo // d)
        if rest.coefficient(LANE):
            return None
        x = self.operand(rest)
        if reach.lo is not None and reach.lo >= 0:
            q = self.b.pure(f"udiv i64 {x}, {d}", x)
        elif d & (d - 1) == 0:
            q = self.b.pure(f"ashr i64 {x}, {d.bit_length() - 1}", x)
        else:
            q = self._divide(x, str(d))
        return whole.plus(self._atom(q, floordiv(reach, point(d))))

    def extreme(self, op: str, a: Affine, b: Affine) -> Affine | None:
        """`min(a, b)` or `max(a, b)`; None where it varies with the lanes."""
        gap = a.plus(b, -1).bounds(self.ranges)
        if gap.lo is not None and gap.lo >= 0:
            return a if op == "max" else b
        if gap.hi is not None and gap.hi <= 0:
            return b if op == "max" else a
        if a.coefficient(LANE) or b.coefficient(LANE):
            return None
        x, y = self.operand(a), self.operand(b)
        name = self.b.pure(f"call i64 @llvm.s{op}.i64(i64 {x}, i64 {y})", x, y)
        rule = minimum if op == "min" else maximum
        return self._atom(name, rule(a.bounds(self.ranges), b.bounds(self.ranges)))

    def _atom(self, name: str, reach: Interval | None = None) -> Affine:
        if name.lstrip("-").isdigit():
            return Affine(int(name))
        if reach is not None:
            self.b.ranges[name] = reach
        return Affine(0, ((name, 1),))

    # ---- conditions -------------------------------------------------------------------------

    def decide(self, cond: Expr) -> bool | None:
        """Whether a condition is known to hold here, by bounds."""
        key = (id(cond), self.bindings(cond), id(self.facts))  # `free` keeps the node
        if key not in self._decided:
            self._decided[key] = self._decide(cond), self.facts
        return self._decided[key][0]

    def _decide(self, cond: Expr) -> bool | None:
        match cond:
            case Const(value, _):
                return bool(value)
            case Binary("and" | "or" as op, a, b):
                left, right = self.decide(a), self.decide(b)
                ends = op == "or"
                if left is ends or right is ends:
                    return ends
                return left if left is right else None
            case Binary(op, _, _):
                difference = self.forms.difference(cond)
                return None if difference is None else self._compared(op, difference)
        return None

    def _compared(self, op: str, difference: Affine) -> bool | None:
        known, here = None, self.resolve(difference)
        if here is not None:
            stride = here.stride()
            if op in ("eq", "ne") and stride > 1 and here.const % stride:
                return op == "ne"
            known = compare(op, here.bounds(self.ranges)).value
        if known is None and self.facts is not None:
            form = self._placed(difference)
            around = self.facts.bounds(form.without(LANE))
            lanes = scale(self.ranges.get(LANE, UNBOUNDED), form.coefficient(LANE))
            known = compare(op, add(around, lanes)).value
        return None if known is None else known == 1

    def _placed(self, form: Affine) -> Affine:
        """A form over the variables that are no numbers here."""
        total = Affine(form.const)
        for name, k in form.terms:
            value = self.env.get(name)
            is_number = value is not None and all(n == LANE for n, _ in value.terms)
            total = total.plus(value if value and is_number else Affine(0, ((name, 1),)), k)
        return total

    @contextmanager
    def assuming(self, *conds: Expr, loop: For | None = None) -> Iterator[None]:
        """Inside of conditions, and of a loop that runs."""
        before, known = self.facts, self.facts
        if known is not None:
            if loop is not None:
                assert isinstance(loop.extent, int)
                known = known.loop(loop.var, loop.extent)
            for form in (f for c in conds for x in conjuncts(c) if (f := self.forms.condition(x))):
                known = known.assume(self._placed(form))
        self.facts = known
        yield
        self.facts = before

    # ---- instructions -----------------------------------------------------------------------

    def operand(self, form: Affine) -> str:
        """The form as an i64 operand, outer levels first."""
        form = form.wrapped()
        total = ""
        for _, group in self._levels(form):
            total = self._sum(total, group)
        if not total:
            return str(form.const)
        if form.const == 0:
            return total
        return self.b.pure(f"add i64 {total}, {form.const}", total)

    def _levels(self, form: Affine) -> list[tuple[int, list[tuple[str, int]]]]:
        """Terms grouped by the depth at which they exist, outermost first."""
        depth = self.b.depth
        terms = sorted(form.terms, key=lambda t: depth.get(t[0], 0))
        return [(d, list(g)) for d, g in groupby(terms, key=lambda t: depth.get(t[0], 0))]

    def _sum(self, total: str, terms: list[tuple[str, int]]) -> str:
        for name, k in terms:
            term = name if k == 1 else self.scaled(name, k)
            total = self.b.pure(f"add i64 {total}, {term}", total, term) if total else term
        return total

    def scaled(self, name: str, k: int) -> str:
        """`name * k`; the innermost loop's counter gets a value that advances by k."""
        if self.b.is_inner_counter(name):
            return self.b.induction(name, k)
        return self.b.pure(f"mul i64 {name}, {k}", name)

    def pointer(self, base: str, form: Affine, size: int) -> str:
        """`base + form` elements of `size` bytes: one address a loop level, then a constant."""
        at = base
        for _, terms in self._levels(form):
            if len(terms) == 1 and terms[0][1] in SCALES and size in SCALES:
                name, k = terms[0]
                if k * size in SCALES:
                    step = f"getelementptr i{k * size * 8}, ptr {at}, i64 {name}"
                    at = self.b.pure(step, at, name)
                    continue
            offset = self._sum("", [(name, k * size) for name, k in terms])
            at = self.b.pure(f"getelementptr i8, ptr {at}, i64 {offset}", at, offset)
        if form.const == 0:
            return at
        return self.b.local(f"getelementptr i8, ptr {at}, i64 {form.const * size}")

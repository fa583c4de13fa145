"""Expressions to values: the right-hand sides of stores.

What does not depend on the vector variable stays scalar and is broadcast where it meets a vector,
so an operand shared by a row of a register tile is loaded and broadcast once.

    C[m] += A[m, k] * B[k, lane]    a: load float   splat(a)   b: load <16 x float>   fma
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from math import prod

from tilewright.codegen.lanes import VectorLanes, chunks
from tilewright.codegen.llvm.addresses import Buffer, Emitter, splat
from tilewright.codegen.llvm.arithmetic import (
    apply,
    arithmetic,
    choose,
    combine,
    compare,
    convert,
    fma,
    intrinsic,
    invert,
    rounded_quotient,
    scaled_reciprocal,
)
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.dots import Dots, dot_product, factors_of
from tilewright.codegen.llvm.exposure import Exposure, GuardLevel, recurs
from tilewright.codegen.llvm.indices import LANE, Indexer, wraps
from tilewright.codegen.llvm.machine import features as machine_features
from tilewright.codegen.llvm.mathematics import MathLibrary
from tilewright.codegen.llvm.memory import Memory
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.quotients import reciprocal_of
from tilewright.codegen.llvm.registers import Registers
from tilewright.codegen.llvm.rounded import INT32, Rounded
from tilewright.codegen.llvm.types import SsaValue, constant, iota
from tilewright.expr.access import is_step
from tilewright.expr.dtypes import BOOL, FLOAT32, INT64
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.index.intervals import Interval, interval
from tilewright.expr.nodes import (
    ARITHMETIC,
    COMPARISONS,
    LOGICAL,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Read,
    Select,
    Tensor,
    Var,
    as_expr,
)
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import Table
from tilewright.expr.traversal import PerNode, children, reads
from tilewright.ground.errors import BuildError
from tilewright.nest.nodes import For, Store
from tilewright.target import CpuTarget

UNGUARDED = GuardLevel(None, frozenset())


class Evaluator:
    """Writes the instructions of expressions at the current point of a function."""

    def __init__(
        self, b: Builder, m: Module, target: CpuTarget, forms: AffineForms, env: dict[str, Affine]
    ) -> None:
        self.b, self.m, self.forms = b, m, forms
        self.vector_bits = target.vector_bits
        self.features = features = machine_features(target)
        self.ix = ix = Indexer(b, forms, env)
        self.memory = Memory(Emitter(b, ix, m, features, target))
        self.math = MathLibrary(b, m, features)
        self.registers = Registers()
        self.buffers: dict[str, Buffer] = {}
        self.lanes: VectorLanes | None = None
        self.guard: SsaValue | None = None
        self.exact = False  # a step follows: one bit of an operand may decide its result
        self.target = target
        self.dot: Dots | None = None
        self.is_read = PerNode[bool](
            lambda e, ask: isinstance(e, Read) or any(map(ask, children(e)))
        )
        self._recurs = PerNode(lambda e, _: recurs(e))
        self._values: dict[object, SsaValue] | None = None
        self._exposure = Exposure(self._exists)
        self._levels: tuple[GuardLevel, ...] = (UNGUARDED,)
        self._forms: dict[int, tuple[object, Affine]] = {}
        self._numbers: dict[int, tuple[object, Affine]] = {}
        self._chunks: dict[int, tuple[For, list[tuple[int, VectorLanes]]]] = {}
        ix.scalar, ix.context = self.value, lambda e: self._allowed(e)[-1].guard

    # ---- lanes ------------------------------------------------------------------------------

    def chunks(self, node: For) -> list[tuple[int, VectorLanes]]:
        """The vectors of a vector loop (kept for each node)."""
        hit = self._chunks.get(id(node))
        if hit is None:
            hit = self._chunks[id(node)] = (node, list(chunks(node, self.vector_bits)))
        return hit[1]

    def enter_lanes(self, lanes: VectorLanes, start: int) -> None:
        """From now on the loop variable of `lanes` is `start` + LANE."""
        self.lanes = lanes
        self.ix.env[lanes.var] = Affine(start, ((LANE, 1),))
        self.b.ranges[LANE] = Interval(0, lanes.active - 1)

    # ---- accesses ---------------------------------------------------------------------------

    def form(self, node: object, tensor: Tensor, indices: tuple[Expr, ...]) -> Affine:
        """Where an access lies, in elements, over loop variables (kept for each node)."""
        hit = self._forms.get(id(node))
        if hit is None:
            form = self.buffers[tensor.name].flat(self.forms, indices)
            hit = self._forms[id(node)] = (node, form)
        return hit[1]

    def number_of(
        self, node: object, tensor: Tensor, indices: tuple[Expr, ...], at: Affine
    ) -> Affine:
        """The number of the element at `at`, which tells it from others where sizes say how far it
        is from them.
        """
        buffer = self.buffers[tensor.name]
        if not buffer.pitches:
            return at
        hit = self._numbers.get(id(node))
        if hit is None:
            form = buffer.number(self.forms, indices)
            hit = self._numbers[id(node)] = (node, form)
        found = self.ix.resolve(hit[1])
        assert found is not None, "what is linear is so at its most"
        return found

    def kept(self, e: Read, at: Affine) -> SsaValue | None:
        """The value in a register of what `e` reads at `at`, None where it is in memory."""
        name = e.tensor.name
        if name not in self.registers.tensors:
            return None
        return self.registers.get(name, self.number_of(e, e.tensor, e.indices, at))

    def element_numbers(self, tensor: Tensor, indices: tuple[Expr, ...]) -> SsaValue:
        """Element numbers of an access that is not linear in the lanes: a vector of i64."""
        buffer = self.buffers[tensor.name]
        total = self.index(Affine(0))
        strides = buffer.pitches or buffer.strides
        for e, start, stride in zip(indices, buffer.offset, strides, strict=True):
            origin = self.ix.resolve(start)
            if origin is None:
                raise BuildError(f"the window of {tensor.name} starts at a vectorised index")
            here = self.pair("sub", self.value(e), self.index(origin))
            scaled = self.pair("mul", here, self.value(as_expr(stride)))
            total = self.pair("add", total, scaled)
        return self.widen(total)

    def each_lane(self, e: Read, lanes: VectorLanes) -> tuple[Affine, list[int]] | None:
        """The element that the first lane reads, and how many further each lane's is; None where
        that is not known here, or data decide.
        """
        if any(map(self.is_read, e.indices)):
            return None
        env, form = self.ix.env, self.form(e, e.tensor, e.indices)
        bound, first, apart = env[lanes.var], None, []
        try:
            for lane in range(lanes.active):
                env[lanes.var] = bound.without(LANE).shifted(lane)
                at = self.ix.resolve(form)
                first = first or at
                between = None if at is None or first is None else at.plus(first, -1)
                if between is None or between.terms:
                    return None
                apart.append(between.const)
        finally:
            env[lanes.var] = bound
        return None if first is None else (first, apart)

    def read(self, e: Read, guard: SsaValue | None) -> SsaValue:
        """The element(s) read; zero where `guard` is false and the address may be out of range."""
        number = self.number(e)
        if number is not None:
            return constant(number, e.dtype.compute)
        at = self.ix.resolve(self.form(e, e.tensor, e.indices))
        if at is None:
            assert self.lanes is not None
            buffer = self.buffers[e.tensor.name]
            known = self.each_lane(e, self.lanes)
            found = known and self.memory.pick(buffer, *known, self.lanes, guard)
            if found is not None:
                return found
            numbers = self.element_numbers(e.tensor, e.indices)
            return self.memory.gather(buffer, numbers, self.lanes, guard)
        kept = self.kept(e, at)
        if kept is not None:
            return kept
        return self.memory.load(self.buffers[e.tensor.name], at, self.lanes, guard)

    def number(self, e: Expr) -> float | None:
        """The element that `e` reads, if it is a table's and which one is known here."""
        if not isinstance(e, Read) or not isinstance(e.tensor.source, Table):
            return None
        at = self.ix.resolve(self.form(e, e.tensor, e.indices))
        values = e.tensor.source.values.reshape(-1)
        if at is None or at.terms or not 0 <= at.const < len(values):
            return None
        return float(values[at.const])

    # ---- expressions ------------------------------------------------------------------------

    @contextmanager
    def statement(self, e: Expr) -> Iterator[None]:
        """Inside is a statement of which `e` is the value. Where parts of it stand in several
        places, each is written once.
        """
        if self._recurs(e):
            self._values, self.ix.known = {}, {}
            self._exposure = Exposure(self._exists)
            self._levels = (GuardLevel(self.guard, self._exposure.certain(e)),)
        yield
        self._values = self.ix.known = None

    def value(self, e: Expr) -> SsaValue:
        """The value of an expression: one lane where it does not depend on the lanes."""
        return self._value(e) if self._values is None else self._once(e, self._value)

    def _once(self, e: Expr, make: Callable[[Expr], SsaValue]) -> SsaValue:
        """A value that was made before in this statement, for equal bindings and under the same
        guard, or a new one, under the weakest guard that all its reads allow.
        """
        if self._values is None or isinstance(e, Const | Var):
            return make(e)
        levels = self._allowed(e)
        guard = levels[-1].guard
        key = (id(e), self.ix.bindings(e), self.exact, guard)  # `ix.free` keeps the node
        found = self._values.get(key)
        if found is None:
            before = self._levels, self.guard
            self._levels, self.guard = levels, guard
            found = self._values[key] = make(e)
            self._levels, self.guard = before
        return found

    def _allowed(self, e: Expr) -> tuple[GuardLevel, ...]:
        """The guards around `e` up to the first under which all its reads are made."""
        exposed = self._exposure.exposed(e)
        if not exposed:
            return (UNGUARDED,)
        for n, level in enumerate(self._levels):
            if exposed <= level.certain:
                return self._levels[: n + 1]
        return self._levels

    def _exists(self, e: Read) -> bool:
        """Whether a read names an element whatever a guard says."""
        buffer = self.buffers.get(e.tensor.name)
        if buffer is None:  # a scan of a region comes by before its storage is there
            return False
        if not any(map(self.is_read, e.indices)):
            at = self.ix.resolve(self.form(e, e.tensor, e.indices))
            return at is not None and self.memory.emitter.in_bounds(buffer, at)
        reach = zip(map(interval, e.indices), static_shape(e.tensor), strict=True)
        whole = not buffer.pitches and all(start == Affine(0) for start in buffer.offset)
        return whole and all(i.within(0, extent - 1) for i, extent in reach)

    def _value(self, e: Expr) -> SsaValue:
        if e.dtype == INT64 and not isinstance(e, Const):
            form = self._index_form(e)
            if form is not None:
                return self.index(form)
        match e:
            case Const(number, dtype):
                return constant(number, dtype.compute)
            case Read():
                return self.read(e, self.guard)
            case Binary():
                with self.exactly(is_step(e)):
                    return self._binary(e)
            case Call(fn, args):
                with self.exactly(is_step(e)):
                    return self._call(fn, args)
            case Cast(to, x):
                rounded = self._rounded(e)
                if rounded is not None:
                    return convert(self.b, rounded, to.compute)
                with self.exactly(is_step(e)):
                    return convert(self.b, self.value(x), to.compute)
            case Select():
                return self._select(e)
        raise BuildError(f"{type(e).__name__} cannot stand inside a statement")

    def _rounded(self, e: Cast) -> SsaValue | None:
        """The integer that a float is rounded to, or that is widened after, in 32 bits."""
        whole = None
        if self.features.x86 and self.features.rounding:
            whole = Rounded.of(e) or Rounded.of(e.x)
        if whole is None or (whole.to != e.dtype and not (whole.is_in_range and e.dtype == INT32)):
            return None
        with self.exactly(True):
            x = self.value(whole.value)
        return whole.integer(self.b, self.m, x) if x.lanes > 1 else None

    def _index_form(self, e: Expr) -> Affine | None:
        """The linear form of index arithmetic; None for data (reads, casts, calls)."""
        match e:
            case Var():
                return self.ix.env[e.name]
            case Binary(op, _, _) if op in ARITHMETIC and not wraps(e):
                return self.ix.of(e)
            case Select(cond, _, _) if self.ix.decide(cond) is not None:
                return self.ix.of(e)
        return None

    def index(self, form: Affine) -> SsaValue:
        """A resolved form as an i64 value, a vector where LANE occurs."""
        stride = form.coefficient(LANE)
        base = SsaValue(self.ix.operand(form.without(LANE)), INT64)
        if stride == 0:
            return base
        assert self.lanes is not None
        steps = SsaValue(iota(self.lanes.count), INT64, self.lanes.count)
        if stride != 1:
            steps = apply(self.b, "mul", steps, constant(stride, INT64, self.lanes.count))
        return apply(self.b, "add", self.widen(base), steps)

    def widen(self, value: SsaValue, lanes: int | None = None) -> SsaValue:
        """The value in all lanes of the current statement."""
        count = lanes or (self.lanes.count if self.lanes else 1)
        if value.lanes == count:
            return value
        return SsaValue(splat(self.b, value, count), value.dtype, count)

    def matched(self, *values: SsaValue) -> list[SsaValue]:
        """Operands brought to the same lanes."""
        count = max(v.lanes for v in values)
        return [self.widen(v, count) for v in values]

    def pair(self, op: str, x: SsaValue, y: SsaValue) -> SsaValue:
        """Arithmetic on values of possibly different lanes."""
        x, y = self.matched(x, y)
        return arithmetic(self.b, self.m, op, x, y)

    def _binary(self, e: Binary) -> SsaValue:
        if e.op in COMPARISONS or e.op in LOGICAL:
            return self.condition(e)
        x, y = self.value(e.a), self.value(e.b)
        common = x.lanes > 1 and y.lanes == 1 and y.dtype == FLOAT32
        if e.op == "div" and common and (self.features.fma or not self.exact):
            parts = reciprocal_of(e.b.value) if self.exact and isinstance(e.b, Const) else None
            if parts is not None:
                return self._times(x, *parts)
            f, reciprocal = scaled_reciprocal(self.b, self.m, y)
            scaled = self.pair("mul", x, f)
            near = self.pair("mul", scaled, reciprocal)
            if not self.exact:
                return near
            divisor = self.pair("mul", y, f)
            rest = self.matched(divisor, reciprocal, scaled, near)
            return rounded_quotient(self.b, self.m, *rest)
        return self.pair(e.op, x, y)

    def _times(self, x: SsaValue, high: float, low: float) -> SsaValue:
        """x times a number that is the sum of two."""
        whole, rest = (constant(part, x.dtype, x.lanes) for part in (high, low))
        if not low:
            return apply(self.b, "fmul", x, whole)
        return intrinsic(self.b, self.m, "fma", x, whole, apply(self.b, "fmul", x, rest))

    def condition(self, e: Expr) -> SsaValue:
        """A bool, decided here where the bounds of its indices allow it."""
        known = self.ix.decide(e)
        if known is not None:
            return constant(known, BOOL)
        if not isinstance(e, Binary):
            return self.value(e)
        if self.is_read(e):
            return self._once(e, self._undecided_condition)
        key = ("condition", id(e), self.ix.bindings(e))  # `ix.free` keeps the node
        found: SsaValue | None = self.b.recall(key)
        if found is None:
            found = self._undecided_condition(e)
            self.ix.remember(key, found, found.text)
        return found

    def _undecided_condition(self, e: Expr) -> SsaValue:
        assert isinstance(e, Binary)
        if e.op in COMPARISONS:
            return compare(self.b, e.op, *self.matched(self.value(e.a), self.value(e.b)))
        if e.op not in LOGICAL:
            return self.pair(e.op, self.value(e.a), self.value(e.b))
        sides = [x for x in (e.a, e.b) if self.ix.decide(x) is None]
        values = self.matched(*(self.condition(x) for x in sides))
        return values[0] if len(values) == 1 else apply(self.b, e.op, *values)

    def _call(self, fn: str, args: tuple[Expr, ...]) -> SsaValue:
        return self.math.call(fn, self.matched(*(self.value(a) for a in args)))

    @contextmanager
    def exactly(self, needed: bool) -> Iterator[None]:
        """Operations inside are rounded as IEEE says if `needed`."""
        before = self.exact
        self.exact = before or needed
        yield
        self.exact = before

    # ---- conditions -------------------------------------------------------------------------

    @contextmanager
    def guarded(self, cond: SsaValue, e: Expr | None = None) -> Iterator[None]:
        """Reads inside, in a statement those of `e`, happen only where `cond` holds too."""
        before = self.guard, self._levels
        self.guard = cond if self.guard is None else self._both(self.guard, cond)
        if self._values is not None and e is not None:
            certain = self._levels[-1].certain | self._exposure.certain(e)
            self._levels = (*self._levels, GuardLevel(self.guard, certain))
        yield
        self.guard, self._levels = before

    def _both(self, x: SsaValue, y: SsaValue) -> SsaValue:
        x, y = self.matched(x, y)
        return apply(self.b, "and", x, y)

    def _select(self, e: Select) -> SsaValue:
        known = self.ix.decide(e.cond)
        if known is not None:
            return self.value(e.a if known else e.b)
        cond = self.condition(e.cond)
        a = self._branch(e.a, cond)
        if isinstance(e.a, Read) and _is_zero(e.b) and self._zeroed(e.a, cond):
            return a
        b = self._branch(e.b, invert(self.b, cond)) if self._needs_guard(e.b) else self.value(e.b)
        a, b = self.matched(a, b)
        if cond.lanes > 1:
            cond, a, b = self.matched(cond, a, b)
        return choose(self.b, cond, a, b)

    def _branch(self, e: Expr, cond: SsaValue) -> SsaValue:
        if not self._needs_guard(e):
            return self.value(e)
        with self.guarded(cond, e):
            return self.value(e)

    def _needs_guard(self, e: Expr) -> bool:
        """Whether a branch may read what is not read outside of it."""
        if self._values is None:
            return self.is_read(e)
        return not self._exposure.exposed(e) <= self._levels[-1].certain

    def _zeroed(self, e: Read, cond: SsaValue) -> bool:
        """Whether a read under a condition gives zero where the condition fails: in each lane, so
        a scalar under a condition that differs between lanes does not.
        """
        if not self._needs_guard(e):
            return False
        at = self.ix.resolve(self.form(e, e.tensor, e.indices))
        if at is None:
            return cond.lanes == 1  # see `Memory.pick`
        if cond.lanes > 1 and not at.coefficient(LANE):
            return False
        buffer = self.buffers[e.tensor.name]
        promoted = self.kept(e, at) is not None
        return not promoted and not self.memory.emitter.in_bounds(buffer, at)

    def _are_set(self, several: Iterable[Expr]) -> bool:
        """Whether all elements that these read, and that exist, are set whatever a guard says."""
        return all(self.buffers[r.tensor.name].is_given for e in several for r in reads(e))

    # ---- reductions -------------------------------------------------------------------------

    def dots_of(self, node: For) -> Dots | None:
        """How an instruction does all iterations of a loop at once, whose variable is 0 here; None
        where none does. As `dot` it is what `accumulate` writes.
        """
        if self.lanes is None or self.guard is not None or not isinstance(node.body, Store):
            return None
        found = factors_of(node, self.target)
        if found is None:
            return None
        dot, operands = found
        factors = []
        for read in operands:
            form = self.form(read, read.tensor, read.indices)
            at = self.ix.resolve(form)
            if at is None or form.coefficient(node.var.name) != 1:
                return None
            if at.coefficient(LANE) not in (0, dot.length):
                return None
            if self.kept(read, at) is not None:
                return None
            factors.append((read, at))
        return Dots(dot, tuple(factors))

    def _dot(self, dots: Dots, old: SsaValue) -> SsaValue:
        """`old` and the products of all terms of a dot."""
        assert self.lanes is not None
        length = dots.dot.length
        values = []
        for read, at in dots.factors:
            count, active = (
                (self.lanes.count, self.lanes.active) if at.coefficient(LANE) else (1, 1)
            )
            span = VectorLanes("", length * count, length * active)
            along = at.without(LANE).plus(Affine(0, ((LANE, 1),)))
            values.append(self.memory.bits(self.buffers[read.tensor.name], along, span))
        return dot_product(self.b, self.m, dots.dot, self.widen(old), *values)

    def accumulate(self, node: Store, old: SsaValue) -> SsaValue:
        """`old (op) value` of a reduction; a float sum of products is a fused multiply-add."""
        op, e = node.reduce, node.value
        assert op is not None
        if self.dot is not None:
            return self._dot(self.dot, old)
        if op == "sum" and e.dtype.is_float:
            e = self._undecided(e)
            if _is_zero(e):
                return old
            match e:
                case Select(_, Binary("mul") as term, zero) if _is_zero(zero):
                    return self._conditional_sum(old, e.cond, term, bool(node.mark("padding")))
                case Binary("mul"):
                    return self._multiply_add(old, e)
        old, value = self.matched(old, self.value(e))
        return combine(self.b, self.m, op, old, value)

    def _undecided(self, e: Expr) -> Expr:
        """A term without the conditions that are known here, the others under one select. What a
        condition reads may be there only where those around it hold: that one stays inside.

        select(true, select(c, select(d, a*b, 0), 0), 0)    ->    select(c and d, a*b, 0)
        """
        if not isinstance(e, Select):
            return e
        known = self.ix.decide(e.cond)
        if known is not None:
            return self._undecided(e.a if known else e.b)
        inner = self._undecided(e.a) if _is_zero(e.b) else e.a
        if isinstance(inner, Select) and _is_zero(inner.b) and not self.is_read(inner.cond):
            return Select(Binary("and", e.cond, inner.cond), inner.a, e.b)
        return Select(e.cond, inner, e.b)

    def _known(self, product: Expr) -> tuple[float | None, list[Expr]]:
        """The factors that are known here, multiplied (None where none is), and the others."""
        numbers = [(f, self.number(f)) for f in _factors(product)]
        known = [n for _, n in numbers if n is not None]
        return prod(known) if known else None, [f for f, n in numbers if n is None]

    def _multiply_add(self, old: SsaValue, e: Binary) -> SsaValue:
        """`old + a*b`; numbers known from tables are one factor, and one of zero ends the term."""
        known, others = self._known(e)
        if known == 0:
            return old
        if known is None:
            x, y = self.value(e.a), self.value(e.b)
        else:
            y = constant(known, e.dtype.compute)
            values = [self.value(f) for f in others]
            x = reduce(partial(self.pair, "mul"), values or [constant(1, y.dtype)])
        return fma(self.b, self.m, self.features.fma, *self.matched(x, y, old))

    def _conditional_sum(self, old: SsaValue, e: Expr, term: Binary, is_padding: bool) -> SsaValue:
        """`old + (a*b where e)`: factors that are all read as zero make the product vanish by
        themselves, and one of them does where it is a padding zero anyway, if the others are set.
        """
        if self._known(term)[0] == 0:
            return old
        cond = self.condition(e)
        with self.guarded(cond, term):
            new = self._multiply_add(old, term)
        factors = list(_factors(term))
        others = [x for x in factors if not isinstance(x, Read) or not self._zeroed(x, cond)]
        if not others or (is_padding and len(others) < len(factors) and self._are_set(others)):
            return new
        cond, new, old = self.matched(cond, new, old) if cond.lanes > 1 else (cond, new, old)
        return choose(self.b, cond, new, self.widen(old, new.lanes))


def _factors(e: Expr) -> Iterator[Expr]:
    """What a product multiplies."""
    match e:
        case Binary("mul", a, b):
            yield from _factors(a)
            yield from _factors(b)
        case _:
            yield e


def _is_zero(e: Expr) -> bool:
    """Whether an expression is the literal 0 (not -0.0)."""
    return isinstance(e, Const) and repr(e.value) in ("0", "0.0", "False")

"""Loops and statements to instructions, with promoted elements carried as SSA values.

The walk visits a nest as it runs. Before each loop or sequence it asks which tensor elements the
region can keep in registers (`promote`); they are loaded before it, carried through its loops as
phis and stored after it. An allocation that never leaves its registers has no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod

from tilewright.codegen.llvm.arithmetic import choose
from tilewright.codegen.llvm.indices import LANE
from tilewright.codegen.llvm.masks import lanes_where, mask_form
from tilewright.codegen.llvm.partials import Partials
from tilewright.codegen.llvm.prefetch import Prefetcher
from tilewright.codegen.llvm.promote import Element, Scan, Use
from tilewright.codegen.llvm.registers import MAIN, Key, key_of
from tilewright.codegen.llvm.storage import Frame
from tilewright.codegen.llvm.tiles import TileWriter
from tilewright.codegen.llvm.types import SsaValue
from tilewright.codegen.llvm.values import Evaluator
from tilewright.codegen.passes.size import BUDGET
from tilewright.codegen.passes.tiles import iterations
from tilewright.codegen.rewrite import guarded
from tilewright.codegen.summary import Summaries
from tilewright.expr.index.affine import Affine
from tilewright.expr.index.intervals import Interval
from tilewright.expr.nodes import Expr, cast
from tilewright.expr.reference import static_shape
from tilewright.expr.traversal import conjuncts
from tilewright.ground.errors import BuildError
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Seq, Store, bodies
from tilewright.target import CpuTarget

SPARE_REGISTERS = 4
PROMOTION_FACTOR = 2
"""Promoted values may take this multiple of the register file; beyond it they stay in memory."""


class Walker:
    """Writes the statements of one function. `parallel` outlines a nest of parallel loops."""

    def __init__(
        self,
        ev: Evaluator,
        frame: Frame,
        summaries: Summaries,
        partials: Partials,
        prefetcher: Prefetcher,
        target: CpuTarget,
        parallel: Callable[[For], None],
    ) -> None:
        self.ev, self.b, self.ix = ev, ev.b, ev.ix
        self.frame = frame
        self.summaries = summaries
        self.target = target
        self.parallel = parallel
        self.partials = partials
        self.prefetcher = prefetcher
        self.tiles = TileWriter(ev, target)
        self.used = 0
        self.idle: set[str] = set()

    def visit(self, node: Node) -> None:
        """Write a node. Raises BuildError for nodes of symbolic nests."""
        match node:
            case Seq(body):
                with self.promoted(node):
                    for part, following in zip(body, (*body[1:], None), strict=True):
                        if not self.tiles.begins(part, following):
                            self.visit(part)
            case For() if (matrix := self.tiles.product(node)) is not None:
                self.tiles.multiply(matrix, node, self.loop)
            case For():
                with self.promoted(node), self.partials.around(node):
                    self.loop(node)
            case If(cond, body):
                self.branch(cond, body)
            case Alloc():
                self.alloc(node)
            case Store():
                self.store(node)
            case _:
                raise BuildError(f"a {type(node).__name__} needs a concrete nest to compile")

    # ---- registers --------------------------------------------------------------------------

    @contextmanager
    def promoted(self, region: Node) -> Iterator[None]:
        """Keep in registers what `region` allows, stored back after it.

        What is accessed but once in a region (`idle`) is not looked at again inside.
        """
        registers = self.ev.registers
        taken = registers.tensors | {k[0] for k in registers.partial} | self.idle
        taken |= self.tiles.sums(region)
        wanted = self.summaries.of(region).stores - taken
        uses = Scan(self.ev, self.summaries, wanted).run(region) if wanted else {}
        for use in uses.values():
            self.prefetcher.destination(use, region)
        chosen = [u for u in uses.values() if u.saves and u.sure and self.fits(u, region)]
        chosen = [u for u in chosen if self.follows_guard(u)]
        idle = {name for name, u in uses.items() if not u.saves}
        self.idle |= idle
        for use in chosen:
            self.enter(use, owned=False)
        yield
        for use in reversed(chosen):
            self.leave(use, keep=True)
        self.idle -= idle

    def follows_guard(self, use: Use) -> bool:
        """Whether the guard around decides each lane of the elements, so that those which it
        switches off are neither loaded nor stored.
        """
        guard = self.ev.guard
        return guard is None or all(e.lanes == guard.lanes for e in use.elements.values())

    def fits(self, use: Use, region: Node) -> bool:
        """Whether the elements fit what is left of the register budget, next to what other tiles
        take while these only wait: registers that wait are spilled, and not outside of the loops.
        """
        needed = self.used + use.registers(self.target.vector_bits)
        meanwhile = max(self._meanwhile(use.tensor.name, region), default=0)
        if meanwhile:
            return needed + meanwhile <= self.target.vector_registers
        return needed <= PROMOTION_FACTOR * self.target.vector_registers

    def _meanwhile(self, name: str, node: Node) -> Iterator[int]:
        """Registers of allocations in `node` that live while nothing accesses tensor `name`."""
        summary = self.summaries.of(node)
        if summary.writes == summary.stores:
            return  # nothing is allocated inside
        if isinstance(node, Alloc) and name not in self.summaries.of(node.body).index_vars:
            bits = node.tensor.dtype.compute.bits * prod(static_shape(node.tensor))
            registers = -(-bits // self.target.vector_bits)
            if registers <= self.target.vector_registers:
                yield registers
        for body in bodies(node):
            yield from self._meanwhile(name, body)

    def enter(self, use: Use, owned: bool) -> None:
        """Start keeping elements: loaded where their memory is read first, else undefined."""
        name = use.tensor.name
        self.budget(use.registers(self.target.vector_bits))
        buffer = self.ev.buffers[name]
        for (const, stride), e in use.elements.items():
            value = SsaValue("poison", use.tensor.dtype.compute, e.lanes)
            if e.load and not owned:
                value = self.ev.memory.load(buffer, e.at, e.span(), self.mask(e))
            self.ev.registers.values[(name, const, stride, MAIN)] = value
        self.ev.registers.tensors.add(name)

    def leave(self, use: Use, keep: bool) -> None:
        """Stop keeping elements; `keep` writes them back."""
        name = use.tensor.name
        self.budget(-use.registers(self.target.vector_bits))
        self.ev.registers.tensors.discard(name)
        for (const, stride), e in use.elements.items():
            value = self.ev.registers.values.pop((name, const, stride, MAIN))
            if keep and e.written:
                buffer = self.ev.buffers[name]
                self.ev.memory.store(buffer, e.at, value, e.span(), self.mask(e))

    def mask(self, e: Element) -> SsaValue | None:
        """What switches off lanes of a promoted element: the guard around, or its own."""
        return self.ev.guard if e.mask is None else lanes_where(self.ev, e.mask, e.lanes)

    def budget(self, more: int) -> None:
        """Account for promoted registers; what is left holds hoisted and loaded values.

        Where much is left, instruction scheduling finds an order in which loaded values suffice.
        """
        self.used += more
        room = self.target.vector_registers - self.used
        self.b.room = max(2, room) if room < self.target.vector_registers // 4 else BUDGET.scan
        self.b.vector_budget = max(2, self.target.vector_registers - self.used - SPARE_REGISTERS)

    def alloc(self, node: Alloc) -> None:
        """An allocation: registers if its whole life allows, else memory of the frame."""
        name = node.tensor.name
        with self.frame.reserved(self.ev, node):
            uses = Scan(self.ev, self.summaries, (name,)).run(node.body)
            use = None if name in self.tiles.sums(node.body) else uses.get(name)
            if use is not None and self.fits(use, node.body):
                self.enter(use, owned=True)
                self.visit(node.body)
                self.leave(use, keep=False)
            else:
                self.frame.materialise(self.b, self.ev.buffers[name])
                self.prefetcher.fills(node)
                self.visit(node.body)

    # ---- loops ------------------------------------------------------------------------------

    def loop(self, node: For) -> None:
        """A loop of any kind; its variable is bound while the body is written."""
        env, name = self.ix.env, node.var.name
        extent = iterations(node)
        if node.kind is Kind.PARALLEL and self.frame.outermost:
            self.parallel(node)
        elif node.kind is Kind.VECTOR and self.ev.lanes is None:
            for start, lanes in self.ev.chunks(node):
                self.ev.enter_lanes(lanes, start)
                self.visit(node.body)
            self.ev.lanes = None
        elif node.kind is Kind.DOT:
            self.dot(node)
        elif node.kind in (Kind.UNROLLED, Kind.VECTOR):
            for i in range(extent):
                env[name] = Affine(i)
                self.visit(node.body)
        else:
            self.serial(node)
        env.pop(name, None)

    def dot(self, node: For) -> None:
        """A dot: one instruction where there is one for it, else its terms one by one."""
        env, name = self.ix.env, node.var.name
        env[name] = Affine(0)
        self.ev.dot = self.ev.dots_of(node)
        for i in range(iterations(node) if self.ev.dot is None else 1):
            env[name] = Affine(i)
            self.visit(node.body)
        self.ev.dot = None

    def serial(self, node: For) -> None:
        """A loop that runs, from a start and for a count that guards below it may restrict."""
        assert isinstance(node.extent, int)
        low, high, holds = Affine(0), Affine(node.extent), list[Expr]()
        body = node.body
        if isinstance(body, If):
            low, high, holds, body = self.bounds(node, body)
        count = high.plus(low, -1)
        reach = count.bounds(self.b.ranges)
        if reach.hi is not None and reach.hi <= 0:
            return
        if reach.value == 1:
            self.ix.env[node.var.name] = low
            with self.ix.assuming(*holds, loop=node):
                self.visit(body)
            return
        last = Interval(0, None if reach.hi is None else reach.hi - 1)
        operand = self.ix.operand(count)
        if (reach.lo is not None and reach.lo >= 1) or self.surely_runs(node):
            self.counted(node, body, low, operand, last, holds)
            return
        some = self.b.pure(f"icmp sgt i64 {operand}, 0", operand)
        with self.conditional(some):
            self.counted(node, body, low, operand, last, holds)

    def surely_runs(self, node: For) -> bool:
        """Whether facts around say that the guard below a loop holds in its first iteration."""
        if self.ix.facts is None or not isinstance(node.body, If):
            return False
        self.ix.env[node.var.name] = Affine(0)
        return self.ix.decide(node.body.cond) is True

    def bounds(self, node: For, guard: If) -> tuple[Affine, Affine, list[Expr], Node]:
        """[low, high) of the loop's variable under the guard, the conditions that say so, and what
        is inside of these.

        for k < 16: if (k0*16 + k < 100)    ->    0, min(16, 100 - k0*16)
        """
        assert isinstance(node.extent, int)
        low, high, holds, rest = Affine(0), Affine(node.extent), [], []
        for cond in conjuncts(guard.cond):
            form = self.ev.forms.condition(cond)
            k = form.coefficient(node.var.name) if form else 0
            outer = self.ix.resolve(form.without(node.var.name)) if form and k else None
            limit = None if outer is None else self.ix.quotient(outer, abs(k))
            if limit is None or limit.coefficient(LANE):  # lanes share one counter
                rest.append(cond)
                continue
            holds.append(cond)
            if k > 0:
                low = self.ix.extreme("max", low, limit.times(-1)) or low
            else:
                high = self.ix.extreme("min", high, limit.shifted(1)) or high
        return low, high, holds, guarded(rest, guard.body)

    def counted(
        self,
        node: For,
        body: Node,
        start: Affine,
        count: str,
        reach: Interval,
        holds: Sequence[Expr],
    ) -> None:
        """A loop that runs at least once, only where some conditions hold; changed registers are
        carried by phis.
        """
        summary = self.summaries.of(node)
        stores, registers = summary.stores, self.ev.registers
        self.forget(stores)
        with self.b.loop(count, reach, summary.writes) as counter:
            carried = {}
            for key in [k for k in registers.values if k[0] in stores]:
                old = registers.values[key]
                phi = self.b.phi(old.type, old.text)
                carried[key] = phi
                registers.values[key] = SsaValue(phi.name, old.dtype, old.lanes)
            self.ix.env[node.var.name] = start.plus(Affine(0, ((counter, 1),)))
            assert isinstance(node.extent, int)
            self.prefetcher.loops[node.var.name] = node.extent
            self.prefetcher.ahead(body)
            with self.ix.assuming(*holds, loop=node):
                self.visit(body)
            del self.prefetcher.loops[node.var.name]
            for key, phi in carried.items():
                new = registers.values[key]
                text = self.b.finish_phi(phi, new.text)
                registers.values[key] = SsaValue(text, new.dtype, new.lanes)
        self.forget(stores)

    def forget(self, stores: frozenset[str]) -> None:
        """What was loaded from these tensors may be out of date."""
        for name in stores:
            if name in self.ev.buffers:
                self.ev.memory.touch(self.ev.buffers[name])

    # ---- conditions -------------------------------------------------------------------------

    def branch(self, cond: Expr, body: Node) -> None:
        """`If`: decided here, or a branch, or a mask where the lanes disagree."""
        known = self.ix.decide(cond)
        if known is not None:
            if known:
                self.visit(body)
            return
        mask = mask_form(self.ev, cond)
        if mask is None or self.ev.lanes is None:
            test = self.ev.condition(cond)
        else:
            test = lanes_where(self.ev, mask, self.ev.lanes.count)
        if test.lanes > 1:
            with self.ev.guarded(test):
                self.visit(body)
        else:
            with self.conditional(test.text), self.ix.assuming(cond):
                self.visit(body)

    @contextmanager
    def conditional(self, cond: str) -> Iterator[None]:
        """Code under a branch; registers it changes are merged after it."""
        registers = self.ev.registers
        before = dict(registers.values)
        with self.b.branch(cond):
            yield
        self.merge(before)

    def merge(self, before: dict[Key, SsaValue]) -> None:
        registers = self.ev.registers
        for key, old in before.items():
            new = registers.values[key]
            if self.b.resolve(new.text) != self.b.resolve(old.text):
                text = self.b.merge(new.type, new.text, old.text)
                registers.values[key] = SsaValue(text, new.dtype, new.lanes)

    # ---- stores -----------------------------------------------------------------------------

    def store(self, node: Store) -> None:
        """`tensor[indices] = value`, or a reduction step, in registers or in memory."""
        with self.ev.statement(node.value):
            self.stored(node)

    def stored(self, node: Store) -> None:
        """The same, whose parts stand once."""
        ev, name = self.ev, node.tensor.name
        at = self.ix.resolve(ev.form(node, node.tensor, node.indices))
        if at is None:
            self.scatter(node)
            return
        number = ev.number_of(node, node.tensor, node.indices, at)
        if not self.partials.update(node, number):
            old = ev.registers.get(name, number)
            value = self.new_value(node, at, old)
            if old is None:
                ev.memory.store(ev.buffers[name], at, value, ev.lanes, ev.guard)
            else:
                if ev.guard is not None and value.lanes == ev.guard.lanes:
                    value = choose(self.b, ev.guard, value, old)
                ev.registers.values[key_of(name, number)] = value

    def new_value(self, node: Store, at: Affine, old: SsaValue | None) -> SsaValue:
        """What the element(s) at `at` become; `old` is their promoted value."""
        ev = self.ev
        spread = ev.lanes is not None and at.coefficient(LANE) != 0
        if node.reduce is None:
            # what stays in registers is rounded as memory would
            kept = node.value if old is None else cast(node.tensor.dtype, node.value)
            value = ev.value(kept)
        else:
            buffer = ev.buffers[node.tensor.name]
            before = old or ev.memory.load(buffer, at, ev.lanes, ev.guard if spread else None)
            if ev.lanes is not None and not spread:
                return self.partials.folded(node.reduce, before, node.value)
            value = ev.accumulate(node, before)
        if spread:
            return ev.widen(value)
        if value.lanes > 1 or (ev.guard is not None and old is None):
            raise BuildError(
                f"a vectorised loop writes one element of {node.tensor.name} from several lanes; "
                "vectorise a loop that indexes it"
            )
        return value

    def scatter(self, node: Store) -> None:
        """A store whose address is not linear in the lanes."""
        ev, buffer = self.ev, self.ev.buffers[node.tensor.name]
        numbers = ev.element_numbers(node.tensor, node.indices)
        if ev.lanes is None:
            raise BuildError(f"an index of {node.tensor.name} cannot be computed")
        if node.reduce is None:
            value = ev.value(node.value)
        else:
            old = ev.memory.gather(buffer, numbers, ev.lanes, ev.guard)
            value = ev.accumulate(node, old)
        ev.memory.scatter(buffer, numbers, ev.widen(value), ev.lanes, ev.guard)

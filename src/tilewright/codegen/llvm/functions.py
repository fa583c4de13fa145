"""A whole program as one LLVM module: the entry, the body, one function a parallel region.

    entry(buffers, params, scratch)        unpacks the buffers, and sizes from `params`
      -> main(noalias pointers, scratch, sizes)   everything outside parallel loops
           -> tw_parallel(region, ctx, …)  threads take its iterations (shares.py)
                -> work(noalias pointers, scratch of the thread, lo, hi)

A perfect nest of parallel loops is one region over the product of their extents. With one core it
is called directly.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import prod

from tilewright.codegen import Kernel
from tilewright.codegen.llvm.addresses import Buffer
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.machine import compile_ir, features
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.partials import Partials
from tilewright.codegen.llvm.prefetch import Prefetcher
from tilewright.codegen.llvm.shares import fork
from tilewright.codegen.llvm.statements import Walker
from tilewright.codegen.llvm.storage import Frame, interface_buffer
from tilewright.codegen.llvm.values import Evaluator
from tilewright.codegen.passes import Prepared, prepared
from tilewright.codegen.passes.tiles import iterations
from tilewright.codegen.summary import Summaries
from tilewright.contract.artifact import aligned
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.index.facts import LinearFacts
from tilewright.expr.index.intervals import Interval
from tilewright.expr.nodes import Expr, Tensor
from tilewright.expr.reference import static_shape
from tilewright.expr.sizes import ranges_of
from tilewright.expr.tensors import Table
from tilewright.ground.errors import BuildError
from tilewright.nest.gpu.workers import perfect_nest
from tilewright.nest.nodes import For, If, Kind, Node, Program
from tilewright.target import CpuTarget, Target

ENTRY = "ENTRY"
"""Stands for the entry's name until the text, and so its hash, is known."""


@dataclass(frozen=True, slots=True)
class Emitted:
    """A module's text, its entry point, what it needs at run time."""

    entry: str
    ir: str
    scratch_bytes: int
    externals: tuple[str, ...]


def emit(prepared: Prepared, target: CpuTarget, prefetch: int = 0) -> Emitted:
    """The LLVM module of a concrete program that has been through the passes.

    Constants of at least `prefetch` bytes are prefetched (0: none is), and inputs that the
    second-level cache does not hold.
    """
    return _Emission(prepared, target, prefetch).run()


class _Emission:
    def __init__(self, prepared: Prepared, target: CpuTarget, prefetch: int) -> None:
        self.program = prepared.program
        self.prefetched = frozenset(
            t.name for t in self.program.constants if 0 < prefetch <= nbytes(t)
        )
        self.streams = frozenset(
            t.name for t in self.program.inputs if nbytes(t) >= target.l2_bytes
        )
        # Lines of streamed outputs do not come into the caches at all.
        self.streamed = frozenset(self.program.marked("streamed"))
        self.outputs = frozenset(t.name for t in self.program.outputs) - self.streamed
        self.copies = prepared.copies
        self.sure, self.pitches = prepared.sure, prepared.pitches
        self.target = target
        self.m = Module()
        self.forms = AffineForms()
        self.summaries = Summaries()
        self.regions = 0
        self.scratch_bytes = 0

    def run(self) -> Emitted:
        p = self.program
        passed = (*p.inputs, *p.constants, *p.outputs)
        bases = [f"%arg{i}" for i in range(len(passed))]
        sizes = {s.name: f"%size{i}" for i, s in enumerate(p.sizes)}
        values = [f"i64 {n}" for n in sizes.values()]
        main = Builder("main", [*(f"ptr noalias {n}" for n in (*bases, "%scratch")), *values])
        main.ranges |= {sizes[name]: reach for name, reach in ranges_of(p.sizes).items()}
        env = {name: Affine(0, ((value, 1),)) for name, value in sizes.items()}
        facts = LinearFacts(self.forms, ranges_of(p.sizes)) if p.sizes else None
        buffers = {
            t.name: interface_buffer(t, base, self.sure.get(t.name), self.pitches.get(t.name, ()))
            for t, base in zip(passed, bases, strict=True)
        }
        for name in self.streamed:
            buffers[name].nontemporal = True
        for t in p.tables:
            if not isinstance(t.source, Table):
                raise BuildError(f"table {t.name} of {p.name} has no values")
            buffers[t.name] = interface_buffer(t, self.m.table(t.name, t.source.values, t.dtype))
        frame = Frame("%scratch", outermost=True)
        self.walk(main, frame, buffers, env, {}, p.body, facts).tiles.release()
        self.settle(main, self.summaries.of(p.body).writes)
        self.scratch_bytes = max(self.scratch_bytes, frame.peak)
        self.m.functions += [main.text("define internal void", "#0"), self.entry(len(passed))]
        return self.finish()

    def finish(self) -> Emitted:
        text = self.m.text(attributes(self.target))
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        stem = re.sub(r"\W", "_", self.program.name) or "kernel"
        entry = f"{'k_' if stem[0].isdigit() else ''}{stem}_{digest}"
        ir = text.replace(f"@{ENTRY}(", f"@{entry}(")
        return Emitted(entry, ir, self.scratch_bytes, tuple(sorted(self.m.externals)))

    def entry(self, count: int) -> str:
        b = Builder(ENTRY, ["ptr %buffers", "ptr %params", "ptr %scratch"])
        loads = self.slots(b, "%buffers", ["ptr"] * count)
        sizes = self.slots(b, "%params", ["i64"] * len(self.program.sizes))
        args = ", ".join(
            [*(f"ptr {x}" for x in (*loads, "%scratch")), *(f"i64 {x}" for x in sizes)]
        )
        b.do(f"call void @main({args})")
        return b.text("define void", "#0")

    # ---- functions --------------------------------------------------------------------------

    def walk(
        self,
        b: Builder,
        frame: Frame,
        buffers: dict[str, Buffer],
        env: dict[str, Affine],
        loops: Mapping[str, int],
        body: Node,
        facts: LinearFacts | None,
    ) -> Walker:
        ev = Evaluator(b, self.m, self.target, self.forms, env)
        ev.ix.facts = facts
        ev.buffers = buffers
        partials = Partials(ev, self.summaries, self.copies)
        inputs = (self.streams, self.target.l2_bytes)
        prefetcher = Prefetcher(ev, self.summaries, self.prefetched, *inputs, self.outputs)
        prefetcher.loops |= loops
        walker = Walker(
            ev,
            frame,
            self.summaries,
            partials,
            prefetcher,
            self.target,
            lambda n: self.region(walker, n),
        )
        walker.budget(0)
        walker.visit(body)
        return walker

    def settle(self, b: Builder, writes: frozenset[str]) -> None:
        """Wait for stores that pass the caches by, which nothing else orders."""
        if writes & self.streamed:
            b.do("fence seq_cst")

    def slots(self, b: Builder, base: str, types: list[str]) -> list[str]:
        """Load consecutive 8-byte slots."""
        out = []
        for i, kind in enumerate(types):
            at = b.local(f"getelementptr i8, ptr {base}, i64 {8 * i}") if i else base
            out.append(b.here(f"load {kind}, ptr {at}, align 8"))
        return out

    # ---- parallel regions -------------------------------------------------------------------

    def region(self, outer: Walker, node: For) -> None:
        """Outline a perfect nest of parallel loops and call it on all cores."""
        loops, body, facts = self.collapsed(outer, node)
        total = product_of(outer.b, [loop.count for loop in loops])
        self.regions += 1
        used = [
            x
            for name, x in outer.ev.buffers.items()
            if x.base.startswith("%") and name in self.summaries.of(node).index_vars
        ]
        carried = sorted(
            {n for form in outer.ix.env.values() for n, _ in form.terms}
            | {loop.count for loop in loops if isinstance(loop.count, str)}
        )
        start = aligned(outer.frame.offset)
        local_bytes = self.work(outer, used, carried, loops, body, facts)
        cores = self.target.cores if total != 1 else 1
        self.scratch_bytes = max(self.scratch_bytes, start + cores * local_bytes)
        local = outer.b.pure(f"getelementptr i8, ptr %scratch, i64 {start}")
        values = [f"ptr {x.base}" for x in used] + [f"ptr {local}"] + [f"i64 {n}" for n in carried]
        number = self.regions
        with ExitStack() as where:
            if isinstance(total, str) and any(loop.least < 1 for loop in loops):
                where.enter_context(outer.b.branch(outer.b.pure(f"icmp sgt i64 {total}, 0", total)))
            if cores == 1:
                args = ", ".join([*values, "i64 0", f"i64 {total}"])
                outer.b.do(f"call void @work{number}({args})")
            else:
                constant = self.large_constant(outer, used)
                fork(self.m, outer.b, number, values, total, local_bytes, cores, constant)
        outer.forget(self.summaries.of(node).stores)

    def collapsed(
        self, outer: Walker, node: For
    ) -> tuple[list[_Parallel], Node, LinearFacts | None]:
        """The parallel loops that follow each other, sizes directly below them in their counts;
        what is inside them, and what is known there.
        """
        found: list[_Parallel] = []
        facts = outer.ix.facts
        if facts is None:
            loops, body = perfect_nest(node)
            return [_Parallel.counted(loop) for loop in loops], body, None
        while True:
            body, loop, bounds = node.body, _Parallel.counted(node), list[Expr]()
            if isinstance(body, If):
                low, high, holds, inner = outer.bounds(node, body)
                reach = high.bounds(outer.b.ranges)
                if low == Affine(0) and reach.value is None:
                    loop = replace(loop, count=outer.ix.operand(high), least=reach.lo or 0)
                    bounds, body = holds, inner
            with outer.ix.assuming(*bounds, loop=node):
                inside = outer.ix.facts
            found.append(loop)
            outer.ix.facts = inside
            if not isinstance(body, For) or body.kind is not Kind.PARALLEL:
                outer.ix.facts = facts
                return found, body, inside
            node = body

    def large_constant(self, outer: Walker, used: list[Buffer]) -> str | None:
        """Where the largest constant in use begins, if a core's own caches do not hold it."""
        sizes = {outer.ev.buffers[t.name].base: nbytes(t) for t in self.program.constants}
        found = [(sizes[x.base], x.base) for x in used if x.base in sizes]
        most, base = max(found, default=(0, ""))
        return base if most >= self.target.l2_bytes else None

    def work(
        self,
        outer: Walker,
        used: list[Buffer],
        carried: list[str],
        loops: list[_Parallel],
        body: Node,
        facts: LinearFacts | None,
    ) -> int:
        """The function of a chunk `lo <= i < hi`; returns the scratch bytes a thread needs."""
        n = self.regions
        names = {x: f"%c{i}" for i, x in enumerate(carried)}
        pointers = [f"ptr noalias %b{i}" for i in range(len(used))] + ["ptr noalias %local"]
        ints = [f"i64 {x}" for x in (*names.values(), "%lo", "%hi")]
        b = Builder(f"work{n}", pointers + ints)
        for old, new in names.items():
            b.ranges[new] = outer.b.ranges.get(old, Interval(None, None))
        buffers = dict(outer.ev.buffers)
        for i, x in enumerate(used):
            buffers[x.tensor.name] = replace(x, base=f"%b{i}", version=0)
        env = {name: renamed(form, names) for name, form in outer.ix.env.items()}
        frame = Frame("%local", outermost=False)
        count = b.here("sub i64 %hi, %lo")
        stores = self.summaries.of(body).writes
        with b.loop(count, None, stores) as counter:
            at = b.pure(f"add i64 {counter}, %lo", counter)
            here = [replace(x, count=names.get(str(x.count), x.count)) for x in loops]
            env |= indices(b, at, here)
            known = {**outer.prefetcher.loops, **{x.name: x.most for x in loops}}
            walker = self.walk(b, frame, buffers, env, known, body, facts)
        walker.tiles.release()
        self.settle(b, stores)
        self.m.functions.append(b.text("define internal void", "#0"))
        return aligned(frame.peak)


@dataclass(frozen=True, slots=True)
class _Parallel:
    """A parallel loop: `count` iterations, a number or a value in `least..most`."""

    name: str
    count: int | str
    least: int
    most: int

    @classmethod
    def counted(cls, loop: For) -> _Parallel:
        """One whose extent is a number."""
        extent = iterations(loop)
        return cls(loop.var.name, extent, extent, extent)


def product_of(b: Builder, counts: Sequence[int | str]) -> int | str:
    """Iterations of loops in each other."""
    total: int | str = prod(n for n in counts if isinstance(n, int))
    for count in counts:
        if isinstance(count, str):
            total = count if total == 1 else b.pure(f"mul i64 {count}, {total}", count, str(total))
    return total


def indices(b: Builder, at: str, loops: list[_Parallel]) -> dict[str, Affine]:
    """Loop variables from the number of an iteration of the collapsed nest."""
    env: dict[str, Affine] = {}
    for i, loop in reversed(list(enumerate(loops))):
        index = at if i == 0 else b.pure(f"urem i64 {at}, {loop.count}", at)
        b.ranges[index] = Interval(0, loop.most - 1)
        env[loop.name] = Affine(0, ((index, 1),))
        if i:
            at = b.pure(f"udiv i64 {at}, {loop.count}", at)
    return env


def nbytes(tensor: Tensor) -> int:
    """The size of a buffer."""
    return prod(static_shape(tensor)) * tensor.dtype.bytes


def renamed(form: Affine, names: Mapping[str, str]) -> Affine:
    """A form over the SSA names of another function."""
    return Affine(form.const, tuple(sorted((names.get(n, n), k) for n, k in form.terms)))


def attributes(target: CpuTarget) -> str:
    """Attributes of every function."""
    if features(target).x86 and target.vector_bits == 512:
        return 'nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512"'
    return "nounwind"


def compiled(program: Program, target: Target, prefetch: int) -> Kernel:
    """Passes, LLVM IR, LLVM's code generator."""
    assert isinstance(target, CpuTarget)
    emitted = emit(prepared(program, target), target, prefetch)
    code = compile_ir(emitted.ir, target)
    return Kernel(emitted.entry, emitted.ir, code, emitted.scratch_bytes, emitted.externals)

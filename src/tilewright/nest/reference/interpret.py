"""Interpreter: the reference semantics of a concrete program, in NumPy.

    interpret(program, {"A": a}, {"B": b}) -> {"C": c}
    interpret(program, {"A": a}, sizes={"S": 37})       of a program with sizes

Arithmetic is done in the compute dtypes and stored in the storage dtypes. Every buffer starts
uninitialised: reading an element that nothing wrote, an index outside of a buffer or window, and
an output element that is never written raise VerifyError, which names the statement.

Loops whose iterations are independent (`lockstep`) run side by side as `Lanes`; the others run
one iteration at a time. With `rng`, parallel and block loops run one iteration at a time in a
random order: a correct program gives the same result.

The threads of a block are lanes and run in step. What that hides is checked: shared storage
remembers which thread wrote and read each element since the last barrier, and an access that
another thread's could overtake raises VerifyError; so does a barrier that not every thread reaches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import numpy as np

from tilewright.contract.sizes import checked_sizes
from tilewright.expr.nodes import Tensor
from tilewright.expr.sizes import extent_at, shape_at
from tilewright.expr.tensors import Table
from tilewright.ground.errors import VerifyError
from tilewright.nest.gpu.workers import (
    concrete_extents,
    is_for_workers,
    kernels,
    perfect_nest,
    statements,
)
from tilewright.nest.nodes import (
    THREADS,
    Alloc,
    Barrier,
    For,
    Hoist,
    If,
    Instruction,
    Kind,
    Node,
    Program,
    Scope,
    Seq,
    Store,
    bodies,
)
from tilewright.nest.print import nest_text
from tilewright.nest.reference.instructed import UnderWay, instruct
from tilewright.nest.reference.lanes import Array, Lanes
from tilewright.nest.reference.lockstep import lockstep_loops
from tilewright.nest.reference.memory import BLOCK, THREAD, VIRTUAL, CheckedBuffer, Since
from tilewright.nest.reference.place import Buffers, StatementPlace

LANES_AT_ONCE = 1 << 18


def interpret(
    program: Program,
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    rng: np.random.Generator | None = None,
) -> dict[str, Array]:
    """Run `program` and return its outputs by name, in their storage dtypes. With sizes, arrays
    have the shapes that `sizes` make, so that whatever else a program touches is outside of them.

    Raises InputError for a missing array or one of another shape or dtype, for a missing size or
    one out of its range, VerifyError where the program reads or writes what it must not.
    """
    values = checked_sizes(program.sizes, sizes or {})
    program = _at(program, values)
    buffers: dict[str, CheckedBuffer] = {}
    for t in program.inputs:
        buffers[t.name] = CheckedBuffer.given(t, inputs, "input")
    for t in program.constants:
        buffers[t.name] = CheckedBuffer.given(t, constants or {}, "constant")
    for t in program.tables:
        assert isinstance(t.source, Table)
        buffers[t.name] = CheckedBuffer.given(t, {t.name: t.source.values}, "table")
    for t in program.outputs:
        buffers[t.name] = CheckedBuffer.fresh(t)
    with np.errstate(all="ignore"):
        _Interpreter(program, rng).run(program.body, buffers, Lanes.single().setting(values))
    return {t.name: buffers[t.name].finished(program.name) for t in program.outputs}


def _at(program: Program, values: Mapping[str, int]) -> Program:
    """The program with the extents that these sizes make; in expressions they stay variables."""
    if not program.sizes:
        return program

    def fixed(tensor: Tensor) -> Tensor:
        return replace(tensor, shape=shape_at(tensor, values))

    def visit(node: Node) -> Node:
        match node:
            case For(_, extent):
                return replace(node, extent=extent_at(extent, values), body=visit(node.body))
            case Alloc(tensor):
                return replace(node, tensor=fixed(tensor), body=visit(node.body))
            case Seq(body):
                return Seq(tuple(map(visit, body)))
            case If(_, body):
                return replace(node, body=visit(body))
        return node

    inputs, constants, tables, outputs = (
        tuple(map(fixed, tensors))
        for tensors in (program.inputs, program.constants, program.tables, program.outputs)
    )
    return Program(program.name, inputs, constants, tables, outputs, visit(program.body))


class _Interpreter:
    def __init__(self, program: Program, rng: np.random.Generator | None) -> None:
        self.program = program
        self.rng = rng
        self.lockstep = lockstep_loops(program.body, parallel=rng is None)
        self.widths: dict[int, int] = {}
        self._measure(program.body)
        self.combined = {
            id(s): team.combined(s)
            for kernel in filter(is_for_workers, kernels(program.body))
            for s, team in statements(kernel)
            if isinstance(s, Store)
        }
        # Shared memory by name: it is the same in every iteration that allocates it.
        self.since: dict[str, Since] = {}
        self.slots: dict[int, dict[str, CheckedBuffer]] = {}
        self.under_way = UnderWay()
        self.team = 1  # lanes that come to a barrier

    def _measure(self, node: Node) -> int:
        """Most iterations of the innermost statement under `node`, kept for every loop."""
        inner = max((self._measure(b) for b in bodies(node)), default=1)
        if isinstance(node, For):
            if not isinstance(node.extent, int):
                raise VerifyError(f"program {self.program.name}: {nest_text(node)} is symbolic")
            inner *= node.extent
            self.widths[id(node)] = inner
        return inner

    def run(self, node: Node, buffers: Buffers, lanes: Lanes) -> None:
        match node:
            case Seq(body):
                for n in body:
                    self.run(n, buffers, lanes)
            case For():
                self.loop(node, buffers, lanes)
            case If(cond, body):
                where = StatementPlace(self.program, node, buffers)
                test = np.broadcast_to(where.value(cond, lanes), (lanes.count,))
                if test.any():
                    self.run(body, buffers, lanes if test.all() else lanes.where(test))
            case Alloc():
                self.alloc(node, buffers, lanes)
            case Store():
                combined = self.combined.get(id(node), ())
                StatementPlace(self.program, node, buffers).store(node, lanes, combined)
            case Instruction():
                where = StatementPlace(self.program, node, buffers)
                instruct(where, node, lanes, self.team, self.under_way)
            case Barrier():
                if lanes.count != self.team:
                    StatementPlace(self.program, node, buffers).fail("not every thread comes here")
                for since in self.since.values():
                    since.forget()
                self.under_way.phases.barrier()
            case Hoist():
                raise VerifyError(f"program {self.program.name} is symbolic: it has a hoist")

    def alloc(self, node: Alloc, buffers: Buffers, lanes: Lanes) -> None:
        where = StatementPlace(self.program, node, buffers)
        slot = f"{node.tensor.name}:window"
        starts = {f"{slot}.{d}": where.value(e, lanes) for d, e in enumerate(node.offset)}
        windows = np.arange(lanes.count)
        if node.scope is Scope.SHARED:
            block = lanes.get(BLOCK) if lanes.has(BLOCK) else np.zeros(lanes.count, np.int64)
            _, windows = np.unique(block, return_inverse=True)
        inside = lanes.setting({slot: windows, **starts})
        buffer = CheckedBuffer.fresh(node.tensor, int(windows.max()) + 1, slot, list(starts))
        buffer = replace(buffer, copying=np.zeros(len(buffer.data), np.int16))
        if node.scope is Scope.SHARED:
            since = self.since.get(node.tensor.name)
            if since is None or len(since.writer) != len(buffer.data):
                since = self.since[node.tensor.name] = Since.barrier(len(buffer.data))
            size = len(buffer.data)
            buffer = replace(
                buffer,
                since=since,
                lent=np.zeros(size, np.int16),
                unfenced=np.zeros(size, np.bool_),
            )
            if node.slot is not None:
                sharing = self.slots.setdefault(node.slot, {})
                buffer = sharing[node.tensor.name] = replace(buffer, sharing=sharing)
        self.run(node.body, {**buffers, node.tensor.name: buffer}, inside)

    def loop(self, node: For, buffers: Buffers, lanes: Lanes) -> None:
        assert isinstance(node.extent, int)
        if node.extent == 0:
            return
        if node.kind is Kind.BLOCK:
            self.blocks(node, buffers, lanes)
        elif node.kind is Kind.VIRTUAL or node.kind in THREADS:
            self.threads(node, buffers, lanes)
        elif self.rng is not None and node.kind is Kind.PARALLEL:
            self.shuffled(node, buffers, lanes, self.rng)
        elif id(node) in self.lockstep and lanes.count * self.widths[id(node)] <= LANES_AT_ONCE:
            self.run(node.body, buffers, lanes.spread(node.var.name, node.extent))
        else:
            for i in range(node.extent):
                self.run(node.body, buffers, lanes.setting({node.var.name: i}))

    def blocks(self, node: For, buffers: Buffers, lanes: Lanes) -> None:
        """A grid: all blocks side by side, or one after the other."""
        region, body = perfect_nest(node)
        names, extents = [n.var.name for n in region], concrete_extents(region)
        total = prod(extents)
        side_by_side = all(id(n) in self.lockstep for n in region)
        if side_by_side and lanes.count * self.widths[id(node)] <= LANES_AT_ONCE:
            groups = [np.arange(total)]
        else:
            order = np.arange(total) if self.rng is None else self.rng.permutation(total)
            groups = list(order[:, None])
        for numbers in groups:
            self.since.clear()
            self.slots.clear()
            self.under_way = UnderWay()
            inside = lanes.spread(BLOCK, len(numbers)).setting({BLOCK: numbers})
            index = np.unravel_index(numbers, extents)
            self.team = inside.count
            self.run(body, buffers, inside.setting(dict(zip(names, index, strict=True))))

    def threads(self, node: For, buffers: Buffers, lanes: Lanes) -> None:
        """A perfect nest of threads: new lanes, or (cooperative) the lanes that are there."""
        region, body = perfect_nest(node)
        names, extents = [n.var.name for n in region], concrete_extents(region)
        total = prod(extents)
        own = THREAD.get(node.kind, VIRTUAL)
        team = self.team
        if lanes.has(own) and own != VIRTUAL:
            mine = lanes.get(own) < total
            if lanes.has(VIRTUAL):
                mine &= lanes.get(VIRTUAL) == 0
            inside = lanes.where(mine)
            numbers = inside.get(own)
        else:
            before = lanes.get(own) if lanes.has(own) else np.zeros(lanes.count, np.int64)
            inside = lanes.spread(own, total)
            numbers = inside.get(own)
            inside = inside.setting({own: np.repeat(before, total) * total + numbers})
            self.team = inside.count
        index = np.unravel_index(numbers, extents)
        self.run(body, buffers, inside.setting(dict(zip(names, index, strict=True))))
        self.team = team

    def shuffled(self, node: For, buffers: Buffers, lanes: Lanes, rng: np.random.Generator) -> None:
        """A perfect nest of parallel loops, its iterations in a random order."""
        region = [node]
        while isinstance(region[-1].body, For) and region[-1].body.kind is Kind.PARALLEL:
            region.append(region[-1].body)
        names = [n.var.name for n in region]
        extents = tuple(n.extent for n in region if isinstance(n.extent, int))
        for number in rng.permutation(prod(extents)):
            index = np.unravel_index(number, extents)
            self.run(region[-1].body, buffers, lanes.setting(dict(zip(names, index, strict=True))))

"""Features of paper appendix B, for one statement of many candidates at once.

    program, plans = compiled(producer)
    table = plans[0].table(program.run(producer.environment(rows)), len(rows))
    Analysis(plans[0], table, target.line_bytes).columns(out)                out: [columns, n]

A statement is an innermost store. A loop of extent 1 equals an absent loop in every column.
`COLUMNS` names each column with its unit; the first 164 are the paper's, the rest are ours. The
tables of an `Analysis` serve the analytical estimate, too; `cost.extractor` puts both together.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.cost.candidates import Bools, Float32s, Floats, Ints, Producer
from tilewright.cost.statements import (
    Access,
    Dimension,
    Statement,
    statements,
    tensor_strides,
)
from tilewright.expr.evaluate import ColumnProgram
from tilewright.expr.nodes import Extent
from tilewright.nest.nodes import Kind
from tilewright.nest.operations import OPERATIONS

BUFFERS = 5
CURVE = 10
POSITIONS = (
    "InnerSpatial", "MiddleSpatial", "OuterSpatial", "InnerReduce", "MiddleReduce", "OuterReduce",
    "Mixed", "None",
)  # fmt: skip
ANNOTATIONS = ("vector", "unrolled", "parallel")
WORKER_COLUMNS = {
    Kind.BLOCK: "block_x",
    Kind.VIRTUAL: "vthreads",
    Kind.THREAD_X: "thread_x",
    Kind.THREAD_Y: "thread_y",
}
BUFFER_COLUMNS = (
    ("is_read", "flag"), ("is_write", "flag"), ("is_update", "flag"),
    ("bytes", "B"), ("unique_bytes", "B"),
    ("lines", "cache lines"), ("unique_lines", "cache lines"),
    ("reuse_loop", "flag"), ("reuse_serial", "flag"), ("reuse_none", "flag"),
    ("reuse_distance", "iterations"), ("reuse_distance_bytes", "B"), ("reuse_count", "times"),
    ("bytes_per_reuse", "B"), ("unique_bytes_per_reuse", "B"),
    ("lines_per_reuse", "cache lines"), ("unique_lines_per_reuse", "cache lines"),
    ("stride", "elements"),
)  # fmt: skip
PARTS = ("compute", "near", "far", "exposed")
"""What a statement's estimated time is made of: arithmetic, traffic with the nearer and with the
farther memory, and what must be waited for.
"""


def _columns() -> tuple[tuple[str, str], ...]:
    """Name and unit of every column, in order."""
    names: list[tuple[str, str]] = []
    for kind in ("float", "int"):
        names += [(f"{kind}_{op}", "operations") for op in OPERATIONS]
    names += [("bool_ops", "operations"), ("select_ops", "operations")]
    for a in ANNOTATIONS:
        names += [(f"{a}_loops", "loops"), (f"{a}_product", "iterations")]
        names += [(f"{a}_innermost", "iterations")]
        names += [(f"{a}_at_{p}", "flag") for p in POSITIONS]
    names += [("is_gpu", "flag")]
    names += [(f"block_{x}", "blocks") for x in "xyz"] + [(f"thread_{x}", "threads") for x in "xyz"]
    names += [("vthreads", "threads")]
    for b in range(BUFFERS):
        names += [(f"buffer{b}_{n}", unit) for n, unit in BUFFER_COLUMNS]
    names += [(f"intensity_{i}", "operations/B") for i in range(CURVE)]
    names += [("alloc_bytes", "B"), ("alloc_count", "allocations"), ("alloc_inner", "iterations")]
    names += [("alloc_total", "iterations")]
    names += [("iterations", "iterations"), ("loops", "loops"), ("unroll_step", "statements")]
    names += [("padding_waste", "iterations/iteration"), ("streamed", "flag")]
    names += [("registers", "of a thread"), ("shared_bytes", "B of a block")]
    names += [(f"estimated_{part}", "of the task's usual time") for part in PARTS]
    names += [("estimate", "of the task's usual time")]
    return tuple(names)


COLUMNS = _columns()
PAPER_COLUMNS = 164
INDEX = {name: i for i, (name, _) in enumerate(COLUMNS)}


@dataclass
class _Slots:
    """The rows of a statement's table that tell one dimension of an access."""

    extent: int
    step: int  # elements between neighbours
    coefficients: dict[int, int] | None
    alone: dict[int, int]
    inside: dict[int, int]


@dataclass
class Plan:
    """One statement's structure, and which rows of its table hold its numbers. The table is part of
    the column program's results: `rows` of them from `first` on.
    """

    statement: Statement
    first: int
    extents: list[int]
    parallel: list[int]
    accesses: list[list[_Slots]]
    marks: dict[str, int]
    workers: dict[Kind, int]
    resources: dict[str, int]  # of the kernel, by the last word of their names
    rows: int

    def table(self, values: Sequence[Any], n: int) -> Floats:
        """The statement's numbers for n candidates, `[rows, n]`, from the program's results."""
        table = np.empty((self.rows, n))
        for row, value in zip(table, values[self.first : self.first + self.rows], strict=True):
            row[:] = value
        return table

    @cached_property
    def structure(self) -> Hashable:
        """Statements whose structures are equal may share a table, whatever their sketches."""
        s = self.statement
        return (
            tuple((loop.kind, loop.reduce, loop.parallel is False) for loop in s.loops),
            tuple((a.kind, a.scope, a.tensor.name, a.tensor.dtype) for a in s.accesses),
            tuple(a.tensor.name in s.shared for a in s.accesses),
            (s.allocated_outside, s.opens_kernel, tuple(sorted(s.counts.items()))),
            repr((self.extents, self.parallel, self.accesses, self.marks)),
            repr((self.workers, self.resources)),
        )


def compiled(producer: Producer) -> tuple[ColumnProgram, list[Plan]]:
    """The producer's column program and a plan for each of its statements."""
    exprs: list[Extent] = []

    def plan(s: Statement) -> Plan:
        first = len(exprs)

        def slot(e: Extent | bool) -> int:
            exprs.append(int(e) if isinstance(e, bool) else e)
            return len(exprs) - 1 - first

        def slots(d: Dimension, step: Extent) -> _Slots:
            return _Slots(
                slot(d.extent),
                slot(step),
                None if d.coefficients is None else {i: slot(e) for i, e in d.coefficients.items()},
                {i: slot(e) for i, e in d.alone.items()},
                {i: slot(e) for i, e in d.inside.items()},
            )

        def access(a: Access) -> list[_Slots]:
            steps = tensor_strides(a.tensor.shape)
            return [slots(d, step) for d, step in zip(a.dimensions, steps, strict=True)]

        return Plan(
            statement=s,
            first=first,
            extents=[slot(loop.extent) for loop in s.loops],
            parallel=[slot(loop.parallel) for loop in s.loops],
            accesses=[access(a) for a in s.accesses],
            marks={name: slot(value) for name, value in s.marks.items()},
            workers={kind: slot(count) for kind, count in s.workers.items()},
            resources={
                name.removeprefix(f"{s.kernel}."): slot(amount)
                for name, amount in producer.resources.items()
                if name.rpartition(".")[0] == s.kernel and s.workers
            },
            rows=len(exprs) - first,
        )

    plans = [plan(s) for s in statements(producer.program)]
    return ColumnProgram(exprs, producer.definitions), plans


def _past(marked: Bools) -> Ints:
    """One more than the last row of `[L, n]` that holds in each column; 0 where none does."""
    numbers = np.arange(1, len(marked) + 1, dtype=np.int16)[:, None]  # small: argmax is slower
    past: Ints = (marked * numbers).max(0, initial=0).astype(np.int64)
    return past


def _first(marked: Bools) -> Ints:
    """The first row of `[L, n]` that holds in each column; as many as rows where none does."""
    first: Ints = len(marked) - _past(marked[::-1])
    return first


def _count(marked: Bools) -> NDArray[np.int8]:
    """How many rows of `[L, n]` hold in each column."""
    count: NDArray[np.int8] = marked.view(np.int8).sum(0, dtype=np.int8)  # several times faster
    return count


class Analysis:
    """Loop and access tables of one statement over `n` candidates.

    `extents` is `[L, n]`; `inner[l]` the iterations of all loops inside loop l (`inner[L-1]` = 1);
    `footprint[b, l]` the distinct elements that access b reaches over loops l.. (`[B, L+1, n]`).
    Tensors whose names are in `shifted` do not begin with a cache line; `shifted[b]` says whether
    that of access b is one of them.
    """

    def __init__(
        self, plan: Plan, table: Floats, line_bytes: int, shifted: frozenset[str] = frozenset()
    ) -> None:
        self.plan, self.n, self.line = plan, table.shape[1], float(line_bytes)
        self._table = table
        s = plan.statement
        self.loops, self.accesses = s.loops, s.accesses
        L = len(self.loops)
        self.L, self.B = L, len(self.accesses)
        self.extents = table[plan.extents]
        self.live = self.extents > 1
        self.reach = self.extents - 1.0  # how far each loop's variable moves
        self.outermost, self.innermost = _first(self.live), _past(self.live) - 1
        self.inner = np.ones((L + 1, self.n))
        for i in range(L - 1, -1, -1):
            np.multiply(self.inner[i + 1], self.extents[i], out=self.inner[i])
        self.total = self.inner[0]
        self.parallel = table[plan.parallel]
        self.marks = {name: table[at] for name, at in plan.marks.items()}
        self.workers = {kind: table[at] for kind, at in plan.workers.items()}
        self.resources = {name: table[at] for name, at in plan.resources.items()}
        self.bytes = np.array([a.tensor.dtype.bytes for a in self.accesses], float)
        self.shifted = [a.tensor.name in shifted for a in self.accesses]
        self.touches = np.zeros((self.B, L), bool)
        self.stride = np.zeros((self.B, L, self.n))
        self.footprint = np.ones((self.B, L + 1, self.n))
        self.run = np.ones((self.B, self.n))
        self.size = np.ones((self.B, self.n))
        self.spans = [self._access(b) for b in range(self.B)]
        """How many indices of each dimension an access reaches over loops l.. (`[L+1, n]`), and
        how many elements lie between two of them (`[n]`); the innermost dimension first."""

    def _access(self, b: int) -> list[tuple[Floats, Floats]]:
        """Footprints, strides and the contiguous run of one access; its `spans`."""
        table, running = self._table, np.ones(self.n, bool)
        found = []
        for slots in reversed(self.plan.accesses[b]):
            full, step = table[slots.extent], table[slots.step]
            if slots.coefficients is None:
                for i, w in slots.alone.items():
                    self.touches[b, i] = True
                    self.stride[b, i] += table[w] * step / np.maximum(self.reach[i], 1.0)
            else:
                for i, c in slots.coefficients.items():
                    self.touches[b, i] = True
                    self.stride[b, i] += np.abs(table[c] * step)
            span = np.minimum(self._reach(slots) + 1.0, full)
            found.append((span, step))
            self.footprint[b] *= span
            self.size[b] *= full
            self.run[b] *= np.where(running, span[0], 1.0)
            running &= span[0] >= full
        return found

    def _reach(self, slots: _Slots) -> Floats:
        """How far the index of one dimension moves over loops l.., `[L+1, n]`."""
        reach = np.empty((self.L + 1, self.n))
        moved: Floats = np.zeros(self.n)
        above = self.L + 1
        moving = slots.inside if slots.coefficients is None else slots.coefficients
        for i in sorted(moving, reverse=True):
            reach[i + 1 : above] = moved
            number, above = self._table[moving[i]], i + 1
            moved = number if moving is slots.inside else moved + np.abs(number) * self.reach[i]
        reach[:above] = moved
        return reach

    def coefficients(self, b: int) -> list[dict[int, Floats]] | None:
        """By how much each loop moves the index of each dimension of access b; None where an index
        is no sum of loop variables.
        """
        found = []
        for slots in self.plan.accesses[b]:
            if slots.coefficients is None:
                return None
            found.append({i: np.abs(self._table[c]) for i, c in slots.coefficients.items()})
        return found

    def rows(self, b: int) -> tuple[Floats, Floats]:
        """How many elements of a row access b reaches over loops l.. (`[L+1, n]`), and how many
        the tensor's rows have (`[n]`).
        """
        dimensions = self.plan.accesses[b]
        if not dimensions:
            return np.ones((self.L + 1, self.n)), np.ones(self.n)
        row, _ = self.spans[b][0]
        return row, self._table[dimensions[-1].extent]

    # ---- columns ------------------------------------------------------------------------------

    def columns(self, out: Float32s) -> None:
        """Write all columns but the estimates, unscaled, to `out`: `[len(COLUMNS), n]`, zeros."""
        s = self.plan.statement
        for (kind, op), count in s.counts.items():
            name = f"{kind}_{op}" if kind in ("float", "int") else f"{kind}_ops"
            out[INDEX[name]] = count * self.total
        for annotation in ANNOTATIONS:
            self._annotation(annotation, out[INDEX[f"{annotation}_loops"] :])
        if self.workers:
            self._threads(out)
        self._buffers(out[INDEX["buffer0_is_read"] :])
        self._intensity(out[INDEX["intensity_0"] :])
        alloc = self.inner[s.allocated_outside]
        out[INDEX["alloc_bytes"]] = self.size[0] * self.bytes[0]
        out[INDEX["alloc_count"]] = self.total / alloc
        out[INDEX["alloc_inner"]] = alloc
        out[INDEX["alloc_total"]] = self.total / alloc * self.size[0]
        out[INDEX["iterations"]] = self.total
        out[INDEX["loops"]] = _count(self.live)
        for name in self.marks.keys() & INDEX.keys():
            out[INDEX[name]] = self.marks[name]
        out[INDEX["padding_waste"]] = np.maximum(self.footprint_total() - 1.0, 0.0)

    def footprint_total(self) -> Floats:
        """Spatial iterations per distinct element written (1: nothing is computed twice)."""
        reduce = np.ones(self.n)
        for loop, extent in zip(self.loops, self.extents, strict=True):
            if loop.reduce:
                reduce = reduce * extent
        spatial: Floats = self.total / reduce / self.footprint[0, 0]
        return spatial

    def _annotation(self, which: str, out: Float32s) -> None:
        """Loops, product, innermost extent and position of one kind of annotated loops."""
        loops, marked = self._marked(which)
        if not marked.any():
            out[3 + POSITIONS.index("None")] = 1.0
            return
        count, past, each = _count(marked), _past(marked), np.arange(self.n)
        any_marked = past > 0
        innermost = loops[past - 1]
        out[0] = count
        extents = np.where(marked, self.extents[loops], 1.0)
        out[1] = np.where(any_marked, extents.prod(0), 0.0)
        out[2] = np.where(any_marked, self.extents[innermost, each], 0.0)
        reduce = np.array([self.loops[i].reduce for i in loops])
        has_reduce = marked[reduce].any(0)
        has_space = marked[~reduce].any(0)
        inner = innermost == self.innermost
        outer = loops[_first(marked) % len(loops)] == self.outermost
        place = np.where(inner, 0, np.where(outer, 2, 1)) + np.where(has_reduce, 3, 0)
        place = np.where(has_reduce & has_space, 6, np.where(any_marked, place, 7))
        out[3 + place, each] = 1.0

    def _threads(self, out: Float32s) -> None:
        """How many workers of each kind the kernel has, and what it takes (as estimated, nothing
        is compiled); blocks are numbered along x only.
        """
        out[INDEX["is_gpu"]] = 1.0
        for name in ("block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z"):
            out[INDEX[name]] = 1.0
        out[INDEX["vthreads"]] = 1.0
        for kind, name in WORKER_COLUMNS.items():
            if kind in self.workers:
                out[INDEX[name]] = self.workers[kind]
        out[INDEX["registers"]] = self.resources["registers"]
        out[INDEX["shared_bytes"]] = self.resources["shared"]

    def _marked(self, which: str) -> tuple[Ints, Bools]:
        """The loops that may have an annotation, and in which candidates they do."""
        if which == "parallel":
            found = [i for i, loop in enumerate(self.loops) if loop.parallel is not False]
            flags = [self.live[i] & (self.parallel[i] != 0) for i in found]
        else:
            found = [i for i, loop in enumerate(self.loops) if loop.kind is Kind(which)]
            flags = [self.live[i] for i in found]
        return np.array(found, np.int64), np.array(flags, bool).reshape(len(found), self.n)

    def _buffers(self, out: Float32s) -> None:
        """The 18 columns of the five accesses with the most unique bytes."""
        unique = self.footprint[:, 0] * self.bytes[:, None]
        table = np.zeros((self.B, len(BUFFER_COLUMNS), self.n), np.float32)
        level_bytes = (self.footprint * self.bytes[:, None, None]).sum(0)
        for b in range(self.B):
            self._buffer(b, unique[b], level_bytes, table[b])
        kept = min(self.B, BUFFERS)
        block = out[: BUFFERS * len(BUFFER_COLUMNS)].reshape(BUFFERS, len(BUFFER_COLUMNS), self.n)
        if self.B == 1:
            block[0] = table[0]
            return
        order = np.argsort(-unique, axis=0, kind="stable")[:kept]
        block[:kept] = np.take_along_axis(table, order[:, None, :], axis=0)

    def _buffer(self, b: int, unique: Floats, level_bytes: Floats, out: Float32s) -> None:
        access = self.accesses[b]
        out[("read", "write", "update").index(access.kind)] = 1.0
        moves = self.live & (self.stride[b] > 0.0)
        each = np.arange(self.n)
        width = self.bytes[b]
        past = _past(moves)
        stride = np.where(past > 0, self.stride[b, past - 1, each], 0.0) if self.L else 0.0
        lines = self.total / self.inner[past, each] * np.minimum(1.0, stride * width / self.line)
        unique_lines = unique / np.minimum(self.line, self.run[b] * width)
        out[3], out[4] = self.total * width, unique
        out[5], out[6] = np.maximum(1.0, lines), np.maximum(1.0, unique_lines)
        past = _past(self.live & ~moves)
        reused = past > 0
        again = access.tensor.name in self.plan.statement.shared
        out[7] = reused
        out[8 if again else 9] = ~reused
        if self.L:
            out[10] = np.where(reused, self.inner[past, each], 0.0)
            out[11] = np.where(reused, level_bytes[past, each], 0.0)
            out[12] = np.where(reused, self.extents[past - 1, each], 0.0)
        # an element that is never reused costs twice: it is fetched and evicted for one use
        per = 1.0 / np.where(reused, np.maximum(out[12], 1.0), 0.5)
        out[13:17] = out[3:7] * per
        out[17] = stride

    def _intensity(self, out: Float32s) -> None:
        """Float operations per byte of footprint at each live loop, innermost first, sampled."""
        counts = self.plan.statement.counts
        work = sum(c * (2 if op == "mad" else 1) for (k, op), c in counts.items() if k == "float")
        if not work:
            return
        if not self.L:
            out[:CURVE] = work / (self.footprint[:, 0] * self.bytes[:, None]).sum(0)
            return
        level_bytes = (self.footprint * self.bytes[:, None, None]).sum(0)
        curve = self.inner[: self.L] * work / level_bytes[: self.L]
        before = np.cumsum(self.live, 0)
        alive = before[-1]
        order = np.full((self.L + 1, self.n), self.L - 1)
        rank = np.where(self.live, alive - before, self.L)
        np.put_along_axis(order, rank, np.arange(self.L)[:, None], axis=0)
        top = np.maximum(alive - 1, 0)
        x = np.linspace(0, 1, CURVE)[:, None] * top
        low = x.astype(np.int64)
        high = np.minimum(low + 1, top)
        a = np.take_along_axis(curve, np.take_along_axis(order, low, 0), 0)
        b = np.take_along_axis(curve, np.take_along_axis(order, high, 0), 0)
        out[:CURVE] = a + (b - a) * (x - low)

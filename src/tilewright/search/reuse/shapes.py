"""Programs of a tiled stage by what blocks and threads compute of it (ETO, section 5.1).

    shapes = Shapes.of(space, extractor, sketch, operator, row)     None for other sketches
    for blocks, shape in shapes.block_shapes(28, 112):              BShapes of least cost
        loads = shapes.loads(shape, bytes_of_a_block)               LShape
        threads = shapes.thread_shapes(shape, loads, low, high)     TShapes of least cost, and rows
    shapes.all_loads(program)                                       all LShapes of a program

A *BShape* is what a block computes of the output, one length an axis; a *TShape* what a thread
does, split into virtual threads and its own tile; an *LShape* in how many loads a block gets what
it reduces, one number a reduction axis. Whatever they leave open is as in `row`. On CPUs blocks and
threads are those of `cost/usage.py`: a thread is a register tile.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from math import inf, prod

import numpy as np

from tilewright.cost.analysis import Analysis
from tilewright.cost.candidates import Floats, Ints, Population
from tilewright.cost.estimate import estimator_of
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.usage import Usage, meter_of
from tilewright.nest.marks import GREATEST_UNROLL_STEP
from tilewright.nest.nodes import Kind
from tilewright.schedule.steps import extent_int
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.shape_costs import (
    operands,
    reached,
    requested_lines,
    running,
    shared_requests,
    unrolled,
)
from tilewright.space.decisions import Choice, Decision, TileFactors, divisors
from tilewright.space.space import Space
from tilewright.target import GpuTarget

SECTOR_BYTES = 32  # that a GPU's caches ask for
LEAST_ROW = 8  # statements that a GPU's code has in a row in any case
ROUNDING = 1e-6
BEYOND = 4.0  # how far above a range's lower end the nearest number is looked for
GRID = 1 << 20  # shapes of threads looked at for one block


@dataclass(frozen=True)
class Levels:
    """Which tile levels of a structure are whose, numbered from 0, outermost: there are `spatial`
    and `reduction` many. Those before `virtual` and `threads` are of blocks, those after them a
    thread's `own`; that of reductions which counts loads is 0.
    """

    spatial: int
    reduction: int
    virtual: tuple[int, ...]
    threads: tuple[int, ...]
    own: tuple[int, ...]


GPU_LEVELS = Levels(5, 3, (1,), (2,), (3, 4))  # SSSRRSRS
CPU_LEVELS = Levels(4, 2, (), (2,), (3,))  # SSRSRS
CPU_INNER_LEVELS = Levels(4, 2, (), (), (3,))  # the same, computed inside of all outer tiles
INNER = 2  # the level of a CPU's consumer after which that is


@dataclass
class Shapes:
    """Of one sketch. `row` has values of all decisions."""

    space: Space
    extractor: FeatureExtractor
    sketch: int
    stage: str
    row: Ints
    levels: Levels
    spatial: list[TileFactors]
    reduction: list[TileFactors]
    padded: bool = False
    repeats: float = field(default=1.0, init=False)

    @staticmethod
    def of(
        space: Space,
        extractor: FeatureExtractor,
        sketch: int,
        operator: Operator,
        row: Ints,
        padded: bool = False,
    ) -> Shapes | None:
        """Those of a sketch that tiles the operator's major stage, or one that does its work
        (products of transformed windows, a factored reduction; the largest of several); with
        `padded` blocks may run over an axis as far as the decisions allow.
        """
        decisions = space.sketches[sketch].decisions
        tiles = [d for d in decisions if isinstance(d, TileFactors)]
        parts = {d.stage: prod(t.extent for t in tiles if t.stage == d.stage) for d in tiles}
        stages = space.sketches[sketch].stages
        own = [s for s in parts if stages[s].node == operator.stage]
        for stage in sorted(own, key=lambda s: -parts[s]):
            levels = _levels(space, sketch, stage, row)
            mine = [d for d in tiles if d.stage == stage]
            spatial, reduction = ([d for d in mine if d.levels[0].letter == x] for x in "SR")
            counts = {len(d.levels) for d in spatial}, {len(d.levels) for d in reduction}
            if counts == ({levels.spatial}, {levels.reduction}):
                found = Shapes(
                    space, extractor, sketch, stage, row, levels, spatial, reduction, padded
                )
                one = found._whole(np.array([[d.extent for d in spatial]], np.int64))
                found.repeats = float(found.usage(one).blocks[0])
                return found
        return None

    def usage(self, programs: Population) -> Usage:
        """What programs take by the stage alone: extreme ones do more elsewhere."""
        return meter_of(self.space.target)(self.analysis(programs))

    # ---- blocks -------------------------------------------------------------------------------

    def block_shapes(self, low: float, high: float) -> list[tuple[float, Ints]]:
        """Each number of blocks from `low` to `high`, with its BShape of least cost, `[axes]`;
        where there is none, the nearest. A block that is one thread's work costs what that does.
        """
        shapes, blocks = np.zeros((1, 0), np.int64), np.full(1, self.repeats)
        for d in self.spatial:
            lengths = np.unique(d.table.prod(axis=1) if self.levels.threads else d.table[:, -1])
            if not self.padded:
                lengths = lengths[d.extent % lengths == 0]
            each = -(-d.extent // lengths)
            shapes = np.column_stack(
                [shapes.repeat(len(lengths), 0), np.tile(lengths, len(shapes))]
            )
            blocks = np.outer(blocks, each).ravel()
            least = np.unique(blocks)[0]
            few = blocks <= max(least, high * (1 + ROUNDING), low * BEYOND)
            shapes, blocks = shapes[few], blocks[few]
        programs = self._whole(shapes, one_by_one=False)
        if not self.levels.threads:
            runs = np.flatnonzero(self.space.valid(programs))
            shapes, blocks, programs = shapes[runs], blocks[runs], programs[runs]
        inside = _inside(blocks, low, high)
        shapes, blocks, programs = shapes[inside], blocks[inside], programs[inside]
        if not len(shapes):
            return []
        cost = self.block_cost(shapes) if self.levels.threads else self.thread_cost(programs)
        found: dict[float, Ints] = {}
        for i in np.lexsort([cost, blocks]):
            found.setdefault(float(blocks[i]), shapes[i])
        return list(found.items())

    def block_cost(self, shapes: Ints) -> Floats:
        """Cache-line requests of all blocks of a shape, `[n]` of `[n, axes]`."""
        a = self.analysis(self._whole(shapes))
        target = self.space.target
        outside = a.of_kind(Kind.BLOCK)
        first = next((i for i, loop in enumerate(a.loops) if loop.reduce), a.L)
        begin = max(outside, default=-1) + 1 if isinstance(target, GpuTarget) else first
        inside = np.arange(a.L) >= begin
        line = SECTOR_BYTES if isinstance(target, GpuTarget) else target.line_bytes
        blocks = np.prod([-(-d.extent // shapes[:, i]) for i, d in enumerate(self.spatial)], 0)
        cost: Floats = requested_lines(a, inside, line, self._fetched()) * blocks
        return cost

    def _fetched(self) -> dict[str, list[int]]:
        """Shapes of what is copied before it is read, by the copies' names."""
        return {
            name: [extent_int(axis.extent) for axis in stage.compute.axes]
            for name, stage in self.space.sketches[self.sketch].stages.items()
            if stage.attach is not None and stage.work != self.stage
        }

    def _whole(self, shapes: Ints, one_by_one: bool = True) -> Population:
        """A program of each block shape that loads its reductions one by one, or all at once."""
        ones = np.ones_like(shapes)
        own, threads = (ones, shapes) if self.levels.threads else (shapes, ones)
        trips = self._extents if one_by_one else np.ones_like(self._extents)
        return self.rows(ones, threads, own, trips[None, :].repeat(len(shapes), 0))

    @property
    def _extents(self) -> Ints:
        return np.array([d.extent for d in self.reduction], np.int64)

    # ---- loads --------------------------------------------------------------------------------

    def loads(self, shape: Ints, block_bytes: float) -> Ints:
        """The LShape of one axis longer than 1 (or none) with the bytes of a block nearest."""
        options = [np.ones(len(self.reduction), np.int64)]
        for i, extent in enumerate(self._extents):
            for n in divisors(int(extent))[1:]:
                options.append(np.where(np.arange(len(self.reduction)) == i, n, 1))
        trips, shapes = np.array(options), shape[None, :].repeat(len(options), 0)
        like = self._whole(shapes)
        self._set(self.reduction, like.rows, self._reductions(trips))
        usage = self.usage(like)
        blocks = np.prod([-(-d.extent // n) for d, n in zip(self.spatial, shape, strict=True)])
        off = np.abs(usage.bytes / usage.blocks - block_bytes)
        if isinstance(self.space.target, GpuTarget):
            off[usage.bytes / usage.blocks > self.space.target.most_shared_bytes] = inf
        off[np.abs(usage.blocks / (blocks * self.repeats) - 1) > ROUNDING] = inf
        found: Ints = trips[off.argmin()]
        return found

    def all_loads(self, program: Population) -> Population:
        """A program with all LShapes, its own included."""
        trips = np.array([*product(*(divisors(int(n)) for n in self._extents))], np.int64)
        rows = program.rows.repeat(len(trips), 0)
        self._set(self.reduction, rows, self._reductions(trips))
        return valid_ones(self.space, Population(rows, np.full(len(rows), self.sketch)))

    # ---- threads ------------------------------------------------------------------------------

    def thread_shapes(
        self, shape: Ints, loads: Ints, low: float, high: float, cheapest: bool = True
    ) -> tuple[Floats, Population]:
        """Each number of threads of a block from `low` to `high`, with the program of the TShape of
        least cost (of any, where `cheapest` is not asked for); where there is none, the nearest.
        """
        virtual, threads = self._splits(shape, max(high, low * BEYOND))
        numbers = threads.prod(1)
        trips = loads[None, :].repeat(len(numbers), 0)
        rows = self.rows(virtual, threads, shape // (virtual * threads), trips)
        valid = np.flatnonzero(self.space.valid(rows)) if len(rows) else np.zeros(0, np.int64)
        valid = valid[_inside(numbers[valid], low, high)]
        rows, numbers, virtual = rows[valid], numbers[valid], virtual[valid]
        if cheapest and len(rows):
            order = np.lexsort([virtual.prod(1), self.thread_cost(rows), numbers])
            rows, numbers = rows[order], numbers[order]
        each, first = np.unique(numbers, return_index=True)
        return each.astype(float), rows[first]

    def _splits(self, shape: Ints, most: float) -> tuple[Ints, Ints]:
        """Ways to deal a block out to virtual threads and at most so many threads, `[n, axes]`
        each.
        """
        target = self.space.target
        copies = target.virtual if isinstance(target, GpuTarget) else 1
        virtual = threads = np.zeros((1, 0), np.int64)
        for length in shape.tolist():
            pairs = [
                (v, t)
                for v in (divisors(length) if self.levels.virtual else (1,))
                for t in (divisors(length // v) if self.levels.threads else (1,))
            ]
            at, which = np.divmod(np.arange(len(virtual) * len(pairs)), len(pairs))
            chosen = np.array(pairs, np.int64)[which]
            virtual = np.column_stack([virtual[at], chosen[:, 0]])
            threads = np.column_stack([threads[at], chosen[:, 1]])
            some = (virtual.prod(1) <= copies) & (threads.prod(1) <= most * (1 + ROUNDING))
            virtual, threads = virtual[some][:GRID], threads[some][:GRID]
        return virtual, threads

    def thread_cost(self, rows: Population) -> Floats:
        """Requests of shared memory; on CPUs the seconds that register tiles keep a core busy."""
        a, target = self.analysis(rows), self.space.target
        if isinstance(target, GpuTarget):
            return shared_requests(a, target.warp)
        cost: Floats = estimator_of(target)(a, target)[1][0]
        return cost

    # ---- the rest -----------------------------------------------------------------------------

    def rows(self, virtual: Ints, threads: Ints, own: Ints, trips: Ints) -> Population:
        """Programs of these shapes, `[n, axes]` each, valid or not. The innermost of the levels
        left is the least divisor of what remains, as published: 8 is 4 x 2.
        """
        rows = self.row[None, :].repeat(len(virtual), 0)
        tiles = np.ones((*virtual.shape, self.levels.spatial), np.int64)
        for levels, lengths in ((self.levels.virtual, virtual), (self.levels.threads, threads)):
            for level in levels:
                tiles[:, :, level] = lengths
        inner = np.array([d.levels[-1].most for d in self.spatial])
        last = np.minimum(_least_divisor(own), own) if len(self.levels.own) > 1 else own
        last = np.where(last > inner, 1, last) if len(self.levels.own) > 1 else last
        tiles[:, :, self.levels.own[0]] = own // last
        tiles[:, :, self.levels.own[-1]] = last
        self._set(self.spatial, rows, tiles)
        self._set(self.reduction, rows, self._reductions(trips))
        return Population(rows, np.full(len(rows), self.sketch))

    def _reductions(self, trips: Ints) -> Ints:
        """Tiles `[n, axes, levels]` of reductions loaded in so many parts."""
        rest = -(-self._extents // trips)
        tiles = np.ones((*trips.shape, self.levels.reduction), np.int64)
        last = _least_divisor(rest) if self.levels.reduction > 2 else rest
        tiles[:, :, 1] = rest // last
        tiles[:, :, -1] = last
        return tiles

    def _set(self, decisions: list[TileFactors], rows: Ints, tiles: Ints) -> None:
        for i, d in enumerate(decisions):
            rows[:, self.space.span(d)] = tiles[:, i, 1:]

    def unrolling(self, programs: Population) -> tuple[Choice | None, Floats, Floats]:
        """The decision how far loops are unrolled, and for each of its values what `unrolled` says
        of each program, `[values, n]`.
        """
        decision = self.choice(f"{self.stage}.unroll")
        if decision is None:
            return None, np.zeros((0, len(programs))), np.zeros((0, len(programs)))
        a, partly = self.analysis(programs), isinstance(self.space.target, GpuTarget)
        limits = decision.table[:, 0].clip(LEAST_ROW if partly else 0, None)
        limits = limits if partly else limits.clip(None, GREATEST_UNROLL_STEP)
        found = [unrolled(a, np.full(a.n, float(n)), partly) for n in limits]
        return decision, np.stack([s for s, _ in found]), np.stack([r for _, r in found])

    def choice(self, name: str) -> Choice | None:
        """A choice of the sketch by name."""
        decisions: tuple[Decision, ...] = self.space.sketches[self.sketch].decisions
        return next((d for d in decisions if isinstance(d, Choice) and d.name == name), None)

    def analysis(self, programs: Population) -> Analysis:
        """Tables of the stage's update, one column a program."""
        sketch = self.space.sketches[self.sketch]
        program, compiled = self.extractor.compiled(sketch)
        values = program.run(sketch.environment(programs.rows))
        updates = (
            c.statement
            for c in compiled
            if sketch.stages[c.statement.stage].work == self.stage
            and any(access.kind == "update" for access in c.statement.accesses)
        )
        target = self.space.target
        return Analysis(next(updates), values, len(programs), target.line_bytes, self.space.shifted)


def _levels(space: Space, sketch: int, stage: str, row: Ints) -> Levels:
    """The levels of a stage's tiles in a program of those choices."""
    if isinstance(space.target, GpuTarget):
        return GPU_LEVELS
    decisions = space.sketches[sketch].decisions
    level = [row[space.span(d)][0] for d in decisions if d.name == f"{stage}.level"]
    return CPU_INNER_LEVELS if INNER in level else CPU_LEVELS


def valid_ones(space: Space, programs: Population) -> Population:
    """The programs that are some of the space."""
    return programs[space.valid(programs)] if len(programs) else programs


def with_value(programs: Population, space: Space, decision: Decision, value: Ints) -> Population:
    """The programs with another value of one decision, `[columns]` or one a program."""
    rows = programs.rows.copy()
    rows[:, space.span(decision)] = value
    return replace(programs, rows=rows)


def fetch_widths(shapes: Shapes, program: Population) -> list[tuple[Choice, Ints]]:
    """How wide a program of one may fetch each input: the decision, and its values that divide what
    a thread fetches, `[values, 1]`.
    """
    a = shapes.analysis(program)
    inside = np.array([
        loop.kind is not Kind.BLOCK and not (loop.reduce and loop.name.endswith(".0"))
        for loop in a.loops
    ])  # fmt: skip
    threads = running(a, np.array([loop.kind is Kind.THREAD_X for loop in a.loops])).prod(0)
    found = []
    for b in operands(a):
        width = shapes.choice(f"{shapes.stage}.fetch.{a.accesses[b].tensor.name}")
        if width is not None:
            each = reached(a, b, running(a, inside)) / threads
            found.append((width, width.table[(each % width.table[:, 0] == 0)]))
    return found


def _inside(numbers: Ints | Floats, low: float, high: float) -> Ints:
    """Where numbers from `low` to `high` are, or those that are nearest."""
    low, high = low * (1 - ROUNDING), high * (1 + ROUNDING)
    found = np.flatnonzero((numbers >= low) & (numbers <= high))
    if len(found) or not len(numbers):
        return found
    octaves = np.abs(np.log2(numbers / numbers.clip(low, high)))
    return np.flatnonzero(octaves == octaves.min())


def _least_divisor(n: Ints) -> Ints:
    """The least divisor > 1 of each, 1 of 1."""
    values, at = np.unique(n, return_inverse=True)
    found = np.array([(*divisors(int(v))[1:2], 1)[0] for v in values], np.int64)
    return found[at].reshape(n.shape)

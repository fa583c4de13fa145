"""The rounds of the published tuner (ETO, algorithm 1), and how many programs they come to.

    rounds = search_rounds(reuse)
    round = next(rounds)                  what is measured next
    round = rounds.send(best)             the fastest of it and of what this number of blocks had

For each number of blocks, each time around the fastest program so far: all numbers of threads,
other loads, other unrolling, and widths of fetches (on CPUs every other choice, one after the
other). Sketches that do not tile their major stage in levels for blocks and threads (section 5.2:
reductions across threads, two levels of one loop) have one round, of all values of its decisions
that are in the ranges. Where a range has no number of blocks or threads, the nearest beyond stands
for it (a program that pads tiles may have numbers that divide nothing; the published artifact looks
beyond, too). Of a composite sketch the other stages stay as the relative has them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from math import inf, prod
from typing import TypeAlias

import numpy as np

from tilewright.cost.candidates import Ints, Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.usage import Usage, usage_of
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.ranges import Ranges, published, ranges_of
from tilewright.search.reuse.shapes import Shapes, fetch_widths, valid_ones, with_value
from tilewright.search.strategies.evolution import choices
from tilewright.space.decisions import Decision, TileFactors
from tilewright.space.space import Space
from tilewright.target import CpuTarget, Target

THREADS, LOADS, UNROLL, CHOICE = "threads", "loads", "unroll", "choice"  # rounds
ANY = (0.0, inf)
LISTED = 512  # programs of a sketch without levels; decisions of more values stay as they are
DRAWS = 64  # programs drawn for one that a relative may have


@dataclass(frozen=True)
class SearchRound:
    """Programs to be measured; none is a round, too."""

    origin: str
    programs: Population


Rounds: TypeAlias = Generator[SearchRound, Population | None, None]


@dataclass
class Reuse:
    """What a relative's program says of an operator's sketch: `row` has its decisions' nearest
    values, `usage` (of one program) what it takes, `registers` those of its threads (None: not
    known). With `counting`, any TShape will do, and all options of a choice count.
    """

    space: Space
    extractor: FeatureExtractor
    sketch: int
    operator: Operator
    row: Ints
    ranges: Ranges
    usage: Usage
    registers: float | None = None
    counting: bool = False

    def held(self, programs: Population) -> Population:
        """Those in the ranges of blocks and threads."""
        if not len(programs):
            return programs
        ranges = replace(self.ranges, bytes=ANY, block_bytes=ANY)
        return programs[ranges.hold(usage_of(self.extractor, programs), self.usage)]

    def loaded(self, programs: Population, like: Population) -> Population:
        """Those of as many blocks and threads as a program of one, in the ranges of bytes."""
        if not len(programs):
            return programs
        usage, ranges = (
            usage_of(self.extractor, programs),
            replace(self.ranges, blocks=ANY, threads=ANY),
        )
        same = Ranges((1.0, 1.0), (1.0, 1.0)).hold(usage, usage_of(self.extractor, like))
        return programs[same & ranges.hold(usage, self.usage)]


def tuner_ranges(target: Target, here: Operator, there: Operator) -> Ranges:
    """Those of `ranges_of`, with blocks as published on CPUs, too: the rounds enumerate them."""
    ranges = ranges_of(target, here, there)
    if isinstance(target, CpuTarget):
        ranges = replace(ranges, blocks=published(here, there).blocks)
    return ranges


def search_rounds(reuse: Reuse) -> Rounds:
    """Algorithm 1; see the module's docstring. Whoever drives it sends the fastest program after
    each round, of the round and of what was sent last for the same blocks; None where none runs.
    """
    shapes = Shapes.of(reuse.space, reuse.extractor, reuse.sketch, reuse.operator, reuse.row)
    if shapes is None:
        yield SearchRound(THREADS, listed(reuse))
        return
    blocks = float(reuse.usage.blocks[0])
    low, high = (blocks * end for end in reuse.ranges.blocks)
    if not shapes.levels.threads:  # as many blocks as threads
        least, most = (float(reuse.usage.threads[0]) * end for end in reuse.ranges.threads)
        low, high = max(low, least), max(min(high, most), least)
    for number, shape in shapes.block_shapes(low, high):
        yield from _of_blocks(reuse, shapes, number, shape)


def _of_blocks(reuse: Reuse, shapes: Shapes, number: float, shape: Ints) -> Rounds:
    """The rounds of one number of blocks."""
    usage = reuse.usage
    loads = shapes.loads(shape, float(usage.bytes[0] / usage.blocks[0]))
    low, high = (float(usage.threads[0]) * end / number for end in reuse.ranges.threads)
    _, programs = shapes.thread_shapes(shape, loads, low, high, cheapest=not reuse.counting)
    best = yield SearchRound(THREADS, usually_unrolled(reuse, shapes, programs))
    if best is None:
        return
    others = reuse.loaded(shapes.all_loads(best), best)
    best = (yield SearchRound(LOADS, usually_unrolled(reuse, shapes, others))) or best
    best = (yield SearchRound(UNROLL, otherwise_unrolled(reuse, shapes, best))) or best
    for decision, values in _other_choices(reuse, shapes, best):
        programs = with_value(_repeated(best, len(values)), reuse.space, decision, values)
        best = (yield SearchRound(CHOICE, valid_ones(reuse.space, programs))) or best


def _other_choices(
    reuse: Reuse, shapes: Shapes, program: Population
) -> Iterator[tuple[Decision, Ints]]:
    """Choices of the last rounds, with their values."""
    if isinstance(reuse.space.target, CpuTarget):
        for decision in choices(reuse.space.sketches[reuse.sketch]):
            if decision.name != f"{shapes.stage}.unroll":
                yield decision, decision.table
    else:
        for width, values in fetch_widths(shapes, program):
            yield width, width.table if reuse.counting else values


def usually_unrolled(reuse: Reuse, shapes: Shapes, programs: Population) -> Population:
    """The programs with that unroll limit whose registers are nearest the relative's, the nearest
    of several to its own.
    """
    if reuse.registers is None or not len(programs):
        return programs
    decision, _, registers = shapes.unrolling(programs)
    if decision is None:
        return programs
    given = reuse.row[reuse.space.span(decision)][0]
    off = np.abs(np.log2((decision.table[:, 0] + 1.0) / (given + 1.0)))
    at = [np.lexsort([off, far])[0] for far in np.abs(registers - reuse.registers).T]
    return valid_ones(reuse.space, with_value(programs, reuse.space, decision, decision.table[at]))


def otherwise_unrolled(reuse: Reuse, shapes: Shapes, program: Population) -> Population:
    """A program of one with the unroll limits that write out more statements, or fewer."""
    decision = shapes.choice(f"{shapes.stage}.unroll")
    if decision is None:
        return program[:0]
    mine = decision.table[:, 0] == program.rows[0, reuse.space.span(decision)][0]
    if reuse.counting:
        values = decision.table[~mine]
    else:
        _, statements, _ = shapes.unrolling(program)
        _, first = np.unique(statements[:, 0], return_index=True)
        values = decision.table[np.sort(first)]
        values = values[statements[np.sort(first), 0] != statements[mine, 0]]
    others = with_value(_repeated(program, len(values)), reuse.space, decision, values)
    return valid_ones(reuse.space, others)


def listed(reuse: Reuse) -> Population:
    """Of a sketch without levels, the programs in the ranges: with all values of the major stage's
    decisions, those of few values first, as long as these are at most `LISTED` together.
    """
    space, sketch = reuse.space, reuse.space.sketches[reuse.sketch]
    programs = Population(reuse.row[None, :], np.array([reuse.sketch]))
    mine = [d for d in sketch.decisions if sketch.stages[d.stage].node == reuse.operator.stage]
    own = [d for d in mine if d.name != f"{d.stage}.unroll"]
    for decision in sorted(own, key=lambda d: len(d.table)):
        if len(programs) * len(decision.table) <= LISTED:
            values = np.tile(decision.table, (len(programs), 1))
            many = _repeated(programs, len(decision.table))
            programs = with_value(many, space, decision, values)
    return reuse.held(valid_ones(space, programs))


def _repeated(programs: Population, n: int) -> Population:
    return Population(programs.rows.repeat(n, 0), programs.sketch.repeat(n))


def count(reuse: Reuse) -> int:
    """How many programs the rounds have, with any program taken for the fastest."""
    rounds = search_rounds(replace(reuse, counting=True))
    total, best = 0, None
    try:
        found = next(rounds)
        while True:
            new = len(found.programs)
            # the program that a round varies is among those of other loads and choices
            total += max(0, new - 1) if found.origin in (LOADS, CHOICE) else new
            best = found.programs[:1] if new else (None if found.origin == THREADS else best)
            found = rounds.send(best)
    except StopIteration:
        return total


def expected_programs(
    space: Space,
    sketch: int,
    target: Operator,
    source: Operator,
    samples: int = 10,
    seed: int = 0,
    extractor: FeatureExtractor | None = None,
) -> float:
    """How many programs algorithm 1 measures on average, over programs that the relative may have
    (ETO, section 6.1): its tile lengths are drawn from all there are, so that a shape is drawn as
    often as there are ways to tile for it. What the other rounds try counts in full.
    """
    rng = np.random.default_rng(seed)
    extractor = extractor or FeatureExtractor(space)
    ranges = tuner_ranges(space.target, target, source)
    counts = []
    for _ in range(samples):
        drawn = _assumed(space, extractor, sketch, rng, target, source)
        if drawn is not None:
            row, usage = drawn
            counts.append(count(Reuse(space, extractor, sketch, target, row, ranges, usage)))
    return float(np.mean(counts)) if counts else 0.0


def _assumed(
    space: Space,
    extractor: FeatureExtractor,
    sketch: int,
    rng: np.random.Generator,
    target: Operator,
    source: Operator,
) -> tuple[Ints, Usage] | None:
    """A program that the relative may have, in the columns of this space, and its usage: blocks are
    those of its own extents, what each takes is as here. None where none is valid.
    """
    compute = space.dag.tensor(target.stage).source
    axes = [*getattr(compute, "axes", ()), *getattr(compute, "reduce_axes", ())]
    extents = {f"{target.stage}.{a.name}": n for a, n in zip(axes, source.nest, strict=True)}
    rows = np.zeros((DRAWS, space.width), np.int64)
    for d in space.sketches[sketch].decisions:
        table = d.table
        if isinstance(d, TileFactors) and d.name in extents:
            table = replace(d, extent=extents[d.name], slack=0, within=0).table
        rows[:, space.span(d)] = table[rng.integers(0, len(table), DRAWS)]
    programs = Population(rows, np.full(DRAWS, sketch))
    programs = programs[space.satisfied(programs)][:1]
    if not len(programs):
        return None
    usage = usage_of(extractor, programs)
    grown = _grown(space, sketch, programs.rows[0], target, extents)
    return programs.rows[0], Usage(usage.blocks * grown, usage.threads * grown, usage.bytes * grown)


def _grown(
    space: Space, sketch: int, row: Ints, target: Operator, extents: dict[str, int]
) -> float:
    """How many times as many tiles of those lengths the relative's outputs are."""
    mine = prod(target.nest[: target.family.spatial])
    theirs = prod(list(extents.values())[: target.family.spatial])
    for d in space.sketches[sketch].decisions:
        spatial = list(extents)[: target.family.spatial]
        if isinstance(d, TileFactors) and d.name in spatial:
            inner = int(row[space.span(d)].prod())
            mine = mine // d.extent * (-(-d.extent // inner) * inner)
    return theirs / mine

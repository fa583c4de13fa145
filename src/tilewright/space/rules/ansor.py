"""The rules of Ansor's table 1: skip and inline (1, 2), multi-level tiling, with fusion, and a
write cache (3 to 5), a factored reduction (6).

    C[i, j] = Σ_k …    SSRSRS    i.0 j.0 | i.1 j.1 | k.0 | i.2 j.2 | k.1 | i.3 j.3

The innermost level is the register tile: its last axis runs along the vector lanes, the others
are unrolled. With fusion, the consumer follows all spatial tiles and the tiled stage is computed
inside it, after level 0, 1 (as in the paper) or 2, which keeps a register tile in registers
through all its reductions. The level is a decision, so that all are one sketch.

Along an axis whose terms repeat (see `skip_zeros`) the tiles are of every period-th element. The
position in the period is a loop between the outer spatial levels and the reductions:

    y[h] = Σ_q …     period 2: h = (h.0 h.1 h.2 h.3) * 2 + h.4      h.0 | h.1 | h.4 | q.0 | h.2 | …

Factors of a reduction are outer parts (chunks for the threads) or inner ones (lanes of a vector):

    s = Σ_k …    ->    s.rf[f] = Σ_r …;  s = Σ_f s.rf[f]

Only exact factors, so that no iteration is padding.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeAlias

from tilewright.expr.nodes import Axis
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import Kind
from tilewright.schedule.state import Role, Stage
from tilewright.schedule.steps import (
    Annotate,
    CacheWrite,
    ComputeAt,
    ComputeInline,
    FollowSplit,
    LayoutRewrite,
    Reorder,
    RFactor,
    Split,
    extent_int,
)
from tilewright.space.chains import chains
from tilewright.space.decisions import TILE, Level, divisors
from tilewright.space.derivation import Derivation, Rule, Verdict, previous
from tilewright.space.predicates import (
    DotLoop,
    block_length,
    dot_loop,
    fusible_consumer,
    has_data_reuse,
    has_more_reduction_parallel,
    is_inlinable,
    is_strictly_inlinable,
    packable_constants,
    vector_axis,
)
from tilewright.target import CpuTarget


def _can_inline(d: Derivation) -> Verdict:
    if d.working.name in d.factors:
        return Verdict.NO
    return Verdict.ONLY if is_strictly_inlinable(d.state, d.working, d.target) else Verdict.NO


def _inline(d: Derivation) -> list[Derivation]:
    before = previous(d.state, d.stage)
    d.apply(ComputeInline(d.working.name))
    d.stage = before
    return [d]


def _always(_: Derivation) -> Verdict:
    return Verdict.APPLY


def _can_inline_anything(d: Derivation) -> Verdict:
    return Verdict.ONLY if is_inlinable(d.state, d.working) else Verdict.NO


ALWAYS_INLINE = Rule("always_inline", _can_inline, _inline)
INLINE_ALL = Rule("always_inline", _can_inline_anything, _inline)
"""For GPUs: arithmetic is cheaper than a trip through device memory."""
SKIP = Rule("skip", _always, lambda d: [d.advance()])


Fusion: TypeAlias = tuple[Stage, tuple[int, ...]]
"""A consumer, and for each of its axes the dimension of the stage that it reads along."""
Tiles: TypeAlias = dict[str, tuple[str, ...]]
"""The loops of each axis by level. Axes of extent 1 are not tiled; their loops vanish wherever they
stand.
"""
FEW_DIVISORS = 4
FEW_REGISTERS = 16  # more hold 7 rows by two vectors, which need no other tile


Structure: TypeAlias = tuple[Level, ...]
"""How one kind of target tiles a stage, outermost first. What computes with a stage follows its
`outer` levels: of spatial axes, and not unrolled.
"""


def structure_of(letters: str) -> Structure:
    """One from a letter a level. Raises ScheduleError for others than S and R."""
    if not letters or set(letters) - {"S", "R"}:
        raise ScheduleError(
            f"a structure has a letter for each tile level, S (spatial) or R (reduction), "
            f"outermost first, such as 'SSRSRS'; got {letters!r}"
        )
    last = letters.rfind("S")
    return tuple(TILE if i == last else Level(letter) for i, letter in enumerate(letters))


STRUCTURE = structure_of("SSRSRS")


def outer(structure: Structure) -> tuple[Kind, ...]:
    """How the loops of a structure's outer levels run."""
    return tuple(x.kind for x in structure if x.letter == "S" and x.kind is not Kind.UNROLLED)


def _check(structure: Structure, stage: Stage) -> None:
    """Raise ScheduleError where the stage has axes to tile, but no level for them, or levels and no
    such axes.
    """
    letters = "".join(level.letter for level in structure)
    for letter, kind in (("S", "spatial"), ("R", "reduction")):
        axes = [a for a in stage.axes if a.reduce == (letter == "R")]
        tiled = ", ".join(a.name for a in axes if a.extent != 1)
        if tiled and letter not in letters:
            raise ScheduleError(
                f"the structure {letters!r} has no level {letter} for the {kind} axes {tiled} of "
                f"{stage.name}"
            )
        if not axes and letter in letters:
            raise ScheduleError(
                f"the structure {letters!r} has levels {letter}, but {stage.name} has no {kind} "
                "axes"
            )


def multi_level_tile(d: Derivation, structure: Structure, vector: str | None = None) -> None:
    """Tile the working stage; every axis length becomes a decision. The tiles of the axis `vector`
    come last in every level, and its innermost one runs along vector lanes.
    """
    stage = d.working
    _check(structure, stage)
    dot = dot_loop(d.state, stage, d.target)
    tiles = _split_axes(d, stage, structure, vector, dot)
    order = _order(stage, structure, tiles, vector)
    periods = d.periods.get(stage.work, {})
    phases = tuple(f"{name}.{len(t)}" for name, t in tiles.items() if periods.get(name, 1) > 1)
    if phases:
        first = next(i for i, level in enumerate(order) if stage.is_reduction(level[0]))
        order = (*order[:first], phases, *order[first:])
    if dot is not None:
        terms = f"{dot.axis}.{len(tiles[dot.axis])}"
        order = (*order, (terms,))
    d.apply(Reorder(stage.name, order))
    if dot is not None:
        d.apply(Annotate(stage.name, terms, "dot"))
        d.factors.add(dot.fixed.tensor.name)
    if vector is not None:
        d.apply(Annotate(stage.name, tiles[vector][-1], "vector"))
    for axis in stage.compute.axes:
        if axis.name != vector and axis.name in tiles:
            inner = tiles[axis.name][len(outer(structure)) :]
            d.apply(*(Annotate(stage.name, leaf, "unrolled") for leaf in inner))
    d.tiled[stage.name] = structure


def _split_axes(
    d: Derivation,
    stage: Stage,
    structure: Structure,
    vector: str | None,
    dot: DotLoop | None,
) -> Tiles:
    few = isinstance(d.target, CpuTarget) and d.target.vector_registers <= FEW_REGISTERS
    chunks = d.chunks.get(stage.work)
    tiles: Tiles = {}
    for axis in stage.axes:
        extent = extent_int(axis.extent)
        if extent == 1:
            continue
        levels = [x for x in structure if (x.letter == "R") == axis.reduce]
        if len(levels) == 1:
            tiles[axis.name] = (axis.name,)
            if dot is not None and axis.name == dot.axis:
                d.apply(Split(stage.name, axis.name, (dot.length,)))
                tiles[axis.name] = (f"{axis.name}.0",)
            continue
        tiles[axis.name] = tuple(f"{axis.name}.{i}" for i in range(len(levels)))
        if chunks is not None and axis.name == chunks.axis:
            d.apply(Split(stage.name, axis.name, (1,) * (len(levels) - 1)))
            continue
        # a reduction gains nothing from padding unless it has no divisors to tile with
        padded = not axis.reduce or len(divisors(extent)) <= FEW_DIVISORS
        period = d.periods.get(stage.work, {}).get(axis.name, 1)
        if dot is not None and axis.name == dot.axis:
            period = dot.length
        if dot is not None and not axis.reduce and axis.name in dot.shared:
            levels[-1] = replace(levels[-1], most=1)
        if chunks is not None and axis.name in chunks.still:
            levels[: chunks.levels] = [replace(x, most=1) for x in levels[: chunks.levels]]
        is_vector = axis.name == vector
        within = block_length(stage, axis.name, d.target) if is_vector and period == 1 else 0
        d.tile(
            stage, axis.name, levels, vector=is_vector, padded=padded, by_one=few, period=period,
            within=within,
        )  # fmt: skip
    return tiles


def _order(
    stage: Stage, structure: Structure, tiles: Tiles, vector: str | None
) -> tuple[tuple[str, ...], ...]:
    """One tile level a letter; the vector axis comes last in every level of its kind."""
    levels: list[tuple[str, ...]] = []
    left = {name: iter(leaves) for name, leaves in tiles.items()}
    for level in structure:
        axes = [a.name for a in stage.axes if a.reduce == (level.letter == "R") and a.name in tiles]
        axes.sort(key=lambda name: name == vector)
        levels.append(tuple(next(left[name]) for name in axes))
    innermost = tiles[vector][-1] if vector is not None else None
    if innermost is not None and innermost not in levels[-1]:
        levels = [tuple(x for x in level if x != innermost) for level in levels]
        levels.append((innermost,))
    units = tuple(a.name for a in stage.axes if a.name not in tiles)
    levels[-1] = (*units, *levels[-1])
    return tuple(level for level in levels if level)


def follow_tiles(
    d: Derivation, fusion: Fusion, structure: Structure, vector: str | None = None
) -> None:
    """Split the consumer as the (tiled) working stage is split, `vector` innermost: around what it
    does of each outer tile, the stage may be computed.
    """
    (consumer, dimensions), stage = fusion, d.working
    parts = len(outer(structure)) + 1
    tiles: list[tuple[str, ...]] = []
    units: list[str] = []
    for theirs, dimension in zip(consumer.compute.axes, dimensions, strict=True):
        if theirs.extent == 1:
            units.append(theirs.name)
            continue
        mine = stage.compute.axes[dimension].name
        d.apply(FollowSplit(consumer.name, theirs.name, stage.name, mine, parts))
        tiles.append(tuple(f"{theirs.name}.{i}" for i in range(parts)))
    tiles.sort(key=lambda t: t[0] == f"{vector}.0")
    order = [tuple(t[level] for t in tiles) for level in range(parts)]
    order[-1] = (*units, *order[-1])
    d.apply(Reorder(consumer.name, tuple(order)))
    for level, kind in enumerate(outer(structure)):
        if kind is not Kind.SERIAL:
            d.apply(*(Annotate(consumer.name, leaf, kind.value) for leaf in order[level]))
    for t in tiles:
        d.apply(Annotate(consumer.name, t[-1], "vector" if t is tiles[-1] else "unrolled"))


def tile(d: Derivation, fusion: Fusion | None = None, structure: Structure = STRUCTURE) -> None:
    """Tile the working stage for a CPU's vectors and packed constants; compute it inside its
    consumer, at a level to be decided, where one is given.
    """
    stage = d.working
    multi_level_tile(d, structure, vector_axis(d.state, stage, d.target))
    d.apply(*(LayoutRewrite(stage.name, c) for c in packable_constants(d.state, stage)))
    if fusion is None:
        return
    consumer = fusion[0]
    follow_tiles(d, fusion, structure, vector_axis(d.state, consumer, d.target))
    levels = tuple(range(len(outer(structure))))
    level = d.choose(f"{stage.work}.level", stage.work, "location", levels)
    d.apply(ComputeAt(stage.name, consumer.name, level))


def _tileable(d: Derivation) -> bool:
    return has_data_reuse(d.working) and d.working.name not in d.tiled


def _can_tile(d: Derivation) -> Verdict:
    if not _tileable(d):
        return Verdict.NO
    return Verdict.ONLY


def fusion_target(d: Derivation) -> Fusion | None:
    """The consumer that the working stage can be computed in."""
    found = fusible_consumer(d.state, d.working)
    if found is None:
        return None
    consumer, _ = found
    if consumer.relations or consumer.attach is not None:
        return None
    return None if all(a.extent == 1 for a in consumer.compute.axes) else found


def _can_fuse(d: Derivation) -> Verdict:
    if not _tileable(d) or fusion_target(d) is None:
        return Verdict.NO
    # a write cache exists only to be fused; of several contractions each has one form
    only = d.working.role is Role.CACHE or bool(d.within)
    return Verdict.ONLY if only or chains(d.state, d.working) else Verdict.APPLY


def _can_cache(d: Derivation) -> Verdict:
    if not _tileable(d) or fusible_consumer(d.state, d.working) is not None:
        return Verdict.NO
    return Verdict.APPLY


def _tile(d: Derivation) -> list[Derivation]:
    tile(d)
    return [d.advance()]


def _tile_and_fuse(d: Derivation) -> list[Derivation]:
    tile(d, fusible_consumer(d.state, d.working))
    return [d.advance()]


def _cache(d: Derivation) -> list[Derivation]:
    d.apply(CacheWrite(d.working.name))
    return [d.advance()]


MULTI_LEVEL_TILING = Rule("multi_level_tiling", _can_tile, _tile)
TILING_WITH_FUSION = Rule("multi_level_tiling_with_fusion", _can_fuse, _tile_and_fuse)
ADD_CACHE_WRITE = Rule("add_cache_write", _can_cache, _cache)


MIN_WORK = 2048  # iterations below which neither threads nor more accumulators pay


def _can_factor(d: Derivation) -> Verdict:
    stage = d.working
    if math.prod(extent_int(a.extent) for a in stage.axes) < MIN_WORK:
        return Verdict.NO
    if stage.role is not Role.RESULT or stage.relations or not _places(d):
        return Verdict.NO
    return Verdict.APPLY if has_more_reduction_parallel(stage, d.target.cores) else Verdict.NO


def _places(d: Derivation) -> list[tuple[Axis, bool]]:
    """(axis, outer part?) where a factor fits: chunks of the outermost axis suit threads,
    interleaved lanes of the innermost one vectors.
    """
    axes = [a for a in d.working.compute.reduce_axes if a.extent != 1]
    pairs = [(axes[0], True), (axes[-1], False)] if axes else []
    return [(axis, outer) for axis, outer in pairs if _factors(axis)]


def _factors(axis: Axis) -> tuple[int, ...]:
    """Proper divisors of the extent: by 1 or by all of it, nothing would be factored."""
    return divisors(extent_int(axis.extent))[1:-1]


def _factor(d: Derivation) -> list[Derivation]:
    return [_with_factor(d.fork(), axis, outer) for axis, outer in _places(d)]


def _with_factor(d: Derivation, axis: Axis, outer: bool) -> Derivation:
    name, part = d.working.name, "outer" if outer else "inner"
    label = f"{name}.{axis.name}.{part}"
    d.apply(RFactor(name, axis.name, d.choose(label, name, "tile", _factors(axis)), outer))
    d.variant = (*d.variant, f"{name}: rfactor {part} {axis.name}")
    return d.advance().advance()


REDUCTION_FACTORISATION = Rule("reduction_factorisation", _can_factor, _factor)

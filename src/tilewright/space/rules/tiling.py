"""Rules 3 to 5 of paper table 1: multi-level tiling, with fusion, and a write cache.

    C[i, j] = Σ_k …    SSRSRS    i.0 j.0 | i.1 j.1 | k.0 | i.2 j.2 | k.1 | i.3 j.3

The innermost level is the register tile: its last axis runs along the vector lanes, the others
are unrolled. With fusion, the consumer follows all spatial tiles and the tiled stage is computed
inside it, after level 0, 1 (as in the paper) or 2, which keeps a register tile in registers
through all its reductions. The level is a decision, so that all are one sketch.

Along an axis whose terms repeat (see `skip_zeros`) the tiles are of every period-th element. The
position in the period is a loop between the outer spatial levels and the reductions:

    y[h] = Σ_q …     period 2: h = (h.0 h.1 h.2 h.3) * 2 + h.4      h.0 | h.1 | h.4 | q.0 | h.2 | …
"""

from __future__ import annotations

from tilewright.expr.nodes import Extent
from tilewright.schedule.state import Stage
from tilewright.schedule.steps import (
    Annotate,
    CacheWrite,
    ComputeAt,
    FollowSplit,
    LayoutRewrite,
    Reorder,
    Split,
    extent_int,
)
from tilewright.space.decisions import (
    INNERMOST_LIMIT,
    Choice,
    TileFactors,
    divisors,
    slack,
    variables,
)
from tilewright.space.derivation import Derivation, Rule, Verdict, dag_node
from tilewright.space.predicates import (
    block_length,
    fusible_consumer,
    has_data_reuse,
    packable_constants,
    vector_axis,
)
from tilewright.target import CpuTarget

STRUCTURE = "SSRSRS"
FEW_DIVISORS = 4
FEW_REGISTERS = 16  # more hold 7 rows by two vectors, which need no other tile
FUSE_LEVELS = 3  # outer spatial levels that a fused consumer follows


def multi_level_tile(d: Derivation, structure: str = STRUCTURE) -> None:
    """Tile the working stage; every axis length becomes a decision."""
    stage = d.working
    counts = {True: structure.count("R"), False: structure.count("S")}
    vector = vector_axis(d.state, stage, d.target)
    node = dag_node(stage.name)
    periods = d.periods.get(node, {})
    few = isinstance(d.target, CpuTarget) and d.target.vector_registers <= FEW_REGISTERS
    tiles: dict[str, tuple[str, ...]] = {}
    phases: list[str] = []
    for axis in stage.axes:
        extent, levels = extent_int(axis.extent), counts[axis.reduce]
        if extent == 1:
            continue
        period = periods.get(axis.name, 1)
        if levels == 1:
            tiles[axis.name] = (axis.name,)
            continue
        # a reduction gains nothing from padding unless it has no divisors to tile with
        padded = not axis.reduce or len(divisors(extent)) <= FEW_DIVISORS
        name = f"{node}.{axis.name}"
        innermost = extent if axis.reduce else INNERMOST_LIMIT
        count = -(-extent // period)
        lanes = block = 0
        if axis.name == vector:
            lanes = d.target.lanes(stage.tensor.dtype)
            block = block_length(stage, axis.name, d.target) if period == 1 else 0
        over = slack(count, lanes, by_one=few) if padded else 0
        tile = TileFactors(name, node, count, levels, innermost, over, lanes, block)
        within: tuple[Extent, ...] = (period,) if period > 1 else ()
        d.apply(Split(stage.name, axis.name, (*variables(d.decide(tile)), *within)))
        tiles[axis.name] = tuple(f"{axis.name}.{i}" for i in range(levels))
        phases += [f"{axis.name}.{levels}" for _ in within]
    stage = d.working
    order = _order(stage, structure, tiles, vector)
    if phases:
        first = next(i for i, level in enumerate(order) if stage.is_reduction(level[0]))
        order = (*order[:first], tuple(phases), *order[first:])
    d.apply(Reorder(stage.name, order))
    if vector is not None:
        d.apply(Annotate(stage.name, tiles[vector][-1], "vector"))
    for axis in stage.compute.axes:
        if axis.name != vector and axis.name in tiles:
            d.apply(Annotate(stage.name, tiles[axis.name][-1], "unrolled"))
    for constant in packable_constants(d.state, stage):
        d.apply(LayoutRewrite(stage.name, constant))
    d.tiled[stage.name] = structure


def _order(
    stage: Stage, structure: str, tiles: dict[str, tuple[str, ...]], vector: str | None
) -> tuple[tuple[str, ...], ...]:
    """One tile level a letter; the vector axis comes last in every level of its kind.

    Axes of extent 1 are not tiled; their loops vanish wherever they stand.
    """
    levels: list[tuple[str, ...]] = []
    seen = {"S": 0, "R": 0}
    for letter in structure:
        axes = [a.name for a in stage.axes if a.reduce == (letter == "R") and a.name in tiles]
        axes.sort(key=lambda name: name == vector)
        levels.append(tuple(tiles[name][seen[letter]] for name in axes))
        seen[letter] += 1
    innermost = tiles[vector][-1] if vector is not None else None
    if innermost is not None and innermost not in levels[-1]:
        levels = [tuple(x for x in level if x != innermost) for level in levels]
        levels.append((innermost,))
    units = tuple(a.name for a in stage.axes if a.name not in tiles)
    levels[-1] = (*units, *levels[-1])
    return tuple(level for level in levels if level)


def fuse_consumer(d: Derivation, consumer: Stage, dimensions: tuple[int, ...]) -> None:
    """Compute the (tiled) working stage inside its consumer, at a level to be decided.

    `dimensions` says, for each axis of the consumer, which of the stage's it reads along.
    """
    stage = d.working
    tiles: list[tuple[str, ...]] = []
    units: list[str] = []
    for theirs, dimension in zip(consumer.compute.axes, dimensions, strict=True):
        mine = stage.compute.axes[dimension]
        if theirs.extent == 1:
            units.append(theirs.name)
            continue
        parts = FUSE_LEVELS + 1
        d.apply(FollowSplit(consumer.name, theirs.name, stage.name, mine.name, parts))
        tiles.append(tuple(f"{theirs.name}.{i}" for i in range(parts)))
    vector = vector_axis(d.state, d.state[consumer.name], d.target)
    tiles.sort(key=lambda t: t[0] == f"{vector}.0")
    order = [tuple(t[level] for t in tiles) for level in range(FUSE_LEVELS + 1)]
    order[-1] = (*units, *order[-1])
    d.apply(Reorder(consumer.name, tuple(order)))
    for t in tiles:
        d.apply(Annotate(consumer.name, t[-1], "vector" if t is tiles[-1] else "unrolled"))
    node = dag_node(stage.name)
    levels = tuple(range(FUSE_LEVELS))
    level = d.decide(Choice(f"{node}.level", node, "location", levels, ordered=True))
    d.apply(ComputeAt(stage.name, consumer.name, variables(level)[0]))


def _tileable(d: Derivation) -> bool:
    return has_data_reuse(d.working) and d.working.name not in d.tiled


def _can_tile(d: Derivation) -> Verdict:
    if not _tileable(d):
        return Verdict.NO
    return Verdict.ONLY


def fusion_target(d: Derivation) -> tuple[Stage, tuple[int, ...]] | None:
    """The consumer that the working stage can be computed in (see `fusible_consumer`)."""
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
    # a write cache exists only to be fused
    return Verdict.ONLY if dag_node(d.working.name) != d.working.name else Verdict.APPLY


def _can_cache(d: Derivation) -> Verdict:
    if not _tileable(d) or fusible_consumer(d.state, d.working) is not None:
        return Verdict.NO
    return Verdict.APPLY


def _tile(d: Derivation) -> list[Derivation]:
    multi_level_tile(d)
    return [d.advance()]


def _tile_and_fuse(d: Derivation) -> list[Derivation]:
    found = fusible_consumer(d.state, d.working)
    assert found is not None
    multi_level_tile(d)
    fuse_consumer(d, *found)
    return [d.advance()]


def _cache(d: Derivation) -> list[Derivation]:
    name = d.working.name
    d.apply(CacheWrite(name))
    d.stage = f"{name}.local"
    return [d]


MULTI_LEVEL_TILING = Rule("multi_level_tiling", _can_tile, _tile)
TILING_WITH_FUSION = Rule("multi_level_tiling_with_fusion", _can_fuse, _tile_and_fuse)
ADD_CACHE_WRITE = Rule("add_cache_write", _can_cache, _cache)

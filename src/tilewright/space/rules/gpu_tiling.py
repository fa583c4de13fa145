"""Multi-level tiling for GPUs, with the consumer fused and operands fetched into shared memory.

    SSSRRSRS    i.0 j.0 | i.1 j.1 | i.2 j.2 | k.0 | k.1 | i.3 j.3 | k.2 | i.4 j.4
                block     virtual   thread    ^ operands of the block's tile are fetched here

The consumer (or a copy, where there is none to fuse) follows the first three levels; the stage is
computed inside it, in private storage of each thread (Ansor §4.3). The threads of the block fetch
an operand's window together: its elements in order, some at a time, dealt out to the threads. How
its rows are padded against bank conflicts is a decision.
"""

from __future__ import annotations

from math import prod

from tilewright.expr.extents import mul
from tilewright.expr.nodes import Extent, as_expr, reads
from tilewright.expr.tensors import Table
from tilewright.schedule.state import Stage
from tilewright.schedule.steps import (
    Annotate,
    CacheRead,
    ComputeAt,
    FollowFusedSplit,
    FollowSplit,
    Fuse,
    Mark,
    Reorder,
    SetScope,
    Split,
    extent_int,
)
from tilewright.space.annotate_gpu import access_widths
from tilewright.space.decisions import Choice, TileFactors, divisors, variables
from tilewright.space.derivation import Derivation, Rule, Verdict, dag_node
from tilewright.space.predicates import element_expr, has_data_reuse
from tilewright.space.rules.tiling import ADD_CACHE_WRITE, FEW_DIVISORS, fusion_target
from tilewright.target import GpuTarget

STRUCTURE = "SSSRRSRS"
WORKERS = ("block", "virtual thread", "thread.x")
ALIGNMENTS = (1, 2, 8, 16)
"""Rows of shared memory are of any length, of odd length (neighbouring rows start in different
banks) or half of it beyond a multiple of 8 or 16 elements (the same for vectors of 4 and of 8).
"""
INNERMOST = 16  # elements of one thread along one axis and level


def shared_operands(stage: Stage) -> list[str]:
    """Tensors that a stage reads at indices known beforehand, tables aside."""
    found: dict[str, bool] = {}
    for read in reads(element_expr(stage)):
        known = not any(reads(i) for i in read.indices) and read.tensor.rank > 0
        fits = known and not isinstance(read.tensor.source, Table)
        found[read.tensor.name] = found.get(read.tensor.name, True) and fits
    return [name for name, fits in found.items() if fits]


def _can_tile(d: Derivation) -> Verdict:
    stage = d.working
    if not has_data_reuse(stage) or stage.name in d.tiled or fusion_target(d) is None:
        return Verdict.NO
    return Verdict.ONLY


def _tile(d: Derivation) -> list[Derivation]:
    found = fusion_target(d)
    assert found is not None
    stage, (consumer, dimensions) = d.working.name, found
    operands = shared_operands(d.working)
    d.apply(*(CacheRead(name, (stage,)) for name in operands))
    tiles = _split_axes(d, d.state[stage])
    _order(d, d.state[stage], tiles)
    axes = d.state[stage].compute.axes
    mine = [axes[k].name for k in dimensions]
    _follow(d, consumer, stage, mine, tiles)
    first = next(
        i for i, group in enumerate(d.state[stage].groups) if d.state[stage].is_reduction(group[0])
    )
    spatial = tuple(a.name for a in axes if a.name in tiles)
    for name in operands:
        _fetch(d, f"{name}.{stage}", stage, first, spatial)
    d.tiled[stage] = STRUCTURE
    for _ in operands:
        d.advance()
    return [d.advance()]


def _split_axes(d: Derivation, stage: Stage) -> dict[str, tuple[str, ...]]:
    """Split every axis; returns its loops by level."""
    node = dag_node(stage.name)
    tiles: dict[str, tuple[str, ...]] = {}
    for axis in stage.axes:
        extent = extent_int(axis.extent)
        if extent == 1:
            continue
        levels = STRUCTURE.count("R" if axis.reduce else "S")
        padded = not axis.reduce or len(divisors(extent)) <= FEW_DIVISORS
        innermost = extent if axis.reduce else INNERMOST
        tile = TileFactors(
            f"{node}.{axis.name}", node, extent, levels, innermost, padded,
            threads=0 if axis.reduce else WORKERS.index("thread.x"),
        )  # fmt: skip
        d.apply(Split(stage.name, axis.name, variables(d.decide(tile))))
        tiles[axis.name] = tuple(f"{axis.name}.{level}" for level in range(levels))
    return tiles


def _order(d: Derivation, stage: Stage, tiles: dict[str, tuple[str, ...]]) -> None:
    """One tile level a letter; the innermost spatial levels are unrolled."""
    levels: list[tuple[str, ...]] = []
    seen = {"S": 0, "R": 0}
    for letter in STRUCTURE:
        axes = [a.name for a in stage.axes if a.reduce == (letter == "R") and a.name in tiles]
        levels.append(tuple(tiles[name][seen[letter]] for name in axes))
        seen[letter] += 1
    units = tuple(a.name for a in stage.axes if a.name not in tiles)
    levels[-1] = (*units, *levels[-1])
    d.apply(Reorder(stage.name, tuple(level for level in levels if level)))
    for axis in stage.compute.axes:
        if axis.name in tiles:
            d.apply(*(Annotate(stage.name, leaf, "unrolled") for leaf in tiles[axis.name][3:]))


def _follow(
    d: Derivation,
    consumer: Stage,
    stage: str,
    axes: list[str],
    tiles: dict[str, tuple[str, ...]],
) -> None:
    """Split the consumer like the stage, bind its outer levels, compute the stage inside."""
    name = consumer.name
    parts: list[tuple[str, ...]] = []
    units: list[str] = []
    threads: Extent = 1
    for theirs, mine in zip(consumer.compute.axes, axes, strict=True):
        if mine not in tiles:
            units.append(theirs.name)
            continue
        d.apply(FollowSplit(name, theirs.name, stage, mine, len(WORKERS) + 1))
        parts.append(tuple(f"{theirs.name}.{i}" for i in range(len(WORKERS) + 1)))
        threads = mul(threads, _length(d, stage, mine, 2))
    levels = [tuple(p[level] for p in parts) for level in range(len(WORKERS) + 1)]
    levels[-1] = (*units, *levels[-1])
    d.apply(Reorder(name, tuple(levels)))
    for level, worker in enumerate(WORKERS):
        d.apply(*(Annotate(name, p[level], worker) for p in parts))
    for p in parts:
        d.apply(Annotate(name, p[-1], "vector" if p is parts[-1] else "unrolled"))
    d.apply(ComputeAt(stage, name, len(WORKERS) - 1))
    assert isinstance(d.target, GpuTarget)
    total = prod(extent_int(a.extent) for a in consumer.compute.axes)
    if total >= d.target.warp:
        d.constraints.append(as_expr(threads) >= d.target.warp)


def _length(d: Derivation, stage: str, axis: str, level: int) -> Extent:
    """The decided length of one tile level of an axis."""
    tile = d.decisions[f"{dag_node(stage)}.{axis}"]
    return variables(tile)[level - 1]


def _fetch(d: Derivation, cache: str, stage: str, level: int, spatial: tuple[str, ...]) -> None:
    """Fill `cache` once for every iteration of the outermost reduction level, by all threads."""
    axes = tuple(a.name for a in d.state[cache].compute.axes)
    d.apply(ComputeAt(cache, stage, level), SetScope(cache, "shared"))
    node = dag_node(stage)
    loop = axes[0]
    widths = access_widths(d.state[cache].tensor.dtype)
    if len(axes) > 1:
        rows = tuple(n for n in ALIGNMENTS if n <= 2 * widths[-1])
        align = Choice(f"{node}.align.{cache}", node, "pragma", rows, ordered=True)
        (unit,) = variables(d.decide(align))
        d.apply(Mark(cache, "align", unit))
        loop = "@".join(axes)
        d.apply(Fuse(cache, axes))
    width = d.decide(Choice(f"{node}.fetch.{cache}", node, "pragma", widths, ordered=True))
    d.apply(Split(cache, loop, variables(width)))
    d.apply(FollowFusedSplit(cache, f"{loop}.0", stage, spatial, 2))
    d.apply(Annotate(cache, f"{loop}.0.1", "thread.x"), Annotate(cache, f"{loop}.1", "vector"))


def _can_cache(d: Derivation) -> Verdict:
    applies = ADD_CACHE_WRITE.condition(d) is not Verdict.NO
    return Verdict.ONLY if applies else Verdict.NO


GPU_TILING = Rule("gpu_tiling", _can_tile, _tile)
GPU_CACHE_WRITE = Rule("add_cache_write", _can_cache, ADD_CACHE_WRITE.apply)
"""Where no consumer can be fused: a copy out of private storage. Without one, sums would be kept in
device memory.
"""

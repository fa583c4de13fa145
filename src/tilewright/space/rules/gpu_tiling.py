"""Multi-level tiling for GPUs, with the consumer fused and operands fetched into shared memory.

    SSSRRSRS    i.0 j.0 | i.1 j.1 | i.2 j.2 | k.0 | k.1 | i.3 j.3 | k.2 | i.4 j.4
                block     virtual   thread    ^ operands of the block's tile are fetched here

The consumer (or a copy, where there is none to fuse) follows the first three levels; the stage is
computed inside it, in private storage of each thread (Ansor §4.3). The threads of the block fetch
an operand's window together: its elements in order, some at a time, dealt out to the threads. How
its rows are padded against bank conflicts is a decision.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Extent, as_expr
from tilewright.expr.tensors import Table
from tilewright.expr.traversal import reads
from tilewright.nest.nodes import Kind
from tilewright.schedule.state import Stage
from tilewright.schedule.steps import (
    Annotate,
    CacheRead,
    ComputeAt,
    FollowFusedSplit,
    Mark,
    SetScope,
    Split,
    extent_int,
)
from tilewright.space.annotate_gpu import access_widths
from tilewright.space.decisions import Level, R, variables
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.predicates import element_expr, has_data_reuse
from tilewright.space.rules.ansor import (
    ADD_CACHE_WRITE,
    Fusion,
    follow_tiles,
    fusion_target,
    multi_level_tile,
)
from tilewright.target import GpuTarget

BOUND = tuple(Level("S", kind) for kind in (Kind.BLOCK, Kind.VIRTUAL, Kind.THREAD_X))
OWN = Level("S", Kind.UNROLLED)
STRUCTURE = (*BOUND, R, R, OWN, R, replace(OWN, most=16))
THREAD_LEVEL = len(BOUND) - 1
ALIGNMENTS = (1, 2, 8, 16)
"""Rows of shared memory are of any length, of odd length (neighbouring rows start in different
banks) or half of it beyond a multiple of 8 or 16 elements (the same for vectors of 4 and of 8).
"""


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
    stage, consumer = d.working.name, found[0]
    operands = shared_operands(d.working)
    d.apply(*(CacheRead(name, (stage,)) for name in operands))
    multi_level_tile(d, STRUCTURE)
    follow_tiles(d, found, STRUCTURE)
    d.apply(ComputeAt(stage, consumer.name, THREAD_LEVEL))
    _fill_a_warp(d, found)
    groups = d.state[stage].groups
    first = next(i for i, group in enumerate(groups) if d.working.is_reduction(group[0]))
    spatial = tuple(a.name for a in d.working.compute.axes if a.extent != 1)
    for name in operands:
        _fetch(d, f"{name}.{stage}", stage, first, spatial)
    for _ in operands:
        d.advance()
    return [d.advance()]


def _fill_a_warp(d: Derivation, fusion: Fusion) -> None:
    """At least a warp of threads, where there is as much to do."""
    assert isinstance(d.target, GpuTarget)
    consumer, dimensions = fusion
    if prod(extent_int(a.extent) for a in consumer.compute.axes) < d.target.warp:
        return
    threads: Extent = 1
    for axis in (d.working.compute.axes[k] for k in dimensions):
        if axis.extent != 1:
            tile = d.decisions[f"{d.working.work}.{axis.name}"]
            threads = mul(threads, variables(tile)[THREAD_LEVEL - 1])
    d.constraints.append(as_expr(threads) >= d.target.warp)


def _fetch(d: Derivation, cache: str, stage: str, level: int, spatial: tuple[str, ...]) -> None:
    """Fill `cache` once for every iteration of the outermost reduction level, by all threads."""
    axes = tuple(a.name for a in d.state[cache].compute.axes)
    d.apply(ComputeAt(cache, stage, level), SetScope(cache, "shared"))
    node = d.state[stage].work
    widths = access_widths(d.state[cache].tensor.dtype)
    if len(axes) > 1:
        rows = tuple(n for n in ALIGNMENTS if n <= 2 * widths[-1])
        d.apply(Mark(cache, "align", d.choose(f"{node}.align.{cache}", node, "pragma", rows)))
    loop = d.fuse(cache, axes)
    width = d.choose(f"{node}.fetch.{cache}", node, "pragma", widths)
    d.apply(Split(cache, loop, (width,)))
    d.apply(FollowFusedSplit(cache, f"{loop}.0", stage, spatial, THREAD_LEVEL))
    d.apply(Annotate(cache, f"{loop}.0.1", "thread.x"), Annotate(cache, f"{loop}.1", "vector"))


def _can_cache(d: Derivation) -> Verdict:
    applies = ADD_CACHE_WRITE.condition(d) is not Verdict.NO
    return Verdict.ONLY if applies else Verdict.NO


GPU_TILING = Rule("gpu_tiling", _can_tile, _tile)
GPU_CACHE_WRITE = Rule("add_cache_write", _can_cache, ADD_CACHE_WRITE.apply)
"""Where no consumer can be fused: a copy out of private storage. Without one, sums would be kept in
device memory.
"""

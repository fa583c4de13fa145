"""What the analytical estimate of CPU programs takes for cheap and for dear."""

from __future__ import annotations

import numpy as np

from tilewright.contract.surroundings import ALONE, AMONG_OTHERS, Setting
from tilewright.cost.candidates import Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import placeholder
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import given, weight

AVX512 = Target.parse("cpu:icelake-server cores=2")  # caches of 48 KB (12 ways) and 2 MB a core


def packed_product(tiles: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> np.ndarray:
    """Estimated seconds of 1024³ with B packed for the tiles (i, j) given, K in one piece."""
    n = 1024
    product = ops.matmul(placeholder((n, n), name="a"), placeholder((n, n), name="b"))
    space = Space(ComputeDAG([product]), AVX512)
    (k,) = (k for k, sketch in enumerate(space.sketches) if sketch.name == "pack_read")
    rows = np.zeros((len(tiles), space.width), np.int64)
    for row, (i, j) in zip(rows, tiles, strict=True):
        values = {"i": i, "j": j, "k": n, "pack": 2, "parallel": 2, "unroll": 16}
        for decision in space.sketches[k].decisions:
            row[space.span(decision)] = values[decision.name.removeprefix("matmul.")]
    population = Population(rows, np.full(len(rows), k))
    assert space.valid(population).all()
    latency_s: np.ndarray = FeatureExtractor(space).latency(population)
    return latency_s


def test_accumulators_in_registers_are_no_traffic() -> None:
    """Rows a page apart share a set of the first-level cache, and thirteen do not fit there; but
    those of the result are in registers, while the reduction runs.
    """
    twelve, thirteen = packed_product([((1, 86, 12), (1, 4, 32)), ((1, 79, 13), (1, 4, 32))])
    assert thirteen < 1.1 * twelve


def test_a_panel_takes_at_most_half_of_the_second_level() -> None:
    half, whole = packed_product([((1, 171, 6), (1, 2, 64)), ((1, 171, 6), (1, 4, 64))])
    assert half < whole


TILE = {"h#3": 2, "w#3": 2, "c#3": 32, "c#1": 1, "c#2": 1, "rh#1": 3, "rw#1": 3, "unroll": 0}
OUTER = {"h#1": 1, "h#2": 1, "w#1": 1, "w#2": 1, "parallel": 1}


def estimates(
    target: Target, *made: dict[str, int], setting: Setting = AMONG_OTHERS
) -> list[float]:
    """Of a depthwise convolution, its padding inlined; a candidate is TILE and OUTER and more."""
    y = ops.depthwise_conv(given(1, 56, 56, 32), weight(3, 3, 32, 1), padding=1, name="y")
    space = Space(ComputeDAG([y]), target, setting=setting)
    number, sketch = next(
        (i, s) for i, s in enumerate(space.sketches) if s.name.endswith("tiling · y_pad: inline")
    )
    rows = np.zeros((len(made), space.width), np.int64)
    for row, values in zip(rows, made, strict=True):
        for variable, column in zip(sketch.variables, sketch.columns, strict=True):
            row[column] = (TILE | OUTER | values)[variable.removeprefix("y.")]
    population = Population(rows, np.full(len(made), number))
    assert space.valid(population).all()
    return FeatureExtractor(space).latency(population).tolist()


def test_accumulators_that_go_through_memory_for_every_term_cost_more(target: Target) -> None:
    """A loop over tiles between the reductions and the tile: all its tiles wait in memory."""
    inside = {"rh#1": 1, "rw#1": 1, "w#2": 7}
    outside = {"rh#1": 3, "rw#1": 3, "w#2": 7}
    through_memory, in_registers = estimates(target, inside, outside)
    assert through_memory > 1.5 * in_registers


def test_a_larger_tile_gains_little_where_reductions_are_short(target: Target) -> None:
    """Nine terms: the next tile begins while this one drains."""
    small, large = estimates(target, {}, {"w#3": 4})
    assert large < small < 1.3 * large


def test_neighbouring_taps_that_are_written_out_share_loads() -> None:
    """Nine taps of four outputs side by side read 18 vectors, not 36, if 28 registers are left; of
    sixteen outputs the accumulators leave too few.
    """
    few, many = {"h#3": 1, "w#3": 4, "c#3": 16}, {"h#3": 1, "w#3": 14, "c#3": 16}
    running, shared = estimates(AVX512, few, few | {"unroll": 64})
    assert shared < 0.9 * running
    running, written_out = estimates(AVX512, many, many | {"unroll": 512})
    assert written_out == running


def test_vectors_of_a_callers_array_cross_lines() -> None:
    """Nine taps read the image itself: each vector of it, but not of the weights, is two lines. The
    same where other programs made the image costs one.
    """
    tile = {"h#3": 1, "w#3": 4, "c#3": 16}
    (aligned,), (shifted,) = (estimates(AVX512, tile, setting=s) for s in (AMONG_OTHERS, ALONE))
    assert 1.3 * aligned < shifted < 2.0 * aligned

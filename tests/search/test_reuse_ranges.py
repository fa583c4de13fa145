"""Ranges of what good programs take, given a relative's: the paper's by hand, and the CPU's."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from tilewright.cost.usage import Usage
from tilewright.expr.dag import ComputeDAG
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.ranges import BLOCK_BYTES, TILES, Ranges, ranges_of
from tilewright.target import Target
from workloads import convolution, normalised

GPU, CPU = Target.parse("cuda:h100"), Target.parse("cpu:icelake-server cores=2")
# Of figure 2 there; β has 512 input channels, α 256 (example 3, section 5.1).
BETA, ALPHA = (convolution(1, 28, channels, 128, 1) for channels in (512, 256))
GIVEN = Usage(*(np.array([float(x)]) for x in (56, 56 * 224, 56 * 11264)))


def ranges(target: Target, here: ComputeDAG, there: ComputeDAG) -> Ranges:
    return ranges_of(target, Operator.of(here), Operator.of(there))


def usages(*rows: tuple[float, float, float]) -> Usage:
    return Usage(*np.array(rows, float).T)


def holding(found: Ranges, given: Usage, *rows: tuple[float, float, float]) -> list[bool]:
    held: list[bool] = found.hold(usages(*rows), given).tolist()
    return held


def test_ranges_of_the_papers_example() -> None:
    found = ranges(GPU, ALPHA, BETA)
    assert found == Ranges(blocks=(0.5, 2.0), threads=(0.5, 1.0), bytes=(0.5, 1.0))
    T, M = 56 * 112, 56 * 5632
    assert holding(found, GIVEN, (28, T, M), (112, 2 * T, 2 * M), (56, 56 * 128, M)) == [True] * 3
    outside = ((27, T, M), (113, T, M), (56, T - 1, M), (56, 2 * T + 1, M))
    assert holding(found, GIVEN, *outside) == [False] * 4
    assert holding(found, GIVEN, (56, T, M - 1), (56, T, 2 * M + 1)) == [False] * 2


def test_every_number_of_blocks_of_the_papers_example() -> None:
    found = ranges(GPU, ALPHA, BETA)
    blocks = (14, 16, 28, 32, 49, 56, 64, 98, 112, 128, 196)
    held = holding(found, GIVEN, *((b, 56 * 128, 56 * 11264) for b in blocks))
    assert [b for b, inside in zip(blocks, held, strict=True) if inside] == [
        28, 32, 49, 56, 64, 98, 112,
    ]  # fmt: skip


def test_ranges_the_other_way_round() -> None:
    """r1 = 1/2, r2 = 2: the larger operator takes as much, or twice as much."""
    found = ranges(GPU, BETA, ALPHA)
    assert found == Ranges(blocks=(0.5, 2.0), threads=(1.0, 2.0), bytes=(1.0, 2.0))


def test_only_more_outputs_take_more_blocks_at_least_as_many() -> None:
    """r1 = 1, r2 = 4: the same reduction over a batch of four."""
    found = ranges(GPU, convolution(4, 28, 512, 128, 1), BETA)
    assert found == Ranges(blocks=(1.0, 4.0), threads=(1.0, 4.0), bytes=(1.0, 4.0))


def test_a_longer_reduction_and_fewer_outputs() -> None:
    """r1 = 1/2, r2 = 2 · 1/4: as long as both loops shrink the ends swap, not more."""
    found = ranges(GPU, convolution(1, 14, 1024, 128, 1), BETA)
    assert found == Ranges(blocks=(0.5, 0.5), threads=(0.5, 1.0), bytes=(0.5, 1.0))


def test_what_surrounds_an_operator_makes_no_difference() -> None:
    plain, padded = convolution(1, 9, 8, 16, 3), convolution(1, 7, 8, 16, 3, padding=1)
    for target in (CPU, GPU):
        assert ranges(target, plain, BETA) == ranges(target, padded, BETA)
        assert ranges(target, normalised(padded), BETA) == ranges(target, padded, BETA)


def test_on_a_cpu_register_tiles_are_of_a_size_and_blocks_fit_the_same_cache() -> None:
    found = ranges(CPU, convolution(1, 14, 256, 128, 1), BETA)  # a quarter of the outputs
    assert found == Ranges(
        blocks=(0.0, inf),
        threads=(0.25 / TILES, 0.25 * TILES),
        bytes=(0.0, inf),
        block_bytes=(1 / BLOCK_BYTES, BLOCK_BYTES),
    )
    given = usages((10, 1000, 10 * 2048.0))
    least, most = 2048.0 / BLOCK_BYTES, 2048.0 * BLOCK_BYTES
    held = holding(
        found, given,
        (1, 250, 2048), (1000, 250, 1000 * 2048),  # any number of blocks
        (4, 250 / TILES, 4 * least), (4, 250 * TILES, 4 * most),  # the bounds themselves
    )  # fmt: skip
    assert held == [True] * 4
    few, many = 250 / TILES - 1, 250 * TILES + 1
    held = holding(
        found, given,
        (4, few, 4 * 2048), (4, many, 4 * 2048), (4, 250, 4 * least - 8), (4, 250, 4 * most + 8),
    )  # fmt: skip
    assert held == [False] * 4


@pytest.mark.parametrize("target", [CPU, GPU], ids=["cpu", "gpu"])
def test_a_program_is_in_the_ranges_of_its_own_operator(target: Target) -> None:
    found = ranges(target, ALPHA, ALPHA)
    assert found.hold(GIVEN, GIVEN).tolist() == [True]
    if target is GPU:
        assert found == Ranges(blocks=(1.0, 1.0), threads=(1.0, 1.0), bytes=(1.0, 1.0))


def test_bounds_that_are_no_floats_are_in() -> None:
    """A third of the channels; rounding must not exclude what is a third exactly."""
    found = ranges(GPU, convolution(1, 28, 171, 128, 1), convolution(1, 28, 513, 128, 1))
    given = usages((49.0, 49 * 81.0, 49 * 777.0))
    assert (
        holding(found, given, (147, 49 * 27, 49 * 259), (49 / 3, 49 * 81, 49 * 777)) == [True] * 2
    )


def test_a_program_without_shared_memory_is_like_others_without() -> None:
    found = ranges(GPU, ALPHA, BETA)
    given = usages((56, 56 * 224, 0))
    with np.errstate(all="raise"):
        assert holding(found, given, (56, 56 * 128, 0), (56, 56 * 128, 4)) == [True, False]
        assert holding(found, GIVEN, (56, 56 * 128, 0)) == [False]
        assert holding(ranges(CPU, ALPHA, BETA), given, (56, 56 * 224, 0)) == [True]

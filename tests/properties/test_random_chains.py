"""Random contractions back to back × random rows: a chained program equals the math.

Every sketch that computes one contraction inside another is met, with halos, strides, odd extents,
reductions between, and up to three contractions; and arithmetic inside the contraction it feeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from random_dags import Builder, Case, shape_of
from test_random_programs import check_program

from kernel_calls import poisoned
from tilewright.contract.gene import Gene, compact
from tilewright.cost.candidates import Population
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from tilewright.schedule.producers import lowered_of
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import interpreted, shuffled

pytestmark = [pytest.mark.cpu, pytest.mark.no_cover]

CHAINS = 12  # of each shard
SKETCHES = 5  # with a chain, of each space
ROWS = 3  # of each of them
DRAWS = 512
SHARDS = 2
TARGETS = (Target.parse("cpu:icelake-server cores=2"), Target.parse("cpu:haswell cores=1"))


def product(b: Builder, x: Tensor) -> Tensor:
    """x times a constant of its own width, or narrower."""
    w = b.given((shape_of(x)[-1], b.extent(13)), constant=True)
    return ops.dense(x, w, name=b.name("dense"))


def convolution(b: Builder, x: Tensor) -> Tensor:
    kernel, stride = b.among((1, 2, 3)), b.among((1, 1, 2))
    w = b.given((kernel, kernel, shape_of(x)[-1], b.extent(8)), constant=True)
    return ops.conv2d(x, w, stride=stride, padding=kernel // 2, name=b.name("conv"))


def depthwise(b: Builder, x: Tensor) -> Tensor:
    w = b.given((3, 3, shape_of(x)[-1], 1), constant=True)
    return ops.depthwise_conv(x, w, stride=b.among((1, 2)), padding=1, name=b.name("depthwise"))


def between(b: Builder, x: Tensor) -> Tensor:
    """What may stand between two contractions."""
    kind = b.among(("relu", "bias", "pool", "nothing"))
    if kind == "relu":
        return ops.relu(x, name=b.name("relu"))
    if kind == "bias":
        bias = b.given(shape_of(x)[-1:], constant=True)
        return ops.relu(ops.add(x, bias, name=b.name("bias")), name=b.name("relu"))
    if kind == "pool" and x.rank == 4 and min(shape_of(x)[1:3]) > 1:
        return ops.max_pool(x, 2, stride=1, name=b.name("pool"))
    return x


def attention(b: Builder) -> Tensor:
    """Row maxima and sums between two products."""
    heads, length, other, width = b.extent(3), b.extent(9), b.extent(13), b.extent(6)
    q, k = b.given((heads, length, width)), b.given((heads, width, other))
    scores = ops.batch_matmul(q, k, name="scores")
    b.is_exact = False
    p = ops.softmax(ops.multiply(scores, 0.125, name="scaled"), name="p")
    return ops.batch_matmul(p, b.given((heads, other, b.extent(7))), name="attention")


def chain(rng: np.random.Generator, length: int) -> Case:
    b = Builder(rng)
    if length == 2 and b.chance(0.3):
        y = attention(b)
    else:
        images = b.chance(0.6)
        y = b.given((b.extent(2), b.extent(8), b.extent(8), b.extent(6)) if images else (17, 11))
        for _ in range(length):
            y = between(b, b.among((convolution, depthwise) if images else (product,))(b, y))
    dag = ComputeDAG([y])
    given = (*dag.inputs, *dag.constants)
    arrays = {t.name: rng.integers(-2, 3, shape_of(t)).astype(np.float32) for t in given}
    return Case(dag, arrays, b.is_exact)


def prologue(rng: np.random.Generator, length: int) -> Case:
    """Arithmetic before so many contractions, of one tensor, of two, or of parts."""
    b = Builder(rng)
    images = b.chance(0.6)
    shape = (b.extent(2), b.extent(8), b.extent(8), b.extent(6)) if images else (17, 11)
    x = b.given(shape)
    if b.chance(0.3):
        x = ops.multiply(x, b.given((*shape[:1], *(1 for _ in shape[1:-1]), shape[-1])))
    if b.chance(0.3):
        x = ops.concat([x, b.given((*shape[:-1], b.extent(5)))], axis=-1, name="parts")
    y = ops.relu(ops.add(x, b.given(shape_of(x)[-1:], constant=True)), name="first")
    wide = shape_of(y)[-1], b.among((12, 13, 17))
    kernel = b.among((1, 3))
    w = b.given((kernel, kernel, *wide) if images else wide, constant=True)
    y = ops.conv2d(y, w, stride=b.among((1, 2)), padding=kernel // 2) if images else ops.dense(y, w)
    for _ in range(length - 1):
        y = between(b, b.among((convolution, depthwise) if images else (product,))(b, y))
    dag = ComputeDAG([ops.relu(y) if b.chance(0.5) else y])
    given = (*dag.inputs, *dag.constants)
    arrays = {t.name: rng.integers(-2, 3, shape_of(t)).astype(np.float32) for t in given}
    return Case(dag, arrays, b.is_exact)


@pytest.mark.parametrize("shard", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_random_chains_equal_the_math(shard: int) -> None:
    met = chained_programs(chain, shard, shortest=2)
    assert min(met[kind] for kind in ("panels", "chunks", "three")) >= CHAINS, met


@pytest.mark.parametrize("shard", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_random_prologues_equal_the_math(shard: int) -> None:
    met = chained_programs(prologue, shard, shortest=1)
    assert min(met[kind] for kind in ("panels", "chunks", "first")) >= CHAINS, met


def chained_programs(
    make: Callable[[np.random.Generator, int], Case], shard: int, shortest: int
) -> Counter[str]:
    """Check programs of a shard's chains; how many of each kind there were."""
    met: Counter[str] = Counter()
    for seed in range(shard, CHAINS * SHARDS, SHARDS):
        rng = np.random.default_rng(seed)
        case = make(rng, shortest + seed // SHARDS % 2)
        space = Space(case.dag, TARGETS[seed // SHARDS // 2 % len(TARGETS)])
        expected = case.dag.evaluate(case.arrays)
        chained = [n for n, s in enumerate(space.sketches) if "chain" in s.rules]
        for number in rng.permutation(chained)[:SKETCHES]:
            sketch = space.sketches[number]
            drawn = Population(space.draw(rng, DRAWS), np.full(DRAWS, number))
            rows = drawn.rows[space.satisfied(drawn)][:ROWS]
            for row, backend in zip(rows, (poisoned, interpreted, shuffled), strict=False):
                check_program(case, space, int(number), row, backend, expected)
                met["chunks" if "chunks" in sketch.name else "panels"] += 1
                met["three"] += sketch.name.count(",") > 0
                met["first"] += "first" in sketch.name or "conv2d_pad" in sketch.name
    return met


# Tiles of 2 x 2 outputs of the second convolution, whose panel is 5 x 5 of the first one's.
PANEL = {
    "conv.h": [3, 6], "conv.w": [1, 1], "conv.c": [1, 64], "conv.level": 1, "conv.unroll": 64,
    "conv2.h": [1, 1, 2], "conv2.w": [1, 2, 1], "conv2.c": [1, 2, 32], "conv2.rh": [3],
    "conv2.rw": [3], "conv2.rc": [4], "conv2.level": 2, "conv2.panel": 1, "conv2.unroll": 0,
    "y.parallel": 0,
}  # fmt: skip


def test_what_a_panel_has_not_set_is_part_of_no_sum() -> None:
    """Its row and its column before the image, which a condition inside of the sum leaves out."""
    shapes = {"x": (1, 32, 32, 3), "w": (3, 3, 3, 64), "v": (3, 3, 64, 64)}
    x, w, v = (placeholder(s, name=n, constant=n != "x") for n, s in shapes.items())
    first = ops.relu(ops.conv2d(x, w, stride=2, padding=1, name="conv"))
    second = ops.conv2d(first, v, stride=2, padding=1, name="conv2")
    dag = ComputeDAG([ops.relu(second, name="y")])
    name = "chain · conv2: panels of conv · conv2_pad: inline · conv_pad: inline"
    (sketch,) = (s for s in Space(dag, TARGETS[0]).sketches if s.name == name)
    lowered = lowered_of(dag, Gene(sketch.producer, compact(PANEL)), "k")
    rng = np.random.default_rng(0)
    arrays = {n: rng.integers(-2, 3, s).astype(np.float32) for n, s in shapes.items()}
    np.testing.assert_array_equal(poisoned(lowered, arrays)["y"], dag.evaluate(arrays)["y"])

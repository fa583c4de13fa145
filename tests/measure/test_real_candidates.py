"""The whole way with the real build: random candidates of real operators, built, checked, timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import tilewright.expr.operators as op
from tilewright.build import default_gene, make_request
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from tilewright.measure.measurer import LocalMeasurer
from tilewright.measure.task import MeasureTask
from tilewright.measure.trial import RunOptions
from tilewright.space.space import Space
from tilewright.target import Target

pytestmark = pytest.mark.cpu

CANDIDATES = 6


def x(*shape: int) -> Tensor:
    return placeholder(shape, name="x")


def w(*shape: int) -> Tensor:
    return placeholder(shape, name="w", constant=True)


OPERATORS: dict[str, Callable[[], Tensor]] = {
    "matmul": lambda: op.relu(op.matmul(x(48, 60), w(60, 72))),
    "conv2d": lambda: op.conv2d(x(1, 7, 7, 16), w(3, 3, 16, 32), padding=1),
}


@pytest.fixture(scope="module")
def measurer() -> Iterator[LocalMeasurer]:
    with LocalMeasurer(options=RunOptions(repeats=1, min_repeat_ms=0.2)) as measurer:
        yield measurer


@pytest.mark.parametrize("name", OPERATORS)
def test_random_candidates_are_right(measurer: LocalMeasurer, name: str) -> None:
    dag = ComputeDAG([OPERATORS[name]()])
    target = Target.parse("cpu")
    space = Space(dag, target)
    reference = make_request(dag, default_gene(space), target, name)
    population = space.sample(np.random.default_rng(0), CANDIDATES)
    genes = [
        space.gene(int(s), row) for s, row in zip(population.sketch, population.rows, strict=True)
    ]
    requests = [make_request(dag, gene, target, name) for gene in genes]
    results = measurer.measure(MeasureTask.of(name, dag, reference), [reference, *requests])
    assert [(r.stage, r.message) for r in results] == [("ok", "")] * (CANDIDATES + 1)
    assert all(0 < r.latency_s < 1 for r in results)

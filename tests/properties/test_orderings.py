"""Positions of extremes among NaN, infinities and zeros of both signs, by many programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.contract.artifact import Array
from tilewright.expr import operators as op
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.space.space import Space
from tilewright.testing import HOST, compiled

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0)
ROWS = 2


def hard_rows(kind: str) -> Array:
    """[12, 37]: few values, many equal; rows of one value each; rows without NaN."""
    rng = np.random.default_rng(0)
    if not as_dtype(kind).is_float:
        return rng.integers(-3, 3, (12, 37)).astype(kind)
    x = rng.choice(SPECIAL, (12, 37))
    x[0], x[1], x[2], x[3] = np.nan, -np.inf, np.inf, -0.0
    x[4:8] = np.where(np.isnan(x[4:8]), 2.0, x[4:8])
    x[8, :-1] = rng.standard_normal(36)
    return x.astype(kind)


def order(x: Array, largest: bool) -> Array:
    """Stable; NaN is the largest."""
    if not largest:
        return np.argsort(x, axis=1, kind="stable")  # NumPy puts NaN last
    backwards = np.argsort(x[:, ::-1], axis=1, kind="stable")[:, ::-1]
    return x.shape[1] - 1 - backwards


def pooled(x: Array) -> Array:
    """Windows of 4 by steps of 3, one element padded on the left and two on the right."""
    found = []
    for n, row in enumerate(x):
        for start in range(-1, x.shape[1] - 1, 3):
            at = [i for i in range(start, start + 4) if 0 <= i < x.shape[1]]
            nans = [i for i in at if row[i] != row[i]]
            best = nans[-1] if nans else max(at, key=lambda i: (row[i], -i))
            found.append(n * x.shape[1] + best)
    return np.array(found).reshape(len(x), -1, 1)


def pool(x: Tensor) -> Tensor:
    image = op.reshape(x, (12, 37, 1))
    return op.max_pool_indices(image, (4,), stride=(3,), padding=((1, 2),))


CASES: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Array], Any]]] = {
    "argmax": (lambda x: op.argmax(x, 1), lambda x: x.argmax(1)),
    "argmin": (lambda x: op.argmin(x, 1), lambda x: x.argmin(1)),
    "largest": (lambda x: op.top_indices(x, 9), lambda x: order(x, True)[:, :9]),
    "smallest": (
        lambda x: op.top_indices(x, 37, largest=False),
        lambda x: order(x, False),
    ),
    "pool": (pool, pooled),
}


@pytest.mark.parametrize("kind", ["float32", "float16", "int32"])
@pytest.mark.parametrize("case", CASES)
def test_positions_are_those_of_numpy(case: str, kind: str) -> None:
    build, reference = CASES[case]
    x = hard_rows(kind)
    y = build(placeholder(x.shape, as_dtype(kind), name="x"))
    dag = ComputeDAG([y])
    space = Space(dag, HOST)
    population = space.sample(np.random.default_rng(1), ROWS)
    np.testing.assert_array_equal(dag.evaluate({"x": x})[y.name], reference(x))
    for i in range(len(population)):
        trace = space.trace(int(population.sketch[i]), population.rows[i])
        found = compiled(lower(State(dag).replay(trace), "program"), {"x": x})[y.name]
        np.testing.assert_array_equal(found, reference(x), err_msg=str(trace))

"""Products that are unlike others: of a tensor with itself, of one row, of factors read twice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from template_problems import Problem, drawn_gene

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import compute, placeholder
from tilewright.schedule.templates.tensor_cores import TENSOR_CORES


def given(*shape: int, name: str = "x") -> Tensor:
    return placeholder(shape, "float16", name=name)


X, W = given(40, 40), given(40, 24, name="w")


def mirrored() -> Tensor:
    """A factor of two elements each of one tensor."""
    return compute((40, 40), lambda i, k: X[i, k] + X[k, 39 - i], name="m", dtype=X.dtype)


def both_ways() -> Tensor:
    y = ops.matmul(X, W)
    return ops.add(ops.relu(y), ops.tanh(y), name="sum")


def tall() -> Tensor:
    """Several axes of rows, and a depth of three."""
    a, b = given(3, 5, 2, 8, name="a"), given(5, 2, 8, 9, name="b")
    return ops.einsum("rabc,abcs->sr", a, b)


def heads() -> Tensor:
    """Batches side by side in the output's rows."""
    y = ops.batch_matmul(given(3, 40, 16, name="p"), given(3, 16, 8, name="v"))
    return ops.reshape(ops.transpose(y, (1, 0, 2)), (40, 24))


PRODUCT = ops.matmul(X, W)
UNUSUAL: dict[str, Callable[[], Tensor]] = {
    "a tensor with itself": lambda: ops.matmul(X, X),
    "a tensor with its transpose": lambda: ops.matmul(X, X, transpose_b=True),
    "a factor that reads twice": lambda: ops.matmul(mirrored(), W),
    "an epilogue that reads twice": both_ways,
    "a depth of one": lambda: ops.matmul(given(40, 1, name="a"), given(1, 24, name="b")),
    "a product of many axes": tall,
    "columns as heads": lambda: ops.transpose(ops.reshape(PRODUCT, (40, 3, 8)), (1, 0, 2)),
    "heads as columns": heads,
    "one row of all": lambda: ops.reshape(PRODUCT, (40 * 24,)),
    "the product is the residual, too": lambda: ops.add(ops.matmul(X, X), X, name="sum"),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_products(name: str) -> None:
    dag = ComputeDAG([UNUSUAL[name]()])
    rng = np.random.default_rng(3)
    arrays = {t.name: rng.integers(-1, 2, static_shape(t)).astype(np.float16) for t in dag.inputs}
    problem = Problem(dag, arrays)
    gene = drawn_gene(TENSOR_CORES, dag, rng)
    assert gene is not None
    problem.interpreted(problem.program(gene))

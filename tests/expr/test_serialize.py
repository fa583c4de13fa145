"""JSON round trips and the hashes' invariances."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_strategies import indices
from test_evaluate import matmul, normal, padded_conv2d, softmax

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr, Tensor, Var, cast, select
from tilewright.expr.serialize import (
    dag_from_json,
    dag_to_json,
    extents,
    structure_hash,
    workload_hash,
)
from tilewright.expr.tensors import compute, placeholder, reduce_axis, table
from tilewright.expr.tensors import sum as sum_over
from tilewright.expr.traversal import substitute
from tilewright.ground.errors import ExprError


def with_table(values: object, scale: float = 2.0, constant: bool = False) -> ComputeDAG:
    basis = table(np.float32(values), name="basis")
    n, k = basis.shape[0], reduce_axis(basis.shape[0])
    x = placeholder((n,), name="X", constant=constant)
    y = compute((n,), lambda i: sum_over(basis[i, k] * x[k] * scale, k), name="Y")
    return ComputeDAG([y])


def special() -> ComputeDAG:
    x = placeholder((4,), "bfloat16", name="X")

    def body(i: Var) -> Expr:
        return select((i < 3) & ~cast("bool", i - 1), x[i] * -0.0, float("-inf"))

    return ComputeDAG(
        [compute((4,), body, name="Y", dtype="bfloat16", hints={"unroll": ("i",), "inline": False})]
    )


DAGS = [
    ComputeDAG([matmul(4, 5, 6)]),
    ComputeDAG([matmul(4, 5, 6, "float16")]),
    ComputeDAG([padded_conv2d(1, 6, 3, 4, 3, 2)]),
    ComputeDAG([softmax(3, 5)]),
    with_table([[1, 2], [3, 4]]),
    special(),
]


@pytest.mark.parametrize("dag", DAGS, ids=repr)
def test_round_trip(dag: ComputeDAG) -> None:
    text = dag_to_json(dag)
    again = dag_from_json(text)
    assert dag_to_json(again) == text and "\n" not in text
    json.loads(text, parse_constant=_refuse)
    for kind in ("inputs", "constants", "tables", "stages", "outputs"):
        assert getattr(again, kind) == getattr(dag, kind)
    for a, b in zip(again.stages, dag.stages, strict=True):
        assert a.source == b.source
    for a, b in zip(again.tables, dag.tables, strict=True):
        np.testing.assert_array_equal(a.source.values, b.source.values)  # type: ignore[union-attr]
    assert workload_hash(again) == workload_hash(dag)


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(e=indices(), extra=st.floats(width=32, allow_nan=False))
def test_round_trip_of_random_expressions(e: Expr, extra: float) -> None:
    values = {"T": Var("j") + 1, "U": Var("k") * 2 + 1}
    index = substitute(e, values) % 7

    def body(i: Var, j: Var, k: Var) -> Expr:
        return placeholder((7,), name="X")[index] * extra

    dag = ComputeDAG([compute((2, 3, 2), body, name="Y")])
    again = dag_from_json(dag_to_json(dag))
    assert again.stages[0].source == dag.stages[0].source
    x = {"X": normal(7)}
    np.testing.assert_array_equal(again.evaluate(x)["Y"], dag.evaluate(x)["Y"])


def renamed_matmul(m: int, n: int, k: int) -> Tensor:
    a, b = placeholder((m, k), name="left"), placeholder((k, n), name="right")
    r = reduce_axis(k, "inner")
    return compute((m, n), lambda x, y: sum_over(a[x, r] * b[r, y], r), name="product")


def test_names_and_hints_do_not_change_the_hash() -> None:
    assert workload_hash(ComputeDAG([renamed_matmul(4, 5, 6)])) == workload_hash(DAGS[0])
    assert structure_hash(ComputeDAG([renamed_matmul(4, 5, 6)])) == structure_hash(DAGS[0])
    hinted = compute((4,), lambda i: placeholder((4,))[i] + 1.0, hints={"unroll": 4})
    plain = compute((4,), lambda i: placeholder((4,))[i] + 1.0)
    assert workload_hash(ComputeDAG([hinted])) == workload_hash(ComputeDAG([plain]))


def test_what_belongs_to_the_math_changes_the_hash() -> None:
    eye = [[1, 0], [0, 1]]
    variants = [
        with_table(eye),
        with_table([[1, 0], [0, 2]]),
        with_table(eye, scale=3.0),
        with_table(eye, constant=True),
        with_table(np.eye(3)),
        *DAGS,
        ComputeDAG([matmul(5, 4, 6)]),
        ComputeDAG([padded_conv2d(1, 6, 3, 4, 3, 1)]),
        ComputeDAG([compute((4,), lambda i: placeholder((4,))[i] * 2.0)]),
        ComputeDAG([compute((4,), lambda i: placeholder((4,))[i] / 2.0)]),
        ComputeDAG([compute((4,), lambda i: placeholder((4,))[3 - i] / 2.0)]),
        ComputeDAG([compute((4,), lambda i: placeholder((4,), "float64")[i] / 2.0)]),
    ]
    hashes = [workload_hash(d) for d in variants]
    assert len(set(hashes)) == len(hashes) and all(len(h) == 32 for h in hashes)


def test_the_order_of_operands_is_part_of_the_hash() -> None:
    a, b = placeholder((4,), name="A"), placeholder((4,), name="B")
    both = [compute((4,), lambda i: a[i] - b[i]), compute((4,), lambda i: b[i] - a[i])]
    one, other = (ComputeDAG([t]) for t in both)
    assert workload_hash(one) == workload_hash(other)  # the same function of its inputs in order
    twice = ComputeDAG([compute((4,), lambda i: a[i] - b[i] * a[i])])
    assert workload_hash(twice) != workload_hash(one)


def test_structure_ignores_shapes_literals_and_tables() -> None:
    assert structure_hash(ComputeDAG([matmul(64, 7, 9)])) == structure_hash(DAGS[0])
    assert structure_hash(ComputeDAG([padded_conv2d(2, 9, 4, 8, 5, 3)])) == structure_hash(DAGS[2])
    assert structure_hash(with_table(np.eye(3), 5.0)) == structure_hash(DAGS[4])
    assert len({structure_hash(d) for d in DAGS}) == len(DAGS)


def test_extents_list_spatial_axes_before_reductions() -> None:
    assert extents(DAGS[0]) == (4, 5, 6)
    assert extents(DAGS[1]) == (4, 5, 6, 4, 5)
    assert extents(ComputeDAG([softmax(3, 5)])) == (3, 5, 3, 5, 3, 5, 3, 5)


NONSENSE = {"name": "Y", "shape": [2], "dtype": "float32", "axes": ["i"], "body": ["nonsense"]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        json.dumps({"version": 9, "tensors": [], "outputs": []}),
        json.dumps({"version": 1, "tensors": [], "outputs": [0]}),
        json.dumps({"version": 1, "tensors": [NONSENSE], "outputs": [0]}),
    ],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ExprError, match="DAG"):
        dag_from_json(text)

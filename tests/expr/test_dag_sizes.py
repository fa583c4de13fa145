"""DAGs whose extents are expressions over sizes: at a point, as text, as a hash."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.contract.sizes import Size
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor, Var, select
from tilewright.expr.serialize import dag_from_json, dag_to_json, structure_hash, workload_hash
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ExprError, InputError

ROWS = Size("S", 1, 50)


def shifted(rows: object, columns: int = 8) -> Tensor:
    """Rows moved down by one, and their sums."""
    x, k = placeholder((rows, columns), name="x"), reduce_axis(columns, "k")
    y = compute((rows + 1, columns), lambda i, j: select(i >= 1, x[i - 1, j], 0.0), name="y")
    return compute((rows + 1,), lambda i: sum_over(y[i, k] * select(i < rows, 1.0, 2.0), k))


def dag(size: Size = ROWS) -> ComputeDAG:
    return ComputeDAG([shifted(Var(size.name))], (size,))


def test_a_dag_at_a_point_is_the_one_written_with_numbers() -> None:
    static = ComputeDAG([shifted(37)])
    assert dag().at({"S": 37}).outputs[0].shape == (38,)
    assert workload_hash(dag().at({"S": 37})) == workload_hash(static)
    x = np.random.default_rng(0).standard_normal((37, 8)).astype("f4")
    found, expected = (d.evaluate({"x": x}) for d in (dag().at({"S": 37}), static))
    np.testing.assert_array_equal(found["y_1"], expected["y_1"])


def test_the_text_of_a_dag_has_its_sizes() -> None:
    again = dag_from_json(dag_to_json(dag()))
    assert again.sizes == (ROWS,)
    assert again.outputs == dag().outputs
    assert "sizes" not in dag_to_json(dag().at({"S": 3}))


def test_a_workload_is_its_ranges_not_the_names_of_sizes() -> None:
    assert workload_hash(dag()) == workload_hash(dag(Size("T", 1, 50)))
    others = [dag(Size("S", 1, 51)), dag(Size("S", 2, 50)), dag().at({"S": 50})]
    assert len({workload_hash(d) for d in (dag(), *others)}) == 4
    assert {structure_hash(d) for d in (dag(), *others)} == {structure_hash(dag())}


def test_what_no_dag_with_sizes_is() -> None:
    with pytest.raises(ExprError, match=r"has extents over \['S'\]: no sizes here"):
        ComputeDAG([shifted(Var("S"))])
    with pytest.raises(ExprError, match="has an axis called as a size"):
        ComputeDAG([shifted(Var("i"))], (Size("i", 1, 9),))
    with pytest.raises(ExprError, match=r"unknown axes \['T'\]"):
        compute((Var("S"),), lambda i: select(i < Var("T"), 1.0, 0.0))
    with pytest.raises(InputError, match=r"size S is 51; it must be in 1..50"):
        dag().at({"S": 51})

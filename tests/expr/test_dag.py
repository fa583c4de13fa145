"""ComputeDAG: structure, names, accumulation, flops, inlining."""

from __future__ import annotations

import numpy as np
import pytest
from test_evaluate import matmul, normal, padded_conv2d, softmax

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Reduce, Tensor, binary, call, cast
from tilewright.expr.operators import conv_transpose
from tilewright.expr.tensors import compute, placeholder, reduce_axis, table
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ExprError


def names(tensors: tuple[Tensor, ...]) -> list[str]:
    return [t.name for t in tensors]


def relu(x: Tensor, name: str = "relu") -> Tensor:
    return compute(x.shape, lambda *i: binary("max", x[i], 0.0), name=name)  # type: ignore[arg-type]


def transposed_convolution(kernel: int, **options: int) -> Tensor:
    """Of 4 positions with 3 channels; 5 outputs."""
    x, w = placeholder((1, 4, 3), name="X"), placeholder((kernel, 3, 5), name="W", constant=True)
    return conv_transpose(x, w, **options)


def test_structure_of_a_chain() -> None:
    bias = placeholder((4,), name="bias", constant=True)
    conv = padded_conv2d(1, 6, 3, 4, 3, 1)
    y = compute(conv.shape, lambda b, h, w, o: conv[b, h, w, o] + bias[o], name="add")  # type: ignore[arg-type]
    dag = ComputeDAG([relu(y)])
    assert names(dag.stages) == ["pad", "Y", "add", "relu"]
    assert names(dag.inputs) == ["X"] and names(dag.constants) == ["W", "bias"]
    assert names(dag.outputs) == ["relu"] and dag.tables == ()
    assert names(dag.producers(dag.tensor("Y"))) == ["pad", "W"]
    assert names(dag.consumers(dag.tensor("Y"))) == ["add"]
    assert names(dag.consumers(dag.tensor("bias"))) == ["add"]
    assert dag.consumers(dag.outputs[0]) == () and dag.is_output(dag.outputs[0])
    with pytest.raises(ExprError, match="no tensor 'conv'"):
        dag.tensor("conv")


def test_a_diamond_visits_each_stage_once_and_producers_first() -> None:
    dag = ComputeDAG([softmax(4, 8)])
    assert names(dag.stages) == ["top", "e", "total", "S"]
    assert names(dag.consumers(dag.tensor("e"))) == ["total", "S"]


def test_several_outputs_keep_their_order_and_may_feed_each_other() -> None:
    first = relu(placeholder((4,), name="X"), "first")
    second = compute((4,), lambda i: first[i] * 2.0, name="second")
    dag = ComputeDAG([second, first])
    assert names(dag.outputs) == ["second", "first"]
    assert names(dag.stages) == ["first", "second"]
    found = dag.evaluate({"X": np.float32([-1, 0, 1, 2])})
    assert found["second"].tolist() == [0, 0, 2, 4] and found["first"].tolist() == [0, 0, 1, 2]


def test_different_tensors_of_one_name_are_numbered() -> None:
    a, b = placeholder((4,), name="x"), placeholder((4,), name="x")
    first = compute((4,), lambda i: a[i] - b[i], name="y")
    second = compute((4,), lambda i: first[i] * b[i] + a[3 - i], name="y")
    dag = ComputeDAG([second])
    assert names(dag.inputs) == ["x", "x_1"] and names(dag.stages) == ["y", "y_1"]
    values = {"x": normal(4), "x_1": normal(4) * 2 + 1}
    expected = (values["x"] - values["x_1"]) * values["x_1"] + values["x"][::-1]
    np.testing.assert_allclose(dag.evaluate(values)["y_1"], expected, rtol=1e-6)


def test_reads_inside_indices_are_renamed_too() -> None:
    where = placeholder((4,), "int32", name="x")
    x = placeholder((9,), name="x")
    dag = ComputeDAG([compute((4,), lambda i: x[cast("int64", where[i])], name="x")])
    assert sorted(names(dag.inputs)) == ["x", "x_1"] and names(dag.stages) == ["x_2"]
    by_dtype = {t.dtype.name: t.name for t in dag.inputs}
    values = {by_dtype["int32"]: np.int32([8, 0, 1, 8]), by_dtype["float32"]: normal(9)}
    expected = normal(9)[[8, 0, 1, 8]]
    np.testing.assert_array_equal(dag.evaluate(values)["x_2"], expected)


def test_a_narrow_sum_gets_a_wide_accumulator() -> None:
    dag = ComputeDAG([matmul(4, 4, 8, "float16")])
    assert [(t.name, t.dtype.name) for t in dag.stages] == [("C_acc", "float32"), ("C", "float16")]
    for stage in dag.stages:
        body = stage.source.body  # type: ignore[union-attr]
        assert not isinstance(body, Reduce) or body.dtype == stage.dtype
    x, k = placeholder((4, 9), "int8", name="X"), reduce_axis(9)
    y = compute((4,), lambda i: sum_over(cast("int32", x[i, k]) * 2, k), name="Y", dtype="int8")
    dag = ComputeDAG([y])
    assert [(t.name, t.dtype.name) for t in dag.stages] == [("Y_acc", "int32"), ("Y", "int8")]
    values = np.arange(36, dtype=np.int8).reshape(4, 9)
    expected = (values.astype(np.int32).sum(1) * 2).astype(np.int8)
    np.testing.assert_array_equal(dag.evaluate({"X": values})["Y"], expected)


def test_sums_that_are_wide_already_stay_one_stage() -> None:
    x, k = placeholder((4, 9), "int8", name="X"), reduce_axis(9)
    wide = compute((4,), lambda i: sum_over(x[i, k], k), name="Y", dtype="int32")
    top = compute((4,), lambda i: max_over(x[i, k], k), name="M")
    assert names(ComputeDAG([wide]).stages) == ["Y"]
    assert names(ComputeDAG([top]).stages) == ["M"]
    assert names(ComputeDAG([matmul(2, 2, 2)]).stages) == ["C"]


def test_building_a_dag_again_changes_nothing() -> None:
    once = ComputeDAG([matmul(4, 4, 8, "float16")])
    again = ComputeDAG(once.outputs)
    assert again.stages == once.stages
    assert [t.source.body for t in again.stages] == [t.source.body for t in once.stages]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("output", "flops"),
    [
        (matmul(3, 4, 5), 2 * 3 * 4 * 5),
        (relu(matmul(3, 4, 5)), 2 * 3 * 4 * 5 + 3 * 4),
        (padded_conv2d(1, 8, 2, 4, 3, 1), 2 * 64 * 4 * 18),
        (transposed_convolution(kernel=4, stride=2, padding=1), 2 * (8 * 2) * 15),
        (transposed_convolution(kernel=3, stride=2, padding=1), 2 * (4 * 1 + 3 * 2) * 15),
        (transposed_convolution(kernel=1, stride=3, padding=0), 2 * 4 * 15),
        (softmax(3, 7), 3 * 7 + 2 * 3 * 7 + 3 * 7 + 3 * 7),
        (compute((5,), lambda i: call("fma", *[placeholder((5,), name="X")[i]] * 3)), 10),
        (compute((5,), lambda i: placeholder((9,), name="X")[(i * 3 + 1) % 9]), 0),
    ],
)
def test_useful_flops(output: Tensor, flops: int) -> None:
    assert ComputeDAG([output]).useful_flops == flops


def test_what_is_no_dag_is_refused() -> None:
    x = placeholder((4,), name="X")
    y = relu(x)
    with pytest.raises(ExprError, match="at least one output"):
        ComputeDAG([])
    with pytest.raises(ExprError, match="X is not computed"):
        ComputeDAG([x])
    with pytest.raises(ExprError, match="listed twice"):
        ComputeDAG([y, y])


def test_tables_are_not_inputs() -> None:
    weights = table(np.float32([[1, 2], [3, 4]]), name="weights")
    x, k = placeholder((2,), name="X"), reduce_axis(2)
    dag = ComputeDAG([compute((2,), lambda i: sum_over(weights[i, k] * x[k], k), name="Y")])
    assert names(dag.tables) == ["weights"] and names(dag.inputs) == ["X"]
    assert dag.evaluate({"X": np.float32([1, 1])})["Y"].tolist() == [3, 7]


def test_a_table_keeps_its_values_and_leaves_the_caller_its_array() -> None:
    values = np.ones((2, 2), np.float32)
    weights = table(values, name="weights")
    values[0, 0] = 7
    assert weights.source.values[0, 0] == 1  # type: ignore[union-attr]
    assert table(3.0).shape == ()

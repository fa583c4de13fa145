"""Facts of a workload: valid inputs, the tolerance, and the check of the reference itself."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright.expr.tensors as te
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor, call, cast, select
from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.measure.gate import ROUNDOFF
from tilewright.measure.task import MeasureTask, input_kinds, tolerance_of


def matmul(k: int = 64, dtype: str = "float32", name: str = "C") -> Tensor:
    a = te.placeholder((8, k), dtype, name="A")
    b = te.placeholder((k, 8), dtype, name="B", constant=True)
    r = te.reduce_axis(k, "r")
    return te.compute((8, 8), lambda i, j: te.sum(a[i, r] * b[r, j], r), name=name, dtype=dtype)


def elementwise(x: Tensor, fn: str) -> Tensor:
    return te.compute((8, 8), lambda i, j: call(fn, x[i, j]), name=fn)


def task(output: Tensor) -> MeasureTask:
    return MeasureTask.of("t", ComputeDAG([output]), b"")


def test_depth_is_the_product_of_sums_on_the_longest_way() -> None:
    c = matmul(64)
    r = te.reduce_axis(8, "r")
    total = te.compute((8,), lambda i: te.sum(c[i, r], r), name="total")
    largest = te.compute((8,), lambda i: te.max(c[i, r], r), name="largest")
    assert tolerance_of(ComputeDAG([c])).depth == 64
    assert tolerance_of(ComputeDAG([total])).depth == 512
    assert tolerance_of(ComputeDAG([largest])).depth == 64


def test_roundoff_is_the_coarsest_on_the_way() -> None:
    assert tolerance_of(ComputeDAG([matmul()])).roundoff == ROUNDOFF["float32"]
    assert tolerance_of(ComputeDAG([matmul(dtype="float64")])).roundoff == ROUNDOFF["float64"]
    # Summed in float32, rounded to float16 once, at the end: the output's own rounding.
    narrow = matmul(dtype="float16")
    assert tolerance_of(ComputeDAG([narrow])).roundoff == ROUNDOFF["float32"]
    # Rounded to float16 on the way to something else.
    after = te.compute((8, 8), lambda i, j: cast("float32", narrow[i, j]) * 2.0, name="after")
    assert tolerance_of(ComputeDAG([after])).roundoff == ROUNDOFF["float16"]


def test_only_steps_may_flip() -> None:
    c = matmul()
    relu = te.compute((8, 8), lambda i, j: select(c[i, j] > 0.0, c[i, j], 0.0), name="relu")
    step = te.compute((8, 8), lambda i, j: select(c[i, j] > 0.0, 1.0, 0.0), name="step")
    quantised = te.compute((8, 8), lambda i, j: cast("int8", c[i, j] * 0.1), name="q")
    x = te.placeholder((8, 8), name="x")
    exact = te.compute((8, 8), lambda i, j: cast("int32", x[i, j]), name="exact")
    flips = {t.name: tolerance_of(ComputeDAG([t])).flips for t in (relu, step, quantised, exact)}
    assert flips["relu"] == flips["exact"] == 0
    assert flips["step"] > 0
    assert flips["q"] > 0
    assert tolerance_of(ComputeDAG([elementwise(c, "floor")])).flips > 0


def test_indices_stay_inside_what_they_index() -> None:
    data = te.placeholder((50, 4), name="data")
    index = te.placeholder((10,), "int64", name="index")
    direct = te.compute((10, 4), lambda i, j: data[index[i], j], name="direct")
    scaled = te.compute((10, 4), lambda i, j: data[index[i] * 4 + 2, j], name="scaled")
    shifted = te.compute((10,), lambda i: select(index[i] < 0, index[i] + 50, index[i]), name="s")
    through = te.compute((10, 4), lambda i, j: data[shifted[i], j], name="through")
    plain = te.compute((10,), lambda i: index[i] + 1, name="plain")
    ranges = {
        t.name: next((k.low, k.high) for k in input_kinds(ComputeDAG([t])) if k.high)
        for t in (direct, scaled, through, plain)
    }
    assert ranges == {
        "direct": (0, 50),
        "scaled": (0, 12),
        "through": (0, 50),
        "plain": (-100, 100),
    }


def test_roots_get_positive_inputs() -> None:
    x = te.placeholder((8, 8), name="x")
    assert task(elementwise(x, "sqrt")).inputs[0].distribution == "positive"
    assert task(elementwise(x, "exp")).inputs[0].distribution == "signed"


def reference_values(t: MeasureTask) -> list[np.ndarray]:
    pairs = zip(t.dag.outputs, t.expected, strict=True)
    return [e.astype(tensor.dtype.numpy) for tensor, e in pairs]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int8"])
def test_a_right_reference_passes_and_a_wrong_point_does_not(dtype: str) -> None:
    t = task(matmul(64, dtype))
    (values,) = reference_values(t)
    t.check_reference([values.tobytes()])
    values[3] = values[3] + values.dtype.type(1)
    with pytest.raises(WrongAnswer, match="the reference program of t is wrong: output C"):
        t.check_reference([values.tobytes()])


def test_reference_of_scalar_and_several_outputs() -> None:
    x = te.placeholder((6,), name="x")
    r = te.reduce_axis(6, "r")
    total = te.compute((), lambda: te.sum(x[r], r), name="total")
    twice = te.compute((6,), lambda i: x[i] * 2.0, name="twice")
    t = MeasureTask.of("t", ComputeDAG([total, twice]), b"")
    assert [len(p) for p in t.points] == [1, 6]
    values = [v.tobytes() for v in reference_values(t)]
    t.check_reference(values)
    with pytest.raises(WrongAnswer, match="output twice"):
        t.check_reference([values[0], bytes(24)])
    for data in (b"", bytes(3), bytes(20), bytes(28)):
        with pytest.raises(
            RunError, match=r"the runner gave \d+ bytes of output twice of t, not 6"
        ):
            t.check_reference([values[0], data])

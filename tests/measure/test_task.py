"""Facts of a workload: valid inputs, the tolerance, and the check of the reference itself."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright.expr.tensors as te
from tilewright.contract.artifact import BufferSpec
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor, call, cast, select
from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.measure.gate import ROUNDOFF, OutputGate
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


COPIES: dict[str, Any] = {
    "as it is": lambda x: lambda i, k: x[i, k],
    "padded": lambda x: lambda i, k: select(k < 500, x[i, k], 0.0),
    "turned": lambda x: lambda i, k: x[7 - i, k],
    "clamped": lambda x: lambda i, k: select(x[i, k] > 0.0, x[i, k], 0.0),
}
MADE: dict[str, Any] = {
    "scaled": lambda x: lambda i, k: x[i, k] * 1.1,
    "exponential": lambda x: lambda i, k: call("exp", x[i, k]),
}


def bf16_product(how: Any, rounded_apart: bool, depth: int = 512) -> ComputeDAG:
    """A product of bfloat16, whose left factor is made of a float32 input and rounded."""
    x = te.placeholder((8, depth), name="X")
    b = te.placeholder((depth, 8), "bfloat16", name="B", constant=True)
    made = te.compute((8, depth), how(x), name="made")
    if rounded_apart:
        whole, narrow = made, "bfloat16"
        made = te.compute(
            (8, depth), lambda i, k: cast(narrow, whole[i, k]), name="rounded", dtype=narrow
        )
    r = te.reduce_axis(depth, "r")

    def term(i: Any, j: Any) -> Any:
        left = made[i, r] if rounded_apart else cast("bfloat16", made[i, r])
        return te.sum(cast("float32", left) * cast("float32", b[r, j]), r)

    return ComputeDAG([te.compute((8, 8), term, name="C")])


@pytest.mark.parametrize("rounded_apart", [True, False])
@pytest.mark.parametrize("how", [*COPIES, *MADE])
def test_only_what_was_computed_is_rounded_differently(how: str, rounded_apart: bool) -> None:
    found = tolerance_of(bf16_product({**COPIES, **MADE}[how], rounded_apart))
    assert found.roundoff == ROUNDOFF["float32" if how in COPIES else "bfloat16"]
    assert found.depth == 512 and found.flips == 0


@pytest.mark.parametrize("depth", [128, 512, 4096])
@pytest.mark.parametrize("how", COPIES)
def test_a_missing_term_of_a_bfloat16_product_is_found(how: str, depth: int) -> None:
    dag = bf16_product(COPIES[how], rounded_apart=True, depth=depth)
    rng = np.random.default_rng(depth)
    x = rng.standard_normal((8, depth), np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
    b = rng.standard_normal((depth, 8), np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
    spec = BufferSpec("C", (8, 8), "float32")
    gate = OutputGate(spec, (x @ b).astype(np.float32), tolerance_of(dag))
    backwards = sum(np.float32(x[:, k, None] * b[k]) for k in reversed(range(depth)))
    gate.check(backwards)
    for missing in (0, depth // 2, depth - 1):
        kept = np.arange(depth) != missing
        with pytest.raises(WrongAnswer, match="differs from the reference"):
            gate.check((x[:, kept] @ b[kept]).astype(np.float32))


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
    assert [len(p) for p in t.probes] == [1, 6]
    values = [v.tobytes() for v in reference_values(t)]
    t.check_reference(values)
    with pytest.raises(WrongAnswer, match="output twice"):
        t.check_reference([values[0], bytes(24)])
    for data in (b"", bytes(3), bytes(20), bytes(28)):
        with pytest.raises(
            RunError, match=r"the runner gave \d+ bytes of output twice of t, not 6"
        ):
            t.check_reference([values[0], data])

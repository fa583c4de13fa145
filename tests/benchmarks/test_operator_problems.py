"""The libraries' statement of each operator computes what Tilewright's mathematics says."""

from __future__ import annotations

import mmap

import numpy as np
import onnxruntime
import pytest
from benchmarks.cases import SHAPES, SMALL, Case
from benchmarks.peers.onnx_models import onnx_model
from benchmarks.peers.problems import PROBLEMS, problem_of, random_arrays

ONE_MATRIX = Case("GMM-one", "GMM", (7, 9, 5), 1, SHAPES["GMM"][0])


def test_every_operator_has_a_problem_and_a_small_case() -> None:
    assert set(PROBLEMS) == set(SHAPES) == {case.operator for case in SMALL.values()}


@pytest.mark.parametrize("case", [*SMALL.values(), ONE_MATRIX], ids=lambda case: case.name)
def test_onnx_model_agrees_with_the_reference(case: Case) -> None:
    dag = case.dag()
    arrays = random_arrays(dag)
    expected = dag.evaluate(arrays, float64=True)[dag.outputs[0].name]
    problem = problem_of(case, arrays)
    session = onnxruntime.InferenceSession(
        onnx_model(problem).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (y,) = session.run(None, {f"x{i}": x for i, x in enumerate(problem.inputs)})
    np.testing.assert_allclose(problem.restore(y), expected, rtol=1e-4, atol=1e-5)


def test_inputs_repeat_and_differ_by_seed() -> None:
    dag = SMALL["C2D-small"].dag()
    first, again, other = random_arrays(dag), random_arrays(dag), random_arrays(dag, seed=1)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["x"], other["x"])
    assert {x.ctypes.data % mmap.PAGESIZE for x in first.values()} == {16}

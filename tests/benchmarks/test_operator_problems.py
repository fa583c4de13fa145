"""The libraries' statement of each operator computes what Tilewright's mathematics says."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from benchmarks.cases import SHAPES, Case
from benchmarks.peers.onnx_models import onnx_model
from benchmarks.peers.problems import PROBLEMS, problem_of, random_arrays

# (batch, *shape) of `benchmarks.cases`, small, with extents that differ from one another.
TINY: dict[str, tuple[int, ...]] = {
    "C1D": (2, 13, 7, 11, 5, 1, 2),
    "C2D": (2, 11, 7, 5, 13, 3, 2, 1),
    "C3D": (1, 5, 7, 4, 3, 6, 3, 2, 1),
    "GMM": (3, 7, 9, 5),
    "GRD": (1, 7, 6, 9, 21, 3, 2, 1, 3),
    "DIL": (2, 13, 11, 3, 5, 3, 2, 2, 2),
    "DEP": (2, 11, 9, 19, 3, 2, 1),
    "T2D": (2, 5, 3, 7, 6, 4, 2, 1),
    "CAP": (2, 6, 5, 3, 5, 3, 2, 1, 4),
    "NRM": (3, 17, 31),
    "CONV": (2, 7, 9, 3, 11, 3, 2, 1),
    "TBS": (2, 11, 3, 5),
}


def tiny_case(operator: str, shape: tuple[int, ...]) -> Case:
    batch, *rest = shape
    return Case(f"{operator}-tiny", operator, tuple(rest), batch, SHAPES[operator][0])


def test_every_operator_has_a_problem_and_a_tiny_shape() -> None:
    assert set(PROBLEMS) == set(SHAPES) == set(TINY)


@pytest.mark.parametrize(
    ("operator", "shape"), [*TINY.items(), ("GMM", (1, 7, 9, 5))], ids=lambda x: str(x)
)
def test_onnx_model_agrees_with_the_reference(operator: str, shape: tuple[int, ...]) -> None:
    case = tiny_case(operator, shape)
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
    dag = tiny_case("C2D", TINY["C2D"]).dag()
    first, again, other = random_arrays(dag), random_arrays(dag), random_arrays(dag, seed=1)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["x"], other["x"])

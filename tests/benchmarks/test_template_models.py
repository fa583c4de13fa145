"""The benchmark of templates on the contractions of networks: what it finds and counts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks.deadline import Deadline
from benchmarks.reuse_records import Results
from benchmarks.template_models import contractions, entries, rows, summary
from benchmarks.template_problems import Problem
from onnx import TensorProto, helper, numpy_helper

import tilewright as tw
from benchmarks import template_models
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import WrongAnswer
from tilewright.nest.nodes import Program
from tilewright.schedule.templates import ON_GPUS
from tilewright.target import Target

RESULTS = Path(template_models.__file__).parent / "results" / "template_models.json"
H100 = Target.parse("cuda:h100")
NEVER = Deadline(math.inf)


@pytest.fixture(scope="module")
def model() -> tw.Model:
    """A product of matrices, and one of a vector and a matrix, in half precision."""
    given = {"x": (20, 24), "v": (1, 24)}
    made = {"y": (20, 40), "z": (1, 8)}
    weights = {"a": (24, 40), "b": (24, 8)}
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["p"]),
        helper.make_node("Relu", ["p"], ["y"]),
        helper.make_node("MatMul", ["v", "b"], ["z"]),
    ]
    inputs, outputs = (
        [helper.make_tensor_value_info(n, TensorProto.FLOAT16, s) for n, s in those.items()]
        for those in (given, made)
    )
    values = [numpy_helper.from_array(np.ones(s, np.float16), n) for n, s in weights.items()]
    graph = helper.make_graph(nodes, "two", inputs, outputs, values)
    opset = helper.make_opsetid("", 17)
    return tw.load(helper.make_model(graph, opset_imports=[opset], ir_version=8))


def found(model: tw.Model) -> Results:
    return {"targets": {"cuda:h100": {"two": dict(entries(model, H100, {}, NEVER))}}}


def test_a_network_s_programs_are_right_and_refusals_said(model: tw.Model) -> None:
    results = found(model)
    product, vector = results["targets"]["cuda:h100"]["two"].values()
    assert (product["contractions"], vector["contractions"]) == (["1x20x40x24"], ["1x1x8x24"])
    assert all(program["exact"] for program in product["programs"].values())
    assert {*product["programs"], *product["no_row"]} == set(ON_GPUS) and not product["refused"]
    assert set(vector["refused"]) == set(ON_GPUS) and not vector["programs"]
    count = summary(results)["cuda:h100"]["two"]
    assert (count["contractions"], count["with_template"], count["wrong"]) == (2, 1, 0)
    assert count["exact"] == count["programs"] == len(product["programs"])
    *_, last = rows(results)[1]
    assert last.startswith("all: it has 1 rows")


def test_what_is_wrong_is_counted(model: tw.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def interpreted(self: Problem, program: Program) -> None:
        raise WrongAnswer("one element")

    monkeypatch.setattr(Problem, "interpreted", interpreted)
    results = found(model)
    count = summary(results)["cuda:h100"]["two"]
    assert count["with_template"] == count["exact"] == 0
    assert count["wrong"] == count["programs"] > 0
    assert "WRONG: WrongAnswer: one element" in rows(results)[0][-1]


def test_a_slice_goes_on_where_the_last_one_stopped(
    model: tw.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_models, "measured", lambda dag, target: {})
    every = dict(entries(model, H100, {}, NEVER))
    first, second = every
    assert not list(entries(model, H100, {}, Deadline(0.0)))
    assert [name for name, _ in entries(model, H100, {first: {}}, NEVER)] == [second]


def test_sums_of_one_tensor_are_no_contractions() -> None:
    x = placeholder((8, 16), "float16", name="x")
    scale, bias = (placeholder((16,), "float16", name=n, constant=True) for n in ("s", "b"))
    assert not contractions(ComputeDAG([ops.layer_norm(x, scale, bias)]))
    assert not contractions(ComputeDAG([ops.softmax(x)]))


@pytest.mark.skipif(not RESULTS.exists(), reason="the file is to be made anew")
def test_published_programs_are_right() -> None:
    published = json.loads(RESULTS.read_text())
    assert published["summary"] == summary(published)
    for models in published["summary"].values():
        for count in models.values():
            assert count["wrong"] == 0 and count["with_template"] >= count["contractions"] - 2

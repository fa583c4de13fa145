"""LSTM, GRU and RNN as loops, compiled, against onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import Array, run_graph, run_onnx
from onnx import TensorProto, helper, numpy_helper

import tilewright as tw
from tilewright.target import Target

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
TIME, FEATURES, HIDDEN = 5, 6, 8


def recurrent(
    op: str,
    direction: str,
    time: int = TIME,
    batch: int = 1,
    started: bool = False,
    lengths: bool = False,
    hidden: int = HIDDEN,
    **attributes: Any,
) -> onnx.ModelProto:
    """A model of one node with random weights; states and lengths are inputs if it has them."""
    ways, rng = 2 if direction == "bidirectional" else 1, np.random.default_rng(0)

    def array(name: str, *shape: int) -> onnx.TensorProto:
        values = rng.standard_normal(shape) * 0.4
        return numpy_helper.from_array(values.astype(np.float32), name)

    gates = GATES[op] * hidden
    weights = [array("w", ways, gates, FEATURES), array("r", ways, gates, hidden)]
    weights.append(array("b", ways, 2 * gates))
    states = ["h", "c"][: 2 if op == "LSTM" else 1]
    info = helper.make_tensor_value_info
    inputs = [info("x", TensorProto.FLOAT, (time, batch, FEATURES))]
    inputs += [info("n", TensorProto.INT32, (batch,))] if lengths else []
    shape = (ways, batch, hidden)
    inputs += [info(s, TensorProto.FLOAT, shape) for s in states] if started else []
    outputs = [info("y", TensorProto.FLOAT, (time, *shape[:1], *shape[1:]))]
    outputs += [info(f"{s}_last", TensorProto.FLOAT, shape) for s in states]
    names = ["x", "w", "r", "b", "n" if lengths else "", *(states if started else [])]
    node = helper.make_node(
        op, names, [o.name for o in outputs], direction=direction, hidden_size=hidden, **attributes
    )
    graph = helper.make_graph([node], "recurrent", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def inputs_of(model: onnx.ModelProto) -> dict[str, Array]:
    rng, found = np.random.default_rng(1), {}
    for info in model.graph.input:
        kind = info.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        if kind.elem_type == TensorProto.INT32:
            found[info.name] = rng.integers(1, TIME + 1, shape, dtype=np.int32)
        else:
            found[info.name] = rng.standard_normal(shape).astype(np.float32)
    return found


def agree(ours: list[Array], theirs: list[Array]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


CASES: list[Mapping[str, Any]] = [{}, {"batch": 3, "started": True, "lengths": True}, {"time": 1}]


@pytest.mark.parametrize("case", CASES, ids=["plain", "all inputs", "one step"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", GATES)
def test_a_recurrent_node_agrees(op: str, direction: str, case: Mapping[str, Any]) -> None:
    model = recurrent(op, direction, **case)
    loaded, x = tw.load(model), inputs_of(model)
    theirs = run_onnx(model, x)
    agree(tw.compile(loaded).run(x), theirs)
    agree(run_graph(loaded.partition.graph, x), theirs)


def test_odd_attributes_agree() -> None:
    forgetful = recurrent("LSTM", "bidirectional", input_forget=1)
    late = recurrent("GRU", "bidirectional", linear_before_reset=1)
    chosen = ["Sigmoid", "Tanh", "Relu", "HardSigmoid", "Tanh", "Tanh"]
    for model in (forgetful, late, recurrent("LSTM", "bidirectional", activations=chosen)):
        x = inputs_of(model)
        agree(tw.compile(tw.load(model)).run(x), run_onnx(model, x))


def test_the_number_of_steps_does_not_change_the_step() -> None:
    """One compiled step, which runs as often as there are times."""
    found = []
    for time in (32, 64, 256):
        partition = tw.load(recurrent("LSTM", "bidirectional", time, hidden=512)).partition
        found.append({t.key for t in partition.tasks if t.weight == time})
        assert len(partition.tasks) == 7
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 3


def test_a_profile_has_the_loop_as_one_step() -> None:
    model = recurrent("LSTM", "bidirectional")
    net = tw.compile(tw.load(model))
    profile = net.profile(inputs_of(model), runs=2)
    (line,) = [k for k in net.artifact.steps if k.kernel.startswith(f"loop x{TIME}: ")]
    assert line.kernel.count("t") > 3 and line.flops > 0
    assert "loop x5" in str(profile)


def test_a_saved_library_runs_loops(tmp_path: Path) -> None:
    model = recurrent("GRU", "bidirectional", batch=2, started=True)
    x = inputs_of(model)
    tw.compile(tw.load(model)).save(tmp_path / "net.so")
    agree(tw.load_library(tmp_path / "net.so").run(x), run_onnx(model, x))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_loops_are_written_out_for_devices(direction: str) -> None:
    model = tw.load(recurrent("LSTM", direction, batch=2, started=True, lengths=True))
    written = model.for_target(Target.parse("cuda:a100"))
    assert any(n.control for n in model.partition.graph.nodes)
    assert not any(n.control for n in written.partition.graph.nodes)
    same = model.for_target(Target.parse("cpu:znver4"))
    assert same.graph is model.graph and same.partition.keys == model.partition.keys
    inputs = inputs_of(recurrent("LSTM", direction, batch=2, started=True, lengths=True))
    pairs = zip(
        run_graph(model.partition.graph, inputs),
        run_graph(written.partition.graph, inputs),
        strict=True,
    )
    for looped, unrolled in pairs:
        np.testing.assert_allclose(unrolled, looped, rtol=1e-5, atol=1e-6)

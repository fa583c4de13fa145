"""Loops as long as a size: recurrent operators, Scan and Loop, compiled once for all lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import make_model, run_onnx
from onnx import TensorProto, helper
from test_onnx_control import FLOAT, INT, subgraph
from test_sized_models import ints, node, weights

import tilewright as tw

BOOL = TensorProto.BOOL
LENGTHS = (1, 2, 7, 20)


def recurrent(op: str, gates: int, direction: str, given: str = "") -> onnx.ModelProto:
    """Over [time, batch, 3]; `given` names the lengths of its sequences."""
    ways = 2 if direction == "bidirectional" else 1
    known = {
        "w": weights(ways, gates * 4, 3), "r": weights(ways, gates * 4, 4),
        "b": weights(ways, 8 * gates),
    }  # fmt: skip
    nodes = [node(op, f"x w r b {given}".strip(), "y last", hidden_size=4, direction=direction)]
    inputs: dict[str, Any] = {"x": ("time", "batch" if given else 2, 3)}
    dtypes = {given: TensorProto.INT32} if given else {}
    inputs |= {given: ("batch",)} if given else {}
    return make_model(nodes, inputs, known, outputs=["y", "last"], dtypes=dtypes)


def scanned(backwards: int) -> onnx.ModelProto:
    """Running sums along the middle dimension."""
    body = subgraph(
        [helper.make_node("Add", ["s", "row"], ["t"]), helper.make_node("Mul", ["t", "t"], ["u"])],
        {"s": (FLOAT, 2), "row": (FLOAT, 2)},
        {"t": (FLOAT, 2), "u": (FLOAT, 2)},
    )
    ways = {"scan_input_directions": [backwards], "scan_output_directions": [backwards]}
    loop = node(
        "Scan", "start x", "last y", body=body, num_scan_inputs=1, scan_input_axes=[1],
        scan_output_axes=[1], **ways,
    )  # fmt: skip
    inputs = {"x": (2, "time", 3), "start": (2, 3)}
    return make_model([loop], inputs, {}, outputs=["y", "last"])


def counted() -> onnx.ModelProto:
    """As many steps as `x` has rows; each step stacks what it carries."""
    body = subgraph(
        [
            helper.make_node("Mul", ["c", "half"], ["d"]),
            helper.make_node("Identity", ["d"], ["row"]),
            helper.make_node("Identity", ["going"], ["on"]),
        ],
        {"t": (INT, 0), "going": (BOOL, 0), "c": (FLOAT, 1)},
        {"on": (BOOL, 0), "d": (FLOAT, 1), "row": (FLOAT, 1)},
    )
    nodes = [
        node("Shape", "x", "s"), node("Gather", "s zero", "n"),
        node("ReduceMax", "x", "first", axes=[0], keepdims=0),
        node("Loop", "n  first", "last rows", body=body), node("Add", "rows x", "y"),
    ]  # fmt: skip
    known = {"zero": np.int64(0), "half": np.float32([0.5])}
    return make_model(nodes, {"x": ("time", 3)}, known, outputs=["y", "last"])


def reversed_rows() -> onnx.ModelProto:
    known = {
        "start": ints(-1, -2), "end": ints(-(2**62), -(2**62)), "axes": ints(0, 1),
        "steps": ints(-1, -2),
    }  # fmt: skip
    return make_model([node("Slice", "x start end axes steps", "y")], {"x": ("time", 5)}, known)


MODELS = {
    "lstm": lambda: recurrent("LSTM", 4, "bidirectional", "lengths"),
    "gru": lambda: recurrent("GRU", 3, "reverse"),
    "scan": lambda: scanned(0),
    "scan backwards": lambda: scanned(1),
    "loop": counted,
    "reversed": reversed_rows,
}


@pytest.mark.parametrize("name", MODELS)
def test_a_loop_is_as_long_as_a_size(name: str) -> None:
    model, rng = MODELS[name](), np.random.default_rng(0)
    shapes = {"time": (1, 20)} | ({"batch": (1, 3)} if name == "lstm" else {})
    net = tw.compile(tw.load(model, shapes=shapes))
    for time in LENGTHS:
        values = {"time": time, "batch": 1 + time % 3}
        given: dict[str, Any] = {}
        for i in model.graph.input:
            shape = [d.dim_value or values[d.dim_param] for d in i.type.tensor_type.shape.dim]
            given[i.name] = rng.standard_normal(shape).astype(np.float32)
        if "lengths" in given:
            given["lengths"] = rng.integers(1, time + 1, values["batch"]).astype(np.int32)
        results = net(**given)
        found = results if isinstance(results, tuple | list) else [results]
        for ours, theirs in zip(found, run_onnx(model, given), strict=True):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)

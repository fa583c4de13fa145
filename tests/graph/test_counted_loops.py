"""Loops that a condition ends which is known before they begin: their steps are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import Array, make_model, run_graph, run_onnx
from test_onnx_control import BOOL, FLOAT, INT, node, subgraph, with_output

from tilewright.graph.ir import Loop
from tilewright.graph.onnx.importing import load

HUGE = np.array(2**63 - 1, np.int64)


def while_loop(
    test: list[onnx.NodeProto],
    start: Any,
    trips: Array | None = None,
    kind: int = INT,
    constants: dict[str, Any] | None = None,
) -> onnx.ModelProto:
    """h = h · 0.9 + x and every h, while `test`, which makes `next` of `n` and `go_on` of both."""
    body = subgraph(
        [
            *test,
            node("Mul", ["h", "most"], ["less"]),
            node("Add", ["less", "x"], ["after"]),
            node("Identity", ["after"], ["seen"]),
        ],
        {"i": (INT, 0), "go": (BOOL, 0), "h": (FLOAT, 2), "n": (kind, 0)},
        {"go_on": (BOOL, 0), "after": (FLOAT, 2), "next": (kind, 0), "seen": (FLOAT, 2)},
    )
    weights = {"most": np.float32(0.9), "first": np.asarray(start), **(constants or {})}
    weights |= {} if trips is None else {"trips": trips}
    loop = node("Loop", ["" if trips is None else "trips", "yes", "x", "first"],
                ["y", "last", "all"], body=body)  # fmt: skip
    weights["yes"] = np.array(True)
    model = make_model([loop], {"x": (2, 3)}, {k: np.asarray(v) for k, v in weights.items()})
    return with_output(model, {"y": (FLOAT, 2), "last": (kind, 0), "all": (FLOAT, 3)})


def counted(model: onnx.ModelProto) -> int:
    """Steps of the loop, which agrees with onnxruntime's."""
    graph = load(model)
    x = {"x": np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)}
    for ours, theirs in zip(run_graph(graph, x), run_onnx(model, x), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    loops = [n.control for n in graph.nodes if isinstance(n.control, Loop)]
    assert all(loop.trips == graph.outputs[2].shape[0] for loop in loops)
    assert not any(loop.conditional or loop.counted for loop in loops)
    return graph.outputs[2].shape[0]


def up(by: int | float) -> tuple[list[onnx.NodeProto], dict[str, Any]]:
    return [node("Add", ["n", "by"], ["next"])], {"by": np.array(by)}


@pytest.mark.parametrize("trips", [None, HUGE, np.array(9)], ids=["none", "huge", "9"])
@pytest.mark.parametrize(
    ("op", "start", "by", "end", "steps"),
    [
        ("Less", 0, 1, 12, 12), ("LessOrEqual", 0, 3, 20, 7), ("Greater", 30, -2, 0, 15),
        ("GreaterOrEqual", 30, -7, 2, 5), ("Less", 5, 1, 3, 1),
    ],
)  # fmt: skip
def test_a_counter_against_a_limit(
    op: str, start: int, by: int, end: int, steps: int, trips: Array | None
) -> None:
    nodes, constants = up(by)
    test = [*nodes, node(op, ["next", "end"], ["go_on"])]
    model = while_loop(test, np.array(start), trips, constants={**constants, "end": np.array(end)})
    assert counted(model) == (min(steps, 9) if trips is not None and trips < 99 else steps)


def test_the_number_of_the_step_against_a_limit() -> None:
    test = [node("Identity", ["n"], ["next"]), node("Less", ["i", "end"], ["go_on"])]
    assert counted(while_loop(test, np.array(0), constants={"end": np.array(6)})) == 7


def test_a_number_that_halves() -> None:
    """No counter, and no affine one; but everything it follows from is known."""
    test = [
        node("Div", ["n", "two"], ["next"]),
        node("Greater", ["next", "one"], ["some"]),
        node("And", ["some", "go"], ["go_on"]),
    ]
    numbers = {"two": np.float32(2), "one": np.float32(1)}
    assert counted(while_loop(test, np.float32(100), kind=FLOAT, constants=numbers)) == 7


def test_a_condition_on_data_is_none_of_these() -> None:
    """Its rows have no known number."""
    test = [
        node("Identity", ["n"], ["next"]),
        node("ReduceSum", ["h"], ["sum"], keepdims=0),
        node("Less", ["sum", "end"], ["go_on"]),
    ]
    model = while_loop(test, np.array(0), constants={"end": np.float32(6)})
    del model.graph.output[2:]
    model.graph.node[0].output[2] = ""
    (loop,) = (n.control for n in load(model).nodes)
    assert isinstance(loop, Loop)
    assert loop.conditional

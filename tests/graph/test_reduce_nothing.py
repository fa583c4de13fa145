"""Reductions over no axes, or over axes of extent 1, against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from graph_reference import Array, make_model, run_graph, run_onnx
from onnx import helper

from tilewright.graph.onnx.importing import load

KINDS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")
X = np.array([-2, 3, 0.5, -1], np.float32)


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("kind", KINDS)
def test_each_element_is_reduced_by_itself(kind: str, opset: int) -> None:
    """Axes left out, blank, empty or of extent 1, with and without `noop_with_empty_axes`."""
    is_input = opset >= (13 if kind == "Sum" else 18)
    empty: Array = np.zeros(0, np.int64)
    for shape in ((2, 2), (2, 1, 2), ()):
        x = {"x": np.resize(np.abs(X) if kind == "LogSum" else X, shape)}
        ways: list[tuple[list[str], dict[str, Array], dict[str, object]]] = [(["x"], {}, {})]
        if is_input:
            noop = {"noop_with_empty_axes": 1, "keepdims": 0}
            inputs = (["x"], ["x", ""], ["x", "axes"])
            ways += [(i, {"axes": empty} if len(i) > 1 else {}, noop) for i in inputs]
            ways.append((["x", "axes"], {"axes": empty}, {}))
        if shape == (2, 1, 2):
            at = np.array([1])
            one = (["x", "axes"], {"axes": at}, {}) if is_input else (["x"], {}, {"axes": [1]})
            ways.append(one)
        for inputs, weights, how in ways:
            node = helper.make_node(f"Reduce{kind}", inputs, ["y"], **how)
            model = make_model([node], {"x": shape}, weights, opset=opset)
            ours, theirs = run_graph(load(model), x)[0], run_onnx(model, x)[0]
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, err_msg=f"{inputs} {how}")

"""What import evaluates: constants, and the shapes that models compute."""

from __future__ import annotations

import numpy as np
from graph_reference import make_model, random_inputs, run_graph, run_onnx
from onnx import TensorProto, helper

from tilewright.graph.onnx.importing import load

node = helper.make_node


def test_shape_arithmetic_vanishes() -> None:
    """The flatten of many exporters: Shape, Gather, Unsqueeze, Concat, Reshape."""
    nodes = [
        node("Relu", ["x"], ["t"]),
        node("Shape", ["t"], ["s"]),
        node("Gather", ["s", "zero"], ["n"], axis=0),
        node("Unsqueeze", ["n", "first"], ["n1"]),
        node("Size", ["t"], ["size"]),
        node("Div", ["size", "n"], ["rest"]),
        node("Unsqueeze", ["rest", "first"], ["rest1"]),
        node("Concat", ["n1", "rest1"], ["target"], axis=0),
        node("Reshape", ["t", "target"], ["y"]),
    ]
    weights = {"zero": np.int64(0), "first": np.array([0], np.int64)}
    model = make_model(nodes, {"x": (2, 3, 4)}, {k: np.asarray(v) for k, v in weights.items()})
    graph = load(model)
    assert [n.op for n in graph.nodes] == ["relu", "reshape"]
    assert graph.outputs[0].shape == (2, 12)


def test_slices_of_a_shape_respect_start_and_end() -> None:
    nodes = [
        node("Shape", ["x"], ["s"], start=1, end=-1),
        node("ConstantOfShape", ["s"], ["c"], value=helper.make_tensor("v", 1, [1], [2.5])),
        node("Mul", ["x", "c"], ["y"]),
    ]
    model = make_model(nodes, {"x": (2, 3, 3)})
    graph = load(model)
    x = random_inputs(graph)
    np.testing.assert_allclose(run_graph(graph, x)[0], run_onnx(model, x)[0])


def test_constants_of_every_spelling_are_evaluated() -> None:
    nodes = [
        node("Constant", [], ["a"], value_floats=[1.0, 2.0, 3.0]),
        node("Constant", [], ["i"], value_ints=[2, 0, 1]),
        node("Gather", ["a", "i"], ["g"], axis=0),
        node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["g", "f"], ["m"]),
        node("Add", ["x", "m"], ["y"]),
    ]
    graph = load(make_model(nodes, {"x": (2, 3)}))
    assert [n.op for n in graph.nodes] == ["add"]
    np.testing.assert_array_equal(graph.nodes[0].inputs[1].constant, [6.0, 0.0, 2.0])


def test_an_output_may_be_a_constant_or_an_input() -> None:
    nodes = [
        node("Constant", [], ["c"], value_floats=[1.0, 2.0]),
        node("Identity", ["c"], ["y"]),
        node("Identity", ["x"], ["z"]),
    ]
    graph = load(make_model(nodes, {"x": (3,)}, outputs=("y", "z")))
    x = random_inputs(graph)
    found = run_graph(graph, x)
    np.testing.assert_array_equal(found[0], [1.0, 2.0])
    np.testing.assert_array_equal(found[1], x["x"])
    assert graph.output_names == ("y", "z")

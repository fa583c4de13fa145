"""What is known when a model is imported is what it would be at run time."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import Array, make_model, random_inputs, run_graph
from onnx import TensorProto
from test_onnx_control import node, with_output
from test_onnx_operators import CASES, Case, build

from tilewright.graph.onnx.importing import load
from tilewright.graph.passes import simplify

RNG = np.random.default_rng(0)
IMAGE = RNG.standard_normal((1, 2, 7, 9)).astype(np.float32)
WINDOW = {"kernel_shape": [3, 3], "strides": [3, 3], "ceil_mode": 1}


def same(model: onnx.ModelProto, inputs: dict[str, Array]) -> None:
    """All of `inputs` given to a run, and none of them."""
    known = simplify(load(model, constants=inputs))
    assert not known.nodes
    for a, b in zip(run_graph(known, {}), run_graph(load(model), inputs), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", CASES[::4], ids=str)
def test_an_operator(case: Case) -> None:
    model = build(case)
    inputs = random_inputs(load(model))
    same(model, {k: np.abs(v) + np.float32(0.1) if case.positive else v for k, v in inputs.items()})


def weights(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


RECURRENT = {"x": weights(4, 2, 3), "w": weights(1, 12, 3), "r": weights(1, 12, 4)}
NODES: list[tuple[onnx.NodeProto, dict[str, Any]]] = [
    (node("AveragePool", ["x"], ["y"], **WINDOW), {"x": IMAGE}),
    (node("LpPool", ["x"], ["y"], pads=[1] * 4, **WINDOW), {"x": IMAGE}),
    (node("MaxPool", ["x"], ["y"], **{**WINDOW, "strides": [1, 1], "pads": [1] * 4}), {"x": IMAGE}),
    (node("ConvTranspose", ["x", "w"], ["y"], group=2), {"x": IMAGE, "w": weights(2, 3, 3, 2)}),
    (node("Pad", ["x"], ["y"], pads=[0, 0, -1, 2, 0, 0, 2, -1]), {"x": IMAGE}),
    (node("LRN", ["x"], ["y"], size=3), {"x": np.tile(IMAGE, (1, 3, 1, 1))}),
    (node("LpNormalization", ["x"], ["y"], axis=1, p=1), {"x": IMAGE}),
    (node("GRU", ["x", "w", "r"], ["y"], hidden_size=4, clip=0.3), RECURRENT),
    (node("ReduceSumSquare", ["x"], ["y"]), {"x": np.array([[1, -2], [4, -7]], np.int32)}),
    (node("ArgMax", ["x"], ["y"], axis=1), {"x": np.array([[1, np.nan, 3]], np.float32)}),
    (node("ReduceSum", ["x"], ["y"]), {"x": np.full((1, 5000), 1.5, np.float16)}),
]
"""What the reference evaluator of ONNX computes wrongly, or refuses."""


@pytest.mark.parametrize(("which", "inputs"), NODES, ids=lambda v: getattr(v, "op_type", ""))
def test_what_the_evaluator_cannot_do(which: onnx.NodeProto, inputs: dict[str, Array]) -> None:
    kinds = {k: onnx.helper.np_dtype_to_tensor_dtype(v.dtype) for k, v in inputs.items()}
    opset = 7 if which.op_type in ("Pad", "GRU") else 11
    opset = 18 if which.op_type == "LpPool" else opset
    shapes = {k: v.shape for k, v in inputs.items()}
    same(make_model([which], shapes, opset=opset, dtypes=kinds), inputs)


UNARY = ("Relu", "Sigmoid", "Softplus", "Erf", "Round", "Neg", "Abs", "Tanh", "Hardmax")
BINARY = ("Add", "Mul", "Sub", "Div", "Max", "Min")


def random_model(rng: np.random.Generator) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A graph of some ten operators on arrays [2, 3, 8], and what it is given."""
    names, nodes = ["x", "z"], []

    def emit(op: str, *inputs: str, outputs: int = 1, **how: Any) -> str:
        made = [f"t{len(nodes)}{'ab'[i]}" for i in range(outputs)]
        nodes.append(node(op, list(inputs), made, **how))
        return made[0]

    for _ in range(10):
        a, b = (names[-1 - int(rng.integers(min(4, len(names))))] for _ in range(2))
        match rng.integers(9):
            case 0 | 1:
                name = emit(str(rng.choice(UNARY)), a)
            case 2 | 3:
                name = emit(str(rng.choice(BINARY)), a, b)
            case 4:
                mean = emit(f"Reduce{rng.choice(['Mean', 'Max', 'L2'])}", a, axes=[2], keepdims=1)
                name = emit("Sub", b, mean)
            case 5:
                name = emit("AveragePool", a, kernel_shape=[3], pads=[1, 1])
            case 6:
                name = emit("Where", emit("Greater", a, b), a, b)
            case 7:
                whole = emit("Cast", a, to=TensorProto.INT32)
                name = emit("Add", emit("Cast", whole, to=TensorProto.FLOAT), b)
            case _:
                name = emit("Softmax", emit("Concat", a, b, axis=1), axis=2)
                name = emit("Slice", name, "two", "five", "one")
        names.append(name)
    numbers = {"one": np.array([1]), "two": np.array([2]), "five": np.array([5])}
    shape = (2, 3, 8)
    model = make_model(nodes, {"x": shape, "z": shape}, numbers, names[-2:])
    given = {n: rng.standard_normal(shape).astype(np.float32) for n in ("x", "z")}
    return with_output(model, dict.fromkeys(names[-2:], (TensorProto.FLOAT, 3))), given


@pytest.mark.parametrize("seed", range(8))
def test_a_random_graph(seed: int) -> None:
    same(*random_model(np.random.default_rng(seed)))

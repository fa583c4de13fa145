"""Files of the first opsets and of the first versions of the format, against what their operators
meant; onnxruntime has few of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import Array, run_graph
from onnx import TensorProto, helper, numpy_helper

from tilewright.graph.onnx.importing import load
from tilewright.ground.errors import UnsupportedModel


def floats(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def old_file(
    op: str,
    inputs: Sequence[Array],
    known: Mapping[int, Array],
    attributes: Mapping[str, Any],
    opset: int,
    ir_version: int = 3,
    listed: bool = True,
) -> onnx.ModelProto:
    """One node; its inputs are `inputs`, with initializers at the positions of `known`, which are
    `listed` among the inputs or not.
    """
    left = iter(inputs)
    count = len(inputs) + len(known)
    arrays = {f"i{n}": known[n] if n in known else next(left) for n in range(count)}
    weights = {f"i{n}": a for n, a in known.items()}
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in arrays.items()
        if listed or n not in weights
    ]
    made = ["y", "last"] if op in ("RNN", "GRU") else ["y"]
    node = helper.make_node(op, list(arrays), made, **attributes)
    kind = TensorProto.BOOL if op in COMPARISONS else TensorProto.FLOAT
    graph = helper.make_graph(
        [node], "old", infos, [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(a, n) for n, a in weights.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = ir_version
    if ir_version < 3:
        del model.opset_import[:]
    return model


def result(model: onnx.ModelProto, inputs: Sequence[Array]) -> Array:
    graph = load(model)
    (y,) = run_graph(graph, dict(zip([v.name for v in graph.inputs], inputs, strict=True)))
    return y


ARITHMETIC: dict[str, Any] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power,
}  # fmt: skip
COMPARISONS: dict[str, Any] = {
    "Less": np.less, "Greater": np.greater, "Equal": np.equal, "And": np.logical_and,
    "Or": np.logical_or, "Xor": np.logical_xor,
}  # fmt: skip


@pytest.mark.parametrize("opset", [1, 6])
@pytest.mark.parametrize("op", [*ARITHMETIC, *COMPARISONS])
def test_a_second_operand_lies_from_an_axis_on(op: str, opset: int) -> None:
    a, b = np.abs(floats(2, 3, 4, 5)) + 0.5, np.abs(floats(3, 4, seed=2)) + 0.5
    if op == "Equal":
        a, b = (np.round(v).astype(np.int32) for v in (a, b))
    if op in ("And", "Or", "Xor"):
        a, b = (v > 1 for v in (a, b))
    what = {**ARITHMETIC, **COMPARISONS}[op]
    for axis in (1, -3):
        given = {"broadcast": 1, "axis": axis}
        for known in ({}, {1: b}):
            inputs = [a] if known else [a, b]
            y = result(old_file(op, inputs, known, given, opset), inputs)
            np.testing.assert_allclose(y, what(a, b[:, :, None]), rtol=1e-6)
    y = result(old_file(op, [a, a[0, 0]], {}, {"broadcast": 1}, opset), [a, a[0, 0]])
    np.testing.assert_allclose(y, what(a, a[0, 0]), rtol=1e-6)


X = floats(2, 3, 4, 6)
STATISTICS = {1: floats(3), 2: floats(3, seed=2), 3: floats(3, seed=3), 4: np.abs(floats(3)) + 1}


def normal(x: Array, statistics: Mapping[int, Array]) -> Array:
    s, b, m, v = (a.reshape((-1, 1, 1) if a.ndim == 1 else a.shape) for a in statistics.values())
    return (x - m) / np.sqrt(v + 1e-5) * s + b


EACH = {n: floats(3, 4, 6, seed=n) ** 2 + 0.1 for n in range(1, 5)}
CASES: list[tuple[str, int, dict[int, Array], dict[str, Any], Array]] = [
    *(
        (op, 1, {}, {"consumed_inputs": [0]}, what(X))
        for op, what in (
            ("Abs", np.abs), ("Neg", np.negative), ("Tanh", np.tanh), ("Exp", np.exp),
            ("Floor", np.floor), ("Ceil", np.ceil), ("Relu", lambda x: np.maximum(x, 0)),
            ("Sum", lambda x: x), ("Max", lambda x: x), ("Mean", lambda x: x),
            ("Sigmoid", lambda x: 1 / (1 + np.exp(-x))),
        )
    ),
    ("LeakyRelu", 1, {}, {"alpha": 0.2, "consumed_inputs": [0]}, np.where(X < 0, 0.2 * X, X)),
    ("Clip", 1, {}, {"min": -0.5, "max": 0.5, "consumed_inputs": [0]}, np.clip(X, -0.5, 0.5)),
    ("Dropout", 1, {}, {"is_test": 1, "ratio": 0.3, "consumed_inputs": [0]}, X),
    ("Dropout", 6, {}, {"is_test": 1}, X),
    ("Reshape", 1, {}, {"shape": [0, -1, 6], "consumed_inputs": [0]}, X.reshape(2, 12, 6)),
    ("Reshape", 5, {1: np.array([0, -1, 6])}, {}, X.reshape(2, 12, 6)),
    ("Concat", 1, {1: X}, {}, np.concatenate([X, X], 1)),
    ("Cast", 1, {}, {"to": "FLOAT"}, X),
    ("Pad", 1, {}, {"paddings": [0, 0, 1, 0, 0, 0, 0, 2], "value": 0.5},
     np.pad(X, [(0, 0), (0, 0), (1, 0), (0, 2)], constant_values=0.5)),
    ("Pad", 2, {}, {"pads": [0, 0, 1, 0, 0, 0, 0, 2], "mode": "edge"},
     np.pad(X, [(0, 0), (0, 0), (1, 0), (0, 2)], mode="edge")),
    ("Tile", 1, {1: np.array([3], np.float32), 2: np.array([1], np.float32)}, {},
     np.tile(X, (1, 3, 1, 1))),
    ("Tile", 6, {1: np.array([1, 3, 1, 2])}, {}, np.tile(X, (1, 3, 1, 2))),
    ("Upsample", 1, {}, {"height_scale": 2.0, "width_scale": 3.0, "mode": "nearest"},
     X.repeat(2, 2).repeat(3, 3)),
    ("Slice", 1, {}, {"starts": [1, -3], "ends": [3, 9], "axes": [1, 3]}, X[:, 1:3, :, -3:]),
    ("Squeeze", 1, {}, {}, X),
    ("PRelu", 1, {1: floats(3, seed=4)}, {"consumed_inputs": [0, 0]},
     np.where(X < 0, X * floats(3, seed=4)[:, None, None], X)),
    ("BatchNormalization", 1, STATISTICS, {"is_test": 1, "consumed_inputs": [0, 0, 0, 1, 1]},
     normal(X, STATISTICS)),
    ("BatchNormalization", 6, STATISTICS, {"is_test": 1}, normal(X, STATISTICS)),
    ("BatchNormalization", 6, EACH, {"is_test": 1, "spatial": 0}, normal(X, EACH)),
    ("GlobalLpPool", 1, {}, {"p": 2.0}, np.sqrt((X**2).sum((2, 3), keepdims=True))),
    ("Affine", 1, {}, {"alpha": 2.0, "beta": 0.5}, 2 * X + 0.5),
    ("Scale", 1, {}, {"scale": 3.0}, 3 * X),
    ("ImageScaler", 1, {}, {"scale": 0.5, "bias": [1.0, 2.0, 3.0]},
     X / 2 + np.array([1, 2, 3], np.float32)[:, None, None]),
    ("Crop", 1, {}, {"border": [1, 1, 2, 0]}, X[:, :, 1:, 1:4]),
    ("Crop", 1, {}, {"border": [1, 1, 0, 0], "scale": [2, 3]}, X[:, :, 1:3, 1:4]),
    ("ScaledTanh", 1, {}, {"alpha": 2.0, "beta": 0.5}, 2 * np.tanh(X / 2)),
    ("ParametricSoftplus", 1, {}, {"alpha": 2.0, "beta": 0.5}, 2 * np.log1p(np.exp(X / 2))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("op", "opset", "known", "attributes", "wanted"), CASES, ids=[f"{c[0]}-{c[1]}" for c in CASES]
)
def test_an_operator_of_an_old_opset(
    op: str, opset: int, known: dict[int, Array], attributes: dict[str, Any], wanted: Array
) -> None:
    y = result(old_file(op, [X], known, attributes, opset), [X])
    np.testing.assert_allclose(y, wanted, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize(("op", "outputs"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_a_sequence_of_an_old_opset(op: str, outputs: int) -> None:
    """`output_sequence` says what is asked for anyway."""
    x, w, r = floats(4, 2, 3), floats(1, outputs * 5, 3), floats(1, outputs * 5, 5)
    models = [
        old_file(op, [x], {1: w, 2: r}, {"hidden_size": 5, **extra}, opset)
        for opset, extra in ((1, {"output_sequence": 1}), (7, {}))
    ]
    found = [result(m, [x]) for m in models]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("size", [8, 4096])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("ir_version", [1, 3, 4, 8])
def test_weights_may_be_listed_among_the_inputs(ir_version: int, listed: bool, size: int) -> None:
    """Version 4 of the format is the first in which they need not be; small and large ones."""
    a, b = floats(2, size), floats(size, seed=2)
    given = {"broadcast": 1}
    model = old_file("Add", [a], {1: b}, given, 1, ir_version=ir_version, listed=listed)
    graph = load(model)
    assert [v.name for v in graph.inputs] == ["i0"]
    np.testing.assert_array_equal(run_graph(graph, {"i0": a})[0], a + b)


def test_a_scan_over_batches_is_refused() -> None:
    """As opset 8 had it: its first input are lengths."""
    rows = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (3,)) for n in ("s", "r", "t", "o")]
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "r"], ["t"]), helper.make_node("Neg", ["t"], ["o"])],
        "body", rows[:2], rows[2:],
    )  # fmt: skip
    node = helper.make_node("Scan", ["", "h", "x"], ["last", "y"], body=body, num_scan_inputs=1)
    infos = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, shape)
        for n, shape in (("h", (2, 3)), ("x", (2, 5, 3)), ("y", (2, 5, 3)))
    ]
    graph = helper.make_graph([node], "old", infos[:2], infos[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)])
    with pytest.raises(UnsupportedModel, match="opset 8, over batches"):
        load(model)


def test_what_is_known_is_computed_as_the_opset_says() -> None:
    """Operands that are known at import, from an axis on: not by NumPy's rules."""
    a, b = floats(2, 3, 3), floats(3, seed=2)
    nodes = [
        helper.make_node("Add", ["a", "b"], ["s"], broadcast=1, axis=1),
        helper.make_node("Mul", ["x", "s"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "old",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 3, 3))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(v, n) for n, v in (("a", a), ("b", b))],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 6)])
    np.testing.assert_allclose(result(model, [a]), a * (a + b[:, None]), rtol=1e-6)

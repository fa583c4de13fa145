"""Each pass: what it leaves of small graphs, and that the results stay the same."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest
from graph_reference import Array, make_model, random_inputs, run_graph, run_onnx
from onnx import helper

from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Graph
from tilewright.graph.onnx.importing import load
from tilewright.graph.passes import PASSES, Pass, simplify
from tilewright.graph.passes.channels_last import channels_last
from tilewright.graph.passes.fold_affine import fold_affine
from tilewright.graph.passes.fold_constants import fold_constants
from tilewright.graph.passes.merge import closed_forms, merge_equal, merge_pads, numbers_apart
from tilewright.graph.passes.permute_weights import permute_weights

RNG = np.random.default_rng(0)
node = helper.make_node


def floats(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def ops(graph: Graph) -> Counter[str]:
    return Counter(n.op for n in graph.nodes)


def check(model: onnx.ModelProto, *steps: Pass) -> Graph:
    """The model after `steps`, which must not change what it computes."""
    graph = load(model)
    inputs = random_inputs(graph)
    for step in steps:
        graph = step(graph)
    for ours, theirs in zip(run_graph(graph, inputs), run_onnx(model, inputs), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    return graph


def bottleneck() -> onnx.ModelProto:
    weights = {"a": floats(8, 4, 3, 3), "b": floats(4, 8, 1, 1), "k": floats(4, 1, 1)}
    nodes = [
        node("Conv", ["x", "a"], ["t"], pads=[1, 1, 1, 1]),
        node("Relu", ["t"], ["u"]),
        node("MaxPool", ["u"], ["v"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Conv", ["v", "b"], ["w"]),
        node("Mul", ["w", "k"], ["s"]),
        node("Add", ["s", "x"], ["r"]),
        node("Concat", ["r", "u"], ["y"], axis=1),
    ]
    return make_model(nodes, {"x": (2, 4, 6, 5)}, weights)


def test_channels_last_leaves_one_transpose_in_and_one_out() -> None:
    graph = check(bottleneck(), channels_last)
    assert ops(graph)["transpose"] == 2
    assert graph.nodes[0].op == "transpose"
    assert graph.nodes[-1].op == "transpose"


def test_channels_last_maps_axes_of_reductions_pads_slices_and_softmax() -> None:
    weights = {
        "w": floats(6, 4, 1, 1),
        "p": np.array([0, 1, 2, 0, 0, 0, 0, 3], np.int64),
        "s": np.array([1], np.int64),
        "e": np.array([7], np.int64),
        "a": np.array([1], np.int64),
    }
    nodes = [
        node("Conv", ["x", "w"], ["t"]),
        node("Pad", ["t", "p"], ["u"]),
        node("Slice", ["u", "s", "e", "a"], ["v"]),
        node("Softmax", ["v"], ["q"], axis=1),
        node("ReduceMean", ["q"], ["r"], axes=[3], keepdims=1),
        node("ReduceMax", ["r"], ["y"], axes=[1], keepdims=0),
    ]
    graph = check(make_model(nodes, {"x": (2, 4, 6, 5)}, weights), channels_last)
    assert ops(graph)["transpose"] == 1, "the channels are reduced away: nothing to move back"


def test_channels_last_keeps_a_channel_shuffle_as_one_transpose() -> None:
    shapes = {"g": np.array([2, 3, 2, 4, 5]), "h": np.array([2, 6, 4, 5])}
    nodes = [
        node("Conv", ["x", "w"], ["t"]),
        node("Reshape", ["t", "g"], ["u"]),
        node("Transpose", ["u"], ["v"], perm=[0, 2, 1, 3, 4]),
        node("Reshape", ["v", "h"], ["z"]),
        node("Conv", ["z", "w"], ["q"]),
        node("GlobalAveragePool", ["q"], ["y"]),
    ]
    weights = {"w": floats(6, 6, 1, 1), **{k: v.astype(np.int64) for k, v in shapes.items()}}
    graph = check(make_model(nodes, {"x": (2, 6, 4, 5)}, weights), channels_last)
    assert ops(graph)["transpose"] == 2, "the input and the shuffle"


@pytest.mark.parametrize("target", [(2, 120), (2, 3, 2, 20), (24, 10), (2, 6, 1, 4, 5, 1), (240,)])
def test_channels_last_reshapes(target: tuple[int, ...]) -> None:
    nodes = [node("Conv", ["x", "w"], ["t"]), node("Reshape", ["t", "s"], ["y"])]
    weights = {"w": floats(6, 6, 1, 1), "s": np.array(target, np.int64)}
    check(make_model(nodes, {"x": (2, 6, 4, 5)}, weights), channels_last)


def test_operands_in_another_layout_are_transposed_to_the_common_one() -> None:
    weights = {"w": floats(4, 4, 1, 1), "row": floats(5), "cube": floats(4, 6, 5)}
    nodes = [
        node("Conv", ["x", "w"], ["t"]),
        node("Mul", ["t", "row"], ["u"]),
        node("Add", ["u", "cube"], ["v"]),
        node("Sub", ["v", "z"], ["y"]),
    ]
    model = make_model(nodes, {"x": (2, 4, 6, 5), "z": (6, 5)}, weights)
    check(model, channels_last)


def batch_norm(x: str, y: str) -> tuple[list[onnx.NodeProto], dict[str, Array]]:
    names = [f"{y}_{k}" for k in "sbmv"]
    values = [floats(8), floats(8), floats(8), np.abs(floats(8)) + np.float32(0.5)]
    return [node("BatchNormalization", [x, *names], [y])], dict(zip(names, values, strict=True))


def test_batch_norm_disappears_into_a_convolution() -> None:
    norm, statistics = batch_norm("t", "u")
    nodes = [node("Conv", ["x", "w", "c"], ["t"]), *norm, node("Relu", ["u"], ["y"])]
    weights = {"w": floats(8, 4, 3, 3), "c": floats(8), **statistics}
    graph = check(make_model(nodes, {"x": (2, 4, 6, 5)}, weights), channels_last, fold_affine)
    assert ops(graph) == {"transpose": 2, "conv": 1, "add": 1, "relu": 1}


@pytest.mark.parametrize(
    ("op", "shape", "weights", "attributes"),
    [
        ("Conv", (2, 4, 6, 5), (8, 1, 3, 3), {"group": 4}),
        ("Conv", (2, 4, 6, 5), (8, 2, 3, 3), {"group": 2}),
        ("ConvTranspose", (2, 4, 6, 5), (4, 8, 3, 3), {"strides": [2, 2]}),
        ("ConvTranspose", (2, 4, 6, 5), (4, 4, 3, 3), {"group": 2}),
    ],
)
def test_batch_norm_after_other_convolutions(
    op: str, shape: tuple[int, ...], weights: tuple[int, ...], attributes: dict[str, object]
) -> None:
    norm, statistics = batch_norm("t", "y")
    nodes = [node(op, ["x", "w"], ["t"], **attributes), *norm]
    model = make_model(nodes, {"x": shape}, {"w": floats(*weights), **statistics})
    graph = check(model, channels_last, fold_affine)
    # The weights of a grouped transposed convolution do not have one column a channel.
    assert ops(graph)["multiply"] == (1 if op == "ConvTranspose" and attributes.get("group") else 0)


def test_the_affine_spelling_of_the_light_models_folds_too() -> None:
    norm, statistics = batch_norm("t", "u")
    nodes = [
        node("Conv", ["x", "w"], ["t"]),
        *norm,
        node("Unsqueeze", ["g"], ["g1"], axes=[1, 2]),
        node("Unsqueeze", ["h"], ["h1"], axes=[1, 2]),
        node("Mul", ["u", "g1"], ["m"]),
        node("Add", ["m", "h1"], ["y"]),
    ]
    weights = {"w": floats(8, 4, 3, 3), "g": floats(8), "h": floats(8), **statistics}
    model = make_model(nodes, {"x": (2, 4, 6, 5)}, weights, opset=9)
    graph = check(model, channels_last, fold_affine)
    assert ops(graph) == {"transpose": 2, "conv": 1, "add": 1}


def test_a_chain_without_weights_becomes_one_product_and_one_sum() -> None:
    weights = {"a": floats(5), "b": floats(5), "two": np.float32([2.0])}
    nodes = [
        node("Sub", ["a", "x"], ["p"]),
        node("Mul", ["p", "two"], ["q"]),
        node("Neg", ["q"], ["r"]),
        node("Div", ["r", "b"], ["s"]),
        node("Add", ["s", "two"], ["y"]),
    ]
    graph = check(make_model(nodes, {"x": (3, 5)}, weights), fold_affine)
    assert ops(graph) == {"multiply": 1, "add": 1}


def test_a_value_with_two_readers_is_not_scaled_for_one_of_them() -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["t"]),
        node("Mul", ["t", "k"], ["u"]),
        node("Add", ["u", "t"], ["y"]),
    ]
    weights = {"w": floats(5, 6), "k": floats(6)}
    graph = check(make_model(nodes, {"x": (3, 5)}, weights), fold_affine)
    assert ops(graph) == {"matmul": 1, "multiply": 1, "add": 1}


def test_division_by_a_value_is_not_affine() -> None:
    nodes = [node("Div", ["one", "x"], ["t"]), node("Add", ["t", "one"], ["y"])]
    graph = check(make_model(nodes, {"x": (3, 5)}, {"one": np.float32([1.0])}), fold_affine)
    assert ops(graph) == {"divide": 1, "add": 1}


def test_a_pad_with_zeros_joins_the_convolution() -> None:
    weights = {"p": np.array([0, 0, 1, 2, 0, 0, 0, 1], np.int64), "w": floats(8, 4, 3, 3)}
    nodes = [
        node("Pad", ["x", "p"], ["t"]),
        node("Conv", ["t", "w"], ["y"], pads=[1, 1, 1, 1], strides=[2, 1]),
    ]
    graph = check(make_model(nodes, {"x": (2, 4, 6, 5)}, weights), channels_last, merge_pads)
    conv = next(n for n in graph.nodes if n.op == "conv")
    assert conv.attributes["padding"] == ((2, 1), (3, 2))
    assert "pad" not in ops(graph)


def test_a_pad_with_ones_stays() -> None:
    weights = {
        "p": np.array([0, 0, 1, 2, 0, 0, 0, 1], np.int64),
        "v": np.float32(1.0),
        "w": floats(8, 4, 3, 3),
    }
    nodes = [node("Pad", ["x", "p", "v"], ["t"]), node("Conv", ["t", "w"], ["y"])]
    graph = check(make_model(nodes, {"x": (2, 4, 6, 5)}, weights), channels_last, merge_pads)
    assert ops(graph)["pad"] == 1


def test_a_classifier_permutes_its_weights_instead_of_the_features() -> None:
    nodes = [
        node("Conv", ["x", "w"], ["t"]),
        node("Flatten", ["t"], ["f"]),
        node("Gemm", ["f", "v", "b"], ["y"]),
    ]
    weights = {"w": floats(6, 3, 2, 2), "v": floats(6 * 3 * 4, 7), "b": floats(7)}
    model = make_model(nodes, {"x": (2, 3, 4, 5)}, weights)
    assert ops(check(model, channels_last))["transpose"] == 2
    graph = check(model, channels_last, permute_weights)
    assert ops(graph) == {"transpose": 1, "conv": 1, "reshape": 1, "matmul": 1, "add": 1}


def test_constant_arithmetic_is_evaluated() -> None:
    b = GraphBuilder("g")
    x = b.input("x", (4,), "float32")
    c = b.constant("c", np.arange(4, dtype=np.float32))
    total = b.emit("reduce_sum", b.emit("multiply", c, c), axes=(0,), keepdims=True)
    graph = fold_constants(b.build([b.emit("add", x, total, name="y")], ["y"]))
    assert ops(graph) == {"add": 1}
    x_value = np.ones(4, np.float32)
    np.testing.assert_array_equal(run_graph(graph, {"x": x_value})[0], x_value + 14)


def test_equal_nodes_are_computed_once() -> None:
    nodes = [
        node("Relu", ["x"], ["a"]),
        node("Relu", ["x"], ["b"]),
        node("Softmax", ["a"], ["c"], axis=0),
        node("Softmax", ["b"], ["d"], axis=1),
        node("Sub", ["c", "d"], ["y"]),
    ]
    graph = check(make_model(nodes, {"x": (3, 5)}), merge_equal)
    assert ops(graph) == {"relu": 1, "softmax": 2, "subtract": 1}


def test_each_reader_of_a_number_converts_it() -> None:
    """But of tensors, and what is returned, too."""
    b = GraphBuilder("numbers")
    x, n = b.input("x", (3, 5), "float32"), b.input("n", (), "int32")
    k = b.input("k", (5,), "int32")
    m, j = (b.emit("cast_to", v, dtype="float32") for v in (n, k))
    a = b.emit("multiply", b.emit("multiply", x, m), j)
    graph = b.build([b.emit("add", b.emit("subtract", a, m), j), m], ["y", "m"])
    assert ops(numbers_apart(graph))["cast_to"] == 4
    given = random_inputs(graph, 0)
    found = (run_graph(g, given) for g in (numbers_apart(graph), graph))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_mish_as_models_write_it_has_one_exponential() -> None:
    nodes = [
        node("Softplus", ["x"], ["s"]),
        node("Tanh", ["s"], ["t"]),
        node("Mul", ["x", "t"], ["y"]),
    ]
    graph = check(make_model(nodes, {"x": (3, 5)}), closed_forms)
    assert ops(graph) == {"tanh_softplus": 1, "multiply": 1}


def test_all_passes_together_and_again() -> None:
    graph = check(bottleneck(), simplify)
    again = simplify(graph)
    assert ops(again) == ops(graph), "a simplified graph is not changed"
    assert len(PASSES) == 9

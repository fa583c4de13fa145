"""Small networks of other families: how they are cut, and that the results stay right."""

from __future__ import annotations

import numpy as np
import onnx
from graph_reference import Array, make_model, random_inputs, run_onnx, run_partition
from onnx import helper

from tilewright.graph.fusion import fuse
from tilewright.graph.onnx.importing import load
from tilewright.graph.partition import partition
from tilewright.graph.passes import simplify

RNG = np.random.default_rng(0)
node = helper.make_node


def floats(*shape: int) -> Array:
    return (RNG.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)


def kernels(model: onnx.ModelProto) -> list[str]:
    """The operators of each kernel; the results are compared with onnxruntime's."""
    graph = simplify(load(model))
    inputs = random_inputs(graph)
    pairs = zip(run_partition(partition(graph), inputs), run_onnx(model, inputs), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
    return ["+".join(n.op for n in g.nodes) for g in fuse(graph).groups]


def head(name: str, order: list[int]) -> list[onnx.NodeProto]:
    """A projection of x, split into heads and transposed."""
    return [
        node("MatMul", ["x", f"w{name}"], [f"{name}1"]),
        node("Add", [f"{name}1", f"b{name}"], [f"{name}2"]),
        node("Reshape", [f"{name}2", "heads"], [f"{name}3"]),
        node("Transpose", [f"{name}3"], [name], perm=order),
    ]


def test_transformer_block() -> None:
    nodes = [
        *head("q", [0, 2, 1, 3]),
        *head("k", [0, 2, 3, 1]),
        *head("v", [0, 2, 1, 3]),
        node("MatMul", ["q", "k"], ["s1"]),
        node("Div", ["s1", "root"], ["s2"]),
        node("Softmax", ["s2"], ["s"], axis=-1),
        node("MatMul", ["s", "v"], ["o1"]),
        node("Transpose", ["o1"], ["o2"], perm=[0, 2, 1, 3]),
        node("Reshape", ["o2", "flat"], ["o3"]),
        node("MatMul", ["o3", "wo"], ["o4"]),
        node("Add", ["o4", "x"], ["r"]),
        node("LayerNormalization", ["r", "scale", "shift"], ["n"]),
        node("MatMul", ["n", "w1"], ["h1"]),
        node("Add", ["h1", "b1"], ["h2"]),
        node("Div", ["h2", "sqrt2"], ["g1"]),
        node("Erf", ["g1"], ["g2"]),
        node("Add", ["g2", "one"], ["g3"]),
        node("Mul", ["h2", "g3"], ["g4"]),
        node("Mul", ["g4", "half"], ["h"]),
        node("MatMul", ["h", "w2"], ["f1"]),
        node("Add", ["f1", "n"], ["y"]),
    ]
    weights = {
        **{f"w{n}": floats(16, 16) for n in "qkvo"},
        **{f"b{n}": floats(16) for n in "qkv"},
        "heads": np.array([0, 0, 4, 4], np.int64),
        "flat": np.array([0, 0, 16], np.int64),
        "scale": floats(16),
        "shift": floats(16),
        "w1": floats(16, 64),
        "b1": floats(64),
        "w2": floats(64, 16),
        **{
            name: np.array(value, np.float32)
            for name, value in (("root", 2.0), ("sqrt2", 2**0.5), ("one", 1.0), ("half", 0.5))
        },
    }
    found = kernels(make_model(nodes, {"x": (1, 16, 16)}, weights))
    assert found == [
        *["matmul+add"] * 3,
        "transpose+transpose+matmul+multiply+softmax",
        "transpose+matmul+transpose",
        "matmul+add+layer_norm",
        "matmul+add+multiply+erf+add+multiply+multiply",
        "matmul+add",
    ]


def test_inverted_residual() -> None:
    """MobileNet-V2: expansion, depthwise convolution, projection; ReLU6 is a Clip."""
    norms: dict[str, Array] = {}

    def conv_norm(x: str, w: str, y: str, **attributes: object) -> list[onnx.NodeProto]:
        channels = weights[w].shape[0]
        names = [f"{y}{k}" for k in "sbmv"]
        norms.update({n: np.abs(floats(channels)) + np.float32(0.5) for n in names})
        return [
            node("Conv", [x, w], [f"{y}c"], **attributes),
            node("BatchNormalization", [f"{y}c", *names], [y]),
        ]

    weights = {"we": floats(24, 4, 1, 1), "wd": floats(24, 1, 3, 3), "wp": floats(4, 24, 1, 1)}
    nodes = [
        *conv_norm("x", "we", "e"),
        node("Clip", ["e", "low", "high"], ["e6"]),
        *conv_norm("e6", "wd", "d", group=24, pads=[1, 1, 1, 1]),
        node("Clip", ["d", "low", "high"], ["d6"]),
        *conv_norm("d6", "wp", "p"),
        node("Add", ["p", "x"], ["y"]),
    ]
    limits = {"low": np.array(0, np.float32), "high": np.array(6, np.float32)}
    found = kernels(make_model(nodes, {"x": (1, 4, 9, 9)}, {**weights, **norms, **limits}))
    assert found == [
        "transpose",
        "conv+add+clip",
        "depthwise_conv+add+clip",
        "conv+add+add+transpose",
    ]


def test_generator() -> None:
    """DCGAN: a vector becomes an image through transposed convolutions."""
    weights = {"s": np.array([0, 32, 1, 1], np.int64), "w0": floats(32, 16, 4, 4)}
    weights |= {"w1": floats(16, 3, 4, 4)}
    nodes = [
        node("Reshape", ["x", "s"], ["z"]),
        node("ConvTranspose", ["z", "w0"], ["a"]),
        node("Relu", ["a"], ["b"]),
        node("ConvTranspose", ["b", "w1"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Tanh", ["c"], ["y"]),
    ]
    found = kernels(make_model(nodes, {"x": (1, 32)}, weights))
    assert found == ["conv_transpose+relu", "conv_transpose+tanh+transpose"]


def test_video_network() -> None:
    """A 3D convolution with a squeeze-and-excitation gate."""
    weights = {"w": floats(8, 3, 3, 3, 3), "g": floats(8, 8, 1, 1, 1), "c": floats(8)}
    nodes = [
        node("Conv", ["x", "w"], ["a"], pads=[1] * 6, strides=[1, 2, 2]),
        node("Relu", ["a"], ["b"]),
        node("GlobalAveragePool", ["b"], ["p"]),
        node("Conv", ["p", "g", "c"], ["q"]),
        node("HardSigmoid", ["q"], ["r"]),
        node("Mul", ["b", "r"], ["y"]),
    ]
    found = kernels(make_model(nodes, {"x": (1, 3, 4, 9, 9)}, weights))
    assert found == [
        "transpose+conv+relu",
        "reduce_mean",
        "conv+add+hard_sigmoid",
        "multiply+transpose",
    ]

"""A problem as an ONNX model, for the libraries that take those.

model = onnx_model(problem)        inputs "x0", "x1", ... and one output, all float32
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.peers.problems import Problem
from tilewright.contract.artifact import Array

OPSET = 18
IR_VERSION = 10  # the newest that every listed peer reads


@dataclass
class _Graph:
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[onnx.TensorProto] = field(default_factory=list)

    def node(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, values: Array) -> str:
        self.weights.append(numpy_helper.from_array(values, f"w{len(self.weights)}"))
        return self.weights[-1].name


def onnx_model(problem: Problem) -> onnx.ModelProto:
    """A checked model of the problem; its weights are initialisers."""
    graph = _Graph()
    names = [f"x{i}" for i in range(len(problem.inputs))]
    last = KINDS[problem.kind](graph, problem, names)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape)
        for name, x in zip(names, problem.inputs, strict=True)
    ]
    output = helper.make_tensor_value_info(last, TensorProto.FLOAT, None)
    model = helper.make_model(
        helper.make_graph(graph.nodes, problem.kind, inputs, [output], graph.weights),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    model = onnx.shape_inference.infer_shapes(model)
    onnx.checker.check_model(model)
    return model


def _convolution(graph: _Graph, problem: Problem, names: Sequence[str]) -> str:
    assert problem.weight is not None
    inputs = [*names, graph.constant(problem.weight)]
    if problem.bias is not None:
        inputs.append(graph.constant(problem.bias))
    y = graph.node(
        "ConvTranspose" if problem.kind == "conv_transpose" else "Conv",
        inputs,
        strides=[problem.stride] * problem.rank,
        pads=[problem.padding] * 2 * problem.rank,
        dilations=[problem.dilation] * problem.rank,
        group=problem.groups,
    )
    return graph.node("Relu", [y]) if problem.relu else y


def _matmul(graph: _Graph, problem: Problem, names: Sequence[str]) -> str:
    return graph.node("MatMul", names)


def _norm(graph: _Graph, problem: Problem, names: Sequence[str]) -> str:
    axes = graph.constant(np.array([-2, -1], np.int64))
    return graph.node("ReduceL2", [*names, axes], keepdims=0)


def _scores(graph: _Graph, problem: Problem, names: Sequence[str]) -> str:
    q, k = names
    left = graph.node("Transpose", [q], perm=[0, 2, 1, 3])
    right = graph.node("Transpose", [k], perm=[0, 2, 3, 1])
    return graph.node("Softmax", [graph.node("MatMul", [left, right])], axis=-1)


KINDS: dict[str, Callable[[_Graph, Problem, Sequence[str]], str]] = {
    "conv": _convolution,
    "conv_transpose": _convolution,
    "matmul": _matmul,
    "norm": _norm,
    "scores": _scores,
}

"""Chains of element-wise operators of any length, whose operators may use a value twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from graph_reference import random_inputs, run_graph, run_partition
from onnx import TensorProto, helper

import tilewright as tw
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.fusion import LARGEST_GROUP, fuse
from tilewright.graph.ir import Graph, Value
from tilewright.graph.partition import partition

Link = Callable[[GraphBuilder, Value], Value]


def chain(times: int, link: Link) -> Graph:
    b = GraphBuilder("g")
    value = b.input("x", (1, 6), "float32")
    for _ in range(times):
        value = link(b, value)
    return b.build([value], ["y"])


def doubled(b: GraphBuilder, v: Value) -> Value:
    return b.emit("add", v, v)


def swished(b: GraphBuilder, v: Value) -> Value:
    return b.emit("multiply", v, b.emit("sigmoid", v))


def negated(b: GraphBuilder, v: Value) -> Value:
    return b.emit("negative", b.emit("relu", v))


def rotated(b: GraphBuilder, v: Value) -> Value:
    """Movement that is not merely a view: indices grow instead of arithmetic."""
    rows = b.reshape(v, (2, 3) if v.shape != (2, 3) else (3, 2))
    return b.reshape(b.transpose(rows, (1, 0)), (1, 6))


@pytest.mark.parametrize("link", [doubled, swished, negated, rotated])
def test_groups_are_small_and_compute_the_same(link: Link) -> None:
    graph = chain(20, link)
    inputs = random_inputs(graph)
    found = partition(graph)
    for cut, whole in zip(run_partition(found, inputs), run_graph(graph, inputs), strict=True):
        np.testing.assert_allclose(cut, whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("link", "per_link"), [(doubled, 1), (swished, 2), (negated, 2)])
def test_the_parts_of_a_chain_are_few_and_mostly_equal(link: Link, per_link: int) -> None:
    times = 640 // per_link
    groups = fuse(chain(times, link)).groups
    sizes = [len(g.nodes) for g in groups]
    assert sum(sizes) == times * per_link
    assert max(sizes) <= LARGEST_GROUP and min(sizes[:-1]) == max(sizes) > 4
    assert len(partition(chain(times, link)).tasks) <= 2


def save(file: Path, nodes: Sequence[onnx.NodeProto], last: str) -> Path:
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 6]) for n in ("x", last))
    graph = helper.make_graph(nodes, "chain", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
    return file


@pytest.mark.cpu
def test_a_chain_of_a_thousand_operators_runs(tmp_path: Path) -> None:
    ops = [("Abs", "Neg")[i % 2] for i in range(1000)]
    nodes = [
        helper.make_node(op, [f"v{i}" if i else "x"], [f"v{i + 1}"]) for i, op in enumerate(ops)
    ]
    net = tw.compile(tw.load(save(tmp_path / "chain.onnx", nodes, "v1000")))
    x = np.array([[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]], np.float32)
    np.testing.assert_array_equal(net(x)[0], -np.abs(x))


@pytest.mark.cpu
@pytest.mark.parametrize("times", [40])
def test_a_value_added_to_itself_again_and_again(tmp_path: Path, times: int) -> None:
    names = ["x", *(f"v{i}" for i in range(times))]
    pairs = pairwise(names)
    nodes = [helper.make_node("Add", [a, a], [b]) for a, b in pairs]
    net = tw.compile(tw.load(save(tmp_path / "sums.onnx", nodes, names[-1])))
    x = np.array([[1.0, -2.0, 3.0, -4.0, 5.0, 0.5]], np.float32)
    np.testing.assert_array_equal(net(x)[0], x * 2.0**times)


@pytest.mark.cpu
def test_an_expression_by_hand_is_not_written_out_either() -> None:
    x = v = tw.placeholder((8,), name="x")
    for n in range(40):
        v = tw.compute((8,), lambda i, v=v: v[i] + v[i], name=f"v{n}")
    function = tw.compile(tw.Task([x, v]))
    values = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(function(values)[0], values * 2.0**40)

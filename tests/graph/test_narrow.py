"""Contractions of bfloat16: which are, and that only factors are rounded."""

from __future__ import annotations

from collections import Counter

import ml_dtypes
import numpy as np
import pytest
from graph_reference import Array, make_model, run_graph
from onnx import helper

import tilewright as tw
from tilewright.graph.onnx.importing import load
from tilewright.graph.passes import simplify
from tilewright.graph.passes.narrow import narrowed
from tilewright.ground.errors import InputError

node = helper.make_node


def rounded(x: Array) -> Array:
    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


def block() -> tuple[object, dict[str, Array]]:
    """Two products of one input, one of which is added to the other's activation."""
    rng = np.random.default_rng(0)
    weights = {n: rng.standard_normal((32, 32)).astype(np.float32) for n in ("v", "w")}
    nodes = [
        node("MatMul", ["x", "v"], ["p"]),
        node("MatMul", ["x", "w"], ["q"]),
        node("Relu", ["q"], ["r"]),
        node("Add", ["p", "r"], ["y"]),
    ]
    return make_model(nodes, {"x": (8, 32)}, weights), weights


def test_factors_are_rounded_and_nothing_else() -> None:
    model, weights = block()
    graph = narrowed(simplify(load(model)))
    x = np.random.default_rng(1).standard_normal((8, 32)).astype(np.float32)
    ops = Counter(n.op for n in graph.nodes)
    assert ops["cast_to"] == 1, "one narrow copy serves both"
    assert all(n.output.dtype == "float32" for n in graph.nodes if n.op == "matmul")
    (y,) = run_graph(graph, {"x": x})
    v, w = rounded(weights["v"]), rounded(weights["w"])
    wanted = rounded(x) @ v + np.maximum(rounded(x) @ w, 0)
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("rows", "narrow"), [(32, True), (4, False)])
def test_two_activations_where_a_copy_of_one_pays(rows: int, narrow: bool) -> None:
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    graph = narrowed(simplify(load(make_model(nodes, {"x": (2, rows, 32), "w": (2, 32, 16)}, {}))))
    rng = np.random.default_rng(1)
    x, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, rows, 32), (2, 32, 16)))
    (y,) = run_graph(graph, {"x": x, "w": w})
    wanted = rounded(x) @ rounded(w) if narrow else x @ w
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.cpu
def test_a_user_asks_for_it() -> None:
    model, _ = block()
    x = np.random.default_rng(1).standard_normal((8, 32)).astype(np.float32)
    (exact,), (near,) = (tw.compile(tw.load(model, math=m))(x) for m in ("float32", "bfloat16"))
    error = np.abs(near - exact).max() / np.abs(exact).max()
    assert 1e-5 < error < 1e-2


def test_short_sums_and_unknown_factors_stay_as_they_are() -> None:
    rng = np.random.default_rng(0)
    short = {"w": rng.standard_normal((8, 32)).astype(np.float32)}
    graph = load(make_model([node("MatMul", ["x", "w"], ["y"])], {"x": (8, 8)}, short))
    assert [n.op for n in narrowed(graph).nodes] == ["matmul"]
    both = make_model([node("MatMul", ["a", "b"], ["y"])], {"a": (8, 64), "b": (64, 8)})
    assert [n.op for n in narrowed(load(both)).nodes] == ["matmul"]


def test_another_word_is_refused_with_those_that_are_known() -> None:
    model, _ = block()
    with pytest.raises(InputError, match="math is 'float32' or 'bfloat16', not 'half'"):
        tw.load(model, math="half")

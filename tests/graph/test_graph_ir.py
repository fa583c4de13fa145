"""The graph itself: construction, verifier, printer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Graph, Node, Value, verify
from tilewright.graph.ops import infer
from tilewright.ground.errors import ExprError, VerifyError


def small() -> Graph:
    b = GraphBuilder("g")
    x = b.input("x", (1, 4, 4, 3), "float32")
    w = b.constant("w", np.ones((1, 1, 3, 8), np.float32))
    y = b.emit("conv", x, w, name="t", stride=(1, 1))
    b.emit("negative", y, name="unused")
    return b.build([b.emit("relu", y, name="y")], ["y"])


def test_prints_one_line_a_node_and_drops_dead_ones() -> None:
    assert str(small()).splitlines() == [
        "graph g(x: float32[1, 4, 4, 3]) -> (y)",
        "  %t = conv(%x, $w: float32[1, 1, 3, 8]; stride=(1, 1)) : float32[1, 4, 4, 8]",
        "  %y = relu(%t) : float32[1, 4, 4, 8]",
    ]


def test_verifier_finds_a_use_before_its_definition() -> None:
    g = small()
    with pytest.raises(VerifyError, match="not defined yet"):
        verify(replace(g, nodes=g.nodes[::-1]))


def test_verifier_finds_a_constant_of_another_type() -> None:
    b = GraphBuilder("g")
    x = b.input("x", (2,), "float32")
    bad = Value("c", (2,), "float32", np.zeros(3, np.float32))
    with pytest.raises(VerifyError, match="holds float32"):
        b.build([b.emit("add", x, bad)], ["y"])


def test_verifier_finds_two_values_of_one_name() -> None:
    g = small()
    twin = Node("negative", (g.nodes[0].output,), {}, Value("y", (1, 4, 4, 8), "float32"))
    with pytest.raises(VerifyError, match="two values are called 'y'"):
        verify(replace(g, nodes=(*g.nodes, twin)))


def test_shapes_and_dtypes_follow_from_the_math() -> None:
    b = GraphBuilder("g")
    x, y = b.input("x", (2, 1, 5), "float32"), b.input("y", (4, 5), "float32")
    assert infer("add", [x, y], {}) == ((2, 4, 5), "float32")
    assert infer("less", [x, y], {}) == ((2, 4, 5), "bool")
    assert infer("cast_to", [x], {"dtype": "int8"}) == ((2, 1, 5), "int8")
    assert infer("argmax", [x], {"axis": 2, "keepdims": False}) == ((2, 1), "int64")
    with pytest.raises(ExprError, match="do not broadcast"):
        infer("add", [x, b.input("z", (3,), "float32")], {})
    with pytest.raises(ExprError, match="unknown graph operator 'frobnicate'"):
        infer("frobnicate", [x], {})


def test_a_constant_of_one_element_keeps_the_rank_it_gives() -> None:
    b = GraphBuilder("g")
    x = b.input("x", (5,), "float32")
    wide = b.constant("c", np.full((1, 1), 2.0, np.float32))
    assert b.emit("multiply", x, wide).shape == (1, 5)


def test_movement_of_constants_is_done_at_once_and_identities_vanish() -> None:
    b = GraphBuilder("g")
    c = b.constant("c", np.arange(6, dtype=np.float32).reshape(2, 3))
    moved = b.reshape(b.transpose(c, (1, 0)), (6,))
    assert moved.constant is not None
    np.testing.assert_array_equal(moved.constant, [0, 3, 1, 4, 2, 5])
    x = b.input("x", (2, 1, 3), "float32")
    assert b.transpose(x, (0, 1, 2)) is x
    assert b.reshape(x, (2, 1, 3)) is x
    assert not b.nodes

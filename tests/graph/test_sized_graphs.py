"""Graphs with sizes: at any value they are the static graph, and so are their kernels."""

from __future__ import annotations

import numpy as np
import pytest
from graph_reference import random_inputs, run_graph, run_partition

from tilewright.contract.sizes import Size
from tilewright.expr.nodes import Expr, Extent, Var
from tilewright.graph.access import NodeMath
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Graph, verify
from tilewright.graph.partition import partition
from tilewright.graph.passes import simplify
from tilewright.ground.errors import ExprError, InputError, VerifyError
from tilewright.target import Target

B, S = Var("B"), Var("S")
SIZES = (Size("B", 1, 3), Size("S", 1, 40))
POINTS = ({"B": 1, "S": 1}, {"B": 2, "S": 17}, {"B": 3, "S": 40})
RNG = np.random.default_rng(0)


def attention(batch: Extent = B, length: Extent = S) -> Graph:
    """One head after the other, with a mask, a residual and a norm."""
    b = GraphBuilder("attention", SIZES if isinstance(length, Expr) else ())
    x = b.input("x", (batch, length, 8), "float32")
    mask = b.input("mask", (batch, length), "float32")

    def dense(v, n: int = 8):
        w = RNG.standard_normal((v.extents[-1], n)).astype(np.float32)
        return b.emit("matmul", v, b.constant("w", w))

    def heads(v, order: tuple[int, ...]):
        return b.transpose(b.reshape(v, (batch, length, 2, 4)), order)

    q, k, v = dense(x), dense(x), dense(x)
    scores = b.emit("matmul", heads(q, (0, 2, 1, 3)), heads(k, (0, 2, 3, 1)))
    masked = b.emit("add", scores, b.reshape(mask, (batch, 1, 1, length)))
    mixed = b.emit("matmul", b.emit("softmax", masked, axis=-1), heads(v, (0, 2, 1, 3)))
    y = b.reshape(b.transpose(mixed, (0, 2, 1, 3)), (batch, length, 8))
    gain = b.constant("g", np.ones(8, np.float32))
    y = b.emit("layer_norm", b.emit("add", dense(y), x), gain, gain, axis=-1)
    return b.build([y, b.take(y, 0, 1)], ["y", "first"])


@pytest.mark.parametrize("values", POINTS, ids=str)
@pytest.mark.parametrize("target", [None, "cpu:icelake-server cores=2"])
def test_a_graph_with_sizes_is_that_of_each_value(
    values: dict[str, int], target: str | None
) -> None:
    graph = simplify(attention())
    static = graph.at(values)
    verify(static)
    assert [n.op for n in static.nodes] == [n.op for n in graph.nodes]
    inputs = random_inputs(static)
    expected = run_graph(static, inputs)
    cut = partition(graph, target and Target.parse(target))
    for found, wanted in zip(run_partition(cut, inputs, values), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_what_is_fused_is_decided_where_sizes_are_at_their_most() -> None:
    graph = simplify(attention())
    sized, static = partition(graph), partition(graph.at(POINTS[-1]))
    assert len(sized.calls) == len(static.calls)
    assert [c.output.name for c in sized.subgraphs] == [c.output.name for c in static.subgraphs]
    rows = Size("rows", 1, 3 * 40)
    assert {t.dag.sizes for t in sized.tasks} == {SIZES, (rows,)}


@pytest.mark.parametrize(
    ("before", "after", "view"),
    [
        ((B, S, 8), (B, S, 2, 4), True),
        ((B, 4, 8), (B * 4, 8), True),
        ((B, S, 8), (B * S, 8), True),
        ((B, 8, S), (B * 8, S), True),
        ((S, 8), (1, S, 8), True),
        ((B, S), (B, 1, 1, S), True),
        ((1, S, 8), (S, 8), True),
        ((2, S), (2 * S,), False),
    ],
)
def test_a_view_of_rows_a_fixed_distance_apart(before, after, view: bool) -> None:
    b = GraphBuilder("g", SIZES)
    b.reshape(b.input("x", before, "float32"), after)
    assert NodeMath.of(b.nodes[0]).is_view(SIZES) == view


def test_what_asks_for_numbers_is_told_so() -> None:
    b = GraphBuilder("g", SIZES)
    x = b.input("x", (S + 1, 8), "float32")
    assert x.rank == 2 and str(x) == "x: float32[S + 1, 8]"
    b.reshape(x, (S + 1, 2, 4), "r")
    assert str(b.nodes[0]) == "%r = reshape(%x; shape=(S + 1, 2, 4)) : float32[S + 1, 2, 4]"
    with pytest.raises(ExprError, match=r"x needs a number where the extent is S \+ 1"):
        _ = x.elements
    with pytest.raises(InputError, match="size S is 41"):
        b.build([x], ["x"]).at({"B": 1, "S": 41})
    with pytest.raises(VerifyError, match=r"extents over \['T'\]"):
        stray = GraphBuilder("g", SIZES)
        stray.build([stray.input("x", (Var("T"),), "float32")], ["x"])

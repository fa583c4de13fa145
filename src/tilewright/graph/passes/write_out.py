"""Loops of a known length as the steps that they make, for targets that run none.

h, rows = loop x3 (h0, x)   →   h1, r1 = step(h0, x[0]); h2, r2 = step(h1, x[1]); …
                                rows = concat(r1, r2, r3)

A loop whose length or end depends on data stays; what it carries may grow by numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tilewright.expr.sizes import extent_at
from tilewright.graph.builder import GraphBuilder, Rewriter
from tilewright.graph.ir import Graph, Loop, Value


def write_out(graph: Graph) -> Graph:
    """`graph`, and the graphs within it, without loops of a known length."""
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        if node.control is not None:
            bodies = [write_out(body) for body in node.control.bodies]
            node = replace(node, control=node.control.with_bodies(bodies))
        match node.control:
            case Loop(trips=int(), counted=False, conditional=False) as loop if _has_numbers(loop):
                results = unrolled(rewriter.builder, loop, rewriter.operands(node))
                rewriter.values.update(zip(node.outputs, results, strict=True))
            case _:
                rewriter.keep(node)
    return rewriter.finish()


def _has_numbers(loop: Loop) -> bool:
    """Whether the extents of what it carries follow from numbers alone, if they change."""
    return not loop.growth or loop.body.sizes == tuple(g.size for g in loop.growth)


def unrolled(b: GraphBuilder, loop: Loop, inputs: Sequence[Value]) -> list[Value]:
    """The results of a loop of a known length, step by step."""
    assert isinstance(loop.trips, int)
    carried = list(inputs[: loop.carried])
    scanned = inputs[loop.carried : loop.carried + loop.scanned]
    captured = inputs[loop.carried + loop.scanned :]
    turned = list(zip(scanned, loop.backwards, strict=False))
    rows: list[list[Value]] = [[] for _ in range(loop.stacked)]
    sizes = {g.size.name: extent_at(g.start, {}) for g in loop.growth}
    for t in range(loop.trips):
        body = loop.body.at(sizes) if sizes else loop.body
        step = b.constant("t", np.asarray(t, np.int64))
        given = [b.take(x, loop.trips - 1 - t if back else t) for x, back in turned]
        found = _body(b, body, [step, *carried, *given, *captured])
        carried = found[: loop.carried]
        sizes = {g.size.name: extent_at(g.after, sizes) for g in loop.growth}
        for stack, row in zip(rows, found[loop.carried :], strict=True):
            stack.append(row)
    for stack, back in zip(rows, loop.backwards[loop.scanned :], strict=True):
        carried.append(b.stacked(stack[::-1] if back else stack, 0))
    return carried


def _body(b: GraphBuilder, body: Graph, inputs: Sequence[Value]) -> list[Value]:
    """The outputs of one step."""
    values = dict(zip(body.inputs, inputs, strict=True))
    for node in body.nodes:
        results = b.again(node, [values.get(v, v) for v in node.inputs])
        values.update(zip(node.outputs, results, strict=True))
    return [values.get(v, v) for v in body.outputs]

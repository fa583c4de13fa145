"""Compute equal things once: nodes with the same operator, operands and attributes.

a = relu(x); b = relu(x); add(a, b)   →   a = relu(x); add(a, a)
"""

from __future__ import annotations

from collections.abc import Hashable

from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Graph, Value


def merge_equal(graph: Graph) -> Graph:
    """`graph` without repeated nodes."""
    rewriter = Rewriter(graph)
    seen: dict[Hashable, Value] = {}
    for node in graph.nodes:
        if node.control is not None:
            rewriter.keep(node)
            continue
        operands = rewriter.operands(node)
        key = (node.op, operands, tuple(sorted(node.attributes.items())))
        if key not in seen:
            seen[key] = rewriter.builder.copy(node, operands)
        rewriter.replace(node.output, seen[key])
    return rewriter.finish()

"""Merge an explicit pad with zeros into the convolution that follows it.

conv(pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))); padding=0)   →   conv(x; padding=((1, 1), (1, 1)))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Graph, Node, Value

Pads: TypeAlias = tuple[tuple[int, int], ...]

PADDED = frozenset(("conv", "depthwise_conv"))


def merge_pads(graph: Graph) -> Graph:
    """`graph` with zero pads of spatial dimensions moved into convolutions."""
    producers = graph.producers()
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        found = _padded(node.inputs[0], producers) if node.op in PADDED else None
        if found is None:
            rewriter.keep(node)
            continue
        source, order, outer = found
        own: Any = node.attributes["padding"]
        pads = tuple((b + p[0], a + p[1]) for (b, a), p in zip(own, outer[1:-1], strict=True))
        inner = rewriter.builder.transpose(rewriter.value(source), order)
        operands = (inner, *rewriter.operands(node)[1:])
        rewriter.replace(node.output, rewriter.builder.copy(node, operands, padding=pads))
    return rewriter.finish()


def _padded(
    value: Value, producers: Mapping[Value, Node]
) -> tuple[Value, tuple[int, ...], Pads] | None:
    """(x, order, pads) where `value` is transpose(x, order) padded with zeros, spatially only.

    The pad may stand before the transpose or after it.
    """
    order: Any = tuple(range(value.rank))
    node = producers.get(value)
    if node is not None and node.op == "transpose":
        order = node.attributes["permutation"]
        node = producers.get(node.inputs[0])
    if node is None or node.op != "pad":
        return None
    listed: Any = node.attributes["pads"]
    pads = tuple(listed[d] for d in order)
    spatial = pads[0] == pads[-1] == (0, 0) and all(p >= 0 for pair in pads for p in pair)
    zeros = node.attributes["mode"] == "constant" and node.attributes["value"] == 0
    return (node.inputs[0], order, pads) if spatial and zeros else None

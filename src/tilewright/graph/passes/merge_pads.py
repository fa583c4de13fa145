"""Merge an explicit pad with zeros into the convolution that follows it.

conv(pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))); pads=0)   →   conv(x; pads=((1, 1), (1, 1)))
"""

from __future__ import annotations

from typing import Any

from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Graph, Node

PADDED = frozenset(("conv", "depthwise_conv"))


def merge_pads(graph: Graph) -> Graph:
    """`graph` with zero pads of spatial dimensions moved into convolutions."""
    producers = graph.producers()
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        source = producers.get(node.inputs[0]) if node.op in PADDED else None
        if source is None or not _is_spatial_zero_pad(source):
            rewriter.keep(node)
            continue
        outer: Any = source.attributes["pads"]
        own: Any = node.attributes["pads"]
        pads = tuple((b + p[0], a + p[1]) for (b, a), p in zip(own, outer[1:-1], strict=True))
        operands = (rewriter.value(source.inputs[0]), *rewriter.operands(node)[1:])
        rewriter.replace(node.output, rewriter.builder.copy(node, operands, pads=pads))
    return rewriter.finish()


def _is_spatial_zero_pad(node: Node) -> bool:
    if node.op != "pad" or node.attributes["mode"] != "constant" or node.attributes["value"] != 0:
        return False
    pads: Any = node.attributes["pads"]
    return pads[0] == pads[-1] == (0, 0) and all(p >= 0 for pair in pads for p in pair)

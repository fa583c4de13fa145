"""Several nodes as one: pads and convolutions, equal nodes, functions that the library has as one.

conv(pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))); padding=0)   →   conv(x; padding=((1, 1), (1, 1)))
a = relu(x); b = relu(x); add(a, b)                         →   a = relu(x); add(a, a)
tanh(softplus(x))     →   tanh_softplus(x), of one exponential: Mish as models write it
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

from tilewright.contract.sizes import Sizes
from tilewright.expr.index.extents import add, minimum
from tilewright.expr.nodes import Extent
from tilewright.expr.sizes import simplified
from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Graph, Node, Value

CLOSED_FORMS = {("tanh", "softplus"): "tanh_softplus"}
"""(operator, the one that makes its operand) -> what both are together."""


NUMBERS = ("cast_to", "element")
"""Operators whose results, where they are single numbers, every reader has of its own."""


def closed_forms(graph: Graph) -> Graph:
    """`graph` with the pairs of CLOSED_FORMS as one operator each."""
    producers = graph.producers()
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        inner = producers.get(node.inputs[0]) if len(node.inputs) == 1 else None
        both = None if inner is None else CLOSED_FORMS.get((node.op, inner.op))
        if inner is None or both is None:
            rewriter.keep(node)
            continue
        rewriter.replace(node.output, rewriter.builder.emit(both, *rewriter.operands(inner)))
    return rewriter.finish()


def numbers_apart(graph: Graph) -> Graph:
    """`graph` with single numbers that are taken from a vector, or converted, by each reader for
    itself: in registers, where they would be a kernel's result.
    """
    producers = graph.producers()
    rewriter = Rewriter(graph)

    def own(value: Value) -> Value:
        node = producers.get(value)
        if node is None or node.op not in NUMBERS or any(n != 1 for n in value.extents):
            return rewriter.value(value)
        return rewriter.builder.copy(node, [own(v) for v in node.inputs])

    for node in graph.nodes:
        if node.control is not None:
            rewriter.keep(node)
            continue
        inputs = [own(v) for v in node.inputs]
        rewriter.replace(node.output, rewriter.builder.copy(node, inputs))
    return rewriter.finish()


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


Pads: TypeAlias = tuple[tuple[Extent, Extent], ...]

PADDED = frozenset(("conv", "depthwise_conv"))


def merge_pads(graph: Graph) -> Graph:
    """`graph` with zero pads of spatial dimensions moved into convolutions."""
    producers = graph.producers()
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        found = _padded(node.inputs[0], producers, graph.sizes) if node.op in PADDED else None
        if found is None:
            rewriter.keep(node)
            continue
        source, order, outer = found
        own: Any = node.attributes["padding"]
        pads = tuple(
            (add(b, p[0]), add(a, p[1])) for (b, a), p in zip(own, outer[1:-1], strict=True)
        )
        inner = rewriter.builder.transpose(rewriter.value(source), order)
        operands = (inner, *rewriter.operands(node)[1:])
        rewriter.replace(node.output, rewriter.builder.copy(node, operands, padding=pads))
    return rewriter.finish()


def _padded(
    value: Value, producers: Mapping[Value, Node], sizes: Sizes
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
    spatial = pads[0] == pads[-1] == (0, 0) and all(_grows(p, sizes) for pair in pads for p in pair)
    zeros = node.attributes["mode"] == "constant" and node.attributes["value"] == 0
    return (node.inputs[0], order, pads) if spatial and zeros else None


def _grows(pad: Extent, sizes: Sizes) -> bool:
    """Whether a pad never takes anything away."""
    return simplified(minimum(pad, 0), sizes) == 0

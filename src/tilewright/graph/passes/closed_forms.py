"""Two functions after each other that are one of the library, with fewer transcendental ones.

tanh(softplus(x))   →   tanh_softplus(x), of one exponential: Mish as models write it
"""

from __future__ import annotations

from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Graph

CLOSED_FORMS = {("tanh", "softplus"): "tanh_softplus"}
"""(operator, the one that makes its operand) -> what both are together."""


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

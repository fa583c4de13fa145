"""Contractions that multiply bfloat16 and add float32, where a user asks for that.

    matmul(x, w)   →   matmul(cast_to(x, bfloat16), w in bfloat16), summed and stored in float32

Where the second factor is known, weights as a rule, and long enough for the instructions that do
it. Everything else, sums, norms, softmax, stays as it is.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Graph, Node, Value

NARROWED = ("matmul", "conv")
SHORTEST = 16
"""Products of a sum along the factors' common dimension: fewer are multiplied as they are."""


def narrowed(graph: Graph) -> Graph:
    """`graph` with contractions of bfloat16 factors."""
    rewriter = Rewriter(graph)
    narrow: dict[Value, Value] = {}
    for node in graph.nodes:
        operands = rewriter.operands(node)
        if not _is_narrowed(node):
            rewriter.keep(node)
            continue
        x, w, *rest = operands
        assert w.constant is not None
        if x not in narrow:
            narrow[x] = rewriter.builder.emit("cast_to", x, name=f"{x.name}.b", dtype="bfloat16")
        if w not in narrow:
            with np.errstate(over="ignore"):
                values = w.constant.astype(ml_dtypes.bfloat16)
            narrow[w] = rewriter.builder.constant(f"{w.name}.b", values)
        inputs = (narrow[x], narrow[w], *rest)
        rewriter.replace(node.output, rewriter.builder.copy(node, inputs, dtype="float32"))
    return rewriter.finish()


def _is_narrowed(node: Node) -> bool:
    if node.op not in NARROWED or node.attributes.get("groups", 1) != 1:
        return False
    x, w = node.inputs[:2]
    known = w.constant is not None and x.constant is None and w.rank > 1
    long = known and w.shape[-2] >= SHORTEST and w.shape[-1] >= SHORTEST
    return long and x.dtype == w.dtype == "float32"

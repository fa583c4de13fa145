"""Contractions that multiply bfloat16 and add float32, where a user asks for that.

    matmul(x, w)   →   matmul(cast_to(x, bfloat16), w in bfloat16), summed and stored in float32

Where the factors are long enough for the instructions that do it, and, if neither is known, the
first one has rows enough that a copy of the second in their order pays. Everything else, sums,
norms, softmax, stays as it is.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tilewright.expr.nodes import Extent
from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Graph, Node, Value
from tilewright.graph.passes.row_windows import is_of_rows, row_windows

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
        for value in (x, w):
            if value not in narrow:
                narrow[value] = _narrow(rewriter, value)
        inputs = (narrow[x], narrow[w], *rest)
        rewriter.replace(node.output, rewriter.builder.copy(node, inputs, dtype="float32"))
    return row_windows(rewriter.finish())


def _narrow(rewriter: Rewriter, value: Value) -> Value:
    name = f"{value.name}.b"
    if value.constant is None:
        return rewriter.builder.emit("cast_to", value, name=name, dtype="bfloat16")
    with np.errstate(over="ignore"):
        return rewriter.builder.constant(name, value.constant.astype(ml_dtypes.bfloat16))


def _is_narrowed(node: Node) -> bool:
    if node.op not in NARROWED or node.attributes.get("groups", 1) != 1:
        return False
    x, w = node.inputs[:2]
    if x.constant is not None or w.rank < 2 or not x.dtype == w.dtype == "float32":
        return False
    if w.constant is None and (node.op != "matmul" or x.rank < 2 or _is_short(x.extents[-2])):
        return False
    terms, columns = w.extents[-2:]
    return not _is_short(columns) and (not _is_short(terms) or is_of_rows(node))


def _is_short(extent: Extent) -> bool:
    return isinstance(extent, int) and extent < SHORTEST

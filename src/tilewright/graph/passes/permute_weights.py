"""Undo a transpose in front of a flattened matrix product by permuting the weights' rows.

    matmul(reshape(transpose(x), [n, k]), w)   →   matmul(reshape(x, [n, k]), w[rows permuted])

This is the classifier of an image network: features are flattened in NCHW order, but lie in
NHWC order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.expr.index.extents import product
from tilewright.expr.operators.shapes import numbers
from tilewright.expr.tensors import canonical
from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Graph, Node, Value


def permute_weights(graph: Graph) -> Graph:
    """`graph` with transposes before flattened products absorbed by constant weights."""
    producers = graph.producers()
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        transpose = _flattened_transpose(node, producers)
        if transpose is None:
            rewriter.keep(node)
            continue
        order: Any = transpose.attributes["permutation"]
        weights = node.inputs[1]
        assert weights.constant is not None, "the match asks for constant weights"
        inner = numbers(transpose.output.extents[1:], transpose.op)
        rows = weights.constant.reshape(*inner, weights.shape[1])
        back = [order[1:].index(d) for d in range(1, len(order))]
        permuted = rows.transpose(*back, len(inner)).reshape(weights.shape)
        w = rewriter.builder.constant(f"{weights.name}.rows", np.ascontiguousarray(permuted))
        source = rewriter.value(transpose.inputs[0])
        flat = rewriter.builder.reshape(source, node.inputs[0].extents)
        rewriter.replace(node.output, rewriter.builder.copy(node, (flat, w)))
    return rewriter.finish()


def _flattened_transpose(node: Node, producers: dict[Value, Node]) -> Node | None:
    """The transpose of x[n, …] behind `node`'s operand [n, k]; None where there is no match."""
    if node.op != "matmul" or not node.inputs[1].is_constant or node.inputs[1].rank != 2:
        return None
    reshape = producers.get(node.inputs[0])
    if reshape is None or reshape.op != "reshape":
        return None
    transpose = producers.get(reshape.inputs[0])
    if transpose is None or transpose.op != "transpose":
        return None
    order: Any = transpose.attributes["permutation"]
    first, *inner = transpose.output.extents
    flat = (first, canonical(product(inner)))
    return transpose if order[0] == 0 and reshape.output.extents == flat else None

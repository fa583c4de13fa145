"""Pass: storage inside a vector loop holds an element for each lane.

    for v < 8 (vector):                       for v < 8 (vector):
      alloc T: [1] at [v]                       alloc T: [1, 8] at [v, 0]
        T[v] = A[v] + 1               ->          T[v, v] = A[v] + 1
        C[v] = T[v] * T[v]                        C[v] = T[v, v] * T[v, v]

An allocation belongs to one iteration of the loops around it, and lanes are iterations that run at
once. The new dimension is the innermost, so that lanes are neighbours. Of vector loops in each
other the outermost has the lanes.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.codegen.rewrite import Indices, rebuilt, redirected
from tilewright.expr.nodes import Tensor, as_expr
from tilewright.nest.nodes import Alloc, For, Kind, Node, bodies


def with_lane_storage(node: Node, lanes: For | None = None) -> Node:
    """The nest with storage for all `lanes`, the vector loop around it."""
    if isinstance(node, For) and node.kind is Kind.VECTOR and lanes is None:
        lanes = node
    node = rebuilt(node, tuple(with_lane_storage(b, lanes) for b in bodies(node)))
    return _grown(node, lanes) if isinstance(node, Alloc) and lanes is not None else node


def _grown(node: Alloc, lanes: For) -> Alloc:
    grown = replace(node.tensor, shape=(*node.tensor.shape, lanes.extent))

    def access(tensor: Tensor, indices: Indices) -> tuple[Tensor, Indices]:
        if tensor.name != grown.name:
            return tensor, indices
        return grown, (*indices, lanes.var)

    offset = (*node.offset, as_expr(0))
    return replace(node, tensor=grown, offset=offset, body=redirected(node.body, access))

"""How much code a nest becomes: vector statements, unrolled loops and vector chunks included.

for rc < 512: for y (unrolled) < 6: for f (vector) < 64: S      24 statements of 16 lanes
"""

from __future__ import annotations

from tilewright.codegen.lanes import chunk_count
from tilewright.nest.nodes import For, Kind, Node, Store, bodies


def statement_count(node: Node, vector_bits: int) -> int:
    """Statements written for a nest; a loop that runs counts its body once."""
    if isinstance(node, Store):
        return 1
    inner = sum(statement_count(b, vector_bits) for b in bodies(node))
    if isinstance(node, For) and isinstance(node.extent, int):
        if node.kind is Kind.UNROLLED:
            return node.extent * inner
        if node.kind is Kind.VECTOR:
            return chunk_count(node, vector_bits) * inner
    return inner


def runs_loops(node: Node) -> bool:
    """Whether a loop inside runs (is neither unrolled nor a vector)."""
    if isinstance(node, For) and node.kind in (Kind.SERIAL, Kind.PARALLEL):
        return True
    return any(runs_loops(b) for b in bodies(node))

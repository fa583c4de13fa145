"""Pass: write the innermost running loops out a few times.

    for k < 512: for y < 6, f < 64: acc += ..   ->   for k.o < 128: for k < 4 (unrolled): ...

A longer body hides the loop's counter, and in a reduction with few accumulators the copies get
accumulators of their own, which hides the latency of addition.
"""

from __future__ import annotations

from tilewright.codegen.passes.rewrite import rebuilt
from tilewright.codegen.passes.size import runs_loops, statement_count
from tilewright.codegen.passes.tiles import strip_mined
from tilewright.nest.nodes import For, If, Kind, Node, Store, bodies, walk

REPEATS = (8, 4, 2)
REDUCTION_STATEMENTS = 96
"""The body of a reduction loop may grow to as many statements."""
OTHER_STATEMENTS = 8


def unrolled(node: Node, vector_bits: int) -> Node:
    """The nest with small bodies of innermost running loops repeated 8, 4 or 2 times."""
    if not runs_loops(node):
        return node
    node = rebuilt(node, tuple(unrolled(b, vector_bits) for b in bodies(node)))
    if not isinstance(node, For) or node.kind is not Kind.SERIAL:
        return node
    if isinstance(node.body, If) or runs_loops(node.body) or not isinstance(node.extent, int):
        return node
    limit = REDUCTION_STATEMENTS if _reduces(node) else OTHER_STATEMENTS
    size = statement_count(node.body, vector_bits)
    times = next((r for r in REPEATS if r * size <= limit and 2 * r <= node.extent), 1)
    return strip_mined(node, times) if times > 1 else node


def _reduces(node: Node) -> bool:
    return any(isinstance(s, Store) and s.reduce is not None for s in walk(node))

"""How many partial accumulators each element of a reduction gets.

    for k: for y < 2 (unrolled), f < 32 (vector): acc[y, f] += ...    4 vectors: 2 copies of each

A tile of few elements cannot keep the multiply-add units busy alone, so consecutive terms of one
sum take turns between copies. The number follows from the full tile, before versions are made: a
partial tile then adds its terms in the same order, and equal terms give equal sums everywhere.
"""

from __future__ import annotations

from math import prod

from tilewright.codegen.lanes import next_power
from tilewright.codegen.passes.size import CodeSize
from tilewright.expr.traversal import free_vars
from tilewright.nest.nodes import For, Kind, Node, Store, bodies

CHAINS = 8
"""Independent multiply-adds in flight that hide their latency (4 cycles, 2 a cycle)."""


def accumulator_copies(node: Node, vector_bits: int) -> dict[str, int]:
    """Copies (a power of two) by the name of the reduced tensor; 1 is left out."""
    elements: dict[str, int] = {}
    _visit(node, (), CodeSize(vector_bits), elements)
    copies = {name: next_power(-(-CHAINS // n)) for name, n in elements.items()}
    return {name: n for name, n in copies.items() if n > 1}


def _visit(node: Node, tile: tuple[For, ...], code: CodeSize, elements: dict[str, int]) -> None:
    """`tile` are the written out loops inside the innermost running one."""
    if isinstance(node, Store) and node.reduce is not None:
        found = frozenset[str]().union(*(free_vars(i) for i in node.indices))
        count = prod(_repeats(loop, code) for loop in tile if loop.var.name in found)
        elements[node.tensor.name] = max(count, elements.get(node.tensor.name, 1))
    if isinstance(node, For):
        tile = (*tile, node) if node.kind in (Kind.UNROLLED, Kind.VECTOR, Kind.DOT) else ()
    for b in bodies(node):
        _visit(b, tile, code, elements)


def _repeats(loop: For, code: CodeSize) -> int:
    assert isinstance(loop.extent, int)
    return code.vectors(loop) if loop.kind is Kind.VECTOR else loop.extent

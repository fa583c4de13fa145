"""Pass: write the innermost running loops out a few times.

    for k < 512: for y < 6, f < 64: acc += ..   ->   for k.o < 128: for k < 4 (unrolled): ...

A longer body hides the loop's counter, and in a reduction with few accumulators the copies get
accumulators of their own, which hides the latency of addition. Where a program has many versions
of a body, each is repeated less.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.codegen.passes.size import BUDGET, CodeSize, runs_loops
from tilewright.codegen.passes.tiles import strip_mined
from tilewright.codegen.rewrite import rebuilt
from tilewright.nest.nodes import For, If, Kind, Node, Store, bodies, walk
from tilewright.target import CpuTarget

REPEATS = (8, 4, 2)
FULL_TILE = 0.75
"""A body that fills more of the registers is not repeated: loads of the next step would spill."""


def unrolled(node: Node, target: CpuTarget) -> Node:
    """The nest with small bodies of innermost running loops repeated 8, 4 or 2 times."""
    code = CodeSize(target.vector_bits)
    total = sum(code.statements(loop.body) for loop in _candidates(node))
    return _repeated(node, target, code, BUDGET.all_loops // max(1, total))


def _candidates(node: Node) -> Iterator[For]:
    """Innermost running loops that no guard bounds."""
    loops = (n for n in walk(node) if isinstance(n, For) and n.kind is Kind.SERIAL)
    yield from (n for n in loops if not isinstance(n.body, If) and not runs_loops(n.body))


def _repeated(node: Node, target: CpuTarget, code: CodeSize, most: int) -> Node:
    if not runs_loops(node):
        return node
    node = rebuilt(node, tuple(_repeated(b, target, code, most) for b in bodies(node)))
    if not isinstance(node, For) or node.kind is not Kind.SERIAL:
        return node
    if isinstance(node.body, If) or runs_loops(node.body) or not isinstance(node.extent, int):
        return node
    size = code.statements(node.body)
    limit = BUDGET.reduction_loop if _reduces(node) else BUDGET.other_loop
    limit = min(limit // size, node.extent // 2, most)
    times = next((r for r in REPEATS if r <= limit), 1)
    if times == 1 or size > FULL_TILE * target.vector_registers:
        return node
    return strip_mined(node, times)


def _reduces(node: Node) -> bool:
    return any(isinstance(s, Store) and s.reduce is not None for s in walk(node))

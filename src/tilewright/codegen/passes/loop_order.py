"""Pass: loops that run stand outside of the loops that are written out.

    for i.3 < 4: # unrolled               for k.2 < 8:
      for k.2 < 8:                 ->       for i.3 < 4: # unrolled
        for i.4 < 2: # unrolled               for i.4 < 2: # unrolled
          C[i.3, i.4] += A.C[..] * ..           C[i.3, i.4] += A.C[..] * ..

Otherwise every copy of the outer loop has a running loop of its own: more code, and operands that
the copies have in common are loaded again in each. Where the loop is unrolled after all, its copies
are outer products. An element's updates keep their order among running loops; only a reduction
that is written out changes places with one that runs.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.codegen.rewrite import rebuilt
from tilewright.expr.traversal import reads
from tilewright.nest.marks import marks
from tilewright.nest.nodes import For, If, Kind, Node, Store, bodies

WRITTEN_OUT = (Kind.UNROLLED, Kind.VECTOR)


def running_first(node: Node) -> Node:
    """The nest with the loops around every update in that order."""
    if not isinstance(node, For) or node.kind not in WRITTEN_OUT:
        return rebuilt(node, tuple(running_first(b) for b in bodies(node)))
    loops, body = _chain(node)
    if all(loop.kind in WRITTEN_OUT for loop in loops) or not _is_update(body):
        return rebuilt(node, tuple(running_first(b) for b in bodies(node)))
    steps = [loop.mark("unroll_step") for loop in loops]
    said = marks(unroll_step=max(step for step in steps if isinstance(step, int)))
    found = body
    ordered = sorted(loops, key=lambda loop: loop.kind in WRITTEN_OUT)
    for loop in reversed(ordered):
        found = replace(loop, body=found, marks=said if loop is ordered[0] else ())
    return found


def _chain(node: Node) -> tuple[list[For], Node]:
    """The perfect nest of loops from a node on, and what is inside."""
    loops: list[For] = []
    while isinstance(node, For) and node.kind in (Kind.SERIAL, *WRITTEN_OUT):
        loops.append(node)
        node = node.body
    return loops, node


def _is_update(node: Node) -> bool:
    """Whether a node is one update, under conditions or not, of something it does not read."""
    exprs = []
    while isinstance(node, If):
        exprs.append(node.cond)
        node = node.body
    if not isinstance(node, Store) or node.reduce is None:
        return False
    exprs += [node.value, *node.indices]
    return all(r.tensor.name != node.tensor.name for e in exprs for r in reads(e))

"""Pass: a loop for each role that threads have in a loop (warp specialisation).

    for k: [if (thread == 128): fill; if (thread < 128): use]
      ->  if (thread == 128): for k: fill
          if (thread < 128): for k: use

Threads that do other things need not go through each other's, and their instructions stand in a
loop of their own. Every thread does what it did, in the same order: no thread meets two of the
conditions, which are the same in every iteration, and no barrier of the block is inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tilewright.codegen.rewrite import rebuilt
from tilewright.nest.gpu.workers import threads_where
from tilewright.nest.nodes import WORKERS, Barrier, For, If, Kind, Node, Seq, bodies, seq, walk


def by_role(node: Node, thread: For | None = None) -> Node:
    """The nest with such loops parted; neighbours under one condition become one. `thread` is the
    loop around that has the threads.
    """
    if isinstance(node, For) and node.kind is Kind.THREAD_X:
        thread = node
    node = rebuilt(node, tuple(by_role(b, thread) for b in bodies(node)))
    if isinstance(node, For) and thread is not None and node.kind not in WORKERS:
        roles = _roles(node.body, thread)
        return seq(*(If(r.cond, replace(node, body=r.body)) for r in roles)) if roles else node
    if isinstance(node, Seq) and thread is not None:
        return _joined(node.body, thread)
    return node


def _roles(body: Node, thread: For) -> list[If]:
    """The conditions under which threads do parts of a loop's body, and these; none where it has
    other parts.
    """
    if not isinstance(body, Seq):
        return []
    parts = [p for p in body.body if isinstance(p, If)]
    holds = [h for p in parts if (h := threads_where(p.cond, thread)) is not None]
    if len(holds) < len(body.body) or any(isinstance(n, Barrier) for n in walk(body)):
        return []
    return parts if np.max(np.sum(holds, 0)) <= 1 else []


def _joined(parts: Sequence[Node], thread: For) -> Node:
    """Neighbours of one role as one."""
    found: list[Node] = []
    for part in parts:
        last = found[-1] if found else None
        match part, last:
            case If(cond, body), If(before, earlier) if (
                cond == before and threads_where(cond, thread) is not None
            ):
                found[-1] = If(cond, seq(earlier, body))
            case _:
                found.append(part)
    return seq(*found)

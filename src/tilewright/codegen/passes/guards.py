"""Pass: move conditions outwards to the loops that they bound.

    for rc: for y (unrolled): for f (vector): if (y0*6 + y < 50): S
      ->  for rc: for y: if (y0*6 + y < 50): for f: S

A condition leaves every loop whose variable it does not mention, so it ends up directly below the
loop it bounds; code generation turns it into that loop's trip count. A loop bounded by constants
gets the smaller extent here:

    for y (unrolled) < 6: if (y < 2): S     ->    for y (unrolled) < 2: S

On a GPU none leaves what one thread does alone.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.codegen.rewrite import (
    guarded,
    is_empty,
    reads_memory,
    rebuilt,
    substituted,
)
from tilewright.expr.index.affine import AffineForms
from tilewright.expr.index.intervals import Interval
from tilewright.expr.nodes import Expr
from tilewright.expr.traversal import conjuncts, free_vars
from tilewright.nest.gpu.workers import Team, is_for_workers
from tilewright.nest.nodes import EMPTY, Alloc, For, If, Kind, Node, Seq, Store, bodies, seq, walk

NOBODY = Team()


def private_guards(node: Node, team: Team = NOBODY) -> Node:
    """Conditions moved outwards, within what one thread does alone."""
    if team.is_predicated(node):
        return node
    together = any(isinstance(n, Store) and team.combined(n) for n in walk(node))
    if not together and not is_for_workers(node):
        return hoisted_guards(node)
    inner = team.entering(node, {})
    return rebuilt(node, tuple(private_guards(b, inner) for b in bodies(node)))


def hoisted_guards(node: Node) -> Node:
    """The nest with every condition as far out as its variables allow."""
    conds, body = _split(node)
    return guarded(conds, body)


def _split(node: Node) -> tuple[list[Expr], Node]:
    """(conditions that may leave the node, the node without them)."""
    match node:
        case If(cond, body):
            inner, rest = _split(body)
            own = list(conjuncts(cond))
            return [*own, *(c for c in inner if c not in own)], rest
        case For():
            return _of_loop(node)
        case Seq(body):
            return _of_sequence([_split(b) for b in body])
        case Alloc(_, _, body):
            inner, rest = _split(body)
            movable = [c for c in inner if not reads_memory(c)]
            stuck = [c for c in inner if reads_memory(c)]
            return movable, rebuilt(node, (guarded(stuck, rest),))
    return [], node


def _of_loop(node: For) -> tuple[list[Expr], Node]:
    inner, rest = _split(node.body)
    name = node.var.name
    stuck = [c for c in inner if name in free_vars(c) or reads_memory(c)]
    leaving = [c for c in inner if c not in stuck]
    return leaving, _bounded(replace(node, body=EMPTY), stuck, rest)


def _of_sequence(parts: list[tuple[list[Expr], Node]]) -> tuple[list[Expr], Node]:
    """A condition leaves a sequence when every statement has it."""
    live = [(conds, body) for conds, body in parts if not is_empty(body)]
    if not live:
        return [], EMPTY
    shared = [c for c in live[0][0] if all(c in conds for conds, _ in live)]
    shared = [c for c in shared if not reads_memory(c)]
    rest = tuple(guarded([c for c in conds if c not in shared], body) for conds, body in live)
    return shared, seq(*rest)


def _bounded(loop: For, conds: list[Expr], body: Node) -> Node:
    """The loop over `body` under `conds`; constant bounds shrink it."""
    if is_empty(body):
        return EMPTY
    if loop.kind is Kind.PARALLEL or not isinstance(loop.extent, int):
        return replace(loop, body=guarded(conds, body))
    reach, left = {loop.var.name: Interval(0, loop.extent - 1)}, []
    for c in conds:
        form = AffineForms().condition(c)
        if form is not None and [name for name, _ in form.terms] == [loop.var.name]:
            form.narrow(reach)
        else:
            left.append(c)
    (bounds,) = reach.values()
    low, last = bounds.lo, bounds.hi
    assert low is not None and last is not None
    if last < low:
        return EMPTY
    inside = guarded(left, body)
    if low:
        inside = substituted(inside, {loop.var.name: loop.var + low})
    return replace(loop, extent=last + 1 - low, body=inside)

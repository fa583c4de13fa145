"""Pass: virtual threads become copies of the statements that each thread runs.

    for v < 2: # virtual thread              for t < 32: # thread.x
      for t < 32: # thread.x                   alloc C: [2, 4]
        alloc C: [4]                           for k:
          for k:                        ->       fill A.C; barrier
            fill A.C; barrier                    for v < 2: # unrolled
            C[..] += A.C[v * 128 + ..]             C[v, ..] += A.C[v * 128 + ..]

The loop moves inwards past whatever all virtual threads do together (barriers, cooperative loops,
shared storage) and past running loops, so that their statements stand side by side. Private
storage gets a leading dimension. On a CPU lanes are what runs at once (`with_lane_storage`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tilewright.codegen.rewrite import Indices, rebuilt, redirected
from tilewright.expr.nodes import Expr, Tensor, as_expr
from tilewright.expr.traversal import free_vars, reads
from tilewright.nest.gpu.workers import perfect_nest
from tilewright.nest.nodes import (
    THREADS,
    Alloc,
    Barrier,
    For,
    If,
    Kind,
    Node,
    Scope,
    Seq,
    bodies,
    seq,
)


def sunk(node: Node) -> Node:
    """The nest without virtual thread loops."""
    if isinstance(node, For) and node.kind is Kind.VIRTUAL:
        loops, body = perfect_nest(node)
        return _Sink(loops, {}, frozenset()).visit(sunk(body))
    return rebuilt(node, tuple(sunk(b) for b in bodies(node)))


@dataclass(frozen=True, slots=True)
class _Sink:
    """Moves `loops` inwards. `grown` maps private tensors to those with leading dimensions."""

    loops: tuple[For, ...]
    grown: Mapping[str, Tensor]
    bound: frozenset[Kind]

    def visit(self, node: Node) -> Node:
        match node:
            case Seq(body):
                return seq(*(self.visit(b) for b in body))
            case For() if node.kind in THREADS:
                return self.threads(node)
            case For() if node.kind is Kind.SERIAL:
                return replace(node, body=self.visit(node.body))
            case If(cond, body) if not self.differs(cond):
                return If(cond, self.visit(body))
            case Alloc(scope=Scope.SHARED):
                return replace(node, body=self.visit(node.body))
            case Alloc():
                return self.private(node)
            case Barrier():
                return node
        return self.copies(node)

    def threads(self, node: For) -> Node:
        loops, body = perfect_nest(node)
        if node.kind in self.bound:
            return node  # cooperative: done once for all virtual threads
        inner = replace(self, bound=self.bound | {node.kind}).visit(body)
        for loop in reversed(loops):
            inner = replace(loop, body=inner)
        return inner

    def private(self, node: Alloc) -> Node:
        extents = tuple(loop.extent for loop in self.loops)
        grown = replace(node.tensor, shape=(*extents, *node.tensor.shape))
        inner = replace(self, grown={**self.grown, node.tensor.name: grown}).visit(node.body)
        offset = (*(as_expr(0) for _ in self.loops), *node.offset)
        return replace(node, tensor=grown, offset=offset, body=inner)

    def differs(self, e: Expr) -> bool:
        """Whether virtual threads see different values of an expression."""
        if free_vars(e) & {loop.var.name for loop in self.loops}:
            return True
        return any(r.tensor.name in self.grown for r in reads(e))

    def copies(self, node: Node) -> Node:
        """A statement, or loops written out already, once for each virtual thread."""
        body = redirected(node, self.access)
        for loop in reversed(self.loops):
            body = For(loop.var, loop.extent, body, Kind.UNROLLED)
        return body

    def access(self, tensor: Tensor, indices: Indices) -> tuple[Tensor, Indices]:
        if tensor.name not in self.grown:
            return tensor, indices
        return self.grown[tensor.name], (*(loop.var for loop in self.loops), *indices)


def with_lane_storage(node: Node, lanes: For | None = None) -> Node:
    """The nest with storage for all `lanes`, the vector loop around it.

        for v < 8 (vector):                       for v < 8 (vector):
          alloc T: [1] at [v]                       alloc T: [1, 8] at [v, 0]
            T[v] = A[v] + 1               ->          T[v, v] = A[v] + 1
            C[v] = T[v] * T[v]                        C[v] = T[v, v] * T[v, v]

    An allocation belongs to one iteration of the loops around it, and lanes are iterations that run
    at once. The new dimension is the innermost, so that lanes are neighbours. Of vector loops in
    each other the outermost has the lanes.
    """
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

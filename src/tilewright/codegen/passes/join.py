"""Pass: widen a vector loop that is shorter than a register by the loop around it.

    for c0 < 128: for c1 < 2 (vector): P[c0*2 + c1] = X[c0*2 + c1]
      ->  for c1 < 256 (vector): P[c1] = X[c1]

Only where both variables occur as that sum alone, and only for statements that touch no reduction's
accumulators: those keep the shape that the schedule gave their register tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilewright.codegen.lanes import widest_bits
from tilewright.codegen.rewrite import rebuilt, substituted
from tilewright.expr.index.affine import AffineForms
from tilewright.expr.nodes import Binary, Const, Expr, Read, Select
from tilewright.expr.traversal import children, reads
from tilewright.nest.nodes import For, Kind, Node, Store, bodies, walk


def joined(node: Node, vector_bits: int) -> Node:
    """The nest with short vector loops widened."""
    reduced = {s.tensor.name for s in walk(node) if isinstance(s, Store) and s.reduce}
    return _Join(vector_bits, reduced).visit(node)


class _Join:
    def __init__(self, vector_bits: int, reduced: set[str]) -> None:
        self.vector_bits = vector_bits
        self.reduced = reduced
        self.forms = AffineForms()

    def visit(self, node: Node) -> Node:
        node = rebuilt(node, tuple(self.visit(b) for b in bodies(node)))
        if not isinstance(node, For) or node.kind not in (Kind.SERIAL, Kind.UNROLLED):
            return node
        inner = node.body
        if not isinstance(inner, For) or inner.kind is not Kind.VECTOR:
            return node
        outer_extent, width = node.extent, inner.extent
        if not isinstance(outer_extent, int) or not isinstance(width, int):
            return node
        if width * widest_bits(inner) >= self.vector_bits or not self.fits(node, inner, width):
            return node
        body = substituted(inner.body, {node.var.name: Const(0, node.var.dtype)})
        return replace(inner, extent=outer_extent * width, body=body)

    def fits(self, outer: For, inner: For, width: int) -> bool:
        """Whether every index depends on `outer*width + inner` only."""
        if not isinstance(inner.body, Store):
            return False
        store = inner.body
        touched = {store.tensor.name, *(r.tensor.name for r in reads(store.value))}
        if touched & self.reduced:
            return False
        for e in (*store.indices, *_indices(store.value)):
            form = self.forms.of(e)
            if any(self.forms.inside.get(n) for n, _ in form.terms):
                return False
            if form.coefficient(outer.var.name) != width * form.coefficient(inner.var.name):
                return False
        return True


def _indices(e: Expr) -> Iterator[Expr]:
    """The outermost int64 expressions in a value: indices, operands of comparisons, casts."""
    match e:
        case Read(_, indices):
            yield from indices
        case Binary(_, a, b) if a.dtype.name == "int64":
            yield from (a, b)
        case Select(cond, a, b):
            yield from _indices(cond)
            yield from _indices(a)
            yield from _indices(b)
        case _ if e.dtype.name == "int64":
            yield e
        case _:
            for c in children(e):
                yield from _indices(c)

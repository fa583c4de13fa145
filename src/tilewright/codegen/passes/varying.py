"""Before the passes: a program with sizes as one with numbers, which conditions bound.

    A: float32[S, 768], S in 1..512             A: float32[512, 768]
    for i.0 in range((S + 5) // 6):             for i.0 in range(86):
      for i.1 in range(6):                ->      for i.1 in range(6):
        if i.0 * 6 + i.1 < S: ...                   if i.0 * 6 < S and i.0 * 6 + i.1 < S: ...

Extents and memory are at their most. A condition on a size also stands there for each loop around
it, as it is at best inside of that: once conditions are moved outwards, it is what bounds the loop,
and no tile beyond a size runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilewright.codegen.lanes import widest_bits
from tilewright.codegen.passes.tiles import VECTORS, is_bounded
from tilewright.codegen.rewrite import conjunction, rebuilt, redirected, substituted
from tilewright.contract.sizes import Sizes
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.nodes import Binary, Const, Expr, Extent, Tensor, Var
from tilewright.expr.sizes import most, stored_shape
from tilewright.expr.traversal import conjuncts, free_vars, reads
from tilewright.nest.nodes import (
    Alloc,
    For,
    If,
    Kind,
    Node,
    Program,
    Seq,
    Store,
    bodies,
    expressions,
    walk,
)


def at_most(program: Program, vector_bits: int) -> Program:
    """The program with extents at their most; one without sizes stays as it is."""
    if not program.sizes:
        return program
    program = laid_out(program)
    work = _AtMost(program.sizes, vector_bits)
    work.tiles = _lane_sums(program.body, ())
    return replace(program, body=work.visit(program.body, ()))


def laid_out(program: Program) -> Program:
    """The program whose tensors have the shapes of their memory; loops keep their extents."""

    def stored(tensor: Tensor) -> Tensor:
        if all(isinstance(e, int) for e in tensor.shape):
            return tensor
        return replace(tensor, shape=stored_shape(tensor, program.sizes))

    def visit(node: Node) -> Node:
        node = rebuilt(node, tuple(map(visit, bodies(node))))
        return replace(node, tensor=stored(node.tensor)) if isinstance(node, Alloc) else node

    interface = (program.inputs, program.constants, program.tables, program.outputs)
    body = visit(redirected(program.body, lambda tensor, at: (stored(tensor), at)))
    inputs, constants, tables, outputs = (tuple(map(stored, tensors)) for tensors in interface)
    return Program(program.name, inputs, constants, tables, outputs, body, program.sizes)


def varying_storage(node: Node) -> frozenset[str]:
    """Allocations whose shape a size says."""
    allocs = (n.tensor for n in walk(node) if isinstance(n, Alloc))
    return frozenset(t.name for t in allocs if any(not isinstance(e, int) for e in t.shape))


class _AtMost:
    def __init__(self, sizes: Sizes, vector_bits: int) -> None:
        self.sizes = sizes
        self.vector_bits = vector_bits
        self.names = {s.name for s in sizes}
        self.tiles: set[str] = set()
        self.forms = AffineForms()

    def visit(self, node: Node, around: tuple[For, ...]) -> Node:
        match node:
            case Seq(body):
                return Seq(tuple(self.visit(b, around) for b in body))
            case Alloc(_, _, body):
                return replace(node, body=self.visit(body, around))
            case If(cond, body):
                inner = self.visit(body, around)
                conds = list(dict.fromkeys(self.with_bounds(cond, around)))
                return If(conjunction(conds), inner)
            case For(_, int(extent), body):
                if node.kind is Kind.VECTOR and extent > self.width(node) and self.is_cut(node):
                    return self.visit(self.cut(node, body), around)
                return replace(node, body=self.visit(body, (*around, node)))
            case For():
                return self.visit(self.bounded(node), around)
        return node

    def bounded(self, node: For) -> Node:
        """A loop over an extent that varies as one over its most, under a condition."""
        body = If(self.below(node, node.extent), node.body)
        found = replace(node, extent=most(node.extent, self.sizes), body=body)
        return self.cut(found, body) if node.kind is Kind.VECTOR else found

    def is_cut(self, node: For) -> bool:
        """Whether a vector loop of numbers is bounded by a size, and no part of a register tile."""
        inside = list(walk(node.body))
        touched = {r.tensor.name for n in inside for e in expressions(n) for r in reads(e)}
        touched |= {n.tensor.name for n in inside if isinstance(n, Store)}
        return is_bounded(node, self.names) and not touched & self.tiles

    def width(self, node: For) -> int:
        """Lanes of the vectors that are written out."""
        return VECTORS * max(1, self.vector_bits // widest_bits(node))

    def cut(self, node: For, body: Node) -> Node:
        """A vector loop in groups of vectors."""
        width, outer = self.width(node), Var(f"{node.var.name}:o")
        assert isinstance(node.extent, int)
        if node.extent <= width:
            return replace(node, body=body)
        if node.extent % width:
            body = If(node.var < node.extent, body)
        strip = substituted(body, {node.var.name: outer * width + node.var})
        return For(outer, -(-node.extent // width), replace(node, extent=width, body=strip))

    def below(self, loop: For, extent: Extent) -> Expr:
        """That the loop's variable is below an extent, without a quotient if possible:

        i < (S + 5) // 6    ->    (i + 1) * 6 <= S + 5
        """
        assert isinstance(extent, Expr)
        form = self.forms.of(extent)
        for name, k in form.terms:
            match self.forms.opaque.get(name):
                case Binary("floordiv", a, Const(c, _)) if k == 1 and c > 0:
                    rest = self.forms.expr(form.without(name))
                    return (loop.var + 1 - rest) * int(c) <= a
        return loop.var < extent

    def with_bounds(self, cond: Expr, around: tuple[For, ...]) -> Iterator[Expr]:
        """The parts of a condition, those on sizes also at their best in loops further out."""
        for part in conjuncts(cond):
            yield part
            form = self.forms.condition(part)
            if form is None or not self.names & free_vars(part):
                continue
            for loop in reversed(around):
                name, k = loop.var.name, form.coefficient(loop.var.name)
                if any(name in self.forms.inside.get(n, ()) for n, _ in form.terms):
                    break
                if k:
                    form = best(form, loop)
                    if len(form.terms) > 1:
                        yield self.forms.expr(form) >= 0


def _lane_sums(node: Node, lanes: tuple[str, ...]) -> set[str]:
    """Tensors with a reduction in whose indices a vector loop is: tiles of accumulators."""
    if isinstance(node, For) and node.kind is Kind.VECTOR:
        lanes = (*lanes, node.var.name)
    if isinstance(node, Store) and node.reduce is not None:
        used = {name for e in node.indices for name in free_vars(e)}
        return {node.tensor.name} if used & set(lanes) else set()
    return {name for b in bodies(node) for name in _lane_sums(b, lanes)}


def best(form: Affine, loop: For) -> Affine:
    """The greatest that a form is in any iteration of a loop."""
    assert isinstance(loop.extent, int)
    k = form.coefficient(loop.var.name)
    return form.without(loop.var.name).shifted(max(0, k * (loop.extent - 1)))

"""Pass: decide which loops are written out.

    Alloc acc[6, 64]: for y: for f (vector): acc = 0;  for rc: for y: ...   y runs in 6 vectors
      ->  the same with every loop over y unrolled: acc stays in registers

In order: (1) every loop that indexes a small allocation is unrolled, so that it can live in
registers; (2) the auto-unroll pragma unrolls what it allows; (3) a kernel's width is unrolled where
padding depends on it; (4) unrolled loops that would write too much run instead, outermost first;
(5) a long vector loop becomes a loop over a few vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from math import prod

from tilewright.codegen.lanes import widest_bits
from tilewright.codegen.passes.size import BUDGET, CodeSize, runs_loops
from tilewright.codegen.rewrite import rebuilt, substituted
from tilewright.codegen.summary import Summaries
from tilewright.expr.nodes import Expr, Select, Var
from tilewright.expr.traversal import conjuncts, free_vars, reads, walk
from tilewright.ground.errors import BuildError
from tilewright.nest.marks import GREATEST_UNROLL_STEP
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Store, bodies, seq
from tilewright.nest.nodes import walk as walk_nodes
from tilewright.target import CpuTarget

LONG_VECTOR = 16
"""Vectors of one vector loop that are written out; a longer one runs over groups of VECTORS."""
VECTORS = 4


def tiled(
    node: Node,
    target: CpuTarget,
    varying: frozenset[str] = frozenset(),
    sizes: Collection[str] = (),
) -> Node:
    """The nest with loop kinds as they will be written (see the module's docstring). Tensors whose
    shape is `varying` are not kept in registers, and no pragma unrolls a loop that one of the
    `sizes` bounds: each number of iterations would be a version.
    """
    tiles = _Tiles(target, varying, sizes)
    node = tiles.small_allocations(node)
    node = tiles.pragmas(node, 0)
    node = tiles.kernels(node)
    node = tiles.limited(node, 1)
    return tiles.long_vectors(node, 1)


class _Tiles:
    def __init__(self, target: CpuTarget, varying: frozenset[str], sizes: Collection[str]) -> None:
        self.target = target
        self.varying, self.sizes = varying, sizes
        self.bits = target.vector_bits
        self.summaries = Summaries()
        self.code = CodeSize(target.vector_bits)
        self.size = self.code.statements

    # ---- allocations in registers -----------------------------------------------------------

    def small_allocations(self, node: Node) -> Node:
        """Unroll the loops that index an allocation which fits the registers."""
        node = rebuilt(node, tuple(self.small_allocations(b) for b in bodies(node)))
        if not isinstance(node, Alloc) or node.tensor.name in self.varying:
            return node
        name = node.tensor.name
        values = self.values(node.body, name)
        if values is None or values > self.target.vector_registers:
            return node
        names = self.summaries.of(node.body).index_vars.get(name, frozenset())
        body = _with_kind(node.body, names, Kind.UNROLLED)
        return node if self.size(body) > BUDGET.tile else replace(node, body=body)

    def values(self, body: Node, name: str) -> int | None:
        """Registers for a tensor whose indexing loops are unrolled; None where vectors and scalars
        of it mix, so that it could not stay in registers.
        """
        counts: list[int] = []
        widths: set[int] = set()

        def visit(node: Node, around: tuple[For, ...]) -> None:
            if isinstance(node, For):
                around = (*around, node)
            for b in bodies(node):
                visit(b, around)
            if isinstance(node, Store):
                for indices in _accesses(node, name):
                    found = frozenset[str]().union(*(free_vars(i) for i in indices))
                    moving = [f for f in around if f.var.name in found]
                    counts.append(prod(self.repeats(f) for f in moving))
                    lanes = [iterations(f) for f in moving if f.kind is Kind.VECTOR]
                    widths.add(lanes[0] if lanes else 0)

        visit(body, ())
        return max(counts, default=0) if len(widths) == 1 else None

    def repeats(self, loop: For) -> int:
        """Registers along one loop."""
        if loop.kind is Kind.VECTOR:
            return self.code.vectors(loop)
        return iterations(loop)

    # ---- the pragma -------------------------------------------------------------------------

    def pragmas(self, node: Node, step: int) -> Node:
        """Unroll innermost loops of at most `step` statements, as the pragma around them allows."""
        if isinstance(node, For):
            said = node.mark("unroll_step")
            step = min(said, GREATEST_UNROLL_STEP) if isinstance(said, int) and said else step
        node = rebuilt(node, tuple(self.pragmas(b, step) for b in bodies(node)))
        if not isinstance(node, For) or node.kind is not Kind.SERIAL or step == 0:
            return node
        if not isinstance(node.extent, int) or runs_loops(node.body):
            return node
        if is_bounded(node, self.sizes):
            return node
        fits = node.extent * self.size(node.body) <= step
        return replace(node, kind=Kind.UNROLLED) if fits else node

    # ---- kernels ----------------------------------------------------------------------------

    def kernels(self, node: Node) -> Node:
        """Unroll short innermost reduction loops that conditions depend on: a kernel's width.

        The conditions of its padding or striding then hold or fail outside of all loops.
        """
        node = rebuilt(node, tuple(self.kernels(b) for b in bodies(node)))
        if not isinstance(node, For) or node.kind is not Kind.SERIAL or runs_loops(node.body):
            return node
        short = 1 < iterations(node) <= BUDGET.kernel_width
        small = iterations(node) * self.size(node.body) <= BUDGET.kernel
        if short and small and _decides(node):
            return replace(node, kind=Kind.UNROLLED)
        return node

    # ---- limits -----------------------------------------------------------------------------

    def limited(self, node: Node, around: int) -> Node:
        """Let unrolled loops run where they would write too many statements."""
        if isinstance(node, For) and node.kind is Kind.UNROLLED:
            if around * self.size(node) > BUDGET.unrolled:
                node = replace(node, kind=Kind.SERIAL)
            else:
                around *= iterations(node)
        return rebuilt(node, tuple(self.limited(b, around) for b in bodies(node)))

    def long_vectors(self, node: Node, around: int) -> Node:
        """Cut vector loops that are too long to write out, given the copies unrolled around."""
        if isinstance(node, For) and isinstance(node.extent, int):
            if node.kind is Kind.UNROLLED:
                around *= node.extent
            if node.kind is Kind.VECTOR:
                count = self.code.vectors(node)
                tile = 2 * self.target.vector_registers
                if count > LONG_VECTOR and around * count > tile:
                    return self.cut(node, VECTORS)
        return rebuilt(node, tuple(self.long_vectors(b, around) for b in bodies(node)))

    def cut(self, node: For, vectors: int) -> Node:
        """A vector loop as a loop over groups of `vectors` vectors, and a rest."""
        assert isinstance(node.extent, int)
        return strip_mined(node, vectors * max(1, self.bits // widest_bits(node)))


def is_bounded(loop: For, sizes: Collection[str]) -> bool:
    """Whether a condition below a loop compares its variable with a size."""
    conds = (n.cond for n in walk_nodes(loop.body) if isinstance(n, If)) if sizes else ()
    used = (free_vars(part) for cond in conds for part in conjuncts(cond))
    return any(loop.var.name in names and not names.isdisjoint(sizes) for names in used)


def iterations(loop: For) -> int:
    """Of a loop of a concrete nest. Raises BuildError where its extent is symbolic."""
    if not isinstance(loop.extent, int):
        raise BuildError(f"loop {loop.var.name} has the symbolic extent {loop.extent}")
    return loop.extent


def strip_mined(node: For, width: int) -> Node:
    """`for v < n: S` as a running loop over strips of `width`, and the rest.

    A strip of a serial loop is unrolled, one of a vector loop a vector loop.
    """
    assert isinstance(node.extent, int)
    whole, rest = divmod(node.extent, width)
    kind = Kind.UNROLLED if node.kind is Kind.SERIAL else node.kind
    outer = Var(f"{node.var.name}:o")
    parts: list[Node] = []
    if whole == 1:
        parts.append(replace(node, extent=width, kind=kind))
    elif whole:
        body = substituted(node.body, {node.var.name: outer * width + node.var})
        parts.append(For(outer, whole, replace(node, extent=width, kind=kind, body=body)))
    if rest:
        start = node.var + whole * width
        tail = substituted(node.body, {node.var.name: start}) if whole else node.body
        parts.append(replace(node, extent=rest, kind=kind, body=tail))
    return seq(*parts)


def _decides(loop: For) -> bool:
    """Whether the loop reduces and a select in its statements depends on it."""
    name = loop.var.name
    for s in walk_nodes(loop.body):
        if isinstance(s, Store) and s.reduce and not any(name in free_vars(i) for i in s.indices):
            conds = (x.cond for x in walk(s.value) if isinstance(x, Select))
            if any(name in free_vars(c) for c in conds):
                return True
    return False


def _accesses(store: Store, name: str) -> Iterator[tuple[Expr, ...]]:
    """Indices of a statement's accesses to a tensor."""
    if store.tensor.name == name:
        yield store.indices
    yield from (r.indices for r in reads(store.value) if r.tensor.name == name)


def _with_kind(node: Node, names: frozenset[str], kind: Kind) -> Node:
    """Serial loops over `names` get another kind."""
    node = rebuilt(node, tuple(_with_kind(b, names, kind) for b in bodies(node)))
    if isinstance(node, For) and node.kind is Kind.SERIAL and node.var.name in names:
        return replace(node, kind=kind)
    return node

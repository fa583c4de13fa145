"""How much code a nest becomes, and may become: vector statements, unrolled loops and vector chunks
included.

for rc < 512: for y (unrolled) < 6: for f (vector) < 64: S      24 statements of 16 lanes
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tilewright.codegen.lanes import chunk_count, next_power, widest_bits
from tilewright.expr.traversal import free_vars
from tilewright.nest.nodes import For, Kind, Node, Store, bodies


@dataclass(frozen=True, slots=True)
class CodeBudget:
    """Statements that code generation may write out, and what else keeps code short and quick to
    make; what would be more runs, or stays as it is.
    """

    unrolled: int = 512
    """By unrolled loops inside each other."""
    tile: int = 256
    """By loops over an allocation that is kept in registers."""
    kernel: int = 128
    """By an innermost loop over the width of a kernel that conditions depend on,"""
    kernel_width: int = 8
    """of so many elements."""
    reduction_loop: int = 96
    """By an innermost reduction loop that is repeated to hide its counter and latency."""
    other_loop: int = 8
    all_loops: int = 320
    """By all innermost loops together, once they are repeated."""
    selects: int = 8
    """Under one condition that selects replace."""
    guards: int = 1024
    """By the whole program up to which guards get versions of their own."""
    padding: int = 704
    """The same for padding: what is not separated is read through redirected pointers."""
    bounds: int = 256
    """The same for the bounds of loops that run: what is not separated has bounds that vary."""
    sizes: int = 4096
    """The same for rests of tiles that a size leaves: without versions they have masks. So much by
    sums that run, and by everything else."""
    far_sizes: int = 512
    """The same of one condition where loops that run inside move what is stored."""
    cases: int = 6
    """Versions of one body for one condition,"""
    instances: int = 4096
    """of whose instances so many are looked at."""
    program: int = 16384
    """In all; about a second of code generation."""
    scan: int = 4096
    """Accesses that are looked at in one scan; a region with more is not promoted."""
    row: int = 8
    """On a GPU, by a loop without a pragma: they hide its counter."""
    device_kernel: int = 8192
    """Of a GPU's kernel; NVRTC takes 15 s for them."""
    value: int = 512
    """Operations that a statement of C writes out, each as often as it is used."""


BUDGET = CodeBudget()


class CodeSize:
    """How much nests become on vectors of so many bits. Each node is looked at once."""

    def __init__(self, vector_bits: int) -> None:
        self.vector_bits = vector_bits
        self._statements: dict[int, tuple[Node, int]] = {}
        self._vectors: dict[int, tuple[For, int]] = {}

    def statements(self, node: Node) -> int:
        """Statements written for a nest; a loop that runs counts its body once."""
        hit = self._statements.get(id(node))
        if hit is None:
            hit = self._statements[id(node)] = node, self._count(node)
        return hit[1]

    def vectors(self, loop: For) -> int:
        """Vectors that a vector loop takes."""
        hit = self._vectors.get(id(loop))
        if hit is None:
            hit = self._vectors[id(loop)] = loop, chunk_count(loop, self.vector_bits)
        return hit[1]

    def lanes(self, loop: For) -> int:
        """Of one vector of a vector loop."""
        return max(1, self.vector_bits // widest_bits(loop))

    def _count(self, node: Node) -> int:
        if isinstance(node, Store):
            return 1
        inner = sum(map(self.statements, bodies(node)))
        if isinstance(node, For) and isinstance(node.extent, int):
            if node.kind is Kind.UNROLLED:
                return node.extent * inner
            if node.kind is Kind.VECTOR:
                return self.vectors(node) * inner
        return inner


def statement_count(node: Node, vector_bits: int) -> int:
    """Statements written for one nest."""
    return CodeSize(vector_bits).statements(node)


def runs_loops(node: Node) -> bool:
    """Whether a loop inside runs (is neither unrolled nor a vector)."""
    if isinstance(node, For) and node.kind in (Kind.SERIAL, Kind.PARALLEL, Kind.TILE):
        return True
    return any(runs_loops(b) for b in bodies(node))


CHAINS = 8
"""Independent multiply-adds in flight that hide their latency (4 cycles, 2 a cycle)."""


def accumulator_copies(node: Node, vector_bits: int) -> dict[str, int]:
    """Copies (a power of two) by the name of the reduced tensor; 1 is left out.

        for k: for y < 2 (unrolled), f < 32 (vector): acc[y, f] += ...    4 vectors: 2 copies each

    A tile of few elements cannot keep the multiply-add units busy alone, so consecutive terms of
    one sum take turns between copies. The number follows from the full tile, before versions are
    made: a partial tile then adds its terms in the same order, and equal terms give equal sums
    everywhere.
    """
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

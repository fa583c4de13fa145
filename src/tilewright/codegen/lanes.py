"""How a vector loop is cut into lanes.

    extent 40, 16 lanes of float32   ->   16 from 0, 16 from 16, 8 from 32
    extent 7                         ->   8 lanes from 0, of which 7 exist

The width follows from the widest type its statements compute with. A tail takes the next power of
two (at least two); where the loop is a reduction its tail keeps the full width, so that all chunks
share their accumulators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.expr.nodes import Cast, Const, Expr, Read, Var
from tilewright.expr.traversal import children, free_vars
from tilewright.nest.nodes import For, Store
from tilewright.nest.nodes import walk as walk_nodes

NARROWEST = 8


@dataclass(frozen=True, slots=True)
class VectorLanes:
    """A vectorised statement: `count` lanes, of which the first `active` exist."""

    var: str
    count: int
    active: int

    @property
    def full(self) -> bool:
        """Whether no lane is missing."""
        return self.count == self.active


def chunks(node: For, vector_bits: int) -> Iterator[tuple[int, VectorLanes]]:
    """(start, lanes) of every vector of a vector loop, in order."""
    assert isinstance(node.extent, int)
    width = max(1, vector_bits // widest_bits(node))
    whole, rest = divmod(node.extent, width)
    for i in range(whole):
        yield i * width, VectorLanes(node.var.name, width, width)
    if rest:
        # one lane would be no vector to LLVM: two, of which one exists
        count = width if whole and folds(node) else max(2, next_power(rest))
        yield whole * width, VectorLanes(node.var.name, count, rest)


def chunk_count(node: For, vector_bits: int) -> int:
    """Vectors that a vector loop of constant extent takes."""
    assert isinstance(node.extent, int)
    return -(-node.extent // max(1, vector_bits // widest_bits(node)))


def next_power(n: int) -> int:
    """The smallest power of two that is at least n."""
    return 1 << (n - 1).bit_length()


def folds(node: For) -> bool:
    """Whether the loop reduces over its own variable."""
    return any(
        isinstance(s, Store)
        and s.reduce is not None
        and not any(node.var.name in free_vars(i) for i in s.indices)
        for s in walk_nodes(node.body)
    )


def widest_bits(node: For) -> int:
    """Bits of the widest type that the statements inside compute with (indices aside)."""
    return max((_store_bits(s) for s in walk_nodes(node.body) if isinstance(s, Store)), default=32)


def _store_bits(store: Store) -> int:
    return max(store.tensor.dtype.compute.bits, _bits(store.value, {}))


def _bits(e: Expr, known: dict[int, int]) -> int:
    """The widest data in a value: reads and casts count, index arithmetic (int64) does not.

    `known` are the parts looked at before, by identity: values that are used again share them.
    """
    if id(e) not in known:
        match e:
            case Read():
                known[id(e)] = e.dtype.bits
            case Cast(to, x):
                known[id(e)] = max(to.bits, _bits(x, known))
            case Const() | Var():
                known[id(e)] = NARROWEST
            case _:
                known[id(e)] = max(_bits(c, known) for c in children(e))
    return known[id(e)]

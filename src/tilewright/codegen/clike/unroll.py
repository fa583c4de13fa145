"""Which loops of a kernel are written out, within its budget of statements.

    for k.1 < 8:                          for k.1 < 8:
      for k.2 < 4:                          for k.2 < 4:  # unrolled
        for j < 8:               64   ->      for j < 8:  # unrolled
          C[j] += A.C[..] * B.C[..]             C[j] += A.C[..] * B.C[..]

A loop that picks elements of private storage is always written out: registers have no index. Of
the others, those inside come first, as long as all copies together stay within the budget
(`For.unroll_step`). A C compiler takes about 2 ms for each statement that it has to unroll, and
nested pragmas multiply.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tilewright.expr.nodes import Binary, Call, Expr, Select, Tensor, children, free_vars, reads
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Scope, Store, bodies, walk

REGISTERS = 256
"""Elements of private storage that may be registers; larger arrays are memory in any case."""
GREATEST_KERNEL = 8192
"""Statements of a kernel; NVRTC takes 15 s for them."""
DIVISIONS = ("floordiv", "mod")


class Unrolling:
    """The loops of one kernel that are written out, and the statements that it becomes."""

    def __init__(self, kernel: Node) -> None:
        self._private = frozenset(
            n.tensor.name
            for n in walk(kernel)
            if isinstance(n, Alloc) and n.scope is Scope.LOCAL and _size(n.tensor) <= REGISTERS
        )
        self._chosen: set[int] = set()
        self._kernel = kernel  # keeps the nodes, whose identities are noted
        self.statements = self._count(kernel, 0, 1)

    def __contains__(self, loop: For) -> bool:
        return id(loop) in self._chosen

    def _count(self, node: Node, budget: int, copies: int) -> int:
        """Statements that a node becomes; what is around it is written out `copies` times."""
        if isinstance(node, Store):
            return 1 + _divisions((*node.indices, node.value))
        if not isinstance(node, For):
            own = _divisions((node.cond,)) if isinstance(node, If) else 0
            return own + sum(self._count(b, budget, copies) for b in bodies(node))
        if isinstance(node.unroll_step, int) and node.unroll_step:
            budget = node.unroll_step
        extent = node.extent if isinstance(node.extent, int) else 1
        match node.kind:
            case Kind.UNROLLED | Kind.VECTOR:
                self._chosen.add(id(node))
            case Kind.SERIAL if self._picks_registers(node):
                self._chosen.add(id(node))
            case Kind.SERIAL:
                inner = self._count(node.body, budget, copies)
                if copies * extent * inner > budget:
                    return inner
                self._chosen.add(id(node))
                return extent * inner
            case _:
                return self._count(node.body, budget, copies)
        return extent * self._count(node.body, budget, copies * extent)

    def _picks_registers(self, loop: For) -> bool:
        """Whether the loop's variable is in an index of private storage."""
        return any(
            tensor.name in self._private and any(loop.var.name in free_vars(i) for i in indices)
            for n in walk(loop.body)
            if isinstance(n, Store)
            for tensor, indices in _accesses(n)
        )


def _accesses(store: Store) -> Iterator[tuple[Tensor, tuple[Expr, ...]]]:
    yield store.tensor, store.indices
    for read in reads(store.value):
        yield read.tensor, read.indices


def _divisions(exprs: tuple[Expr, ...]) -> int:
    """Different divisions and choices in expressions: each is worth a statement."""
    found: set[Expr] = set()
    todo = list(exprs)
    while todo:
        e = todo.pop()
        if isinstance(e, (Call, Select)) or (isinstance(e, Binary) and e.op in DIVISIONS):
            found.add(e)
        todo += children(e)
    return len(found)


def _size(tensor: Tensor) -> int:
    return prod(e for e in tensor.shape if isinstance(e, int))

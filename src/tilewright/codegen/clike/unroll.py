"""How far the loops of a kernel are unrolled, within its budget of statements.

    for k.1 < 8:                          for k.1 < 8:
      for k.2 < 4:             64           for k.2 < 4:  #pragma unroll
        for j < 8:             ->             for j < 8:  #pragma unroll
          C[j] += A.C[..] * B.C[..]             C[j] += A.C[..] * B.C[..]

A loop that picks elements of private storage is always written out: registers have no index. Of
the others, those inside come first, as long as all copies together stay within the budget (the
mark `unroll_step` of its loops); where a whole loop is too much, some of its iterations. A C
compiler takes about 2 ms for each statement that it unrolls, nested pragmas multiply, and what it
unrolls without being told is multiplied by the copies around it: hence every loop is told.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.codegen.clike.expressions import element_count
from tilewright.codegen.passes.size import BUDGET
from tilewright.expr.nodes import Binary, Call, Expr, Select, Tensor
from tilewright.expr.traversal import free_vars, reads
from tilewright.expr.traversal import walk as walk_expr
from tilewright.nest.nodes import (
    WORKERS,
    Alloc,
    For,
    If,
    Instruction,
    Kind,
    Node,
    Scope,
    Store,
    bodies,
    expressions,
    walk,
)

REGISTERS = 256
"""Elements of private storage that may be registers; larger arrays are memory in any case."""
VARYING = 4
"""Iterations that are written out of a loop whose extent is over sizes, at most."""
DIVISIONS = ("floordiv", "mod")


class Unrolling:
    """How far each loop of one kernel is unrolled, and the statements that the kernel becomes."""

    def __init__(self, kernel: Node) -> None:
        self._private = frozenset(
            n.tensor.name
            for n in walk(kernel)
            if isinstance(n, Alloc)
            and n.scope is Scope.LOCAL
            and element_count(n.tensor) <= REGISTERS
        )
        steps = [n.mark("unroll_step") for n in walk(kernel) if isinstance(n, For)]
        self._budget = max([BUDGET.row, *(s for s in steps if isinstance(s, int))])
        self._factors: dict[int, int] = {}
        self._kernel = kernel  # keeps the nodes, whose identities are noted
        self.statements = self._count(kernel, 1)

    def factor(self, loop: For) -> int:
        """Iterations of a loop that are written out in a row."""
        return self._factors[id(loop)]

    def _count(self, node: Node, copies: int) -> int:
        """Statements that a node becomes; what is around it is written out `copies` times."""
        if isinstance(node, (Store, Instruction)):
            return 1 + _divisions(expressions(node))
        if not isinstance(node, For):
            own = _divisions((node.cond,)) if isinstance(node, If) else 0
            return own + sum(self._count(b, copies) for b in bodies(node))
        extent = node.extent if isinstance(node.extent, int) else VARYING
        if node.kind in WORKERS:
            return self._count(node.body, copies)
        if node.kind is not Kind.SERIAL or self._picks_registers(node):
            self._factors[id(node)] = extent
            return extent * self._count(node.body, copies * extent)
        inner = self._count(node.body, copies)
        most = max(1, self._budget // max(1, copies * inner))
        factor = next(n for n in range(min(most, extent), 0, -1) if extent % n == 0)
        self._factors[id(node)] = factor
        return factor * inner

    def _picks_registers(self, loop: For) -> bool:
        """Whether the loop's variable is in an index of private storage."""
        return any(
            tensor.name in self._private and any(loop.var.name in free_vars(i) for i in indices)
            for n in walk(loop.body)
            if isinstance(n, (Store, Instruction))
            for tensor, indices in _accesses(n)
        )


def _accesses(node: Store | Instruction) -> Iterator[tuple[Tensor, tuple[Expr, ...]]]:
    if isinstance(node, Store):
        yield node.tensor, node.indices
    elif node.result is not None:
        yield node.result.tensor, node.result.indices
    for read in (r for e in expressions(node) for r in reads(e)):
        yield read.tensor, read.indices


def _divisions(exprs: tuple[Expr, ...]) -> int:
    """Different divisions and choices in expressions: each is worth a statement."""
    found = {
        part
        for e in exprs
        for part in walk_expr(e)
        if isinstance(part, (Call, Select)) or (isinstance(part, Binary) and part.op in DIVISIONS)
    }
    return len(found)

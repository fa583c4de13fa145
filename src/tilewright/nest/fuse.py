"""Fusion after scheduling: neighbours put into the nest of an operator that was scheduled alone.

    A.C[i] = A[i]       prologue of A: (i) -> C[99 - i] * 2.0   ->   A.C[i] = C[99 - i] * 2.0
    B[i] = A.C[i] + s   epilogue of B: (i), value -> a store    ->   D[i / 50, i % 50] = (…) * 3.0

A prologue says what an element of an input is; an epilogue what becomes of an element of the
output, which is stored once (Hidet, ASPLOS 2023, section 5.2). A copy that a thread waits for later
takes what is read, and 0 where a condition does not hold, no arithmetic: where that is the prologue
of its input, a template loads it through registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from tilewright.expr.nodes import Const, Expr, Read, Select, Tensor, binary
from tilewright.expr.traversal import reads, with_reads
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import Alloc, For, If, Instruction, Node, Seq, Store, mapped, seq

Prologue: TypeAlias = Callable[..., Expr]
"""An element of an input, given its index in each dimension."""
Epilogue: TypeAlias = Callable[[tuple[Expr, ...], Expr], Node]
"""What stores an element of the output, given its indices and its value."""


def fused(node: Node, prologues: Mapping[str, Prologue], epilogues: Mapping[str, Epilogue]) -> Node:
    """The nest with prologues, by the names of inputs, and epilogues, by those of outputs. Raises
    ScheduleError where an instruction takes what is computed.
    """

    def access(tensor: Tensor, indices: tuple[Expr, ...]) -> Expr:
        prologue = prologues.get(tensor.name)
        return Read(tensor, indices) if prologue is None else prologue(*indices)

    def visit(n: Node) -> Node:
        n = mapped(n, lambda e: with_reads(e, access))
        match n:
            case Seq(body):
                return seq(*map(visit, body))
            case For() | If() | Alloc():
                return replace(n, body=visit(n.body))
            case Store(tensor, indices, value) if tensor.name in epilogues:
                return epilogues[tensor.name](indices, value)
            case Instruction():
                return replace(n, operands=tuple(map(_operand, n.operands)))
        return n

    return visit(node)


def _operand(e: Expr) -> Expr:
    """An operand as a read, or one select between a read and 0."""
    match e:
        case Select(cond, Select(inner, a, Const(0 | 0.0)), Const(0 | 0.0)):
            return _operand(Select(binary("and", cond, inner), a, e.b))
        case Read() | Select(_, Read(), Const(0 | 0.0)):
            return e
    if not reads(e):
        return e
    raise ScheduleError(f"an instruction takes what is in memory, not {e}")

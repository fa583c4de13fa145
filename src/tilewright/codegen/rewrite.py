"""Building nests anew: what every pass uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from tilewright.expr.dtypes import BOOL
from tilewright.expr.index.intervals import Interval, interval
from tilewright.expr.nodes import Binary, Const, Expr, Read, Tensor, as_expr
from tilewright.expr.traversal import substitute, walk, with_reads
from tilewright.ground.errors import BuildError
from tilewright.nest.nodes import (
    EMPTY,
    Alloc,
    For,
    Hoist,
    If,
    Instruction,
    Node,
    Seq,
    Store,
    bodies,
    mapped,
    seq,
)

Indices: TypeAlias = tuple[Expr, ...]
Redirection: TypeAlias = Callable[[Tensor, Indices], tuple[Tensor, Indices]]
"""What an access becomes: the tensor and where in it."""


def is_empty(node: Node) -> bool:
    """Whether a nest does nothing."""
    return isinstance(node, Seq) and not node.body


def rebuilt(node: Node, parts: tuple[Node, ...]) -> Node:
    """`node` with new bodies; EMPTY when nothing is left in it."""
    old = bodies(node)
    if len(old) == len(parts) and all(a is b for a, b in zip(old, parts, strict=True)):
        return node
    match node:
        case Seq():
            return seq(*parts)
        case For() | If() | Alloc():
            return EMPTY if is_empty(parts[0]) else replace(node, body=parts[0])
        case Hoist():
            raise BuildError("a hoist needs a concrete nest to compile")
    return node


def conjunction(conds: list[Expr]) -> Expr:
    """All of them hold."""
    if not conds:
        return Const(True, BOOL)
    total = conds[0]
    for c in conds[1:]:
        total = Binary("and", total, c)
    return total


def guarded(conds: list[Expr], body: Node) -> Node:
    """`body` under conditions; without any, `body` itself."""
    return If(conjunction(conds), body) if conds and not is_empty(body) else body


def reads_memory(e: Expr) -> bool:
    """Whether an expression reads a tensor."""
    return any(isinstance(x, Read) for x in walk(e))


def substituted(node: Node, values: dict[str, Expr]) -> Node:
    """The nest with variables replaced by name."""

    def on(e: Expr) -> Expr:
        return substitute(e, values)

    return rebuilt(mapped(node, on), tuple(substituted(b, values) for b in bodies(node)))


def redirected(node: Node, access: Redirection) -> Node:
    """The nest with other accesses, those in indices and conditions, too."""

    def on(e: Expr) -> Expr:
        return redirected_value(e, access)

    match node:
        case Store(tensor, indices, value):
            target, at = access(tensor, tuple(map(on, indices)))
            return replace(node, tensor=target, indices=at, value=on(value))
        case Instruction(_, Read() as result, operands):
            place = Read(*access(result.tensor, tuple(map(on, result.indices))))
            return replace(node, result=place, operands=tuple(map(on, operands)))
        case If(cond, body):
            return If(on(cond), redirected(body, access))
        case Alloc(_, offset, body):
            return replace(node, offset=tuple(map(on, offset)), body=redirected(body, access))
    return rebuilt(node, tuple(redirected(b, access) for b in bodies(node)))


def redirected_value(e: Expr, access: Redirection) -> Expr:
    """The expression with other reads."""
    return with_reads(e, lambda tensor, indices: Read(*access(tensor, indices)))


def within(ranges: dict[str, Interval], node: For) -> dict[str, Interval]:
    """`ranges` with the loop's variable bound."""
    extent = interval(as_expr(node.extent), ranges).hi
    high = None if extent is None else extent - 1
    return ranges | {node.var.name: Interval(0, high)}

"""Loop-nest IR: what a schedule becomes and what code is generated from.

    node ::= For(var, extent, body, kind, when, unroll_step)   var runs over 0 <= var < extent
           | Seq(body...)
           | If(cond, body)
           | Alloc(tensor, offset, body)     storage for the window [offset, offset + shape)
           | Store(tensor, indices, value, reduce)
           | Hoist(loops, live, body)        (symbolic nests only)

Indices stay logical and multi-dimensional (those of the stage's own axes); `Alloc.offset` says
where the allocated window starts, so that an access subtracts it only in code generation.
`Store.reduce` names a reduction (`t[i] = t[i] + value`); None overwrites.

Extents are ints in a *concrete* nest, expressions over decision variables in a *symbolic* one.
Two fields exist for symbolic nests: `For.when` (the kind applies only where it holds; otherwise
the loop is serial) and `Hoist` (its body belongs further out: to it, a loop of `loops` whose
`live` condition does not hold has extent 1). A concrete nest has neither.

A perfect nest of parallel loops is one parallel region over the product of their extents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from tilewright.expr.nodes import Expr, Extent, Tensor, Var


class Kind(Enum):
    """How a loop runs. Vector and unrolled loops have constant extents in a concrete nest."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTOR = "vector"
    UNROLLED = "unrolled"


@dataclass(frozen=True, slots=True)
class For:
    """`for var in range(extent): body`.

    `unroll_step` is the stage's auto-unroll pragma: code generation may unroll loops inside as
    long as the unrolled body has at most that many statements (0: only explicit unrolling).
    """

    var: Var
    extent: Extent
    body: Node
    kind: Kind = Kind.SERIAL
    when: Expr | None = None
    unroll_step: Extent = 0


@dataclass(frozen=True, slots=True)
class Seq:
    """Statements in order."""

    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class If:
    """`body` where `cond` holds."""

    cond: Expr
    body: Node


@dataclass(frozen=True, slots=True)
class Alloc:
    """Scratch for `tensor` (whose shape is the window's) that lives during `body`.

    The element with logical indices `x` is at `x - offset`. Private to one parallel iteration
    when it stands inside a parallel loop. Uninitialised.
    """

    tensor: Tensor
    offset: tuple[Expr, ...]
    body: Node


@dataclass(frozen=True, slots=True)
class Store:
    """`tensor[indices] = value`, or the named reduction of the old element and `value`."""

    tensor: Tensor
    indices: tuple[Expr, ...]
    value: Expr
    reduce: str | None = None


@dataclass(frozen=True, slots=True)
class Hoist:
    """Symbolic nests only: to `body`, a loop of `loops` has extent 1 where its `live` is false."""

    loops: tuple[Var, ...]
    live: tuple[Expr, ...]
    body: Node


Node: TypeAlias = For | Seq | If | Alloc | Store | Hoist


@dataclass(frozen=True, slots=True)
class Program:
    """A loop nest with its interface.

    `inputs` are read (given at run time), `constants` are read (given at compile time, in the
    layouts of these tensors), `tables` come with their values in `source`, `outputs` are written
    completely. Buffers are contiguous, row-major.
    """

    name: str
    inputs: tuple[Tensor, ...]
    constants: tuple[Tensor, ...]
    tables: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    body: Node


def seq(*nodes: Node) -> Node:
    """Nodes in order, nested sequences flattened; one node stays itself."""
    flat: list[Node] = []
    for n in nodes:
        flat.extend(n.body if isinstance(n, Seq) else (n,))
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def bodies(node: Node) -> tuple[Node, ...]:
    """Direct child nodes, in order."""
    match node:
        case Seq(body):
            return body
        case Store():
            return ()
        case For() | If() | Alloc() | Hoist():
            return (node.body,)


def walk(node: Node) -> Iterator[Node]:
    """All nodes, parents first."""
    yield node
    for b in bodies(node):
        yield from walk(b)

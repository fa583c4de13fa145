"""Loop-nest IR: what a schedule becomes and what code is generated from.

    node ::= For(var, extent, body, kind, when, marks)   var runs over 0 <= var < extent
           | Seq(body...)
           | If(cond, body)
           | Alloc(tensor, offset, body, scope, slot)  storage for [offset, offset + shape)
           | Store(tensor, indices, value, reduce, operations, initial, marks)
           | Barrier()                       every thread of the block has come this far
           | Instruction(name, result, operands)      one of the table of `instructions`
           | Hoist(loops, live, body)        (symbolic nests only)

Indices stay logical and multi-dimensional (those of the stage's own axes); `Alloc.offset` says
where the allocated window starts, so that an access subtracts it only in code generation.
`Store.reduce` names a reduction (`t[i] = t[i] + value`); None overwrites. What only the math or the
schedule knows of a node is written on it (`operations`, `initial`, `marks`): who scores, checks or
compiles a program reads its nest and nothing else, whoever made it.

Extents are ints in a *concrete* nest, expressions over decision variables in a *symbolic* one. In a
concrete nest, those of tensors and of serial, parallel, vector and unrolled loops may be
expressions over the program's *sizes*, which a call gives values (`expr.sizes`).
Two fields exist for symbolic nests: `For.when` (the kind applies only where it holds; otherwise
the loop is serial) and `Hoist` (its body belongs further out: to it, a loop of `loops` whose
`live` condition does not hold has extent 1). A concrete nest has neither.

A perfect nest of parallel loops is one parallel region over the product of their extents.

Loops bound to the workers of a GPU:

    for i.0 in range(4):  # block                  a perfect nest of block loops is one kernel
      for i.1 in range(2):  # virtual thread
        for i.2 in range(32):  # thread.x          thread i.2 of the block runs the body
          alloc A.C: float32[64] at [i.0 * 64]:  # shared
            for d0 in range(32):  # thread.x       the same threads share out these iterations
              A.C[...] = A[...]
            barrier

A perfect nest of thread loops of one dimension is one loop over the product, row-major; loops of
different dimensions multiply. A thread loop inside another of its dimension is *cooperative*: its
iteration n is done once, by thread n. What stands outside the loops of a dimension that the block
has is done by thread 0 of that dimension. A virtual thread loop makes several threads of each one
(the iterations stay in step at barriers); a cooperative loop inside is done once for all of them.
A reduction into an element that no loop of some thread dimension moves combines these threads,
unless the element is in storage that each of them has for itself; under conditions, a thread for
which they do not hold takes part and adds nothing.

What loops and stores cannot say, instructions do: what a warp computes together of what its threads
hold, copies that go on while the thread does. What each does is in the table of `instructions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from tilewright.contract.sizes import Sizes
from tilewright.expr.nodes import Expr, Extent, Read, Tensor, Var, as_expr
from tilewright.nest.marks import MARKS, Marks


class Kind(Enum):
    """How a loop runs. Dot and tile loops have constant extents in a concrete nest.

    A dot is a short innermost loop that reduces; an instruction may do all its iterations at once.
    So may one on whole tiles do those of a tile loop and of all loops inside.
    """

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTOR = "vector"
    UNROLLED = "unrolled"
    DOT = "dot"
    TILE = "tile"
    BLOCK = "block"
    VIRTUAL = "virtual thread"
    THREAD_X = "thread.x"
    THREAD_Y = "thread.y"


THREADS = (Kind.THREAD_X, Kind.THREAD_Y)
"""The dimensions of a block; consecutive threads differ in x."""

WORKERS = (Kind.BLOCK, Kind.VIRTUAL, *THREADS)

Operations: TypeAlias = tuple[tuple[tuple[str, str], int], ...]
"""How many operations of each (class, kind), as `nest.operations` counts them."""


class Scope(Enum):
    """Who sees an allocation.

    `LOCAL`: the iteration of the parallel, block and thread loops around it. `SHARED`: all threads
    of the block, whatever thread loops stand around it.
    """

    LOCAL = "local"
    SHARED = "shared"


class Marked:
    """A node that can have marks."""

    __slots__ = ()
    marks: Marks

    def mark(self, name: str) -> Extent:
        """What a mark of the table says; 0 where the node has none of that name."""
        assert MARKS[name].node == type(self).__name__, f"{name} is no mark of {self}"
        return dict(self.marks).get(name, 0)


@dataclass(frozen=True, slots=True)
class For(Marked):
    """`for var in range(extent): body`."""

    var: Var
    extent: Extent
    body: Node
    kind: Kind = Kind.SERIAL
    when: Expr | None = None
    marks: Marks = ()


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
    when it stands inside a parallel loop (see `Scope`). Uninitialised. Shared allocations with
    one `slot` lie in the same bytes, one after the other (`lifetimes`). Rows of a `swizzled` one
    keep their pieces of 16 bytes in another order (`swizzle`).
    """

    tensor: Tensor
    offset: tuple[Expr, ...]
    body: Node
    scope: Scope = Scope.LOCAL
    slot: int | None = None
    swizzled: bool = False


@dataclass(frozen=True, slots=True)
class Store(Marked):
    """`tensor[indices] = value`, or the named reduction of the old element and `value`.

    `operations` are those of the math (see `nest.operations`); None: those of `value`, not of its
    indices. `initial`: a reduction's accumulator gets its first value, which is no work of its own.
    """

    tensor: Tensor
    indices: tuple[Expr, ...]
    value: Expr
    reduce: str | None = None
    operations: Operations | None = None
    initial: bool = False
    marks: Marks = ()


@dataclass(frozen=True, slots=True)
class Barrier:
    """All threads of the block wait here for each other; what they wrote is then seen by all."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """What `instructions.INSTRUCTIONS` says of `name`: made of `operands`, `result` is what each
    thread gets, by the place of its first element (None: it gets nothing).

    An operand is a read, of that element and those after it in its row; a select between such a
    read and 0, or 0 where that is never read; or a number.
    """

    name: str
    result: Read | None = None
    operands: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Hoist:
    """Symbolic nests only: to `body`, a loop of `loops` has extent 1 where its `live` is false."""

    loops: tuple[Var, ...]
    live: tuple[Expr, ...]
    body: Node


Node: TypeAlias = For | Seq | If | Alloc | Store | Barrier | Instruction | Hoist
EMPTY = Seq(())
"""A nest that does nothing."""


@dataclass(frozen=True, slots=True)
class Program:
    """A loop nest with its interface.

    `inputs` are read (given at run time), `constants` are read (given at compile time, in the
    layouts of these tensors), `tables` come with their values in `source`, `outputs` are written
    completely. Buffers are contiguous, row-major; with `sizes`, their memory is that of
    `expr.sizes.stored_shape`.
    """

    name: str
    inputs: tuple[Tensor, ...]
    constants: tuple[Tensor, ...]
    tables: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    body: Node
    sizes: Sizes = ()

    def marked(self, name: str) -> tuple[str, ...]:
        """The outputs whose stores have the mark, which is 0 or 1."""
        stores = (n for n in walk(self.body) if isinstance(n, Store))
        found = {n.tensor.name for n in stores if n.mark(name) == 1}
        return tuple(t.name for t in self.outputs if t.name in found)


def seq(*nodes: Node) -> Node:
    """Nodes in order, nested sequences flattened; one node stays itself."""
    flat: list[Node] = []
    for n in nodes:
        flat.extend(n.body if isinstance(n, Seq) else (n,))
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def allocated(
    tensor: Tensor, body: Node, scope: Scope = Scope.LOCAL, *, swizzled: bool = False
) -> Alloc:
    """`body` with storage for all of a tensor."""
    zeros = tuple(as_expr(0) for _ in tensor.shape)
    return Alloc(tensor, zeros, body, scope, swizzled=swizzled)


def bodies(node: Node) -> tuple[Node, ...]:
    """Direct child nodes, in order."""
    match node:
        case Seq(body):
            return body
        case Store() | Barrier() | Instruction():
            return ()
        case For() | If() | Alloc() | Hoist():
            return (node.body,)


def walk(node: Node) -> Iterator[Node]:
    """All nodes, parents first."""
    yield node
    for b in bodies(node):
        yield from walk(b)


def expressions(node: Node) -> tuple[Expr, ...]:
    """What a node computes itself, the indices of what it writes included, not through its body."""
    match node:
        case Store():
            return (*node.indices, node.value)
        case Instruction():
            return (*(node.result.indices if node.result is not None else ()), *node.operands)
        case If():
            return (node.cond,)
        case Alloc():
            return node.offset
    return ()


def touched(node: Node) -> tuple[Expr, ...]:
    """The same, and as reads the places of what the node writes."""
    match node:
        case Store():
            return (Read(node.tensor, node.indices), node.value)
        case Instruction():
            return accessed(node)
    return expressions(node)


def accessed(node: Instruction) -> tuple[Expr, ...]:
    """An instruction's result, if it has one, and its operands."""
    return node.operands if node.result is None else (node.result, *node.operands)


def mapped(node: Node, change: Callable[[Expr], Expr]) -> Node:
    """A node with its own expressions changed, those of its body left alone."""
    match node:
        case Store():
            indices = tuple(map(change, node.indices))
            return replace(node, indices=indices, value=change(node.value))
        case Instruction(_, result, operands):
            if result is not None:
                result = replace(result, indices=tuple(map(change, result.indices)))
            return replace(node, result=result, operands=tuple(map(change, operands)))
        case If():
            return replace(node, cond=change(node.cond))
        case Alloc():
            return replace(node, offset=tuple(map(change, node.offset)))
    return node

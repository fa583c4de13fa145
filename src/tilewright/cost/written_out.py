"""Instructions of a nest as loops and stores: what they move and add up is what cost asks for.

    written_out(kernel)         each instruction becomes a loop over the elements of its result

What a group of warps multiplies passes no thread; what hardware copies takes none of their time.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from tilewright.expr.index.extents import ceildiv, mul, plain
from tilewright.expr.nodes import Binary, Const, Expr, Extent, Read, Var, cast
from tilewright.expr.traversal import reads
from tilewright.nest.gpu.swizzle import PIECE_BYTES
from tilewright.nest.instructions import Box, rule_of
from tilewright.nest.nodes import (
    EMPTY,
    Alloc,
    For,
    Hoist,
    If,
    Instruction,
    Kind,
    Node,
    Seq,
    Store,
    walk,
)

BOX_COPY = ("copy", "box")
"""What hardware copies by itself, among a statement's counts."""


def written_out(node: Node, threads: For | None = None) -> Node:
    """The nest with loops over the elements of an instruction's result in its place: what it moves
    and adds up is what cost asks for. `threads` is the loop that has them.
    """
    match node:
        case Seq(body):
            return Seq(tuple(written_out(b, threads) for b in body))
        case For() | If() | Alloc() | Hoist():
            if isinstance(node, For) and node.kind is Kind.THREAD_X:
                node = threads = replace(node, extent=_that_compute(node))
            return replace(node, body=written_out(node.body, threads))
        case Instruction(_, Read() as result, (Read() as box, *_)) if _copies_boxes(node):
            assert threads is not None
            return _shared_out(result, box, threads)
        case Instruction(_, Read() as result) if rule_of(node).semantics is not None:
            return _elementwise(node, result)
        case Instruction():
            return EMPTY
    return node


def _that_compute(threads: For) -> Extent:
    """Threads of a block but for those behind one that only copies boxes."""
    for node in walk(threads.body):
        match node:
            case If(Binary("eq", Var(name), first), body) if name == threads.var.name:
                if any(map(_copies_boxes, walk(body))):
                    return plain(first)
    return threads.extent


def _copies_boxes(node: Node) -> bool:
    return isinstance(node, Instruction) and rule_of(node).result == Box()


def _shared_out(result: Read, box: Read, threads: For) -> Node:
    """The copy of a box as if all threads made it, which takes none of their time."""
    rows, columns = result.tensor.shape[-2:]
    elements = PIECE_BYTES // result.tensor.dtype.bytes
    across = ceildiv(columns, elements)
    number, e = Var(f"{result.tensor.name}.piece"), Var(f"{result.tensor.name}.e")
    piece = number * threads.extent + threads.var
    row, column = piece // across, piece % across * elements + e

    def at(read: Read) -> tuple[Expr, ...]:
        *outer, first_row, first_column = read.indices
        return (*outer, first_row + row, first_column + column)

    value = cast(result.dtype, Read(box.tensor, at(box)))
    copy = Store(result.tensor, at(result), value, operations=((BOX_COPY, 1),))
    times = ceildiv(mul(rows, across), threads.extent)
    return For(number, times, For(e, elements, copy, Kind.VECTOR), Kind.UNROLLED)


def _elementwise(node: Instruction, result: Read) -> Node:
    rule = rule_of(node)
    assert isinstance(rule.result, int)
    count = rule.result // result.tensor.dtype.bytes
    e = Var(f"{result.tensor.name}.e")

    def moved(read: Read) -> Read:
        return Read(read.tensor, (*read.indices[:-1], read.indices[-1] + e))

    # what a group of warps multiplies passes no thread
    runs = [
        e for e, size in zip(node.operands, rule.operands, strict=True) if isinstance(size, int)
    ]
    every = [moved(r) for operand in runs for r in reads(operand)]
    terms = [cast(result.dtype, r) for r in every] or [Const(0.0, result.dtype)]
    value = reduce(lambda a, b: a + b, terms)
    kind = "mad" if runs else "group mad"
    products = {("matrix", kind): rule.products // count} if rule.products else {}
    update = "sum" if rule.accumulates else None
    place = moved(result)
    store = Store(place.tensor, place.indices, value, update, tuple(products.items()))
    return For(e, count, store, Kind.VECTOR)

"""A symbolic nest made concrete: decision variables become numbers.

    bind(program, {"T": 8}) -> Program

For nests that somebody wrote with free decisions; a schedule is replayed with numbers instead, and
says itself what may be left out. Loops that have one iteration vanish, `when` is decided, and so
are conditions that hold for every iteration, or for none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.expr.index.intervals import Interval
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Const, Expr, Extent, Read, Tensor, as_expr
from tilewright.expr.traversal import substitute, with_reads
from tilewright.ground.errors import VerifyError
from tilewright.nest.marks import Marks, marks
from tilewright.nest.nodes import (
    EMPTY,
    Alloc,
    Barrier,
    For,
    Hoist,
    If,
    Instruction,
    Kind,
    Node,
    Program,
    Seq,
    Store,
    seq,
)

Ranges = Mapping[str, Interval]


def bind(program: Program, decisions: Mapping[str, int]) -> Program:
    """The concrete program for these values. Raises VerifyError for a nest with `Hoist`, or where
    an extent is no number then.
    """
    binding = _Binding(program.name, {name: as_expr(v) for name, v in decisions.items()})
    interface = (program.inputs, program.constants, program.tables, program.outputs)
    inputs, constants, tables, outputs = (
        tuple(binding.tensor(t) for t in tensors) for tensors in interface
    )
    return Program(program.name, inputs, constants, tables, outputs, binding.node(program.body, {}))


class _Binding:
    def __init__(self, program: str, values: Mapping[str, Expr]) -> None:
        self.program, self.values = program, dict(values)

    def node(self, node: Node, ranges: Ranges) -> Node:
        match node:
            case Seq(body):
                return seq(*(self.node(b, ranges) for b in body))
            case For():
                return self.loop(node, ranges)
            case If(cond, body):
                return self.branch(self.expr(cond, ranges), body, ranges)
            case Alloc(tensor, offset, body):
                inner = self.node(body, ranges)
                start = tuple(self.expr(e, ranges) for e in offset)
                return replace(node, tensor=self.tensor(tensor), offset=start, body=inner)
            case Store(tensor, indices, value):
                return replace(
                    node,
                    tensor=self.tensor(tensor),
                    indices=tuple(self.expr(i, ranges) for i in indices),
                    value=self.expr(value, ranges),
                    marks=self.marks(node.marks),
                )
            case Instruction(_, result, operands):
                if result is not None:
                    indices = tuple(self.expr(i, ranges) for i in result.indices)
                    result = Read(self.tensor(result.tensor), indices)
                return replace(
                    node, result=result, operands=tuple(self.expr(e, ranges) for e in operands)
                )
            case Barrier():
                return node
            case Hoist():
                raise VerifyError(f"program {self.program}: a nest with `hoist` needs its schedule")

    def loop(self, loop: For, ranges: Ranges) -> Node:
        extent = self.number(loop.extent)
        if extent == 1:
            self.values[loop.var.name] = as_expr(0)
            return self.node(loop.body, ranges)
        applies = loop.when is None or bool(self.number(loop.when))
        body = self.node(loop.body, {**ranges, loop.var.name: Interval(0, extent - 1)})
        if body == EMPTY:
            return body
        kind = loop.kind if applies else Kind.SERIAL
        return For(loop.var, extent, body, kind, None, self.marks(loop.marks))

    def branch(self, cond: Expr, body: Node, ranges: Ranges) -> Node:
        if isinstance(cond, Const):
            return self.node(body, ranges) if cond.value else EMPTY
        inner = self.node(body, ranges)
        return inner if inner == EMPTY else If(cond, inner)

    def expr(self, e: Expr, ranges: Ranges) -> Expr:
        placed = with_reads(e, lambda tensor, indices: Read(self.tensor(tensor), indices))
        return simplify(substitute(placed, self.values), dict(ranges))

    def tensor(self, tensor: Tensor) -> Tensor:
        shape = tuple(self.number(e) for e in tensor.shape)
        return tensor if shape == tensor.shape else replace(tensor, shape=shape)

    def marks(self, symbolic: Marks) -> Marks:
        return marks(**{name: self.number(value) for name, value in symbolic})

    def number(self, extent: Extent) -> int:
        found = extent if isinstance(extent, int) else self.expr(extent, {})
        if isinstance(found, Const):
            found = int(found.value)
        if not isinstance(found, int):
            raise VerifyError(f"program {self.program}: the extent {found} is not decided")
        return found

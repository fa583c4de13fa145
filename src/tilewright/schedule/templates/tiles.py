"""What templates of matrix products have in common: the tiles of blocks, and how they are filled.

    tile = Tile(anchor.left, rows=block_m, depth=block_k, first=m)        shared, one of each stage
    tile.copied(stage, k, thread, threads)     asynchronous copies, zeros outside of the factor
    tile.loaded(k, …), tile.stored(stage, …)   the same through registers, for what is computed

A tile's rows lie as the factor's do in memory, so that it is filled by accesses of several
elements; which way is `Operand.by_depth`. Elements beyond the factor are 0, and extents need not be
multiples of tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from tilewright.expr.extents import ceildiv, mul
from tilewright.expr.nodes import Const, Expr, Extent, Read, Tensor, Var, as_expr, binary, select
from tilewright.nest.instructions import COPY
from tilewright.nest.nodes import Alloc, For, If, Instruction, Kind, Node, Scope, Store
from tilewright.nest.task_map import TaskMap, repeat, spatial
from tilewright.schedule.templates.anchor import Anchor, Operand

BLOCK, THREAD = Var("block"), Var("thread")
LEAST_COPY = 4
"""Bytes of the smallest asynchronous copy."""
WIDE = (8, 4, 2)
"""Columns of tiles that blocks go through together, row by row: they read the same rows of the left
factor while these are in the cache.
"""


def quotient(a: Extent, b: Extent) -> Extent:
    """`a / b` without a rest."""
    return ceildiv(a, b)


@dataclass(frozen=True)
class Tile:
    """The part of a factor that a block has in shared memory: `outer` rows (or columns) from
    `first` on by `depth`, in `stages`. It is filled by `threads`.
    """

    operand: Operand
    batch: Expr
    first: Expr
    outer: Extent
    depth: Extent
    stages: Extent
    threads: Extent
    swizzled: bool = False

    @cached_property
    def tensor(self) -> Tensor:
        """`[stage, outer, depth]`, or `[stage, depth, outer]` where memory runs along that."""
        shape = (self.outer, self.depth) if self.operand.by_depth else (self.depth, self.outer)
        return Tensor(f"{self.operand.tensor.name}.tile", (self.stages, *shape), self.operand.dtype)

    @property
    def is_copied(self) -> bool:
        """Whether asynchronous copies can fill it."""
        size = self.operand.piece * self.operand.dtype.bytes
        return not self.operand.is_computed and size >= LEAST_COPY

    @cached_property
    def pieces(self) -> TaskMap:
        """Which thread fills which piece of which row of the tile."""
        _, rows, row = self.tensor.shape
        across = quotient(row, self.operand.piece)
        times = quotient(mul(rows, across), self.threads)
        return repeat(times, 1, kind=Kind.UNROLLED) * spatial(
            quotient(self.threads, across), across
        )

    @property
    def fits(self) -> list[Expr]:
        """The conditions under which the threads share out the pieces evenly."""
        _, rows, row = self.tensor.shape
        across = quotient(row, self.operand.piece)
        threads = as_expr(self.threads)
        return [
            (threads % across).eq(0),
            (as_expr(mul(rows, across)) % threads).eq(0),
        ]

    @cached_property
    def staging(self) -> Tensor:
        """A thread's pieces on their way through registers."""
        times, _ = self.pieces.factors[0].shape
        name = f"{self.operand.tensor.name}.staged"
        return Tensor(name, (times, self.operand.piece), self.operand.dtype)

    def alloc(self, body: Node) -> Node:
        """`body` with the tile's storage."""
        zeros = tuple(as_expr(0) for _ in self.tensor.shape)
        return Alloc(self.tensor, zeros, body, Scope.SHARED, swizzled=self.swizzled)

    def private(self, body: Node) -> Node:
        """`body` with what a thread has on its way to the tile."""
        if self.is_copied:
            return body
        return Alloc(self.staging, (as_expr(0), as_expr(0)), body)

    def place(self, outer: Extent, depth: Extent) -> tuple[Expr, Expr]:
        """Where an element is within the tile of a stage."""
        found = (outer, depth) if self.operand.by_depth else (depth, outer)
        return as_expr(found[0]), as_expr(found[1])

    def element(self, row: Extent, at: Extent, k: Expr) -> Expr:
        """The factor's element for one of the tile, 0 outside of it."""
        outer, depth = (row, at) if self.operand.by_depth else (at, row)
        o, d = self.first + outer, k + depth
        _, outers, depths = self.operand.tensor.shape
        inside = binary("and", o < outers, d < depths)
        read = Read(self.operand.tensor, (self.batch, o, d))
        return select(inside, read, Const(0.0, read.dtype))

    def copied(self, stage: Expr, k: Expr) -> Node:
        """Copies of the tile at depth `k` to a stage, which arrive later."""
        operand = self.operand
        size = operand.piece * operand.dtype.bytes

        def piece(row: Extent, number: Extent) -> Node:
            at = mul(number, operand.piece)
            to = Read(self.tensor, (stage, as_expr(row), as_expr(at)))
            return Instruction(f"{COPY}{size}", to, (self.element(row, at, k),))

        return self.pieces.nest(THREAD, piece, f"{operand.tensor.name}.copy")

    def _staged(self, statement: Callable[[Extent, Expr, Extent, Expr], Node], name: str) -> Node:
        """A vector loop over each piece: `statement` of its row, its place there, its number among
        the thread's, and the place in it.
        """
        e = Var(f"{self.operand.tensor.name}.{name}.e")
        piece = self.operand.piece
        times, _ = self.pieces.factors[0].shape
        number = Var(f"{self.operand.tensor.name}.{name}.i")
        _, across = self.pieces.factors[1].shape
        down, _ = self.pieces.factors[1].shape
        row, column = number * down + THREAD // across, THREAD % across
        body = statement(row, column * piece + e, number, e)
        return For(number, times, For(e, piece, body, Kind.VECTOR), Kind.UNROLLED)

    def loaded(self, k: Expr) -> Node:
        """The thread's pieces of the tile at depth `k`, in registers."""
        return self._staged(
            lambda row, at, i, e: Store(self.staging, (as_expr(i), e), self.element(row, at, k)),
            "load",
        )

    def stored(self, stage: Expr) -> Node:
        """These in the tile of a stage."""
        return self._staged(
            lambda row, at, i, e: Store(
                self.tensor, (stage, as_expr(row), at), Read(self.staging, (as_expr(i), e))
            ),
            "store",
        )


@dataclass(frozen=True)
class Grid:
    """The blocks of a product, each with a tile of `rows` by `columns`; those of a few columns of
    tiles come row by row.
    """

    anchor: Anchor
    rows: Extent
    columns: Extent

    @property
    def extents(self) -> tuple[Extent, ...]:
        down = ceildiv(self.anchor.rows, self.rows)
        across = ceildiv(self.anchor.columns, self.columns)
        wide: Expr = as_expr(1)
        for width in reversed(WIDE):
            wide = select((as_expr(across) % width).eq(0), as_expr(width), wide)
        return self.anchor.batch, quotient(across, wide), down, wide

    variables = tuple(Var(f"block.{name}") for name in ("batch", "wide", "row", "column"))

    @property
    def batch(self) -> Expr:
        return self.variables[0]

    @property
    def first_row(self) -> Expr:
        return self.variables[2] * self.rows

    @property
    def first_column(self) -> Expr:
        _, wide, _, column = self.variables
        return (wide * self.extents[3] + column) * self.columns

    def nest(self, body: Node) -> Node:
        """The loops of the blocks."""
        for var, extent in zip(reversed(self.variables), reversed(self.extents), strict=True):
            body = For(var, extent, body, Kind.BLOCK)
        return body


def guarded(anchor: Anchor, batch: Expr, row: Expr, column: Expr, value: Expr) -> Node:
    """The store of a sum where there is one."""
    inside = binary("and", row < anchor.rows, column < anchor.columns)
    return If(inside, Store(anchor.sums, (batch, row, column), value))

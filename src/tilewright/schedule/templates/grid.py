"""The blocks of a matrix product: which tile of the sums each has, of which part of the depth.

grid = Grid(anchor, 128, 128, block_k=32, splits=1)
grid.store(row, column, value)      an element of the block's tile, where there is one
grid.nest(body)                     the loops of the blocks, then what adds up the parts
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from tilewright.expr.index.extents import ceildiv
from tilewright.expr.nodes import Const, Expr, Extent, Read, Tensor, Var, as_expr, binary, select
from tilewright.nest.gpu.task_map import digits
from tilewright.nest.nodes import For, If, Kind, Node, Store, allocated, seq
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.tiles import THREAD, quotient

ADDERS = 256  # threads of a block that adds up parts
SPLITS = (2, 4, 8, 16)
"""Into how many parts the depth is split where blocks share it; a second kernel adds them up."""
WIDE = (8, 4, 2)
"""Columns of tiles that blocks go through together, row by row: they read the same rows of the left
factor while these are in the cache.
"""


@dataclass(frozen=True)
class Grid:
    """The blocks of a product, each with a tile of `rows` by `columns` of the sums over one of
    `splits` parts of the depth, which `block_k` divides into steps. Those of a few columns of tiles
    come row by row.
    """

    anchor: Anchor
    rows: Extent
    columns: Extent
    block_k: Extent
    splits: Extent = 1

    @cached_property
    def extents(self) -> tuple[Extent, ...]:
        down, across = (ceildiv(a, b) for a, b in self._sides)
        wide: Expr = as_expr(1)
        for width in reversed(WIDE):
            wide = select((as_expr(across) % width).eq(0), as_expr(width), wide)
        return self.splits, self.anchor.batch, quotient(across, wide), down, wide

    variables = tuple(Var(f"block.{name}") for name in ("split", "batch", "wide", "row", "column"))

    def filling(self, places: int) -> list[Expr]:
        """The conditions under which the depth is split into as many parts as there are places for
        their blocks, or as it has, or as there may be.
        """
        if not self.is_split:
            return []
        down, across = (ceildiv(a, b) for a, b in self._sides)
        splits = as_expr(self.splits)
        blocks = as_expr(down) * across * self.anchor.batch * splits
        most = splits.eq(SPLITS[-1]) | (2 * splits * self.block_k > self.anchor.depth)
        return [
            (blocks <= places) & ((2 * blocks > places) | most),
            splits * self.block_k <= self.anchor.depth,
        ]

    @property
    def _sides(self) -> tuple[tuple[int, Extent], tuple[int, Extent]]:
        return (self.anchor.rows, self.rows), (self.anchor.columns, self.columns)

    @property
    def batch(self) -> Expr:
        return self.variables[1]

    @property
    def first_row(self) -> Expr:
        return self.variables[3] * self.rows

    @property
    def first_column(self) -> Expr:
        _, _, wide, _, column = self.variables
        return (wide * self.extents[4] + column) * self.columns

    @property
    def steps(self) -> Extent:
        """Tiles along the depth of one block."""
        return ceildiv(ceildiv(self.anchor.depth, self.block_k), self.splits)

    @property
    def first_step(self) -> Expr:
        return self.variables[0] * self.steps

    @property
    def parts(self) -> Tensor:
        """The sums of every part of the depth, in memory of the program's own."""
        sums = self.anchor.sums
        return Tensor(f"{sums.name}.parts", (self.splits, *sums.shape), sums.dtype)

    @property
    def is_split(self) -> bool:
        return self.splits != 1

    def store(self, row: Expr, column: Expr, value: Expr) -> Node:
        """The store of a sum, within the block's tile, where there is one."""
        at = self.batch, self.first_row + row, self.first_column + column
        inside = binary("and", at[1] < self.anchor.rows, at[2] < self.anchor.columns)
        if self.is_split:
            return If(inside, Store(self.parts, (self.variables[0], *at), value))
        return If(inside, Store(self.anchor.sums, at, value))

    def nest(self, body: Node) -> Node:
        """The loops of the blocks, and what adds up the parts."""
        for var, extent in zip(reversed(self.variables), reversed(self.extents), strict=True):
            body = For(var, extent, body, Kind.BLOCK)
        if not self.is_split:
            return body
        return allocated(self.parts, seq(body, self._added()))

    def _added(self) -> Node:
        """A thread adds up the parts of one sum, in order."""
        block, split = Var("add.block"), Var("add.split")
        total = Tensor("sums.total", (1,), self.parts.dtype)
        number, zero = block * ADDERS + THREAD, as_expr(0)
        at = tuple(map(as_expr, digits(number, self.anchor.sums.shape)))
        sums = seq(
            Store(total, (zero,), Const(0.0, total.dtype)),
            For(split, self.splits, Store(total, (zero,), Read(self.parts, (split, *at)), "sum")),
            Store(self.anchor.sums, at, Read(total, (zero,))),
        )
        count = prod(e for e in self.anchor.sums.shape if isinstance(e, int))
        one = allocated(total, If(number < count, sums))
        threads = For(THREAD, ADDERS, one, Kind.THREAD_X)
        return For(block, ceildiv(count, ADDERS), threads, Kind.BLOCK)

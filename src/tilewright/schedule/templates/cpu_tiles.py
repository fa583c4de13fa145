"""What a product on a CPU does with a tile of its sums: see `cpu_matmul`.

    tiles = Tiles(product, batch, row, column)          those of a block, by its first tile
    tiles.added(panel)(i, j)                            the loops that add a panel's products

Extents need not be multiples: elements that are not there are neither read nor written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from tilewright.expr.index.extents import ceildiv
from tilewright.expr.nodes import Const, Expr, Extent, Read, Tensor, Var, as_expr, binary
from tilewright.nest.gpu.task_map import repeat
from tilewright.nest.nodes import For, If, Kind, Node, Store
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.cpu_rows import LEFT, RIGHT, panel_of
from tilewright.schedule.templates.packing import constant_layout, packed
from tilewright.schedule.templates.template import Numbers

PAD = 16
"""Elements between packed rows: multiples of a large power of two apart, they would meet in few
sets of a cache."""
ZERO = as_expr(0)
Do: TypeAlias = Callable[[Expr, Expr], Node]
"""What is done with a row and a column, of tiles or of elements of one."""


def is_packed(n: Numbers, factor: int) -> bool:
    """Whether a factor is packed inside of the loops."""
    packs = n["packs"]
    assert isinstance(packs, int)
    return bool(packs & factor)


class Blocking:
    """The extents and storage of some numbers. Tiles are shared out evenly to blocks, the depth to
    panels.
    """

    def __init__(self, anchor: Anchor, n: Numbers) -> None:
        self.anchor, self.m, self.width = anchor, n["tile_m"], n["tile_n"]
        rows, columns = ceildiv(anchor.rows, self.m), ceildiv(anchor.columns, self.width)
        self.down, self.across = ceildiv(rows, n["down"]), ceildiv(columns, n["across"])
        self.blocks = ceildiv(rows, self.down), ceildiv(columns, self.across)
        block_k = n["block_k"]
        assert isinstance(block_k, int)
        self.panel = panel_of(anchor, block_k)
        depth = self.depth = prod(self.panel)
        self.panels = ceildiv(anchor.depth, depth)
        dtype = anchor.sums.dtype
        # of one tile, or of all tiles of a block where these wait for the next panel
        several = (1, 1) if self.panels == 1 else (self.down, self.across)
        self.sums = Tensor("sums.part", (*several, self.m, self.width), dtype)
        rowwise = (self.m, depth + PAD) if anchor.left.by_depth else (depth, self.m)
        tilewise = (self.across, depth, self.width)
        self.left = Tensor("left.packed", rowwise, dtype) if is_packed(n, LEFT) else None
        self.right = Tensor("right.packed", tilewise, dtype) if is_packed(n, RIGHT) else None
        layout = constant_layout(anchor, self.width)
        self.constant = None if layout is None else packed(layout)


@dataclass(frozen=True)
class Tiles:
    """Those of a block, counted from its first one, which is that of `row` and `column`."""

    of: Blocking
    batch: Expr
    row: Expr
    column: Expr

    @property
    def anchor(self) -> Anchor:
        return self.of.anchor

    def cleared(self, row: Expr, column: Expr) -> Node:
        """Sums of 0."""
        zero = Const(0.0, self.of.sums.dtype)

        def clear(i: Expr, j: Expr) -> Node:
            at = self._sum(row, column, i, j)
            return Store(self.of.sums, at, zero, operations=(), initial=True)

        return self._elements("clear", row, column, clear)

    def stored(self, row: Expr, column: Expr) -> Node:
        """The sums where they belong."""

        def store(i: Expr, j: Expr) -> Node:
            at = self.batch, self._row(row, i), self._column(column, j)
            return Store(self.anchor.sums, at, Read(self.of.sums, self._sum(row, column, i, j)))

        return self._elements("store", row, column, store)

    def added(self, panel: Expr) -> Do:
        """The products of a panel."""

        def add(row: Expr, column: Expr, k: Expr) -> Node:
            def element(i: Expr, j: Expr) -> Node:
                value = self._left(panel, row, i, k) * self._right(panel, column, j, k)
                return Store(self.of.sums, self._sum(row, column, i, j), value, "sum")

            return self._elements("add", row, column, element)

        return lambda row, column: self._depths("add.k", panel, lambda k: add(row, column, k))

    def packed_left(self, to: Tensor, panel: Expr, row: Expr) -> Node:
        """The left factor's rows of a tile, which lie as they do in memory."""
        i, is_row = Var("left.i"), self.anchor.left.by_depth
        read = self.anchor.left.tensor

        def store(k: Expr) -> Node:
            value = Read(read, (self.batch, self._row(row, i), self._depth(panel, k)))
            inside = self._row(row, i) < self.anchor.rows
            return If(inside, Store(to, (i, k) if is_row else (k, i), value))

        if is_row:
            return For(i, self.of.m, self._depths("left.k", panel, store, Kind.VECTOR))
        return self._depths("left.k", panel, lambda k: For(i, self.of.m, store(k), Kind.VECTOR))

    def packed_right(self, to: Tensor, panel: Expr) -> Node:
        """The right factor's columns of all tiles."""
        column, j = Var("right.tile"), Var("right.j")
        read = self.anchor.right.tensor

        def store(k: Expr) -> Node:
            value = Read(read, (self.batch, self._column(column, j), self._depth(panel, k)))
            inside = self._column(column, j) < self.anchor.columns
            return For(j, self.of.width, If(inside, Store(to, (column, k, j), value)), Kind.VECTOR)

        return For(column, self.of.across, self._depths("right.k", panel, store))

    # ---- elements -----------------------------------------------------------------------------

    def _left(self, panel: Expr, row: Expr, i: Expr, k: Expr) -> Expr:
        if self.of.left is not None:
            return Read(self.of.left, (i, k) if self.anchor.left.by_depth else (k, i))
        at = self.batch, self._row(row, i), self._depth(panel, k)
        return Read(self.anchor.left.tensor, at)

    def _right(self, panel: Expr, column: Expr, j: Expr, k: Expr) -> Expr:
        depth = self._depth(panel, k)
        if self.of.constant is not None:
            return Read(self.of.constant, (self.batch, self.column + column, depth, j))
        if self.of.right is not None:
            return Read(self.of.right, (column, k, j))
        return Read(self.anchor.right.tensor, (self.batch, self._column(column, j), depth))

    def _row(self, tile: Expr, i: Expr) -> Expr:
        return (self.row + tile) * self.of.m + i

    def _column(self, tile: Expr, j: Expr) -> Expr:
        return (self.column + tile) * self.of.width + j

    def _depth(self, panel: Expr, k: Expr) -> Expr:
        return panel * self.of.depth + k

    def _sum(self, row: Expr, column: Expr, i: Expr, j: Expr) -> tuple[Expr, ...]:
        return (ZERO, ZERO, i, j) if self.of.panels == 1 else (row, column, i, j)

    # ---- loops --------------------------------------------------------------------------------

    def _elements(self, name: str, row: Expr, column: Expr, do: Do) -> Node:
        """Those of a tile, in rows of vectors."""
        i, j = Var(f"{name}.i"), Var(f"{name}.j")
        rows, columns = self.anchor.rows, self.anchor.columns
        inside = binary("and", self._row(row, i) < rows, self._column(column, j) < columns)
        line = For(j, self.of.width, If(inside, do(i, j)), Kind.VECTOR)
        return For(i, self.of.m, line, Kind.UNROLLED)

    def _depths(
        self, name: str, panel: Expr, do: Callable[[Expr], Node], last: Kind = Kind.SERIAL
    ) -> Node:
        """A panel's depth, a loop for each of its axes: where one is a window's, an index that is
        computed of the whole would not be linear.
        """
        *outer, extent = self.of.panel
        inner = Var(name)

        def line(*digits: Extent) -> Node:
            first = ZERO
            for digit, size in zip(digits, (*outer, 1), strict=True):
                first = first * size + digit
            k = first * extent + inner
            inside = self._depth(panel, k) < self.anchor.depth
            return For(inner, extent, If(inside, do(k)), last)

        return repeat(*outer, 1).nest(ZERO, line, f"{name}.")

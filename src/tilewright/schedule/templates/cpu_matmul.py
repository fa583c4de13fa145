"""Matrix products on CPUs: tiles in registers, panels of the depth, packed factors.

    for block of rows, of columns (parallel)
      for panel of the depth                        at most block_k deep; 0: there is one
        pack the right factor of the block          [tile, depth, column]
        for tile of rows
          pack the left factor of the tile          [row, depth]
          for tile of columns
            for k: sums[tile_m, tile_n] += left * right            in registers

A constant right factor is packed when the function is made. What computes the elements of a factor
does that once an element and block, where it is packed; windows of a convolution are gathered so.
Workers are the blocks (Hidet, ASPLOS 2023, section 5.1), panels and packing are those of Goto and
van de Geijn (Anatomy of High-Performance Matrix Multiplication, 2008).
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.expr.contraction.groups import alike
from tilewright.expr.dtypes import BOOL
from tilewright.expr.nodes import Const, Expr, Extent, Var, as_expr
from tilewright.nest.gpu.task_map import repeat
from tilewright.nest.nodes import For, Kind, Node, allocated, seq
from tilewright.schedule.lower import Layout
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.cpu_rows import OPTIONS, RIGHT, rows_of
from tilewright.schedule.templates.cpu_tiles import ZERO, Blocking, Do, Tiles, is_packed
from tilewright.schedule.templates.packing import constant_layout
from tilewright.schedule.templates.template import Numbers, Template


def misfit(anchor: Anchor) -> str:
    """Why a product of float32 is none of this template."""
    if anchor.columns == 1 or (anchor.rows == 1 and anchor.batch > 1):
        return "it is a product of vectors"
    return ""


def legal(anchor: Anchor, n: Numbers) -> Sequence[Expr]:
    """What is packed when the function is made is not packed again."""
    return [Const(not (is_packed(n, RIGHT) and layouts(anchor, n)), BOOL)]


def layouts(anchor: Anchor, n: Numbers) -> dict[str, Layout]:
    """How the right factor is packed, if it is a constant."""
    found = constant_layout(anchor, n["tile_n"])
    return {} if found is None else {found.source.name: found}


def body(anchor: Anchor, n: Numbers) -> Node:
    """Blocks in parallel, one a worker."""
    product = Blocking(anchor, n)
    workers = repeat(anchor.batch, *product.blocks, kind=Kind.PARALLEL)

    def block(batch: Extent, row: Extent, column: Extent) -> Node:
        first = as_expr(row) * product.down, as_expr(column) * product.across
        return _block(product, Tiles(product, as_expr(batch), *first))

    return workers.nest(ZERO, block, "block.")


def _block(product: Blocking, tiles: Tiles) -> Node:
    """All panels of all tiles of a block."""
    if product.panels == 1:

        def tile(row: Expr, column: Expr) -> Node:
            whole = (tiles.cleared, tiles.added(ZERO), tiles.stored)
            return allocated(product.sums, seq(*(do(row, column) for do in whole)))

        return _panel(product, tiles, ZERO, tile)
    panel = Var("panel")
    clear, store = _tiles(product, tiles.cleared, "clear."), _tiles(product, tiles.stored, "store.")
    every = For(panel, product.panels, _panel(product, tiles, panel, tiles.added(panel)))
    return allocated(product.sums, seq(clear, every, store))


def _panel(product: Blocking, tiles: Tiles, panel: Expr, do: Do) -> Node:
    """What is done with each tile in one panel, and what is packed for that."""
    row = Var("tile.row")
    across = repeat(product.across)
    inner = across.nest(ZERO, lambda column: do(row, as_expr(column)), "tile.column.")
    if product.left is not None:
        inner = seq(tiles.packed_left(product.left, panel, row), inner)
        inner = allocated(product.left, inner)
    inner = For(row, product.down, inner)
    if product.right is None:
        return inner
    return allocated(product.right, seq(tiles.packed_right(product.right, panel), inner))


def _tiles(product: Blocking, do: Do, name: str) -> Node:
    """What is done with each tile of a block."""
    every = repeat(product.down, product.across)
    return every.nest(ZERO, lambda i, j: do(as_expr(i), as_expr(j)), name)


REGISTERS = Template(
    "matmul.registers.1", OPTIONS, legal, rows_of, body, alike(["float32"]), misfit, layouts,
    ("block_k", "packs"), plain=True,
)  # fmt: skip

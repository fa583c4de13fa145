"""Matrix products on the ordinary units of a GPU, with double buffering through registers.

    spatial(warps) * repeat(rows, columns) * spatial(4, 8)        of each thread of a block
    spatial(warps) * repeat(rows / 4, columns / 4) * spatial(4, 8) * repeat(4, 4)

The next tile is loaded to registers before the products of the one at hand, and stored in the other
half of shared memory after them: one barrier a tile (Hidet, ASPLOS 2023, figures 5 and 8). A factor
whose memory runs along the depth gives four steps of it at once; its rows (or columns) are then
those of neighbouring threads, else each thread has four that lie side by side, so that shared
memory is read by pieces which meet in no bank. Every factor that is a float will do.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.expr.contraction.groups import SUMMED_IN
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Cast, Const, Expr, Extent, Read, Tensor, Var, as_expr
from tilewright.nest.gpu.task_map import digits
from tilewright.nest.instructions import WARP
from tilewright.nest.nodes import For, Kind, Node, Store, seq
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.grid import Grid
from tilewright.schedule.templates.product import Product, every, in_blocks
from tilewright.schedule.templates.template import Numbers
from tilewright.schedule.templates.tiles import THREAD, Tile, quotient
from tilewright.target import Target

LANES = {"m": 4, "n": 8}  # threads of a warp along each side of its tile
QUAD = 4  # elements of one access of shared memory
STAGES = 2

OPTIONS = {
    "block_m": (32, 64, 128),
    "block_n": (32, 64, 128),
    "block_k": (8, 16, 32),
    "thread_m": (4, 8),
    "thread_n": (4, 8),
}


def legal(anchor: Anchor, n: Numbers) -> Sequence[Expr]:
    """Whole tiles of warps, and pieces for all threads."""
    return _product(anchor, n).whole(*(mul(n[f"thread_{d}"], LANES[d]) for d in "mn"))


def promising(anchor: Anchor, n: Numbers, target: Target) -> Sequence[Expr]:
    """2 to 8 warps; the depth is split where blocks are too few, two for each multiprocessor."""
    product = _product(anchor, n)
    threads = as_expr(product.threads)
    return [
        (threads >= 2 * WARP) & (threads <= 8 * WARP),
        product.in_registers(mul(n["thread_m"], n["thread_n"])),
        *product.grid.filling(2 * target.cores),
    ]


def _product(anchor: Anchor, n: Numbers) -> Product:
    down, across = (quotient(n[f"block_{d}"], n[f"thread_{d}"]) for d in "mn")
    return Product(anchor, n, mul(down, across), STAGES, copies=False)


def body(anchor: Anchor, n: Numbers) -> Node:
    """See the module."""
    product = _product(anchor, n)
    warps = [quotient(n[f"block_{d}"], mul(n[f"thread_{d}"], LANES[d])) for d in "mn"]
    places = zip(
        digits(THREAD // WARP, warps), digits(THREAD % WARP, list(LANES.values())), strict=True
    )
    down, across = (
        Side(tile, n[f"thread_{d}"], LANES[d], as_expr(warp), as_expr(lane))
        for d, tile, (warp, lane) in zip("mn", (product.left, product.right), places, strict=True)
    )
    square = down.count, across.count
    sums = Tensor("sums.part", square, FLOAT32)

    def used(stage: Expr) -> Node:
        part = Var("part")

        def product(e: Expr, i: Expr, j: Expr) -> Node:
            return Store(sums, (i, j), down.value(i, e) * across.value(j, e), "sum")

        loads = (side.loaded(stage, part * QUAD) for side in (down, across))
        step = seq(*loads, every((QUAD, *square), "use", product))
        return For(part, quotient(n["block_k"], QUAD), step)

    return product.nest(
        (sums, down.part, across.part),
        every(square, "clear", lambda *at: Store(sums, at, Const(0.0, FLOAT32))),
        used,
        _stored(product.grid, down, across, sums),
    )


class Side:
    """The rows (or columns) of a thread, and what it has of them in registers."""

    def __init__(self, tile: Tile, count: Extent, lanes: int, warp: Expr, lane: Expr) -> None:
        self.tile, self.count = tile, count
        self.part = Tensor(f"{tile.name}.part", (count, QUAD), tile.operand.dtype)
        self._first = warp * mul(count, lanes)
        self._lanes, self._lane = lanes, lane

    @property
    def run(self) -> int:
        """How many lie side by side."""
        return 1 if self.tile.operand.by_depth else QUAD

    def at(self, number: Expr, e: Expr) -> Expr:
        """The place in the block's tile of the `e`-th of a run."""
        return self._first + (number * self._lanes + self._lane) * self.run + e

    def loaded(self, stage: Expr, depth: Expr) -> Node:
        """Four steps of the depth from the tile of a stage."""
        i, e = Var(f"{self.tile.name}.use.i"), Var(f"{self.tile.name}.use.e")
        zero = as_expr(0)
        if self.tile.operand.by_depth:
            place = self.tile.place(self.at(i, zero), depth + e)
            store = Store(self.part, (i, e), Read(self.tile.tensor, (stage, *place)))
            return For(i, self.count, For(e, QUAD, store, Kind.VECTOR), Kind.UNROLLED)
        k = Var(f"{self.tile.name}.use.k")
        place = self.tile.place(self.at(i, e), depth + k)
        store = Store(self.part, (i * QUAD + e, k), Read(self.tile.tensor, (stage, *place)))
        inner = For(i, quotient(self.count, QUAD), For(e, QUAD, store, Kind.VECTOR), Kind.UNROLLED)
        return For(k, QUAD, inner, Kind.UNROLLED)

    def value(self, number: Expr, step: Expr) -> Expr:
        """An element of these, in float32."""
        return Cast(FLOAT32, Read(self.part, (number, step)))


def _stored(grid: Grid, down: Side, across: Side, sums: Tensor) -> Node:
    """A thread's sums."""
    column = Var("store.column")

    def run(i: Expr, row: Expr, j: Expr) -> Node:
        value = Read(sums, (i * down.run + row, j * across.run + column))
        store = grid.store(down.at(i, row), across.at(j, column), value)
        return For(column, across.run, store, Kind.VECTOR)

    runs = quotient(down.count, down.run), down.run, quotient(across.count, across.run)
    return every(runs, "store", run)


THREADS, SPLIT_THREADS = in_blocks(
    "threads", OPTIONS, legal, promising, body, SUMMED_IN, plain=True
)

"""Matrix products by groups of four warps, as Hopper has them: `wgmma` on tiles in shared memory.

    for k:                                  of tiles as deep as 64 elements, 128 bytes
      wait for the copy of tile k           a fence, a barrier
      begin the products of tile k          by the whole group; sums stay in registers
      copy tile k + stages - 2              to where tile k - 2 was
      wait for the products of tile k - 1

Neither factor passes through registers, and the next tile's products begin while those of the one
before end. Tiles are filled as those of `tensor_cores`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Const, Expr, Read, Tensor, Var, as_expr
from tilewright.nest.instructions import GROUP, GROUP_COMMIT, GROUP_FENCE, WARP, WGMMA
from tilewright.nest.nodes import For, Instruction, Kind, Node, Store, seq
from tilewright.schedule.templates import tensor_cores
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.grid import Grid
from tilewright.schedule.templates.product import Product, every, in_blocks
from tilewright.schedule.templates.template import Numbers
from tilewright.schedule.templates.tiles import THREAD, Tile, quotient
from tilewright.target import Target

M, N, K = 64, 128, 16  # of one wgmma
SUMS = N // 2  # of these, of a thread
MOST_SUMS = 128

OPTIONS = {
    "block_m": (64, 128, 256),
    "block_n": (128, 256),
    "block_k": (64,),
    "groups": (1, 2),
    "stages": (3, 4, 5, 6),
}
"""Of stages the estimate sees the shared memory that they take, not the latency that they hide: of
rows that differ in nothing else it prefers the fewest, or takes them for equal, and then these come
first, too. A search measures all.
"""


def legal(anchor: Anchor, n: Numbers) -> Sequence[Expr]:
    """Whole tiles of groups, and pieces for all threads."""
    return product_of(anchor, n).whole(mul(n["groups"], M), N)


def promising(anchor: Anchor, n: Numbers, target: Target) -> Sequence[Expr]:
    """As many sums as registers hold, and tiles that shared memory does."""
    product = product_of(anchor, n)
    sums = as_expr(_down(n)) * quotient(n["block_n"], N) * SUMS
    return [
        sums <= MOST_SUMS,
        product.in_registers(sums),
        product.shared_bytes <= tensor_cores.MOST_SHARED,
        *product.grid.filling(target.cores),
    ]


def product_of(anchor: Anchor, n: Numbers) -> Product:
    """Its blocks and tiles."""
    return Product(anchor, n, mul(n["groups"], GROUP), n["stages"], copies=True, windows=True)


def _down(n: Numbers) -> Expr:
    """How many wgmma are above each other in the tile of a group."""
    return as_expr(quotient(n["block_m"], mul(n["groups"], M)))


def body(anchor: Anchor, n: Numbers) -> Node:
    """See the module."""
    product, sums = product_of(anchor, n), GroupSums(n)
    return product.nest(
        (sums.tensor,),
        sums.cleared(),
        lambda stage: sums.multiplied(stage, product.left, product.right),
        sums.stored(product.grid),
    )


class GroupSums:
    """The sums of a group, of which each thread has its own in registers."""

    def __init__(self, n: Numbers) -> None:
        self.down, self.across = _down(n), quotient(n["block_n"], N)
        self.parts = quotient(n["block_k"], K)
        self.tensor = Tensor("sums.part", (self.down, self.across, SUMS), FLOAT32)
        self.first_row = THREAD // GROUP * (self.down * M)

    def cleared(self) -> Node:
        """Sums of 0."""
        zero = Const(0.0, FLOAT32)
        return every(self.tensor.shape, "clear", lambda *at: Store(self.tensor, at, zero))

    def multiplied(self, stage: Expr, left: Tile, right: Tile) -> Node:
        """The products of one stage, which go on until they are waited for."""
        majors = "".join("k" if t.operand.by_depth else "m" for t in (left, right))

        def products(part: Expr, i: Expr, j: Expr) -> Node:
            a = _window(left, stage, self.first_row + i * M, part * K)
            b = _window(right, stage, j * N, part * K)
            name = f"{WGMMA}m{M}n{N}k{K}.{majors}"
            return Instruction(name, Read(self.tensor, (i, j, as_expr(0))), (a, b))

        times = self.parts, self.down, self.across
        return seq(
            Instruction(GROUP_FENCE), every(times, "product", products), Instruction(GROUP_COMMIT)
        )

    def stored(self, grid: Grid) -> Node:
        """The sums, each by the thread that has it."""
        e, lane, warp = Var("store.e"), THREAD % WARP, THREAD // WARP % (GROUP // WARP)

        def pair(i: Expr, j: Expr, c: Expr, half: Expr) -> Node:
            row = self.first_row + i * M + warp * 16 + half * 8 + lane // 4
            column = j * N + c * 8 + lane % 4 * 2 + e
            store = grid.store(row, column, Read(self.tensor, (i, j, c * 4 + half * 2 + e)))
            return For(e, 2, store, Kind.VECTOR)

        return every((self.down, self.across, N // 8, 2), "store", pair)


def _window(tile: Tile, stage: Expr, outer: Expr, depth: Expr) -> Expr:
    return Read(tile.tensor, (stage, *tile.place(outer, depth)))


WARPGROUPS, SPLIT_WARPGROUPS = in_blocks(
    "warpgroups", OPTIONS, legal, promising, body, tensor_cores.FACTORS
)

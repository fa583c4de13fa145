"""Matrix products on tensor cores: `mma.sync` of warps, tiles in a ring of stages.

    for k:                                  of tiles as deep as block_k
      wait for the copy of tile k           issued stages - 1 iterations ago
      barrier                               and everybody is done with tile k - 1
      copy tile k + stages - 1              to where that was
      ldmatrix, mma                         fragments of tile k, in registers

Rows of tiles are swizzled, so that neither copies nor fragments meet in a bank. A factor that is
computed, or has no pieces of four bytes, comes through registers (`product.pipelined`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.expr.contraction.groups import alike
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Const, Expr, Read, Tensor, Var, as_expr
from tilewright.nest.gpu.task_map import digits
from tilewright.nest.instructions import HALVES, WARP
from tilewright.nest.nodes import For, Instruction, Kind, Node, Store, seq
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.grid import Grid
from tilewright.schedule.templates.product import Product, every, in_blocks
from tilewright.schedule.templates.template import Numbers
from tilewright.schedule.templates.tiles import THREAD, Tile, quotient
from tilewright.target import Target

M, N, K = 16, 8, 16  # of one mma
PAIR = 2  # of right fragments: one ldmatrix loads as many
MOST_SUMS = 128  # of a thread
FACTORS = alike(HALVES)
LEAST_SHARED, MOST_SHARED = 24 * 1024, 227 * 1024

OPTIONS = {
    "block_m": (64, 128, 256),
    "block_n": (64, 128, 256),
    "block_k": (32, 64),
    "warp_m": (32, 64),
    "warp_n": (32, 64, 128),
    "stages": (2, 3, 4, 5),
}


def legal(anchor: Anchor, n: Numbers) -> Sequence[Expr]:
    """Whole tiles of warps, and pieces for all threads."""
    return _product(anchor, n).whole(n["warp_m"], n["warp_n"])


def promising(anchor: Anchor, n: Numbers, target: Target) -> Sequence[Expr]:
    """4 to 8 warps, as many sums as registers hold, tiles that hide the latency of memory; the
    depth is split where blocks are too few, one for each multiprocessor.
    """
    product = _product(anchor, n)
    threads, size = as_expr(product.threads), product.shared_bytes
    staged = as_expr(n["stages"]) * n["block_k"]
    return [
        (threads >= 4 * WARP) & (threads <= 8 * WARP),
        as_expr(n["warp_m"]) * n["warp_n"] <= MOST_SUMS * WARP,
        product.in_registers(quotient(mul(n["warp_m"], n["warp_n"]), WARP)),
        as_expr(n["warp_m"]) + n["warp_n"] > 64,
        (staged >= 96) & (staged <= 192),
        (size >= LEAST_SHARED) & (size <= MOST_SHARED),
        *product.grid.filling(target.cores),
    ]


def _product(anchor: Anchor, n: Numbers) -> Product:
    down, across = (as_expr(quotient(n[f"block_{d}"], n[f"warp_{d}"])) for d in "mn")
    return Product(anchor, n, down * across * WARP, n["stages"], copies=True)


def body(anchor: Anchor, n: Numbers) -> Node:
    """See the module."""
    product, fragments = _product(anchor, n), Fragments(anchor, n)
    return product.nest(
        (fragments.left, fragments.right, fragments.sums),
        fragments.cleared(),
        lambda stage: fragments.multiplied(stage, product.left, product.right),
        fragments.stored(product.grid),
    )


class Fragments:
    """What a warp has in registers: its sums, and fragments of both factors for one step of K."""

    def __init__(self, anchor: Anchor, n: Numbers) -> None:
        self.n = n
        self.down, self.across = quotient(n["warp_m"], M), quotient(n["warp_n"], N)
        self.pairs = quotient(self.across, PAIR)
        self.sums = Tensor("sums.part", (self.down, self.across, 4), FLOAT32)
        self.left = Tensor("left.part", (self.down, 8), anchor.left.dtype)
        self.right = Tensor("right.part", (self.pairs, 8), anchor.right.dtype)
        self.lane = THREAD % WARP
        # what a warp's tile begins at, in the block's
        warps = [quotient(n[f"block_{d}"], n[f"warp_{d}"]) for d in "mn"]
        down, across = digits(THREAD // WARP, warps)
        self.row, self.column = (as_expr(mul(down, n["warp_m"])), as_expr(mul(across, n["warp_n"])))

    def cleared(self) -> Node:
        """Sums of 0."""
        zero = Const(0.0, FLOAT32)
        return every(self.sums.shape, "clear", lambda *at: Store(self.sums, at, zero))

    def multiplied(self, stage: Expr, left: Tile, right: Tile) -> Node:
        """The products of one stage: fragments of K elements of the depth at a time."""
        part, i, j, lane = Var("part"), Var("i"), Var("j"), self.lane
        row, column, depth = self.row + i * M, self.column + j * (PAIR * N), part * K
        # ldmatrix.x4: lane 8 q + r has the place of row r of matrix q
        odd, high, rest = lane // 8 % 2 * 8, lane // 16 * 8, lane % 8
        a = left.place(row + lane % 16, depth + high)
        if not left.operand.by_depth:
            a = left.place(row + odd, depth + high + rest)
        b = right.place(column + high + rest, depth + odd)
        if not right.operand.by_depth:
            b = right.place(column + high, depth + lane % 16)
        zero = as_expr(0)

        def product(i: Expr, j: Expr) -> Node:
            right = Read(self.right, (j // PAIR, j % PAIR * 4))
            sums = Read(self.sums, (i, j, zero))
            return Instruction("mma.m16n8k16", sums, (Read(self.left, (i, zero)), right))

        steps = seq(
            For(i, self.down, _loaded(self.left, i, left, (stage, *a)), Kind.UNROLLED),
            For(j, self.pairs, _loaded(self.right, j, right, (stage, *b)), Kind.UNROLLED),
            every((self.down, self.across), "product", product),
        )
        return For(part, quotient(self.n["block_k"], K), steps, Kind.UNROLLED)

    def stored(self, grid: Grid) -> Node:
        """The sums, each by the thread that has it."""
        e = Var("store.e")

        def pair(i: Expr, j: Expr, half: Expr) -> Node:
            row = self.row + i * M + half * 8 + self.lane // 4
            column = self.column + j * N + self.lane % 4 * 2 + e
            store = grid.store(row, column, Read(self.sums, (i, j, half * 2 + e)))
            return For(e, 2, store, Kind.VECTOR)

        return every((self.down, self.across, 2), "store", pair)


def _loaded(fragment: Tensor, number: Expr, tile: Tile, at: tuple[Expr, ...]) -> Node:
    """A fragment of a tile, whose row each lane points to."""
    name = "ldmatrix.x4" if tile.operand.by_depth else "ldmatrix.x4.trans"
    return Instruction(name, Read(fragment, (number, as_expr(0))), (Read(tile.tensor, at),))


TENSOR_CORES, SPLIT_TENSOR_CORES = in_blocks(
    "tensor_cores", OPTIONS, legal, promising, body, FACTORS
)

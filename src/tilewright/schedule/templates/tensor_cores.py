"""Matrix products on tensor cores: `mma.sync` of warps, tiles in a ring of stages.

    for k:                                  of tiles as deep as block_k
      wait for the copy of tile k           issued stages - 1 iterations ago
      barrier                               and everybody is done with tile k - 1
      copy tile k + stages - 1              to where that was
      ldmatrix, mma                         fragments of tile k, in registers

Rows of tiles are swizzled, so that neither copies nor fragments meet in a bank. A factor that is
computed (or has no pieces of four bytes) comes through registers: it is loaded before the products
of the tile before and stored after them (Hidet, ASPLOS 2023, figure 5).
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.extents import ceildiv, mul
from tilewright.expr.nodes import Const, Expr, Extent, Read, Tensor, Var, as_expr
from tilewright.nest.instructions import COMMIT, HALVES, WAIT, WARP
from tilewright.nest.nodes import Alloc, Barrier, For, If, Instruction, Kind, Node, Store, seq
from tilewright.nest.task_map import digits, repeat
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.template import Numbers, Template
from tilewright.schedule.templates.tiles import THREAD, Grid, Tile, guarded, quotient

M, N, K = 16, 8, 16  # of one mma
PAIR = 2  # of right fragments: one ldmatrix loads as many
MOST_SUMS = 128  # of a thread
LEAST_SHARED, MOST_SHARED = 24 * 1024, 227 * 1024

OPTIONS = {
    "block_m": (64, 128, 256),
    "block_n": (64, 128, 256),
    "block_k": (32, 64),
    "warp_m": (32, 64),
    "warp_n": (32, 64, 128),
    "stages": (2, 3, 4, 5),
}


def refusal(anchor: Anchor) -> str:
    """Why a product is none of tensor cores."""
    dtypes = {anchor.left.dtype.name, anchor.right.dtype.name}
    if len(dtypes) > 1 or not dtypes <= set(HALVES):
        return f"factors are {' and '.join(sorted(dtypes))}, not both float16 or both bfloat16"
    return ""


def legal(anchor: Anchor, n: Numbers) -> Sequence[Expr]:
    """Whole tiles of warps, and pieces for all threads."""
    whole = [(as_expr(n[f"block_{d}"]) % n[f"warp_{d}"]).eq(0) for d in "mn"]
    return [*whole, *(condition for tile in _tiles(anchor, n) for condition in tile.fits)]


def promising(anchor: Anchor, n: Numbers) -> Sequence[Expr]:
    """4 to 8 warps, as many sums as registers hold, tiles that hide the latency of memory."""
    warps = _warps(n)
    staged = as_expr(n["stages"]) * n["block_k"]
    size = staged * (as_expr(n["block_m"]) + n["block_n"]) * anchor.left.dtype.bytes
    return [
        (warps >= 4) & (warps <= 8),
        as_expr(n["warp_m"]) * n["warp_n"] <= MOST_SUMS * WARP,
        as_expr(n["warp_m"]) + n["warp_n"] > 64,
        (staged >= 96) & (staged <= 192),
        (size >= LEAST_SHARED) & (size <= MOST_SHARED),
    ]


def _warps(n: Numbers) -> Expr:
    down, across = (as_expr(quotient(n[f"block_{d}"], n[f"warp_{d}"])) for d in "mn")
    return down * across


def _tiles(anchor: Anchor, n: Numbers) -> tuple[Tile, Tile]:
    grid = Grid(anchor, n["block_m"], n["block_n"])
    common = n["block_k"], n["stages"], _warps(n) * WARP, True
    return (
        Tile(anchor.left, grid.batch, grid.first_row, n["block_m"], *common),
        Tile(anchor.right, grid.batch, grid.first_column, n["block_n"], *common),
    )


def body(anchor: Anchor, n: Numbers) -> Node:
    """See the module."""
    grid, (left, right) = Grid(anchor, n["block_m"], n["block_n"]), _tiles(anchor, n)
    fragments = Fragments(anchor, n)
    k, stages = Var("k"), as_expr(n["stages"])
    ahead = k + stages - 1
    stage, later = ahead % stages, ahead * n["block_k"]
    steps = ceildiv(anchor.depth, n["block_k"])
    both = (left, right)
    copies = [t.copied(stage, later) for t in both if t.is_copied]
    first = Var("first")
    filled = [
        t.copied(first, first * n["block_k"])
        if t.is_copied
        else seq(t.loaded(first * n["block_k"]), t.stored(first))
        for t in both
    ]
    inner = seq(
        Instruction(WAIT, None, (stages - 2,)),
        Barrier(),
        If(ahead < steps, seq(*copies)) if copies else seq(),
        Instruction(COMMIT),
        *(t.loaded(later) for t in both if not t.is_copied),
        fragments.multiplied(k % stages, left, right),
        *(t.stored(stage) for t in both if not t.is_copied),
    )
    thread: Node = seq(
        fragments.cleared(),
        For(first, stages - 1, seq(*filled, Instruction(COMMIT))),
        For(k, steps, inner),
        fragments.stored(grid),
    )
    for tile in both:
        thread = tile.private(thread)
    threads = For(THREAD, _warps(n) * WARP, fragments.alloc(thread), Kind.THREAD_X)
    return grid.nest(left.alloc(right.alloc(threads)))


class Fragments:
    """What a warp has in registers: its sums, and fragments of both factors for one step of K."""

    def __init__(self, anchor: Anchor, n: Numbers) -> None:
        self.anchor, self.n = anchor, n
        self.down, self.across = quotient(n["warp_m"], M), quotient(n["warp_n"], N)
        pairs = quotient(self.across, PAIR)
        self.sums = Tensor("sums.part", (self.down, self.across, 4), FLOAT32)
        self.left = Tensor("left.part", (self.down, 8), anchor.left.dtype)
        self.right = Tensor("right.part", (pairs, 8), anchor.right.dtype)
        self.lane = THREAD % WARP
        # what a warp's tile begins at, in the block's
        warps = [quotient(n[f"block_{d}"], n[f"warp_{d}"]) for d in "mn"]
        down, across = digits(THREAD // WARP, warps)
        self.row, self.column = (as_expr(mul(down, n["warp_m"])), as_expr(mul(across, n["warp_n"])))

    def alloc(self, node: Node) -> Node:
        """`node` with their storage."""
        for t in (self.left, self.right, self.sums):
            node = Alloc(t, tuple(as_expr(0) for _ in t.shape), node)
        return node

    def cleared(self) -> Node:
        """Sums of 0."""
        every = repeat(*self.sums.shape, kind=Kind.UNROLLED)
        return every.nest(
            as_expr(0),
            lambda *at: Store(self.sums, tuple(map(as_expr, at)), Const(0.0, FLOAT32)),
            "clear",
        )

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
        pairs = quotient(self.across, PAIR)
        loads = [
            For(i, self.down, _loaded(self.left, i, left, (stage, *a)), Kind.UNROLLED),
            For(j, pairs, _loaded(self.right, j, right, (stage, *b)), Kind.UNROLLED),
        ]
        every = repeat(self.down, self.across, kind=Kind.UNROLLED)
        products = every.nest(as_expr(0), self._product, "product")
        return For(part, quotient(self.n["block_k"], K), seq(*loads, products), Kind.UNROLLED)

    def _product(self, i: Extent, j: Extent) -> Node:
        i, j, zero = as_expr(i), as_expr(j), as_expr(0)
        right = Read(self.right, (j // PAIR, j % PAIR * 4))
        return Instruction(
            "mma.m16n8k16", Read(self.sums, (i, j, zero)), (Read(self.left, (i, zero)), right)
        )

    def stored(self, grid: Grid) -> Node:
        """The sums, each by the thread that has it."""
        row, column = grid.first_row + self.row, grid.first_column + self.column
        i, j, half, e = (Var(f"store.{name}") for name in ("i", "j", "half", "e"))
        inner_row, inner_column = self.lane // 4, self.lane % 4 * 2
        store = guarded(
            self.anchor,
            grid.batch,
            row + i * M + half * 8 + inner_row,
            column + j * N + inner_column + e,
            Read(self.sums, (i, j, half * 2 + e)),
        )
        node: Node = For(e, 2, store, Kind.VECTOR)
        for var, extent in ((half, 2), (j, self.across), (i, self.down)):
            node = For(var, extent, node, Kind.UNROLLED)
        return node


def _loaded(fragment: Tensor, number: Expr, tile: Tile, at: tuple[Expr, ...]) -> Node:
    """A fragment of a tile, whose row each lane points to."""
    name = "ldmatrix.x4" if tile.operand.by_depth else "ldmatrix.x4.trans"
    return Instruction(name, Read(fragment, (number, as_expr(0))), (Read(tile.tensor, at),))


TENSOR_CORES = Template("matmul.tensor_cores.1", OPTIONS, legal, promising, body, refusal)

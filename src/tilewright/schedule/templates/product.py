"""What templates of matrix products on GPUs have in common: a grid of blocks, and both tiles.

    product = Product(anchor, numbers, threads, stages=2, copies=False)
    product.nest(registers, first, used, last)

`numbers` has block_m, block_n, block_k, and split where blocks share the depth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.expr.extents import mul
from tilewright.expr.nodes import Expr, Extent, Tensor, Var, as_expr
from tilewright.nest.instructions import COMMIT, WAIT
from tilewright.nest.nodes import EMPTY, Alloc, Barrier, For, If, Instruction, Kind, Node, seq
from tilewright.nest.task_map import repeat
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.grid import Grid
from tilewright.schedule.templates.template import Numbers
from tilewright.schedule.templates.tiles import THREAD, Tile


def vector(anchor: Anchor) -> str:
    """Why a product of a matrix and a vector is none of tiles; "" where both are matrices."""
    if min(anchor.rows, anchor.columns) > 1:
        return ""
    return f"it has {anchor.rows} rows and {anchor.columns} columns for each of {anchor.batch}"


class Product:
    """A product by blocks of so many `threads`, whose tiles have `stages` and come by `copies`, if
    these can do it.
    """

    def __init__(
        self, anchor: Anchor, n: Numbers, threads: Extent, stages: Extent, copies: bool
    ) -> None:
        self.stages, self.threads = stages, threads
        self.grid = Grid(anchor, n["block_m"], n["block_n"], n["block_k"], n.get("split", 1))
        common = n["block_k"], stages, threads, copies
        grid = self.grid
        self.left = Tile(anchor.left, grid.batch, grid.first_row, grid.rows, *common)
        self.right = Tile(anchor.right, grid.batch, grid.first_column, grid.columns, *common)

    def whole(self, rows: Extent, columns: Extent) -> list[Expr]:
        """The conditions under which warps of so many rows and columns make up a block, and its
        threads share out the tiles.
        """
        pairs = (self.grid.rows, rows), (self.grid.columns, columns)
        warps = [(as_expr(a) % b).eq(0) for a, b in pairs]
        return [*warps, *self.left.shared_out, *self.right.shared_out]

    @property
    def shared_bytes(self) -> Expr:
        """What both tiles take."""
        size = as_expr(0)
        for tile in (self.left, self.right):
            _, rows, row = tile.tensor.shape
            size = size + mul(mul(rows, row), tile.operand.dtype.bytes)
        return size * self.stages

    def nest(
        self, registers: Sequence[Tensor], first: Node, used: Callable[[Expr], Node], last: Node
    ) -> Node:
        """The nest of a thread that has `registers`, does `first`, then `used` with every stage,
        then `last`.
        """
        grid, tiles = self.grid, (self.left, self.right)
        steps = pipelined(tiles, self.stages, grid.steps, grid.first_step, used)
        thread = self.left.private(self.right.private(seq(first, steps, last)))
        for tensor in registers:
            thread = Alloc(tensor, tuple(as_expr(0) for _ in tensor.shape), thread)
        work: Node = For(THREAD, self.threads, thread, Kind.THREAD_X)
        return grid.nest(self.left.alloc(self.right.alloc(work)))


def every(extents: Sequence[Extent], name: str, statement: Callable[..., Node]) -> Node:
    """A statement for every index, all written out."""
    grid = repeat(*extents, kind=Kind.UNROLLED)
    return grid.nest(as_expr(0), lambda *at: statement(*map(as_expr, at)), name)


def pipelined(
    tiles: Sequence[Tile], stages: Extent, steps: Extent, start: Expr, used: Callable[[Expr], Node]
) -> Node:
    """`used` of every stage in turn, while the tiles of those to come are on their way: as many as
    there are stages, but one. `start` is the first of `steps` tiles along the depth.

    A stage is filled anew after a barrier that everybody comes to who has used it. Copies are
    waited for in the order in which they began. What comes through registers is loaded before a
    stage is used and stored after it (Hidet, ASPLOS 2023, figure 5).
    """
    k, first, count = Var("k"), Var("first"), as_expr(stages)
    depth = tiles[0].depth
    copied = [t for t in tiles if t.is_copied]
    others = [t for t in tiles if not t.is_copied]
    commit = [Instruction(COMMIT)] if copied else []
    ahead = k + count - 1
    stage, later = ahead % count, (start + ahead) * depth
    begun = (start + first) * depth
    filled = seq(
        *(t.copied(first, begun) for t in copied),
        *commit,
        *(seq(t.loaded(begun), t.stored(first)) for t in others),
    )

    def follows(work: Sequence[Node]) -> Node:
        return If(ahead < steps, seq(*work)) if work else EMPTY

    step = seq(
        *([Instruction(WAIT, None, (count - 2,))] if copied else []),
        Barrier(),
        follows([t.copied(stage, later) for t in copied]),
        *commit,
        follows([t.loaded(later) for t in others]),
        used(k % count),
        follows([t.stored(stage) for t in others]),
    )
    return seq(For(first, count - 1, filled), For(k, steps, step))

"""What templates of matrix products on GPUs have in common: a grid of blocks, and both tiles.

    product = Product(anchor, numbers, threads, stages=2, copies=False)
    product.nest(registers, first, used, last)

`numbers` has block_m, block_n, block_k, and split where blocks share the depth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from tilewright.expr.contraction.groups import Pair
from tilewright.expr.index.extents import ceildiv, mul
from tilewright.expr.nodes import Expr, Extent, Tensor, Var, as_expr
from tilewright.nest.gpu.task_map import repeat
from tilewright.nest.instructions import COMMIT, GROUP_WAIT, PROXY_FENCE, WAIT
from tilewright.nest.nodes import EMPTY, Barrier, For, If, Instruction, Kind, Node, allocated, seq
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.grid import SPLITS, Grid
from tilewright.schedule.templates.template import Numbers, Options, Row, Template, rows_where
from tilewright.schedule.templates.tiles import THREAD, Tile
from tilewright.target import Target

WORD = 4  # bytes of a register
PER_STAGED = 2
MOST_REGISTERS = 200  # of 255: loops and addresses take others
Conditions: TypeAlias = Callable[[Anchor, Numbers], Sequence[Expr]]


def vector(anchor: Anchor) -> str:
    """Why a product of a matrix and a vector is none of tiles; "" where both are matrices."""
    if min(anchor.rows, anchor.columns) > 1:
        return ""
    return f"it has {anchor.rows} rows and {anchor.columns} columns for each of {anchor.batch}"


def in_blocks(
    name: str,
    options: Options,
    legal: Conditions,
    promising: Callable[[Anchor, Numbers, Target], Sequence[Expr]],
    body: Callable[[Anchor, Numbers], Node],
    factors: Collection[Pair],
    misfit: Callable[[Anchor], str] = vector,
    plain: bool = False,
) -> tuple[Template, Template]:
    """A template, and the same with the depth split between blocks."""

    def one(full_name: str, parameters: Options) -> Template:
        def rows(anchor: Anchor, target: Target) -> list[Row]:
            return rows_where(
                parameters, lambda n: [*legal(anchor, n), *promising(anchor, n, target)]
            )

        return Template(full_name, parameters, legal, rows, body, factors, misfit, plain=plain)

    split = {**options, "split": SPLITS}
    return one(f"matmul.{name}.1", options), one(f"matmul.{name}_split.1", split)


class Product:
    """A product by blocks of so many `threads`, whose tiles have `stages` and come by `copies`, if
    these can do it. `windows`: instructions read the tiles, and go on while a thread does not.
    """

    def __init__(
        self,
        anchor: Anchor,
        n: Numbers,
        threads: Extent,
        stages: Extent,
        copies: bool,
        windows: bool = False,
    ) -> None:
        self.stages, self.threads, self.windows = stages, threads, windows
        self.grid = Grid(anchor, n["block_m"], n["block_n"], n["block_k"], n.get("split", 1))
        common = n["block_k"], stages, threads, copies, windows
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

    def in_registers(self, words: Extent) -> Expr:
        """Whether a thread has registers for so many words and for what comes through them, which
        has its addresses on the way.
        """
        total = as_expr(words)
        for tile in (self.left, self.right):
            if not tile.is_copied:
                times, piece = tile.staging.shape
                size = mul(mul(times, piece), tile.operand.dtype.bytes)
                total = total + PER_STAGED * ceildiv(size, WORD)
        return total <= MOST_REGISTERS

    @property
    def shared_bytes(self) -> Expr:
        """What both tiles take."""
        stage = as_expr(self.left.stage_bytes) + self.right.stage_bytes
        return stage * self.stages

    def nest(
        self, registers: Sequence[Tensor], first: Node, used: Callable[[Expr], Node], last: Node
    ) -> Node:
        """The nest of a thread that has `registers`, does `first`, then `used` with every stage,
        then `last`.
        """
        grid, tiles = self.grid, (self.left, self.right)
        pipeline = pipelined_windows if self.windows else pipelined
        steps = pipeline(tiles, self.stages, grid.steps, grid.first_step, used)
        thread = self.left.private(self.right.private(seq(first, steps, last)))
        for tensor in registers:
            thread = allocated(tensor, thread)
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
    p = _Pipeline(tiles, as_expr(stages), steps, start, 1)
    step = seq(p.waited, Barrier(), p.copies, p.loads, used(p.stage), p.stores)
    return seq(p.begun, For(p.k, steps, step))


def pipelined_windows(
    tiles: Sequence[Tile], stages: Extent, steps: Extent, start: Expr, used: Callable[[Expr], Node]
) -> Node:
    """The same where `used` begins a group of what goes on until it is waited for, which is when
    the next one has begun: a stage is filled anew two steps after it was used.
    """
    p = _Pipeline(tiles, as_expr(stages), steps, start, 2)
    step = seq(
        p.waited,
        Instruction(PROXY_FENCE),
        Barrier(),
        p.loads,
        used(p.stage),
        p.copies,
        p.stores,
        Instruction(GROUP_WAIT, None, (as_expr(1),)),
    )
    return seq(p.begun, For(p.k, steps, step), Instruction(GROUP_WAIT, None, (as_expr(0),)))


class _Pipeline:
    """The parts of a step, in which the tile of `stages - lag` steps later is fetched."""

    def __init__(
        self, tiles: Sequence[Tile], stages: Expr, steps: Extent, start: Expr, lag: int
    ) -> None:
        self.k, first = Var("k"), Var("first")
        self.stage = self.k % stages
        ahead = self.k + stages - lag
        self._copied = [t for t in tiles if t.is_copied]
        others = [t for t in tiles if not t.is_copied]
        stage, later, begun = ahead % stages, (start + ahead) * tiles[0].depth, start + first

        def follows(work: Sequence[Node]) -> Node:
            return If(ahead < steps, seq(*work)) if work else EMPTY

        self.waited = self._counted(Instruction(WAIT, None, (stages - lag - 1,)))
        commit = self._counted(Instruction(COMMIT))
        self.copies = seq(follows([t.copied(stage, later) for t in self._copied]), commit)
        self.loads = follows([t.loaded(later) for t in others])
        self.stores = follows([t.stored(stage) for t in others])
        filled = seq(
            *(t.copied(first, begun * t.depth) for t in self._copied),
            commit,
            *(seq(t.loaded(begun * t.depth), t.stored(first)) for t in others),
        )
        self.begun = For(first, stages - lag, filled)

    def _counted(self, node: Node) -> Node:
        """What there is only where copies are."""
        return node if self._copied else EMPTY

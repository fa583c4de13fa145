"""The tile of a factor that a block has in shared memory, and how its threads fill it.

    tile = Tile(anchor.left, batch, first_row, 128, 32, stages, threads, copies=True)
    tile.copied(stage, k)                   asynchronous copies, zeros outside of the factor
    tile.boxed(stage, k, phase)             copies of whole rows by the hardware
    tile.loaded(k), tile.stored(stage)      the same through registers, for what is computed

A tile's rows lie as the factor's do in memory, so that it is filled by accesses of several
elements; which way is `Operand.by_depth`. Elements beyond the factor are 0, and extents need not be
multiples of tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce

from tilewright.expr.index.extents import ceildiv, mul
from tilewright.expr.nodes import Const, Expr, Extent, Read, Tensor, Var, as_expr, binary, select
from tilewright.nest.gpu.task_map import spatial
from tilewright.nest.instructions import BULK_COPY, COPY, WINDOW_ROW
from tilewright.nest.nodes import For, Instruction, Kind, Node, Scope, Store, allocated
from tilewright.schedule.templates.anchor import Operand

THREAD = Var("thread")
LEAST_COPY = 4
"""Bytes of the smallest asynchronous copy."""


def quotient(a: Extent, b: Extent) -> Extent:
    """`a / b` without a rest."""
    return ceildiv(a, b)


@dataclass(frozen=True)
class Tile:
    """The part of a factor that a block has in shared memory: `outer` rows (or columns) from
    `first` on by `depth`, in `stages`. It is filled by `threads`, through registers unless
    asynchronous copies can do it and `copies` says so.
    """

    operand: Operand
    batch: Expr
    first: Expr
    outer: Extent
    depth: Extent
    stages: Extent
    threads: Extent
    copies: bool
    windows: bool = False

    @cached_property
    def tensor(self) -> Tensor:
        """`[stage, outer, depth]`; where memory runs along that, `[stage, depth, outer]`, or of
        `windows`, which have rows of 64 elements, `[stage, outer / 64, depth, 64]`.
        """
        shape: tuple[Extent, ...] = self.depth, self.outer
        if self.operand.by_depth:
            shape = self.outer, self.depth
        elif self.windows:
            shape = quotient(self.outer, WINDOW_ROW), self.depth, WINDOW_ROW
        return Tensor(f"{self.name}.tile", (self.stages, *shape), self.operand.dtype)

    @property
    def name(self) -> str:
        return self.operand.tensor.name

    @property
    def is_copied(self) -> bool:
        """Whether asynchronous copies fill it."""
        size = self.operand.piece * self.operand.dtype.bytes
        return self.copies and not self.operand.is_computed and size >= LEAST_COPY

    @property
    def _across(self) -> Extent:
        """Pieces of a row."""
        return quotient(self.tensor.shape[-1], self.operand.piece)

    @property
    def _rows(self) -> Extent:
        """How many rows a stage has."""
        return reduce(mul, self.tensor.shape[1:-1])

    @property
    def _times(self) -> Extent:
        """Pieces of a thread."""
        return quotient(mul(self._rows, self._across), self.threads)

    @property
    def shared_out(self) -> list[Expr]:
        """The conditions under which the threads share out the pieces evenly."""
        threads, across = as_expr(self.threads), as_expr(self._across)
        return [
            (threads % across).eq(0),
            (as_expr(self._rows) * across % threads).eq(0),
        ]

    @cached_property
    def staging(self) -> Tensor:
        """A thread's pieces on their way through registers."""
        return Tensor(f"{self.name}.staged", (self._times, self.operand.piece), self.operand.dtype)

    def alloc(self, body: Node) -> Node:
        """`body` with the tile's storage."""
        return allocated(self.tensor, body, Scope.SHARED, swizzled=True)

    def private(self, body: Node) -> Node:
        """`body` with what a thread has on its way to the tile."""
        return body if self.is_copied else allocated(self.staging, body)

    def place(self, outer: Extent, depth: Extent) -> tuple[Expr, ...]:
        """Where an element is within the tile of a stage."""
        found: tuple[Extent, ...] = depth, outer
        if self.operand.by_depth:
            found = outer, depth
        elif self.windows:
            found = outer // WINDOW_ROW, depth, outer % WINDOW_ROW
        return tuple(map(as_expr, found))

    def _of_row(self, row: Expr, at: Expr) -> tuple[Expr, Expr]:
        """Of an element of a row: its place along the factor's rows (or columns), and the depth."""
        if self.operand.by_depth:
            return row, at
        if self.windows:
            return row // self.depth * WINDOW_ROW + at, row % self.depth
        return at, row

    def element(self, row: Expr, at: Expr, k: Expr) -> Expr:
        """The factor's element for one of the tile, 0 outside of it."""
        outer, depth = self._of_row(row, at)
        o, d = self.first + outer, k + depth
        _, outers, depths = self.operand.tensor.shape
        inside = binary("and", o < outers, d < depths)
        read = Read(self.operand.tensor, (self.batch, o, d))
        return select(inside, read, Const(0.0, read.dtype))

    def copied(self, stage: Expr, k: Expr) -> Node:
        """Copies of the tile at depth `k` to a stage, which arrive later."""
        size = self.operand.piece * self.operand.dtype.bytes

        def piece(_: Expr, row: Expr, at: Expr) -> Node:
            to = Read(self.tensor, self._stored_at(stage, row, at))
            return Instruction(f"{COPY}{size}", to, (self.element(row, at, k),))

        return self._pieces("copy", piece)

    @property
    def stage_bytes(self) -> Extent:
        """Of the tile of one stage."""
        return mul(reduce(mul, self.tensor.shape[1:]), self.operand.dtype.bytes)

    def boxed(self, stage: Expr, k: Expr, phase: Read) -> Node:
        """Copies of boxes of the factor's view at depth `k` to a stage, counted by an mbarrier."""
        view, zero = self.operand.view, as_expr(0)
        assert view is not None

        def box(to: tuple[Expr, ...], row: Expr, column: Expr) -> Node:
            tile = Read(self.tensor, (stage, *to, zero, zero))
            read = Read(view, (self.batch, row, column))
            return Instruction(BULK_COPY, tile, (read, phase))

        if self.operand.by_depth:
            return box((), self.first, k)
        part = Var(f"{self.name}.box")
        across = box((part,), k, self.first + part * WINDOW_ROW)
        return For(part, quotient(self.outer, WINDOW_ROW), across, Kind.UNROLLED)

    def loaded(self, k: Expr) -> Node:
        """The thread's pieces of the tile at depth `k`, in registers."""
        e = Var(f"{self.name}.load.e")
        return self._pieces(
            "load",
            lambda i, row, at: self._along(
                e, Store(self.staging, (i, e), self.element(row, at + e, k))
            ),
        )

    def stored(self, stage: Expr) -> Node:
        """These in the tile of a stage."""
        e = Var(f"{self.name}.store.e")
        return self._pieces(
            "store",
            lambda i, row, at: self._along(
                e,
                Store(self.tensor, self._stored_at(stage, row, at + e), Read(self.staging, (i, e))),
            ),
        )

    def _stored_at(self, stage: Expr, row: Expr, at: Expr) -> tuple[Expr, ...]:
        """The indices of an element of a row of the tile."""
        if self.windows and not self.operand.by_depth:
            return stage, row // self.depth, row % self.depth, at
        return stage, row, at

    def _along(self, e: Var, store: Store) -> Node:
        return For(e, self.operand.piece, store, Kind.VECTOR)

    def _pieces(self, name: str, statement: Callable[[Expr, Expr, Expr], Node]) -> Node:
        """`statement` of each piece of a thread: its number among these, its row, and where in that
        it begins. Neighbours have neighbouring pieces.
        """
        number = Var(f"{self.name}.{name}")
        down = quotient(self.threads, self._across)

        def piece(row: Extent, at: Extent) -> Node:
            first = as_expr(mul(at, self.operand.piece))
            return statement(number, as_expr(row) + number * down, first)

        mine = spatial(down, self._across).nest(THREAD, piece)
        return For(number, self._times, mine, Kind.UNROLLED)

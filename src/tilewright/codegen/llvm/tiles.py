"""Products of matrices on tile registers (AMX), for loops of kind TILE.

    tileloadd C; for k:o: tileloadd A, B; tdpbusd C, A, B; tilestored C

The sums stay in tile registers through all loops around that only reduce; else they are in memory,
where what is before and after the product reads and writes them. Registers have fixed numbers: C's
tiles row by row, then those of the factor that has fewer, then one for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from tilewright.codegen.llvm.values import Evaluator
from tilewright.codegen.passes.matrices import TileProduct, matrix_of
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.index.affine import Affine
from tilewright.expr.nodes import Const, Read
from tilewright.nest.nodes import For, Kind, Node, Store, bodies, walk
from tilewright.target import CpuTarget
from tilewright.target.dots import has_tiles

SIGNS = {"int8": "s", "uint8": "u"}
CONFIGURATION_BYTES = 64
FIRST_WIDTH, FIRST_HEIGHT = 16, 48  # of the table of a configuration


def configuration(tiles: Sequence[tuple[int, int]]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """What says how many rows, of how many bytes, each register has."""
    table = np.zeros(CONFIGURATION_BYTES, np.uint8)
    table[0] = 1
    for n, (height, width) in enumerate(tiles):
        table[FIRST_WIDTH + 2 * n] = width
        table[FIRST_HEIGHT + n] = height
    return table


class TileWriter:
    """The tile registers of one function."""

    def __init__(self, ev: Evaluator, target: CpuTarget) -> None:
        self.ev, self.b, self.m = ev, ev.b, ev.m
        self.target = target
        self.active = has_tiles(target)
        self.usual = ""  # the configuration from the function's begin on
        self._loaded: Store | None = None
        self._begun = False
        self._products: dict[int, tuple[Node, TileProduct | None]] = {}
        self._sums: dict[int, tuple[Node, frozenset[str]]] = {}

    def product(self, node: For) -> TileProduct | None:
        """The product whose sums stay in tile registers through a loop."""
        runs = node.kind in (Kind.SERIAL, Kind.TILE)
        if not self.active or not runs or self.ev.guard is not None:
            return None
        hit = self._products.get(id(node))
        if hit is None:
            hit = self._products[id(node)] = node, self._product(node)
        return hit[1]

    def _product(self, node: For) -> TileProduct | None:
        outer = []
        while node.kind is Kind.SERIAL:
            outer.append(node.var.name)
            if not isinstance(node.body, For):
                return None
            node = node.body
        found = matrix_of(node, self.target, self.ev.forms) if node.kind is Kind.TILE else None
        if found is None:
            return None
        sums = self.ev.form(found.store, found.store.tensor, found.store.indices)
        moving = self.ev.forms.variables(sums)
        return None if moving & set(outer) else found

    def sums(self, node: Node) -> frozenset[str]:
        """Tensors that tile registers add up somewhere in a nest."""
        if not self.active:
            return frozenset()
        hit = self._sums.get(id(node))
        if hit is None:
            if isinstance(node, For) and node.kind is Kind.TILE:
                found = frozenset(s.tensor.name for s in walk(node) if isinstance(s, Store))
            else:
                found = frozenset[str]().union(*map(self.sums, bodies(node)))
            hit = self._sums[id(node)] = node, found
        return hit[1]

    def begins(self, node: Node, following: Node | None) -> bool:
        """Whether a nest only makes the sums of the product that follows zero: then they begin in
        tile registers.
        """
        matrix = self.product(following) if isinstance(following, For) else None
        if matrix is None:
            return False
        for loop in (*matrix.rows, matrix.lanes):
            if not isinstance(node, For) or (node.var, node.extent) != (loop.var, loop.extent):
                return False
            node = node.body
        match node:
            case Store(tensor, indices, Const(0), None) if tensor == matrix.store.tensor:
                found = indices == matrix.store.indices
                self._begun |= found
                return found
        return False

    # ---- instructions -----------------------------------------------------------------------

    def multiply(self, matrix: TileProduct, node: For, loop: Callable[[For], None]) -> None:
        """Write a loop around a product, its sums in registers meanwhile, or the product itself."""
        whole = self._loaded is not matrix.store
        others = self._begin(matrix) if whole else False
        if node.kind is Kind.TILE:
            self._step(matrix)
        else:
            loop(node)
        if whole:
            self._end(matrix, others)

    def _begin(self, matrix: TileProduct) -> bool:
        """Have the sums in registers; returns whether these were configured for them."""
        others = self._configure(matrix)
        if self._begun:
            fn = self.m.declare("llvm.x86.tilezero", "void", ["i8"])
            for number in range(matrix.down * matrix.across):
                self.b.do(f"call void {fn}(i8 {number})")
        else:
            self._each_sum(matrix, "tileloadd64")
        self._loaded, self._begun = matrix.store, False
        return others

    def _end(self, matrix: TileProduct, others: bool) -> None:
        self._loaded = None
        self._each_sum(matrix, "tilestored64")
        if others:
            self.b.do(self._setting(self.usual))
        self.ev.memory.touch(self.ev.buffers[matrix.store.tensor.name])

    def _configure(self, matrix: TileProduct) -> bool:
        """Say how large the tiles are: once where the function begins for those that are met first.
        Returns whether these are others.
        """
        count = matrix.down * matrix.across
        few, rows_few = min(matrix.down, matrix.across), matrix.down <= matrix.across
        sums = (matrix.height, 4 * matrix.width)
        left, right = (matrix.height, 4 * matrix.steps), (matrix.steps, 4 * matrix.width)
        first, second = (left, right) if rows_few else (right, left)
        table = configuration([*[sums] * count, *[first] * few, second])
        symbol = self.m.table(f"tiles:{table.tobytes().hex()}", table, DTYPES["uint8"])
        if not self.usual:
            self.usual = symbol
            self.b.entry.append(f"  {self._setting(symbol)}")
        if self.usual != symbol:
            self.b.do(self._setting(symbol))
        return self.usual != symbol

    def _setting(self, symbol: str) -> str:
        """The instruction that takes a configuration."""
        fn = self.m.declare("llvm.x86.ldtilecfg", "void", ["ptr"])
        return f"call void {fn}(ptr {symbol})"

    def release(self) -> None:
        """Leave the registers as others expect them, at the end of the function."""
        if self.usual:
            fn = self.m.declare("llvm.x86.tilerelease", "void", [])
            self.b.do(f"call void {fn}()")

    def _each_sum(self, matrix: TileProduct, how: str) -> None:
        for i, j in product(range(matrix.down), range(matrix.across)):
            number = i * matrix.across + j
            self._move(how, number, matrix, matrix.store, i, j, matrix.rows[-1].var.name)

    def _step(self, matrix: TileProduct) -> None:
        """Load the factors' tiles and multiply every pair."""
        m, count = matrix, matrix.down * matrix.across
        of_rows = m.down <= m.across
        few, many = (m.down, m.across) if of_rows else (m.across, m.down)
        for n in range(few):
            self._factor(m, of_rows, count + n, n)
        kinds = [SIGNS.get(x.tensor.dtype.name, "") for x in (m.left, m.right)]
        name = f"tdpb{''.join(kinds)}d" if all(kinds) else "tdpbf16ps"
        fn = self.m.declare(f"llvm.x86.{name}", "void", ["i8"] * 3)
        for n in range(many):
            self._factor(m, not of_rows, count + few, n)
            for f in range(few):
                i, j = (f, n) if of_rows else (n, f)
                left, right = (count + f, count + few) if of_rows else (count + few, count + f)
                number = i * m.across + j
                self.b.do(f"call void {fn}(i8 {number}, i8 {left}, i8 {right})")

    def _factor(self, m: TileProduct, is_left: bool, number: int, tile: int) -> None:
        read, i, j = (m.left, tile, 0) if is_left else (m.right, 0, tile)
        along = m.rows[-1].var.name if is_left else m.depth.var.name
        self._move("tileloadd64", number, m, read, i, j, along)

    def _move(
        self,
        how: str,
        number: int,
        m: TileProduct,
        access: Read | Store,
        i: int,
        j: int,
        along: str,
    ) -> None:
        """A tile from memory or back, whose rows lie along a loop."""
        ev = self.ev
        buffer = ev.buffers[access.tensor.name]
        ev.m.read.add(access.tensor.name)
        form = ev.form(access, access.tensor, access.indices)
        env = ev.ix.env
        before = dict(env)
        for loop in (m.depth, m.terms):
            env[loop.var.name] = Affine(0)
        row = i * m.height
        for loop in reversed(m.rows):
            assert isinstance(loop.extent, int)
            row, index = divmod(row, loop.extent)
            env[loop.var.name] = Affine(index)
        env[m.lanes.var.name] = Affine(j * m.width)
        at = ev.ix.resolve(form)
        assert at is not None, "the indices of tiles are linear"
        size = access.tensor.dtype.bytes
        env[along] = env[along].shifted(1)
        following = ev.ix.resolve(form)
        assert following is not None, "the indices of tiles are linear"
        pointer = ev.ix.pointer(buffer.base, at, size)
        stride = ev.ix.operand(following.plus(at, -1).times(size))
        fn = self.m.declare(f"llvm.x86.{how}", "void", ["i8", "ptr", "i64"])
        self.b.do(f"call void {fn}(i8 {number}, ptr {pointer}, i64 {stride})")
        env.clear()
        env.update(before)

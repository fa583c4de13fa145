"""The numbers of a product on a CPU that are worth a try, from facts of the target: at most 200.

    tile_m, tile_n     a tile of sums, which fills the vector registers
    down, across       into how many blocks rows and columns are divided
    block_k            the depth of a panel; 0: all of it
    packs              LEFT, RIGHT: what is packed inside of the loops

A block has as many columns as leave the right factor's panel in the second-level cache; a left tile
of a panel stays in the first. All cores have as many blocks, if there are enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tilewright.expr.nodes import Read
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.packing import constant_layout
from tilewright.schedule.templates.template import Row
from tilewright.target import CpuTarget, Target

LEFT, RIGHT = 1, 2
DIVISIONS = tuple(sorted({2**i * k for i in range(13) for k in (1, 3)}))
OPTIONS = {
    "tile_m": (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14),
    "tile_n": (4, 8, 12, 16, 24, 32, 48, 64),
    "down": DIVISIONS,
    "across": DIVISIONS,
    "block_k": (0, 128, 256, 512, 1024),
    "packs": (0, LEFT, RIGHT, LEFT | RIGHT),
}
FULL = 0.6  # of the registers, that sums fill at least where there are as many rows
BYTES = 4  # of an element
MOST_VECTORS = 4  # of a tile's row
WAYS_DOWN, WAYS_ACROSS = 2, 3  # to divide rows, and columns
SHARE = 0.5  # of the second-level cache, that a panel of a block takes


def panel_of(anchor: Anchor, block_k: int) -> tuple[int, ...]:
    """The depth of a panel, as the extents of the axes that it runs over, the innermost ones: at
    most `block_k` in all, where that is not 0. It is a part of the only axis, or whole axes.
    """
    extents = [anchor.groups.extents[a] for a in anchor.groups.depth] or [1]
    if not block_k or anchor.depth <= block_k:
        return tuple(extents)
    if len(extents) == 1:
        return (_parts(extents[0], _parts(extents[0], block_k)),)
    most = max(block_k, extents[-1])
    return tuple(extents[i] for i in range(len(extents)) if prod(extents[i:]) <= most)


def rows_of(anchor: Anchor, target: Target) -> Iterator[Row]:
    """The rows for a CPU; none for another target."""
    if not isinstance(target, CpuTarget):
        return
    for block_k in _depths(anchor, target):
        for packs in _packs(anchor, block_k):
            for tile in _tiles(anchor, target):
                for blocks in _blocks(anchor, target, tile, block_k):
                    yield (*tile, *blocks, block_k, packs)


def _parts(n: int, size: int) -> int:
    """How many parts of at most a size there are."""
    return -(-n // size)


def _depths(anchor: Anchor, target: CpuTarget) -> list[int]:
    """All of the depth, and the deepest panels whose left tiles stay in the first-level cache."""
    most = target.l1_bytes // (BYTES * max(OPTIONS["tile_m"]))
    block_k = max((k for k in OPTIONS["block_k"] if k <= most), default=0)
    return [0, block_k] if prod(panel_of(anchor, block_k)) < anchor.depth else [0]


def _packs(anchor: Anchor, block_k: int) -> list[int]:
    """What is read in place, too: neither windows nor what is computed, nor rows far apart across
    vectors.
    """
    left, right = anchor.left, anchor.right
    is_window = len(anchor.groups.depth) > 1 or not isinstance(left.value, Read)
    lefts = [LEFT] if is_window or not left.by_depth else [0, LEFT]
    if constant_layout(anchor, 1) is not None:
        return lefts
    if block_k:
        return [LEFT | RIGHT]
    is_strided = right.by_depth or not isinstance(right.value, Read)
    return [*([] if is_strided else lefts[:1]), *(a | RIGHT for a in lefts)]


def _tiles(anchor: Anchor, target: CpuTarget) -> Iterator[tuple[int, int]]:
    """Sums that fill the registers, with a row of the right factor and an element of the left one:
    of each width the tallest tile, and that which is beyond the rows the least.
    """
    lanes, registers = target.lanes(anchor.sums.dtype), target.vector_registers
    for tile_n in OPTIONS["tile_n"]:
        vectors = tile_n // lanes
        is_whole = tile_n % lanes == 0 and vectors <= MOST_VECTORS and 2 * vectors < registers
        if not is_whole or tile_n - lanes >= anchor.columns:
            continue
        tall = [m for m in OPTIONS["tile_m"] if (m + 1) * vectors < registers]
        tallest = min((m for m in tall if m >= anchor.rows), default=max(tall))
        full = [m for m in tall if FULL * registers <= m * vectors and m <= tallest] or [tallest]
        fitting = min(full, key=lambda m: (_parts(anchor.rows, m) * m, -m))
        yield from ((tile_m, tile_n) for tile_m in sorted({tallest, fitting}))


def _blocks(
    anchor: Anchor, target: CpuTarget, tile: tuple[int, int], block_k: int
) -> Iterator[tuple[int, int]]:
    """Divisions of rows and of columns. What is computed is so once, in one of them."""
    down, across = _parts(anchor.rows, tile[0]), _parts(anchor.columns, tile[1])
    room, depth = int(SHARE * target.l2_bytes) // BYTES, prod(panel_of(anchor, block_k))
    least = _parts(anchor.columns, max(tile[1], room // depth))
    ways = _from(least, across)[:WAYS_ACROSS]
    if anchor.left.is_computed and 1 not in ways:
        ways = [1, *ways[:-1]]
    for columns in ways:
        is_divided = depth < anchor.depth  # sums of all tiles are kept then
        sums = anchor.rows * _parts(anchor.columns, columns)
        every = _from(_parts(sums, room) if is_divided else 1, down)
        others = anchor.batch * _shared(across, columns)
        even = [d for d in every if _shared(down, d) * others % target.cores == 0]
        for rows in (even or every[-1:])[:WAYS_DOWN]:
            yield rows, columns


def _from(least: int, tiles: int) -> list[int]:
    """Divisions into at least so many that make different blocks, to those of a tile each."""
    most = next((d for d in DIVISIONS if d >= tiles), DIVISIONS[-1])
    ways = [d for d in DIVISIONS if least <= d <= most] or [most]
    return list({_shared(tiles, d): d for d in reversed(ways)}.values())[::-1]


def _shared(tiles: int, ways: int) -> int:
    """Blocks, of as many tiles each."""
    return _parts(tiles, _parts(tiles, ways))

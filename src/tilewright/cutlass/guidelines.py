"""Which tiles are worth trying: a short list by the hardware's guidelines (Bolt, section 3.2.2).

Large tiles of a warp as far as registers go, since they do the most arithmetic for what they load;
4 or 8 warps a block; small blocks for small problems, so that all multiprocessors have one.
"""

from __future__ import annotations

from math import log2

from tilewright.cutlass.architectures import Architecture
from tilewright.cutlass.parameters import Parameters

MOST = 40
"""Programs of one architecture and type."""
FEW_BLOCKS = 2 * 80
"""A problem of fewer blocks than this leaves multiprocessors idle: smaller tiles first."""

MOST_WASTE = 4
"""Tiles that are so many times more than the problem than others are not tried."""

# Tiles of a block and of a warp, the largest first.
TILES: tuple[tuple[int, int, int, int], ...] = (
    (256, 128, 64, 64), (128, 256, 64, 64), (128, 128, 64, 64), (128, 128, 64, 32),
    (256, 64, 64, 64), (64, 256, 64, 64), (128, 64, 64, 32), (64, 128, 32, 64),
    (128, 64, 32, 32), (64, 64, 32, 32), (128, 32, 32, 32), (32, 128, 32, 32),
)  # fmt: skip
# K of a block's tile, and stages, by the most stages of an architecture.
DEEP = ((32, 4), (32, 3), (64, 3))
SHALLOW = ((32, 2),)


def gemm_tiles(
    architecture: Architecture, dtype: str, m: int, n: int, batch: int
) -> list[Parameters]:
    """Tiles for a problem, the most promising first."""

    def blocks(tile: tuple[int, int, int, int]) -> int:
        return -(-m // tile[0]) * -(-n // tile[1]) * batch

    def waste(tile: tuple[int, int, int, int]) -> float:
        """By how many times the tiles are more than the problem."""
        return blocks(tile) * tile[0] * tile[1] / (m * n * batch)

    def order(tile: tuple[int, int, int, int]) -> tuple[bool, float, int]:
        return blocks(tile) < FEW_BLOCKS, round(waste(tile), 1), -tile[0] * tile[1]

    pipelines = pipelines_of(architecture)
    least = min(map(waste, TILES))
    ordered = sorted((t for t in TILES if waste(t) < MOST_WASTE * least), key=order)
    if all(blocks(t) < FEW_BLOCKS for t in ordered):
        ordered.sort(key=lambda t: (round(log2(waste(t))), -blocks(t)))
    return [
        Parameters(*tile[:2], k, *tile[2:], stages, swizzle)
        for k, stages in pipelines
        for tile in ordered
        for swizzle in (
            (4, 1) if blocks(tile) > FEW_BLOCKS and (k, stages) == pipelines[0] else (1,)
        )
    ]


def pipelines_of(architecture: Architecture) -> tuple[tuple[int, int], ...]:
    """K of a block's tile with stages, the most promising first."""
    return DEEP if architecture.stages > 2 else SHALLOW

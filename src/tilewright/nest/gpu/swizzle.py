"""Swizzled rows: pieces of 16 bytes in an order in which columns of them lie in different banks.

    swizzle = Swizzle.of(tensor)       rows of 64 halves: 8 pieces
    swizzle(at)                        piece p of row r is where piece p ^ (r % 8) would be

Shared memory gives 128 bytes at once, each of its 8 places for 16 bytes once. Rows of one, two or
four lines begin at the same place, and so do every second or fourth of shorter ones: the places of
their pieces are exchanged by the number of the line. It is CUTLASS's Swizzle<bits, 4, 3>, in bytes,
for rows of up to 128 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tilewright.expr.nodes import Tensor
from tilewright.ground.errors import VerifyError
from tilewright.nest.reference.lanes import Array

PIECE_BYTES = 16
PLACES = 8
At = TypeVar("At", int, Array)


@dataclass(frozen=True, slots=True)
class Swizzle:
    """`at ^ (at >> shift & mask) << unit`: a piece is 2^unit elements, `mask` places are exchanged,
    by the bits of the number of a piece from `shift - unit` on.
    """

    unit: int
    shift: int
    mask: int

    @staticmethod
    def of(tensor: Tensor) -> Swizzle:
        """That of a shared tensor. Raises VerifyError for rows that are not a power of two of
        pieces.
        """
        row = tensor.shape[-1]
        pieces = row * tensor.dtype.bytes // PIECE_BYTES if isinstance(row, int) else 0
        if pieces < 1 or pieces & (pieces - 1) or pieces * PIECE_BYTES != row * tensor.dtype.bytes:
            raise VerifyError(
                f"{tensor.name} is swizzled: its rows are 1, 2, 4, … pieces of {PIECE_BYTES} bytes"
            )
        unit = (PIECE_BYTES // tensor.dtype.bytes).bit_length() - 1
        bits = pieces.bit_length() - 1
        exchanged = min(pieces, PLACES) - 1
        return Swizzle(unit, unit + max(bits, PLACES.bit_length() - 1), exchanged)

    def __call__(self, at: At) -> At:
        """Where the element is that was at a flat place."""
        moved: At = at ^ ((at >> self.shift & self.mask) << self.unit)
        return moved


def conflicts(places: Array) -> int:
    """How often shared memory is asked beyond the least for so many pieces of 16 bytes, each at a
    byte address: eight threads at a time, each place gives one piece.
    """
    more = 0
    for eight in places.reshape(-1, PLACES):
        pieces = np.unique(eight // PIECE_BYTES)
        more += int(np.bincount(pieces % PLACES).max()) - 1
    return more

"""How a constant lies in memory where a program wants it otherwise than it is given."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.expr.nodes import Extent, Tensor


@dataclass(frozen=True, slots=True)
class Layout:
    """How a packed constant is made: dimension d of `source` is split into `splits[d]`, the
    parts (of all dimensions, in order) are then permuted by `permutation`. The program reads that
    as a tensor of `shape` (None: of one dimension a part).
    """

    source: Tensor
    splits: tuple[tuple[Extent, ...], ...]
    permutation: tuple[int, ...]
    shape: tuple[Extent, ...] | None = None

    @property
    def packed_shape(self) -> tuple[Extent, ...]:
        if self.shape is not None:
            return self.shape
        parts = [p for split in self.splits for p in split]
        return tuple(parts[i] for i in self.permutation)

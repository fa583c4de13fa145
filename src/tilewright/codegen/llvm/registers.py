"""Tensor elements that live in SSA values instead of memory.

An element is keyed by (tensor, constant part of its number, lane stride, copy). All accesses to a
promoted tensor in its region share the rest of the number. Copies are the partial accumulators of
a reduction; MAIN is the element itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tilewright.codegen.llvm.indices import LANE
from tilewright.codegen.llvm.types import SsaValue
from tilewright.expr.index.affine import Affine

Key: TypeAlias = tuple[str, int, int, int]
MAIN = -1


def key_of(tensor: str, number: Affine) -> Key:
    """The key of the element(s) of a resolved number."""
    return (tensor, number.const, number.coefficient(LANE), MAIN)


@dataclass(slots=True)
class Registers:
    """Current values of promoted elements, and the partial accumulators that stand for some."""

    tensors: set[str] = field(default_factory=set)
    values: dict[Key, SsaValue] = field(default_factory=dict)
    partial: dict[Key, list[Key]] = field(default_factory=dict)
    turn: dict[Key, int] = field(default_factory=dict)

    def get(self, tensor: str, number: Affine) -> SsaValue | None:
        """The value of a resolved number, None where the tensor is in memory."""
        return self.values[key_of(tensor, number)] if tensor in self.tensors else None

    def accumulator(self, tensor: str, number: Affine) -> Key | None:
        """The key of the partial accumulator whose turn it is; None where there is none."""
        key = key_of(tensor, number)
        copies = self.partial.get(key)
        if copies is None:
            return None
        turn = self.turn.get(key, 0)
        self.turn[key] = (turn + 1) % len(copies)
        return copies[turn]

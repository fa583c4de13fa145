"""Tensor elements that live in SSA values instead of memory.

An element is keyed by (tensor, constant part of its address, lane stride, copy). All accesses to a
promoted tensor in its region share the same non-constant part, `terms`. Copies are the partial
accumulators of a reduction; copy 0 of an element that has none is the element itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tilewright.codegen.linear import Linear, Terms
from tilewright.codegen.llvm.indices import LANE
from tilewright.codegen.llvm.types import Value

Key: TypeAlias = tuple[str, int, int, int]
MAIN = -1


def key_of(tensor: str, at: Linear, copy: int = MAIN) -> Key:
    """The key of the element(s) at a resolved address."""
    return (tensor, at.const, at.coefficient(LANE), copy)


@dataclass(slots=True)
class Registers:
    """The current values of promoted elements; `terms` holds each promoted tensor's address part.

    `partial` maps an element to the keys of its partial accumulators, `turn` says which is next.
    """

    terms: dict[str, Terms] = field(default_factory=dict)
    values: dict[Key, Value] = field(default_factory=dict)
    partial: dict[Key, list[Key]] = field(default_factory=dict)
    turn: dict[Key, int] = field(default_factory=dict)

    def get(self, tensor: str, at: Linear) -> Value | None:
        """The value at a resolved address, None where the tensor is in memory."""
        if tensor not in self.terms:
            return None
        return self.values[key_of(tensor, at)]

    def set(self, tensor: str, at: Linear, value: Value) -> None:
        """Overwrite a promoted element."""
        self.values[key_of(tensor, at)] = value

    def accumulator(self, tensor: str, at: Linear) -> Key | None:
        """The key of the partial accumulator whose turn it is; None where there is none."""
        key = (tensor, at.const, 0 if tensor in self.terms else 0, MAIN)
        key = key_of(tensor, at)
        copies = self.partial.get(key)
        if copies is None:
            return None
        turn = self.turn.get(key, 0)
        self.turn[key] = (turn + 1) % len(copies)
        return copies[turn]

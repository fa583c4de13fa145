"""Lanes: many iterations of a nest, carried side by side as NumPy arrays.

    one = Lanes.single()
    rows = one.spread("i", 4)              i = [0, 1, 2, 3]
    cells = rows.spread("j", 2)            i = [0, 0, 1, 1, …], j = [0, 1, 0, 1, …]
    some = cells.where(mask)               the lanes in which a condition holds

Lanes are ordered as the loops would run. Values of outer loops are repeated or picked only when
they are asked for.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]


class Lanes:
    """`count` iterations; `get(name)` is the int64 value of `name` in each of them."""

    __slots__ = ("_own", "_parent", "_pick", "count")

    def __init__(self, count: int, parent: Lanes | None, pick: Array | None) -> None:
        self.count = count
        self._parent = parent
        # Which lane of the parent each lane continues; None when they are the same.
        self._pick = pick
        self._own: dict[str, Array] = {}

    @classmethod
    def single(cls) -> Lanes:
        """The one iteration outside of all loops."""
        return cls(1, None, None)

    def get(self, name: str) -> Array:
        """Values of `name`, one a lane. Raises KeyError for a name that was never set."""
        if name not in self._own:
            if self._parent is None:
                raise KeyError(name)
            values = self._parent.get(name)
            self._own[name] = values if self._pick is None else values[self._pick]
        return self._own[name]

    def has(self, name: str) -> bool:
        """Whether `name` was set in these lanes or in those that they continue."""
        return name in self._own or (self._parent is not None and self._parent.has(name))

    def spread(self, name: str, extent: int) -> Lanes:
        """Every lane becomes `extent` lanes in which `name` is 0, 1, …"""
        lanes = Lanes(self.count * extent, self, np.repeat(np.arange(self.count), extent))
        lanes._own[name] = np.tile(np.arange(extent, dtype=np.int64), self.count)
        return lanes

    def setting(self, values: dict[str, Any]) -> Lanes:
        """The same lanes with names set (to one value for all, or one a lane)."""
        lanes = Lanes(self.count, self, None)
        for name, value in values.items():
            lanes._own[name] = np.broadcast_to(np.asarray(value, np.int64), (self.count,))
        return lanes

    def where(self, mask: Array) -> Lanes:
        """The lanes in which `mask` is true."""
        pick = np.flatnonzero(mask)
        return Lanes(len(pick), self, pick)

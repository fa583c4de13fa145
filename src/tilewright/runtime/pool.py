"""Packed constants that several compiled functions read, each stored once.

pool = ConstantPool()
first.prepare({"w": w}, pool)
second.prepare({"w": w}, pool)         the same memory, if both want the same packing
"""

from __future__ import annotations

import hashlib
import weakref

import numpy as np

from tilewright.artifact import Array


class ConstantPool:
    """Arrays by their contents. It keeps none alive: an array goes with the last function."""

    def __init__(self) -> None:
        self._known: weakref.WeakValueDictionary[tuple[object, ...], Array] = (
            weakref.WeakValueDictionary()
        )

    def shared(self, array: Array) -> Array:
        """An array equal to `array` in shape, dtype and every byte: itself, if it is the first.

        `array` is contiguous and must not change any more.
        """
        digest = hashlib.blake2b(array.reshape(-1).view(np.uint8).data, digest_size=32).digest()
        return self._known.setdefault((array.shape, array.dtype.name, digest), array)

"""Memory for the arrays that calls return: what a caller lets go of serves the next call.

    memory = ResultMemory((16, 112, 112, 64), np.dtype("float32"))
    y = memory.array()              a new array on a 64-byte boundary
    del y                           its memory is kept,
    y = memory.array()              and used again

Large arrays come from the system as pages that it fills with zeros when they are first written, and
go back to it when they are freed, which can take as long as the kernel. So the memory of one array
is kept once nothing refers to it any more: no array that shares it, no tensor or buffer made of
one, on any thread.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.contract.artifact import Array
from tilewright.runtime.buffers import BYTE, address, aligned_empty

# The C library keeps smaller blocks itself, and they do not pay for the microsecond of a lease.
KEPT_BYTES = 1 << 20


class ResultMemory:
    """Gives out arrays of one shape and dtype, or of smaller shapes. Threads may call at once."""

    __slots__ = ("__weakref__", "_dtype", "_shape", "_slot", "spare")

    def __init__(self, shape: Sequence[int], dtype: np.dtype[Any], slot: int | None = None) -> None:
        """`slot` as in `aligned_empty`."""
        self._shape, self._dtype, self._slot = tuple(shape), dtype, slot
        # A loop `y = fn(x)` holds the last result during the next call, and needs one spare block.
        self.spare: deque[Array] = deque(maxlen=1)

    def array(self, shape: Sequence[int] | None = None) -> Array:
        """An uninitialised contiguous array that shares memory with no other in use; of `shape`,
        where it is given.
        """
        shape = self._shape if shape is None else shape
        try:
            memory = self.spare.pop()
        except IndexError:
            memory = aligned_empty(self._shape, self._dtype, self._slot)
            if memory.nbytes < KEPT_BYTES:
                return memory if shape == self._shape else np.ndarray(shape, self._dtype, memory)
        return np.ndarray(shape, self._dtype, np.asarray(_Lease(memory, self)))


class _Lease:
    """What all arrays of one block refer to through their `base`: the block is spare when it goes,
    unless its owner went before.
    """

    __slots__ = ("__array_interface__", "_memory", "_owner")

    def __init__(self, memory: Array, owner: ResultMemory) -> None:
        self._memory, self._owner = memory, weakref.ref(owner)
        # Written out, since NumPy takes longer to make this of an array.
        self.__array_interface__ = {
            "version": 3,
            "shape": (memory.nbytes,),
            "typestr": BYTE.str,
            "data": (address(memory), False),
        }

    def __del__(self) -> None:
        owner = self._owner()
        if owner is not None:
            owner.spare.append(self._memory)

"""Whether this interpreter lays out objects and arrays as our quick ways of reading them expect.

    IS_KNOWN        False: arrays are asked for their fields, calls go through ctypes

NumPy's C interface fixes the fields of an array, CPython has an object begin with its reference
count and end with its type. Neither is promised for versions to come, so an array is looked at when
this is imported. An interpreter without the lock that makes one reference mean one holder is not
known.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import weakref

import numpy as np

HEAD = object.__basicsize__  # bytes of an object without fields
COUNT, TYPE = 0, HEAD - 8
DATA, RANK, EXTENTS, STRIDES, BASE = HEAD, HEAD + 8, HEAD + 16, HEAD + 24, HEAD + 32
DTYPE, FLAGS, WEAK = HEAD + 40, HEAD + 48, HEAD + 56
# NumPy's flags: contiguous by rows or by columns, aligned for its elements
CONTIGUOUS, COLUMNS, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400


def _word(place: int) -> int:
    return ctypes.c_size_t.from_address(place).value


def _half(place: int) -> int:
    return ctypes.c_uint32.from_address(place).value


def has_known_layout() -> bool:
    """Whether the fields of an array, and the references to it, are where they are expected."""
    owner = np.zeros((6, 4), np.float32)
    held = [owner[1:]]  # its only reference
    at = id(held[0])
    before = _half(at + COUNT), _word(at + WEAK)
    weak = weakref.ref(held[0])
    held.append(held[0])
    after = _half(at + COUNT), _word(at + WEAK)
    extents, strides = ([_word(_word(at + x) + 8 * i) for i in (0, 1)] for x in (EXTENTS, STRIDES))
    flags = CONTIGUOUS | ALIGNED | WRITEABLE
    return (
        before == (1, 0)
        and after == (2, id(weak))
        and _word(at + TYPE) == id(np.ndarray)
        and _word(at + DATA) == held[0].ctypes.data
        and _half(at + RANK) == 2
        and extents == [5, 4]
        and strides == [16, 4]
        and _word(at + BASE) == id(owner)
        and _word(id(owner) + BASE) == 0
        and _word(at + DTYPE) == id(held[0].dtype)
        and _half(at + FLAGS) & (flags | COLUMNS) == flags
    )


IS_KNOWN = (
    sys.implementation.name == "cpython"
    and sys.maxsize == 2**63 - 1
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
    and has_known_layout()
)

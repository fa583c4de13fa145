"""Memory for kernels: aligned arrays, and arrays between guard pages.

    aligned_empty((5, 7), np.dtype("float32"))     a normal array on a 64-byte boundary
    aligned_empty((5, 7), np.dtype("float32"), 2)       away from those of slots 0 and 1

    guarded = GuardedBuffer(1000)                  ░░guard░░│..slack..[1000 bytes][slack]│░░guard░░
    guarded.view((250,), np.dtype("float32"))      the data as an array

A guarded buffer ends where a page without access begins, so that a read or write behind it faults
at once; another such page lies before it. Kernels rely on 64-byte alignment of all but their
inputs, hence the data stand at the last multiple of 64 that fits (or of what is asked for), or at
the last place that begins as far into its page as asked for: what is left before and behind them is
slack. For a buffer that is read, slack is NaN to any float; for one that is written it is another
pattern (or a NaN carried along from an input's slack would leave no trace), and `slack_intact`
tells whether a kernel wrote there.
"""

from __future__ import annotations

import ctypes
import math
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.contract.artifact import ALIGNMENT, Array, aligned
from tilewright.ground.errors import RunError
from tilewright.runtime.interpreter import DATA, IS_KNOWN

PAGE = mmap.PAGESIZE
STAGGER = 39 * ALIGNMENT  # the golden section of 64 lines: the starts of many slots lie far apart
NUMPY_START = 16  # where in its page a large array of NumPy's begins, behind the C library's header
BYTE = np.dtype(np.uint8)
SIZE_AT = ctypes.c_size_t.from_address
PATTERN = 0xFF  # every float dtype reads it as NaN, every signed integer as -1
HUGE_PAGE_BYTES = 1 << 22  # NumPy asks for huge pages from this size on
WRITTEN_SLACK = 0xA5
NO_ACCESS = 0
READ, WRITE = 1, 2


def address(array: Array) -> int:
    """Where the data of `array` start: `array.ctypes.data`, in a seventh of its time where the
    layout of arrays is known.
    """
    return SIZE_AT(id(array) + DATA).value if IS_KNOWN else array.ctypes.data


def staggered(slot: int) -> int:
    """Where in its page the array of one slot of a kernel's interface best starts, in bytes.

    What lies a page apart shares the same few sets of a first-level cache: where a kernel goes
    through several arrays in step whose rows are whole pages, they push each other out if all
    start alike.
    """
    return slot * STAGGER % PAGE


def aligned_empty(shape: Sequence[int], dtype: np.dtype[Any], slot: int | None = None) -> Array:
    """An uninitialised contiguous array whose data start at a multiple of 64; for a `slot` of a
    kernel's interface (inputs, constants, outputs, counted through) where `staggered` says.
    """
    if slot is None:
        return empty_at(0, shape, dtype, ALIGNMENT)
    return empty_at(staggered(slot), shape, dtype)


def empty_at(start: int, shape: Sequence[int], dtype: np.dtype[Any], unit: int = PAGE) -> Array:
    """An uninitialised contiguous array that starts `start` bytes behind a multiple of `unit`."""
    raw = np.empty(math.prod(shape) * dtype.itemsize + unit, BYTE)
    return np.ndarray(shape, dtype, raw, (start - address(raw)) % unit)


def return_freed() -> None:
    """Give memory that was freed back to the system, as far as the C library can be told to: glibc
    keeps holes between blocks in use.
    """
    if hasattr(_LIBC, "malloc_trim"):
        _LIBC.malloc_trim(0)


def is_aligned(array: Array) -> bool:
    """Whether a kernel may write `array` in place: contiguous and on a 64-byte boundary."""
    return array.flags.c_contiguous and address(array) % ALIGNMENT == 0


class GuardedBuffer:
    """`nbytes` bytes at `address`, aligned, between pages that fault on any access."""

    def __init__(
        self,
        nbytes: int,
        written: bool = False,
        start: int | None = None,
        alignment: int = ALIGNMENT,
    ) -> None:
        """Map the memory; `written` says that kernels write to it. With `start` the data begin so
        many bytes into a page (see `staggered`), with up to a page of slack behind them.

        Raises RunError when the system refuses.
        """
        data = aligned(max(1, nbytes) + (0 if start is None else PAGE), PAGE)
        try:
            self._map = mmap.mmap(-1, data + 2 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except (OSError, OverflowError, ValueError) as error:
            raise RunError(f"cannot get {nbytes} bytes of memory: {error}") from error
        if nbytes >= HUGE_PAGE_BYTES and hasattr(mmap, "MADV_HUGEPAGE"):
            self._map.madvise(mmap.MADV_HUGEPAGE)  # as NumPy does, so that timings agree with use
        whole = np.frombuffer(self._map, dtype=np.uint8)
        base = whole.ctypes.data
        self._pages = (base + PAGE, data)
        _protect(base, PAGE, NO_ACCESS)
        _protect(base + PAGE + data, PAGE, NO_ACCESS)
        inner = whole[PAGE : PAGE + data]
        begin = data - aligned(nbytes, alignment)
        if start is not None:
            begin -= (begin - start) % PAGE
        self.nbytes = nbytes
        self.data = inner[begin : begin + nbytes]
        self.address = base + PAGE + begin
        self._slack = (inner[:begin], inner[begin + nbytes :])
        self._slack_byte = WRITTEN_SLACK if written else PATTERN
        for part in self._slack:
            part.fill(self._slack_byte)

    def view(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """The data as an array; `shape` and `dtype` must make up exactly `nbytes`."""
        array: Array = self.data.view(dtype).reshape(tuple(shape))
        return array

    def fill(self) -> None:
        """Fill the data with the pattern: NaN to floats."""
        self.data.fill(PATTERN)

    def slack_intact(self) -> bool:
        """Whether the bytes around the data are as they were."""
        return all(bool((part == self._slack_byte).all()) for part in self._slack)

    def set_writable(self, writable: bool) -> None:
        """Make a write to the data fault, or allow it again."""
        address, nbytes = self._pages
        _protect(address, nbytes, READ | WRITE if writable else READ)


_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def _protect(address: int, nbytes: int, access: int) -> None:
    if _LIBC.mprotect(address, nbytes, access) != 0:
        code = ctypes.get_errno()
        raise RunError(f"mprotect of {nbytes} bytes failed with error {code}")

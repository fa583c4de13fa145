"""Aligned and guarded memory. What faults runs in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest

from tilewright.ground.errors import RunError
from tilewright.runtime.buffers import (
    PAGE,
    GuardedBuffer,
    address,
    aligned_empty,
    is_aligned,
    staggered,
)

FLOAT = np.dtype(np.float32)


@pytest.mark.parametrize("shape", [(), (1,), (7, 3), (1000, 1000)])
def test_aligned_arrays(shape: tuple[int, ...]) -> None:
    array = aligned_empty(shape, FLOAT)
    assert array.shape == shape
    assert array.dtype == FLOAT
    assert is_aligned(array)
    assert array.flags.writeable


def test_addresses() -> None:
    array = np.zeros((8, 8), FLOAT)
    views = (array, array[3:, 1:], array[::-1], array.T, array[:0], array.view(np.matrix))
    for view in (*views, np.array(1.5)):
        assert address(view) == view.ctypes.data


def test_what_is_not_aligned() -> None:
    array = aligned_empty((64, 64), FLOAT)
    assert not is_aligned(array.T)
    assert not is_aligned(array.reshape(-1)[1:])


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 1000, PAGE - 1, PAGE, PAGE + 1, 10 * PAGE])
def test_data_end_at_the_guard_page(nbytes: int) -> None:
    guarded = GuardedBuffer(nbytes)
    assert guarded.address % 64 == 0
    behind = -(guarded.address + nbytes) % PAGE
    assert behind < 64
    guarded.fill()
    assert guarded.slack_intact()
    assert (guarded.data == 0xFF).all()


@pytest.mark.parametrize("nbytes", [4, 60, 1000, PAGE + 4])
def test_data_aligned_for_their_elements_end_where_the_guard_page_begins(nbytes: int) -> None:
    guarded = GuardedBuffer(nbytes, alignment=4)
    assert (guarded.address + nbytes) % PAGE == 0
    assert guarded.slack_intact()


def test_slots_start_apart() -> None:
    starts = [staggered(slot) for slot in range(12)]
    assert starts[0] == 0
    assert all(start % 64 == 0 and 0 <= start < PAGE for start in starts)
    apart = [abs(a - b) for i, a in enumerate(starts) for b in starts[:i]]
    assert min(min(d, PAGE - d) for d in apart) >= 3 * 64


@pytest.mark.parametrize("slot", range(4))
@pytest.mark.parametrize("nbytes", [0, 100, PAGE, PAGE + 1, 10 * PAGE])
def test_arrays_of_a_slot(nbytes: int, slot: int) -> None:
    array = aligned_empty((nbytes,), np.dtype(np.uint8), slot)
    assert array.shape == (nbytes,)
    assert address(array) % PAGE == staggered(slot)
    array[:] = 1
    guarded = GuardedBuffer(nbytes, written=True, start=staggered(slot))
    assert guarded.address % PAGE == staggered(slot)
    guarded.fill()
    assert guarded.slack_intact()
    before, behind = guarded._slack
    assert len(before) + nbytes + len(behind) <= nbytes + 2 * PAGE
    before[-1:] = 0
    assert not len(before) or not guarded.slack_intact()


def test_pattern_is_nan_and_writes_outside_show() -> None:
    guarded = GuardedBuffer(100)
    guarded.fill()
    assert np.isnan(guarded.view((25,), FLOAT)).all()
    guarded.view((25,), FLOAT)[:] = 0
    assert guarded.slack_intact()
    guarded._slack[1][0] = 0
    assert not guarded.slack_intact()


def test_too_much_memory_is_an_error() -> None:
    with pytest.raises(RunError, match="cannot get"):
        GuardedBuffer(1 << 60)


@pytest.mark.parametrize(
    "access",
    [
        "ctypes.c_char.from_address(g.address + 256).value",
        "ctypes.c_char.from_address(g.address + 256 - 4096 - 1).value",
        "ctypes.memset(g.address + 256, 0, 1)",
        "(g.set_writable(False), ctypes.memset(g.address, 0, 1))",
    ],
    ids=["read behind", "read before", "write behind", "write to what is read-only"],
)
def test_access_outside_faults(access: str) -> None:
    load = "from tilewright.runtime.buffers import GuardedBuffer"
    code = f"import ctypes\n{load}\ng = GuardedBuffer(256)\n{access}"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGSEGV


def test_memory_becomes_writable_again() -> None:
    guarded = GuardedBuffer(256)
    guarded.set_writable(False)
    guarded.set_writable(True)
    guarded.data[:] = 3
    assert guarded.data.sum() == 3 * 256

"""The library functions that find how much there is: what their C gives is what NumPy says."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from test_selections import Array, Rng, boxes

from tilewright.graph.selections import ITEMS, selected
from tilewright.network.selections import selection_entry, selection_scratch
from tilewright.runtime.buffers import address, aligned_empty
from tilewright.runtime.host import host_architecture
from tilewright.runtime.native import native

pytestmark = pytest.mark.cpu


def run_native(
    kind: str, arrays: list[Array], shapes: list[tuple[int, ...]], numbers: list[int]
) -> tuple[int, list[Array]]:
    """What the C of a function writes to arrays of these shapes; rows lie apart."""
    threads, told, kept = 2, [], []
    results = [np.full(shape, -7, np.int64) for shape in shapes]
    for a in (*arrays, *results):
        stored = (*a.shape[:-1], a.shape[-1] + 3) if a.ndim > 1 else a.shape
        room = aligned_empty(stored, a.dtype)
        view = room[tuple(map(slice, a.shape))] if a.ndim else room
        view[...] = a
        kept.append(view)
        told += [a.ndim, *a.shape, *(s // a.itemsize for s in view.strides)]
    pointers = np.array([address(v) for v in kept], np.int64)
    words = np.array([*told, *numbers, threads], np.int64)
    bytes_needed = selection_scratch(kind, [v.shape for v in kept], threads)
    scratch = aligned_empty((max(bytes_needed, 64),), np.dtype("u1"))
    where = native(host_architecture()).linked[selection_entry(kind)]
    count = SELECT(where)(address(pointers), address(words), address(scratch))
    return count, [v.copy() for v in kept[len(arrays) :]]


SELECT = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)


def odd(rng: Rng, *shape: int) -> Array:
    """NaN, both zeros, infinities, and others more than once."""
    values = np.array([np.nan, 0.0, -0.0, np.inf, -np.inf, 1.5, -2.0])
    return rng.choice(values, shape)


def some(rng: Rng, *shape: int) -> Array:
    """Few whole numbers."""
    return rng.integers(-2, 3, shape)


def wide(rng: Rng, *shape: int) -> Array:
    """Many numbers, which are mostly alike near each other."""
    return np.round(rng.standard_normal(shape) + np.arange(shape[-1]) // 40, 1).astype("f4")


@pytest.mark.parametrize("seed", range(8))
def test_library_functions_mean_what_numpy_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, width, rows = (
        int(x) for x in (rng.integers(0, 170), rng.integers(1, 4), rng.integers(0, 5))
    )
    condition = rng.random((rows, 3, n)) < 0.4
    count, (found,) = run_native("nonzero", [condition], [(3, condition.size)], [])
    wanted = selected("nonzero", [condition], ())
    assert count == wanted[0]
    np.testing.assert_array_equal(found[:, :count], wanted[1][0])
    for given in (odd(rng, n, width), odd(rng, n, width).astype("f4"), some(rng, n, width)):
        items = ITEMS.index(str(given.dtype))
        for is_sorted in (0, 1):
            count, found = run_native("unique", [given], [(n,)] * 3, [items, is_sorted])
            wanted = selected("unique", [given], (items, is_sorted))
            assert count == wanted[0]
            for mine, theirs in zip(found, wanted[1], strict=True):
                np.testing.assert_array_equal(mine[: len(theirs)], theirs)
    for given in (odd(rng, 5, n), odd(rng, 5, n).astype("f4"), some(rng, 5, n), wide(rng, 5, n)):
        items = ITEMS.index(str(given.dtype))
        for largest in (0, 1):
            k = int(rng.integers(0, n + 1))
            count, (found,) = run_native("top_k", [given], [(5, k)], [items, largest, k])
            wanted = selected("top_k", [given], (items, largest, k))
            np.testing.assert_array_equal(found, wanted[1][0])


@pytest.mark.parametrize("seed", range(8))
def test_boxes_are_left_as_numpy_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    batches, classes, n = (int(x) for x in rng.integers(1, 4, 3) * (1, 1, 20))
    given = boxes(rng, batches, classes, n)
    threshold = np.float32(rng.choice([np.nan, 0.2, 2.0]))
    limits = [np.array(rng.integers(0, 30)), np.array(0.5, np.float32), np.array(threshold)]
    arrays, most = [given["b"], given["s"], *limits], batches * classes * n
    for centred in (0, 1):
        count, (found,) = run_native("suppress", arrays, [(most, 3)], [centred])
        wanted, (rows,) = selected("suppress", arrays, (centred,))
        assert count == wanted
        np.testing.assert_array_equal(found[:count], rows)

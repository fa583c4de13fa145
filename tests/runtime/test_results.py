"""Memory of results: used again when nothing refers to it, and never before."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from native_kernels import map_artifact

from tilewright.runtime import CompiledFunction
from tilewright.runtime.buffers import address, is_aligned
from tilewright.runtime.results import KEPT_BYTES, ResultMemory

FLOAT = np.dtype(np.float32)
LARGE = (KEPT_BYTES // 4096, 1024)  # of floats: just large enough


@pytest.mark.parametrize("dtype", [FLOAT, np.dtype(ml_dtypes.bfloat16), np.dtype(bool)])
@pytest.mark.parametrize("shape", [(), (0, 3), (7, 5), (1024, 1024)])
def test_arrays_are_as_asked_for(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    memory = ResultMemory(shape, dtype)
    for _ in range(2):
        array = memory.array()
        assert type(array) is np.ndarray
        assert (array.shape, array.dtype) == (shape, dtype)
        assert is_aligned(array)
        assert array.flags.writeable


def test_memory_let_go_of_is_used_again() -> None:
    memory = ResultMemory(LARGE, FLOAT)
    array = memory.array()
    at = address(array)
    del array
    array = memory.array()
    assert address(array) == at
    assert address(memory.array()) != at


@pytest.mark.parametrize(
    "derived",
    [
        lambda y: y,
        lambda y: y[2:, ::3],
        lambda y: y.T.view(np.int32)[:1],
        memoryview,
        np.from_dlpack,
        lambda y: y.reshape(-1).data.cast("B"),
        lambda y: y.flat,
    ],
    ids=["itself", "slice", "view", "memoryview", "dlpack", "bytes", "iterator"],
)
def test_memory_is_not_used_while_something_refers_to_it(derived: Callable[[Any], Any]) -> None:
    memory = ResultMemory(LARGE, FLOAT)
    array = memory.array()
    at = address(array)
    kept = derived(array)
    del array
    others = [memory.array() for _ in range(3)]
    assert at not in map(address, others)
    assert len({*map(address, others)}) == 3
    del kept
    assert address(memory.array()) == at


def test_memory_in_a_cycle_comes_back_with_it() -> None:
    memory = ResultMemory(LARGE, FLOAT)
    cycle: list[Any] = [memory.array()]
    at = address(cycle[0])
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert address(memory.array()) == at


def test_one_spare_block_is_kept_and_only_as_long_as_its_function() -> None:
    gc.collect()
    tracemalloc.start()
    try:
        memory = ResultMemory((KEPT_BYTES,), FLOAT)
        nbytes = 4 * KEPT_BYTES
        arrays = [memory.array() for _ in range(3)]
        assert 3 * nbytes < tracemalloc.get_traced_memory()[0] < 4 * nbytes
        array = arrays[0]
        arrays.clear()  # two of them: one is spare
        assert 2 * nbytes < tracemalloc.get_traced_memory()[0] < 3 * nbytes
        array.fill(3)
        del memory
        assert nbytes < tracemalloc.get_traced_memory()[0] < 2 * nbytes
        assert (array == 3).all()
        del array
        assert tracemalloc.get_traced_memory()[0] < nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.cpu
def test_results_that_threads_hold_do_not_change() -> None:
    n = KEPT_BYTES // 4
    fn = CompiledFunction(map_artifact("%v = fadd float %xv, 1.0", n))

    def calls(value: int) -> int:
        x = [np.full(n, value + i, np.float32) for i in range(3)]
        held = [fn(a)[0] for a in x]
        wrong = 0
        for i in range(60):
            held[i % 3] = fn(x[i % 3])[0]
            wrong += sum(not (y == a[0] + 1).all() for y, a in zip(held, x, strict=True))
        return wrong

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(calls, [10, 20, 30])) == [0, 0, 0]

"""Arrays in the memory of a CUDA device, in and out, with a driver that has none (libcuda.cpp)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.contract.artifact import numpy_dtype
from tilewright.runtime import dlpack

Results = dict[str, Any]


@pytest.fixture(scope="module")
def results(fake_driver: Callable[[str], Results]) -> Results:
    """What cuda_array_program.py found."""
    return fake_driver("cuda_array_program.py")


@pytest.mark.parametrize(
    ("name", "kind", "copies"),
    [
        ("interface", "CudaArray", 2),
        ("dlpack", "CudaArray", 1),
        ("mixed", "CudaArray", 2),
        ("out", "Interface", 2),
        ("out_of_numpy", "Interface", 2),
        ("numpy_out", "ndarray", 3),
        ("numpy", "ndarray", 3),
    ],
)
def test_arrays_stay_where_they_are(name: str, kind: str, copies: int, results: Results) -> None:
    """The uploads that make the test's own arrays are among the copies."""
    difference, found, moved = results["products"][name]
    assert difference < 1e-4 and (found, moved) == (kind, copies)


def test_producers_and_we_wait_for_each_other(results: Results) -> None:
    """DLPack's is told our stream; another one's stream is waited for where it says which."""
    assert results["products"]["stream"] and results["products"]["waited"] == 1
    assert results["products"]["timed"] == 3


def test_results_are_arguments_of_the_next_call(results: Results) -> None:
    assert results["chained"] == 0.0
    assert results["text"] == "CudaArray(float32[12] on nvidia-fake-t4)"
    assert results["tensors"] == [["tensor", [12]]], "of PyTorch's, if an input is one"


def test_networks_take_them_too(results: Results) -> None:
    launches, difference = results["network"]
    assert launches >= 2 and difference == 0.0


def test_graphs_are_kept_for_a_few_sets_of_arrays(results: Results) -> None:
    assert results["graphs"] == {"again": 0, "destroyed": 12 + 1 + 3 - 8}


def test_memory_lives_as_long_as_what_was_made_of_it(results: Results) -> None:
    assert results["lives"] == [1, 1, 0]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("dtype", "A must be float32 of shape (32, 16), got float64 of shape (32, 16)"),
        ("shape", "A must be float32 of shape (32, 16), got float32 of shape (16, 32)"),
        ("strides", "A has the strides (1, 32) (elements) for the shape (32, 16); give it"),
        ("device", "A is on CUDA device 1, the function on device 0"),
        ("alignment", "is no multiple of 16; give a copy of it"),
        ("nowhere", "A: there is no memory of a CUDA device at 0x1000"),
        ("out_count", "0 output arrays given, 1 needed"),
        ("out_readonly", "output D must be writable"),
        ("count", "1 inputs given, 2 needed"),
        ("out_shape", "D must be float32 of shape (32, 32), got float32 of shape (32, 16)"),
        ("out_overlap", "output D shares memory with A"),
    ],
)
def test_errors_name_the_argument(name: str, says: str, results: Results) -> None:
    error = results["errors"][name]
    assert error.startswith("InputError: ") and says in error


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int64", "uint8", "bool"])
def test_capsules_hold_what_dlpack_says(name: str) -> None:
    """NumPy reads what we write, told that the memory is the CPU's."""
    dtype = numpy_dtype(name)
    memory = np.arange(12).reshape(3, 4).astype(dtype)
    capsule = dlpack.exported(memory, memory.ctypes.data, memory.shape, dtype, 3)
    found = dlpack.described(capsule)
    assert found == dlpack.Described(memory.ctypes.data, (2, 3), (3, 4), found.strides, dtype)
    assert dlpack.contiguous(found.shape, found.strides)
    if name == "bfloat16":
        return

    class Producer:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **_: Any) -> Any:
            pointer = ctypes.pythonapi.PyCapsule_GetPointer
            at = pointer(ctypes.py_object(capsule), b"dltensor")
            device = (ctypes.c_int32 * 2).from_address(at + ctypes.sizeof(ctypes.c_void_p))
            assert tuple(device) == (2, 3)
            device[:] = 1, 0
            return capsule

    np.testing.assert_array_equal(np.from_dlpack(Producer()), memory)


def test_rows_follow_each_other() -> None:
    assert dlpack.contiguous((3, 1, 4), (4, 99, 1)) and dlpack.contiguous((0, 4), (7, 7))
    assert not dlpack.contiguous((3, 4), (1, 3)) and not dlpack.contiguous((3, 4), (8, 1))

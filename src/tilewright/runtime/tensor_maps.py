"""Tensor maps: what the copy engine of Hopper is told of an array (CUDA driver API, "Tensor Map
Object Management").

    one = EncodedMap(device, launch.maps[0], address)
    one.address                                     an argument of a launch

The driver wants their memory aligned; objects of its bindings are not, so it is called by address.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Protocol

from tilewright.contract.artifact import TensorMap, aligned, numpy_dtype
from tilewright.ground.errors import RunError

DTYPES = {"float16": "FLOAT16", "bfloat16": "BFLOAT16"}
FUNCTION, VERSION = b"cuTensorMapEncodeTiled", 12000  # of CUDA, the first that has it
BYTES, ALIGNMENT = 128, 128
ARRAY_ALIGNMENT = 16  # bytes, of the first element


class Caller(Protocol):
    """A device's driver."""

    driver: Any

    def call(self, name: str, *arguments: Any) -> Any:
        """What the driver's function returns. Raises RunError with its message."""
        ...


class EncodedMap:
    """The map of an array in the device's memory, at `address` in ours."""

    def __init__(self, device: Caller, one: TensorMap, array: int) -> None:
        """Raises RunError where the array is not aligned, or the driver refuses it."""
        size = numpy_dtype(one.dtype).itemsize
        first = array + one.offset * size
        if first % ARRAY_ALIGNMENT:
            raise RunError(f"an array at {array:#x} is not aligned to {ARRAY_ALIGNMENT} bytes")
        self._memory = ctypes.create_string_buffer(BYTES + ALIGNMENT)
        self.address = aligned(ctypes.addressof(self._memory), ALIGNMENT)
        self._encode(device, one, first, size)

    def _encode(self, device: Caller, one: TensorMap, first: int, size: int) -> None:
        def option(kind: str, name: str) -> int:
            enum = getattr(device.driver, f"CUtensorMap{kind}")
            return int(getattr(enum, f"CU_TENSOR_MAP_{name}"))

        found = device.call("cuGetProcAddress", FUNCTION, VERSION, 0)
        if not found:
            raise RunError("the driver has no tensor maps: it is older than CUDA 12")
        function = ctypes.CFUNCTYPE(ctypes.c_int)(found)
        batches, rows, columns = one.shape
        batch, row, _ = one.strides
        error = function(
            ctypes.c_void_p(self.address),
            option("DataType", f"DATA_TYPE_{DTYPES[one.dtype]}"),
            len(one.shape),
            ctypes.c_void_p(first),
            _longs([columns, rows, batches]),
            _longs([row * size, batch * size]),
            _ints([one.columns, one.rows, 1]),
            _ints([1, 1, 1]),
            option("Interleave", "INTERLEAVE_NONE"),
            option("Swizzle", "SWIZZLE_128B"),
            option("L2promotion", "L2_PROMOTION_L2_256B"),
            option("FloatOOBfill", "FLOAT_OOB_FILL_NONE"),
        )
        if error:
            raise RunError(f"the driver makes no tensor map of {one} (error {error})")


def _longs(values: Sequence[int]) -> Any:
    return (ctypes.c_uint64 * len(values))(*values)


def _ints(values: Sequence[int]) -> Any:
    return (ctypes.c_uint32 * len(values))(*values)

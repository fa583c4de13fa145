"""DLPack's description of an array that is not in the memory of the CPU.

    capsule = exported(y, address, (4, 8), dtype, device=0)    for y.__dlpack__()
    described(x.__dlpack__(stream=s))                          Described(address, (2, 0), (4, 8), …)

The layout is that of dlpack.h, without versions. NumPy makes the capsules and gives them back: an
array of its own stands for the memory, which nobody reads, and is told apart by the device.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tilewright.contract.artifact import numpy_dtype

CUDA, CUDA_MANAGED = 2, 13  # kinds of devices
NAME = b"dltensor"
KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # of elements, by NumPy's kind
BFLOAT16, BFLOAT16_KIND = numpy_dtype("bfloat16"), 4


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
    ]  # fmt: skip


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("rank", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_pointer.restype = ctypes.c_void_p


@dataclass(frozen=True, slots=True)
class Described:
    """An array as its capsule has it; `dtype` is None for elements that NumPy does not have,
    `strides` are in elements, None where rows follow each other.
    """

    address: int
    device: tuple[int, int]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: np.dtype[Any] | None


def described(capsule: Any) -> Described:
    """What a capsule holds, which stays its own. Raises ValueError for one of another kind."""
    tensor = _tensor(capsule)
    rank = tensor.rank
    return Described(
        (tensor.data or 0) + tensor.offset,
        (tensor.device.kind, tensor.device.number),
        tuple(tensor.shape[:rank]),
        tuple(tensor.strides[:rank]) if tensor.strides else None,
        _dtype(tensor.dtype),
    )


def exported(
    owner: Any, address: int, shape: tuple[int, ...], dtype: np.dtype[Any], device: int
) -> Any:
    """A capsule of contiguous memory of a CUDA device, which `owner` keeps until it is let go."""
    plain = np.dtype(f"i{dtype.itemsize}") if dtype == BFLOAT16 else dtype
    standing = np.asarray(_Standing(owner, address, shape, plain))
    capsule = standing.__dlpack__()
    tensor = _tensor(capsule)
    tensor.device.kind, tensor.device.number = CUDA, device
    tensor.dtype.kind = BFLOAT16_KIND if dtype == BFLOAT16 else tensor.dtype.kind
    return capsule


def contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> bool:
    """Whether rows follow each other; `strides` in elements."""
    if strides is None or 0 in shape:
        return True
    wanted = [prod(shape[i + 1 :]) for i in range(len(shape))]
    return all(n == 1 or s == w for n, s, w in zip(shape, strides, wanted, strict=True))


class _Standing:
    """What NumPy takes for an array, and keeps as long as that."""

    def __init__(
        self, owner: Any, address: int, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self._owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (address, False),
        }


def _tensor(capsule: Any) -> _Tensor:
    return _Tensor.from_address(_pointer(capsule, NAME))


def _dtype(found: _Type) -> np.dtype[Any] | None:
    if found.lanes != 1 or found.bits % 8:
        return None
    if found.kind == BFLOAT16_KIND:
        return BFLOAT16 if found.bits == BFLOAT16.itemsize * 8 else None
    letters = {number: letter for letter, number in KINDS.items()}
    try:
        return np.dtype(f"{letters[found.kind]}{found.bits // 8}")
    except (KeyError, TypeError):
        return None

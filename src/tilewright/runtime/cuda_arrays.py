"""Arrays in the memory of a CUDA device: what callers give, and what they get.

    arrays = CudaArrays(device)
    arrays.takes(x)                        whether x offers memory of a CUDA device
    arrays.borrowed(parameter, x)          this memory, for one call
    y = arrays.new(parameter)              a CudaArray: torch.from_dlpack(y), y.numpy()

An array comes through DLPack, or through `__cuda_array_interface__` where it has no other. Its
producer is given our stream, so what was enqueued before is done before a kernel reads it. A call
waits for its kernels: whoever gets an array finds it filled, on any stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.contract.artifact import Array
from tilewright.ground.errors import InputError, RunError
from tilewright.runtime import dlpack
from tilewright.runtime.parameters import Parameter
from tilewright.runtime.tensors import is_tensor

if TYPE_CHECKING:
    from tilewright.runtime.cuda import CudaDevice, CudaMemory

ALIGNMENT = 16  # bytes of the widest access
KINDS = (dlpack.CUDA, dlpack.CUDA_MANAGED)


@dataclass(frozen=True, slots=True)
class Borrowed:
    """Memory of somebody's array, from `address` to `end`; `held` keeps it."""

    address: int
    end: int
    held: Any


@dataclass(frozen=True, slots=True, eq=False)
class CudaArray:
    """A contiguous array on a CUDA device: float32 `[4, 8]` at `address`.

    Its memory goes back to the device's pool when neither it nor anything made of it is left.
    """

    device: CudaDevice
    memory: CudaMemory
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def address(self) -> int:
        """Of the first element."""
        return self.memory.address

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def described(self) -> dlpack.Described:
        """Where it is and what it holds."""
        where = self.__dlpack_device__()
        return dlpack.Described(self.address, where, self.shape, None, self.dtype)

    def numpy(self) -> Array:
        """A copy on the CPU."""
        array = np.empty(self.shape, self.dtype)
        self.device.download(self.memory, array)
        return array

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self.device.ordinal

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule over the same memory; any stream may read it, for it is filled.

        Raises BufferError for a copy, or for another device.
        """
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("an array on a CUDA device is given as it is, and where it is")
        return dlpack.exported(
            self.memory, self.address, self.shape, self.dtype, self.device.ordinal
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.dtype == dlpack.BFLOAT16:
            raise AttributeError("bfloat16 has no name in this interface; DLPack has one")
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address if self.nbytes else 0, False),
            "strides": None,
            "stream": None,
        }

    def __repr__(self) -> str:
        extents = ", ".join(map(str, self.shape))
        return f"CudaArray({self.dtype}[{extents}] on {self.device.target.name})"


class CudaArrays:
    """What a device does with arrays in its memory."""

    def __init__(self, device: CudaDevice) -> None:
        self._device = device

    def takes(self, value: Any) -> bool:
        """Whether it offers memory of some CUDA device."""
        if isinstance(value, np.ndarray):
            return False
        if hasattr(value, "__dlpack_device__"):
            try:
                return value.__dlpack_device__()[0] in KINDS
            except (BufferError, RuntimeError, TypeError, ValueError):  # on none that DLPack knows
                return False
        return hasattr(value, "__cuda_array_interface__")

    def new(self, parameter: Parameter) -> CudaArray:
        """An array for an output, uninitialised. Raises RunError where memory is short."""
        nbytes = prod(parameter.shape) * parameter.dtype.itemsize
        memory = self._device.allocate(nbytes)
        return CudaArray(self._device, memory, parameter.shape, parameter.dtype)

    def borrowed(self, parameter: Parameter, value: Any, written: bool = False) -> Borrowed:
        """The memory of a caller's array, in which all work enqueued before is done before ours.

        Raises InputError, with the parameter's name, for another dtype, shape or device, for rows
        that do not follow each other, for an address that is no multiple of 16, and for memory that
        is to be `written` and must not be.
        """
        self._device.enter()
        if isinstance(value, CudaArray):
            found, held = value.described, value
        elif hasattr(value, "__dlpack__"):
            found, held = self._through_dlpack(parameter, value)
        else:
            found, held = self._through_interface(parameter, value, written)
        self._check(parameter, found)
        nbytes = prod(found.shape) * parameter.dtype.itemsize
        return Borrowed(found.address, found.address + nbytes, held)

    def _through_dlpack(self, parameter: Parameter, value: Any) -> tuple[dlpack.Described, Any]:
        try:
            given = value.detach() if is_tensor(value) else value
            capsule = given.__dlpack__(stream=int(self._device.stream))
            return dlpack.described(capsule), capsule
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(
                f"{parameter.name}: this {type(value).__name__} cannot be taken through DLPack "
                f"({error})"
            ) from error

    def _through_interface(
        self, parameter: Parameter, value: Any, written: bool
    ) -> tuple[dlpack.Described, Any]:
        about = value.__cuda_array_interface__
        address, readonly = about["data"]
        if readonly and written:
            raise InputError(f"output {parameter.name} must be writable")
        dtype, strides = np.dtype(about["typestr"]), about.get("strides")
        if strides is not None:
            strides = tuple(s // dtype.itemsize if s % dtype.itemsize == 0 else -1 for s in strides)
        try:
            number = self._device.ordinal_of(address) if address else self._device.ordinal
        except RunError as error:
            raise InputError(
                f"{parameter.name}: there is no memory of a CUDA device at {address:#x} ({error})"
            ) from error
        if about.get("stream") is not None:
            self._device.wait_for(about["stream"])
        where = dlpack.CUDA, number
        return dlpack.Described(address or 0, where, tuple(about["shape"]), strides, dtype), value

    def _check(self, parameter: Parameter, found: dlpack.Described) -> None:
        if found.dtype != parameter.dtype or found.shape != parameter.shape:
            dtype = "elements that NumPy does not have" if found.dtype is None else found.dtype
            raise InputError(
                f"{parameter.name} must be {parameter.dtype} of shape {parameter.shape}, got "
                f"{dtype} of shape {found.shape}"
            )
        if found.device[1] != self._device.ordinal:
            raise InputError(
                f"{parameter.name} is on CUDA device {found.device[1]}, the function on device "
                f"{self._device.ordinal}; copy it there"
            )
        if not dlpack.contiguous(found.shape, found.strides):
            raise InputError(
                f"{parameter.name} has the strides {found.strides} (elements) for the shape "
                f"{found.shape}; give it with its rows one after the other, contiguous()"
            )
        if found.address % ALIGNMENT:
            raise InputError(
                f"{parameter.name} begins at the address {found.address:#x}, which is no multiple "
                f"of {ALIGNMENT}; give a copy of it"
            )

    def check_apart(self, read: Mapping[str, Any], written: Mapping[str, Any]) -> None:
        """Raise InputError where callers' memory that a call writes is some that it reads, or that
        it writes twice; memory by the parameters' names.
        """
        before = [(name, m) for name, m in read.items() if isinstance(m, Borrowed)]
        for name, one in written.items():
            if not isinstance(one, Borrowed):
                continue
            for other, memory in before:
                apart = one.end <= memory.address or memory.end <= one.address
                if not apart:
                    raise InputError(f"output {name} shares memory with {other}")
            before.append((name, one))

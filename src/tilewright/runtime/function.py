"""A compiled function as users call it: arrays in, arrays out, everything checked.

    fn = CompiledFunction(artifact)
    fn.prepare({"weight": w})             packs the constants, once
    (y,) = fn(x)                          NumPy arrays or anything with DLPack
    fn(x, out=[y])                        into an array that is there already
    (y,) = fn.run({"x": x})               the same by name

Inputs must have exactly the named shapes and dtypes; nothing is converted silently. An input that
is not contiguous or not on a 64-byte boundary is copied into a buffer kept for it. Outputs are
new aligned arrays unless the caller gives some. Calls from several threads take turns, because
the scratch memory is shared by them.

A call costs about 2 µs beyond its kernel (`benchmarks/call_overhead.py`): what is known of the
arrays beforehand is in `_Parameter`, the native pointer array is kept, and a call only writes
the addresses of its inputs and outputs there.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.errors import InputError
from tilewright.runtime.artifact import Array, Artifact, BufferSpec, numpy_dtype
from tilewright.runtime.buffers import ALIGNMENT, address, aligned_empty, is_aligned
from tilewright.runtime.cpu import LoadedKernel, pointer_array


@dataclass(frozen=True, slots=True)
class _Parameter:
    """One array of the interface; `slot` is its index in the native pointer array."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    slot: int

    @staticmethod
    def of(specs: Sequence[BufferSpec], first_slot: int = 0) -> tuple[_Parameter, ...]:
        numbered = enumerate(specs, first_slot)
        return tuple(_Parameter(s.name, s.shape, numpy_dtype(s.dtype), i) for i, s in numbered)

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


class CompiledFunction:
    """A loaded artifact with its constants and scratch memory."""

    def __init__(
        self,
        artifact: Artifact,
        parts: Sequence[Artifact] = (),
        arguments: Sequence[str] | None = None,
    ) -> None:
        """Load `artifact`, linked with `parts`; a function without constants is ready at once.

        `arguments` are the names of the inputs in the order in which a caller gives them (None:
        the artifact's). Raises RunError when this machine cannot run it.
        """
        self.artifact = artifact
        self._kernel = LoadedKernel(artifact, parts)
        self._inputs = _in_order(_Parameter.of(artifact.inputs), arguments)
        self._first_constant = len(artifact.inputs)
        self._outputs = _Parameter.of(
            artifact.outputs, self._first_constant + len(artifact.constants)
        )
        self._scratch = aligned_empty((max(artifact.scratch_bytes, ALIGNMENT),), np.dtype(np.uint8))
        self._scratch_address = address(self._scratch)
        self._pointers = pointer_array([0] * len(artifact.buffers))
        self._pointers_address = ctypes.addressof(self._pointers)
        self._constants: list[Array] = []
        self._ready = not artifact.constants
        self._staged: dict[str, Array] = {}
        # Held while the pointer array, staged copies or scratch are in use.
        self._lock = threading.Lock()

    def prepare(self, constants: Mapping[str, Any]) -> None:
        """Take the constants (in their logical layouts, by name) and pack them as the code wants.

        Raises InputError for a missing or unknown name, a wrong shape or dtype.
        """
        sources = _Parameter.of([p.source for p in self.artifact.packings])
        _check_names("constant", constants, [s.name for s in sources])
        packed = []
        for source, packing in zip(sources, self.artifact.packings, strict=True):
            given = _as_array(source, constants[source.name])
            packed.append(packing.apply(given, aligned_empty(packing.shape, given.dtype)))
        with self._lock:
            for slot, array in enumerate(packed, self._first_constant):
                self._pointers[slot] = address(array)
            self._constants = packed
            self._ready = True

    def __call__(self, *inputs: Any, out: Sequence[Array] | None = None) -> list[Array]:
        """Compute the outputs, in the order of `artifact.outputs`, for inputs by position.

        `out`, if given, holds one contiguous 64-byte-aligned array for each output; they are
        filled and returned. Raises InputError for a wrong number of arrays, a wrong shape or
        dtype.
        """
        arrays = self._checked(inputs)
        outputs = self._new_outputs() if out is None else self._given_outputs(out, arrays)
        with self._lock:
            self._bind(arrays, outputs)
            self._kernel(self._pointers_address, self._scratch_address)
        return outputs

    def run(
        self, inputs: Mapping[str, Any] | Sequence[Any], out: Sequence[Array] | None = None
    ) -> list[Array]:
        """The same for inputs by name, or a sequence of them by position.

        Raises InputError for a missing or unknown name, too.
        """
        return self(*self._positional(inputs), out=out)

    def bench(
        self, inputs: Mapping[str, Any] | Sequence[Any], count: int
    ) -> npt.NDArray[np.float64]:
        """Run `count` times on the same arrays; the seconds of each call, timed natively
        (validation, copies of inputs and the Python call are not in them).
        """
        arrays = self._checked(self._positional(inputs))
        outputs = self._new_outputs()
        with self._lock:
            self._bind(arrays, outputs)
            return self._kernel.bench(self._pointers_address, self._scratch_address, count)

    def _positional(self, inputs: Mapping[str, Any] | Sequence[Any]) -> Sequence[Any]:
        if not isinstance(inputs, Mapping):
            return inputs
        names = [p.name for p in self._inputs]
        _check_names("input", inputs, names)
        return [inputs[name] for name in names]

    def _checked(self, inputs: Sequence[Any]) -> list[Array]:
        """The inputs as arrays of the right shapes and dtypes."""
        if len(inputs) != len(self._inputs):
            listed = ", ".join(map(str, self._inputs)) or "none"
            raise InputError(f"{len(inputs)} inputs given, {len(self._inputs)} needed: {listed}")
        arrays = []
        for parameter, value in zip(self._inputs, inputs, strict=True):
            # A plain array that fits needs no conversion, and no message.
            plain = type(value) is np.ndarray
            if not plain or value.shape != parameter.shape or value.dtype != parameter.dtype:
                value = _as_array(parameter, value)
            arrays.append(value)
        return arrays

    def _new_outputs(self) -> list[Array]:
        return [aligned_empty(p.shape, p.dtype) for p in self._outputs]

    def _given_outputs(self, out: Sequence[Array], inputs: Sequence[Array]) -> list[Array]:
        if len(out) != len(self._outputs):
            raise InputError(f"{len(out)} output arrays given, {len(self._outputs)} needed")
        taken = list(inputs)
        for parameter, array in zip(self._outputs, out, strict=True):
            name = parameter.name
            if not isinstance(array, np.ndarray):
                raise InputError(f"output {name} must be a NumPy array, got {type(array).__name__}")
            _check_array(parameter, array)
            if not is_aligned(array) or not array.flags.writeable:
                raise InputError(
                    f"output {name} must be writable, contiguous and start at a multiple of "
                    f"{ALIGNMENT} bytes: make it with tilewright.runtime.aligned_empty"
                )
            if any(np.may_share_memory(array, other) for other in taken):
                raise InputError(
                    f"output {name} must not share memory with an input or another output"
                )
            taken.append(array)
        return list(out)

    def _bind(self, arrays: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Write the addresses of a call's arrays to the pointer array; the lock is held."""
        if not self._ready:
            names = ", ".join(p.source.name for p in self.artifact.packings)
            raise InputError(f"call prepare() with the constants first: {names}")
        pointers = self._pointers
        for parameter, array in zip(self._inputs, arrays, strict=True):
            at = address(array)
            if at % ALIGNMENT or not array.flags.c_contiguous:
                at = address(self._stage(parameter, array))
            pointers[parameter.slot] = at
        for parameter, array in zip(self._outputs, outputs, strict=True):
            pointers[parameter.slot] = address(array)

    def _stage(self, parameter: _Parameter, array: Array) -> Array:
        """A copy where kernels may read it, in memory that is kept for this input."""
        if parameter.name not in self._staged:
            self._staged[parameter.name] = aligned_empty(parameter.shape, parameter.dtype)
        staged = self._staged[parameter.name]
        np.copyto(staged, array)
        return staged


def _in_order(
    inputs: Sequence[_Parameter], arguments: Iterable[str] | None
) -> tuple[_Parameter, ...]:
    """The inputs in the order of the names `arguments`."""
    named = {p.name: p for p in inputs}
    names = list(named) if arguments is None else list(arguments)
    _check_names("argument", dict.fromkeys(names), list(named))
    return tuple(named[name] for name in names)


def _check_names(what: str, given: Mapping[str, Any], wanted: list[str]) -> None:
    missing = [n for n in wanted if n not in given]
    unknown = [n for n in given if n not in wanted]
    if missing or unknown:
        parts = [f"missing {', '.join(missing)}"] * bool(missing)
        parts += [f"unknown {', '.join(map(str, unknown))}"] * bool(unknown)
        raise InputError(f"{what}s: {'; '.join(parts)}; wanted: {', '.join(wanted) or 'none'}")


def _as_array(parameter: _Parameter, value: Any) -> Array:
    """`value` as an array that shares its memory. Raises InputError when it does not fit."""
    if not isinstance(value, (np.ndarray, np.generic)):
        if not hasattr(value, "__dlpack__"):
            raise InputError(
                f"{parameter.name} must be a NumPy array or offer DLPack, "
                f"got {type(value).__name__}"
            )
        try:
            value = np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(
                f"{parameter.name}: NumPy cannot take this {type(value).__name__} through DLPack "
                f"({error}); give it as a NumPy array on the CPU"
            ) from error
    array: Array = np.asarray(value)
    _check_array(parameter, array)
    return array


def _check_array(parameter: _Parameter, array: Array) -> None:
    if array.shape != parameter.shape or array.dtype != parameter.dtype:
        raise InputError(
            f"{parameter.name} must be {parameter.dtype} of shape {parameter.shape}, "
            f"got {array.dtype} of shape {array.shape}"
        )

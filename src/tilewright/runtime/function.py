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

A call costs about 3 µs beyond its kernel (`benchmarks/call_overhead.py`): what is known of the
arrays beforehand is in `_Parameter`, the native pointer array is kept, and a call only writes
the addresses of its inputs and outputs there. (Loops over positions: a strict `zip` takes 0.3 µs.)
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.errors import InputError
from tilewright.runtime.artifact import Array, Artifact, BufferSpec, numpy_dtype
from tilewright.runtime.buffers import ALIGNMENT, address, aligned_empty, is_aligned
from tilewright.runtime.cpu import LoadedKernel, pointer_array
from tilewright.runtime.pool import ConstantPool


@dataclass(frozen=True, slots=True)
class _Parameter:
    """One array of the interface: number `position` of those that a caller gives or gets, number
    `slot` in the native pointer array.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    position: int
    slot: int

    @staticmethod
    def of(spec: BufferSpec, position: int = 0, slot: int = 0) -> _Parameter:
        return _Parameter(spec.name, spec.shape, numpy_dtype(spec.dtype), position, slot)

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
        self._inputs = _inputs_of(artifact, arguments)
        self._names = frozenset(p.name for p in self._inputs)
        first_output = len(artifact.inputs) + len(artifact.constants)
        self._outputs = tuple(
            _Parameter.of(s, i, first_output + i) for i, s in enumerate(artifact.outputs)
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

    def prepare(self, constants: Mapping[str, Any], pool: ConstantPool | None = None) -> None:
        """Take the constants (in their logical layouts, by name) and pack them as the code wants.

        Packed constants that `pool` has already are not stored again. Raises InputError for a
        missing or unknown name, a wrong shape or dtype.
        """
        packings = self.artifact.packings
        _check_names("constant", constants, dict.fromkeys(p.source.name for p in packings))
        packed = []
        for packing in packings:
            given = _as_array(_Parameter.of(packing.source), constants[packing.source.name])
            array = packing.apply(given, aligned_empty(packing.shape, given.dtype))
            packed.append(array if pool is None else pool.shared(array))
        with self._lock:
            for slot, array in enumerate(packed, len(self.artifact.inputs)):
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
        if not isinstance(inputs, (dict, Mapping)):  # a dict is known sooner than a Mapping
            return inputs
        if inputs.keys() != self._names:
            _check_names("input", inputs, [s.name for s in self.artifact.inputs])
        return [inputs[p.name] for p in self._inputs]

    def _checked(self, inputs: Sequence[Any]) -> list[Array]:
        """The inputs as arrays of the right shapes and dtypes."""
        if len(inputs) != len(self._inputs):
            listed = ", ".join(map(str, self._inputs)) or "none"
            raise InputError(f"{len(inputs)} inputs given, {len(self._inputs)} needed: {listed}")
        arrays = []
        for parameter in self._inputs:
            value = inputs[parameter.position]
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
        for parameter in self._outputs:
            name, array = parameter.name, out[parameter.position]
            if not isinstance(array, np.ndarray):
                raise InputError(f"output {name} must be a NumPy array, got {type(array).__name__}")
            _check_array(parameter, array)
            if not is_aligned(array) or not array.flags.writeable:
                raise InputError(
                    f"output {name} must be writable, contiguous and start at a multiple of "
                    f"{ALIGNMENT} bytes: make it with tilewright.runtime.aligned_empty"
                )
            for other in taken:
                if np.may_share_memory(array, other):
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
        for parameter in self._inputs:
            array = arrays[parameter.position]
            at = address(array)
            if at % ALIGNMENT or not array.flags.c_contiguous:
                at = address(self._stage(parameter, array))
            pointers[parameter.slot] = at
        for parameter in self._outputs:
            pointers[parameter.slot] = address(outputs[parameter.position])

    def _stage(self, parameter: _Parameter, array: Array) -> Array:
        """A copy where kernels may read it, in memory that is kept for this input."""
        if parameter.name not in self._staged:
            self._staged[parameter.name] = aligned_empty(parameter.shape, parameter.dtype)
        staged = self._staged[parameter.name]
        np.copyto(staged, array)
        return staged


def _inputs_of(artifact: Artifact, arguments: Iterable[str] | None) -> tuple[_Parameter, ...]:
    """The inputs in the order of the names `arguments`."""
    slots = {s.name: i for i, s in enumerate(artifact.inputs)}
    names = list(slots) if arguments is None else list(arguments)
    _check_names("argument", dict.fromkeys(names), slots)
    return tuple(_Parameter.of(artifact.inputs[slots[n]], i, slots[n]) for i, n in enumerate(names))


def _check_names(what: str, given: Mapping[str, Any], wanted: Collection[str]) -> None:
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

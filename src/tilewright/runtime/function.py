"""A compiled function as users call it: arrays in, arrays out, everything checked.

    fn = CompiledFunction(artifact)
    fn.prepare({"weight": w})             packs the constants, once
    (y,) = fn.run({"x": x})               NumPy arrays or anything with DLPack
    (y,) = fn(x)                          the same by position

Inputs must have exactly the named shapes and dtypes; nothing is converted silently. An input that
is not contiguous or not on a 64-byte boundary is copied into a buffer kept for it. Outputs are
new aligned arrays unless the caller gives some. Calls from several threads take turns, because
the scratch memory is shared by them.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.errors import InputError
from tilewright.runtime.artifact import Array, Artifact, BufferSpec, numpy_dtype
from tilewright.runtime.buffers import ALIGNMENT, aligned_empty, is_aligned
from tilewright.runtime.cpu import LoadedKernel, Pointers, pointer_array


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
        self._scratch = aligned_empty((max(artifact.scratch_bytes, ALIGNMENT),), np.dtype(np.uint8))
        self._arguments = self._in_order(arguments)
        self._constants: list[Array] | None = None
        self._staged: dict[str, Array] = {}
        self._lock = threading.Lock()
        if not artifact.constants:
            self._constants = []

    def _in_order(self, arguments: Sequence[str] | None) -> tuple[BufferSpec, ...]:
        if arguments is None:
            return self.artifact.inputs
        specs = {s.name: s for s in self.artifact.inputs}
        _check_names("argument", dict.fromkeys(arguments), list(specs))
        return tuple(specs[name] for name in arguments)

    def prepare(self, constants: Mapping[str, Any]) -> None:
        """Take the constants (in their logical layouts, by name) and pack them as the code wants.

        Raises InputError for a missing or unknown name, a wrong shape or dtype.
        """
        logical = {p.source.name: p.source for p in self.artifact.packings}
        _check_names("constant", constants, list(logical))
        packed = []
        for packing, spec in zip(self.artifact.packings, self.artifact.constants, strict=True):
            given = _as_array(packing.source, constants[packing.source.name])
            packed.append(packing.apply(given, aligned_empty(spec.shape, given.dtype)))
        self._constants = packed

    def __call__(self, *inputs: Any) -> list[Array]:
        """`run` with the inputs by position."""
        return self.run(inputs)

    def run(
        self, inputs: Mapping[str, Any] | Sequence[Any], out: Sequence[Array] | None = None
    ) -> list[Array]:
        """Compute the outputs, in the order of `artifact.outputs`.

        `out`, if given, holds one contiguous 64-byte-aligned array for each output; they are
        filled and returned. Raises InputError for anything missing, unknown or of a wrong shape
        or dtype.
        """
        arrays = self._inputs(inputs)
        outputs = self._outputs(out, arrays)
        with self._lock:
            buffers = self._bind(arrays, outputs)
            self._kernel(ctypes.addressof(buffers), self._scratch.ctypes.data)
        return outputs

    def bench(
        self, inputs: Mapping[str, Any] | Sequence[Any], count: int
    ) -> npt.NDArray[np.float64]:
        """Run `count` times on the same arrays; the seconds of each call, timed natively
        (validation, copies of inputs and the Python call are not in them).
        """
        arrays = self._inputs(inputs)
        outputs = self._outputs(None, arrays)
        with self._lock:
            buffers = self._bind(arrays, outputs)
            return self._kernel.bench(ctypes.addressof(buffers), self._scratch.ctypes.data, count)

    def _bind(self, arrays: Sequence[Array], outputs: Sequence[Array]) -> Pointers:
        """The native pointer array; the lock is held, because staged copies are shared."""
        if self._constants is None:
            names = ", ".join(p.source.name for p in self.artifact.packings)
            raise InputError(f"call prepare() with the constants first: {names}")
        placed = [self._place(s, a) for s, a in zip(self.artifact.inputs, arrays, strict=True)]
        return pointer_array([a.ctypes.data for a in (*placed, *self._constants, *outputs)])

    def _inputs(self, inputs: Mapping[str, Any] | Sequence[Any]) -> list[Array]:
        specs = self.artifact.inputs
        if not isinstance(inputs, Mapping):
            wanted = self._arguments
            if len(inputs) != len(wanted):
                listed = ", ".join(map(str, wanted)) or "none"
                raise InputError(f"{len(inputs)} inputs given, {len(wanted)} needed: {listed}")
            inputs = {s.name: x for s, x in zip(wanted, inputs, strict=True)}
        _check_names("input", inputs, [s.name for s in specs])
        return [_as_array(s, inputs[s.name]) for s in specs]

    def _outputs(self, out: Sequence[Array] | None, inputs: Sequence[Array]) -> list[Array]:
        specs = self.artifact.outputs
        if out is None:
            return [aligned_empty(s.shape, numpy_dtype(s.dtype)) for s in specs]
        if len(out) != len(specs):
            raise InputError(f"{len(out)} output arrays given, {len(specs)} needed")
        for spec, array in zip(specs, out, strict=True):
            _check_array(spec, array)
            if not is_aligned(array) or not array.flags.writeable:
                raise InputError(
                    f"output {spec.name} must be writable, contiguous and start at a multiple of "
                    f"{ALIGNMENT} bytes: make it with tilewright.runtime.aligned_empty"
                )
            if any(np.may_share_memory(array, other) for other in inputs):
                raise InputError(f"output {spec.name} must not share memory with an input")
        return list(out)

    def _place(self, spec: BufferSpec, array: Array) -> Array:
        if is_aligned(array):
            return array
        if spec.name not in self._staged:
            self._staged[spec.name] = aligned_empty(spec.shape, array.dtype)
        staged = self._staged[spec.name]
        np.copyto(staged, array)
        return staged


def _check_names(what: str, given: Mapping[str, Any], wanted: list[str]) -> None:
    missing = [n for n in wanted if n not in given]
    unknown = [n for n in given if n not in wanted]
    if missing or unknown:
        parts = [f"missing {', '.join(missing)}"] * bool(missing)
        parts += [f"unknown {', '.join(map(str, unknown))}"] * bool(unknown)
        raise InputError(f"{what}s: {'; '.join(parts)}; wanted: {', '.join(wanted) or 'none'}")


def _as_array(spec: BufferSpec, value: Any) -> Array:
    if not isinstance(value, (np.ndarray, np.generic)):
        if not hasattr(value, "__dlpack__"):
            raise InputError(
                f"{spec.name} must be a NumPy array or offer DLPack, got {type(value).__name__}"
            )
        try:
            value = np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(
                f"{spec.name}: NumPy cannot take this {type(value).__name__} through DLPack "
                f"({error}); give it as a NumPy array on the CPU"
            ) from error
    array: Array = np.asarray(value)
    _check_array(spec, array)
    return array


def _check_array(spec: BufferSpec, array: Array) -> None:
    if array.shape != spec.shape or array.dtype != numpy_dtype(spec.dtype):
        raise InputError(
            f"{spec.name} must be {spec.dtype} of shape {spec.shape}, "
            f"got {array.dtype} of shape {array.shape}"
        )

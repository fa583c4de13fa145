"""Packed constants: in the order and layouts that the native code reads.

pool = ConstantPool()                    of several functions: equal constants are stored once
constants = pack(artifact, {"w": w, "b": b}, pool)
constants.addresses                      one a constant, each a multiple of 64
starts, size = offsets(constants.specs)  where each one is in one block
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.contract.artifact import Array, Artifact, BufferSpec, aligned, numpy_dtype
from tilewright.runtime.buffers import address, aligned_empty
from tilewright.runtime.parameters import Parameter, as_array, check_names


class ConstantPool:
    """Arrays by their contents. It keeps none alive: an array goes with the last function."""

    def __init__(self) -> None:
        self._known: weakref.WeakValueDictionary[tuple[object, ...], Array] = (
            weakref.WeakValueDictionary()
        )

    def shared(self, array: Array) -> Array:
        """An array equal to `array` in shape, dtype and every byte: itself, if it is the first.

        `array` is contiguous and must not change any more.
        """
        digest = hashlib.blake2b(array.reshape(-1).view(np.uint8).data, digest_size=32).digest()
        return self._known.setdefault((array.shape, array.dtype.name, digest), array)


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants `specs`: contiguous arrays, which may be memory of a loaded library."""

    specs: tuple[BufferSpec, ...]
    arrays: tuple[Array, ...]

    @property
    def addresses(self) -> list[int]:
        """Where each one begins."""
        return [address(array) for array in self.arrays]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as they are, and laid out anew where they are read: kernels want alignment."""
        return placed, (self.specs, self.arrays)

    def pooled(self, pool: ConstantPool) -> Constants:
        """The same, where those that `pool` has already are its."""
        return Constants(self.specs, tuple(map(pool.shared, self.arrays)))

    @staticmethod
    def within(block: Array, specs: tuple[BufferSpec, ...], starts: Sequence[int]) -> Constants:
        """Those that begin at `starts` of a block of bytes."""
        arrays = []
        for spec, start in zip(specs, starts, strict=True):
            array = block[start : start + spec.bytes].view(numpy_dtype(spec.dtype))
            arrays.append(array.reshape(spec.shape))
        return Constants(specs, tuple(arrays))


def placed(specs: tuple[BufferSpec, ...], arrays: Sequence[Array]) -> Constants:
    """Packed constants copied to one block, in the order of their first use."""
    starts, size = offsets(specs)
    block = aligned_empty((size,), np.dtype(np.uint8), 1)
    copies = []
    for spec, start, array in zip(specs, starts, arrays, strict=True):
        copies.append(block[start : start + spec.bytes].view(array.dtype).reshape(array.shape))
        np.copyto(copies[-1], array)
    return Constants(specs, tuple(copies))


def offsets(specs: Sequence[BufferSpec]) -> tuple[list[int], int]:
    """Where each of `specs` begins in a block of all of them, and the block's bytes."""
    found, end = [], 0
    for spec in specs:
        found.append(end)
        end += aligned(spec.bytes)
    return found, end


def shared_offsets(several: Sequence[Constants]) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The same for the constants of several functions: arrays that they share are there once."""
    known: dict[tuple[int, int], int] = {}
    end = 0
    for constants in several:
        for key in _places(constants):
            if key not in known:
                known[key] = end
                end += aligned(key[1])
    return tuple(tuple(known[key] for key in _places(c)) for c in several), end


def _places(constants: Constants) -> list[tuple[int, int]]:
    """Address and bytes of each array."""
    return list(zip(constants.addresses, (s.bytes for s in constants.specs), strict=True))


def placed_arrays(
    several: Sequence[Constants], starts: Sequence[Sequence[int]]
) -> list[tuple[int, Array]]:
    """The constants of several functions and where they begin; those that are shared, once."""
    pairs = zip(several, starts, strict=True)
    placed = {at: x for c, places in pairs for at, x in zip(places, c.arrays, strict=True)}
    return list(placed.items())


def write_arrays(path: Path, pairs: Iterable[tuple[int, Array]], size: int) -> None:
    """Write arrays to a file of `size` bytes, by where they begin."""
    with path.open("wb") as file:
        for start, array in pairs:
            file.seek(start)
            array.tofile(file)
        file.truncate(size)


def packed_each(artifact: Artifact, given: Mapping[str, Array]) -> Iterator[Array]:
    """The packed constants of `artifact`, one after another."""
    for packing in artifact.packings:
        yield packing.apply(given[packing.source.name])


def pack(
    artifact: Artifact, given: Mapping[str, Any], pool: ConstantPool | None = None
) -> Constants:
    """The constants of `artifact`, from arrays by name in their logical layouts.

    Packed constants that `pool` has already are not stored again. Without a pool all are in one
    block in the order of their first use, as in a saved library: kernels prefetch beyond an end.
    """
    arrays = []
    first = len(artifact.inputs)
    starts, size = offsets(artifact.constants)
    block = aligned_empty((size if pool is None else 0,), np.dtype(np.uint8), first)
    slots = zip(artifact.packings, artifact.constants, starts, strict=True)
    for slot, (packing, spec, start) in enumerate(slots, first):
        source = np.asarray(given[packing.source.name])
        if pool is None:
            room = block[start : start + spec.bytes].view(source.dtype).reshape(packing.shape)
            arrays.append(packing.apply(source, room))
        else:
            room = aligned_empty(packing.shape, source.dtype, slot)
            arrays.append(pool.shared(packing.apply(source, room)))
    return Constants(artifact.constants, tuple(arrays))


def pack_given(
    artifact: Artifact, given: Mapping[str, Any], pool: ConstantPool | None = None
) -> Constants:
    """The same from what a user gives. Raises InputError for a missing or unknown name, a wrong
    shape or dtype.
    """
    check_names("constant", given, artifact.sources)
    arrays = {n: as_array(Parameter.of(s), given[n]) for n, s in artifact.sources.items()}
    return pack(artifact, arrays, pool)

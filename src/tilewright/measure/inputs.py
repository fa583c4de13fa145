"""Seeded random inputs, bit for bit the same on every machine and NumPy version.

    make_input(BufferSpec("x", (64, 64), "float32"), InputKind(), seed=0, index=0)

Floats are normal-like and of both signs: the sum of four 16-bit numbers of the PCG64 stream (whose
raw output NumPy keeps stable, unlike `Generator.normal`), shifted and scaled to mean 0 and the
wanted deviation. So the parent can check a remote runner's reference without sending tensors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tilewright.contract.artifact import Array, BufferSpec, numpy_dtype
from tilewright.contract.sizes import Point
from tilewright.ground.errors import InputError

SIGNED, POSITIVE, INTEGERS = "signed", "positive", "integers"
WORDS = 4
WORD_SPAN = 1 << 16
SUM_MEAN = WORDS * (WORD_SPAN - 1) / 2
SUM_DEVIATION = math.sqrt(WORDS * (WORD_SPAN**2 - 1) / 12)
# Values that stay well inside float16 after sums of thousands of products.
NARROW_SCALE = 0.25
POSITIVE_FLOOR = 0.1
# Integers of these widths take all values they can; wider ones stay where sums do not overflow.
FULL_RANGE_BITS = 8
WIDE_LIMIT = 100


@dataclass(frozen=True, slots=True)
class InputKind:
    """What values an input takes.

    "signed": floats of deviation `scale`; "positive": their magnitudes plus a tenth of `scale`
    (for what stands under a root or a logarithm); "integers": low <= value < high.
    """

    distribution: str = SIGNED
    scale: float = 1.0
    low: int = 0
    high: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> InputKind:
        return InputKind(**data)


def narrowest(kinds: Sequence[InputKind]) -> InputKind:
    """Of several kinds of one input, the one whose values all of them take."""
    least = min(kinds, key=lambda k: k.high)
    return next((k for k in kinds if k.distribution == POSITIVE), least)


@dataclass(frozen=True, slots=True)
class Place:
    """A point, the shapes of arrays there, and the extents by which they lie in memory."""

    point: Point
    shapes: Mapping[str, tuple[int, ...]]
    stored: Mapping[str, tuple[int, ...]]

    def live(self, name: str, memory: Array) -> Array:
        """The part of an array's memory that is its value."""
        stored = self.stored[name]
        rows = memory.reshape(-1)[: math.prod(stored)].reshape(stored)
        first: tuple[Any, ...] = (*map(slice, self.shapes[name]), ...)
        found: Array = rows[first]
        return found

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Place:
        shapes, stored = (
            {name: tuple(extents) for name, extents in data[what].items()}
            for what in ("shapes", "stored")
        )
        return Place(Point(**data["point"]), shapes, stored)


def default_kind(dtype: str) -> InputKind:
    """The kind for a dtype of which nothing else is known."""
    np_dtype = numpy_dtype(dtype)
    if np_dtype.kind == "b":
        return InputKind(INTEGERS, low=0, high=2)
    if np_dtype.kind in "iu":
        if np_dtype.itemsize * 8 <= FULL_RANGE_BITS:
            info = np.iinfo(np_dtype)
            return InputKind(INTEGERS, low=int(info.min), high=int(info.max) + 1)
        return InputKind(INTEGERS, low=-WIDE_LIMIT if np_dtype.kind == "i" else 0, high=WIDE_LIMIT)
    return InputKind(SIGNED, NARROW_SCALE if np_dtype.itemsize == 2 else 1.0)


def make_input(spec: BufferSpec, kind: InputKind, seed: int, index: int) -> Array:
    """The values of input number `index` of a task with this `seed`.

    Raises InputError for an unknown distribution or an empty integer range.
    """
    raw = np.random.PCG64(np.random.SeedSequence((seed, index))).random_raw(spec.elements)
    dtype = numpy_dtype(spec.dtype)
    if kind.distribution == INTEGERS:
        if kind.high <= kind.low:
            raise InputError(f"{spec.name}: no integer in [{kind.low}, {kind.high})")
        span = np.uint64(kind.high - kind.low)
        values: Array = (raw % span).astype(np.int64) + kind.low
    elif kind.distribution in (SIGNED, POSITIVE):
        # Float32 is exact here: the sums are below 2**24 and there is one rounding, the product's.
        work = np.float64 if dtype.itemsize == 8 else np.float32
        total = raw.view(np.uint16).reshape(-1, WORDS).sum(axis=1, dtype=np.int32)
        values = (total.astype(work) - work(SUM_MEAN)) * work(kind.scale / SUM_DEVIATION)
        if kind.distribution == POSITIVE:
            values = np.abs(values) + work(POSITIVE_FLOOR * kind.scale)
    else:
        raise InputError(f"{spec.name}: unknown distribution {kind.distribution!r}")
    return values.astype(dtype, copy=False).reshape(spec.shape)


def make_inputs(
    specs: Sequence[BufferSpec], kinds: Sequence[InputKind], seed: int
) -> dict[str, Array]:
    """All inputs by name; `kinds` in the order of `specs`."""
    pairs = enumerate(zip(specs, kinds, strict=True))
    return {s.name: make_input(s, kind, seed, index) for index, (s, kind) in pairs}

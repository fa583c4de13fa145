"""Dot instructions of CPUs: short sums of products of narrow numbers, added to sums of 32 bits.

    dot_of(target, "uint8", "int8")       Dot(name="vpdpbusd", length=4, …) with AVX-512 VNNI
    tiles_of(target, "bfloat16")          registers that hold whole tiles, with AMX
    fastest(target, "uint8", "int8")      ("tdpbusd", 32.0): that many times as fast as float32

A row is used for registers of its width where the target has all its features. Every
row of integers is exact: what it adds is what the loop of `length` terms would, in int32 that
wraps. Products of bfloat16 are exact, too, and added in float32; denormals are taken for zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from tilewright.target.cpu import CpuTarget

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Dot:
    """An instruction on registers of `bits` that adds `length` products to each int32 of one.
    `factors` are pairs of types that it multiplies, in any order; `name` is how code generation
    knows it, and `uops` what it takes with all that goes with it, in multiply-adds of floats (where
    nobody measured on the target, see `Speeds`). One of `words` multiplies numbers of 16 bits, as
    which bytes must be read first, and leaves the addition to another.
    """

    name: str
    bits: int
    length: int
    factors: tuple[tuple[str, str], ...]
    features: frozenset[str]
    uops: float = 1.0
    words: bool = False

    def multiplies(self, left: str, right: str) -> bool:
        """Whether it has products of these types."""
        return (left, right) in self.factors or (right, left) in self.factors


BYTES = ("int8", "uint8")
MIXED = (("uint8", "int8"),)
HALVES = (("bfloat16", "bfloat16"),)
WORDS = (*BYTES, "int16")
ANY = tuple(product(WORDS, WORDS))

# The first that fits is used. A product of bytes fits 17 bits, so pairs of them summed in 32 are
# exact; the instructions that saturate pairs in 16 bits (vpmaddubsw) are none of these. An addition
# goes with vpmaddwd, with registers of 256 bits often on three or four ports.
DOTS = (
    Dot("vpdpbusd", 512, 4, MIXED, frozenset({"avx512vnni", "avx512vl"})),
    Dot("vpdpbusd", 256, 4, MIXED, frozenset({"avx512vnni", "avx512vl"})),
    Dot("vpdpbusd", 256, 4, MIXED, frozenset({"avxvnni"})),
    Dot("vdpbf16ps", 512, 2, HALVES, frozenset({"avx512bf16", "avx512vl"}), 4.0),
    Dot("usdot", 128, 4, MIXED, frozenset({"i8mm"})),
    Dot("vpmaddwd", 512, 2, ANY, frozenset({"avx512bw", "avx512vl"}), 2.0, words=True),
    Dot("vpmaddwd", 256, 2, ANY, frozenset({"avx2"}), 1.5, words=True),
)


def dots_of(target: CpuTarget) -> list[Dot]:
    """The rows that a target has, for its registers."""
    words = target.instructions
    return [dot for dot in DOTS if dot.bits == target.vector_bits and dot.features <= words]


def dot_of(target: CpuTarget, left: str, right: str) -> Dot | None:
    """What multiplies factors of these types on a target; None where nothing does."""
    found = next((dot for dot in dots_of(target) if dot.multiplies(left, right)), None)
    gain = None if found is None else target.speeds.gain(found.name)
    return found if found is None or gain is None else replace(found, uops=found.length / gain)


@dataclass(frozen=True, slots=True)
class TileRegisters:
    """Registers of up to `rows` rows, of `columns` numbers of 32 bits, and so many of them. With
    fewer rows or steps of the depth than `least` dots in vectors are as fast. A product takes
    `cycles` for each row of its left tile, or of its right one if that has more.
    """

    rows: int
    columns: int
    count: int
    least: int = 4
    cycles: float = 1.0

    def part(self, extent: Numbers) -> Numbers:
        """The largest divisor of an extent that is at most `rows`."""
        extents, where = np.unique(extent, return_inverse=True)  # there are few
        found = np.ones_like(extents)
        for d in range(2, self.rows + 1):
            found[extents % d == 0] = d
        return found[where]

    def multiply(self, height: Numbers, steps: Numbers, down: Numbers, across: Numbers) -> Bools:
        """Whether so many tiles of a sum stay in registers, with one row or column of factors, and
        have rows and steps enough.
        """
        fits: Bools = down * across + np.minimum(down, across) + 1 <= self.count
        return fits & (height >= self.least) & (steps >= self.least)


AMX = TileRegisters(16, 16, 8)
TILED = {
    "bfloat16": ("amx-bf16", "tdpbf16ps", 16.0),
    "int8": ("amx-int8", "tdpbusd", 32.0),
    "uint8": ("amx-int8", "tdpbusd", 32.0),
}
"""By a factor's type: the feature word, one of its instructions, and how many times as many
operations a cycle as multiply-adds of floats that does, where a row of a tile takes a cycle."""


def tiles_of(target: CpuTarget, factor: str) -> TileRegisters | None:
    """The tile registers of a target that multiply factors of this type; None where there are
    none.
    """
    word, name, usual = TILED.get(factor, ("", "", 0.0))
    if not {"amx-tile", "avx512f", word} <= target.instructions:
        return None
    gain = target.speeds.gain(name)
    return AMX if gain is None else replace(AMX, cycles=usual / gain)


def has_tiles(target: CpuTarget) -> bool:
    """Whether a target has tile registers for anything."""
    return any(tiles_of(target, factor) is not None for factor in TILED)


def fastest(target: CpuTarget, left: str, right: str) -> tuple[str, float] | None:
    """What multiplies factors of these types at the highest rate, and how many times as fast as
    float32 it is, as measured or as the tables say; None where nothing does.
    """
    found = []
    if (dot := dot_of(target, left, right)) is not None:
        found.append((dot.name, dot.length / dot.uops))
    tiles = tiles_of(target, left)
    if tiles is not None and tiles_of(target, right) is not None:
        _, name, usual = TILED[left]
        found.append((name, usual / tiles.cycles))
    return max(found, key=lambda pair: pair[1], default=None)

"""The parameters of a template's instance, and which of them can be.

    parameters = Parameters(block_m=128, block_n=128, block_k=32, warp_m=64, warp_n=64, ...)
    check(conditions(parameters, problem), "cutlass.gemm")      raises ScheduleError, says which

All is arithmetic on ints or on int64 columns alike (`[n]`, one row a program), so a whole list is
checked at once and before anything is compiled: CUTLASS itself tells of few of these limits, and of
some of them by wrong results only (an N beyond the tile of two contractions in one kernel).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tilewright.cutlass.architectures import Architecture
from tilewright.ground.errors import ScheduleError

Ints: TypeAlias = npt.NDArray[np.int64]
Number: TypeAlias = "int | Ints"
Truth: TypeAlias = "bool | npt.NDArray[np.bool_]"

WARP = 32
THREAD_REGISTERS = 255
BLOCK_REGISTERS = 65536
OTHER_REGISTERS = 50  # of a thread: addresses, predicates, what the compiler keeps
ACCESS_BYTES = 16  # the widest access of one thread
# Eight rows at a time are written by all warps that are side by side, each with accesses of 8
# elements in at most 16 of its lanes a row (CUTLASS's OutputTileOptimalThreadMap).
EPILOGUE_WARPS, EPILOGUE_COLUMNS = 4, 32
EPILOGUE_WARP_COLUMNS = 64  # of the result, at most: see `gemm.epilogue_conditions`
# Bits in which iterators remember which accesses of a tile are inside of the tensor.
MOST_LOADS, MOST_PREDICATES = 31, 64
LOOKUP_BYTES = 1024  # static shared memory of a convolution, at most (tw_conv.h)
LEAST_ASYNC_BYTES = 4  # of one cp.async, which more than two stages need


@dataclass(frozen=True, slots=True)
class Parameters:
    """Tiles in elements: of a block, and of a warp (which has all of `block_k`). `stages` tiles are
    in shared memory at once; `swizzle` columns of blocks are walked together, so that they find
    each other's data in the cache. `align` elements of K are one access. `pad` says that operands
    whose K does not suit `align` are copied to where it does. Of two contractions in one kernel
    `block_n1`, `warp_m1`, `warp_n1` are the second one's tiles, and `shared` says that the middle
    value is in shared memory rather than in registers.
    """

    block_m: Number
    block_n: Number
    block_k: Number
    warp_m: Number
    warp_n: Number
    stages: Number
    swizzle: Number = 1
    align: Number = 8
    pad: Number = 0
    block_n1: Number = 0
    warp_m1: Number = 0
    warp_n1: Number = 0
    shared: Number = 0

    @property
    def warps(self) -> Number:
        """Warps of a block."""
        return (self.block_m // self.warp_m) * (self.block_n // self.warp_n)

    @property
    def threads(self) -> Number:
        return WARP * self.warps

    @property
    def values(self) -> tuple[Number, ...]:
        """In the order of the fields."""
        return tuple(getattr(self, name) for name in FIELDS)


FIELDS = tuple(f.name for f in fields(Parameters))


@dataclass(frozen=True, slots=True)
class Condition:
    """One limit: whether it holds, its name, and what it says of the values."""

    name: str
    holds: Truth
    words: str


def tile_conditions(p: Parameters, architecture: Architecture, dtype: str) -> list[Condition]:
    """What every template asks of its tiles on one architecture."""
    return [
        *_shape_conditions(p, architecture, dtype),
        *_load_conditions(p, dtype),
        Condition(
            "stages", (p.stages >= 2) & (p.stages <= architecture.stages),
            f"{architecture.name} has 2 to {architecture.stages} stages, not {p.stages}",
        ),
        _register_condition(p, architecture, dtype),
        Condition(
            "access of stages",
            (p.stages == 2) | (p.align * element_bytes(dtype) >= LEAST_ASYNC_BYTES),
            f"more than 2 stages copy at least {LEAST_ASYNC_BYTES} bytes at a time, "
            f"not {p.align} elements of {element_bytes(dtype)}",
        ),
    ]  # fmt: skip


def _shape_conditions(p: Parameters, architecture: Architecture, dtype: str) -> list[Condition]:
    """How tiles of block, warp and instruction go together."""
    m, n, k = architecture.instructions[dtype]
    return [
        Condition(
            "warp divides block",
            (p.block_m % p.warp_m == 0) & (p.block_n % p.warp_n == 0),
            f"tiles of a warp, {p.warp_m} x {p.warp_n}, divide those of a block, "
            f"{p.block_m} x {p.block_n}",
        ),
        Condition(
            "instruction divides warp",
            (p.warp_m % m == 0) & (p.warp_n % (2 * n) == 0) & (p.block_k % k == 0)
            & (p.block_k // k >= 2),
            f"a warp's tile {p.warp_m} x {p.warp_n} x {p.block_k} is of whole instructions "
            f"{m} x {n} x {k}, two of them or more along k",
        ),
        Condition(
            "warps of a block", (p.warps >= 1) & (p.warps <= 16),
            f"a block has 1 to 16 warps, not {p.warps}",
        ),
    ]  # fmt: skip


def _load_conditions(p: Parameters, dtype: str) -> list[Condition]:
    """How the threads of a block share the accesses to memory."""
    full = ACCESS_BYTES // element_bytes(dtype)
    accesses = p.block_k // full
    threads = greater(p.threads, 1)  # of a block smaller than a warp's tile there are none
    loads = greater(*loads_of(p, dtype))
    return [
        Condition(
            "threads load whole tiles",
            (p.block_m * accesses % threads == 0) & (p.block_n * accesses % threads == 0),
            f"{p.threads} threads share the {ACCESS_BYTES}-byte accesses of tiles "
            f"{p.block_m} x {p.block_k} and {p.block_n} x {p.block_k} evenly",
        ),
        Condition(
            "loads of a thread",
            (loads <= MOST_LOADS) & (loads * full <= MOST_PREDICATES * p.align),
            f"a thread loads at most {MOST_LOADS} times {full} elements of a tile, in at most "
            f"{MOST_PREDICATES} accesses, not {loads} with accesses of {p.align}",
        ),
        Condition(
            "threads of the epilogue",
            (p.warp_n >= EPILOGUE_COLUMNS) & (p.block_n // p.warp_n <= EPILOGUE_WARPS),
            f"warps side by side, {p.block_n} / {p.warp_n}, are at most {EPILOGUE_WARPS} of at "
            f"least {EPILOGUE_COLUMNS} columns",
        ),
    ]


def _register_condition(p: Parameters, architecture: Architecture, dtype: str) -> Condition:
    """Two stages pass through registers on their way, and every access of less than 16 bytes has an
    address and a test of its own.
    """
    left, right = loads_of(p, dtype)
    both: Number = left + right
    underway = (p.stages == 2) * both * (ACCESS_BYTES // 4)
    narrow = both * (ACCESS_BYTES // element_bytes(dtype) // p.align - 1)
    large, limit = large_registers(p, architecture, dtype), thread_registers(p)
    return Condition(
        "registers",
        large + underway + narrow <= limit,
        f"accumulators, operands and addresses of a thread, {large}, with {underway} on their way "
        f"and {narrow} for narrow accesses fit into {limit} registers",
    )


def shared_condition(used: Number, limit: int, where: str) -> Condition:
    """A block's shared memory."""
    return Condition(
        "shared memory", used <= limit, f"{used} bytes of shared memory fit into {where}'s {limit}"
    )


def stage_bytes(rows: Number, columns: Number, p: Parameters, dtype: str) -> Number:
    """Bytes of all stages of both operands' tiles."""
    tiles: Number = (rows + columns) * p.block_k
    return p.stages * tiles * element_bytes(dtype)


def epilogue_bytes(block_n: Number, warps_m: Number) -> Number:
    """Shared memory through which accumulators are put in order: twice eight rows of each row of
    warps, a little wider than the tile against bank conflicts.
    """
    found: Number = warps_m * 16 * (block_n + 8) * 4
    return found


def element_bytes(dtype: str) -> int:
    return 4 if dtype == "float32" else 2


def large_registers(p: Parameters, architecture: Architecture, dtype: str) -> Number:
    """Registers of accumulators, of two steps' operands, and of what every kernel keeps."""
    k = architecture.instructions[dtype][2]
    fragments = 2 * (p.warp_m + p.warp_n) * k * element_bytes(dtype) // 4 // WARP
    accumulators = p.warp_m * p.warp_n // WARP
    return accumulators + fragments + OTHER_REGISTERS


def thread_registers(p: Parameters) -> Number:
    """Registers that a thread can have: so many at most, and its share of the block's."""
    share = BLOCK_REGISTERS // greater(p.threads, 1)
    return -greater(-share, -THREAD_REGISTERS)


def loads_of(p: Parameters, dtype: str) -> tuple[Number, Number]:
    """Accesses of 16 bytes with which a thread loads the tiles of the left factor and the right."""
    accesses = p.block_k * element_bytes(dtype) // ACCESS_BYTES
    threads = greater(p.threads, 1)
    return p.block_m * accesses // threads, p.block_n * accesses // threads


def greater(a: Number, b: Number) -> Number:
    """The greater of two, ints or columns."""
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    found: Ints = np.maximum(a, b)
    return found


def check(conditions: Iterable[Condition], what: str) -> None:
    """Raises ScheduleError with the first condition that does not hold."""
    for condition in conditions:
        if not np.all(condition.holds):
            raise ScheduleError(f"{what}: {condition.name}: it is not so that {condition.words}")


def valid(conditions: Iterable[Condition], count: int) -> npt.NDArray[np.bool_]:
    """Which rows of columns hold all conditions, `[count]`."""
    found = np.ones(count, bool)
    for condition in conditions:
        found &= condition.holds
    return found

"""Reductions over the threads of a block: shuffles inside a warp, shared memory beyond it.

    CombinedThreads(count=32, threads=128, rows=True)     four rows of 32 threads, a sum for each

All threads of a group end up with the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.codegen.clike.dialect import Dialect
from tilewright.codegen.clike.expressions import Expressions
from tilewright.expr.dtypes import DType
from tilewright.expr.nodes import const

WARP = 32


@dataclass(frozen=True, slots=True)
class CombinedThreads:
    """`count` of the block's `threads` are combined: a row (x) of each y, or all of them."""

    count: int
    threads: int
    rows: bool

    def in_warp(self, dialect: Dialect) -> bool:
        """Whether shuffles can do it: a power of two within whole warps."""
        power = self.count & (self.count - 1) == 0
        whole = power and self.count <= WARP and self.threads % WARP == 0
        return whole and dialect.shuffle != ""

    def needs_scratch(self, dialect: Dialect) -> bool:
        """Whether it goes through shared memory: one element a thread."""
        return not self.in_warp(dialect)


def pair(write: Expressions, op: str, dtype: DType, a: str, b: str) -> str:
    """The combination of two values of the compute type."""
    match op:
        case "sum":
            return f"{a} + {b}"
        case "prod":
            return f"{a} * {b}"
    if dtype.kind == "bool":
        return f"{a} && {b}" if op == "min" else f"{a} || {b}"
    return f"{write.helper(op, dtype)}({a}, {b})"


def neutral(write: Expressions, op: str, dtype: DType) -> str:
    """The value that changes no result."""
    return write.literal(const(dtype.neutral(op), dtype))


def over_threads(
    write: Expressions,
    op: str,
    dtype: DType,
    value: str,
    scratch: str,
    group: CombinedThreads,
    thread: str,
) -> Iterator[str]:
    """Lines after which the variable `value` holds the result in every thread of its group."""
    if group.in_warp(write.dialect):
        write.helpers["tw_shuffle_xor"] = write.dialect.shuffle
        step = group.count // 2
        yield "#pragma unroll"
        other = "tw_shuffle_xor(" + value + ", lanes)"
        yield f"for (int lanes = {step}; lanes > 0; lanes /= 2) {{"
        yield f"    {value} = {pair(write, op, dtype, value, other)};"
        yield "}"
        return
    barrier = write.dialect.barrier
    place = f"{thread} % {group.count}" if group.rows and group.count < group.threads else thread
    yield barrier  # whoever used the storage before
    yield f"{scratch}[{thread}] = {value};"
    yield barrier
    half = 1
    while half * 2 < group.count:
        half *= 2
    # halves; the first step takes what is beyond a power of two
    step = half
    while step >= 1:
        limit = min(step, group.count - step)
        a, b = f"{scratch}[{thread}]", f"{scratch}[{thread} + {step}]"
        yield f"if ({place} < {limit}) {{ {a} = {pair(write, op, dtype, a, b)}; }}"
        yield barrier
        step //= 2
    first = f"{thread} - {place}" if place != thread else "0"
    yield f"{value} = {scratch}[{first}];"

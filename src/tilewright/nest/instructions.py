"""What an `Instruction` of a nest does: who does it, with how much, and what comes of it.

    mma.m16n8k16(C[0], A[0], B[0])      a warp: 16 x 8 sums of 16 products, in registers
    ldmatrix.x4(A[0], s[row, column])   a warp: 4 matrices of 8 x 8, each thread with a row's place
    cp.async.16(s[i], x[j])             a thread: 16 bytes, there after the wait for their group
    cp.async.commit_group()             the copies since the last one are a group
    cp.async.wait_group(1)              all groups but the last one are there
    wgmma.m64n128k16.kk(C[0], a[0, 0], b[0, 0])     four warps: 64 x 128 sums of 16 products
    cp.async.bulk.tensor.3d(s[i, 0, 0], x[b, r, c], full[i])    a thread: a box of a tensor
    mbarrier.try_wait.parity(full[i], p)            until the phase of that parity is over

Names are PTX's. Operands are runs of so many bytes along their tensors' last dimension, aligned to
their size, or windows of shared tiles; which element of a fragment each thread holds is a task
mapping. The semantics here are the interpreter's; the verifier, cost and code generation read the
rest of the table.

What `wgmma` begins goes on until its group is waited for: its sums are not to be used before, what
it reads is not to be written. It reads shared memory by a path of its own, so that threads' writes,
those of their copies included, have a fence before the barrier in front of it.

A box is copied by the hardware alone, swizzled and with zeros outside of the tensor. It is there
for those who have waited for the phase of the `mbarrier` that counts its bytes (`mbarriers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from tilewright.nest.gpu.task_map import TaskMap, repeat, spatial
from tilewright.nest.nodes import Instruction, Scope
from tilewright.nest.reference.lanes import Array

WARP = 32
HALVES = ("float16", "bfloat16")
NUMBER = 0
"""Stands for the bytes of an operand that is a number."""

LEFT = repeat(2, 2, order=(1, 0)) * spatial(8, 4) * repeat(1, 2)
RIGHT = repeat(1, 2) * spatial(8, 4) * repeat(1, 2)
SUMS = repeat(2, 1) * spatial(8, 4) * repeat(1, 2)
"""Rows and depth of the left factor of m16n8k16, columns and depth of the right one, rows and
columns of the sums: which thread of the warp holds which element, and in what order.
"""

GROUP = 4 * WARP
"""Threads of a warpgroup."""


def group_sums(columns: int) -> TaskMap:
    """Rows and columns of the sums of m64nNk16 by the threads of a warpgroup."""
    return spatial(4, 1) * repeat(1, columns // 8) * SUMS


@dataclass(frozen=True, slots=True)
class Window:
    """An operand that is `outer` rows (or columns) by `depth` of a tile in shared memory, the same
    for all who take part; from its first element on, `[outer, depth]`, or `[outer / 64, depth, 64]`
    where rows of the tile are not along the depth. Rows of the tile have 128 bytes.
    """

    outer: int
    depth: int
    by_depth: bool

    def offsets(self) -> Array:
        """How far every element is from the first, `[outer, depth, dimensions]`."""
        outer, depth = np.indices((self.outer, self.depth))
        if self.by_depth:
            return np.stack([outer, depth], axis=-1)
        return np.stack([outer // WINDOW_ROW, depth, outer % WINDOW_ROW], axis=-1)


WINDOW_ROW = 64
"""Halves of a row of 128 bytes."""


@dataclass(frozen=True, slots=True)
class Box:
    """Both last dimensions of a tile in shared memory, and as many rows and columns of a view
    `[batch, row, column]` (`expr.tensors.View`) from an element on; those outside of it are 0.
    """


BOX_RANK = 3  # of views
MOST_BOX = 256  # rows

Semantics: TypeAlias = Callable[[Sequence[Array]], Array]
"""Of warps: what each thread gets (`[warps, 32, elements]`) of the operands, each the like."""


@dataclass(frozen=True, slots=True)
class InstructionRule:
    """One line of the table. `result` and `operands` are bytes of each, or what else they are;
    `threads` do it together.

    `accumulates`: the result's old elements are the semantics' first operand. `is_deferred`: the
    result is there after a wait only. `dtypes` are those that operands may have (empty: any), all
    the same, and the result too, unless it is in `sums`. `scopes` are where the result and the
    operands lie (None: what the program is given). `products`: multiply-adds of one thread. A
    `group` is a name of what its results are waited for by.
    """

    threads: int = 1
    result: int | Box = 0
    operands: tuple[int | Window | Box, ...] = ()
    semantics: Semantics | None = None
    accumulates: bool = False
    is_deferred: bool = False
    dtypes: tuple[str, ...] = ()
    sums: str = ""
    scopes: tuple[Scope | None, ...] = ()
    products: int = 0
    group: str = ""


def _multiplied(given: Sequence[Array]) -> Array:
    sums, left, right = given
    a, b = _gathered(left, LEFT), _gathered(right, RIGHT)
    return sums + _scattered(a @ b.swapaxes(1, 2), SUMS)


@cache
def _places(mapping: TaskMap) -> tuple[Array, ...]:
    """Of every element, by thread and number: its index in a dimension, `[threads, elements]`."""
    assert isinstance(mapping.workers, int)
    tasks = np.array([mapping.tasks(w) for w in range(mapping.workers)])
    return tuple(tasks[..., d] for d in range(tasks.shape[-1]))


def _gathered(held: Array, mapping: TaskMap) -> Array:
    """The matrices that warps hold."""
    shape = [e for e in mapping.shape if isinstance(e, int)]
    found = np.zeros((len(held), *shape), held.dtype)
    every: Any = (slice(None), *_places(mapping))
    found[every] = held
    return found


def _scattered(matrices: Array, mapping: TaskMap) -> Array:
    """What each thread holds of them."""
    every: Any = (slice(None), *_places(mapping))
    found: Array = matrices[every]
    return found


def _matrices(transposed: bool) -> Semantics:
    """Rows of matrices of 8 x 8, each of a thread, dealt out: thread l gets the elements 2 (l mod
    4) and the next of row l // 4 of every matrix, of its column where it is transposed.
    """

    def loaded(given: Sequence[Array]) -> Array:
        (rows,) = given
        matrices = rows.reshape(len(rows), -1, 8, 8)
        if transposed:
            matrices = matrices.swapaxes(2, 3)
        dealt = matrices.reshape(len(rows), matrices.shape[1], WARP, 2)
        return dealt.swapaxes(1, 2).reshape(len(rows), WARP, -1)

    return loaded


def _copied(given: Sequence[Array]) -> Array:
    return given[0]


def _copy(size: int) -> InstructionRule:
    scopes = Scope.SHARED, None
    return InstructionRule(1, size, (size,), _copied, is_deferred=True, scopes=scopes, group=COPY)


def _load(transposed: bool) -> InstructionRule:
    scopes = (Scope.LOCAL, Scope.SHARED)
    return InstructionRule(WARP, 16, (16,), _matrices(transposed), dtypes=HALVES, scopes=scopes)


MMA = InstructionRule(
    WARP,
    16,
    (16, 8),
    _multiplied,
    accumulates=True,
    dtypes=HALVES,
    sums="float32",
    scopes=(Scope.LOCAL,) * 3,
    products=64,
)


def _group_multiplied(given: Sequence[Array]) -> Array:
    sums, left, right = given
    return sums + _scattered(left @ right.swapaxes(1, 2), group_sums(right.shape[1]))


def _of_group(columns: int, left: str, right: str) -> InstructionRule:
    windows = Window(64, 16, left == "k"), Window(columns, 16, right == "k")
    return InstructionRule(
        GROUP, columns * 2, windows, _group_multiplied, accumulates=True, is_deferred=True,
        dtypes=HALVES, sums="float32", scopes=(Scope.LOCAL, Scope.SHARED, Scope.SHARED),
        products=8 * columns, group=WGMMA,
    )  # fmt: skip


def _of_phases(*numbers: int) -> InstructionRule:
    return InstructionRule(1, MBARRIER_BYTES, numbers, scopes=(Scope.SHARED,))


WGMMA = "wgmma."
GROUP_FENCE, GROUP_COMMIT, GROUP_WAIT = "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group"
PROXY_FENCE = "fence.proxy.async"
GROUP_COLUMNS = (64, 128, 192, 256)
BULK_COPY = "cp.async.bulk.tensor.3d"
MBARRIER = "mbarrier."
INIT, ARRIVE = "mbarrier.init", "mbarrier.arrive"
EXPECT, PHASE_WAIT = "mbarrier.arrive.expect_tx", "mbarrier.try_wait.parity"
MBARRIER_BYTES = 8
COMMIT, WAIT = "cp.async.commit_group", "cp.async.wait_group"
COPY = "cp.async."
INSTRUCTIONS: Mapping[str, InstructionRule] = {
    "mma.m16n8k16": MMA,
    "ldmatrix.x4": _load(transposed=False),
    "ldmatrix.x4.trans": _load(transposed=True),
    f"{COPY}4": _copy(4),
    f"{COPY}8": _copy(8),
    f"{COPY}16": _copy(16),
    COMMIT: InstructionRule(),
    WAIT: InstructionRule(operands=(NUMBER,)),
    PROXY_FENCE: InstructionRule(),
    GROUP_FENCE: InstructionRule(GROUP),
    GROUP_COMMIT: InstructionRule(GROUP),
    GROUP_WAIT: InstructionRule(GROUP, operands=(NUMBER,)),
    BULK_COPY: InstructionRule(
        1, Box(), (Box(), MBARRIER_BYTES), dtypes=HALVES, scopes=(Scope.SHARED, None, Scope.SHARED)
    ),
    ARRIVE: _of_phases(),
    INIT: _of_phases(NUMBER),
    EXPECT: _of_phases(NUMBER),
    PHASE_WAIT: _of_phases(NUMBER),
    **{
        f"{WGMMA}m64n{n}k16.{left}{right}": _of_group(n, left, right)
        for n in GROUP_COLUMNS
        for left in "km"
        for right in "km"
    },
}


def rule_of(node: Instruction) -> InstructionRule:
    """Its line in the table. Raises KeyError for an instruction that is not there."""
    return INSTRUCTIONS[node.name]

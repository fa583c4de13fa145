"""Features of paper appendix B, for one statement of many candidates at once.

    columns(analysis, out)                out: [columns, n]

A statement is an innermost store. A loop of extent 1 equals an absent loop in every column.
`COLUMNS` names each column with its unit; the first 164 are the paper's, the rest are ours. All are
made of the tables of `cost.analysis`, as the estimates are; `cost.extractor` puts both together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tilewright.cost.analysis import Analysis, Reached, past_last
from tilewright.cost.candidates import Bools, Float32s, Floats, Ints
from tilewright.cost.written_out import BOX_COPY
from tilewright.nest.nodes import Kind
from tilewright.nest.operations import OPERATIONS

BUFFERS = 5
CURVE = 10
POSITIONS = (
    "InnerSpatial", "MiddleSpatial", "OuterSpatial", "InnerReduce", "MiddleReduce", "OuterReduce",
    "Mixed", "None",
)  # fmt: skip
ANNOTATIONS = ("vector", "unrolled", "parallel")
WORKER_COLUMNS = {
    Kind.BLOCK: "block_x",
    Kind.VIRTUAL: "vthreads",
    Kind.THREAD_X: "thread_x",
    Kind.THREAD_Y: "thread_y",
}
BUFFER_COLUMNS = (
    ("is_read", "flag"), ("is_write", "flag"), ("is_update", "flag"),
    ("bytes", "B"), ("unique_bytes", "B"),
    ("lines", "cache lines"), ("unique_lines", "cache lines"),
    ("reuse_loop", "flag"), ("reuse_serial", "flag"), ("reuse_none", "flag"),
    ("reuse_distance", "iterations"), ("reuse_distance_bytes", "B"), ("reuse_count", "times"),
    ("bytes_per_reuse", "B"), ("unique_bytes_per_reuse", "B"),
    ("lines_per_reuse", "cache lines"), ("unique_lines_per_reuse", "cache lines"),
    ("stride", "elements"),
)  # fmt: skip
PARTS = ("compute", "near", "far", "exposed")
"""What a statement's estimated time is made of: arithmetic, traffic with the nearer and with the
farther memory, and what must be waited for.
"""


def _columns() -> tuple[tuple[str, str], ...]:
    """Name and unit of every column, in order."""
    names: list[tuple[str, str]] = []
    for kind in ("float", "int"):
        names += [(f"{kind}_{op}", "operations") for op in OPERATIONS]
    names += [("bool_ops", "operations"), ("select_ops", "operations")]
    for a in ANNOTATIONS:
        names += [(f"{a}_loops", "loops"), (f"{a}_product", "iterations")]
        names += [(f"{a}_innermost", "iterations")]
        names += [(f"{a}_at_{p}", "flag") for p in POSITIONS]
    names += [("is_gpu", "flag")]
    names += [(f"block_{x}", "blocks") for x in "xyz"] + [(f"thread_{x}", "threads") for x in "xyz"]
    names += [("vthreads", "threads")]
    for b in range(BUFFERS):
        names += [(f"buffer{b}_{n}", unit) for n, unit in BUFFER_COLUMNS]
    names += [(f"intensity_{i}", "operations/B") for i in range(CURVE)]
    names += [("alloc_bytes", "B"), ("alloc_count", "allocations"), ("alloc_inner", "iterations")]
    names += [("alloc_total", "iterations")]
    names += [("iterations", "iterations"), ("loops", "loops"), ("unroll_step", "statements")]
    names += [("padding_waste", "iterations/iteration"), ("streamed", "flag")]
    names += [("registers", "of a thread"), ("shared_bytes", "B of a block")]
    names += [("matrix_ops", "operations")]
    names += [(f"estimated_{part}", "of the task's usual time") for part in PARTS]
    names += [("estimate", "of the task's usual time")]
    return tuple(names)


COLUMNS = _columns()
PAPER_COLUMNS = 164
INDEX = {name: i for i, (name, _) in enumerate(COLUMNS)}


def columns(a: Analysis, out: Float32s) -> None:
    """Write all columns but the estimates, unscaled, to `out`: `[len(COLUMNS), n]`, zeros."""
    s = a.statement
    for (kind, op), count in s.counts.items():
        if (kind, op) == BOX_COPY:
            continue
        name = f"{kind}_{op}" if kind in ("float", "int") else f"{kind}_ops"
        out[INDEX[name]] = count * a.total
    _annotations(a, out)
    if a.workers:
        _threads(a, out)
    _buffers(a, out[INDEX["buffer0_is_read"] :])
    _intensity(a, out[INDEX["intensity_0"] :])
    alloc, size = a.inner[s.allocated_outside], a.size(0)
    out[INDEX["alloc_bytes"]] = size * a.bytes[0]
    out[INDEX["alloc_count"]] = a.total / alloc
    out[INDEX["alloc_inner"]] = alloc
    out[INDEX["alloc_total"]] = a.total / alloc * size
    out[INDEX["iterations"]] = a.total
    out[INDEX["loops"]] = _count(a.live)
    for name in a.marks.keys() & INDEX.keys():
        out[INDEX[name]] = a.marks[name]
    out[INDEX["padding_waste"]] = np.maximum(_computed(a) - 1.0, 0.0)


def _computed(a: Analysis) -> Floats:
    """Spatial iterations per distinct element written (1: nothing is computed twice)."""
    reduces = [i for i, loop in enumerate(a.loops) if loop.reduce]
    spatial: Floats = a.total / a.extents[reduces].prod(0) / a.reached[0].footprint[0]
    return spatial


def _first(marked: Bools) -> Ints:
    """The first row of `[L, n]` that holds in each column; as many as rows where none does."""
    first: Ints = len(marked) - past_last(marked[::-1])
    return first


def _count(marked: Bools) -> NDArray[np.int8]:
    """How many rows of `[L, n]` hold in each column."""
    count: NDArray[np.int8] = marked.view(np.int8).sum(0, dtype=np.int8)  # several times faster
    return count


def _annotations(a: Analysis, out: Float32s) -> None:
    """Loops, product, innermost extent and position of each kind of annotated loops."""
    first, last = _first(a.live), past_last(a.live) - 1
    for name in ANNOTATIONS:
        loops = list(a.parallel) if name == "parallel" else a.of_kind(Kind(name))
        marked = a.live[loops]
        if name == "parallel":
            for row, is_parallel in zip(marked, a.parallel.values(), strict=True):
                row &= is_parallel
        _annotation(
            a, np.array(loops, np.int64), marked, first, last, out[INDEX[f"{name}_loops"] :]
        )


def _annotation(
    a: Analysis, loops: Ints, marked: Bools, first: Ints, last: Ints, out: Float32s
) -> None:
    """The columns of `loops` where these are `marked`, `[loops, n]`; `first` and `last` are the
    numbers of the outermost and innermost loops that run.
    """
    if not marked.any():
        out[3 + POSITIONS.index("None")] = 1.0
        return
    past, each = past_last(marked), np.arange(a.n)
    any_marked = past > 0
    innermost = loops[past - 1]
    out[0] = _count(marked)
    extents = np.where(marked, a.extents[loops], 1.0)
    out[1] = np.where(any_marked, extents.prod(0), 0.0)
    out[2] = np.where(any_marked, a.extents[innermost, each], 0.0)
    reduce = np.array([a.loops[i].reduce for i in loops])
    has_reduce = marked[reduce].any(0)
    has_space = marked[~reduce].any(0)
    outer = loops[_first(marked) % len(loops)] == first
    place = np.where(innermost == last, 0, np.where(outer, 2, 1)) + np.where(has_reduce, 3, 0)
    place = np.where(has_reduce & has_space, 6, np.where(any_marked, place, 7))
    out[3 + place, each] = 1.0


def _threads(a: Analysis, out: Float32s) -> None:
    """How many workers of each kind the kernel has, and what it takes (as estimated, nothing
    is compiled); blocks are numbered along x only.
    """
    out[INDEX["is_gpu"]] = 1.0
    for name in ("block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z"):
        out[INDEX[name]] = 1.0
    out[INDEX["vthreads"]] = 1.0
    for kind, name in WORKER_COLUMNS.items():
        if kind in a.workers:
            out[INDEX[name]] = a.workers[kind]
    out[INDEX["registers"]] = a.resources["registers"]
    out[INDEX["shared_bytes"]] = a.resources["shared"]


def _buffers(a: Analysis, out: Float32s) -> None:
    """The 18 columns of the five accesses with the most unique bytes."""
    unique = a.unique_bytes
    table = np.zeros((a.B, len(BUFFER_COLUMNS), a.n), np.float32)
    for b, r in enumerate(a.reached):
        _buffer(a, b, r, unique[b], table[b])
    kept = min(a.B, BUFFERS)
    block = out[: BUFFERS * len(BUFFER_COLUMNS)].reshape(BUFFERS, len(BUFFER_COLUMNS), a.n)
    if a.B == 1:
        block[0] = table[0]
        return
    order = np.argsort(-unique, axis=0, kind="stable")[:kept]
    block[:kept] = np.take_along_axis(table, order[:, None, :], axis=0)


def _buffer(a: Analysis, b: int, r: Reached, unique: Floats, out: Float32s) -> None:
    """The columns of access b."""
    access = a.accesses[b]
    out[("read", "write", "update").index(access.kind)] = 1.0
    moves = r.stride > 0.0
    moves &= a.live[r.loops]
    each = np.arange(a.n)
    width = a.bytes[b]
    past = past_last(moves)
    stride = np.where(past > 0, r.stride[past - 1, each], 0.0) if r.loops else np.zeros(a.n)
    inside = a.inner[np.array([0, *(i + 1 for i in r.loops)])[past], each]
    lines = a.total / inside * np.minimum(1.0, stride * width / a.line)
    out[3], out[4] = a.total * width, unique
    out[5] = np.maximum(1.0, lines)
    out[6] = np.maximum(1.0, unique / np.minimum(a.line, a.run(b) * width))
    stays = a.live.copy()
    stays[r.loops] &= ~moves
    past = past_last(stays)
    reused = past > 0
    out[7] = reused
    out[8 if access.tensor.name in a.statement.shared else 9] = ~reused
    if a.L:
        out[10] = np.where(reused, a.inner[past, each], 0.0)
        out[11] = np.where(reused, a.level_bytes[past, each], 0.0)
        out[12] = np.where(reused, a.extents[past - 1, each], 0.0)
    # an element that is never reused costs twice: it is fetched and evicted for one use
    per = 1.0 / np.where(reused, np.maximum(out[12], 1.0), 0.5)
    out[13:17] = out[3:7] * per
    out[17] = stride


def _intensity(a: Analysis, out: Float32s) -> None:
    """Float operations per byte of footprint at each live loop, innermost first, sampled."""
    counts = a.statement.counts
    work = sum(c * (2 if op == "mad" else 1) for (k, op), c in counts.items() if k == "float")
    if not work:
        return
    if not a.L:
        out[:CURVE] = work / a.level_bytes[0]
        return
    curve = a.inner[: a.L] * work / a.level_bytes[: a.L]
    before = np.cumsum(a.live, 0)
    alive = before[-1]
    order = np.full((a.L + 1, a.n), a.L - 1)
    rank = np.where(a.live, alive - before, a.L)
    np.put_along_axis(order, rank, np.arange(a.L)[:, None], axis=0)
    top = np.maximum(alive - 1, 0)
    x = np.linspace(0, 1, CURVE)[:, None] * top
    low = x.astype(np.int64)
    high = np.minimum(low + 1, top)
    near = np.take_along_axis(curve, np.take_along_axis(order, low, 0), 0)
    far = np.take_along_axis(curve, np.take_along_axis(order, high, 0), 0)
    out[:CURVE] = near + (far - near) * (x - low)

"""An analytical latency estimate for GPUs, for whole populations at once.

    seconds, parts = gpu_estimate(analysis, target)     as `estimate.cpu_estimate` does for CPUs

Per statement it takes the longest of four: instructions, accesses of shared memory, traffic with
the second-level cache, traffic with device memory. Warps that are not full, multiprocessors that
have no block, and too few warps to hide latencies stretch it. Barriers and kernel calls come on
top. The constants are rough, as the CPU's are: they order programs, they predict no times.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilewright.cost.analysis import Analysis
from tilewright.cost.candidates import Floats
from tilewright.cost.written_out import BOX_COPY
from tilewright.nest.nodes import Kind, Scope
from tilewright.target import GpuTarget, Target

CYCLE_S = 1 / 1.5e9
WARPS_PER_CYCLE = 4.0  # that a multiprocessor issues
MATH_ISSUES = 4.0  # exp, tanh, … take the special units, of which there are fewer
DIVIDE_ISSUES = 8.0
MATRIX_ISSUES = {"mad": 1 / 8, "group mad": 1 / 16}  # of a multiply-add on tensor cores
ADDRESS_ISSUES = 0.5  # integers around an access, where unrolling does not fold them
LOOP_ISSUES = 3.0
SHARED_BYTES = 128.0  # of shared memory, by a multiprocessor in a cycle
L2_BYTES = 32.0
DRAM_BYTES = 12.0
SECTOR_BYTES = 32.0  # the least that device memory gives
HIDING_WARPS = 24.0  # warps of a multiprocessor, times independent sums of a thread, hide latencies
INDEPENDENT = 4.0  # more sums than that in a thread gain nothing
BARRIER_CYCLES = 40.0
LAUNCH_S = 4e-6


def gpu_estimate(a: Analysis, target: Target) -> tuple[Floats, Floats]:
    """Estimated seconds of one statement over all its iterations, `[n]`, with the launch of the
    kernel that it opens, and what they would be on full multiprocessors for each of
    `features.PARTS` alone, `[len(PARTS), n]`.
    """
    assert isinstance(target, GpuTarget)
    blocks, threads = _count(a, Kind.BLOCK), _count(a, Kind.THREAD_X) * _count(a, Kind.THREAD_Y)
    times = {b: executions(a, b) for b in range(a.B) if a.accesses[b].scope is not Scope.LOCAL}
    shared, near, far = traffic(a, target, times)
    warps = WARPS_PER_CYCLE * target.warp  # iterations issued in a cycle
    resident = resident_blocks(a, target, threads)
    here = np.minimum(resident, np.ceil(blocks / target.cores))  # blocks of one multiprocessor
    hiding = here * np.ceil(threads / target.warp) * np.minimum(independent(a), INDEPENDENT)
    stretched = np.maximum(1.0, HIDING_WARPS / hiding)
    partial = np.ceil(threads / target.warp) * target.warp / threads
    uneven = np.ceil(blocks / target.cores) * target.cores / blocks
    issued = issues(a, times) / warps * partial
    moved = np.maximum(shared / SHARED_BYTES, near / L2_BYTES)
    cycles = np.maximum(np.maximum(issued, moved), far / DRAM_BYTES)
    waiting = barriers(a) * np.ceil(blocks / (target.cores * here))
    seconds: Floats = cycles / target.cores * stretched * uneven + waiting
    busy = np.stack([issued, moved, far / DRAM_BYTES]) / target.cores
    launch_s = LAUNCH_S if a.statement.opens_kernel else 0.0
    return seconds * CYCLE_S + launch_s, np.vstack([busy, waiting]) * CYCLE_S


def _count(a: Analysis, kind: Kind) -> Floats:
    found: Floats = np.maximum(1.0, np.broadcast_to(a.workers.get(kind, 1), a.n))
    return found


def resident_blocks(a: Analysis, target: GpuTarget, threads: Floats) -> Floats:
    """Blocks that a multiprocessor runs at once, by their threads, shared bytes and registers."""
    most = target.residency
    room = np.minimum(float(most.blocks), most.threads // threads)
    if "shared" in a.resources:
        amount = np.maximum(a.resources["shared"] + most.reserved_bytes, 1)
        room = np.minimum(room, most.shared_bytes // amount)
    if "block_registers" in a.resources:
        room = np.minimum(room, most.registers // np.maximum(a.resources["block_registers"], 1))
    found: Floats = np.maximum(room, 1.0)
    return found


def barriers(a: Analysis) -> Floats:
    """Cycles in which the threads of one block wait for each other: around every filling of what
    they share.
    """
    if a.accesses[0].scope is not Scope.SHARED or BOX_COPY in a.statement.counts:
        return np.zeros(a.n)
    rounds = np.ones(a.n)
    for i, loop in enumerate(a.loops):
        if loop.kind is Kind.SERIAL and i < a.statement.allocated_outside:
            rounds = rounds * a.extents[i]
    return rounds * BARRIER_CYCLES


def independent(a: Analysis) -> Floats:
    """Sums of one thread that do not wait for each other: its unrolled and virtual loops."""
    found = np.ones(a.n)
    for i, loop in enumerate(a.loops):
        if loop.kind in (Kind.UNROLLED, Kind.VECTOR, Kind.VIRTUAL) and not loop.reduce:
            found = found * a.extents[i]
    return found


def issues(a: Analysis, times: Mapping[int, Floats]) -> Floats:
    """Instructions of all threads together; `times` are those of each access outside registers."""
    counts = a.statement.counts
    if BOX_COPY in counts:
        return np.zeros(a.n)
    quick: float = sum(n for (kind, op), n in counts.items() if kind == "float" and op != "math")
    quick += sum(issues * counts.get(("matrix", op), 0) for op, issues in MATRIX_ISSUES.items())
    slow = MATH_ISSUES * counts.get(("float", "math"), 0)
    slow += (DIVIDE_ISSUES - 1.0) * counts.get(("float", "divmod"), 0)
    found: Floats = a.total * (quick + slow)
    for b, count in times.items():
        computed = any(d.coefficients is None for d in a.accesses[b].dimensions)
        found = found + count * (1.0 + (DIVIDE_ISSUES if computed else ADDRESS_ISSUES))
    serial: Floats = a.total.copy()
    for i, loop in enumerate(a.loops):
        if loop.kind in (Kind.UNROLLED, Kind.VECTOR, Kind.VIRTUAL):
            serial = serial / a.extents[i]
    return found + serial * LOOP_ISSUES


def executions(a: Analysis, b: int) -> Floats:
    """Instructions that access b takes: a value stays in a register while unrolled loops next to
    the statement do not move it, and a vector is one access.
    """
    times: Floats = a.total * (2.0 if a.accesses[b].kind == "update" else 1.0)
    open_ = np.ones(a.n, bool)
    for i in range(a.L - 1, -1, -1):
        kind = a.loops[i].kind
        if kind is Kind.VECTOR:
            saved = i not in a.accesses[b].loops or a.stride(b, i) == 1
        elif kind is Kind.UNROLLED:
            saved = i not in a.accesses[b].loops
        else:
            open_ &= ~a.live[i]
            continue
        times = np.where(open_ & saved, times / a.extents[i], times)
    return times


def traffic(
    a: Analysis, target: GpuTarget, times: Mapping[int, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Bytes of all blocks that pass shared memory, the second-level cache and device memory;
    `times` as for `issues`.
    """
    shared, near, far = np.zeros(a.n), np.zeros(a.n), np.zeros(a.n)
    for b, count in times.items():
        if a.accesses[b].scope is Scope.SHARED:
            shared = shared + count * a.bytes[b] * conflicts(a, b, target.warp)
        else:
            mine = block_bytes(a, b, count)
            whole = a.unique_bytes[b]
            near = near + mine
            fits = whole <= target.l2_bytes
            far = far + np.where(fits, np.minimum(mine, whole), mine)
    return shared, near, far


def conflicts(a: Analysis, b: int, warp: int) -> Floats:
    """How often a warp has to ask the banks of shared memory, one word each: by the step between
    neighbouring threads. The same word for all is one answer.
    """
    step = _thread_step(a, b)
    words = step * a.bytes[b] / 4
    meets = np.gcd(np.maximum(words, 1).astype(np.int64), warp)
    found: Floats = np.where(step > 0, meets, 1.0 / warp)
    return found


def _thread_step(a: Analysis, b: int) -> Floats:
    """Elements between the accesses of neighbouring threads."""
    step, open_ = np.zeros(a.n), np.ones(a.n, bool)
    for i in range(a.L - 1, -1, -1):
        if a.loops[i].kind is Kind.THREAD_X:
            step = np.where(open_ & a.live[i], a.stride(b, i), step)
            open_ &= ~a.live[i]
    return step


def block_bytes(a: Analysis, b: int, times: Floats) -> Floats:
    """Bytes that access b, executed `times`, asks of the second-level cache: what the threads of a
    block touch at once, in sectors, every time that the loops around them come round; a step
    between neighbours that leaves sectors half used costs them whole.
    """
    running = (i for i, x in enumerate(a.loops) if x.kind is Kind.THREAD_X and x.extent != 1)
    first = next(running, a.L)
    reached = a.reached[b]
    level = reached.level[first]
    run = np.maximum(reached.row[level] * a.bytes[b], 1.0)
    sectors = np.ceil(run / SECTOR_BYTES) * SECTOR_BYTES / run
    rounds = np.ones(a.n)
    for i in range(first):
        rounds = rounds * a.extents[i]
    unique: Floats = rounds * reached.footprint[level] * a.bytes[b] * sectors
    if any(d.coefficients is None for d in a.accesses[b].dimensions):
        return unique
    step = _thread_step(a, b)
    scattered = np.clip(step * a.bytes[b] / SECTOR_BYTES, 0.0, 1.0)
    apart = times * SECTOR_BYTES * scattered
    found: Floats = np.maximum(unique, np.where(step > 1, apart / 4, 0.0))
    return found

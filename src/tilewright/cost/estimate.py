"""An analytical latency estimate, for whole populations at once.

    seconds, parts = estimator_of(target)(analysis, target)     of one statement

The first are the seconds of all its iterations, `[n]`; the second are what they are made of, the
seconds of one thread for each of `features.PARTS`, `[len(PARTS), n]`.

The sum over a program's statements ranks candidates where nothing has been measured: it picks the
default program of every task and is the prior of the search. Relative to the task's usual time, all
are features of the cost model. This file's estimate is for CPUs (`estimate_gpu` has the other). Per
statement it prices the register tile by its port and latency limits, and the traffic between cache
levels by the footprints of the loops; both come from the same tables as the features. The machine's
constants are rough on purpose: the learned model takes over as soon as it has data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tilewright.cost.candidates import Bools, Floats
from tilewright.cost.features import Analysis
from tilewright.nest.marks import GREATEST_UNROLL_STEP
from tilewright.nest.nodes import Kind
from tilewright.target import CpuTarget, Target

CYCLE_S = 1 / 2.8e9
FMA_PER_CYCLE = 2.0
LOADS_PER_CYCLE = 1.12  # measured for 512-bit loads and broadcasts that hit L1
STORES_PER_CYCLE = 1.0
FMA_LATENCY = 4.0
MATH_CYCLES = 12.0  # one vector of exp, tanh, …
DIVIDE_CYCLES = 8.0
GATHER_CYCLES = 1.0  # per lane
LOOP_CYCLES = 1.5
REGION_S = 1.5e-6  # entering and leaving a parallel region whose threads are awake
SWITCH_CYCLES = 60.0  # a register tile ends and the next begins: pipelines drain, a loop is left
SHORT_STEPS = 32  # of a reduction whose end is foreseen, so that the next tile begins meanwhile
SHORT_SWITCH_CYCLES = 8.0
EXPOSED_NEAR = 0.05  # share of traffic from the second-level cache that computing does not hide
EXPOSED_FAR = 0.25  # the same from beyond
L1_WAY = 4096  # bytes after which addresses meet the same sets of a cache: one of its ways
L2_WAY = 65536
SHORT_RUN_BYTES = 1024  # a run that takes as long to start (to miss, to be prefetched) as to read
LEAP_BYTES = 2048  # the first-level prefetcher follows steps of at most that
SHORTEST = 3.0  # what starting costs at most, in units of reading: misses overlap
STREAM_DOUBT = 0.02  # whether stores past the caches pay is left to measuring
FILL = 0.7  # share of a cache that a working set may take
L2_FILL = 0.5  # of the second level, through which everything else passes, and not of one thread
L2_BYTES_PER_S = 120e9
L3_BYTES_PER_S = 25e9
DRAM_BYTES_PER_S = 12e9


def cpu_estimate(a: Analysis, target: Target) -> tuple[Floats, Floats]:
    """Estimated seconds of one statement over all its iterations, `[n]`, and those that one thread
    would take for each of `PARTS`, `[len(PARTS), n]`.
    """
    assert isinstance(target, CpuTarget)
    busy = compute_time(a, target)
    near, far, leaping = traffic_time(a, target)
    exposed = EXPOSED_NEAR * near + (1.0 - EXPOSED_NEAR) * leaping + EXPOSED_FAR * far
    moving = near + far
    hidden = np.minimum(busy, moving) / np.maximum(moving, 1e-12)
    serial = np.maximum(busy, moving) + hidden * exposed
    tasks = np.where(a.parallel != 0, a.extents, 1.0).prod(0)
    threads = np.minimum(tasks, target.cores)
    share = np.ceil(tasks / threads) / tasks
    doubt = 1.0 + STREAM_DOUBT * a.marks["streamed"]
    seconds: Floats = serial * share * doubt + np.where(tasks > 1, REGION_S, 0.0)
    return seconds, np.stack([busy, near, far, exposed])


Estimator: TypeAlias = Callable[[Analysis, Target], tuple[Floats, Floats]]


def estimator_of(target: Target) -> Estimator:
    """The estimate for a target's kind."""
    estimator: Estimator = target.backend.estimate.load()
    return estimator


def compute_time(a: Analysis, target: CpuTarget) -> Floats:
    """Seconds of the register tiles on one thread."""
    lanes = float(target.lanes(a.accesses[0].tensor.dtype))
    tile = np.ones(a.n)  # vector operations of one tile
    tiles = a.total.copy()  # tiles executed
    is_vector = np.zeros(a.n, bool)
    loads = np.ones((a.B, a.n))
    split = np.ones((a.B, a.n))  # cache lines that one vector of an access touches
    lane_cost = np.zeros(a.n)
    for i, loop in enumerate(a.loops):
        if loop.kind not in (Kind.VECTOR, Kind.UNROLLED):
            continue
        extent = a.extents[i]
        tiles /= extent
        steps = np.ceil(extent / lanes) if loop.kind is Kind.VECTOR else extent
        tile *= steps
        for b in range(a.B):
            if not a.touches[b, i]:
                continue
            loads[b] *= steps
            if loop.kind is Kind.VECTOR:
                strided = (a.stride[b, i] > 1) & (extent > 1)
                lane_cost += np.where(strided, GATHER_CYCLES * extent * loads[b] / steps, 0.0)
                contiguous = (a.stride[b, i] == 1) & (extent > 1)
                split[b] = np.where(contiguous, _lines_of_vector(a, b, lanes), 1.0)
        if loop.kind is Kind.VECTOR:
            is_vector |= extent > 1
    counts = a.plan.statement.counts
    arithmetic, slow = _cycles(counts, a.accesses[0].kind == "update")
    steps = np.where(_in_registers(a), a.extents, 1.0).prod(0)
    written = _written_out(a, tile)
    room = target.vector_registers - loads[0]
    for b in range(1, a.B):
        loads[b] = np.minimum(loads[b], _different_loads(a, b, lanes, written, room))
    reads = (loads * split)[1:].sum(0) if a.B > 1 else np.zeros(a.n)
    # accumulators are loaded and stored around the reduction loops next to the tile
    moves = loads[0] / STORES_PER_CYCLE
    if a.accesses[0].kind == "update":
        moves += loads[0] / LOADS_PER_CYCLE
    busy = np.maximum(tile * arithmetic / FMA_PER_CYCLE, reads / LOADS_PER_CYCLE)
    kept = steps > 1
    # what is stored and loaded again for every step waits for itself
    through_memory = busy + moves if a.accesses[0].kind == "update" else np.maximum(busy, moves)
    busy = np.where(kept, np.maximum(busy, FMA_LATENCY), through_memory)
    drain = np.where(steps > SHORT_STEPS, SWITCH_CYCLES, SHORT_SWITCH_CYCLES)
    switch = np.where(kept, (moves + drain) / steps, 0.0)
    seconds: Floats = tiles * (busy + switch + tile * slow + lane_cost + LOOP_CYCLES) * CYCLE_S
    return seconds


def _written_out(a: Analysis, tile: Floats) -> Bools:
    """Which reduction loops around a register tile of so many operations the pragma writes out,
    `[L, n]`.
    """
    written = np.zeros((a.L, a.n), bool)
    limit = np.minimum(a.marks["unroll_step"], GREATEST_UNROLL_STEP)
    kept = _in_registers(a)
    size, open_ = tile, np.ones(a.n, bool)
    for i in range(a.L - 1, -1, -1):
        if a.loops[i].kind in (Kind.VECTOR, Kind.UNROLLED):
            continue
        size = size * a.extents[i]
        open_ = open_ & (~a.live[i] | (kept[i] & (size <= limit)))
        written[i] = open_ & a.live[i]
    return written


def _different_loads(a: Analysis, b: int, lanes: float, written: Bools, room: Floats) -> Floats:
    """Vectors that access b loads for one step of a register tile, on average over the steps that
    are `written` out together: neighbouring taps of a convolution share most of theirs, if these
    find `room` in registers. Infinity where nothing can be said.
    """
    dimensions = a.coefficients(b)
    if dimensions is None:
        return np.full(a.n, np.inf)
    found = np.ones(a.n)
    for moves in dimensions:
        together, reach, vector = np.ones(a.n), np.zeros(a.n), np.zeros(a.n, bool)
        for i, coefficient in moves.items():
            if a.loops[i].kind is Kind.VECTOR:
                together = together * np.ceil(a.extents[i] / lanes)
                vector |= a.extents[i] > 1
                continue
            is_copied = written[i] | (a.loops[i].kind is Kind.UNROLLED)
            copies = np.where(is_copied, a.extents[i], 1.0)
            together = together * copies
            reach = reach + coefficient * (copies - 1.0)
        # shifted vectors along the lanes differ
        found *= np.where(vector, together, np.minimum(together, reach + 1.0))
    steps = np.where(written, a.extents, 1.0).prod(0)
    return np.where(found <= room, found / steps, np.inf)


def _lines_of_vector(a: Analysis, b: int, lanes: float) -> Floats:
    """Cache lines that a vector of access b touches on average: one where all rows of the tensor
    start at a line, more where the tensor does not, or where a row's length shifts the next one
    against the lines.
    """
    shifted = np.full(a.n, a.shifted[b])
    if len(a.plan.accesses[b]) > 1:
        _, pitch = a.rows(b)
        shifted |= (pitch * a.bytes[b]) % a.line != 0
    return np.where(shifted, 1.0 + min(1.0, lanes * float(a.bytes[b]) / a.line), 1.0)


def _cycles(counts: dict[tuple[str, str], int], reduces: bool) -> tuple[float, float]:
    """Pipelined operations, and extra cycles of slow ones, of one (vector) iteration.

    The conditions of a reduction are those of its padding: they hold or fail outside of its loops.
    """
    free = ("int", "bool", "select") if reduces else ("int",)
    quick = sum(
        n for (kind, op), n in counts.items() if kind not in free and op not in ("math", "divmod")
    )
    slow = MATH_CYCLES * counts.get(("float", "math"), 0)
    slow += DIVIDE_CYCLES * counts.get(("float", "divmod"), 0)
    return float(max(quick, 0)), slow


def _in_registers(a: Analysis) -> Bools:
    """Through which loops (`[L, n]`) a register tile stays in registers: the reduction loops just
    outside it.
    """
    kept = np.zeros((a.L, a.n), bool)
    if a.accesses[0].kind != "update":
        return kept
    open_ = np.ones(a.n, bool)
    for i in range(a.L - 1, -1, -1):
        loop = a.loops[i]
        if loop.kind in (Kind.VECTOR, Kind.UNROLLED) and not loop.reduce:
            continue
        if loop.reduce:
            kept[i] = open_
        else:
            open_ &= ~a.live[i]
    return kept


def traffic_time(a: Analysis, target: CpuTarget) -> tuple[Floats, Floats, Floats]:
    """Seconds that misses of the first and of the second cache level cost one thread, and those of
    the first level's that no prefetcher hides (see `_leaps`).
    """
    lines = np.stack([_line_bytes(a, b) for b in range(a.B)])
    level_bytes = lines.sum(0)
    whole = level_bytes[0]
    outer = np.where(whole > target.l3_bytes * FILL, DRAM_BYTES_PER_S, L3_BYTES_PER_S)
    registers = _in_registers(a)
    near_fits = level_bytes <= target.l1_bytes * FILL
    near = _moved_bytes(a, lines, registers, near_fits, target.l1_bytes, L1_WAY) / L2_BYTES_PER_S
    near[:, near_fits[0]] = 0.0
    room = target.l2_bytes * L2_FILL
    far_fits = level_bytes <= room
    far = _moved_bytes(a, lines, registers, far_fits, room, L2_WAY) * (1.0 + _run_starts(a))
    far[:, far_fits[0]] = 0.0
    return near.sum(0), far.sum(0) / outer, np.where(_leaps(a), near, 0.0).sum(0)


def _leaps(a: Analysis) -> Bools:
    """Which accesses (`[B, n]`) move further from one iteration of the innermost running reduction
    loop to the next than the prefetcher follows: every iteration then waits for the second level.
    """
    loops = [i for i, loop in enumerate(a.loops) if loop.reduce and loop.kind is Kind.SERIAL]
    live = a.live[loops]
    innermost = live & (np.cumsum(live[::-1], axis=0)[::-1] == 1)
    leaps: Bools = (innermost & (a.stride[:, loops] * a.bytes[:, None, None] > LEAP_BYTES)).any(1)
    return leaps


def _line_bytes(a: Analysis, b: int) -> Floats:
    """Bytes of the cache lines that access b touches over loops l.., `[L+1, n]`."""
    # from the first byte to the last; a run that begins anywhere touches one line more on average
    reach = np.full((a.L + 1, a.n), a.line if a.shifted[b] else a.bytes[b])
    found = np.full_like(reach, a.line)
    for span, apart in a.spans[b]:
        reach = reach + (span - 1.0) * (apart * a.bytes[b])
        found = np.minimum(found * span, np.maximum(reach, a.line))
    return found


def _occupied_bytes(a: Analysis, b: int, found: Floats, way: int) -> Floats:
    """Capacity that an access takes over loops l.. (`[L+1, n]`), which touches lines of `found`
    bytes, with what lies in the same sets: addresses multiples of a large power of two apart meet
    in few of them.
    """
    row, _ = a.rows(b)
    # bytes of one way whose sets it meets
    met = np.minimum(np.maximum(row * a.bytes[b], a.line), way)
    for span, apart in a.spans[b][1:]:
        apart_bytes = (apart * a.bytes[b]).astype(np.int64)
        spacing = np.minimum(apart_bytes & -apart_bytes, way)  # their greatest common divisor
        met *= np.minimum(np.maximum(way / np.maximum(spacing, met), 1.0), span)
    return np.where(found > met, found / met * way, found)


def _run_starts(a: Analysis) -> Floats:
    """Cost of starting the runs that each access makes along the reduction of a register tile, per
    cost of reading them (`[B, n]`): the prefetchers do not get ahead of short ones.
    """
    starts = np.zeros((a.B, a.n))
    reduces = np.array([loop.reduce for loop in a.loops], bool)[:, None]
    in_tile = np.array([loop.kind in (Kind.VECTOR, Kind.UNROLLED) for loop in a.loops], bool)
    passed = ~a.live | reduces | in_tile[:, None]
    inside = np.logical_and.accumulate(passed[::-1], axis=0)[::-1]
    outermost = a.L - inside.sum(0)  # of the loops that make a run
    for b in range(a.B):
        along = (inside & a.live & reduces & (a.stride[b] == 1)).any(0)
        if not along.any():
            continue
        row, pitch = a.rows(b)
        run = row[outermost, np.arange(a.n)]
        cost = np.minimum(SHORTEST, SHORT_RUN_BYTES / (run * a.bytes[b]))
        starts[b] = np.where(along & (run < pitch), cost, 0.0)
    return starts


def _moved_bytes(
    a: Analysis, lines: Floats, registers: Bools, fits: Bools, room: float, way: int
) -> Floats:
    """Bytes of each access that enter a cache (`[B, n]`), from those of the lines that it touches
    over loops l.. (`[B, L+1, n]`).

    What one iteration of a loop touches and keeps in the cache, where all that the iterations touch
    `fits` and as far as there is `room` in the sets it meets, or in registers, is there still in
    the next iteration; of the rest every iteration moves its part again.
    """
    stays = np.empty_like(lines[:, 1:])
    for b in range(a.B):
        occupied = _occupied_bytes(a, b, lines[b], way)[1:]
        np.multiply(fits[1:], np.minimum(1.0, room / occupied), out=stays[b])
    stays[0][registers] = 1.0
    grown = lines[:, :-1] / lines[:, 1:]
    factors = a.extents + stays * (grown - a.extents)
    moved: Floats = lines[:, a.L] * factors.prod(1)
    return moved

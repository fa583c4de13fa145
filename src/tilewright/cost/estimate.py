"""An analytical latency estimate, for whole populations at once.

    seconds, parts = estimator_of(target)(analysis, target)     of one statement

The first are the seconds of all its iterations, `[n]`; the second are what they are made of, the
seconds of one thread for each of `features.PARTS`, `[len(PARTS), n]`.

The sum over a program's statements ranks candidates where nothing has been measured: it picks the
default program of every task and is the prior of the search. Relative to the task's usual time, all
are features of the cost model. This file's estimate is for CPUs (`estimate_gpu` has the other). Per
statement it prices the register tile by its port and latency limits, and the traffic between cache
levels by the footprints of the loops; both come from the same tables as the features. The machine's
speeds come from the target. The constants here are rough on purpose: the learned model takes over
as soon as it has data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import TypeAlias

import numpy as np

from tilewright.cost.analysis import Analysis, Number, Reached
from tilewright.cost.candidates import Bools, Floats
from tilewright.cost.statements import WRITTEN
from tilewright.expr.dtypes import FLOAT32, INT16
from tilewright.nest.marks import GREATEST_UNROLL_STEP
from tilewright.nest.nodes import Kind
from tilewright.target import CpuTarget, Target
from tilewright.target.cpu import SHUFFLED_STRIDE, TURNED_BYTES
from tilewright.target.dots import Dot, dot_of, tiles_of


def _by_level(first: float, second: float) -> Floats:
    """A number for each of the first two cache levels, `[2, 1, 1]`."""
    return np.array([first, second], float).reshape(2, 1, 1)


FMA_PER_CYCLE = 2.0
INTEGER_MAD = 3.0  # in multiply-adds of floats: a product of int32 is two operations
TILE_ROWS_PER_CYCLE = 2.0
TILE_LATENCY = 52.0
TILE_WORD_BYTES = 4.0
LOADS_PER_CYCLE = 1.12  # measured for 512-bit loads and broadcasts that hit L1
STORES_PER_CYCLE = 1.0
FMA_LATENCY = 4.0
MATH_CYCLES = 12.0  # one vector of exp, tanh, …
DIVIDE_CYCLES = 8.0
GATHER_CYCLES = 1.0  # per lane
SHUFFLE_CYCLES = 1.0  # per vector that is put together with another one
TURNED_CYCLES = 0.5  # per lane of a vector whose neighbours are loaded with it and turned
LOOP_CYCLES = 1.5
ASKED_CYCLES = 2.0  # a row's padding, where sizes decide it
REGION_S = 1.5e-6  # entering and leaving a parallel region whose threads are awake
SWITCH_CYCLES = 60.0  # a register tile ends and the next begins: pipelines drain, a loop is left
SHORT_STEPS = 32  # of a reduction whose end is foreseen, so that the next tile begins meanwhile
SHORT_SWITCH_CYCLES = 8.0
EXPOSED_NEAR = 0.05  # share of traffic from the second-level cache that computing does not hide
EXPOSED_FAR = 0.25  # the same from beyond
SHORT_RUN_BYTES = 1024  # a run that takes as long to start (to miss, to be prefetched) as to read
WAYS = _by_level(4096, 65536)  # bytes after which addresses meet the same sets of a cache
LEAP_BYTES = 2048  # the first-level prefetcher follows steps of at most that
SHORTEST = 3.0  # what starting costs at most, in units of reading: misses overlap
STREAM_DOUBT = 0.02  # whether stores past the caches pay is left to measuring
FILL = 0.7  # share of a cache that a working set may take
L2_FILL = 0.5  # of the second level, through which everything else passes, and not of one thread


def cpu_estimate(a: Analysis, target: Target) -> tuple[Floats, Floats]:
    """Estimated seconds of one statement over all its iterations, `[n]`, and those that one thread
    would take for each of `PARTS`, `[len(PARTS), n]`.
    """
    assert isinstance(target, CpuTarget)
    kept = _in_registers(a)
    busy = compute_time(a, target, kept)
    near, far, leaping = traffic_time(a, target, kept)
    exposed = EXPOSED_NEAR * near + (1.0 - EXPOSED_NEAR) * leaping + EXPOSED_FAR * far
    moving = near + far
    hidden = np.minimum(busy, moving) / np.maximum(moving, 1e-12)
    serial = np.maximum(busy, moving) + hidden * exposed
    tasks = np.ones(a.n)
    for i, is_parallel in a.parallel.items():
        tasks *= np.where(is_parallel, a.extents[i], 1.0)
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


def compute_time(a: Analysis, target: CpuTarget, kept: Bools) -> Floats:
    """Seconds of the register tiles on one thread; `kept` is `_in_registers`."""
    # what is stored in fewer bits is computed in those of what it is made of
    widest = max((x.tensor.dtype.compute.bits for x in a.accesses[1:]), default=0)
    own = a.accesses[0].tensor.dtype.compute.bits
    lanes = float(target.vector_bits // max(own, min(widest, FLOAT32.bits)))
    tile, tiles, loads, split, lane_cost = _register_tile(a, lanes)
    is_update = a.accesses[0].kind == "update"
    arithmetic, slow = _cycles(a, target, is_update)
    written = _written_out(a, tile, kept)
    room = target.vector_registers - loads[0]
    for b, different in _different_loads(a, lanes, written, room):
        np.minimum(loads[b], different, out=loads[b])
    reads = (loads * split)[1:].sum(0)
    # accumulators are loaded and stored around the reduction loops next to the tile
    moves = loads[0] * (1.0 / STORES_PER_CYCLE + (1.0 / LOADS_PER_CYCLE if is_update else 0.0))
    widened = loads[_widened(a, target)].sum(0)
    busy = np.maximum((tile * arithmetic + widened) / FMA_PER_CYCLE, reads / LOADS_PER_CYCLE)
    if is_update:
        dots = a.of_kind(Kind.DOT)
        steps = np.where(kept, a.extents, 1.0)
        steps[dots] = 1.0
        steps = steps.prod(0)
        drain = np.where(steps > SHORT_STEPS, SWITCH_CYCLES, SHORT_SWITCH_CYCLES)
        # what is stored and loaded again for every step waits for itself
        stays = np.maximum(busy, FMA_LATENCY) + (moves + drain) / steps
        if dots:
            multiplied, rest = _on_tiles(a, target)
            multiplied += (moves + drain) / steps
            mixed = multiplied + rest * np.maximum(stays - multiplied, 0.0)
            stays = np.where(np.isfinite(multiplied), np.minimum(stays, mixed), stays)
        busy = np.where(steps > 1, stays, busy + moves)
    else:
        busy = np.maximum(busy, moves)
    cycles: Floats = tiles * (busy + tile * slow + lane_cost + LOOP_CYCLES + _asking(a))
    return cycles * (1.0 / target.speeds.clock_hz)


def _asking(a: Analysis) -> Floats | float:
    """Cycles of a register tile for the conditions of its rows, which are asked again for each
    iteration of a loop that moves one.
    """
    if not a.statement.asked:
        return 0.0
    first = a.statement.asked
    rows = [i for i in a.of_kind(Kind.UNROLLED) if not a.loops[i].reduce]
    inside = [i for i, x in enumerate(a.loops[first:], first) if x.kind not in WRITTEN]
    cycles: Floats = ASKED_CYCLES * a.extents[rows].prod(0) / a.extents[inside].prod(0)
    return cycles


def _register_tile(a: Analysis, lanes: float) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Vector operations of a tile and how many tiles there are, `[n]`; vectors that each access of
    a tile loads and cache lines that one touches, `[B, n]`; extra cycles of lanes, `[n]`.
    """
    tile = np.ones(a.n)
    tiles = a.total.copy()
    loads = np.ones((a.B, a.n))
    split = np.ones((a.B, a.n))
    lane_cost = np.zeros(a.n)
    for i, loop in enumerate(a.loops):
        if loop.kind not in WRITTEN:
            continue
        extent = a.extents[i]
        tiles /= extent
        if loop.kind is Kind.DOT:  # one operation, and one load of each factor
            continue
        steps = np.ceil(extent / lanes) if loop.kind is Kind.VECTOR else extent
        tile *= steps
        for b in range(a.B):
            if i not in a.accesses[b].loops:
                continue
            if loop.kind is Kind.VECTOR:
                stride = _lane_stride(a, b, i)
                strided = (stride > 1) & a.live[i]
                if strided.any():
                    shuffled = strided & (stride <= SHUFFLED_STRIDE) & (b > 0)
                    whole = extent.astype(np.int64) & (extent.astype(np.int64) - 1) == 0
                    each = np.where(whole, _turned_cycles(a, b), GATHER_CYCLES) * extent
                    each = np.where(shuffled, (stride - 1) * SHUFFLE_CYCLES * steps, each)
                    lane_cost += np.where(strided, each * loads[b], 0.0)
                    loads[b] *= np.where(shuffled, stride, 1)
                contiguous = (stride == 1) & a.live[i]
                split[b] = np.where(contiguous, _lines_of_vector(a, b, lanes), 1.0)
            loads[b] *= steps
    return tile, tiles, loads, split, lane_cost


def _lane_stride(a: Analysis, b: int, i: int) -> Number:
    """Elements of access b between two lanes; the terms of a dot are in the same load."""
    stride: Number = a.stride(b, i)
    for dot in a.of_kind(Kind.DOT):
        if dot in a.accesses[b].loops:
            stride = np.where(stride == a.extents[dot], 1.0, stride)
    return stride


def _on_tiles(a: Analysis, target: CpuTarget) -> tuple[Floats, Floats]:
    """Cycles of a register tile for each step of a dot where tile registers multiply (AMX),
    infinity where they do not: an instruction takes as long as its tiles have rows. With it the
    share of register tiles at the end of an axis that have other rows, and are no such tiles.
    """
    registers = tiles_of(target, a.accesses[1].tensor.dtype.name)
    unrolled = [i for i in a.of_kind(Kind.UNROLLED) if not a.loops[i].reduce]
    vectors, depth = a.of_kind(Kind.VECTOR), [i for i, x in enumerate(a.loops) if x.reduce]
    depth = [i for i in depth if a.loops[i].kind is not Kind.DOT]
    if registers is None or not unrolled or not vectors or not depth:
        return np.full(a.n, np.inf), np.zeros(a.n)
    columns = a.extents[vectors].prod(0)  # those of a consumer around do not run
    height = registers.part(a.extents[unrolled[-1]])
    steps = registers.part(a.extents[depth[-1]])
    down = a.extents[unrolled].prod(0) / height
    width = np.minimum(columns, registers.columns)
    across = columns / width
    fits = registers.multiply(height, steps, down, across) & (across % 1 == 0)
    each = registers.cycles * np.maximum(height, steps)
    multiplied = np.maximum(down * across * each, TILE_LATENCY)
    left = next((b for b, x in enumerate(a.accesses) if b and unrolled[-1] in x.loops), 1)
    lines = _lines_of_vector(a, left, steps * TILE_WORD_BYTES / a.bytes[left])
    loaded = (down * height * lines + across * steps) / TILE_ROWS_PER_CYCLE
    cycles = np.where(fits, np.maximum(multiplied, loaded) / steps, np.inf)
    rest = np.zeros(a.n)
    for rows, covered, whole in _along(a, unrolled):
        last = rows - (covered - whole)
        is_known = (last >= 1) & (last < rows)
        rest += np.where(is_known & (registers.part(last) < height), rows / covered, 0.0)
    return cycles, rest


def _along(a: Analysis, unrolled: list[int]) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Of each axis of a sum that the last unrolled loop moves along: how far a register tile goes,
    all of them do, and the axis does. What is kept of a sum may be a part of the axis, and so may a
    copy of a factor: the longest counts.
    """
    axis = unrolled[-1]
    whole = np.zeros(a.n)
    for b, access in enumerate(a.accesses):
        for d, extent in zip(access.dimensions, a.shape(b), strict=True):
            moves = a.moves(d)
            if axis in moves:
                summed = sum(moves[i] * (a.extents[i] - 1.0) for i in moves if a.loops[i].reduce)
                steps = (extent - 1.0 - summed) // np.maximum(moves[axis], 1.0)
                whole = np.maximum(whole, steps + 1.0)
    for d in a.accesses[0].dimensions:
        moves = a.moves(d)
        if axis in moves:
            rows = a.extents[[i for i in unrolled if i in moves]].prod(0)
            yield rows, 1.0 + sum(moves[i] * (a.extents[i] - 1.0) for i in moves), whole


def _turned_cycles(a: Analysis, b: int) -> Floats:
    """Cycles per lane of a load whose lanes lie apart: fewer where register tiles read neighbours
    of every lane, which loads bring together where all lanes of a vector are there.
    """
    found = np.full(a.n, GATHER_CYCLES)
    group = TURNED_BYTES / a.bytes[b]
    whole = TURNED_CYCLES / FLOAT32.bytes * a.bytes[b]
    for i in a.of_kind(Kind.UNROLLED):
        if i in a.accesses[b].loops:
            turned = (a.stride(b, i) == 1) & (a.extents[i] > 1)
            each = whole * np.maximum(group / a.extents[i], 1.0)
            found = np.where(turned, np.minimum(found, each), found)
    return found


def _written_out(a: Analysis, tile: Floats, kept: Bools) -> dict[int, Bools]:
    """In which candidates the pragma writes out each of the reduction loops around a register tile
    of so many operations, by the loops that it may.
    """
    written = {}
    limit = np.minimum(a.marks["unroll_step"], GREATEST_UNROLL_STEP)
    size, open_ = tile, np.ones(a.n, bool)
    for i in range(a.L - 1, -1, -1):
        if a.loops[i].kind in WRITTEN:
            continue
        size = size * a.extents[i]
        open_ = open_ & (~a.live[i] | (kept[i] & (size <= limit)))
        if a.loops[i].reduce:
            written[i] = open_ & a.live[i]
        if not open_.any():
            break
    return written


def _different_loads(
    a: Analysis, lanes: float, written: dict[int, Bools], room: Floats
) -> Iterator[tuple[int, Floats]]:
    """Vectors that each access but the first loads for one step of a register tile, on average over
    the steps that are `written` out together: neighbouring taps of a convolution share most of
    theirs, if these find `room` in registers. Infinity where they do not; none where nothing can be
    said.
    """
    copies = {i: np.where(w, a.extents[i], 1.0) for i, w in written.items()}
    steps = reduce(np.multiply, copies.values(), np.ones(a.n))
    copies |= {i: a.extents[i] for i, x in enumerate(a.loops) if x.kind is Kind.UNROLLED}
    vectors = {i: np.ceil(a.extents[i] / lanes) for i in a.of_kind(Kind.VECTOR)}
    for b in range(1, a.B):
        dimensions = a.accesses[b].dimensions
        if any(d.coefficients is None for d in dimensions):
            continue
        found: Number = 1.0
        for moves in map(a.moves, dimensions):
            together: Number = 1.0
            reach: Number = 1.0
            for i in (i for i in moves if i in copies):
                together = together * copies[i]
                reach = reach + moves[i] * (copies[i] - 1.0)
            along = np.minimum(together, reach)
            for i in (i for i in moves if i in vectors):  # shifted vectors along the lanes differ
                together = together * vectors[i]
                along = np.where(a.live[i], together, along * vectors[i])
            found = found * along
        yield b, np.where(found <= room, found / steps, np.inf)


def _lines_of_vector(a: Analysis, b: int, lanes: Number) -> Floats:
    """Cache lines that so many elements of access b side by side touch on average: one where all
    rows of the tensor start at a line, more where the tensor does not, or where a row's length
    shifts the next one against the lines.
    """
    shifted: Bools | bool = a.shifted[b]
    if len(a.accesses[b].dimensions) > 1:
        shifted = shifted | (a.reached[b].pitch * a.bytes[b] % a.line != 0)
    return np.where(shifted, 1.0 + np.minimum(1.0, lanes * a.bytes[b] / a.line), 1.0)


def _cycles(a: Analysis, target: CpuTarget, reduces: bool) -> tuple[float, float]:
    """Pipelined operations, and extra cycles of slow ones, of one (vector) iteration.

    The conditions of a reduction are those of its padding: they hold or fail outside of its loops.
    """
    counts = a.statement.counts
    free = ("int", "bool", "select") if reduces else ("int",)
    mads = INTEGER_MAD * counts.get(("int", "mad"), 0)
    quick = mads + sum(
        n for (kind, op), n in counts.items() if kind not in free and op not in ("math", "divmod")
    )
    for dot in a.of_kind(Kind.DOT):
        made = _dot(a, target)
        quick -= mads + counts.get(("float", "mad"), 0)
        quick += float(a.extents[dot].max()) if made is None else made.uops
    slow = MATH_CYCLES * counts.get(("float", "math"), 0)
    slow += DIVIDE_CYCLES * counts.get(("float", "divmod"), 0)
    return float(max(quick, 0)), slow


def _dot(a: Analysis, target: CpuTarget) -> Dot | None:
    """The instruction of a dot loop; None where the target has none."""
    kinds = [access.tensor.dtype.name for access in a.accesses[1:]]
    return dot_of(target, *kinds) if len(kinds) == 2 else None


def _widened(a: Analysis, target: CpuTarget) -> list[int]:
    """The accesses whose vectors are widened when they are loaded: bytes for a dot of words."""
    dot = _dot(a, target) if a.of_kind(Kind.DOT) else None
    factors = enumerate(a.accesses[1:], 1) if dot is not None and dot.words else ()
    return [b for b, access in factors if access.tensor.dtype.bits < INT16.bits]


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


def traffic_time(a: Analysis, target: CpuTarget, kept: Bools) -> tuple[Floats, Floats, Floats]:
    """Seconds that misses of the first and of the second cache level cost one thread, and those of
    the first level's that no prefetcher hides (see `_leaps`); `kept` is `_in_registers`.
    """
    speeds = target.speeds
    l1, l2 = float(target.l1_bytes), target.l2_bytes * L2_FILL
    rooms = _by_level(l1, l2)
    lines = np.empty((a.B, a.L + 1, a.n))
    stays = np.empty((a.B, 2, a.L, a.n))
    for b, r in enumerate(a.reached):
        touched = _line_bytes(a, b, r)
        touched.take(r.level, 0, lines[b], "clip")
        share = rooms * _met_share(a, b, r, touched)
        share /= touched
        share.take(r.level[1:], 1, stays[b], "clip")
    np.minimum(stays, 1.0, out=stays)
    level_bytes = lines.sum(0)
    fits = level_bytes <= _by_level(l1 * FILL, l2)
    stays *= fits[:, 1:]
    np.copyto(stays[0], 1.0, where=kept)
    near, far = (_moved_bytes(a, lines, stays) * ~fits[:, 0]).swapaxes(0, 1)
    whole = level_bytes[0]
    overflows = whole > target.l3_bytes * FILL
    outer = np.where(overflows, speeds.dram_bytes_per_s, speeds.l3_bytes_per_s)
    far *= 1.0 + _run_starts(a)
    near /= speeds.l2_bytes_per_s
    return near.sum(0), far.sum(0) / outer, np.where(_leaps(a), near, 0.0).sum(0)


def _leaps(a: Analysis) -> Bools:
    """Which accesses (`[B, n]`) move further from one iteration of the innermost running reduction
    loop to the next, or from lane to lane, than the prefetcher follows: every iteration then waits
    for the second level.
    """
    leaps = np.zeros((a.B, a.n), bool)
    for i in a.of_kind(Kind.VECTOR):
        for b, r in enumerate(a.reached):
            if i in r.loops:
                leaps[b] |= a.live[i] & (a.stride(b, i) * a.bytes[b] > LEAP_BYTES)
    open_ = np.ones(a.n, bool)  # no loop inside of this one runs
    for i in a.of_kind(Kind.SERIAL)[::-1]:
        if a.loops[i].reduce:
            for b, r in enumerate(a.reached):
                if i in r.loops:
                    leaps[b] |= open_ & a.live[i] & (a.stride(b, i) * a.bytes[b] > LEAP_BYTES)
            open_ = open_ & ~a.live[i]
    return leaps


def _line_bytes(a: Analysis, b: int, r: Reached) -> Floats:
    """Bytes of the cache lines that access b touches, `[t + 1, n]` as in `Reached`."""
    # from the first byte to the last; a run that begins anywhere touches one line more on average
    reach = (r.row - 1.0) * a.bytes[b]
    reach += a.line if a.shifted[b] else a.bytes[b]
    found = np.minimum(r.row * a.line, np.maximum(reach, a.line))
    for span, apart in r.outer:
        reach += (span - 1.0) * (apart * a.bytes[b])
        found *= span
        np.minimum(found, np.maximum(reach, a.line), out=found)
    return found


def _met_share(a: Analysis, b: int, r: Reached, touched: Floats) -> Floats:
    """The share of the sets of the first and of the second cache level that access b meets, or 1
    where these have room for all the lines of `touched` bytes, `[2, t + 1, n]`: addresses multiples
    of a large power of two apart meet in few of them.
    """
    met = np.maximum(r.row * a.bytes[b], a.line)  # bytes of one way
    for span, apart in r.outer:
        apart_bytes = np.asarray(apart * a.bytes[b]).astype(np.int64)
        spacing = apart_bytes & -apart_bytes  # the greatest power of two that divides it
        met = met * np.minimum(span, np.maximum(WAYS / spacing, 1.0))
    share: Floats = np.maximum(np.minimum(met / WAYS, 1.0), touched <= met)
    return share


def _run_starts(a: Analysis) -> Floats:
    """Cost of starting the runs that each access makes along the reduction of a register tile, per
    cost of reading them (`[B, n]`): the prefetchers do not get ahead of short ones.
    """
    starts = np.zeros((a.B, a.n))
    if not any(loop.reduce for loop in a.loops):
        return starts
    inside, open_ = {}, np.ones(a.n, bool)  # by the loops that make a run
    for i in range(a.L - 1, -1, -1):
        in_tile = a.loops[i].kind in WRITTEN
        if not (in_tile or a.loops[i].reduce):
            open_ = open_ & ~a.live[i]
        inside[i] = open_
    outermost = a.L - sum(x.view(np.int8) for x in inside.values())
    for b, r in enumerate(a.reached):
        along = np.zeros(a.n, bool)
        for i in r.loops:
            if a.loops[i].reduce:
                along |= inside[i] & a.live[i] & (a.stride(b, i) == 1)
        if along.any():
            run = r.row[r.level[outermost], np.arange(a.n)]
            cost = np.minimum(SHORTEST, SHORT_RUN_BYTES / (run * a.bytes[b]))
            starts[b] = np.where(along & (run < r.pitch), cost, 0.0)
    return starts


def _moved_bytes(a: Analysis, lines: Floats, stays: Floats) -> Floats:
    """Bytes of each access that enter each of two caches (`[B, 2, n]`), from those of the lines
    that it touches over loops l.. (`[B, L+1, n]`) and the shares that stay (`[B, 2, L, n]`).

    What one iteration of a loop touches and keeps in the cache, where all that the iterations touch
    fits and as far as there is room in the sets it meets, or in registers, is there still in the
    next iteration; of the rest every iteration moves its part again.
    """
    grown = lines[:, :-1] / lines[:, 1:]
    grown -= a.extents
    stays *= grown[:, None]
    stays += a.extents
    moved: Floats = lines[:, a.L, None] * stays.prod(2)
    return moved

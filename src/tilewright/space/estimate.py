"""An analytical latency estimate, for whole populations at once.

    Estimator(extractor).latency(population)     seconds [n]

It ranks candidates where nothing has been measured: it picks the default program of every task
and is the prior of the search. Per statement it prices the register tile by its port and latency
limits, and the traffic between cache levels by the footprints of the loops; both come from the
same tables as the features. The machine's constants are rough on purpose: the learned model
takes over as soon as it has data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.nest.nodes import Kind
from tilewright.space.features import Analysis, FeatureExtractor, Floats
from tilewright.space.space import Population
from tilewright.target import Target

CYCLE_S = 1 / 2.8e9
FMA_PER_CYCLE = 2.0
LOADS_PER_CYCLE = 1.12  # measured for 512-bit loads and broadcasts that hit L1
STORES_PER_CYCLE = 1.0
FMA_LATENCY = 4.0
MATH_CYCLES = 12.0  # one vector of exp, tanh, …
DIVIDE_CYCLES = 8.0
GATHER_CYCLES = 1.0  # per lane
LOOP_CYCLES = 1.5
REGION_S = 4e-6  # entering and leaving a parallel region
EXPOSED = 0.2  # share of the shorter of computing and moving that the other does not hide
FILL = 0.7  # share of a cache that a working set may take
L2_BYTES_PER_S = 120e9
L3_BYTES_PER_S = 25e9
DRAM_BYTES_PER_S = 12e9


@dataclass(frozen=True, slots=True)
class Estimator:
    """Latency estimates from the tables of a feature extractor."""

    extractor: FeatureExtractor

    def latency(self, population: Population) -> Floats:
        """Estimated seconds of every candidate, `[n]`."""
        target = self.extractor.space.target
        out = np.zeros(len(population))
        for sketch, at in self.extractor.space.groups(population):
            program, plans = self.extractor.plans(sketch)
            values = program.run(sketch.environment(population.rows[at]))
            total = np.zeros(len(at))
            for plan in plans:
                a = Analysis(plan, values, len(at), target.line_bytes)
                total += statement_latency(a, target)
            out[at] = total
        return out


def statement_latency(a: Analysis, target: Target) -> Floats:
    """Estimated seconds of one statement over all its iterations, `[n]`."""
    busy, moving = compute_time(a, target), traffic_time(a, target)
    serial = np.maximum(busy, moving) + EXPOSED * np.minimum(busy, moving)
    tasks = np.ones(a.n)
    for i in range(a.L):
        tasks = tasks * np.where(np.asarray(a.parallel[i], bool), a.extents[i], 1.0)
    threads = np.minimum(tasks, target.cores)
    share = np.ceil(tasks / threads) / tasks
    return serial * share + np.where(tasks > 1, REGION_S, 0.0)


def compute_time(a: Analysis, target: Target) -> Floats:
    """Seconds of the register tiles on one thread."""
    lanes = float(target.lanes(a.accesses[0].tensor.dtype))
    tile = np.ones(a.n)  # vector operations of one tile
    tiles = a.total.copy()  # tiles executed
    is_vector = np.zeros(a.n, bool)
    loads = np.ones((a.B, a.n))
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
        if loop.kind is Kind.VECTOR:
            is_vector |= extent > 1
    counts = a.plan.statement.counts
    arithmetic, slow = _cycles(counts, a.accesses[0].kind == "update")
    steps = _steps_in_registers(a)
    reads = loads[1:].sum(0) if a.B > 1 else np.zeros(a.n)
    # accumulators are loaded and stored around the reduction loops next to the tile
    target_moves = loads[0] / steps
    if a.accesses[0].kind == "update":
        reads = reads + target_moves
    busy = np.maximum(tile * arithmetic / FMA_PER_CYCLE, reads / LOADS_PER_CYCLE)
    busy = np.maximum(busy, target_moves / STORES_PER_CYCLE)
    busy = np.where(steps > 1, np.maximum(busy, FMA_LATENCY), busy)
    seconds: Floats = tiles * (busy + tile * slow + lane_cost + LOOP_CYCLES) * CYCLE_S
    return seconds


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


def _steps_in_registers(a: Analysis) -> Floats:
    """Iterations through which a register tile stays in registers: those of the reduction loops
    just outside it (1 where there are none).
    """
    steps = np.ones(a.n)
    if a.accesses[0].kind != "update":
        return steps
    open_ = np.ones(a.n, bool)
    for i in range(a.L - 1, -1, -1):
        loop = a.loops[i]
        if loop.kind in (Kind.VECTOR, Kind.UNROLLED) and not loop.reduce:
            continue
        if loop.reduce:
            steps = np.where(open_, steps * a.extents[i], steps)
        else:
            open_ &= ~a.live[i]
    return steps


def traffic_time(a: Analysis, target: Target) -> Floats:
    """Seconds that cache misses cost one thread."""
    level_bytes = (a.footprint * a.bytes[:, None, None]).sum(0)
    whole = level_bytes[0]
    time = np.zeros(a.n)
    outer = np.where(whole > target.l3_bytes * FILL, DRAM_BYTES_PER_S, L3_BYTES_PER_S)
    for capacity, rate in (
        (target.l1_bytes, np.full(a.n, L2_BYTES_PER_S)),
        (target.l2_bytes, outer),
    ):
        moved = np.zeros(a.n)
        fits = level_bytes <= capacity * FILL
        for b in range(a.B):
            moved += _moved_bytes(a, b, fits, capacity)
        time += np.where(whole > capacity * FILL, moved / rate, 0.0)
    return time


def _moved_bytes(a: Analysis, b: int, fits: Floats, capacity: float) -> Floats:
    """Bytes of access b that enter a cache: its working set, once per outer iteration.

    Loops just outside the fitting level that do not move the access reuse it.
    """
    width = a.bytes[b]
    moved: Floats = a.footprint[b, a.L] * width
    stays = np.ones(a.n, bool)
    for i in range(a.L - 1, -1, -1):
        if a.touches[b, i]:
            stays &= fits[i]
            moved = np.where(fits[i], a.footprint[b, i] * width, moved * a.extents[i])
        else:
            kept = fits[i] | (stays & (moved <= capacity * FILL / 2))
            moved = np.where(kept, moved, moved * a.extents[i])
    return moved

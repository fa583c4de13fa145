"""What this machine can do at best, measured with small kernels of the project's code generator.

    ceilings = measure(target, [Traffic(4 * MIB, 1 * MIB)])
    ceilings.fma_flops                      float32 operations a second, a multiply-add as 2
    dict(ceilings.rates)["vpdpbusd"]        the same of each instruction for narrow numbers
    ceilings.load_bytes                     bytes a second that the load ports deliver (from L1)
    ceilings.seconds(Traffic(4 * MIB, 1 * MIB))     to read 4 MiB and write 1 MiB
    ceilings.call_s                         a call from Python of an empty parallel region

Kernels are LLVM IR, one parallel region over all threads, each thread on its own contiguous share:

    multiply-adds    as many independent accumulators as registers allow; of floats, of narrow
                     numbers by each dot instruction, and by tile registers all of whose rows work
    loads            vector loads into eight integer sums, from half of the first-level caches
    traffic          eight vectors of the larger of the two streams a step, and of the other one
                     in proportion; stores plain and non-temporal, the faster counts

Traffic is measured at the very sizes and in the very mix of the cases. A table of bandwidths by
size and direction does not serve: data that just fill the second-level caches move at half the
rate of somewhat smaller ones, and writes share the caches' ports with reads. The kernel goes
over its data again and again, as a benchmark calls a function again and again: what stays in a
core's caches from call to call does so here, too.

Each figure is the best of several calls, because anything else that runs only takes away. A call's
figure is timed in Python, as benchmarks time what they call: nothing can be called for less.
"""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, TypeAlias

import numpy as np

from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.dots import dot_product
from tilewright.codegen.llvm.machine import compile_ir
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.tiles import configuration
from tilewright.codegen.llvm.types import SsaValue, compute_type
from tilewright.contract.artifact import Artifact
from tilewright.expr.dtypes import DTYPES, INT16, INT32
from tilewright.runtime.buffers import aligned_empty
from tilewright.runtime.cpu import LoadedKernel, pointer_array
from tilewright.target import MIB, CpuTarget
from tilewright.target.dots import TILED, Dot, dots_of, tiles_of
from tilewright.target.speeds import FLOAT32

SWEEPS = 5
CALLS = 4  # of each kernel in a sweep
EMPTY_CALLS = 500
MOVED_BYTES = 16 * MIB  # at least what one call moves
FMA_STEPS, DOT_STEPS, TILE_STEPS = 200_000, 50_000, 10_000
TILE_SUMS = 6  # that hide the latency of a product; the other two registers are the factors
REGISTER_BYTES = 64  # of a row of a tile register
SHARED_BYTES = 32 * MIB  # of a large cache that other programs use, too
MEMORY_BYTES = 256 * MIB
RANDOM_BYTES = MIB  # that buffers are filled with, again and again
STREAMS = 8  # independent sums; also vectors of the larger stream a step

Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]

# A thread makes {steps} steps from %begin on; {body} is one of them, number %i. %sums is its own
# line of a third buffer.
REGION = """
{declared}
declare void @tw_parallel(ptr, ptr, i64, i64, i32, ptr)
declare <{lanes} x float> @llvm.fmuladd.v{lanes}f32(<{lanes} x float>, <{lanes} x float>,
                                                <{lanes} x float>)

define internal void @share(ptr %buffers, i64 %first, i64 %last, i64 %member) {
entry:
  %from = load ptr, ptr %buffers
  %to.slot = getelementptr ptr, ptr %buffers, i64 1
  %to = load ptr, ptr %to.slot
  %all.slot = getelementptr ptr, ptr %buffers, i64 2
  %all = load ptr, ptr %all.slot
  br label %part
part:
  %id = phi i64 [ %first, %entry ], [ %id.next, %part.end ]
  %begin = mul i64 %id, {steps}
  %end = add i64 %begin, {steps}
  %own = mul i64 %id, {own}
  %sums = getelementptr i8, ptr %all, i64 %own
  br label %pass
pass:
  %n = phi i64 [ 0, %part ], [ %n.next, %pass.end ]
{before}
  br label %step
step:
  %i = phi i64 [ %begin, %pass ], [ %i.next, %step ]
{carried}
{body}
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %end
  br i1 %more, label %step, label %pass.end
pass.end:
{after}
  %n.next = add i64 %n, 1
  %again = icmp slt i64 %n.next, {passes}
  br i1 %again, label %pass, label %part.end
part.end:
  %id.next = add i64 %id, 1
  %another = icmp slt i64 %id.next, %last
  br i1 %another, label %part, label %done
done:
  ret void
}
{call}
!0 = !{i32 1}
"""
OWN_BYTES = 4096  # of %sums, a thread
CALL = """
define void @ceiling(ptr %buffers, ptr %params, ptr %scratch) {
  call void @tw_parallel(ptr @share, ptr %buffers, i64 {threads}, i64 1, i32 {threads}, ptr null)
  ret void
}
"""
EMPTY = """
declare void @tw_parallel(ptr, ptr, i64, i64, i32, ptr)

define internal void @share(ptr %buffers, i64 %first, i64 %last, i64 %member) {
  ret void
}
{call}
"""
# Each thread waits until all have come, but not for ever: some may not.
MEETING = """
@arrived = internal global i64 0
declare void @tw_parallel(ptr, ptr, i64, i64, i32, ptr)

define internal void @share(ptr %buffers, i64 %first, i64 %last, i64 %member) {
entry:
  %count = sub i64 %last, %first
  %before = atomicrmw add ptr @arrived, i64 %count seq_cst
  %round = udiv i64 %before, {threads}
  %next = add i64 %round, 1
  %all = mul i64 %next, {threads}
  br label %look
look:
  %n = phi i64 [ 0, %entry ], [ %n.next, %look ]
  %here = load atomic i64, ptr @arrived seq_cst, align 8
  %missing = icmp ult i64 %here, %all
  %n.next = add i64 %n, 1
  %patient = icmp ult i64 %n, {looks}
  %again = and i1 %missing, %patient
  br i1 %again, label %look, label %done
done:
  ret void
}
{call}
"""
LOOKS = 30_000


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that all threads read and write in one pass."""

    read: int
    written: int

    @property
    def total(self) -> int:
        """Bytes moved."""
        return self.read + self.written


@dataclass(frozen=True, slots=True)
class TrafficTime:
    """The least seconds of one pass of some traffic, without the region around it."""

    traffic: Traffic
    seconds: float


@dataclass(frozen=True, slots=True)
class Ceilings:
    """See the module's docstring; all figures are of all threads together."""

    fma_flops: float
    load_bytes: float
    call_s: float
    streams: tuple[TrafficTime, ...]
    rates: tuple[tuple[str, float], ...] = ()

    def seconds(self, traffic: Traffic) -> float:
        """The least time for some traffic. Raises ValueError for one that was not measured."""
        for stream in self.streams:
            if stream.traffic == traffic:
                return stream.seconds
        raise ValueError(f"{traffic} was not measured; give it to measure()")

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def measure(
    target: CpuTarget,
    traffic: Iterable[Traffic],
    sweeps: int = SWEEPS,
    empty_calls: int = EMPTY_CALLS,
) -> Ceilings:
    """All ceilings of this machine on `target.cores` threads, in about a second and some passes of
    each traffic. Fewer sweeps take less time and are more easily spoilt by other processes; so are
    fewer empty calls, of which `call_s` is made.
    """
    wanted = list(dict.fromkeys(traffic))
    near = near_traffic(target)
    jobs = multiply_jobs(target)
    jobs += [job for t in (near, *wanted) for job in _jobs(t, target)]
    buffers = buffers_of((near, *wanted), target)
    rates, call_s = _rates(jobs, buffers, target, sweeps, empty_calls)
    streams = tuple(TrafficTime(t, t.total / rates[t]) for t in wanted)
    narrow = tuple((job.what, rates[job.what]) for job in jobs if isinstance(job.what, str))
    return Ceilings(rates[FLOAT32], rates[near], call_s, streams, narrow[1:])


def multiply_rates(target: CpuTarget) -> dict[str, float]:
    """Operations a second of all threads: of float32, and of each instruction for narrow numbers
    that the target has; in some hundredths of a second.
    """
    jobs = multiply_jobs(target)
    rates, _ = _rates(jobs, buffers_of([near_traffic(target)], target), target, SWEEPS, 1)
    return {str(what): rate for what, rate in rates.items()}


def working_sets(target: CpuTarget) -> tuple[int, ...]:
    """Bytes that stay in half of the caches of each level, and bytes that hardly do."""
    shared = min(target.l3_bytes // 2, SHARED_BYTES)
    levels = (target.l1_bytes * target.cores // 2, target.l2_bytes * target.cores // 2, shared)
    return tuple(sorted({*(size for size in levels if size), MEMORY_BYTES}))


def near_traffic(target: CpuTarget) -> Traffic:
    """Reads of half of the first-level caches: what the load ports deliver."""
    return Traffic(target.l1_bytes * target.cores // 2, 0)


def buffers_of(traffic: Sequence[Traffic], target: CpuTarget) -> list[Bytes]:
    """What the kernels of all `traffic` read, write, and sum up in. It is random: a Zen 5 copies
    zeros in 256 µs, as many other bytes in 370. Repeating a block takes less time than
    it takes to draw every byte.
    """
    rng = np.random.default_rng(0)
    moved = [moved_bytes(t, target) for t in traffic]
    sizes = [max(max(column), 1) for column in zip(*moved, strict=True)]
    sizes.append(OWN_BYTES * target.cores)
    buffers = [aligned_empty((size,), np.dtype(np.uint8), n) for n, size in enumerate(sizes)]
    words = rng.integers(0, 2**64, RANDOM_BYTES // 8, np.uint64)  # bytes take 7 times longer
    block = words.view(np.uint8)
    for buffer in buffers:
        for start in range(0, buffer.size, RANDOM_BYTES):
            piece = buffer[start : start + RANDOM_BYTES]
            piece[:] = block[: piece.size]
    buffers[0].view(np.float32)[: 2 * target.vector_bits // 32] = 0.5  # the factors
    return buffers


@dataclass(frozen=True, slots=True)
class Job:
    """A kernel to time: a call does `work` operations or moves so many bytes."""

    what: str | Traffic
    ir: str
    work: int


def _jobs(traffic: Traffic, target: CpuTarget) -> list[Job]:
    """The kernels that move some traffic."""
    passes = max(1, MOVED_BYTES // traffic.total)
    work = passes * sum(moved_bytes(traffic, target))
    return [Job(traffic, traffic_ir(traffic, passes, h, target), work) for h in hints(traffic)]


def hints(traffic: Traffic) -> tuple[bool, ...]:
    """Whether stores may pass the caches: both are to be tried where anything is stored."""
    return (False, True) if vectors_of(traffic)[1] else (False,)


def _rates(
    jobs: Sequence[Job], buffers: Sequence[Bytes], target: CpuTarget, sweeps: int, empty_calls: int
) -> tuple[dict[str | Traffic, float], float]:
    """The best work a second of what the jobs measure, and the seconds of an empty call.

    All kernels take turns, so that a busy moment spoils one pass of each and not all of one.
    """
    pointers = pointer_array([b.ctypes.data for b in buffers])
    address = ctypes.addressof(pointers)
    best = {job.what: 0.0 for job in jobs}
    call_s = float("inf")
    with contextlib.ExitStack() as stack:
        kernels = [stack.enter_context(load_kernel(job.ir, target)) for job in jobs]
        empty = stack.enter_context(load_kernel(empty_ir(target), target))
        for _ in range(sweeps):
            call_s = min(call_s, _called(empty, address, empty_calls))
            for job, kernel in zip(jobs, kernels, strict=True):
                rate = job.work / float(kernel.bench(address, 0, CALLS).min())
                best[job.what] = max(best[job.what], rate)
    return best, call_s


def _called(kernel: LoadedKernel, address: int, calls: int) -> float:
    """The median seconds of a call from Python."""
    taken = []
    for _ in range(calls):
        started = time.perf_counter()
        kernel(address, 0)
        taken.append(time.perf_counter() - started)
    return float(np.median(taken))


def load_kernel(ir: str, target: CpuTarget) -> LoadedKernel:
    """Compile and load the function `ceiling` of some IR."""
    code = compile_ir(ir, target)
    return LoadedKernel(Artifact("ceiling", str(target), code, (), (), (), (), 0))


def vectors_of(traffic: Traffic) -> tuple[int, int]:
    """Vectors read and written a step: STREAMS of the larger stream."""
    larger = max(traffic.read, traffic.written)
    read, written = (round(STREAMS * n / larger) for n in (traffic.read, traffic.written))
    return read, written


def steps_of(traffic: Traffic, target: CpuTarget) -> int:
    """Steps of one thread in a pass."""
    larger = max(traffic.read, traffic.written)
    return ceil(larger / (STREAMS * target.vector_bits // 8 * target.cores))


def moved_bytes(traffic: Traffic, target: CpuTarget) -> tuple[int, int]:
    """What a pass really reads and writes, in whole steps and whole vectors."""
    width = target.vector_bits // 8 * steps_of(traffic, target) * target.cores
    read, written = vectors_of(traffic)
    return read * width, written * width


def traffic_ir(traffic: Traffic, passes: int, nontemporal: bool, target: CpuTarget) -> str:
    """IR that makes `passes` passes of some traffic; what is read is stored, or summed."""
    bits = target.vector_bits
    vector, width = f"<{bits // 64} x i64>", bits // 8
    read, written = vectors_of(traffic)
    hint = ", !nontemporal !0" if nontemporal else ""
    body = [f"  %ir = mul i64 %i, {read * width}", f"  %iw = mul i64 %i, {written * width}"]
    carried, after = [], []
    for k in range(read):
        body.append(f"  %o{k} = add i64 %ir, {k * width}")
        body.append(f"  %p{k} = getelementptr i8, ptr %from, i64 %o{k}")
        body.append(f"  %v{k} = load {vector}, ptr %p{k}, align {width}")
    for k in range(written, read):
        carried.append(f"  %s{k} = phi {vector} [ zeroinitializer, %pass ], [ %t{k}, %step ]")
        body.append(f"  %t{k} = add {vector} %s{k}, %v{k}")
        after.append(f"  %r{k} = getelementptr i8, ptr %sums, i64 {k * width}")
        after.append(f"  store {vector} %t{k}, ptr %r{k}, align {width}")
    for k in range(written):
        value = f"%v{k % read}" if read else "zeroinitializer"
        body.append(f"  %x{k} = add i64 %iw, {k * width}")
        body.append(f"  %q{k} = getelementptr i8, ptr %to, i64 %x{k}")
        body.append(f"  store {vector} {value}, ptr %q{k}, align {width}{hint}")
    return _region(target, steps_of(traffic, target), passes, [], carried, body, after)


def empty_ir(target: CpuTarget) -> str:
    """A parallel region in which no thread does anything; one may do all of it."""
    return _fill(EMPTY, {"call": CALL, "threads": target.cores})


def meeting_ir(target: CpuTarget) -> str:
    """A parallel region in which each thread only waits until all have come."""
    return _fill(MEETING, {"call": CALL, "threads": target.cores, "looks": LOOKS})


def fma_ir(steps: int, target: CpuTarget) -> str:
    """IR of `steps` times `accumulators(target)` vector multiply-adds a thread."""
    lanes, width = target.vector_bits // 32, target.vector_bits // 8
    vector = f"<{lanes} x float>"
    before = [
        f"  %a = load {vector}, ptr %from, align {width}",
        f"  %b.slot = getelementptr i8, ptr %from, i64 {width}",
        f"  %b = load {vector}, ptr %b.slot, align {width}",
    ]
    carried, body, after = [], [], []
    for k in range(accumulators(target)):
        carried.append(f"  %s{k} = phi {vector} [ zeroinitializer, %pass ], [ %t{k}, %step ]")
        body.append(
            f"  %t{k} = call {vector} @llvm.fmuladd.v{lanes}f32({vector} %a, {vector} %b,"
            f" {vector} %s{k})"
        )
        after.append(f"  %r{k} = getelementptr i8, ptr %sums, i64 {k * width}")
        after.append(f"  store {vector} %t{k}, ptr %r{k}, align {width}")
    return _region(target, steps, 1, before, carried, body, after)


def accumulators(target: CpuTarget) -> int:
    """Independent sums: latency times ports is 8 to 10; four registers stay free."""
    return min(24, target.vector_registers - 4)


def _region(
    target: CpuTarget,
    steps: int,
    passes: int,
    before: Sequence[str],
    carried: Sequence[str],
    body: Sequence[str],
    after: Sequence[str],
    declared: str = "",
) -> str:
    words = {
        "declared": declared,
        "call": CALL,
        "lanes": target.vector_bits // 32,
        "steps": steps,
        "own": OWN_BYTES,
        "passes": passes,
        "threads": target.cores,
        "before": "\n".join(before),
        "carried": "\n".join(carried),
        "body": "\n".join(body),
        "after": "\n".join(after),
    }
    return _fill(REGION, words)


def _fill(template: str, words: dict[str, Any]) -> str:
    """`template` with {word} replaced; IR's own braces stay."""
    for key, value in words.items():
        template = template.replace("{" + key + "}", str(value))
    return template


def fma_work(target: CpuTarget) -> int:
    """Operations of a step of `fma_ir` on all threads: a multiply-add is 2."""
    return 2 * (target.vector_bits // 32) * accumulators(target) * target.cores


# ---- narrow numbers -------------------------------------------------------------------------


def multiply_jobs(target: CpuTarget) -> list[Job]:
    """The kernels of multiply-adds: of floats, then one for each instruction of narrow numbers."""
    jobs = [Job(FLOAT32, fma_ir(FMA_STEPS, target), fma_work(target) * FMA_STEPS)]
    for dot in {dot.name: dot for dot in dots_of(target)}.values():
        work = dot.length * fma_work(target) * DOT_STEPS
        jobs.append(Job(dot.name, dot_ir(dot, DOT_STEPS, target), work))
    for factor in ("uint8", "bfloat16"):
        if (registers := tiles_of(target, factor)) is not None:
            terms = REGISTER_BYTES // DTYPES[factor].bytes
            work = 2 * terms * registers.rows * registers.columns * TILE_SUMS * target.cores
            ir = tiles_ir(TILED[factor][1], TILE_STEPS, target)
            jobs.append(Job(TILED[factor][1], ir, work * TILE_STEPS))
    return jobs


def dot_ir(dot: Dot, steps: int, target: CpuTarget) -> str:
    """IR of `steps` times `accumulators(target)` dots a thread, as of a register tile of some rows:
    a vector is loaded (where the instruction asks for it, widened) and used for each of them.
    """
    rows = target.vector_registers // 8
    lanes, width = target.vector_bits // 32, target.vector_bits // 8
    left, right = (DTYPES[name] for name in dot.factors[0])
    sums = DTYPES[FLOAT32] if left.is_float else INT32
    if left.is_float:  # whose bits are what is multiplied
        left = right = INT16
    count, vector = dot.length * lanes, compute_type(sums, lanes)
    kinds = [compute_type(dtype, count) for dtype in (left, right)]
    b, m = Builder("step", []), Module()
    before = []
    for k in range(rows):
        before.append(f"  %p{k} = getelementptr i8, ptr %from, i64 {k * width}")
        before.append(f"  %x{k} = load {kinds[0]}, ptr %p{k}")
    carried, after, body = [], [], b.out[1]
    for k in range(accumulators(target)):
        y = SsaValue(f"%y{k // rows}", right, count)
        if k % rows == 0:
            body.append(f"  {y.text} = load volatile {kinds[1]}, ptr %from")
        x, own = SsaValue(f"%x{k % rows}", left, count), SsaValue(f"%s{k}", sums, lanes)
        made = dot_product(b, m, dot, own, x, y).text
        carried.append(f"  %s{k} = phi {vector} [ zeroinitializer, %pass ], [ {made}, %step ]")
        after.append(f"  %r{k} = getelementptr i8, ptr %sums, i64 {k * width}")
        after.append(f"  store {vector} {made}, ptr %r{k}, align {width}")
    declared = "\n".join(m.declarations.values())
    return _region(target, steps, 1, before, carried, body, after, declared)


def tiles_ir(instruction: str, steps: int, target: CpuTarget) -> str:
    """IR of `steps` times TILE_SUMS products of whole tiles a thread, added to as many sums."""
    m = Module()
    registers = [(16, REGISTER_BYTES)] * (TILE_SUMS + 2)
    table = m.table("tiles", configuration(registers), DTYPES["uint8"])
    begin, zero, end = (
        m.declare(f"llvm.x86.{name}", "void", kinds)
        for name, kinds in (("ldtilecfg", ["ptr"]), ("tilezero", ["i8"]), ("tilerelease", []))
    )
    multiply = m.declare(f"llvm.x86.{instruction}", "void", ["i8"] * 3)
    before = [f"  call void {begin}(ptr {table})"]
    before += [f"  call void {zero}(i8 {n})" for n in range(TILE_SUMS + 2)]
    factors = f"i8 {TILE_SUMS}, i8 {TILE_SUMS + 1}"
    body = [f"  call void {multiply}(i8 {n}, {factors})" for n in range(TILE_SUMS)]
    declared = "\n".join([*m.globals.values(), *m.declarations.values()])
    return _region(target, steps, 1, before, [], body, [f"  call void {end}()"], declared)

"""What this machine can do at best, measured with small kernels of the project's code generator.

    python -m benchmarks.ceilings [--threads 2]

    ceilings = measure(target)
    ceilings.fma_flops              float32 operations a second, a multiply-add as 2, all threads
    ceilings.load_bytes             bytes a second that the load ports deliver (reads from L1)
    ceilings.at(bytes)              Bandwidth(read, write, copy) for data of that size
    ceilings.region_s               an empty parallel region

Kernels are LLVM IR, one parallel region over all threads, each thread on its own share:

    multiply-adds    as many independent accumulators as registers allow
    read             vector loads into eight integer sums
    write, copy      vector stores, plain and non-temporal; the faster counts

Sizes go from half of the first-level caches to beyond the second-level ones and on to DRAM, by
factors of four. Data between two sizes gets the smaller size's figure: a ceiling errs upwards.
Each figure is the best of several calls, because anything else that runs only takes away.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from tilewright.api import host_target
from tilewright.codegen.llvm.machine import compile_ir
from tilewright.runtime.artifact import Artifact
from tilewright.runtime.buffers import aligned_empty
from tilewright.runtime.cpu import LoadedKernel, pointer_array
from tilewright.target import MIB, Target

LARGEST_BYTES = 256 * MIB  # of the sizes, as DRAM; a virtual machine's cache sizes are not its own
SIZE_STEP = 4
KINDS = ("read", "write", "write nontemporal", "copy", "copy nontemporal")
SWEEPS = 5
CALLS = 4  # of each kernel in a sweep
EMPTY_CALLS = 500
MOVED_BYTES = 64 * MIB  # about what one call moves
FMA_STEPS = 200_000
STREAMS = 8  # independent sums; also vectors a step of write and copy
GB = 1e9

Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]

# One thread's share is %share bytes from %begin; {body} is one step of {step} bytes at offset %i.
REGION = """
declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare <{lanes} x float> @llvm.fma.v{lanes}f32(<{lanes} x float>, <{lanes} x float>,
                                                <{lanes} x float>)

define internal void @share(ptr %buffers) {
entry:
  %from = load ptr, ptr %buffers
  %to.slot = getelementptr ptr, ptr %buffers, i64 1
  %to = load ptr, ptr %to.slot
  %id = call i32 @omp_get_thread_num()
  %id64 = sext i32 %id to i64
  %begin = mul i64 %id64, {share}
  %end = add i64 %begin, {share}
  %sums = getelementptr i8, ptr %to, i64 %begin
  br label %pass
pass:
  %n = phi i64 [ 0, %entry ], [ %n.next, %pass.end ]
{before}
  br label %step
step:
  %i = phi i64 [ %begin, %pass ], [ %i.next, %step ]
{carried}
{body}
  %i.next = add i64 %i, {step}
  %more = icmp slt i64 %i.next, %end
  br i1 %more, label %step, label %pass.end
pass.end:
{after}
  %n.next = add i64 %n, 1
  %again = icmp slt i64 %n.next, {passes}
  br i1 %again, label %pass, label %done
done:
  ret void
}
define void @ceiling(ptr %buffers, ptr %params, ptr %scratch) {
  call void @GOMP_parallel(ptr @share, ptr %buffers, i32 {threads}, i32 0)
  ret void
}
"""
EMPTY = """
declare void @GOMP_parallel(ptr, ptr, i32, i32)

define internal void @share(ptr %buffers) {
  ret void
}
define void @ceiling(ptr %buffers, ptr %params, ptr %scratch) {
  call void @GOMP_parallel(ptr @share, ptr %buffers, i32 {threads}, i32 0)
  ret void
}
"""


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes a second of all threads on data of `size_bytes` in all. A copy counts both ways."""

    size_bytes: int
    read: float
    write: float
    copy: float


@dataclass(frozen=True, slots=True)
class Ceilings:
    """See the module's docstring; `bandwidths` are in order of size."""

    fma_flops: float
    region_s: float
    bandwidths: tuple[Bandwidth, ...]

    @property
    def load_bytes(self) -> float:
        """Bytes a second from the first-level caches."""
        return max(b.read for b in self.bandwidths)

    def at(self, size_bytes: int) -> Bandwidth:
        """What data of that size can get: the largest measured size that is not larger."""
        fitting = [b for b in self.bandwidths if b.size_bytes <= size_bytes]
        return fitting[-1] if fitting else self.bandwidths[0]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def measure(target: Target) -> Ceilings:
    """All ceilings of this machine, in some seconds, on `target.cores` threads."""
    buffers = [aligned_empty((LARGEST_BYTES,), np.dtype(np.uint8)) for _ in range(2)]
    for buffer in buffers:
        buffer[:] = 0
    buffers[0].view(np.float32)[: 2 * target.vector_bits // 32] = 0.5  # the factors
    jobs = [Job("fma", 0, fma_ir(FMA_STEPS, target), _fma_per_call(target))]
    for size in sizes(target):
        passes = max(1, MOVED_BYTES // size)
        for kind in KINDS:
            ir = bandwidth_ir(kind, size // (2 if "copy" in kind else 1), passes, target)
            jobs.append(Job(kind, size, ir, passes * size))
    rates, region_s = _rates(jobs, buffers, target)
    bandwidths: list[Bandwidth] = []
    for size in reversed(sizes(target)):
        found = {
            what: max(rates[kind, size] for kind in KINDS if kind.startswith(what))
            for what in ("read", "write", "copy")
        }
        # Noise must not make a larger level look faster than a smaller one.
        if bandwidths:
            found = {what: max(r, getattr(bandwidths[-1], what)) for what, r in found.items()}
        bandwidths.append(Bandwidth(size, **found))
    return Ceilings(rates["fma", 0], region_s, tuple(reversed(bandwidths)))


def sizes(target: Target) -> list[int]:
    """Data sizes in bytes, over all threads: a whole number of steps a thread, halved or not."""
    size = target.l1_bytes * target.cores // 2
    found = []
    unit = 2 * STREAMS * target.vector_bits // 8 * target.cores
    while size < LARGEST_BYTES:
        found.append(size // unit * unit)
        size *= SIZE_STEP
    return [*found, LARGEST_BYTES // unit * unit]


@dataclass(frozen=True, slots=True)
class Job:
    """A kernel to time: a call does `work` operations or moves so many bytes."""

    kind: str
    size: int
    ir: str
    work: int


def _rates(
    jobs: Sequence[Job], buffers: Sequence[Bytes], target: Target
) -> tuple[dict[tuple[str, int], float], float]:
    """Work a second of every job by (kind, size), and the seconds of an empty region.

    All kernels take turns, so that a busy moment spoils one pass of each and not all of one.
    """
    pointers = pointer_array([b.ctypes.data for b in buffers])
    address = ctypes.addressof(pointers)
    best = {(job.kind, job.size): 0.0 for job in jobs}
    region_s = float("inf")
    with contextlib.ExitStack() as stack:
        kernels = [stack.enter_context(_kernel(job.ir, target)) for job in jobs]
        empty = stack.enter_context(_kernel(_fill(EMPTY, {"threads": target.cores}), target))
        for _ in range(SWEEPS):
            region_s = min(region_s, float(np.median(empty.bench(address, 0, EMPTY_CALLS))))
            for job, kernel in zip(jobs, kernels, strict=True):
                rate = job.work / float(kernel.bench(address, 0, CALLS).min())
                best[job.kind, job.size] = max(best[job.kind, job.size], rate)
    return best, region_s


def _kernel(ir: str, target: Target) -> LoadedKernel:
    code = compile_ir(ir, target)
    return LoadedKernel(Artifact("ceiling", str(target), code, (), (), (), (), 0))


def bandwidth_ir(kind: str, size: int, passes: int, target: Target) -> str:
    """IR that goes `passes` times over `size` bytes of each buffer that `kind` (of KINDS) uses."""
    bits = target.vector_bits
    vector, width = f"<{bits // 64} x i64>", bits // 8
    what, _, how = kind.partition(" ")
    hint = ", !nontemporal !0" if how else ""
    before, carried, body, after = [], [], [], []
    for k in range(STREAMS):
        body.append(f"  %o{k} = add i64 %i, {k * width}")
        if what in ("read", "copy"):
            body.append(f"  %p{k} = getelementptr i8, ptr %from, i64 %o{k}")
            body.append(f"  %v{k} = load {vector}, ptr %p{k}, align {width}")
        if what == "read":
            carried.append(f"  %s{k} = phi {vector} [ zeroinitializer, %pass ], [ %t{k}, %step ]")
            body.append(f"  %t{k} = add {vector} %s{k}, %v{k}")
            after.append(f"  %r{k} = getelementptr i8, ptr %sums, i64 {k * width}")
            after.append(f"  store {vector} %t{k}, ptr %r{k}, align {width}")
        else:
            value = f"%v{k}" if what == "copy" else "zeroinitializer"
            body.append(f"  %q{k} = getelementptr i8, ptr %to, i64 %o{k}")
            body.append(f"  store {vector} {value}, ptr %q{k}, align {width}{hint}")
    ir = _region(
        target, size // target.cores, STREAMS * width, passes, before, carried, body, after
    )
    return f"{ir}\n!0 = !{{i32 1}}\n"


def fma_ir(steps: int, target: Target) -> str:
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
            f"  %t{k} = call {vector} @llvm.fma.v{lanes}f32({vector} %a, {vector} %b,"
            f" {vector} %s{k})"
        )
        after.append(f"  %r{k} = getelementptr i8, ptr %sums, i64 {k * width}")
        after.append(f"  store {vector} %t{k}, ptr %r{k}, align {width}")
    # A share of that many bytes in steps of 1; it also keeps the threads' sums apart.
    return _region(target, steps, 1, 1, before, carried, body, after)


def accumulators(target: Target) -> int:
    """Independent sums: latency times ports is 8 to 10; four registers stay free."""
    return min(24, target.vector_registers - 4)


def _region(
    target: Target,
    share: int,
    step: int,
    passes: int,
    before: Sequence[str],
    carried: Sequence[str],
    body: Sequence[str],
    after: Sequence[str],
) -> str:
    words = {
        "lanes": target.vector_bits // 32,
        "share": share,
        "step": step,
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


def _fma_per_call(target: Target) -> int:
    """Operations of `fma_ir`: a multiply-add is 2."""
    return 2 * (target.vector_bits // 32) * accumulators(target) * FMA_STEPS * target.cores


def lines(ceilings: Ceilings) -> list[str]:
    """The figures for people."""
    text = [
        f"float32 multiply-adds {ceilings.fma_flops / GB:.0f} GFLOP/s, "
        f"empty parallel region {ceilings.region_s * 1e6:.1f} µs"
    ]
    for b in ceilings.bandwidths:
        text.append(
            f"{b.size_bytes / MIB:8.2f} MiB: read {b.read / GB:.0f}, write {b.write / GB:.0f}, "
            f"copy {b.copy / GB:.0f} GB/s"
        )
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    print("\n".join(lines(measure(replace(host_target(), cores=options.threads)))))


if __name__ == "__main__":
    main()

"""The few native functions that call, parallelise and time a kernel: emitted as LLVM IR.

    call(entry, buffers, params, scratch, threads)
    parallel(fn, data, threads, flags)           what kernels reach as GOMP_parallel
    bench(entry, buffers, params, scratch, threads, regions, readers, count, budget_ns, seconds)
    invoke(self, inputs, count)                  a method of Python's: see `runtime.invoke`

Denormal floats run at 1 % of normal speed on x86, so a kernel runs with flush-to-zero (FTZ and
DAZ; FZ on AArch64). That mode belongs to a thread: `call` and `bench` set it on the caller's,
`parallel` on each worker around the region's body, and each puts back what it found, so that
neither the user's arithmetic nor other users of the same OpenMP pool see it.

A kernel names the threads it was compiled for, which are the most it can use (its scratch memory
has a part for each). `threads` may be fewer: `call` sets OpenMP's own limit, which belongs to the
calling thread as well, and `parallel` obeys it.

`bench` times every call by itself with CLOCK_MONOTONIC (about 25 ns of it are the clock's). Before
each, `readers` threads (0: none) read the `regions` in turn, one page after another dealt out to
them; pairs of address and bytes, an empty one is the last. It stops after `count` calls or once
`budget_ns` have passed, those reads included; it returns the calls it made.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import binding as llvm

from tilewright.errors import RunError
from tilewright.runtime.invoke import PYTHON, QUICK, invoke_ir, method, python_symbol
from tilewright.runtime.symbols import find_symbol

# Flush-to-zero per architecture: (declarations, read state into %old, set state from %new, bits).
X86 = """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define internal i32 @float_mode() {
  %slot = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %slot)
  %mode = load i32, ptr %slot
  ret i32 %mode
}
define internal void @set_float_mode(i32 %mode) {
  %slot = alloca i32
  store i32 %mode, ptr %slot
  call void @llvm.x86.sse.ldmxcsr(ptr %slot)
  ret void
}
define internal i32 @flushing(i32 %mode) {
  %new = or i32 %mode, 32832 ; FTZ is bit 15, DAZ bit 6
  ret i32 %new
}
define internal i32 @gradual(i32 %mode) {
  %new = and i32 %mode, -32833
  ret i32 %new
}
"""

AARCH64 = """
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)

define internal i32 @float_mode() {
  %wide = call i64 @llvm.aarch64.get.fpcr()
  %mode = trunc i64 %wide to i32
  ret i32 %mode
}
define internal void @set_float_mode(i32 %mode) {
  %wide = zext i32 %mode to i64
  call void @llvm.aarch64.set.fpcr(i64 %wide)
  ret void
}
define internal i32 @flushing(i32 %mode) {
  %new = or i32 %mode, 16777216 ; FZ is bit 24
  ret i32 %new
}
define internal i32 @gradual(i32 %mode) {
  %new = and i32 %mode, -16777217
  ret i32 %new
}
"""

CALL_IR = """
define void @tw_call(ptr %entry, ptr %buffers, ptr %params, ptr %scratch, i32 %threads) {
  %before = call i32 @limit_threads(i32 %threads)
  %old = call i32 @float_mode()
  %new = call i32 @flushing(i32 %old)
  call void @set_float_mode(i32 %new)
  call void %entry(ptr %buffers, ptr %params, ptr %scratch)
  call void @set_float_mode(i32 %old)
  %limit = call i32 @limit_threads(i32 %before)
  ret void
}
"""

# The names are those that a linker gives with --wrap=GOMP_parallel, so that the same text serves
# a saved library. `limit_threads` returns the limit that was in force.
PARALLEL_IR = """
declare i32 @omp_get_max_threads()
declare void @omp_set_num_threads(i32)
declare void @__real_GOMP_parallel(ptr, ptr, i32, i32)

define internal i32 @limit_threads(i32 %threads) {
  %before = call i32 @omp_get_max_threads()
  call void @omp_set_num_threads(i32 %threads)
  ret i32 %before
}

define internal void @worker(ptr %closure) {
  %fn = load ptr, ptr %closure
  %slot = getelementptr ptr, ptr %closure, i64 1
  %data = load ptr, ptr %slot
  %old = call i32 @float_mode()
  %new = call i32 @flushing(i32 %old)
  call void @set_float_mode(i32 %new)
  call void %fn(ptr %data)
  call void @set_float_mode(i32 %old)
  ret void
}

define void @__wrap_GOMP_parallel(ptr %fn, ptr %data, i32 %wanted, i32 %flags) {
  %limit = call i32 @omp_get_max_threads()
  %fewer = icmp slt i32 %limit, %wanted
  %threads = select i1 %fewer, i32 %limit, i32 %wanted
  %closure = alloca [2 x ptr]
  store ptr %fn, ptr %closure
  %slot = getelementptr ptr, ptr %closure, i64 1
  store ptr %data, ptr %slot
  %old = call i32 @float_mode()
  %new = call i32 @gradual(i32 %old) ; a thread that is created here inherits the mode for life
  call void @set_float_mode(i32 %new)
  call void @__real_GOMP_parallel(ptr @worker, ptr %closure, i32 %threads, i32 %flags)
  call void @set_float_mode(i32 %old)
  ret void
}
"""

# In place of PARALLEL_IR where nothing is parallel and there may be no OpenMP runtime.
SERIAL_IR = """
define internal i32 @limit_threads(i32 %threads) {
  ret i32 %threads
}
"""

BENCH_IR = """
declare i32 @clock_gettime(i32, ptr)

define internal i64 @nanoseconds(ptr %slot) {
  call i32 @clock_gettime(i32 1, ptr %slot)
  %s = load i64, ptr %slot
  %second = getelementptr i64, ptr %slot, i64 1
  %ns = load i64, ptr %second
  %scaled = mul i64 %s, 1000000000
  %sum = add i64 %scaled, %ns
  ret i64 %sum
}

declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()

define internal void @read_share(ptr %regions) {
entry:
  %thread.32 = call i32 @omp_get_thread_num()
  %threads.32 = call i32 @omp_get_num_threads()
  %thread = zext i32 %thread.32 to i64
  %threads = zext i32 %threads.32 to i64
  %first = mul i64 %thread, 4096
  %stride = mul i64 %threads, 4096
  br label %region
region:
  %r = phi i64 [ 0, %entry ], [ %r.next, %region.end ]
  %address.slot = getelementptr [2 x i64], ptr %regions, i64 %r
  %address = load ptr, ptr %address.slot
  %bytes.slot = getelementptr i64, ptr %address.slot, i64 1
  %bytes = load i64, ptr %bytes.slot
  %more = icmp sgt i64 %bytes, 0 ; an empty region is the last
  br i1 %more, label %page, label %done
page:
  %p = phi i64 [ %first, %region ], [ %p.next, %page.end ]
  %whole = add i64 %p, 4096
  %cut = icmp slt i64 %bytes, %whole
  %end = select i1 %cut, i64 %bytes, i64 %whole
  br label %line
line:
  %b = phi i64 [ %p, %page ], [ %b.next, %line.body ]
  %inside = icmp slt i64 %b, %end
  br i1 %inside, label %line.body, label %page.end
line.body:
  %place = getelementptr i8, ptr %address, i64 %b
  %value = load volatile i8, ptr %place
  %b.next = add i64 %b, 64
  br label %line
page.end:
  %p.next = add i64 %p, %stride
  %again = icmp slt i64 %p.next, %bytes
  br i1 %again, label %page, label %region.end
region.end:
  %r.next = add i64 %r, 1
  br label %region
done:
  ret void
}

define i64 @tw_bench(ptr %entry, ptr %buffers, ptr %params, ptr %scratch, i32 %threads,
                     ptr %regions, i32 %readers, i64 %count, i64 %budget, ptr %out) {
start:
  %time = alloca [2 x i64]
  %unlimited = call i32 @limit_threads(i32 %threads)
  %old = call i32 @float_mode()
  %new = call i32 @flushing(i32 %old)
  call void @set_float_mode(i32 %new)
  %reads = icmp sgt i32 %readers, 0
  %begin = call i64 @nanoseconds(ptr %time)
  br label %body
body:
  %i = phi i64 [ 0, %start ], [ %i.next, %timed ]
  br i1 %reads, label %reading, label %timed
reading:
  call void @__wrap_GOMP_parallel(ptr @read_share, ptr %regions, i32 %readers, i32 0)
  br label %timed
timed:
  %before = call i64 @nanoseconds(ptr %time)
  call void %entry(ptr %buffers, ptr %params, ptr %scratch)
  %after = call i64 @nanoseconds(ptr %time)
  %elapsed = sub i64 %after, %before
  %ns = sitofp i64 %elapsed to double
  %seconds = fmul double %ns, 1.0e-9
  %slot = getelementptr double, ptr %out, i64 %i
  store double %seconds, ptr %slot
  %i.next = add i64 %i, 1
  %total = sub i64 %after, %begin
  %early = icmp slt i64 %total, %budget
  %fits = icmp slt i64 %i.next, %count
  %more = and i1 %early, %fits
  br i1 %more, label %body, label %done
done:
  call void @set_float_mode(i32 %old)
  %limit = call i32 @limit_threads(i32 %unlimited)
  ret i64 %i.next
}
"""

FLOAT_MODES = {"x86_64": X86, "aarch64": AARCH64}
ALL_THREADS = 2**31 - 1  # as many as a kernel was compiled for
Pointer = ctypes.c_void_p
CALL = ctypes.CFUNCTYPE(None, Pointer, Pointer, Pointer, Pointer, ctypes.c_int32)
BENCH = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    *(Pointer, Pointer, Pointer, Pointer, ctypes.c_int32),
    *(Pointer, ctypes.c_int32, ctypes.c_int64, ctypes.c_int64),
    Pointer,
)
IMPORTED = {
    "clock_gettime": "clock_gettime",
    "omp_get_max_threads": "omp_get_max_threads",
    "omp_get_num_threads": "omp_get_num_threads",
    "omp_get_thread_num": "omp_get_thread_num",
    "omp_set_num_threads": "omp_set_num_threads",
    "__real_GOMP_parallel": "GOMP_parallel",
}


@dataclass(frozen=True, slots=True)
class Native:
    """The functions of this module, compiled for this process.

    `parallel` is an address, to be given to kernels under the name GOMP_parallel. `invoke` is there
    if this interpreter can be given it. `loaded` keeps the code in memory.
    """

    call: Callable[..., None]
    bench: Callable[..., int]
    invoke: ctypes.Structure | None
    parallel: int
    loaded: tuple[object, ...]


def call_ir(architecture: str, parallel: bool = True) -> str:
    """The LLVM IR of `tw_call` for "x86_64" or "aarch64", with the wrapper of GOMP_parallel if
    anything is `parallel`. Raises RunError for another architecture.
    """
    if architecture not in FLOAT_MODES:
        raise RunError(
            f"compiled functions run on {', '.join(FLOAT_MODES)}; this machine is {architecture}"
        )
    return FLOAT_MODES[architecture] + CALL_IR + (PARALLEL_IR if parallel else SERIAL_IR)


def native_ir(architecture: str) -> str:
    """All functions. Raises RunError for another architecture than the two."""
    return call_ir(architecture) + BENCH_IR + (invoke_ir() if QUICK else "")


@functools.cache
def native(architecture: str) -> Native:
    """Compile and load the functions once per process (about 10 ms)."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    jit = llvm.create_lljit_compiler(use_jit_link=True)
    builder = llvm.JITLibraryBuilder().add_ir(native_ir(architecture))
    for name, outside in IMPORTED.items():
        builder.import_symbol(name, find_symbol(outside))
    for name in PYTHON if QUICK else ():
        builder.import_symbol(name, python_symbol(name))
    for name in ("tw_call", "tw_bench", "__wrap_GOMP_parallel", *(["tw_invoke"] * QUICK)):
        builder.export_symbol(name)
    library = builder.link(jit, "tilewright-runtime")
    return Native(
        call=CALL(library["tw_call"]),
        bench=BENCH(library["tw_bench"]),
        invoke=method(library["tw_invoke"]) if QUICK else None,
        parallel=library["__wrap_GOMP_parallel"],
        loaded=(library, jit),
    )

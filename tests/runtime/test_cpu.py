"""Loading, calling and timing native code; what a user of a compiled function meets."""

from __future__ import annotations

import ctypes
import mmap
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from native_kernels import fill_in, map_artifact, object_code, scale_artifact

from tilewright.ground.errors import InputError, RunError
from tilewright.runtime import Artifact, BufferSpec, CompiledFunction, LoadedKernel, aligned_empty
from tilewright.runtime.cpu import pointer_array
from tilewright.runtime.symbols import find_symbol
from tilewright.target import Target, available_cores, host_cpu

pytestmark = pytest.mark.cpu

FLOAT = np.dtype(np.float32)
TINY = np.float32(1e-40)  # a denormal


def bound(kernel: LoadedKernel, *arrays: np.ndarray) -> int:
    """The address of a pointer array that lives as long as the kernel."""
    pointers = pointer_array([a.ctypes.data for a in arrays])
    kernel.keep = pointers  # type: ignore[attr-defined]
    return ctypes.addressof(pointers)


def resident_kib() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


def test_run_with_constants_in_parallel() -> None:
    fn = CompiledFunction(scale_artifact(1000))
    x = np.arange(1000, dtype=np.float32)
    with pytest.raises(InputError, match=r"prepare\(\) with the constants first: w"):
        fn.run({"x": x})
    fn.prepare({"w": x + 1})
    (y,) = fn(x)
    np.testing.assert_array_equal(y, x * (x + 1))
    assert y.ctypes.data % 64 == 0
    again = aligned_empty((1000,), FLOAT)
    assert fn.run([x], out=[again])[0] is again
    np.testing.assert_array_equal(again, y)


def test_inputs_in_any_layout_and_by_dlpack() -> None:
    fn = CompiledFunction(map_artifact("%v = fadd float %xv, 1.0", 10))
    wide = np.arange(20, dtype=np.float32)
    np.testing.assert_array_equal(fn(wide[::2])[0], wide[::2] + 1)

    class Foreign:
        def __dlpack__(self, **_: object) -> object:
            return wide[:10].__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return wide.__dlpack_device__()

    np.testing.assert_array_equal(fn(Foreign())[0], wide[:10] + 1)


def test_bad_inputs_are_named() -> None:
    fn = CompiledFunction(map_artifact("%v = fadd float %xv, 1.0", 10))
    x = np.zeros(10, np.float32)
    with pytest.raises(InputError, match="DLPack, got list"):
        fn([0.0] * 10)
    with pytest.raises(InputError, match="must be writable, contiguous"):
        fn.run([x], out=[aligned_empty((11,), FLOAT)[1:]])
    shared = aligned_empty((10,), FLOAT)
    with pytest.raises(InputError, match="output y must not share memory with an input"):
        fn.run([shared], out=[shared])


def test_bad_constants_are_named() -> None:
    fn = CompiledFunction(scale_artifact(8))
    with pytest.raises(InputError, match="constants: missing w"):
        fn.prepare({})
    with pytest.raises(InputError, match=r"w must be float32 of shape \(8,\)"):
        fn.prepare({"w": np.zeros((8, 1), np.float32)})


def test_dlpack_that_cannot_be_taken() -> None:
    fn = CompiledFunction(map_artifact("%v = fadd float %xv, 1.0", 10))

    class Elsewhere:
        def __dlpack__(self, **_: object) -> object:
            raise BufferError("on a GPU")

        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

    with pytest.raises(InputError, match="x: NumPy cannot take this Elsewhere"):
        fn(Elsewhere())


def test_denormals_are_flushed_in_the_call_only() -> None:
    fn = CompiledFunction(map_artifact("%v = fadd float %xv, %xv", 4))
    assert (fn(np.full(4, TINY))[0] == 0).all()
    assert TINY + TINY != 0


# y[i] = a denormal times x[i], by the thread that member number i is.
MEMBERS = """
@arrived = internal global i64 0
declare void @tw_parallel(ptr, ptr, i64, i64, i32, ptr)

define internal void @body(ptr %buffers, i64 %first, i64 %last, i64 %member) {
  %count = sub i64 %last, %first
  %before = atomicrmw add ptr @arrived, i64 %count seq_cst
  br label %wait
wait:
  %here = load atomic i64, ptr @arrived seq_cst, align 8
  %missing = icmp ult i64 %here, {all}
  br i1 %missing, label %wait, label %run
run:
  %x = load ptr, ptr %buffers
  %slot = getelementptr ptr, ptr %buffers, i64 1
  %y = load ptr, ptr %slot
  %from = getelementptr float, ptr %x, i64 %member
  %value = load float, ptr %from
  %same = fadd float %value, %value
  %to = getelementptr float, ptr %y, i64 %member
  store float %same, ptr %to
  ret void
}
define void @kernel(ptr %buffers, ptr %params, ptr %scratch) {
  store i64 0, ptr @arrived
  call void @tw_parallel(ptr @body, ptr %buffers, i64 {all}, i64 1, i32 {all}, ptr null)
  ret void
}
"""


def members_artifact(count: int) -> Artifact:
    """y[i] = x[i] + x[i] by thread i; each waits for all others."""
    x, y = (BufferSpec(name, (count,), "float32") for name in "xy")
    code = object_code(fill_in(MEMBERS, all=count))
    target = str(replace(host_cpu(), cores=count))
    return Artifact("kernel", target, code, (x,), (), (y,), (), 0)


def test_denormals_are_flushed_on_every_thread() -> None:
    cores = available_cores()
    assert cores >= 2, "this machine cannot show it"
    fn = CompiledFunction(members_artifact(cores))
    normal = np.ones(cores, np.float32)
    assert (fn(normal)[0] == 2).all()
    assert (fn(np.full(cores, TINY))[0] == 0).all()


def test_bench_times_every_call() -> None:
    artifact = map_artifact("%v = fdiv float 1.0, %xv", 1 << 16)
    x, y = (aligned_empty((1 << 16,), FLOAT) for _ in range(2))
    x.fill(3)
    with LoadedKernel(artifact) as kernel:
        seconds = kernel.bench(bound(kernel, x, y), 0, 50)
    assert seconds.shape == (50,)
    assert (y == np.float32(1) / np.float32(3)).all()
    assert np.median(seconds) > 1e-5  # 65,536 divisions take longer on any machine


def test_bench_stops_when_its_time_is_over() -> None:
    artifact = map_artifact("%v = fadd float %xv, 1.0", 1 << 12)
    x, y = (aligned_empty((1 << 12,), FLOAT) for _ in range(2))
    x.fill(1)
    with LoadedKernel(artifact) as kernel:
        buffers = bound(kernel, x, y)
        seconds = kernel.bench(buffers, 0, 1_000_000, budget_s=0.02)
        assert 1 < len(seconds) < 1_000_000
        assert len(kernel.bench(buffers, 0, 10, budget_s=0)) == 1


def test_bench_of_a_function() -> None:
    fn = CompiledFunction(scale_artifact(1 << 16))
    ones = np.ones(1 << 16, np.float32)
    with pytest.raises(InputError, match="prepare"):
        fn.bench([ones], 3)
    fn.prepare({"w": ones})
    seconds = fn.bench([ones], 20)
    assert seconds.shape == (20,)
    assert 1e-6 < np.median(seconds) < 1


def test_bench_reads_regions_before_each_call() -> None:
    artifact = map_artifact("%v = fadd float %xv, 1.0", 64)
    x, y = (aligned_empty((64,), FLOAT) for _ in range(2))
    x.fill(1)
    pages = 9  # an odd number, dealt out to two threads
    with mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_SHARED) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        held = np.frombuffer(memory, np.uint8)
        address = held.ctypes.data
        region = (address, (pages - 1) * mmap.PAGESIZE + 1)
        with LoadedKernel(artifact) as kernel:
            kernel.bench(bound(kernel, x, y), 0, 1, [region], 0)
            assert resident_bytes(address) == 0
            kernel.bench(bound(kernel, x, y), 0, 1, [(0, 0), region], 2)
        assert resident_bytes(address) == pages * mmap.PAGESIZE
        del held
    np.testing.assert_array_equal(y, 2)


def resident_bytes(address: int) -> int:
    """Of the mapping that begins at `address`."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{address:x}-"))
    return int(next(line for line in lines[start:] if line.startswith("Rss:")).split()[1]) * 1024


def test_code_memory_is_given_back() -> None:
    # In a process of its own: what other tests left to collect would count as well.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        closed, held = pool.submit(grown_kib).result()
    assert closed < 500
    assert held > 5000, "the measure does not see code memory"


def grown_kib() -> tuple[int, int]:
    """By how much this process grows with 200 kernels closed, and with as many held."""
    artifact = scale_artifact(64)
    for _ in range(20):
        LoadedKernel(artifact).close()
    before = resident_kib()
    for _ in range(200):
        LoadedKernel(artifact).close()
    between = resident_kib()
    held = [LoadedKernel(artifact) for _ in range(200)]
    after = resident_kib()
    for kernel in held:
        kernel.close()
    return between - before, after - between


def test_artifact_for_another_architecture_is_refused() -> None:
    target = Target.parse("cpu:cortex-a53")
    code = object_code("define void @kernel() {\n ret void\n}", target)
    with pytest.raises(RunError, match="compiled for aarch64, this machine is x86_64"):
        LoadedKernel(Artifact("kernel", str(target), code, (), (), (), (), 0))


def test_artifact_for_a_cpu_with_more_features_is_refused() -> None:
    artifact = map_artifact("%v = fadd float %xv, 1.0", 4)
    target = replace(Target.parse("cpu"), name="future", features="+avx2,+amx-fp99")
    with pytest.raises(RunError, match=r"compiled for cpu:future.*lacks amx-fp99"):
        LoadedKernel(replace(artifact, target=str(target)))


def test_missing_entry_symbol_and_library_are_named() -> None:
    artifact = map_artifact("%v = fadd float %xv, 1.0", 4)
    with pytest.raises(RunError, match="cannot load other"):
        LoadedKernel(replace(artifact, entry="other"))
    unknown = map_artifact(
        "%v = call float @no_such_math(float %xv)", 4, declare="declare float @no_such_math(float)"
    )
    with pytest.raises(RunError, match="no_such_math"):
        LoadedKernel(unknown)
    with pytest.raises(RunError, match=r"libmvec\.so\.1"):
        find_symbol("_ZGVeN16v_no_such_math")
    with pytest.raises(RunError, match="not ELF64"):
        LoadedKernel(replace(artifact, object_code=b"MZ not ELF"))


def test_vector_math_is_found() -> None:
    declare = "declare float @expf(float)\n"
    fn = CompiledFunction(map_artifact("%v = call float @expf(float %xv)", 8, declare=declare))
    x = np.linspace(-1, 1, 8, dtype=np.float32)
    np.testing.assert_allclose(fn(x)[0], np.exp(x), rtol=1e-6)
    assert find_symbol("_ZGVeN16v_expf") > 0


def test_scratch_is_aligned_and_large_enough() -> None:
    ir = """
    define void @kernel(ptr %buffers, ptr %params, ptr %scratch) {
      %y = load ptr, ptr %buffers
      %address = ptrtoint ptr %scratch to i64
      store i64 %address, ptr %y
      %last = getelementptr i8, ptr %scratch, i64 99999
      store i8 1, ptr %last
      ret void
    }"""
    spec = BufferSpec("y", (1,), "int64")
    host = str(Target.parse("cpu"))
    fn = CompiledFunction(Artifact("kernel", host, object_code(ir), (), (), (spec,), (), 100000))
    assert fn.run({})[0][0] % 64 == 0

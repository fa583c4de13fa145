"""CUDA programs compile with NVRTC, with no GPU here."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gpu_cases import CASES, Case, gemm_relu

from tilewright.build import build_request, make_request
from tilewright.codegen.clike import emit
from tilewright.codegen.clike.cuda import Cuda
from tilewright.contract.artifact import Artifact, CodeReport
from tilewright.ground.errors import BuildError
from tilewright.runtime.nvrtc import RejectedError, compile_cuda
from tilewright.schedule.steps import Annotate, ComputeAt, Reorder, Split, Step
from tilewright.schedule.trace import gene_of
from tilewright.target import Target

ARCHITECTURES = ("sm_75", "sm_80", "sm_90")


@pytest.mark.parametrize("name", CASES)
def test_programs_compile(name: str) -> None:
    text = emit(CASES[name].lowered().program, Cuda()).ir
    architecture = ARCHITECTURES[sorted(CASES).index(name) % len(ARCHITECTURES)]
    binary, report = compile_cuda(text, architecture)
    assert binary[:4] == b"\x7fELF"
    assert 0 < report.registers <= 255 and report.spill_bytes == 0


def test_artifacts_hold_the_binary_and_what_the_assembler_says() -> None:
    artifact = CASES["gemm"].artifact(Target.parse("cuda:t4"))
    assert artifact.object_code[:4] == b"\x7fELF"
    assert [launch.blocks for launch in artifact.launches] == [4]
    assert artifact.report is not None and artifact.report.registers > 16
    assert artifact.report.shared_bytes == artifact.launches[0].shared_bytes == 2 * 16 * 8 * 4
    assert Artifact.from_bytes(artifact.to_bytes()) == artifact


def test_what_a_launch_gives_is_shared_memory_too() -> None:
    artifact = CASES["gemm_deep"].artifact(Target.parse("cuda:a100"))
    assert artifact.report is not None and artifact.launches[0].dynamic_bytes == 51200
    assert artifact.report.shared_bytes == 51200


SERIAL = """
extern "C" __global__ void KERNEL(float* out) {
    float c[4] = {out[0], out[1], out[2], out[3]};
    for (int k = 0; k < 4; ++k) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; "
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, "
            "p, 1, 1, 0, 0;}" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "l"(1ull << 62));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        c[0] += 1.0f;
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    for (int i = 0; i < 4; ++i) out[i] = c[i];
}
"""


def test_what_the_assembler_says_of_serial_products_is_kept() -> None:
    """An artifact has it, and one of before has none."""
    _, report = compile_cuda(SERIAL.replace("KERNEL", "serial"), "sm_90")
    assert any(w.startswith("C75") and "serialized" in w for w in report.warnings)
    artifact = replace(CASES["gemm"].artifact(Target.parse("cuda:t4")), report=report)
    assert Artifact.from_bytes(artifact.to_bytes()) == artifact
    assert CodeReport.of_header([9, 0, 4, 0]) == CodeReport(9, 0, 4)


def test_arrays_in_memory_are_told_from_spills() -> None:
    """An array of a thread whose index is not known to the compiler lies in its stack frame."""
    text = (
        'extern "C" __global__ void kernel(float* x, int n) {\n'
        "    float a[256];\n    for (int i = 0; i < 256; ++i) a[i] = x[i];\n    x[0] = a[n];\n}\n"
    )
    report = compile_cuda(text, "sm_80")[1]
    assert (report.spill_bytes, report.frame_bytes) == (0, 1024)
    tight = text.replace("void kernel", "void __launch_bounds__(1024, 2) kernel")
    tight = tight.replace("x[0] = a[n];", "for (int i = 0; i < 256; ++i) x[i] = a[255 - i];")
    report = compile_cuda(tight, "sm_80")[1]
    assert report.registers <= 32 and 0 < report.spill_bytes <= report.frame_bytes


def test_programs_that_keep_much_in_memory_are_not_worth_running() -> None:
    """A thread with 512 sums, more than it has registers."""
    target = Target.parse("cuda:t4")
    case = Case(lambda: gemm_relu(64, 64, 4), spilling(8, 64))
    assert case.artifact(target).report is not None  # it may be compiled, if somebody wants it
    with pytest.raises(BuildError, match=r"kernel keeps \d+ bytes of each thread in memory"):
        build_request(make_request(case.dag(), gene_of(case.trace), target, "kernel"))


def spilling(rows: int, columns: int) -> tuple[Step, ...]:
    """One thread of a block computes `rows` times `columns` sums in private storage."""
    return (
        Split("D", "i0", (rows,)),
        Split("D", "i1", (columns,)),
        Reorder("D", (("i0.0",), ("i1.0",), ("i0.1",), ("i1.1",))),
        Annotate("D", "i0.0", "block"),
        Annotate("D", "i1.0", "thread.x"),
        ComputeAt("C", "D", 1),
        Reorder("C", (("k",), ("i",), ("j",))),
    )


def test_the_compilers_log_is_kept() -> None:
    with pytest.raises(RejectedError, match=r"NVRTC rejects the kernel for sm_90: .*error: this"):
        compile_cuda("nothing;", "sm_90")
    with pytest.raises(RejectedError) as caught:
        compile_cuda("nothing;", "sm_90")
    assert "\n  nothing;" in caught.value.log and isinstance(caught.value, BuildError)


@pytest.mark.parametrize(("architecture", "compiles"), [("sm_90", True), ("sm_80", False)])
def test_hoppers_own_instructions_are_there(architecture: str, compiles: bool) -> None:
    """Only code for `sm_90a` has them; the target says `sm_90`, as the driver and records do."""
    text = (
        'extern "C" __global__ void kernel() {\n    asm volatile("wgmma.fence.sync.aligned;");\n}\n'
    )
    if compiles:
        assert compile_cuda(text, architecture)[0][:4] == b"\x7fELF"
        return
    with pytest.raises(RejectedError, match=r"for sm_80: .*wgmma.fence"):
        compile_cuda(text, architecture)

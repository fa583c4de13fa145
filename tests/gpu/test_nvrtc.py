"""CUDA programs compile with NVRTC, with no GPU here."""

from __future__ import annotations

import pytest
from gpu_cases import CASES

from tilewright.codegen.clike import CUDA, emit
from tilewright.errors import BuildError
from tilewright.runtime.nvrtc import compile_cuda
from tilewright.target import Target

ARCHITECTURES = ("sm_75", "sm_80", "sm_90")


@pytest.mark.parametrize("name", CASES)
def test_programs_compile(name: str) -> None:
    text = emit(CASES[name].lowered().program, CUDA).text
    architecture = ARCHITECTURES[sorted(CASES).index(name) % len(ARCHITECTURES)]
    code = compile_cuda(text, architecture)
    assert code.binary[:4] == b"\x7fELF"
    assert 0 < code.registers <= 255 and code.spill_bytes == 0


def test_what_the_assembler_says_is_kept() -> None:
    program = CASES["gemm"].lowered().program
    source = emit(program, CUDA)
    code = compile_cuda(source.text, "sm_90")
    assert code.shared_bytes == source.launches[0].shared_bytes == 2 * 16 * 8 * 4


def test_artifacts_hold_the_binary() -> None:
    artifact = CASES["gemm"].artifact(Target.parse("cuda:t4"))
    assert artifact.object_code[:4] == b"\x7fELF"
    assert [launch.blocks for launch in artifact.launches] == [4]


def test_the_compilers_log_is_kept() -> None:
    with pytest.raises(BuildError, match=r"(?s)NVRTC rejects the kernel for sm_90: .*nothing"):
        compile_cuda("nothing;", "sm_90")

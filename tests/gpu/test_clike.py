"""The C of both dialects: golden text, and what cannot be written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from gpu_cases import CASES

from tilewright.codegen.clike import CUDA, OPENCL, emit
from tilewright.errors import BuildError
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import compute, placeholder
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State


@pytest.mark.parametrize("name", ["gemm", "gemm_padded", "rows_warp", "rows_block", "two_kernels"])
def test_cuda_text(name: str, golden: Callable[[str, str], None]) -> None:
    source = emit(CASES[name].lowered().program, CUDA)
    calls = "".join(f"// {launch}\n" for launch in source.launches)
    golden(f"clike/{name}.cu", source.text + calls)


@pytest.mark.parametrize("name", ["gemm", "gemm_half"])
def test_opencl_text(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"clike/{name}.cl", emit(CASES[name].lowered().program, OPENCL).text)


def test_types_that_devices_lack_are_named() -> None:
    x = placeholder((4,), "bfloat16", name="x")
    dag = ComputeDAG([compute((4,), lambda i: x[i] * 2.0, name="y")])
    with pytest.raises(BuildError, match="bfloat16 is not stored on CUDA devices; known: float32"):
        emit(lower(State(dag), "p").program, CUDA)

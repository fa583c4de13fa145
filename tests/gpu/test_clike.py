"""The C of both dialects: golden text, and what cannot be written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from gpu_cases import CASES

from tilewright.codegen.clike import Dialect, emit
from tilewright.codegen.clike.cuda import Cuda
from tilewright.codegen.clike.opencl import OpenclC
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import compute, placeholder
from tilewright.ground.errors import BuildError
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State


@pytest.mark.parametrize("name", ["gemm", "gemm_padded", "rows_warp", "rows_block", "two_kernels"])
def test_cuda_text(name: str, golden: Callable[[str, str], None]) -> None:
    source = emit(CASES[name].lowered().program, Cuda())
    calls = "".join(f"// {launch}\n" for launch in source.launches)
    golden(f"clike/{name}.cu", source.ir + calls)


@pytest.mark.parametrize("name", ["gemm", "gemm_half"])
def test_opencl_text(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"clike/{name}.cl", emit(CASES[name].lowered().program, OpenclC()).ir)


def test_rows_of_shared_memory_are_padded() -> None:
    """A's rows of 8 become 9: its elements are loaded four at a time and stored one by one. B's
    rows of 16 become 20: vectors there and back.
    """
    text = emit(CASES["gemm_aligned"].lowered().program, Cuda()).ir
    assert f"A_C[{16 * 9}]" in text and f"B_C[{8 * 20}]" in text
    assert text.count("const float4 A_v") == text.count("const float4 B_v") == 1
    assert "*(float4*)(B_C" in text and "*(float4*)(A_C" not in text
    assert text.count("= A_v.") == 4


def test_eight_halves_are_one_access() -> None:
    """Copied as they are, converted where something is computed; floats go four at a time."""
    copied = emit(CASES["gemm_half_eight"].lowered().program, OpenclC()).ir
    assert copied.count("const ushort8 ") == copied.count("*(__local ushort8*)") == 2
    converted = emit(CASES["half_relu"].lowered().program, OpenclC()).ir
    assert "const float8 x_v = vloada_half8(0, (__global const half*)x + " in converted
    assert "vstorea_half8((float8)(" in converted
    wider = emit(CASES["half_floats"].lowered().program, OpenclC()).ir
    assert "vloada_half4(" in wider and "*(__global float4*)(y" in wider
    cuda = emit(CASES["half_relu"].lowered().program, Cuda()).ir
    assert "struct __align__(16) tw_half8 { __half of[8]; };" in cuda
    assert "const tw_half8 x_v = *(const tw_half8*)(x + " in cuda
    assert "*(tw_half8*)(y + " in cuda


@pytest.mark.parametrize(("dialect", "kind"), [(Cuda(), "float*"), (OpenclC(), "__local float*")])
def test_what_is_used_up_gives_its_bytes_away(dialect: Dialect, kind: str) -> None:
    source = emit(CASES["chain"].lowered().program, dialect)
    assert f"{kind} const s = ({kind})shared;" in source.ir
    assert f"{kind} const u = ({kind})shared;" in source.ir
    assert "float t[48];" in source.ir
    assert source.launches[0].shared_bytes == 2 * 48 * 4
    # s and t are filled, u is written over s, all are read: a barrier before each
    assert source.ir.count(dialect.barrier) == 3


def test_reductions_of_one_kernel_meet_in_the_same_memory() -> None:
    source = emit(CASES["rows_scaled"].lowered().program, Cuda())
    assert source.ir.count("_threads[48];") == 1
    assert source.launches[0].shared_bytes == (1 + 48) * 4


def test_large_arrays_are_parts_of_one_that_the_launch_gives() -> None:
    program = CASES["gemm_deep"].lowered().program
    text, opencl = emit(program, Cuda()).ir, emit(program, OpenclC())
    assert "tw_dynamic_shared(shared);" in text and "    __shared__" not in text
    assert "float* const A_C = (float*)(shared + 0);" in text
    assert "float* const B_C = (float*)(shared + 25600);" in text
    assert "float A_C[6400];" in opencl.ir and opencl.launches[0].dynamic_bytes == 0


def test_types_that_devices_lack_are_named() -> None:
    x = placeholder((4,), "uint16", name="x")
    dag = ComputeDAG([compute((4,), lambda i: x[i], name="y")])
    with pytest.raises(BuildError, match="uint16 is not stored on CUDA devices; known: float32"):
        emit(lower(State(dag), "p").program, Cuda())

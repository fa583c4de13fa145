"""Limits of parameters: by name, before anything is compiled, for one program or for columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from problems import (
    IN_REGISTERS,
    IN_SHARED,
    SM_75,
    SM_80,
    TILES,
    convolution,
    half,
    match,
    product,
    two_convolutions,
    two_products,
)

from tilewright.cutlass.architectures import ARCHITECTURES
from tilewright.cutlass.parameters import FIELDS, Parameters, check, valid
from tilewright.cutlass.template import columns_of
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import ScheduleError


def refusal(name: str, parameters: Parameters, *given: object) -> str:
    """The message with which a template refuses parameters; "" where it takes them."""
    found = match(name, *given)  # type: ignore[arg-type]
    try:
        found.program(parameters, "k")
    except ScheduleError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("warp divides block", {"warp_m": 48}),
        ("instruction divides warp", {"warp_n": 8, "block_n": 64}),
        ("warps of a block", {"block_m": 256, "block_n": 256, "warp_m": 32}),
        ("threads load whole tiles", {"block_m": 32, "block_n": 256, "warp_m": 16}),
        ("stages", {"stages": 6}),
        ("loads of a thread", {"block_m": 32, "block_n": 64, "block_k": 64, "warp_n": 64,
                               "stages": 2, "align": 1}),
        ("threads of the epilogue", {"block_n": 256, "warp_m": 64, "warp_n": 32}),
        ("registers", {"block_m": 128, "warp_m": 128, "warp_n": 64}),
        ("access of stages", {"align": 1}),
        ("shared memory", {"block_m": 256, "block_n": 128, "block_k": 64, "warp_m": 64,
                           "warp_n": 64, "stages": 5}),
        ("alignment", {"align": 16}),
        ("swizzle", {"swizzle": 16}),
        ("columns of a warp in the epilogue", {"block_n": 128, "warp_m": 16, "warp_n": 128}),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(name: str, changes: dict[str, int]) -> None:
    assert refusal("gemm", TILES, product(100, 100, 64)) == ""
    message = refusal("gemm", replace(TILES, **changes), product(100, 100, 64))
    assert message.startswith(f"cutlass.gemm: {name}: it is not so that ")


def test_contiguous_rows_need_a_wider_tile_of_a_warp() -> None:
    """CUTLASS itself gives wrong numbers."""
    low = replace(TILES, warp_m=16)
    assert refusal("gemm", low, product(100, 100, 64)) == ""
    a, w = half((64, 100), "a"), half((64, 100), "w", True)
    across = ComputeDAG([ops.matmul(ops.transpose(a, (1, 0)), w)])
    assert refusal("gemm", replace(TILES, align=4), across) == ""
    message = refusal("gemm", replace(low, align=4), across)
    assert message.startswith("cutlass.gemm: rows of a warp: it is not so that a warp has at least")


def test_a_device_with_less_shared_memory_refuses() -> None:
    large = Parameters(128, 128, 64, 64, 64, 4)
    dag = product(256, 256, 128)
    assert refusal("gemm", large, dag, SM_80) == ""
    message = refusal("gemm", large, dag, ARCHITECTURES["sm_86"])
    assert message.endswith("131072 bytes of shared memory fit into sm_86's 101376")
    assert "stages" in refusal("gemm", TILES, dag, SM_75)


def test_columns_beyond_the_tile_are_refused_before_anything_is_compiled() -> None:
    """CUTLASS itself gives wrong numbers."""
    assert refusal("b2b_gemm", IN_REGISTERS, two_products()) == ""
    message = refusal("b2b_gemm", IN_REGISTERS, two_products(n0=65))
    assert "residence of the first: it is not so that a block's tile has all 65" in message
    message = refusal("b2b_gemm", IN_REGISTERS, two_products(n1=33))
    assert "residence of the second" in message
    cut = replace(IN_REGISTERS, warp_n=32)
    assert "middle in registers" in refusal("b2b_gemm", cut, two_products())
    assert refusal("b2b_gemm", IN_SHARED, two_products()) == ""
    assert refusal("b2b_conv", replace(IN_SHARED, block_n=32), two_convolutions()) != ""
    unequal = replace(IN_SHARED, warp_m1=64)
    assert "warps of both" in refusal("b2b_gemm", unequal, two_products())


def test_alignment_is_of_what_is_contiguous() -> None:
    """K = 46 is read two at a time, or padded to 48."""
    found = match("gemm", product(33, 30, 46))
    two, padded = replace(TILES, align=2), replace(TILES, pad=1)
    assert found.program(two, "k").calls[-1].values[:3] == (33, 30, 46)
    assert found.program(padded, "k").calls[-1].values[:3] == (33, 30, 48)
    with pytest.raises(ScheduleError, match="alignment: it is not so that accesses of 4 elements"):
        found.program(replace(TILES, align=4), "k")
    with pytest.raises(ScheduleError, match="alignment"):
        match("conv", convolution(channels=3)).program(TILES, "k")


def test_columns_say_what_single_programs_say() -> None:
    rng = np.random.default_rng(0)
    options = {"block_m": (32, 64, 128), "block_n": (32, 64, 256), "block_k": (32, 64),
               "warp_m": (16, 32, 64), "warp_n": (32, 64, 128), "stages": (2, 3, 5),
               "swizzle": (1, 8), "align": (1, 8), "pad": (0, 1), "block_n1": (32, 64),
               "warp_m1": (16, 32), "warp_n1": (32, 64), "shared": (0, 1)}  # fmt: skip
    assert tuple(options) == FIELDS
    listed = [Parameters(*(int(rng.choice(options[f])) for f in FIELDS)) for _ in range(400)]
    for name, dag in (("gemm", product(90, 70, 64)), ("conv", convolution()),
                      ("b2b_gemm", two_products()), ("b2b_conv", two_convolutions())):  # fmt: skip
        found = match(name, dag)
        holds = valid(found.conditions(columns_of(listed)), len(listed))
        assert holds.tolist() == [_holds(found.conditions(p)) for p in listed]
        assert 0 < holds.sum() < len(listed), name


def _holds(conditions: list[object]) -> bool:
    try:
        check(conditions, "")  # type: ignore[arg-type]
    except ScheduleError:
        return False
    return True


@pytest.mark.parametrize("where", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90"])
def test_short_lists_are_short_and_valid(where: str) -> None:
    """At most 40 programs, no two alike, of 4 or 8 warps; small blocks for small problems."""
    architecture = ARCHITECTURES[where]
    for dag in (product(1280, 3072, 768), product(64, 64, 512), product(1, 1000, 46)):
        found = match("gemm", dag, architecture)
        listed = found.short_list(40)
        assert 0 < len(listed) <= 40 and len(set(listed)) == len(listed)
        assert all(p.warps in (4, 8) for p in listed)
        for p in listed:
            check(found.conditions(p), "")
    large = match("gemm", product(4096, 4096, 512), architecture).short_list(40)[0]
    small = match("gemm", product(128, 128, 512), architecture).short_list(40)[0]
    assert large.block_m * large.block_n >= 128 * 128 > 64 * 64 >= small.block_m * small.block_n
    assert large.warp_m * large.warp_n == 64 * 64
    for name, dag in (("b2b_gemm", two_products()), ("b2b_conv", two_convolutions())):
        listed = match(name, dag, architecture).short_list(40)
        assert {p.shared for p in listed} == {0, 1}, "both residences are measured"

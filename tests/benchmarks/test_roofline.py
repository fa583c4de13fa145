"""The roofline's arithmetic on round ceilings, and the ceilings' kernels."""

from __future__ import annotations

import pytest
from benchmarks.cases import CASES
from benchmarks.ceilings import KINDS, Bandwidth, Ceilings, bandwidth_ir, fma_ir, sizes
from benchmarks.roofline import bound_of, loads_per_fma

from tilewright.codegen.llvm.machine import assembly
from tilewright.target import Target

CEILINGS = Ceilings(
    fma_flops=1e12,
    region_s=1e-6,
    bandwidths=(Bandwidth(1 << 16, 4e12, 2e12, 5e12), Bandwidth(1 << 20, 1e10, 5e9, 1.2e10)),
)


def test_bandwidth_is_that_of_the_largest_size_not_larger() -> None:
    small, large = CEILINGS.bandwidths
    assert CEILINGS.at(10) is small
    assert CEILINGS.at((1 << 20) - 1) is small
    assert CEILINGS.at(1 << 20) is large
    assert CEILINGS.at(1 << 30) is large


def test_matmul_is_limited_by_multiply_adds(target: Target) -> None:
    bound = bound_of(CASES["GMM-2-b1"], CEILINGS, target)
    assert bound.flops_s == pytest.approx(2 * 512**3 / 1e12)
    assert bound.bytes_s == pytest.approx(3 * 512 * 512 * 4 / 1.2e10)
    assert bound.limit == "flops"
    assert bound.total_s == pytest.approx(bound.flops_s + 1e-6)


def test_depthwise_is_limited_by_its_bytes(target: Target) -> None:
    bound = bound_of(CASES["DEP-0-b1"], CEILINGS, target)
    written = 112 * 112 * 32 * 4
    assert bound.bytes_s == pytest.approx(max(written / 5e9, (2 * written + 9 * 128) / 1.2e10))
    assert (bound.limit, bound.loads_s) == ("bytes", 0.0)


def test_loads_of_the_best_register_tile(target: Target) -> None:
    # 5 rows x 5 vectors of sums, 5 of weights and 1 of input are 31 of 32 registers
    assert loads_per_fma(CASES["GMM-2-b1"].dag(), target) == pytest.approx(10 / 25)
    # three output channels: 9 vectors of positions x 3
    assert loads_per_fma(CASES["T2D-3-b1"].dag(), target) == pytest.approx(12 / 27)


def test_sizes_are_whole_steps_of_all_threads(target: Target) -> None:
    found = sizes(target)
    assert found == sorted(found)
    assert found[0] <= target.l1_bytes * target.cores < found[-1]
    assert all(size % (2 * 64 * 8 * target.cores) == 0 for size in found)


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_move_whole_vectors(kind: str, target: Target) -> None:
    text = assembly(bandwidth_ir(kind, 1 << 16, 3, target), target)
    stores = text.count("vmovntps") if "nontemporal" in kind else text.count("zmm")
    assert stores >= 8


def test_sums_are_independent_multiply_adds(target: Target) -> None:
    assert assembly(fma_ir(1000, target), target).count("vfmadd") == 24

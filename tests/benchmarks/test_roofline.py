"""The roofline's arithmetic on round ceilings, and the ceilings' kernels."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.cases import CASES
from benchmarks.roofline import bound_of, least_side, loads_per_fma, traffic_of

from assembly import assembly
from tilewright.front.machine import host_target
from tilewright.measure.ceilings import (
    Ceilings,
    Traffic,
    TrafficTime,
    fma_ir,
    fma_work,
    moved_bytes,
    steps_of,
    traffic_ir,
    vectors_of,
)
from tilewright.measure.trial import Floats
from tilewright.runtime.cpu import LoadedKernel
from tilewright.target import MIB, CpuTarget, Target

CEILINGS = Ceilings(
    fma_flops=1e12,
    load_bytes=4e12,
    call_s=1e-6,
    streams=(
        TrafficTime(traffic_of(CASES["GMM-2-b1"]), 3e-6),
        TrafficTime(traffic_of(CASES["DEP-0-b1"]), 20e-6),
    ),
)


def test_traffic_is_every_array_once() -> None:
    plane = 112 * 112 * 32 * 4
    assert traffic_of(CASES["DEP-0-b1"]) == Traffic(plane + 9 * 32 * 4, plane)


def test_traffic_that_was_not_measured_has_no_ceiling() -> None:
    with pytest.raises(ValueError, match="was not measured"):
        CEILINGS.seconds(Traffic(1, 1))


def test_matmul_is_limited_by_multiply_adds(target: Target) -> None:
    bound = bound_of(CASES["GMM-2-b1"], CEILINGS, target)
    assert bound.flops_s == pytest.approx(2 * 512**3 / 1e12)
    assert bound.bytes_s == 3e-6
    assert bound.limit == "flops"
    assert bound.total_s == pytest.approx(bound.flops_s + 1e-6)


def test_depthwise_is_limited_by_its_bytes(target: Target) -> None:
    bound = bound_of(CASES["DEP-0-b1"], CEILINGS, target)
    assert (bound.bytes_s, bound.loads_s) == (20e-6, 0.0)
    assert bound.limit == "bytes"
    assert bound.total_s == pytest.approx(21e-6)


@pytest.mark.parametrize(
    ("case", "flops_s", "bytes_s", "loads_s", "limit"),
    [
        ("GMM-2-b1", 3.0, (2.0, 9.0), (1.0,), "flops"),  # the better kind of stores counts
        ("GMM-2-b1", 1.0, (9.0, 2.0), (3.0,), "loads"),
        ("NRM-2-b1", 1.0, (2.0,), (), "bytes"),
    ],
)
def test_a_side_that_does_the_least(
    case: str,
    flops_s: float,
    bytes_s: tuple[float, ...],
    loads_s: tuple[float, ...],
    limit: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = host_target()
    assert isinstance(target, CpuTarget)
    taken = iter((flops_s, *bytes_s, *loads_s))

    def bench(*_: object, **__: object) -> Floats:
        return np.full(3, next(taken))

    monkeypatch.setattr(LoadedKernel, "bench", bench)
    side = least_side(CASES[case], target)
    assert side.mode == limit
    assert not list(taken)
    assert side.call() is None
    assert not side.output().size


def test_work_of_a_step(target: Target) -> None:
    assert isinstance(target, CpuTarget)
    ops = assembly(fma_ir(1000, target), target).count("vfmadd") * 2 * 16
    assert fma_work(target) == ops * target.cores


def test_loads_of_the_best_register_tile(target: Target) -> None:
    # 5 rows x 5 vectors of sums, 5 of weights and 1 of input are 31 of 32 registers
    assert loads_per_fma(CASES["GMM-2-b1"].dag(), target) == pytest.approx(10 / 25)
    # three output channels: 9 vectors of positions x 3
    assert loads_per_fma(CASES["T2D-3-b1"].dag(), target) == pytest.approx(12 / 27)


@pytest.mark.parametrize(
    ("traffic", "vectors"),
    [
        (Traffic(1 << 20, 1 << 20), (8, 8)),
        (Traffic(1 << 20, 1 << 18), (8, 2)),
        (Traffic(1 << 18, 1 << 20), (2, 8)),
        (Traffic(1 << 20, 4), (8, 0)),
    ],
)
def test_traffic_moves_in_its_mix(
    traffic: Traffic, vectors: tuple[int, int], target: Target
) -> None:
    assert vectors_of(traffic) == vectors
    moved = steps_of(traffic, target) * 8 * target.vector_bits // 8 * target.cores
    assert moved == 1 << 20


@pytest.mark.parametrize(("hint", "store"), [(False, "vmovup"), (True, "vmovntps")])
def test_stores_are_plain_or_nontemporal(hint: bool, store: str, target: Target) -> None:
    text = assembly(traffic_ir(Traffic(1 << 18, 1 << 20), 3, hint, target), target)
    assert text.count(store) + text.count("vmovap" if not hint else store) >= 8


def test_sums_are_independent_multiply_adds(target: Target) -> None:
    assert assembly(fma_ir(1000, target), target).count("vfmadd") == 24


def test_whole_vectors_a_step_may_move_more_than_the_traffic(target: Target) -> None:
    # 0.6 vectors written for 8 read are one
    assert moved_bytes(Traffic(MIB, MIB // 13), target) == (MIB, MIB // 8)
    assert moved_bytes(Traffic(MIB, 0), target) == (MIB, 0)

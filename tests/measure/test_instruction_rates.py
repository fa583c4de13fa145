"""Rates of the instructions for narrow numbers: measured, kept with speeds, and gone by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.codegen.llvm.machine import machine, parse
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import cast, compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import TargetError
from tilewright.measure import ceilings
from tilewright.space.space import Space
from tilewright.target import CpuTarget, Speeds
from tilewright.target.dots import TILED, dot_of, dots_of, fastest, tiles_of
from tilewright.target.speeds import FLOAT32

ISAS = {
    "avx2": "cpu:haswell features=+avx2",
    "avx-vnni": "cpu:alderlake features=+avx2,+avxvnni",
    "avx512": "cpu:skylake-avx512 features=+avx512bw,+avx512vl,-prefer-256-bit",
    "amx": "cpu:sapphirerapids features=+avx512f,+avx512bw,+avx512vl,+avx512vnni,+avx512bf16,"
    "+amx-tile,+amx-int8,+amx-bf16,-prefer-256-bit",
    "i8mm": "cpu:neoverse-n2 features=+i8mm",
}
AMX = CpuTarget.of(ISAS["amx"])
FUSED = {"vpmaddwd": ("vpmaddwd", "vpdpwssd")}  # LLVM takes a sum along where it can


def measured(target: CpuTarget, **rates: float) -> CpuTarget:
    """The target with rates relative to float32's."""
    found = ((FLOAT32, 1e11), *((name, 1e11 * gain) for name, gain in rates.items()))
    return replace(target, measured=replace(target.speeds, rates=found))


@pytest.mark.parametrize("isa", ISAS)
def test_each_instruction_of_a_target_is_what_its_kernel_runs(isa: str) -> None:
    target = CpuTarget.of(ISAS[isa])
    jobs = ceilings.multiply_jobs(target)
    names = [job.what for job in jobs[1:]]
    assert names and len(set(names)) == len(names)
    for job in jobs[1:]:
        text = machine(target).emit_assembly(parse(job.ir, target))
        words = FUSED.get(str(job.what), (str(job.what),))
        lines = [x for x in text.splitlines() if any(f"\t{w}\t" in x for w in words)]
        tiled = str(job.what).startswith("tdp")
        assert len(lines) == (ceilings.TILE_SUMS if tiled else ceilings.accumulators(target))
        assert not tiled or ("ldtilecfg" in text and "tilerelease" in text)


@pytest.mark.cpu
def test_this_machine_has_a_rate_of_each_of_its_instructions() -> None:
    target = replace(CpuTarget.of("cpu"), cores=1)
    rates = ceilings.multiply_rates(target)
    own = {dot.name for dot in dots_of(target)}
    own |= {TILED[t][1] for t in ("uint8", "bfloat16") if tiles_of(target, t) is not None}
    assert rates.keys() == own | {FLOAT32} and all(rate > 0 for rate in rates.values())


def test_measured_rates_go_before_the_tables() -> None:
    assert fastest(AMX, "bfloat16", "bfloat16") == ("tdpbf16ps", 16.0)
    assert fastest(CpuTarget.of(ISAS["avx2"]), "bfloat16", "bfloat16") is None
    known = measured(AMX, vdpbf16ps=0.5, vpdpbusd=3.2, tdpbusd=16.0, tdpbf16ps=0.25)
    dots = [dot_of(known, *pair) for pair in (("bfloat16", "bfloat16"), ("int8", "uint8"))]
    assert [dot and dot.uops for dot in dots] == pytest.approx([4.0, 1.25])
    tiles = tiles_of(known, "int8")
    assert tiles is not None and tiles.cycles == pytest.approx(2.0)
    assert fastest(known, "uint8", "int8") == ("tdpbusd", pytest.approx(16.0))
    assert fastest(known, "bfloat16", "bfloat16") == ("vdpbf16ps", pytest.approx(0.5))


def test_the_text_of_speeds_has_rates_by_name() -> None:
    speeds = Speeds(4e9, 2e11, 4e10, 2e10, rates=((FLOAT32, 2e11), ("vpdpbusd", 8e11)))
    target = CpuTarget.of(f"cpu:haswell speeds={speeds}")
    assert target.measured == speeds and CpuTarget.of(str(target)).measured == speeds
    assert speeds.gain("vpdpbusd") == 4.0 and speeds.gain("tdpbusd") is None
    assert Speeds(4e9, 2e11, 4e10, 2e10).gain("vpdpbusd") is None
    more = replace(speeds, rates=((FLOAT32, 1e11), ("tdpbusd", 6e12)))
    higher = speeds.raised_by(more)
    assert dict(higher.rates) == {FLOAT32: 2e11, "vpdpbusd": 8e11, "tdpbusd": 6e12}
    assert higher.exceeds(speeds, 1.1) and not speeds.exceeds(higher, 1.0)


@pytest.mark.parametrize(
    "rates", ["a:b", "a:1e9,a:2e9", "a:-1", ":1e9", "a b:1e9", "1e9", "a:inf", "a:1e9,5"]
)
def test_other_words_are_no_rates(rates: str) -> None:
    with pytest.raises(TargetError, match="then rates as name:rate"):
        Speeds.parse(f"4e9,2e11,4e10,2e10,{rates}")


@pytest.mark.parametrize(
    ("isa", "types", "name"),
    [
        ("amx", ("uint8", "int8"), "tdpbusd"),
        ("amx", ("bfloat16", "bfloat16"), "tdpbf16ps"),
        ("avx-vnni", ("uint8", "int8"), "vpdpbusd"),
        ("avx2", ("int8", "int8"), "vpmaddwd"),
    ],
)
def test_estimates_follow_the_rates(isa: str, types: tuple[str, str], name: str) -> None:
    """Four times as slow an instruction: no program is expected to be faster, some are slower."""
    target = CpuTarget.of(ISAS[isa])
    kind = "float32" if types[0] == "bfloat16" else "int32"
    a = placeholder((64, 256), name="A", dtype=types[0])
    b = placeholder((256, 64), name="B", dtype=types[1], constant=True)
    k = reduce_axis(256, "k")
    c = compute(
        (64, 64), lambda i, j: sum_over(cast(kind, a[i, k]) * cast(kind, b[k, j]), k), name="C"
    )
    found = fastest(target, *types)
    assert found is not None and found[0] == name
    usual, same, slow = (
        Space(ComputeDAG((c,)), t)
        for t in (target, measured(target, **{name: found[1]}), measured(target, **{name: 0.25}))
    )
    rows = usual.sample(np.random.default_rng(0), 128)
    before, equal, after = (FeatureExtractor(space).latency(rows) for space in (usual, same, slow))
    np.testing.assert_allclose(equal, before, rtol=1e-12)
    assert (after >= before).all() and (after > 1.2 * before).any()

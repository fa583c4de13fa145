"""What a CPU's cores do a second: published figures, and measured ones that are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.cost.extractor import FeatureExtractor
from tilewright.front.machine import SPEEDS_FILE, host_target, keep_speeds, speeds_of, with_kept
from tilewright.ground.errors import TargetError
from tilewright.measure.ceilings import Ceilings, Traffic, TrafficTime, working_sets
from tilewright.space.space import Space
from tilewright.target import CpuTarget, Speeds, Target
from workloads import OPERATORS

NAMED = CpuTarget.of("cpu:icelake-server cores=2")
FAST = Speeds(4e9, 200e9, 40e9, 20e9)


def test_the_text_of_a_target_carries_its_speeds() -> None:
    measured = replace(NAMED, measured=FAST)
    again = CpuTarget.of(str(measured))
    assert again == NAMED and again.speeds == FAST  # the same target, and as fast
    assert "speeds" not in str(NAMED)
    assert CpuTarget.of("cpu:haswell speeds=4e9,2e11,4e10,2e10 cores=3").measured == FAST
    assert CpuTarget.of("cpu:apple-m1").speeds.clock_hz > NAMED.speeds.clock_hz
    for wrong in ("4e9", "4e9,2e11,4e10,fast", "4e9,2e11,4e10,0", "4e9,2e11,4e10,inf"):
        with pytest.raises(TargetError, match="speeds must be clock_hz"):
            Target.parse(f"cpu:haswell speeds={wrong}")


def test_speeds_are_of_one_core() -> None:
    sizes = working_sets(NAMED)
    read = (500e9, 300e9, 60e9, 20e9)
    streams = (TrafficTime(Traffic(s, 0), s / r) for s, r in zip(sizes, read, strict=True))
    rates = (("vpdpbusd", 1600e9),)
    found = speeds_of(Ceilings(400e9, 1e12, 1e-6, tuple(streams), rates), NAMED)
    assert found.dram_bytes_per_s == pytest.approx(10e9)
    assert found.rates == (("float32", 200e9), ("vpdpbusd", 800e9)) and found.gain("vpdpbusd") == 4
    assert replace(found, dram_bytes_per_s=12e9, rates=()) == NAMED.speeds


def test_what_was_measured_is_kept_and_rises_only_clearly(tmp_path: Path) -> None:
    assert with_kept(NAMED, tmp_path) is NAMED
    keep_speeds(NAMED, FAST, tmp_path)
    assert with_kept(NAMED, tmp_path) == NAMED
    assert with_kept(NAMED, tmp_path).speeds == FAST  # type: ignore[attr-defined]
    keep_speeds(NAMED, replace(FAST, clock_hz=4.1e9, l2_bytes_per_s=1e9), tmp_path)
    assert with_kept(NAMED, tmp_path).speeds == FAST  # type: ignore[attr-defined]
    keep_speeds(NAMED, Speeds(1e9, 1e9, 1e9, 30e9), tmp_path)
    higher = replace(FAST, dram_bytes_per_s=30e9)
    assert with_kept(NAMED, tmp_path).speeds == higher  # type: ignore[attr-defined]
    other = replace(NAMED, cores=4)
    assert with_kept(other, tmp_path) is other


@pytest.mark.parametrize("content", ["", "[1]", '{"cpu": 7}', '{"cpu": "1,2"}', "\0\0", '{"a": '])
def test_a_file_of_something_else_is_no_speeds(content: str, tmp_path: Path) -> None:
    (tmp_path / SPEEDS_FILE).write_text(content)
    assert with_kept(NAMED, tmp_path) is NAMED
    keep_speeds(NAMED, FAST, tmp_path)
    assert with_kept(NAMED, tmp_path).speeds == FAST  # type: ignore[attr-defined]


def test_a_folder_that_cannot_be_written_costs_only_the_keeping(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    keep_speeds(NAMED, FAST, tmp_path / "file" / "folder")
    assert with_kept(NAMED, tmp_path / "file" / "folder") is NAMED


def test_this_machine_has_the_speeds_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path))
    here = host_target()
    assert isinstance(here, CpuTarget) and here.measured is None
    keep_speeds(here, FAST, tmp_path)
    again = host_target()
    assert isinstance(again, CpuTarget) and again.measured == FAST and again == here


def test_estimates_follow_the_speeds() -> None:
    """Twice as fast in everything: half the time, but for entering parallel regions."""
    slow = Space(OPERATORS["GMM"](), NAMED)
    speeds = NAMED.speeds
    twice = Speeds(*(2 * getattr(speeds, name) for name in Speeds.__dataclass_fields__))
    fast = Space(OPERATORS["GMM"](), replace(NAMED, measured=twice))
    population = slow.sample(np.random.default_rng(0), 64)
    before = FeatureExtractor(slow).latency(population)
    after = FeatureExtractor(fast).latency(population)
    assert ((after < before) & (after >= before / 2)).all()
    assert after.sum() < 0.55 * before.sum()

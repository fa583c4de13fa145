"""The benchmark of random GPU programs: what it counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cases import SHAPES
from benchmarks.deadline import Deadline
from benchmarks.gpu_candidates import SMALL, Family, Figures, measured, small_dag, summary

from benchmarks import gpu_candidates
from devices import at_hand
from tilewright.contract.artifact import Artifact
from tilewright.ground.errors import RunError, ScheduleError
from tilewright.runtime.opencl import OpenclDevice
from tilewright.schedule.steps import Step

RESULTS = Path(gpu_candidates.__file__).parent / "results" / "gpu_candidates.json"


@pytest.fixture(scope="module")
def device() -> OpenclDevice:
    return at_hand(OpenclDevice)


def test_every_family_has_a_small_shape() -> None:
    assert list(SMALL) == list(SHAPES)
    for name in SMALL:
        assert 0 < small_dag(name).useful_flops < 1e7


def test_candidates_are_right_and_timed(device: OpenclDevice) -> None:
    figures = measured("NRM", device, device.target, 2, ("sm_80",))
    assert (figures.sampled, figures.invalid, figures.wrong) == (2, 0, 0)
    assert len(figures.opencl_s) == len(figures.nvrtc_s["sm_80"]) == 2
    assert min(figures.nvrtc_s["sm_80"]) > 0 and not figures.failures


def test_slices_make_up_the_whole(device: OpenclDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second slice goes on with the candidate at which the first was stopped."""
    seen: list[list[Step]] = []
    trial = Family.trial

    def lowered(self: Family, trace: list[Step]) -> tuple[Artifact, str]:
        seen.append(trace)
        return trial(self, trace)

    monkeypatch.setattr(Family, "trial", lowered)
    monkeypatch.setattr(Family, "run", lambda self, artifact: 1.0)
    measured("NRM", device, device.target, 3, ())
    ends = iter((False, False, True))
    monkeypatch.setattr(Deadline, "passed", property(lambda self: next(ends)))
    first = measured("NRM", device, device.target, 3, ())
    assert first.sampled == 2
    monkeypatch.setattr(Deadline, "passed", False)
    whole = measured("NRM", device, device.target, 3, (), Figures.of(vars(first)))
    assert whole.sampled == 3 and len(whole.opencl_s) == 3
    assert seen[:3] == seen[3:]


def test_failures_are_counted_by_where_they_show(
    device: OpenclDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One program cannot be lowered, one gives a wrong answer, one is right."""
    trial, check = Family.trial, Family.check
    seen = iter((ScheduleError("no such loop"), None, None))
    answers = iter((True, False))

    def lowered(self: Family, trace: list[Step]) -> tuple[Artifact, str]:
        error = next(seen)
        if error is not None:
            raise error
        return trial(self, trace)

    def checked(self: Family, artifact: Artifact, found: list[np.ndarray]) -> None:
        check(self, artifact, [a + 1 for a in found] if next(answers) else found)

    monkeypatch.setattr(Family, "trial", lowered)
    monkeypatch.setattr(Family, "check", checked)
    figures = measured("NRM", device, device.target, 3, ())
    assert (figures.sampled, figures.invalid, figures.wrong) == (3, 1, 1)
    assert figures.failures[0] == "0: ScheduleError: no such loop"
    assert "1: WrongAnswer: output" in figures.failures[1]


def test_programs_that_do_not_run_are_wrong(
    device: OpenclDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ready(self: Family, artifact: Artifact) -> None:
        raise RunError("out of resources")

    monkeypatch.setattr(Family, "ready", ready)
    figures = measured("NRM", device, device.target, 1, ("sm_80",))
    assert (figures.invalid, figures.wrong, figures.opencl_s) == (0, 1, [])


def test_the_published_summary_is_that_of_the_families() -> None:
    found = json.loads(RESULTS.read_text())
    assert found["summary"] == summary(found["families"])

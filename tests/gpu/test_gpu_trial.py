"""Candidates measured on a device: right ones are timed, any other costs one trial."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import gpu_fault_builds
import pytest

from tilewright.contract.sizes import Point
from tilewright.contract.surroundings import ALONE, Setting
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import compute, placeholder
from tilewright.ground.errors import RunError, TargetError, WrongAnswer
from tilewright.measure.device_trial import DeviceTask, device_of
from tilewright.measure.gate import Tolerance
from tilewright.measure.inputs import InputKind, Place
from tilewright.measure.measurer import LocalMeasurer
from tilewright.measure.sized_trial import SizedTask
from tilewright.measure.task import MeasureTask
from tilewright.measure.trial import RunOptions
from tilewright.runtime.opencl import OpenclDevice
from tilewright.target import Target

QUICK = RunOptions(repeats=2, min_repeat_ms=1, timeout_s=60)


def task_of(opencl: OpenclDevice, setting: Setting = ALONE) -> DeviceTask:
    reference = gpu_fault_builds.candidate("good")
    return DeviceTask(reference, [InputKind()], Tolerance(), seed=0, setting=setting)


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("wrong", WrongAnswer, r"differs from the reference at 1 of 256 elements; at \(77,\)"),
        ("reads behind", WrongAnswer, r"1 of 256 elements; at \(255,\) expected .*, got nan"),
    ],
)
def test_a_bad_candidate_is_found_and_spoils_the_device(
    kind: str, error: type[Exception], message: str, opencl: OpenclDevice
) -> None:
    task = task_of(opencl)
    with pytest.raises(error, match=message):
        task.run(gpu_fault_builds.candidate(kind), QUICK)
    assert task.spoilt


def sized_task(opencl: OpenclDevice) -> SizedTask:
    """Timed at all and at 37 elements, and checked at one."""
    places = [
        Place(Point({"S": n}, weight), {"x": (n,), "y": (n,)}, {"x": (n,), "y": (n,)})
        for n, weight in ((gpu_fault_builds.SIZE, 0.25), (37, 0.75), (1, 0.0))
    ]
    reference = gpu_fault_builds.sized_candidate("sized")
    return SizedTask(reference, [InputKind()], Tolerance(), 0, ALONE, places)


def test_a_program_with_sizes_is_timed_at_the_points(opencl: OpenclDevice) -> None:
    task = sized_task(opencl)
    timing = task.run(gpu_fault_builds.sized_candidate("sized"), QUICK)
    whole, few = timing.points_s
    mean = statistics.median(timing.latencies_s)
    assert 0.25 * whole + 0.75 * few == pytest.approx(mean)


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("writes beyond", RunError, "at S = 37: map wrote y beyond its sizes"),
        ("reads beyond", WrongAnswer, r"at S = 37: .*differs .* at \(36,\) expected .*, got nan"),
        ("unwritten beyond 100", WrongAnswer, r"at S = 256: .*differs .* at 156 of 256 elements"),
    ],
)
def test_what_is_wrong_at_one_point_is_found(
    kind: str, error: type[Exception], message: str, opencl: OpenclDevice
) -> None:
    task = sized_task(opencl)
    with pytest.raises(error, match=message):
        task.run(gpu_fault_builds.sized_candidate(kind), QUICK)
    assert task.spoilt


def test_what_never_ran_spoils_nothing(opencl: OpenclDevice) -> None:
    task, good = task_of(opencl), gpu_fault_builds.candidate("good")
    with pytest.raises(RunError, match="the OpenCL driver rejects map"):
        task.run(gpu_fault_builds.candidate("not a program"), QUICK)
    with pytest.raises(RunError, match=r"has inputs \[x: float32\[9\]\].*the task has"):
        task.run(replace(good, inputs=(replace(good.inputs[0], shape=(9,)),)), QUICK)
    assert not task.spoilt
    assert task.run(good, QUICK).latencies_s


def test_another_device_is_not_measured_in_its_stead(opencl: OpenclDevice) -> None:
    with pytest.raises(TargetError, match=r"the device here is opencl:.*, not opencl:mali: tune"):
        device_of(Target.parse("opencl:mali"))


def make_measurer() -> LocalMeasurer:
    env = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    return LocalMeasurer(build="gpu_fault_builds:build", options=QUICK, builders=1, env=env)


@pytest.fixture(scope="module")
def measurer(opencl: OpenclDevice) -> Iterator[LocalMeasurer]:
    with make_measurer() as one:
        yield one


@pytest.fixture(scope="module")
def task() -> MeasureTask:
    x = placeholder((gpu_fault_builds.SIZE,), name="x")
    y = compute((gpu_fault_builds.SIZE,), lambda i: x[i] * 2.0 + 1.0, name="y")
    return MeasureTask.of("map", ComputeDAG([y]), b"good")


def test_a_wrong_answer_costs_one_trial_and_the_devices_context(
    measurer: LocalMeasurer, task: MeasureTask
) -> None:
    results = measurer.measure(task, [b"good", b"not a program", b"good"])
    assert [r.stage for r in results] == ["ok", "run", "ok"]
    before = measurer.runner.worker.starts
    results = measurer.measure(task, [b"wrong", b"good"])
    assert [r.error for r in results] == ["WrongAnswer", None]
    assert measurer.runner.worker.starts == before + 1


def test_what_a_driver_compiles_does_not_stay(
    opencl: OpenclDevice, task: MeasureTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with make_measurer() as one:
        (result,) = one.measure(task, [b"good"])
        (folder,) = tmp_path.iterdir()
        assert result.stage == "ok" and any(folder.iterdir())
    assert not folder.exists()


@pytest.mark.parametrize(
    ("kind", "timeout_s", "stage", "error"),
    [("crash", 60.0, "run", "SIGSEGV"), ("hang", 2.0, "timeout", "TimeoutError")],
)
def test_a_kernel_that_faults_or_hangs_costs_one_trial(
    kind: str,
    timeout_s: float,
    stage: str,
    error: str,
    measurer: LocalMeasurer,
    task: MeasureTask,
) -> None:
    usual = measurer.options
    measurer.options = replace(usual, timeout_s=timeout_s)
    (bad,) = measurer.measure(task, [kind.encode()])
    measurer.options = usual
    (good,) = measurer.measure(task, [b"good"])
    assert (bad.stage, bad.error) == (stage, error)
    assert good.stage == "ok"

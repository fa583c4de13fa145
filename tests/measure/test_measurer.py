"""Whole batches: every fault costs one trial, the right ones are timed, the wrong never win."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import fault_builds
import pytest
from fault_builds import FAULTS, request
from test_workers import group_is_gone

from tilewright.contract.surroundings import Setting
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import compute, placeholder
from tilewright.ground.errors import BuildError, RunError, WrongAnswer
from tilewright.measure.measurer import BatchFailedError, LocalMeasurer, MeasureResult
from tilewright.measure.pools import Outcome
from tilewright.measure.task import MeasureTask
from tilewright.measure.trial import NEAR, RunOptions

pytestmark = pytest.mark.cpu

OPTIONS = RunOptions(repeats=2, min_repeat_ms=0.5, timeout_s=1)
BUILD = "fault_builds:build"


def make_task(name: str = "task", kind: str = "good") -> MeasureTask:
    x = placeholder((fault_builds.SIZE,), name="x")
    y = compute((fault_builds.SIZE,), lambda i: x[i] * 2.0 + 1.0, name="y")
    return MeasureTask.of(name, ComputeDAG([y]), request(kind))


@pytest.fixture(scope="module")
def measurer(worker_env: Mapping[str, str]) -> Iterator[LocalMeasurer]:
    with LocalMeasurer(build=BUILD, options=OPTIONS, build_timeout_s=2, env=worker_env) as measurer:
        yield measurer


def test_every_fault_costs_one_trial(measurer: LocalMeasurer) -> None:
    mixed = [kind for fault in FAULTS for kind in (fault, "good")]
    results = measurer.measure(make_task(), [request(kind) for kind in mixed])
    for kind, result in zip(mixed, results, strict=True):
        assert (result.stage, result.error) == FAULTS.get(kind, ("ok", None)), (kind, result)
        assert math.isfinite(result.latency_s) == (kind == "good")
        assert bool(result.message) == (kind in FAULTS)
    good = [r for r in results if r.stage == "ok"]
    least = min(r.latency_s for r in good)
    assert len(good[0].latencies_s) == 2
    for r in good:
        assert r.build_s > 0 and r.run_s > 0 and r.region_s is not None and r.region_s > 0
        assert len(r.latencies_s) == 2 or r.latency_s > NEAR * least


def test_what_was_built_elsewhere_is_measured(measurer: LocalMeasurer) -> None:
    kinds = ["good", "compile error", "wrong"]
    requests = [request(kind) for kind in kinds]
    built = measurer.build(requests)
    results = measurer.measure(make_task(), [b"nothing"] * len(kinds), built=built)
    for kind, result in zip(kinds, results, strict=True):
        assert (result.stage, result.error) == FAULTS.get(kind, ("ok", None))


def test_the_reference_is_built_once(
    measurer: LocalMeasurer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is most often a candidate, too: the default program."""
    asked: list[bytes] = []
    build = measurer._builders.build

    def noted(requests: Sequence[bytes]) -> Iterator[tuple[int, Outcome]]:
        asked.extend(requests)
        return build(requests)

    monkeypatch.setattr(measurer._builders, "build", noted)
    kinds = ("good", "wrong", "good", "killed")
    results = measurer.measure(make_task("once"), [request(kind) for kind in kinds])
    assert [r.stage for r in results] == ["ok", "check", "ok", "run"]
    assert asked == [request("good"), request("wrong"), request("killed")]


def test_much_slower_candidates_are_stopped(measurer: LocalMeasurer) -> None:
    requests = [request("good"), request("slow", us=20_000), request("good")]
    first, slow, last = measurer.measure(make_task("slow"), requests)
    assert (first.stopped_early, slow.stopped_early, last.stopped_early) == (False, True, False)
    assert slow.stage == "ok"
    assert slow.latency_s > 0.02


def test_a_new_best_is_believed_when_it_shows_again(
    measurer: LocalMeasurer, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = iter([5e-3, 1e-3, 4e-3, 4.5e-3, 2e-3, 1.5e-3])
    monkeypatch.setattr(
        "tilewright.measure.measurer._measure_one",
        lambda *_: MeasureResult("ok", latencies_s=(next(figures),), run_s=1.0),
    )
    found = measurer.measure(make_task("again"), [request("good")] * 4)
    assert [r.latency_s for r in found] == [5e-3, 4e-3, 4.5e-3, 2e-3]
    assert [r.run_s for r in found] == [1.0, 2.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("compile error", "in stage build with BuildError; the first one says: invalid IR"),
        ("wrong", "in stage check with WrongAnswer; the first one says: output y differs"),
    ],
)
def test_a_batch_that_fails_alike_names_the_cause(
    measurer: LocalMeasurer, kind: str, cause: str
) -> None:
    requests = [request(kind, number=i) for i in range(8)]
    with pytest.raises(BatchFailedError, match="all 8 candidates failed alike, " + cause) as caught:
        measurer.measure(make_task(), requests)
    assert len(caught.value.results) == 8
    assert len(measurer.measure(make_task(), requests[:7])) == 7


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("compile error", BuildError, "reference program of .* does not build: BuildError"),
        ("segfault", RunError, "reference program of .* failed: SIGSEGV"),
        ("wrong", WrongAnswer, "is wrong: output y differs from direct evaluation at 512 of 512"),
        ("unwritten tail", WrongAnswer, r"\(99\d,\) expected .* got nan"),
    ],
)
def test_a_bad_reference_stops_the_task(
    measurer: LocalMeasurer, kind: str, error: type[Exception], message: str
) -> None:
    task = make_task(f"bad {kind}", kind)
    with pytest.raises(error, match=message):
        measurer.measure(replace(task, probes=(tuple(range(488, 1000)),)), [request("good")])


def test_confirm_takes_turns_in_fresh_processes(measurer: LocalMeasurer) -> None:
    requests = [request("slow", us=30_000), request("good"), request("wrong")]
    slow, good, wrong = measurer.confirm(make_task(), requests, processes=3)
    assert len(slow.latencies_s) == len(good.latencies_s) == 3
    assert good.latency_s == statistics.median(good.latencies_s)
    assert good.latency_s < slow.latency_s
    assert slow.latency_s >= 3e-3
    assert not slow.stopped_early
    assert (wrong.stage, wrong.error, wrong.latencies_s) == ("check", "WrongAnswer", ())


def test_a_confirmed_figure_is_the_references_times_what_turns_tell(
    measurer: LocalMeasurer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a network's task, too; a machine twice as slow in one process changes no ratio."""
    usual = iter([1e-3, 2e-3])

    def measured(*given: Any) -> MeasureResult:
        _, spec, _, options = given
        assert spec.setting == Setting(64)
        seconds = next(usual) if options.reference_s is None else 0.5 * options.reference_s
        return MeasureResult("ok", latencies_s=(seconds,))

    monkeypatch.setattr("tilewright.measure.measurer._measure_one", measured)
    task = replace(make_task("turns"), setting=Setting(64))
    default, other = measurer.confirm(task, [task.reference, request("good", number=1)])
    assert default.latencies_s == (1e-3, 2e-3)
    assert other.latencies_s == (0.5e-3, 1e-3)


def test_a_runner_behind_a_command_overlaps_builds(worker_env: Mapping[str, str]) -> None:
    program = Path(sys.executable).with_name("tilewright-runner")
    command = f"env -i PATH=/usr/bin:/bin sh -c {program}"
    with LocalMeasurer(build=BUILD, runner=command, options=OPTIONS, env=worker_env) as remote:
        assert remote.overlap
        results = remote.measure(make_task(), [request("good"), request("wrong"), request("good")])
        assert [r.stage for r in results] == ["ok", "check", "ok"]
        assert remote.runner.facts["architecture"]


def test_closing_leaves_no_process(worker_env: Mapping[str, str]) -> None:
    measurer = LocalMeasurer(build=BUILD, options=OPTIONS, env=worker_env)
    measurer.measure(make_task(), [request("good")] * 3)
    pids = [measurer.runner.worker.pid, *(w.pid for w in measurer._builders.workers)]
    measurer.close()
    started = [pid for pid in pids if pid is not None]
    assert len(started) >= 2
    assert all(group_is_gone(pid) for pid in started)

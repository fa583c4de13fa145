"""Batches in which every candidate fails: alike, the run stops and says why; unlike, it goes on.

`tw.tune` runs whole; only builders and runner are simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import tilewright as tw
from tilewright import operators as ops
from tilewright.measure.measurer import ALIKE_BATCH, MeasureResult, _stop_when_alike
from tilewright.measure.task import MeasureTask
from tilewright.records.database import Database
from tilewright.records.rows import Trial

pytestmark = pytest.mark.usefixtures("brief_search")

CRASH = MeasureResult("run", "SIGSEGV", "crashed with SIGSEGV: outside its buffers", run_s=0.1)
SLOW = MeasureResult("timeout", "TimeoutError", "no answer within 5 s (run)", run_s=5.0)
WRONG = MeasureResult("check", "WrongAnswer", "output y differs", build_s=0.1, run_s=0.2)
GOOD = MeasureResult("ok", latencies_s=(1e-3, 2e-3, 3e-3))
TRIALS = 6 * ALIKE_BATCH  # one task gets them in six batches

# Of a batch (0 and 1: the default program), of a trial.
Outcome = Callable[[int, int], MeasureResult]


class Simulated:
    """A LocalMeasurer that makes up its results."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.batches = 0
        self.closed = False

    def measure(
        self, task: MeasureTask, candidates: Sequence[bytes], *_: float | None
    ) -> list[MeasureResult]:
        results = [self.outcome(self.batches, i) for i in range(len(candidates))]
        self.batches += 1
        _stop_when_alike(results)
        return results

    def confirm(
        self, task: MeasureTask, candidates: Sequence[bytes], **_: int
    ) -> list[MeasureResult]:
        return [GOOD for _ in candidates]

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def tune(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tw.TuneResult]:
    """tune(outcome): the result, after TRIALS trials of one task on a simulated machine."""

    def run(outcome: Outcome) -> tw.TuneResult:
        machine = Simulated(outcome)
        monkeypatch.setattr("tilewright.front.task_measurer.LocalMeasurer", lambda **_: machine)
        a, b = tw.placeholder((16, 16), name="a"), tw.placeholder((16, 16), name="b")
        task = tw.Task([a, b, ops.matmul(a, b)], "gemm")
        try:
            return tw.tune(task, trials=TRIALS, db=tmp_path / "t.db")
        finally:
            assert machine.closed

    return run


def recorded(folder: Path) -> list[Trial]:
    with Database.open(folder / "t.db", readonly=True) as database:
        return list(database.trials())


@pytest.mark.parametrize("failure", [CRASH, SLOW, WRONG])
def test_failures_alike_stop_the_run_and_name_the_cause(
    tune: Callable[..., tw.TuneResult], tmp_path: Path, failure: MeasureResult
) -> None:
    """Two batches go well before; their records stay, and those of the failures are added."""
    with pytest.raises(tw.RunError) as caught:
        tune(lambda batch, _: GOOD if batch <= 3 else failure)
    for part in (failure.stage, failure.error, failure.message, "candidates failed alike"):
        assert part in str(caught.value)
    trials = recorded(tmp_path)
    kept, lost = trials[:-ALIKE_BATCH], trials[-ALIKE_BATCH:]
    assert len(kept) >= 2 * ALIKE_BATCH and all(t.ok for t in kept)
    assert {(t.stage, t.error, t.message) for t in lost} == {
        (failure.stage, failure.error, failure.message)
    }


def test_different_failures_do_not_stop_the_run(
    tune: Callable[..., tw.TuneResult], tmp_path: Path
) -> None:
    kinds = [CRASH, SLOW, WRONG]
    result = tune(lambda batch, i: kinds[i % 3] if batch > 1 else GOOD)
    (task,) = result.tasks
    assert (result.trials, task.errors) == (TRIALS, TRIALS)
    assert task.best_s == task.default_s == 2e-3
    trials = recorded(tmp_path)
    assert [t.origin for t in trials if t.ok] == ["default"]
    assert len(trials) == TRIALS + 1


def test_one_that_works_is_enough(tune: Callable[..., tw.TuneResult], tmp_path: Path) -> None:
    result = tune(lambda _, i: CRASH if i else GOOD)
    assert result.trials == TRIALS
    assert sum(t.ok for t in recorded(tmp_path)) == TRIALS // ALIKE_BATCH + 1


def test_a_run_that_stopped_goes_on_when_the_cause_is_gone(
    tune: Callable[..., tw.TuneResult], tmp_path: Path
) -> None:
    with pytest.raises(tw.RunError, match="failed alike"):
        tune(lambda batch, _: CRASH if batch else GOOD)
    before = recorded(tmp_path)
    result = tune(lambda *_: GOOD)
    after = recorded(tmp_path)
    assert [t.gene for t in after[: len(before)]] == [t.gene for t in before]
    assert len({t.gene for t in after}) == len(after)
    assert result.tasks[0].errors == sum(not t.ok for t in before)
    assert result.trials == TRIALS

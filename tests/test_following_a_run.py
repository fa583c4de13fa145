"""A tuning run as its user follows it: callbacks, patience, the log."""

from __future__ import annotations

import dataclasses
import io
import logging
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright as tw
from cli_models import cli, save_classifier
from made_up_latencies import simulate
from tilewright.ground import log
from tilewright.records.database import Database
from tilewright.search.progress import Budget, Callback
from tilewright.search.tasks import TaskSearch
from tilewright.search.tuner import Tuner

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate(monkeypatch)


def gemm(n: int = 24) -> tw.Task:
    a, b = tw.placeholder((n, n), name="a"), tw.placeholder((n, n), name="b")
    return tw.Task([a, b, tw.operators.matmul(a, b)], f"gemm{n}")


def test_callbacks_hear_every_round(tmp_path: Path) -> None:
    seen: list[tw.Progress] = []
    phases: list[str] = []
    result = tw.tune(
        [gemm(), gemm(32)],
        trials=8,
        db=tmp_path / "t.db",
        callbacks=[seen.append, lambda p: phases.append(p.phase)],
    )
    assert [p.phase for p in seen] == phases
    assert list(dict.fromkeys(phases)) == ["default programs", "search", "confirming"]
    assert {p.task.name for p in seen} <= {"gemm24", "gemm32"}
    trials = [p.trials for p in seen]
    assert trials == sorted(trials) and trials[0] == 0 and trials[-1] == result.trials == 8
    last = seen[-1]
    assert last.tasks == result.tasks
    assert last.latency_s == result.latency_s
    assert last.untuned_s is not None and last.untuned_s > 0
    assert "confirming of gemm" in str(last) and "8 trials in 0:" in str(last)
    # What was heard early is not changed by what comes later.
    assert [t.trials for t in seen[0].tasks] == [0, 0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        last.trials = 9  # type: ignore[misc]


def test_what_a_run_gives_shows_itself(tmp_path: Path) -> None:
    result = tw.tune([gemm(), gemm(32)], trials=8, db=tmp_path / "t.db")
    assert repr(result).startswith("TuneResult(2 tasks, 8 trials in 0:")
    assert len(repr(result)) < 100
    text = str(result)
    assert text.splitlines()[-1] == repr(result)
    assert "GFLOP/s" in text and "gemm24" in text and "gemm32" in text
    assert result._repr_html_().startswith("<pre>task")
    assert result.latency_s is not None and result.untuned_s is not None
    assert result.speedup is None or result.speedup >= 1.0
    nothing = dataclasses.replace(result.tasks[0], best_s=None, default_s=None, confirmed=False)
    empty = dataclasses.replace(result, tasks=(nothing,), trials=0)
    assert (empty.latency_s, empty.untuned_s, empty.speedup) == (None, None, None)
    assert "0 trials" in repr(empty) and str(empty)


def test_patience_reaches_the_tuner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    budgets: list[Budget] = []

    def run(self: Tuner, budget: Budget, observe: Callback) -> list[TaskSearch]:
        budgets.append(budget)
        return self.searches

    monkeypatch.setattr(Tuner, "run", run)
    db = tmp_path / "t.db"
    tw.tune(gemm(), patience=30, db=db)
    model = save_classifier(tmp_path / "m.onnx")
    assert cli("tune", model, "--trials", 9, "--patience", 4, "--db", db).exit_code == 0
    assert budgets == [Budget(minutes=10.0, patience=30), Budget(trials=9, patience=4)]


def test_the_log_has_rounds_trials_and_notes(tmp_path: Path) -> None:
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        tw.tune(gemm(), trials=4, db=tmp_path / "t.db")
        tw.compile(gemm(40), db=tmp_path / "t.db")
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    lines = text.getvalue().splitlines()
    assert sum(line.startswith("DEBUG tilewright gemm24 ") for line in lines) == 4
    assert any(line.startswith("INFO tilewright search of gemm24: 4 trials") for line in lines)
    assert any(line.startswith("WARNING tilewright gemm40") for line in lines), lines


def test_nothing_is_printed_unless_asked_for(tmp_path: Path) -> None:
    """Not even warnings, which Python prints where a library has no handler of its own."""
    with Database.open(tmp_path / "t.db"):
        pass
    code = (
        "import tilewright as tw\n"
        "a = tw.placeholder((8, 8), name='a')\n"
        "heard = []\n"
        "task = tw.Task([a, tw.operators.relu(a)])\n"
        f"tw.compile(task, db={str(tmp_path / 't.db')!r}, notes=heard.append)\n"
        "assert len(heard) == 1, heard\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

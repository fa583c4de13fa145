"""What a run shows while it lasts, and when it is interrupted."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import tilewright as tw
from cli_models import cli
from processes import processes_with
from tilewright.progress.display import LiveTable, PlainLines, showing
from tilewright.progress.lines import (
    doubt_line,
    end_line,
    fault_lines,
    share_line,
    state_line,
    summary_line,
)
from tilewright.progress.snapshot import Snapshot
from tilewright.progress.table import TaskTable
from tilewright.records.database import Database
from tilewright.search.disturbance import Disturbance
from tilewright.search.measuring import Shares
from tilewright.search.progress import Budget, Progress, TaskResult


def progress(
    best: float | None = 0.002, phase: str = "search", tasks: int = 3, **changes: Any
) -> Progress:
    """A moment of a run of `tasks` equal tasks."""
    result = TaskResult("conv", 2.0, 4_000_000, 10, 1, default_s=0.004, best_s=best)
    result = replace(result, **changes)
    shares = Shares(search=1.0, run=3.0)
    return Progress((result,) * tasks, 0, 30, 20.0, Budget(90, 2.0), shares, phase)


def test_a_snapshot_sums_up_the_tasks() -> None:
    snapshot = Snapshot.of(progress())
    assert snapshot.best_s == pytest.approx(0.012)
    assert snapshot.default_s == pytest.approx(0.024)
    assert snapshot.errors == 3
    assert snapshot.left_s == pytest.approx(40.0)  # by trials; by time it would be 100
    assert "30 of 90 searched" in state_line(snapshot, 5.0)
    assert "0:35 left" in state_line(snapshot, 5.0)
    assert share_line(snapshot) == "time: search 25 % · run 75 %"
    of_many = replace(progress(), machines="2 of 3 machines measure · 9.0 trials/s · idle: a")
    assert f" · {of_many.machines} · " in state_line(Snapshot.of(of_many), 5.0)


def test_a_snapshot_of_tasks_that_did_not_run_yet() -> None:
    assert Snapshot.of(progress(best=None)).best_s is None


def mixed() -> Snapshot:
    """A confirmed task, one that is not, and one that was not even measured, of 4, 4 and 1 ms."""
    parts = [
        progress(tasks=1, confirmed=True),
        progress(tasks=1),
        progress(None, tasks=1, default_s=None, expected_s=0.001),
    ]
    return Snapshot.of(replace(parts[0], tasks=tuple(p.task for p in parts)))


def test_a_speed_up_counts_what_is_not_confirmed_as_untuned() -> None:
    assert summary_line(mixed()) == "estimated latency 14 ms (untuned 18 ms, 1.29x)"
    assert doubt_line(mixed()) == (
        "1 task not confirmed (44% of the untuned latency), "
        "1 task not measured (11% of the untuned latency): counted as untuned; "
        "0:02 more confirm what was found"
    )
    text = io.StringIO()
    Console(file=text, width=120).print(TaskTable(mixed().tasks))
    assert text.getvalue().count("2.00x") == 1, "of the confirmed task"


def test_last_lines_count_what_ran_and_name_what_failed() -> None:
    """Of three tasks one ran, one failed, and there was no time for one, which has an estimate."""
    parts = [
        progress(tasks=1),
        progress(None, tasks=1, default_s=None, errors=1, fault="did not end: no answer in 10 s"),
        progress(None, tasks=1, default_s=None, expected_s=0.001),
    ]
    moment = replace(parts[0], tasks=tuple(p.task for p in parts), trials=0)
    snapshot = Snapshot.of(moment)
    assert summary_line(snapshot) == "estimated latency: 1 of 3 tasks measured"
    assert doubt_line(snapshot).startswith("1 task not confirmed, 1 task not measured")
    assert end_line(snapshot).startswith("2 trials (0 searched, 2 default)")
    assert fault_lines(snapshot) == ["The untuned program of conv did not end: no answer in 10 s."]
    estimates = Snapshot.of(replace(moment, tasks=(parts[2].task,) * 3))
    assert summary_line(estimates) == "estimated latency: 0 of 3 tasks measured"
    many = Snapshot.of(replace(moment, tasks=(parts[1].task,) * 5))
    assert len(fault_lines(many)) == 4
    assert fault_lines(many)[-1] == "2 more untuned programs failed, too."


def test_default_programs_are_told_one_by_one() -> None:
    early = replace(progress(None), phase="default programs", trials=0)
    assert str(early) == "default programs: conv 4 ms, after 0:20"
    first = replace(progress(None, default_s=None), phase="default programs")
    assert str(first) == "default programs: conv, after 0:20", "it is measured once more"
    failed = replace(progress(None, fault="did not end", default_s=None), phase="default programs")
    assert str(failed) == "default programs: conv did not end, after 0:20"
    assert "all together" not in str(progress(None)), "nothing is known of all yet"


def test_the_clock_of_plain_lines_never_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first call of a run, and between two calls, however far apart."""
    now, waited = [50.0], []

    class Ended:
        """Time passes while one waits; news comes after the second line."""

        def wait(self, seconds: float) -> bool:
            waited.append(seconds)
            now[0] += seconds
            if len(waited) == 3:
                show(progress())
            return len(waited) > 6

    clock = SimpleNamespace(monotonic=lambda: now[0])
    for module in (PlainLines.__module__, Snapshot.__module__):
        monkeypatch.setattr(sys.modules[module], "time", clock)
    text = io.StringIO()
    show = PlainLines(Console(file=text, width=200))
    show._ended = Ended()  # type: ignore[assignment]
    show._tick()
    lines = text.getvalue().splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [
        ["0:05", "preparing"],
        ["0:10", "preparing"],
    ]
    assert [line.split()[0] for line in lines[2:]] == ["0:20", "0:25", "0:30", "0:35"]
    assert all("search · conv" in line for line in lines[2:])
    assert max(waited) <= 5.0


def test_a_reader_that_has_gone_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two calls nobody would hear of it."""

    class Gone(Console):
        def print(self, *_: object, **__: object) -> None:
            raise error

    monkeypatch.setattr(sys.modules[PlainLines.__module__], "LINE_S", 0.0)
    for error in (OSError(28, "no space"), SystemExit(1)):
        show = PlainLines(Gone(width=200))
        show._tick()
        with pytest.raises(type(error)):
            show(progress())


def test_a_busy_machine_is_one_line() -> None:
    text = io.StringIO()
    load = Disturbance(lambda: "another program takes 1.0 of 2 cores")
    load.note(10.0)
    moment = replace(progress(), load=load.reason, busy=load.summary)
    with PlainLines(Console(file=text, width=200)) as show:
        show(moment)
    assert text.getvalue().count("busy machine: another program takes 1.0 of 2 cores") == 1
    assert show.last is not None
    assert show.last.busy == "busy for 100 % of the time: another program takes 1.0 of 2 cores"


def test_plain_lines_are_few() -> None:
    text = io.StringIO()
    with PlainLines(Console(file=text, width=200)) as show:
        for _ in range(5):
            show(progress())
        show(progress(phase="confirming"))
    lines = text.getvalue().splitlines()
    assert len(lines) == 2
    assert "0:20  search · conv · 30 of 90 searched · 3 errors" in lines[0]
    assert "estimated latency 12 ms (untuned 24 ms, not confirmed yet)" in lines[0]


def test_the_live_table_fits_the_terminal() -> None:
    text = io.StringIO()
    console = Console(file=text, width=100, height=14, force_terminal=True)
    with LiveTable(console) as show:
        show(progress(tasks=40))
        assert show.last is not None
    assert "GFLOP/s" in text.getvalue()
    assert "… and 32 more tasks" in text.getvalue()


def test_default_programs_say_when_the_search_begins() -> None:
    begun = replace(progress(None), trials=0, elapsed_s=7.0, default_programs=81)
    early = Snapshot.of(replace(begun, default_share=0.2, budget=Budget(None, None)))
    line = "81 default programs take about 0:35, the search begins then"
    assert state_line(early, 0.0).startswith(line)
    late = Snapshot.of(replace(begun, default_share=0.02, budget=Budget(None, 2.0)))
    assert "take about 0:36," in state_line(late, 0.0), "three tenths of the time, not all of it"
    assert state_line(Snapshot.of(progress()), 0.0).startswith("search · conv")


def test_a_search_without_time_says_so() -> None:
    spent = replace(progress(), trials=0, elapsed_s=34.0, default_programs_s=34.0)
    line = end_line(Snapshot.of(replace(spent, budget=Budget(None, 0.5))))
    assert "3 trials (0 searched, 3 default) in 0:34; default programs took 34 s" in line
    assert "no time was left to search: give it more minutes" in line
    assert "no time was left" not in end_line(Snapshot.of(progress()))


def test_python_shows_progress_where_somebody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Progress] = []

    def shown(wanted: bool | None) -> str:
        with showing(wanted, seen.append) as told:
            told(progress())
        return capsys.readouterr().err

    assert shown(None) == shown(False) == ""
    text = shown(True)
    assert "search · conv · 30 of 90 searched" in text
    assert "33 trials (30 searched, 3 default) in 0:20" in text, "the summary"
    monkeypatch.setenv("FORCE_COLOR", "1")  # what Rich takes for a terminal
    assert "GFLOP/s" in shown(None)
    assert len(seen) == 4, "whoever observes hears of it anyway"


def test_tune_hands_its_observer_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def run(tuner: Any, budget: Budget, observe: Any) -> list[Any]:
        observe(progress())
        return []

    monkeypatch.setattr("tilewright.search.tuner.Tuner.run", run)
    seen: list[Progress] = []
    x = tw.placeholder((8, 8), name="x")
    task = tw.Task(tw.compute((8, 8), lambda i, j: x[i, j] * 2.0, name="y"))
    tw.tune(task, trials=1, db=tmp_path / "t.db", callbacks=[seen.append], progress=True)
    assert len(seen) == 1 and "estimated latency 12 ms" in capsys.readouterr().err


def test_ctrl_c_prints_what_was_reached(
    monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path
) -> None:
    def interrupted(*_: object, callbacks: Any, **__: object) -> None:
        callbacks[0](progress())
        raise KeyboardInterrupt

    monkeypatch.setattr(tw, "tune", interrupted)
    result = cli("tune", model, "--db", tmp_path / "t.db")
    assert result.exit_code == 130
    assert "Stopped." in result.output
    assert "estimated latency 12 ms" in result.output


@pytest.mark.cpu
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_real_run_and_keeps_its_records(
    model: Path, tmp_path: Path, number: signal.Signals
) -> None:
    db = tmp_path / "interrupted.db"
    mark = f"TILEWRIGHT_TEST_MARK={tmp_path}"
    command = [sys.executable, "-c", "from tilewright.cli import main; main()"]
    process = subprocess.Popen(
        [*command, "tune", model, "--minutes", "5", "--db", db],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | dict([mark.split("=", 1), ("PYTHONUNBUFFERED", "1")]),
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "search ·" in line:
            break
    shutil.copy(db, tmp_path / "copy.db")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, err
    assert "Stopped." in out
    assert "Traceback" not in err
    assert not Path(f"{db}-wal").exists()
    with Database.open(db, readonly=True) as database:
        assert database.summary().trials > 1
    with Database.open(tmp_path / "copy.db", readonly=True) as copy:
        assert copy.summary().workloads == 1
    deadline = time.monotonic() + 10
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_with(mark) == set()

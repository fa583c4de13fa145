"""The page says what the records say; odd and bad inputs."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_reader import Page, read_page
from sample_tuning import (
    CEILINGS,
    LOAD,
    MACHINE,
    RUN,
    START,
    TRIALS,
    fill,
    line,
    tasks,
    trials_of,
    workload_of,
)

import tilewright.report.page
from cli_models import cli
from tilewright.front.inspection import find_program, write_report
from tilewright.front.machine import machine_of
from tilewright.ground.errors import InputError, RecordsError
from tilewright.ground.text import clock, duration, rate
from tilewright.records import Database, Machine, ModelRow, ModelTask, WorkloadRow
from tilewright.report.bars import given as bars_given
from tilewright.report.clock import Clock
from tilewright.report.figures import best_latency
from tilewright.report.history import History, ModelHistory
from tilewright.report.page import embedded, light, render
from tilewright.report.tasks import PrintedProgram, Roofline, TaskHistory
from tilewright.target import Target

LARGEST_PAGE = 15_000_000


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "tuning.db"
    with Database.open(file) as database:
        fill(database)
    return file


@pytest.fixture(scope="module")
def history(db: Path) -> History:
    return write_report(db, db.with_name("report.html"))


@pytest.fixture(scope="module")
def page(db: Path, history: History) -> Page:
    return read_page(db.with_name("report.html").read_text(encoding="utf-8"))


def report_of(tmp_path: Path, put: Callable[[Database], None]) -> Page:
    """The page about a database that `put` filled."""
    with Database.open(tmp_path / "t.db") as database:
        database.add_machine(MACHINE)
        put(database)
    write_report(tmp_path / "t.db", tmp_path / "r.html")
    return read_page((tmp_path / "r.html").read_text(encoding="utf-8"))


# ---- numbers ------------------------------------------------------------------------------------


def test_the_table_of_tasks_equals_the_records(db: Path, page: Page) -> None:
    rows = page.table("task")
    with Database.open(db, readonly=True) as database:
        coverage = {c.name: c for c in database.summary().coverage}
        assert rows.keys() == coverage.keys() == {"gemm", "softmax", "hopeless"}
        for task in tasks():
            row = [rows[task.name][i] for i in (1, 2, 3, 4, 6, 7, 8, 9, 10)]
            calls, untuned, tuned, gain, speed, share, trials, failed, given = row
            best = database.best(task.hash)
            default = next(t for t in database.trials(task.hash) if t.origin == "default")
            best_s = best and best.latency_s
            assert tuned.value == str(best_s) and tuned.text == duration(best_s)
            assert untuned.value == str(default.latency_s)
            assert gain.text == (f"{default.latency_s / best_s:.2f}×" if best_s else "–")
            assert speed.text == rate(task.flops, best_s)
            assert calls.text == f"{task.weight:g}"
            assert trials.text == str(coverage[task.name].trials) == str(TRIALS + 1)
            assert failed.text == str(coverage[task.name].failed)
            assert given.text == clock(float(given.value or 0))
            if best_s is None:
                assert share.text == "–"
            else:
                bytes_ = task.dag.least_bytes
                least = max(task.flops / CEILINGS.flops_per_s, CEILINGS.seconds(bytes_))
                assert share.text == f"{100 * least / best_s:.0f} %"


def test_the_model_is_the_sum_of_its_calls(db: Path, page: Page, history: History) -> None:
    with Database.open(db, readonly=True) as database:
        gemm, softmax = (database.best(t.hash) for t in tasks()[:2])
    assert gemm and gemm.latency_s and softmax and softmax.latency_s
    total = 2 * gemm.latency_s + softmax.latency_s
    row = page.table("model")["net"]
    assert float(row[4].value or 0) == pytest.approx(total)
    (net,) = [m for m in history.models if m.name == "net"]
    assert net.curve.latency_s[-1] == pytest.approx(total)
    (over_trials,) = [d for d in page.plots["trials"]["data"] if d["name"] == "net"]
    assert over_trials["y"][-1] == pytest.approx(total * 1e6, rel=1e-3)
    assert over_trials["x"][-1] == 2 * (TRIALS + 1)
    (over_time,) = [d for d in page.plots["time"]["data"] if d["name"] == "net"]
    assert over_time["x"][-1] == pytest.approx(RUN.seconds / 60, rel=1e-3)
    assert over_time["y"] == over_trials["y"]


def test_time_is_shared_among_tasks(page: Page, history: History) -> None:
    given = {t.name: t.given_s for t in history.tasks}
    # each task's trials begin 20 s after those of the one before and last 3 s
    assert given == {"gemm": 8.0, "softmax": 20.0, "hopeless": 20.0}
    bars = {bar.label: bar for bar in bars_given(history)}
    rest = bars.pop("measuring the best again, preparing")
    assert rest.cells[0] == clock(RUN.seconds - 48.0) and rest.parts == (("other", 1.0),)
    for name, seconds in given.items():
        assert bars[name].cells == (clock(seconds), f"{TRIALS + 1} trials")
        assert bars[name].parts == (("tuned", pytest.approx(seconds / (RUN.seconds - 48.0))),)
    assert "search 30 %" in page.text and "checking and timing 25 %" in page.text
    assert "other 15 %" in page.text, "what no share names is other"


def test_every_trial_of_a_task_is_drawn(db: Path, page: Page) -> None:
    with Database.open(db, readonly=True) as database:
        for task in tasks()[:2]:
            plot = page.plots[f"curve-{task.hash[:12]}"]["data"]
            ok = [t for t in database.trials(task.hash) if t.ok]
            scale = 1e6
            assert plot[0]["y"] == pytest.approx([(t.latency_s or 0) * scale for t in ok], rel=1e-3)
            names = [trace["name"] for trace in plot]
            assert names == ["trials", "best so far", "untuned", "failed"]
            assert len(plot[3]["x"]) == TRIALS + 1 - len(ok)
            scatter = page.plots[f"model-{task.hash[:12]}"]["data"][0]
            assert scatter["x"] == pytest.approx([t.predicted for t in ok[1:]], rel=1e-3)


def test_the_roofline_has_a_dot_for_every_task_that_ran(page: Page, history: History) -> None:
    traces = {t["name"]: t for t in page.plots["roofline"]["data"]}
    assert traces["multiply-adds: 400 GFLOP/s"]["y"] == [400.0, 400.0]
    assert {"64 KiB: 400 GB/s", "1 MiB: 100 GB/s"} <= traces.keys()
    for name in ("gemm", "softmax"):
        (task,) = [t for t in history.tasks if t.name == name]
        number = next(i for i, t in enumerate(traces["tuned"]["text"]) if t.startswith(name))
        speed = task.workload.flops / (task.best_s or 0) / 1e9
        assert traces["tuned"]["y"][number] == pytest.approx(speed, rel=1e-3)
    assert len(traces["tuned"]["x"]) == 2


def test_a_busy_machine_is_told(page: Page, history: History) -> None:
    assert history.busy == ((1, LOAD.reason),)
    assert "in run 1: busy for 80 % of the time: <another> program" in page.text


def test_errors_are_summed_up(page: Page, history: History) -> None:
    assert f"{history.failed} of {3 * (TRIALS + 1)} trials failed" in page.text
    whole = page.tables[[t[0][0].text for t in page.tables].index("failed in")]
    stage, error, trials, touched, message = (cell.text for cell in whole[1])
    assert (stage, error, trials, touched) == ("run", "RunError", str(history.failed), "3")
    assert message.startswith("the worker died of signal 11\nwhile it ran candidate")


def test_the_best_programs_are_printed(db: Path, page: Page) -> None:
    with Database.open(db, readonly=True) as database:
        for task in tasks()[:2]:
            program = find_program(database, task.name, target="cpu:icelake-server cores=2")
            for layer in ("nest", "ir", "trace"):
                assert program.layers.text(layer) in page.codes
            for name, value in program.layers.gene.values.items():
                assert f"{name} {value}" in page.text
    assert "No program worked." in page.text


def test_every_plot_is_one_that_plotly_knows(page: Page) -> None:
    figure = pytest.importorskip("plotly.graph_objects").Figure
    assert {"time", "trials", "rounds", "roofline", "model"} <= page.plots.keys()
    for name, plot in page.plots.items():
        assert figure(plot).to_dict()["data"], name


def test_places_and_plots_belong_together(page: Page) -> None:
    places = [a["data-plot"] for _, a in page.elements if "data-plot" in a]
    assert sorted(str(p) for p in places) == sorted(page.plots)


# ---- one file -----------------------------------------------------------------------------------


def test_the_page_needs_nothing_else(page: Page) -> None:
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            target = attributes.get(name) or ""
            assert not target or target.startswith(("#", "data:")), (tag, target)
        assert tag not in ("iframe", "object", "embed", "base")
    (policy,) = [
        a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert str(policy).startswith("default-src 'none'")


def test_names_and_messages_are_only_text(tmp_path: Path) -> None:
    evil = "</script><script>alert('é')</script><!-- {{ 7*7 }}"

    def put(database: Database) -> None:
        gemm = tasks()[0]
        database.add_workload(workload_of(gemm, evil))
        trials = trials_of(gemm, START, fails=False)
        database.add_trials([replace(t, origin=evil, message=evil) for t in trials])
        database.add_model(ModelRow(evil, evil, (ModelTask(gemm.hash, 1),)))

    page = report_of(tmp_path, put)
    assert sum(tag == "script" for tag, _ in page.elements) == 3
    assert evil in page.table("task")
    assert page.plots["roofline"]["data"][-1]["text"][0].startswith(evil)


def test_embedded_json_ends_no_script_and_holds_no_infinity() -> None:
    assert "<" not in embedded({"a": "</script>"})
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded({"a": float("inf")})


def test_marked_code_is_escaped() -> None:
    marked = light("for i#1 in range(4):  # a & b\n  x[i#1] = a < b")
    assert marked == (
        "<i class=word>for</i> i#1 <i class=word>in</i> <i class=word>range</i>(4):  "
        "<i class=note># a &amp; b</i>\n  x[i#1] = a &lt; b"
    )


def test_a_large_database_makes_a_page_of_bounded_size() -> None:
    rng = np.random.default_rng(0)
    long = PrintedProgram(least_bytes=1 << 20, nest="for i in range(4):\n" * 100, ir="x" * 400_000)

    def task(number: int) -> TaskHistory:
        name = f"a_task_with_quite_a_long_name_{number}"
        seconds = 1e-3 * (1 + rng.random(1000))
        lines = tuple(
            line(number * 1000 + i, float(s), START + i, predicted=float(s), round=i // 16)
            for i, s in enumerate(seconds)
        )
        row = WorkloadRow(f"{number:032}", name, "{}", "s", (), 10**9)
        at_s = np.arange(1000.0)
        return TaskHistory(row, lines, at_s, 60.0, (("net", 1),), long, Roofline(CEILINGS))

    many = tuple(task(i) for i in range(50))
    net = ModelHistory("net", many, (1,) * len(many))
    clock = Clock([(START, START + 1000)])
    history = History("big.db", MACHINE, many, (net,), (RUN,), CEILINGS, clock)
    assert history.trials == 50_000
    text = render(history)
    assert len(text.encode()) < LARGEST_PAGE
    page = read_page(text)
    assert "The first 100000 of 400000 characters" in page.text
    assert len(page.plots["model"]["data"][0]["x"]) == 4000


def test_many_models_are_compared_by_their_gain(history: History) -> None:
    (net, _) = history.models
    slow = replace(net, name="slow", calls=(200, 100))  # a hundred times the latency
    many = replace(history, models=(net, slow, net, replace(net, name="last")))
    for over, end in (("time", RUN.seconds / 60), ("trials", 2 * (TRIALS + 1))):
        *each, mean = best_latency(many, over)["data"]
        gain = (net.default_s or 0) / (net.best_s or 1)
        assert [t["name"] for t in each] == ["net", "slow", "net", "last"]
        assert all(t["y"][-1] == pytest.approx(gain, rel=1e-3) for t in (*each, mean))
        assert mean["name"] == "geometric mean of 4 models"
        assert mean["x"][-1] == pytest.approx(end, rel=1e-3)
        assert mean["y"] == sorted(mean["y"])


# ---- odd databases ------------------------------------------------------------------------------


def test_a_task_of_one_trial(tmp_path: Path) -> None:
    def put(database: Database) -> None:
        gemm = tasks()[0]
        database.add_workload(workload_of(gemm))
        database.add_trials(trials_of(gemm, START, fails=False)[:1])

    page = report_of(tmp_path, put)
    assert page.table("task")["gemm"][8].text == "1"
    assert "limits of this machine are not recorded" in page.text
    assert "No measured program was predicted before." in page.text
    assert page.plots["roofline"]["data"][0]["name"] == "the fastest task seen"


def test_nothing_but_failures(tmp_path: Path) -> None:
    def put(database: Database) -> None:
        for task in tasks():
            database.add_workload(workload_of(task))
            database.add_trials(trials_of(task, START, fails=True))

    page = report_of(tmp_path, put)
    assert page.plots.keys() == {"rounds"}
    assert f"{3 * (TRIALS + 1)} of {3 * (TRIALS + 1)} trials failed (100.00 %)" in page.text
    assert "No model has a working program for every one of its tasks yet." in page.text


def test_a_program_that_cannot_be_printed_says_why(tmp_path: Path) -> None:
    def put(database: Database) -> None:
        gemm = tasks()[0]
        database.add_workload(replace(workload_of(gemm), dag='{"from": "the future"}'))
        database.add_trials(trials_of(gemm, START, fails=False))

    page = report_of(tmp_path, put)
    assert "This version of Tilewright cannot print the program" in page.text
    assert page.table("task")["gemm"][3].value is not None


def test_one_machine_is_shown_and_the_others_named(db: Path, tmp_path: Path) -> None:
    other = Machine.of("cpu", cpu="cortex-a53", features="+neon", cores=4, compiler="LLVM 22")

    def put(database: Database) -> None:
        fill(database)
        database.add_machine(other)
        gemm = trials_of(tasks()[0], START - 1000, fails=False)[:3]
        database.add_trials([replace(t, machine=other.fingerprint) for t in gemm])

    page = report_of(tmp_path, put)
    assert "icelake-server, 2 threads" in page.text
    assert "The database also holds 3 trials of cortex-a53" in page.text
    out = tmp_path / "other.html"
    done = cli("report", tmp_path / "t.db", "-o", out, "--machine", other.fingerprint[:8])
    assert done.exit_code == 0 and "3 trials (2 searched, 1 default) of 1 task" in done.output
    page = read_page(out.read_text(encoding="utf-8"))
    assert "cortex-a53, 4 threads" in page.text
    assert "LLVM IR for cpu:cortex-a53" in page.text
    done = cli("report", tmp_path / "t.db", "-o", out, "--machine", "ffff")
    assert done.exit_code == 1 and "no single machine fits 'ffff'" in done.output


def test_programs_of_a_gpu_are_printed_for_it(tmp_path: Path) -> None:
    target = Target.parse("cuda:h100")
    machine = machine_of(target)

    def put(database: Database) -> None:
        database.add_machine(machine)
        gemm = tasks()[0]
        database.add_workload(workload_of(gemm))
        trials = trials_of(gemm, START, fails=False, target=target)
        database.add_trials([replace(t, machine=machine.fingerprint) for t in trials])

    page = report_of(tmp_path, put)
    assert "Code for cuda:h100" in page.text
    assert any("__global__" in code for code in page.codes)
    assert "cannot print" not in page.text


# ---- bad inputs ---------------------------------------------------------------------------------


def test_the_command_writes_the_page(db: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    done = cli("report", db, "-o", out)
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"Wrote {out} (")
    assert f"({3 * TRIALS} searched, 3 default) of 3 tasks" in done.output
    assert read_page(out.read_text(encoding="utf-8")).table("task")
    assert list(tmp_path.iterdir()) == [out]


def test_databases_that_cannot_be_shown(tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    (tmp_path / "text.db").write_text("this is no database " * 100)
    (tmp_path / "empty.db").touch()
    with Database.open(tmp_path / "none.db") as database:
        fill_nothing = database.summary()
    assert fill_nothing.trials == 0
    for name, error, message in (
        ("absent.db", RecordsError, "does not exist"),
        ("text.db", RecordsError, "text.db"),
        ("empty.db", RecordsError, "is empty"),
        ("none.db", InputError, "holds no trials: tune something first"),
    ):
        with pytest.raises(error, match=message):
            write_report(tmp_path / name, out)
        done = cli("report", tmp_path / name, "-o", out)
        assert done.exit_code == 1 and message in done.output
        assert not out.exists()


def test_an_output_that_cannot_be_written(db: Path, tmp_path: Path) -> None:
    for out, message in (
        (tmp_path / "absent" / "r.html", r"cannot write .*absent does not exist; create it"),
        (tmp_path, r"cannot write .*is a directory; name a file in it"),
        (tmp_path / "report.pdf", r"name a file that ends in \.html"),
    ):
        with pytest.raises(InputError, match=message):
            write_report(db, out)
    assert list(tmp_path.iterdir()) == []
    copy = tmp_path / "records.html"
    copy.write_bytes(db.read_bytes())
    for out in (copy, tmp_path / "." / copy.name):
        with pytest.raises(InputError, match="it is the database; name another file"):
            write_report(copy, out)
        with pytest.raises(InputError, match="it is a SQLite database; name another file"):
            write_report(db, out)
    assert copy.read_bytes() == db.read_bytes()


def test_a_missing_library_names_the_extra(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "plotly":
            raise ModuleNotFoundError("No module named 'plotly'", name="plotly")
        return real(name, *arguments, **named)

    monkeypatch.delitem(sys.modules, "tilewright.report.page")
    monkeypatch.delattr(tilewright.report, "page")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"needs plotly, .*pip install 'tilewright\[report\]'"):
        write_report(db, db.with_name("other.html"))

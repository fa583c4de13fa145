"""The command line: every command on a small model, its errors, its display."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import Result

import tilewright as tw
from cli_models import cli, save_classifier
from processes import processes_with
from tilewright.cli.arrays import difference, read_inputs, write_outputs
from tilewright.cli.console import complain, remark
from tilewright.cli.options import assignments, parse_objective, parse_shape
from tilewright.cli.progress import LiveTable, PlainLines, Snapshot, share_line, state_line
from tilewright.cli.timing import interleaved
from tilewright.errors import InputError
from tilewright.records.database import Database
from tilewright.runtime.artifact import BufferSpec
from tilewright.search.tuner import Budget, Progress, Shares
from tilewright.text import clock, count, duration, factor, rate, sentence, size

COMMANDS = ("tune", "compile", "run", "bench", "show", "report", "records", "export")
TRIALS = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    return save_classifier(folder / "classifier.onnx")


@pytest.fixture(scope="module")
def tuned(folder: Path, model: Path) -> tuple[Path, Result]:
    """A database made by `tilewright tune`, and what that printed."""
    db = folder / "tuning.db"
    return db, cli("tune", model, "--trials", TRIALS, "--db", db)


# ---- help and usage -------------------------------------------------------------------------


def test_the_start_page_lists_every_command() -> None:
    result = cli("--help")
    assert result.exit_code == 0
    for name in COMMANDS:
        assert f" {name} " in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_help_explains_options_and_shows_an_example(command: str) -> None:
    result = cli(command, "--help")
    assert result.exit_code == 0
    assert f"Example: tilewright {command}" in " ".join(result.output.split())


def test_version() -> None:
    assert cli("--version").output.strip() == f"tilewright {tw.__version__}"


def test_wrong_usage_exits_with_2() -> None:
    result = cli("tune")
    assert result.exit_code == 2
    assert "Missing argument" in result.output


# ---- the commands on a real model -----------------------------------------------------------


@pytest.mark.cpu
def test_tune_reports_progress_and_records(tuned: tuple[Path, Result]) -> None:
    db, result = tuned
    assert result.exit_code == 0, result.output
    assert "default programs" in result.output
    assert "estimated latency" in result.output
    assert f"{TRIALS} trials" in result.output
    with Database.open(db, readonly=True) as database:
        summary = database.summary()
    assert summary.trials == TRIALS + 1  # the default program's record comes first
    assert [m.name for m in summary.models] == ["classifier"]


@pytest.mark.cpu
def test_tune_goes_on_without_measuring_again(tuned: tuple[Path, Result], model: Path) -> None:
    db, _ = tuned
    result = cli("tune", model, "--trials", TRIALS, "--db", db)
    assert result.exit_code == 0, result.output
    with Database.open(db, readonly=True) as database:
        assert database.summary().trials == TRIALS + 1


@pytest.mark.cpu
def test_compile_prints_the_plan(tuned: tuple[Path, Result], model: Path) -> None:
    plain = cli("compile", model)
    assert plain.exit_code == 0, plain.output
    assert "1 call of 1 kernel, 0 of them tuned" in plain.output
    assert "Compiled and loaded." in plain.output
    best = cli("compile", model, "--db", tuned[0])
    assert "1 call of 1 kernel, 1 of them tuned" in best.output
    assert "Sum of the recorded latencies" in best.output


@pytest.mark.cpu
def test_compile_for_another_architecture_loads_nothing(model: Path) -> None:
    result = cli("compile", model, "--target", "cpu:cortex-a53")
    assert result.exit_code == 0, result.output
    assert "Compiled for cortex-a53 (aarch64); not loaded here." in result.output


@pytest.mark.cpu
def test_run_reads_and_writes_arrays(
    tuned: tuple[Path, Result], model: Path, tmp_path: Path
) -> None:
    x = np.random.default_rng(1).standard_normal((2, 24)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    result = cli(
        "run", model, "--input", f"x={tmp_path / 'x.npy'}", "--output", tmp_path / "y.npz",
        "--db", tuned[0], "--check",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "y: float32[2, 40] from 0 to" in result.output
    with np.load(tmp_path / "y.npz") as saved:
        (y,) = tw.compile(tw.load(model))(x)
        np.testing.assert_allclose(saved["y"], y, rtol=1e-5, atol=1e-5)
    assert "Largest difference from onnxruntime" in result.output


@pytest.mark.cpu
def test_run_without_inputs_says_that_they_are_random(model: Path) -> None:
    result = cli("run", model, "--seed", 7)
    assert result.exit_code == 0, result.output
    assert "Random values (seed 7) for x." in result.output


@pytest.mark.cpu
def test_bench_times_all_programs(tuned: tuple[Path, Result], model: Path) -> None:
    result = cli("bench", model, "--db", tuned[0], "--seconds", 0)
    assert result.exit_code == 0, result.output
    for name in ("untuned", "tuned", "onnxruntime", "largest difference"):
        assert name in result.output


@pytest.mark.cpu
def test_bench_shows_the_time_of_every_kernel(model: Path) -> None:
    result = cli("bench", model, "--no-peer", "--seconds", 0, "--profile")
    assert result.exit_code == 0, result.output
    table = result.output[result.output.index("kernel") :]
    assert table.split()[:5] == ["kernel", "calls", "time", "GFLOP/s", "share"]
    assert "t0_matmul_add_relu_2x40" in table
    assert "100.0%" in table
    assert "in kernels," in table


@pytest.mark.cpu
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc not found: apt-get install gcc")
def test_compile_saves_a_library(tuned: tuple[Path, Result], model: Path, tmp_path: Path) -> None:
    result = cli("compile", model, "--db", tuned[0], "-o", tmp_path / "net.so")
    assert result.exit_code == 0, result.output
    assert f"Saved to {tmp_path / 'net.so'} and {tmp_path / 'net.h'}." in result.output
    net = tw.compile(tw.load(model), db=tuned[0])
    m = net.memory
    assert f"Peak memory {size(m.peak)} (constants {size(m.constants)}, arena" in result.output
    x = np.random.default_rng(1).standard_normal((2, 24)).astype(np.float32)
    (expected,) = net(x)
    np.testing.assert_array_equal(tw.load_library(tmp_path / "net.so")(x)[0], expected)
    check_error(cli("compile", model, "-o", tmp_path / "no" / "net.so"), "cannot write", "net.so")


@pytest.mark.cpu
def test_show_prints_every_layer_of_the_best_program(tuned: tuple[Path, Result]) -> None:
    result = cli("show", tuned[0], "matmul")
    assert result.exit_code == 0, result.output
    order = [result.output.index(f"── {name}") for name in ("sketch", "trace", "nest", "ir")]
    assert order == sorted(order)
    assert "Split(stage=" in result.output
    assert "for " in result.output
    assert "define void @" in result.output


@pytest.mark.cpu
def test_show_takes_a_trial_and_a_layer(tuned: tuple[Path, Result]) -> None:
    result = cli("show", tuned[0], "--trial", 1, "--layer", "nest")
    assert result.exit_code == 0, result.output
    assert "trial 1 of" in result.output
    assert "proposed by default" in result.output
    assert "define void" not in result.output


@pytest.mark.cpu
def test_show_without_a_task_lists_them(tuned: tuple[Path, Result]) -> None:
    result = cli("show", tuned[0])
    assert result.exit_code == 0
    assert "Show one with: tilewright show" in result.output


@pytest.mark.cpu
def test_report_writes_a_page_about_a_real_run(tuned: tuple[Path, Result], tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = cli("report", tuned[0], "-o", out)
    assert done.exit_code == 0 and done.output.startswith(f"Wrote {out} (")
    text = out.read_text(encoding="utf-8")
    for part in ("classifier", "checking and timing", "of its roofline", "LLVM IR for cpu:"):
        assert part in text
    assert "are not recorded" not in text


def test_records_travel_as_json_lines(tuned: tuple[Path, Result], tmp_path: Path) -> None:
    folder = tmp_path / "a folder whose name does not fit into a line of eighty columns with others"
    folder.mkdir()
    file, other = folder / "records.jsonl", tmp_path / "other.db"
    assert f"Wrote {TRIALS + 1} trials to {file}." in cli("export", file, "--db", tuned[0]).output
    kinds = [json.loads(line).get("record") for line in file.read_text().splitlines()]
    assert kinds.count("trial") == TRIALS + 1
    first = cli("records", other, "--import", file)
    assert f"Imported {TRIALS + 1} new trials" in first.output
    again = cli("records", other, "--import", file)
    assert f"Imported 0 new trials from {file} ({TRIALS + 1} were known)" in again.output
    assert f"{TRIALS + 1} trials of 1 task, 0 failed" in again.output


@pytest.mark.cpu
def test_symbolic_shapes_are_given_by_option(tmp_path: Path) -> None:
    model = save_classifier(tmp_path / "free.onnx", batch="n")
    result = cli("run", model, "--shape", "x=3,24")
    assert result.exit_code == 0, result.output
    assert "y: float32[3, 40]" in result.output
    named = cli("run", model, "--shape", "free:x=5,24")
    assert "y: float32[5, 40]" in named.output


@pytest.mark.cpu
def test_several_shapes_of_one_model(tmp_path: Path) -> None:
    model, db = save_classifier(tmp_path / "free.onnx", batch="n"), tmp_path / "two.db"
    shapes = ("--shape", "x=3,24", "--shape", "x=5,24")
    result = cli("tune", model, *shapes, "--trials", 2, "--db", db)
    assert result.exit_code == 0, result.output
    with Database.open(db, readonly=True) as database:
        names = [m.name for m in database.summary().models]
    assert names == ["free[3x24]", "free[5x24]"]
    planned = cli("compile", model, *shapes, "--db", db)
    assert planned.output.count("1 call of 1 kernel, 1 of them tuned") == 2, planned.output
    timed = cli("bench", model, *shapes, "--seconds", 0)
    assert timed.exit_code == 0, timed.output
    assert timed.output.count("untuned") == 2
    np.save(tmp_path / "x.npy", np.ones((5, 24), np.float32))
    given = cli("run", model, *shapes, "--input", f"x={tmp_path / 'x.npy'}")
    assert "y: float32[5, 40]" in given.output
    assert "y: float32[" in cli("run", model, *shapes).output
    np.save(tmp_path / "x.npy", np.ones((4, 24), np.float32))
    wrong = cli("run", model, *shapes, "--input", f"x={tmp_path / 'x.npy'}")
    assert wrong.exit_code == 1
    assert "no network for x [4, 24]; there are: x [3, 24]; x [5, 24]" in wrong.output


@pytest.mark.cpu
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc not found: apt-get install gcc")
def test_several_shapes_are_saved_as_one_library(tmp_path: Path) -> None:
    model = save_classifier(tmp_path / "free.onnx", batch="n")
    shapes = ("--shape", "x=3,24", "--shape", "x=5,24")
    result = cli("compile", model, *shapes, "-o", tmp_path / "free.so")
    assert result.exit_code == 0, result.output
    library = tw.load_library(tmp_path / "free.so")
    for rows in (3, 5):
        assert library(np.ones((rows, 24), np.float32))[0].shape == (rows, 40)


@pytest.mark.cpu
def test_tune_takes_several_models_an_objective_and_a_runner(model: Path, tmp_path: Path) -> None:
    """Equal tasks of both models become one."""
    twin = save_classifier(tmp_path / "twin.onnx")
    result = cli(
        "tune", model, twin, "--trials", 2, "--db", tmp_path / "both.db", "--seed", 3,
        "--objective", "requirement:1e-9,1e-9", "--strategy", "random",
        "--runner", f"{sys.executable} -m tilewright.measure.runner",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    with Database.open(tmp_path / "both.db", readonly=True) as database:
        summary = database.summary()
    assert summary.workloads == 1
    assert [m.name for m in summary.models] == ["classifier", "twin"]


# ---- errors ---------------------------------------------------------------------------------


def check_error(result: Result, *parts: str) -> None:
    """One message on standard error that has all parts; exit status 1; no traceback."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.startswith("error: ")
    for part in parts:
        assert part in result.stderr
    assert "Traceback" not in result.output


def test_a_missing_model(tmp_path: Path) -> None:
    check_error(cli("run", tmp_path / "none.onnx"), "none.onnx", "No such file")


def test_a_broken_model(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"not a model" * 9)
    check_error(cli("compile", tmp_path / "bad.onnx"), "bad.onnx", "ONNX")


def test_a_symbolic_shape_without_a_value(tmp_path: Path) -> None:
    model = save_classifier(tmp_path / "free.onnx", batch="n")
    check_error(cli("run", model), "input x", "no value")


@pytest.mark.parametrize(
    ("option", "value", "part"),
    [
        ("--shape", "x=", "24"),
        ("--shape", "x=two,3", "NAME=N,N"),
        ("--shape", "other:x=2,24", "names no model; given: classifier"),
        ("--target", "cpu:pentium9", "pentium9"),
        ("--objective", "fastest", "known: sum"),
        ("--objective", "requirement:0.1,0.2", "each of the 1 models"),
        ("--objective", "geomean:quick", "not a list of numbers"),
        ("--strategy", "guess", "known: evolution"),
    ],
)
def test_bad_option_values(model: Path, tmp_path: Path, option: str, value: str, part: str) -> None:
    db = tmp_path / "new.db"
    check_error(cli("tune", model, "--trials", 1, "--db", db, option, value), part)


def test_a_missing_database(model: Path, tmp_path: Path) -> None:
    for command in (("compile", model, "--db"), ("records",), ("show",)):
        check_error(cli(*command, tmp_path / "none.db"), "none.db", "does not exist")


def test_a_corrupt_database(model: Path, tmp_path: Path) -> None:
    db = tmp_path / "bad.db"
    db.write_bytes(b"\x07" * 9000)
    check_error(cli("tune", model, "--trials", 1, "--db", db), "bad.db", "not a SQLite database")


@pytest.mark.cpu
def test_an_input_of_the_wrong_shape_or_dtype(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.zeros((3, 24), np.float32))
    check_error(cli("run", model, "--input", f"x={file}"), "x", "(2, 24)")
    np.save(file, np.zeros((2, 24)))
    check_error(cli("run", model, "--input", f"x={file}"), "float32", "float64")


@pytest.mark.cpu
def test_an_unknown_task_lists_the_known_ones(tuned: tuple[Path, Result]) -> None:
    check_error(cli("show", tuned[0], "lstm"), "no single task fits 'lstm'", "1 t0_")
    check_error(cli("show", tuned[0], "--trial", 999), "no trial 999")


def test_traceback_is_shown_on_request(tmp_path: Path) -> None:
    result = cli("--traceback", "run", tmp_path / "none.onnx")
    assert isinstance(result.exception, tw.UnsupportedModel)


def test_a_missing_openmp_runtime(tmp_path: Path) -> None:
    """A library that cannot be loaded stands in for LightGBM's without libgomp."""
    (tmp_path / "lightgbm.py").write_text("raise OSError('libgomp.so.1: cannot open')")
    done = subprocess.run(
        [sys.executable, "-c", "from tilewright.cli import main; main()", "--help"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: LightGBM does not load")
    assert "apt-get install libgomp1" in done.stderr


# ---- arrays ---------------------------------------------------------------------------------

SPECS = (BufferSpec("x", (2, 3), "float32"), BufferSpec("ids", (4,), "int64"))


def test_inputs_come_from_archives_or_a_seed(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.ones((2, 3), np.float32))
    arrays, random = read_inputs([str(tmp_path / "in.npz")], SPECS, seed=0)
    assert random == ["ids"]
    assert arrays["x"].sum() == 6
    assert set(np.unique(arrays["ids"])) <= {0, 1}
    again, _ = read_inputs([str(tmp_path / "in.npz")], SPECS, seed=0)
    np.testing.assert_array_equal(arrays["ids"], again["ids"])


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("none.npy", "there is no file"),
        ("z={}/in.npz", "no input called z"),
        ("{}/one.npy", "name the input"),
        ("x={}/two.npz", "give it without a name"),
        ("x={}/text.npy", "no .npy or .npz file"),
    ],
)
def test_bad_input_files(tmp_path: Path, text: str, part: str) -> None:
    np.savez(tmp_path / "in.npz", x=np.ones(1))
    np.savez(tmp_path / "two.npz", a=np.ones(1), b=np.ones(1))
    np.save(tmp_path / "one.npy", np.ones(1))
    (tmp_path / "text.npy").write_text("hello")
    with pytest.raises(tw.InputError, match=part):
        read_inputs([text.format(tmp_path)], SPECS, seed=0)


def test_outputs_keep_any_name(tmp_path: Path) -> None:
    arrays = [np.arange(3.0), np.arange(2)]
    write_outputs(tmp_path / "out.npz", ["file", "b"], arrays)
    with np.load(tmp_path / "out.npz") as saved:
        np.testing.assert_array_equal(saved["file"], arrays[0])
        np.testing.assert_array_equal(saved["b"], arrays[1])
    write_outputs(tmp_path / "one.npy", ["a"], arrays[:1])
    np.testing.assert_array_equal(np.load(tmp_path / "one.npy"), arrays[0])


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    one, two = [np.ones(1)], [np.ones(1), np.ones(1)]
    for file, arrays, part in (
        (tmp_path / "y.txt", one, "name a .npz file"),
        (tmp_path / "y.npy", two, "2 outputs"),
        (tmp_path / "nowhere" / "y.npz", one, "cannot write"),
    ):
        with pytest.raises(tw.InputError, match=part):
            write_outputs(file, ["a", "b"][: len(arrays)], arrays)


def test_difference_counts_values_that_are_not_finite() -> None:
    good = np.array([1.0, np.inf, np.nan, -4.0])
    assert difference([good], [good]) == (0.0, 0.0)
    worst, relative = difference([good + np.array([0.5, 0, 0, 0])], [good])
    assert (worst, relative) == (0.5, 0.125)
    assert np.isnan(difference([np.array([np.nan])], [np.array([1.0])])[0])


# ---- text, options, timing ------------------------------------------------------------------


def test_numbers_read_well() -> None:
    assert [duration(s) for s in (None, 1.5, 0.0377, 8.12e-4, 2e-9)] == [
        "–", "1.50 s", "37.7 ms", "812 µs", "2 ns",
    ]  # fmt: skip
    assert [size(b) for b in (0, 512, 2_621_440)] == ["0 B", "512 B", "2.62 MB"]
    assert [clock(s) for s in (5, 83, 3671)] == ["0:05", "1:23", "1:01:11"]
    assert rate(2e9, 0.01) == "200.0"
    assert rate(0, 0.01) == rate(1, None) == "–"
    assert factor(0.04, 0.02) == "2.00x"
    assert count(1, "trial") == "1 trial"
    assert sentence("peak memory 2 MB") == "Peak memory 2 MB"


def test_names_between_colons_stay_text(capsys: pytest.CaptureFixture[str]) -> None:
    complain("not opencl:mali: tune for opencl")
    remark("opencl:mali: no device")
    said = capsys.readouterr().err
    assert said == "error: not opencl:mali: tune for opencl\nnote: opencl:mali: no device\n"


def test_an_input_named_again_gets_another_shape() -> None:
    assert assignments([]) == []
    given = [("x", (1, 8)), ("z", (3,)), ("x", (4, 8))]
    assert assignments(given) == [{"x": (1, 8), "z": (3,)}, {"x": (4, 8), "z": (3,)}]
    with pytest.raises(InputError, match=r"as often as the others \(3 times\): x 3, z 2"):
        assignments([("x", (1,)), ("x", (2,)), ("z", (1,)), ("z", (2,)), ("x", (3,))])


def test_shapes_and_objectives_parse() -> None:
    assert parse_shape("x=1,3,224") == (None, "x", (1, 3, 224))
    assert parse_shape("net:ids:0=4") == ("net", "ids:0", (4,))
    assert parse_objective("sum", 3) == tw.TotalLatency()
    assert parse_objective("requirement:0.02,0.1", 2) == tw.LatencyRequirement((0.02, 0.1))
    assert parse_objective("geomean:0.04", 1) == tw.GeomeanSpeedup((0.04,))
    assert parse_objective("early-stopping", 1) == tw.EarlyStopping()


class Clock:
    """Stands for the module `time`; it moves when told."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_programs_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("tilewright.cli.timing.time", clock)
    calls: list[str] = []

    def program(name: str, seconds: float) -> Callable[[], None]:
        def call() -> None:
            calls.append(name)
            clock.sleep(seconds)

        return call

    both = {"slow": program("slow", 0.02), "quick": program("quick", 0.001)}
    timings = interleaved(both, seconds=0.7)
    assert timings["slow"].calls_s == pytest.approx([0.02] * len(timings["slow"].calls_s))
    assert timings["quick"].median_s == pytest.approx(0.001)
    turns = [a for a, b in zip(calls, [*calls[1:], ""], strict=True) if a != b]
    assert turns == ["slow", "quick", "slow"]  # the second turn begins with the other one


# ---- progress -------------------------------------------------------------------------------


def progress(best: float | None = 0.002, phase: str = "search", tasks: int = 3) -> Progress:
    """A moment of a run of `tasks` equal tasks."""
    task = SimpleNamespace(name="conv", weight=2.0, flops=4_000_000)
    search: Any = SimpleNamespace(task=task, default_s=0.004, best_s=best, trials=10, errors=1)
    shares = Shares(search=1.0, run=3.0)
    return Progress([search] * tasks, 0, 30, 20.0, Budget(90, 2.0), shares, phase)


def test_a_snapshot_sums_up_the_tasks() -> None:
    snapshot = Snapshot.of(progress())
    assert snapshot.best_s == pytest.approx(0.012)
    assert snapshot.default_s == pytest.approx(0.024)
    assert snapshot.errors == 3
    assert snapshot.left_s == pytest.approx(40.0)  # by trials; by time it would be 100
    assert "30 of 90 trials" in state_line(snapshot, 5.0)
    assert "0:35 left" in state_line(snapshot, 5.0)
    assert share_line(snapshot) == "time: search 25 % · run 75 %"


def test_a_snapshot_of_tasks_that_did_not_run_yet() -> None:
    assert Snapshot.of(progress(best=None)).best_s is None


def test_plain_lines_are_few() -> None:
    text = io.StringIO()
    with PlainLines(Console(file=text, width=200)) as show:
        for _ in range(5):
            show(progress())
        show(progress(phase="confirming"))
    lines = text.getvalue().splitlines()
    assert len(lines) == 2
    assert "0:20  search · conv · 30 of 90 trials · 3 errors" in lines[0]
    assert "estimated latency 12 ms (untuned 24 ms, 2.00x)" in lines[0]


def test_the_live_table_fits_the_terminal() -> None:
    text = io.StringIO()
    console = Console(file=text, width=100, height=14, force_terminal=True)
    with LiveTable(console) as show:
        show(progress(tasks=40))
        assert show.last is not None
    assert "GFLOP/s" in text.getvalue()
    assert "… and 35 more tasks" in text.getvalue()


# ---- interrupts -----------------------------------------------------------------------------


def test_ctrl_c_prints_what_was_reached(
    monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path
) -> None:
    def interrupted(*_: object, observe: Any, **__: object) -> None:
        observe(progress())
        raise KeyboardInterrupt

    monkeypatch.setattr(tw, "tune", interrupted)
    result = cli("tune", model, "--db", tmp_path / "t.db")
    assert result.exit_code == 130
    assert "Stopped." in result.output
    assert "estimated latency 12 ms" in result.output


@pytest.mark.cpu
def test_sigint_ends_a_real_run_and_keeps_its_records(model: Path, tmp_path: Path) -> None:
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
        if "search" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Stopped." in out
    assert "Traceback" not in err
    with Database.open(db, readonly=True) as database:
        assert database.summary().trials > 1
    deadline = time.monotonic() + 10
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_with(mark) == set()


# ---- the package's names --------------------------------------------------------------------


def test_every_public_name_exists() -> None:
    for name in tw.__all__:
        assert getattr(tw, name) is not None
    assert set(tw.__all__) == {*tw._MODULE_OF, *tw._SUBMODULES}
    with pytest.raises(AttributeError, match="no attribute 'relu6'"):
        _ = tw.relu6


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, tilewright; print([m for m in ('numpy', 'onnx') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""Every command on a small model, as its user calls it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

import tilewright as tw
from cli_models import TRIALS, check_error, cli, save_classifier, save_products
from devices import tools
from tilewright.ground.text import size
from tilewright.records.database import Database
from tilewright.runtime.host import host_architecture

COMMANDS = (
    *(
        "tune",
        "plan",
        "compile",
        "run",
        "bench",
        "advise",
        "show",
        "report",
        "records",
        "export",
        "ops",
        "cache",
    ),
)


OLDEST = {"x86_64": "x86-64-v2"}


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


@pytest.mark.cpu
def test_tune_reports_progress_and_records(tuned: tuple[Path, Result]) -> None:
    db, result = tuned
    assert result.exit_code == 0, result.output
    assert "default programs" in result.output
    assert "estimated latency" in result.output
    assert f"{TRIALS + 1} trials ({TRIALS} searched, 1 default) in 0:" in result.output
    assert f"The budget of {TRIALS} trials is spent: to go on, raise --trials" in result.output
    with Database.open(db, readonly=True) as database:
        summary = database.summary()
    assert summary.trials == TRIALS + 1  # the default program's record comes first
    assert [m.name for m in summary.models] == ["classifier"]


@pytest.mark.cpu
def test_tune_goes_on_without_measuring_again(tuned: tuple[Path, Result], model: Path) -> None:
    db, _ = tuned
    with Database.open(db, readonly=True) as database:
        before = list(database.trials())
    result = cli("tune", model, "--trials", TRIALS, "--db", db)
    assert result.exit_code == 0, result.output
    with Database.open(db, readonly=True) as database:
        assert list(database.trials()) == before, "not even confirmed again"


@pytest.mark.cpu
def test_a_profile_measures_what_its_plan_tells(model: Path, tmp_path: Path) -> None:
    planned = cli("plan", model, "--strategy", "profile")
    assert planned.exit_code == 0, planned.output
    programs = int(planned.output.split(" programs to measure")[0].split()[-1])
    db = tmp_path / "t.db"
    result = cli("tune", model, "--strategy", "profile", "--db", db)
    assert result.exit_code == 0, result.output
    with Database.open(db, readonly=True) as database:
        counted = Counter(t.origin for t in database.trials())
    assert counted["default"] == 1
    # the default program may be one of those that are planned
    assert programs - 1 <= counted["profile"] <= programs


@pytest.mark.parametrize("name", ["reuse", "reuse-all", "profile"])
def test_a_plan_is_of_a_strategy(name: str, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    for command in ("tune", "plan"):
        monkeypatch.setattr(tw, command, lambda _, **given: asked.append(given["strategy"]))
        assert cli(command, "--strategy", name, model).exit_code == 0
    assert cli("plan", model).exit_code == 0
    assert asked == [name, name, "reuse"]
    result = cli("plan", model, "--strategy", "random")
    assert result.exit_code == 2 and "unknown strategy of a plan 'random'" in result.output


@pytest.mark.cpu
def test_compile_prints_the_plan(tuned: tuple[Path, Result], model: Path) -> None:
    plain = cli("compile", model)
    assert plain.exit_code == 0, plain.output
    assert "1 call of 1 kernel: 1 default" in plain.output
    assert "Compiled and loaded." in plain.output
    best = cli("compile", model, "--db", tuned[0])
    with Database.open(tuned[0], readonly=True) as database:
        (line,) = database.summary().coverage
    assert f"1 call of 1 kernel: 1 {line.program}" in best.output
    assert line.program in ("tuned", "measured")
    assert "Sum of the recorded latencies" in best.output


@pytest.mark.cpu
def test_compile_for_another_architecture_loads_nothing(model: Path) -> None:
    result = cli("compile", model, "--target", "cpu:cortex-a53")
    assert result.exit_code == 0, result.output
    assert "Compiled for cortex-a53 (aarch64); not loaded here." in result.output


def test_compile_tells_which_contractions_share_a_kernel(tmp_path: Path) -> None:
    file = save_products(tmp_path / "products.onnx")
    small = "cpu:icelake-server cores=2 l1=2K l2=4K l3=64K"
    result = cli("compile", file, "--target", small)
    assert result.exit_code == 0, result.output
    assert "1 call of 1 kernel" in result.output
    assert "in one kernel: g and y (66 kB between)" in result.output
    result = cli("compile", file, "--target", "cpu:icelake-server cores=2")
    assert "apart (what is between stays in the near caches): g and y" in result.output
    result = cli("compile", file, "--target", small, "--no-chains")
    assert "2 calls of 2 kernels" in result.output and "Back to back" not in result.output


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
    assert "Random values (seed 7) for x (normal)." in result.output


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
@tools("gcc")
def test_compile_saves_a_library(tuned: tuple[Path, Result], model: Path, tmp_path: Path) -> None:
    fallback = ("--fallback", f"cpu:{OLDEST.get(host_architecture(), 'generic-aarch64')}")
    check_error(cli("compile", model, *fallback), "--fallback is for a library")
    result = cli("compile", model, "--db", tuned[0], *fallback, "-o", tmp_path / "net.so")
    assert result.exit_code == 0, result.output
    assert b"_fallback1" in (tmp_path / "net.so").read_bytes()
    assert f"Saved to {tmp_path / 'net.so'} and {tmp_path / 'net.h'}." in result.output
    net = tw.compile(tw.load(model), db=tuned[0])
    m = net.memory
    assert f"Peak memory {size(m.peak)} (constants {size(m.constants)}, arena" in result.output
    x = np.random.default_rng(1).standard_normal((2, 24)).astype(np.float32)
    (expected,) = net(x)
    np.testing.assert_array_equal(tw.load_library(tmp_path / "net.so")(x)[0], expected)
    check_error(cli("compile", model, "-o", tmp_path / "no" / "net.so"), "cannot write", "net.so")


@pytest.mark.cpu
def test_show_prints_the_loops_and_other_layers_on_demand(tuned: tuple[Path, Result]) -> None:
    short = cli("show", tuned[0], "matmul")
    assert short.exit_code == 0, short.output
    assert f" of {tuned[0]}, measured on " in short.output and "tiled" in short.output
    assert "multi_level_tiling" not in short.output and "define void @" not in short.output
    assert "── nest" in short.output and "for " in short.output
    layers = [word for one in ("sketch", "trace", "nest", "ir") for word in ("--layer", one)]
    result = cli("show", tuned[0], "matmul", *layers)
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
    assert f"trial 1 of {tuned[0]}, measured on" in result.output
    assert "the untuned program" in result.output
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
    total = f"{TRIALS + 1} trials ({TRIALS} searched, 1 default)"
    assert f"{total} of 1 task, 0 failed" in again.output


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
    kinds = planned.output.count("kernel: 1 tuned") + planned.output.count("kernel: 1 measured")
    assert kinds == 2, planned.output
    timed = cli("bench", model, *shapes, "--seconds", 0)
    assert timed.exit_code == 0, timed.output
    assert timed.output.count("untuned") == 2
    np.save(tmp_path / "x.npy", np.ones((5, 24), np.float32))
    given = cli("run", model, *shapes, "--input", f"x={tmp_path / 'x.npy'}")
    assert "y: float32[5, 40]" in given.output
    every = cli("run", model, *shapes, "--check")
    assert every.exit_code == 0, every.output
    for rows in (3, 5):
        assert f"free[{rows}x24]\n" in every.output and f"y: float32[{rows}, 40]" in every.output
    told = json.loads(cli("run", model, *shapes, "--json").output)
    assert [n["outputs"][0]["shape"] for n in told["networks"]] == [[3, 40], [5, 40]]
    check_error(cli("run", model, *shapes, "--output", tmp_path / "y.npz"), "--output holds the")
    one = cli(
        "run", model, *shapes, "--input", f"x={tmp_path / 'x.npy'}", "--output", tmp_path / "y.npz"
    )
    assert one.exit_code == 0 and np.load(tmp_path / "y.npz")["y"].shape == (5, 40)
    np.save(tmp_path / "x.npy", np.ones((4, 24), np.float32))
    wrong = cli("run", model, *shapes, "--input", f"x={tmp_path / 'x.npy'}")
    assert wrong.exit_code == 1
    assert "no network for x [4, 24]; there are: x [3, 24]; x [5, 24]" in wrong.output


@pytest.mark.cpu
@tools("gcc")
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
    (one,) = summary.models  # what they are made of is equal
    assert (one.name, one.path) == ("classifier", str(twin))

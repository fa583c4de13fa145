"""`bench` with threads, batches, files, percentiles and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from cli_models import check_error, cli, save_classifier
from tilewright.cli import bench as bench_module
from tilewright.cli.options import batch_shapes
from tilewright.cli.timing import CallTimes


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of any batch."""
    return save_classifier(tmp_path_factory.mktemp("bench") / "free.onnx", batch="n")


@pytest.mark.cpu
def test_json_has_percentiles_and_throughput(free: Path, tuned: tuple[Path, Result]) -> None:
    result = cli(
        "bench", free, "--batch", 2, "--threads", 1, "--seconds", 0, "--db", tuned[0],
        "--json", "--profile",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["batch"], told["threads"]) == (2, 1)
    (network,) = told["networks"]
    assert network["inputs"] == {"x": [2, 24]}
    programs = {p["name"]: p for p in network["programs"]}
    assert list(programs) == ["untuned", "tuned", "onnxruntime"]
    for program in programs.values():
        assert program["least_s"] <= program["p50_s"] <= program["p90_s"] <= program["p99_s"]
        assert program["per_second"] == pytest.approx(2 / program["mean_s"])
    assert programs["tuned"]["largest_difference"] < 1e-4
    assert programs["onnxruntime"]["largest_difference"] is None
    assert network["kernels"][0]["calls"] == 1


@pytest.mark.cpu
def test_the_table_tells_items_of_a_batch(free: Path) -> None:
    result = cli("bench", free, "--batch", 3, "--no-peer", "--seconds", 0)
    assert result.exit_code == 0, result.output
    head = result.output.splitlines()[0].split()
    assert head == ["program", "median", "p90", "p99", "minimum", "calls", "items/s"]
    plain = cli("bench", free, "--shape", "n=3", "--no-peer", "--seconds", 0)
    assert "runs/s" in plain.output


@pytest.mark.cpu
def test_inputs_come_from_files(free: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((2, 24), np.float32))
    given = ("--input", f"x={tmp_path / 'x.npy'}", "--seconds", 0, "--no-peer")
    told = cli("bench", free, "--batch", 2, *given, "--json")
    assert json.loads(told.stdout)["networks"][0]["random_inputs"] == []
    check_error(cli("bench", free, "--batch", 3, *given), "x", "(3, 24)")


def test_too_many_threads(model: Path) -> None:
    """Refused before anything starts as many."""
    check_error(cli("bench", model, "--threads", 9999), "--threads 9999: there ", " core")


def test_batches_of_models(free: Path, model: Path, tmp_path: Path) -> None:
    assert batch_shapes(free, 8) == ["n=8"]
    unnamed = save_classifier(tmp_path / "unnamed.onnx", batch="?")
    assert batch_shapes(unnamed, 8) == ["x=8,24"]
    assert batch_shapes(model, 2) == [], "it has that already"
    check_error(cli("bench", model, "--batch", 4), "no symbolic batch", "x 2", "export it with one")
    check_error(cli("bench", tmp_path / "none.onnx", "--batch", 4), "none.onnx", "No such file")


@pytest.mark.cpu
def test_advice_to_install_something_is_printed_as_it_is(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_module, "onnxruntime_peer", lambda *_: None)
    result = cli("bench", model, "--seconds", 0)
    assert "(pip install 'tilewright[demo]'): not compared" in result.output


def test_percentiles() -> None:
    timing = CallTimes(tuple(float(i) for i in range(101)))
    assert [timing.percentile_s(p) for p in (50, 90, 99)] == [50.0, 90.0, 99.0]
    assert (timing.mean_s, timing.median_s, timing.least_s) == (50.0, 50.0, 0.0)

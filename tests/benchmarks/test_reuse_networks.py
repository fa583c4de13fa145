"""Networks by reuse: slices, resuming and figures, on a tiny network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.models.table import CASES
from benchmarks.reuse_networks import EXPERIMENTS, Experiment, main, rows, summary
from simulated_device import simulate
from tiny_network import save_tiny

from benchmarks import reuse_networks


@pytest.mark.thorough
def test_networks_are_tuned_by_both_sides_and_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny(tmp_path / "onnx")
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    tiny = Experiment(("tiny-b1",), {"reuse": 8, "search": None}, ("tiny-b1",))
    monkeypatch.setattr(reuse_networks, "EXPERIMENTS", {"tiny": tiny})
    monkeypatch.setattr(reuse_networks, "EACH", 4)
    batches = simulate(monkeypatch)
    file = tmp_path / "n.json"
    words = ["--networks", str(tmp_path / "onnx"), "--folder", str(tmp_path / "dbs")]
    words += ["--json", str(file), "--rounds", "1"]
    monkeypatch.setattr("sys.argv", ["reuse_networks", *words, "--minutes", "0"])
    assert main() == 0 and not batches and not file.exists()

    monkeypatch.setattr("sys.argv", ["reuse_networks", *words])
    assert main() == 0
    found = json.loads(file.read_text())
    one = found["experiments"]["tiny"]
    assert {side: figures["trials"] for side, figures in one["sides"].items()} == {
        "reuse": 8,
        "search": 3 * 4,
    }
    assert set(one["networks"]["tiny-b1"]) == {"reuse", "search", "untuned"}
    assert found["summary"]["tiny"]["fewer_trials"] == 1.5
    batches.clear()
    assert main() == 0 and not batches
    assert json.loads(file.read_text()) == found


def test_the_experiments_are_of_networks_that_there_are() -> None:
    for experiment in EXPERIMENTS.values():
        assert {*experiment.networks, *experiment.before} <= set(CASES)
    assert len(EXPERIMENTS["bert-lengths"].networks) == 8


def test_the_summary_is_of_measured_networks() -> None:
    sides = {"reuse": {"trials": 100, "seconds": 20.0}, "search": {"trials": 640, "seconds": 80.0}}
    networks = {
        "a": {"reuse": 1e-3, "search": 2e-3, "untuned": 4e-3},
        "b": {"reuse": 2e-3, "search": 1e-3, "untuned": 8e-3},
    }
    results = {"experiments": {"one": {"sides": sides, "networks": networks}}}
    found = summary(results)["one"]
    assert found["speed"] == pytest.approx(1.0) and found["gain"] == pytest.approx(4.0)
    assert (found["fewer_trials"], found["less_time"], found["networks"]) == (6.4, 4.0, 2)
    assert rows(results)[1:3] == [
        ["one, s of tuning", "", "80", "20", "4.00"],
        ["a", "4 ms", "2 ms", "1 ms", "2.000"],
    ]
    begun = {"experiments": {"one": {"sides": {"reuse": sides["reuse"]}, "networks": {}}}}
    assert summary(begun) == {}
    assert rows(begun)[0] == ["one, trials", "", "", "100", ""]

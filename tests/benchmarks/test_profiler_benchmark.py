"""Profiles against search: slices, resuming and figures, on a tiny network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.models.table import CASES
from benchmarks.profiler import QUICK, REFERENCE_TASKS, main, rows, summary
from simulated_device import simulate
from tiny_network import save_tiny

from benchmarks import profiler
from tilewright.search.strategies.profiler import PROGRAMS


@pytest.mark.thorough
def test_both_sides_are_tuned_once_and_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny(tmp_path / "onnx")
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(profiler, "REFERENCE_MINUTES", 0.02 * REFERENCE_TASKS / 3)
    monkeypatch.setattr(profiler, "LEAST_MINUTES", 0.01)
    batches = simulate(monkeypatch)
    file = tmp_path / "p.json"
    words = ["--models", "tiny-b1", "--networks", str(tmp_path / "onnx")]
    words += ["--folder", str(tmp_path / "dbs"), "--json", str(file), "--rounds", "1"]
    assert main([*words, "--minutes", "0"]) == 0 and not batches and not file.exists()

    assert main(words) == 0
    found = json.loads(file.read_text())
    one = found["networks"]["tiny-b1"]
    assert 0 < one["sides"]["profile"]["trials"] <= PROGRAMS * one["sides"]["profile"]["tasks"]
    assert set(one["seconds"]) == {"profile", "search", "untuned"}
    assert set(found["summary"]["networks"]) == {"tiny-b1"}
    batches.clear()
    assert main(words) == 0 and not batches
    assert json.loads(file.read_text()) == found


def test_figures_are_of_measured_networks() -> None:
    sides = {
        "profile": {"trials": 400, "tasks": 20, "seconds": 100.0},
        "search": {"trials": 3000, "tasks": 20, "seconds": 600.0},
    }
    seconds = {"profile": 2e-3, "search": 1.96e-3, "untuned": 4e-3}
    begun = {"sides": {"profile": sides["profile"]}, "seconds": {}}
    results = {"networks": {"a": {"sides": sides, "seconds": seconds}, "b": begun}}
    found = summary(results)
    assert found["networks"] == {
        "a": {"speed": 0.98, "gain": 2.0, "profile_s": 100.0, "less_time": 6.0}
    }
    assert (found["worst"], found["less_time"]) == pytest.approx((0.98, 6.0))
    assert rows(results) == [
        ["a", "20", "400", "100", "3000", "600", "4 ms", "1.96 ms", "2 ms", "0.980"],
        ["b", "20", "400", "100", *[""] * 6],
    ]
    assert summary({"networks": {"b": begun}}) == {}
    assert QUICK in CASES

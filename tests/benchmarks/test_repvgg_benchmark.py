"""RepVGG's tables: which networks they are of, slices, and figures, on a tiny network."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.models.table import CASES, REPVGG
from benchmarks.repvgg import FIRST, NAMES, SUITE, TABLES, RepvggResults, entry_of, main, row
from simulated_device import simulate
from tiny_network import save_tiny

from benchmarks import repvgg


def test_the_tables_are_of_all_variants() -> None:
    assert set(NAMES) == {f"{network.name}-b1" for network in REPVGG} <= set(CASES)
    assert all(FIRST in table for table in TABLES.values())


@pytest.mark.thorough
def test_a_network_is_tuned_and_takes_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny(tmp_path / "onnx")
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(repvgg, "FIRST", "tiny-b1")
    monkeypatch.setattr(repvgg, "TABLES", {"4": {"tiny-b1": 100}})
    tiny = replace(SUITE, names=("tiny-b1",))
    batches = simulate(monkeypatch)
    file = tmp_path / "r.json"
    words = ["--folder", str(tmp_path / "onnx"), "--db", str(tmp_path / "r.db"), "--peers", ""]
    words += ["--json", str(file), "--rounds", "1"]
    assert main([*words, "--minutes", "0"], tiny) == 0 and not batches and not file.exists()
    assert main(words, tiny) == 0
    found = json.loads(file.read_text())
    assert found["summary"]["table_4"]["tiny-b1"]["paper"] == 1.0
    assert found["cases"][0]["relative"] > 0
    batches.clear()
    assert main(words, tiny) == 0 and not batches


def test_speeds_are_relative_to_the_first_of_the_same_turns() -> None:
    seconds = {"tilewright": 0.02, "untuned": 0.025, "first": 0.018}
    results = RepvggResults()
    results.put(entry_of("repvgg-a0-gelu-b1", seconds))
    (entry,) = results.sorted()
    assert row(entry) == ["repvgg-a0-gelu-b1", "50.0", "40.0", "0.900"]
    (shares,) = results.summary()["table_4"].values()
    assert shares == {"here": pytest.approx(0.9), "paper": pytest.approx(5645 / 5909)}

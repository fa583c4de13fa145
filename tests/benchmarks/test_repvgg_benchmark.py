"""RepVGG's tables: which networks they are of, slices, and figures, on a tiny network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.models.table import CASES, REPVGG
from benchmarks.repvgg import FIRST, TABLES, main, rows
from simulated_device import simulate
from tiny_network import save_tiny

from benchmarks import repvgg


def test_the_tables_are_of_all_variants() -> None:
    named = {name for table in TABLES.values() for name in table}
    assert named == {f"{network.name}-b1" for network in REPVGG} <= set(CASES)
    assert all(FIRST in table for table in TABLES.values())


@pytest.mark.thorough
def test_a_network_is_tuned_and_takes_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny(tmp_path / "onnx")
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(repvgg, "FIRST", "tiny-b1")
    monkeypatch.setattr(repvgg, "TABLES", {"4": {"tiny-b1": 100}})
    batches = simulate(monkeypatch)
    file = tmp_path / "r.json"
    words = ["--networks", str(tmp_path / "onnx"), "--folder", str(tmp_path / "dbs")]
    words += ["--json", str(file), "--rounds", "1", "--tables", "4"]
    assert main([*words, "--minutes", "0"]) == 0 and not batches and not file.exists()
    assert main(words) == 0
    found = json.loads(file.read_text())
    assert found["summary"]["4"]["tiny-b1"]["paper"] == 1.0
    assert found["networks"]["tiny-b1"]["seconds"] > 0
    batches.clear()
    assert main(words) == 0 and not batches
    assert main([*words, "--tables", "7"]) == 1


def test_speeds_are_relative_to_the_first_of_the_same_turns() -> None:
    one = {"seconds": 0.02, "untuned_s": 0.025, "first_s": 0.018}
    (row,) = rows({"networks": {"repvgg-a0-gelu-b1": one}})
    assert row == ["4", "repvgg-a0-gelu-b1", "50.0", "40.0", "0.900", "0.955"]

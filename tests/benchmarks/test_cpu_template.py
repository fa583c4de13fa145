"""The benchmark of the CPU's template end to end, on a tiny product."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.cases import SMALL
from benchmarks.cpu_template import main

from benchmarks import cpu_template


@pytest.mark.thorough
@pytest.mark.cpu
def test_a_case_is_tuned_both_ways_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu_template, "CASES", {"GMM-small": SMALL["GMM-small"]})
    file = tmp_path / "results.json"
    words = ["--cases", "GMM-small", "--folder", str(tmp_path), "--json", str(file)]
    assert main([*words, "--minutes", "0"]) == 0 and not file.exists()
    assert main([*words, "--trials", "2", "--rounds", "1", "--threads", "1"]) == 0
    (entry,) = json.loads(file.read_text())["cases"]
    assert entry["measured_rows"] == entry["rows"] > 0
    assert {n for n, s in entry["median_s"].items() if s > 0} == set(entry["programs"])
    assert "matmul.registers" in entry["programs"]["template"]
    assert "matmul.registers" not in entry["programs"]["untuned"]

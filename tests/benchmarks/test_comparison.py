"""Results that grow case by case, and their summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.cases import CASES
from benchmarks.comparison import is_worse
from benchmarks.operators import HEAD, OperatorResults, curve, entry_of, row
from benchmarks.peers.process import SideError
from benchmarks.turns import chosen, installed, outliers

from tilewright.contract.gene import Gene
from tilewright.records.rows import DEFAULT, Trial


def entry(case: str, ours: float, **peers: float) -> dict[str, Any]:
    return entry_of(case, {"tilewright": ours, "untuned": 0.003, **peers}, 10**9)


def test_an_entry_compares_with_the_best_peer() -> None:
    found = entry("C2D-0-b1", 0.002, torch=0.004, openvino=0.003)
    assert found["ratio_best_peer"] == pytest.approx(1.5)
    assert found["gflops"] == pytest.approx(500)
    assert found["ratio_untuned"] == pytest.approx(1.0) and not is_worse(found)
    assert is_worse(entry("C2D-0-b1", 0.0031)) and not is_worse({"median_s": 1.0})
    assert row(found)[:3] == ["C2D-0-b1", "2 ms", "3 ms"] and len(row(found)) == len(HEAD)
    assert found["peers"] == {"torch": 0.004, "openvino": 0.003}


def test_results_resume_and_replace(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    first = OperatorResults.read(file)
    first.head = {"machine": {"target": "cpu"}}
    first.put(entry("GMM-0-b1", 1.0, torch=1.0))
    first.put(entry("C2D-0-b1", 1.0, torch=4.0))
    first.fail("C2D-1-b1", "died")
    first.write()

    second = OperatorResults.read(file)
    assert (second.cases, second.failed, second.head) == (first.cases, first.failed, first.head)
    second.put(entry("C2D-0-b1", 2.0, torch=4.0))
    second.put(entry("C2D-1-b1", 1.0, torch=2.0))
    second.write()

    data = json.loads(file.read_text())
    assert [e["case"] for e in data["cases"]] == ["C2D-0-b1", "C2D-1-b1", "GMM-0-b1"]
    assert [e["ratio_best_peer"] for e in data["cases"]] == [2.0, 2.0, 1.0]
    assert data["failed"] == {}
    assert not list(tmp_path.glob("*.partial"))


def test_a_failure_takes_the_place_of_figures() -> None:
    results = OperatorResults()
    results.put(entry("C2D-0-b1", 1.0, torch=4.0))
    results.fail("C2D-0-b1", "outputs differ")
    assert results.to_json()["cases"] == []
    assert results.to_json()["failed"] == {"C2D-0-b1": "outputs differ"}


def test_summary() -> None:
    results = OperatorResults()
    results.put(entry("C2D-0-b1", 1.0, torch=8.0, openvino=4.0))
    results.put(entry("C2D-1-b1", 1.0, torch=1.0))
    results.put(entry("NRM-0-b1", 2.0, openvino=1.0))
    results.put(entry("NRM-1-b1", 2.0))  # without peers: not compared
    summary = results.summary()
    assert summary["geomean_best_peer"] == pytest.approx((4 * 1 * 0.5) ** (1 / 3))
    assert summary["geomean_torch"] == pytest.approx((8 * 1) ** 0.5)
    assert (summary["at_least_par"], summary["compared"]) == (2, 3)
    assert summary["worst"] == {"case": "NRM-0-b1", "ratio": 0.5}
    assert summary["operators"] == {"C2D": pytest.approx(2.0), "NRM": pytest.approx(0.5)}
    assert OperatorResults().summary()["geomean_best_peer"] is None


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text('{"cases": 3}')
    with pytest.raises(ValueError, match=r"results\.json"):
        OperatorResults.read(file)


def test_cases_are_chosen_by_names_and_globs() -> None:
    assert chosen("GMM-0-b1, C2D-?-b1", CASES) == [
        *(f"C2D-{i}-b1" for i in range(4)),
        "GMM-0-b1",
    ]
    assert len(chosen("*", CASES)) == 96
    with pytest.raises(ValueError, match="C9D"):
        chosen("C2D-*,C9D-*", CASES)


def test_peers_not_installed_are_named_and_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "torch" or None)
    assert installed("torch,openvino") == ["torch"]
    message = capsys.readouterr().err
    assert "openvino" in message and ".[peers]" in message
    with pytest.raises(ValueError, match="tensorflow"):
        installed("tensorflow")


def test_a_case_fails_where_no_peer_agrees() -> None:
    assert outliers({}) == []
    assert outliers({"torch": 1e-6, "onnxruntime": 0.01}) == ["onnxruntime"]
    with pytest.raises(SideError, match="torch"):
        outliers({"torch": 0.5, "onnxruntime": float("nan")})


def test_a_curve_holds_each_improvement_and_ignores_failures() -> None:
    def trial(seconds: float | None, origin: str = "tile") -> Trial:
        latencies, error = ((), "Crash") if seconds is None else ((seconds,), None)
        return Trial("w", "m", Gene("[]"), 0, 0, latencies, origin=origin, error=error)

    trials = [trial(4.0, DEFAULT), *map(trial, (5.0, None, 3.0, 3.5, 2.0))]
    assert curve(trials) == [(0, 4.0), (3, 3.0), (5, 2.0)]
    assert curve([]) == []

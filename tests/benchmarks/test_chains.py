"""The benchmark of contractions back to back: slices, resuming and figures, on a tiny network."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.chains import HEAD, NAMES, QUICK, ChainResults, entry_of, main, row
from benchmarks.models.table import CASES
from benchmarks.page import page
from benchmarks.peers.chain_subject import ours
from benchmarks.turns import chosen
from simulated_device import simulate
from tiny_network import save_tiny

from benchmarks import chains

APART, SHARED = ("unchained", "untuned_unchained"), ("median", "untuned")
SECONDS = {
    "tilewright": 1e-3,
    "unchained": 2e-3,
    "untuned": 2e-3,
    "untuned, unchained": 3e-3,
    "torch": 5e-3,
    "onnxruntime": 4e-3,
}


@pytest.mark.thorough
def test_a_case_is_tuned_and_all_sides_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "onnx"
    save_tiny(folder)
    save_tiny(folder, ours(CASES["tiny-b1"]))
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    tiny = replace(chains.SUITE, names=("tiny-b1",))
    batches = simulate(monkeypatch)
    file = tmp_path / "chains.json"
    words = ["--folder", str(folder), "--db", str(tmp_path / "c.db"), "--json", str(file)]
    words += ["--peers", "onnxruntime", "--rounds", "1", "--trials", "4"]
    assert main([*words, "--minutes", "0"], tiny) == 0 and not batches

    assert main(words, tiny) == 0
    found = json.loads(file.read_text())
    (entry,) = found["cases"]
    assert entry["case"] == "tiny-b1" and not found["failed"]
    assert not entry["chained"]
    ways = [[entry[f"{way}_s"] for way in both] for both in (APART, SHARED)]
    assert entry["ratio_unchained"] == min(ways[0]) / min(ways[1])
    assert entry["ratio_untuned"] == entry["untuned_unchained_s"] / entry["untuned_s"]
    assert entry["ratio_best_peer"] == entry["peers"]["onnxruntime"] / entry["median_s"]
    assert found["summary"]["chained"] == 0 and found["summary"]["cases"] == 1
    batches.clear()
    assert main(words, tiny) == 0 and not batches
    assert json.loads(file.read_text()) == found


def test_figures_of_a_case_and_of_all() -> None:
    results = ChainResults()
    results.put(entry_of("mlp-768-b128", True, SECONDS))
    results.put(entry_of("attention-512-b1", False, {**SECONDS, "unchained": 0.9e-3}))
    assert [e["case"] for e in results.sorted()] == ["attention-512-b1", "mlp-768-b128"]
    alone, chained = results.sorted()
    assert chained["ratio_unchained"] == 2 and chained["ratio_untuned"] == 1.5
    assert chained["ratio_best_peer"] == 4
    assert len(row(chained)) == len(row(alone)) == len(HEAD)
    assert row(chained)[1] == "shared" and row(alone)[1] == "apart"
    assert row(alone)[-3:] == ["0.90", "1.50", "4.00"]
    summary = results.summary()
    assert summary["chained"] == 1 and summary["geomean_where_chained"] == 2
    assert summary["geomean_unchained"] == pytest.approx((2 * 0.9) ** 0.5)
    worst = summary["worst_unchained"]
    assert worst == {"case": "attention-512-b1", "ratio": pytest.approx(0.9)}
    assert summary["same_program"] == pytest.approx([0.9, 0.9])
    assert summary["geomean_torch"] == pytest.approx(5)


@pytest.mark.parametrize(
    "worse, ratio",
    [
        ({"unchained": 9e-3}, 3),  # a search that ended badly is no gain of the other way
        ({"tilewright": 9e-3}, 1),
        ({"untuned": 9e-3, "untuned, unchained": 9e-3}, 2),
        ({"tilewright": 9e-3, "untuned": 9e-3}, 2 / 9),
    ],
)
def test_a_ways_figure_is_the_better_of_its_programs(worse: dict[str, float], ratio: float) -> None:
    entry = entry_of("mlp-768-b128", True, {**SECONDS, **worse})
    assert entry["ratio_unchained"] == pytest.approx(ratio)


def test_the_page_has_a_summary_and_a_table() -> None:
    results = ChainResults()
    origin = {"machine": "some CPU", "commit": "abc", "date": "2026-01-02T03:04:05+00:00"}
    results.head = {"machine": {}, "provenance": origin}
    results.put(entry_of("mlp-768-b128", True, SECONDS))
    text = page("chains", {"chains": results.to_json()})
    assert text.startswith("# Contractions back to back") and "- chained: 1" in text
    assert "- worst untuned: 1.50 (mlp-768-b128)" in text and "some CPU; commit abc" in text
    assert "| mlp-768-b128 | shared | 1 ms | 2 ms | 2 ms | 3 ms |" in text


def test_the_cases_are_those_of_the_paper_and_of_networks() -> None:
    assert len(NAMES) == 4 + 6 + 6 * 2 + 5 + 1
    assert set(NAMES) <= set(CASES)
    assert len(chosen(QUICK, NAMES)) == 5
    block = CASES["block-56-24-24-1-b16"]
    assert block.input_shapes() == {"x": (16, 24, 56, 56)}
    assert ours(block).input_shapes() == {"x": (16, 56, 56, 24)}
    assert CASES["gemms-256-64-16-b16384"].input_shapes() == {"x": (16384, 256)}

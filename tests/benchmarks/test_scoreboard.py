"""The scoreboard on a simulated device and a tiny network; its page, figure and first number."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.models.narrow import NARROW
from benchmarks.models.table import CASES
from benchmarks.page import page as results_page
from benchmarks.scoreboard import PARTS, main
from benchmarks.scoreboard_page import (
    MOST_LISTED,
    best_precisions,
    draw,
    first_number,
    page,
    shortfalls,
    summary,
)
from benchmarks.slices import Suite, begun, parsed
from simulated_device import simulate
from tiny_network import save_tiny

from benchmarks import chains, edges, load, networks, operators, scoreboard, shapes, start

SUITES: dict[str, Suite] = {
    "networks": networks.SUITE, "operators": operators.SUITE, "edges": edges.SUITE,
    "chains": chains.SUITE, "shapes": shapes.SUITE, "start": start.SUITE, "load": load.SUITE,
}  # fmt: skip


def test_a_whole_board_fits_three_hours() -> None:
    assert sum(part.minutes for part in PARTS.values()) <= 180
    tuned = sum(map(float, scoreboard.STAGES.split(",")[-1:])) * len(networks.TEN)
    assert PARTS["networks"].minutes > tuned


def test_parts_have_the_cases_that_they_are_said_to() -> None:
    counts = {"networks": 10, "operators": 24, "edges": 12, "chains": 5, "shapes": 9, "start": 3}
    counts |= {"load": 9}
    for name, suite in SUITES.items():
        for words in (PARTS[name].words, PARTS[name].quick):
            names, _ = begun(parsed([*words, "--peers", ""], suite), suite)
            assert names and (words is PARTS[name].quick or len(names) == counts[name])
    narrow = {NARROW[name].kind for name in scoreboard.NARROW_CASES}
    assert narrow == {"bfloat16", "qdq"} and set(networks.TEN) <= set(CASES)


TINY = {
    "networks": ["--cases", "tiny-b1", "--stages", "9,18", "--trials", "4"],
    "native": ["--cases", "GMM-128-128-128:bytes", "--trials", "4"],
    "operators": ["--cases", "GMM-0-b1", "--trials", "4"],
    "load": ["--cases", "tiny-b1:1:0", "--seconds", "0.01", "--calls", "1"],
    "search_speed": ["--cases", "trials", "--trials", "4"],
}  # fmt: skip


@pytest.mark.thorough
def test_a_quick_board_is_made_in_slices_and_never_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save_tiny(tmp_path / "onnx")
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    batches = simulate(monkeypatch)
    alone = ["--peers", "onnxruntime", "--rounds", "1"]
    parts = {name: replace(PARTS[name], quick=[*words, *alone]) for name, words in TINY.items()}
    loaded = replace(PARTS["load"].suite, names=("tiny-b1:1:0",))
    parts["load"] = replace(parts["load"], suite=loaded)
    file = tmp_path / "board.json"
    words = ["--quick", "--json", str(file), "--folder", str(tmp_path / "dbs")]
    words += ["--networks", str(tmp_path / "onnx")]
    assert main([*words, "--minutes", "0"], parts) == 1 and not batches

    monkeypatch.setattr(operators.SUITE.bench_of, "case", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(words, parts)
    first = json.loads(file.read_text())
    assert list(first["parts"]) == ["networks", "native"], "what was measured is kept"
    monkeypatch.undo()
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    batches = simulate(monkeypatch)
    assert main(words, parts) == 0
    found = json.loads(file.read_text())
    assert list(found["parts"]) == list(TINY)
    assert found["parts"]["networks"] == first["parts"]["networks"]
    assert all(len(part["cases"]) >= 1 and not part["failed"] for part in found["parts"].values())
    assert found["summary"]["operators"]["cases"] == 1
    text = capsys.readouterr().out
    assert "operators: " in text and "load: at 95 %" in text
    assert "| tiny-b1 |" in page(found, {})

    batches.clear()
    assert main(words, parts) == 0 and not batches
    assert json.loads(file.read_text()) == found
    assert main([w for w in words if w != "--quick"], parts) == 1
    (refusal,) = capsys.readouterr().err.splitlines()
    assert "is of budget quick and this is whole: remove it" in refusal
    found["provenance"]["machine"] = "another"
    file.write_text(json.dumps(found))
    assert main(words, parts) == 1
    assert "is of machine another and this is" in capsys.readouterr().err


# ---- the page -----------------------------------------------------------------------------------


def network(name: str, ours: float, **facts: Any) -> dict[str, Any]:
    seconds = {"untuned": 2.0, "after 3 min": 1.8, "after 10 min": ours, "torch": 4.0}
    seconds |= {"openvino": 1.5, "openvino by default": 0.9}
    costs = {"import_s": 1.0, "compile_s": 2.0, "peak_memory_mib": 30.0, "weights_mib": 10.0}
    facts = {**costs, "activations_mib": 5.0, "tuning_minutes": 10.0, "match": {}, **facts}
    return networks.entry_of(name, seconds, ["after 3 min", "after 10 min"], **facts)


def narrow(name: str, ours: float, peer: float, wrong: list[str]) -> dict[str, Any]:
    entry = {"case": name, "network": True, "median_s": ours, "untuned_s": ours, "wrong": wrong}
    ratio = None if wrong else peer / ours
    return {**entry, "peers": {"openvino": peer}, "ratio_best_peer": ratio, "ratio_untuned": ratio}


def board(cases: int = 1) -> dict[str, Any]:
    """Made up: networks, and operators of which all fall short."""
    slow = [
        operators.entry_of(f"GMM-{i}-b1", {"tilewright": 2.1, "untuned": 2.0, "torch": 1.0}, 10)
        for i in range(cases)
    ]
    times = {"median_s": 1.0, "p95_s": 1.0, "p99_s": 1.0, "worst_s": 1.0, "calls": 9}
    sides = {"tilewright": {**times, "p95_s": 2.0}, "onnxruntime": times}
    what = {name: {"wall_s": 0.5, "memory_bytes": 1e6} for name in start.WHAT}
    parts = {
        "networks": [network("resnet50-b1", 1.0), network("gpt2-b1", 2.5)],
        "native": [narrow("resnet50-b1:bfloat16", 0.5, 0.6, []),
                   narrow("resnet50-b1:qdq", 0.4, 0.1, ["openvino"])],
        "operators": slow,
        "load": [load.entry_of("resnet50-b1:2:0", sides, "tilewright")],
        "start": [{"case": "resnet50-b1", "taken": what}],
        "search_speed": [{"case": "trials", "seconds_per_trial": 0.1, "shares": {}},
                         {"case": "GMM-2-b1", "candidates_per_s": 9e4}],
    }  # fmt: skip
    found = {name: {"cases": entries, "failed": {}} for name, entries in parts.items()}
    origin = {"machine": "some CPU", "commit": "abc", "date": "2026-01-02T03:04:05+00:00"}
    return {"provenance": origin, "parts": found, "summary": summary(found)}


def test_the_page_begins_with_networks_and_says_where_it_falls_short() -> None:
    text = page(board(), {"edges": "results/edges.md"})
    assert "some CPU; commit abc" in text and "[edges](results/edges.md)" in text
    assert text.index("## Networks") < text.index("## Where it falls short")
    assert (
        "| resnet50-b1 | 2 s | 1.80 s | 1 s | 1.50 s openvino | 1.50 | 500 ms | 400 ms | 1.50 |"
        in text
    )
    assert "| gpt2-b1 | 2 s | 1.80 s | 2.50 s* |" in text, "slower than untuned is marked"
    assert "| GMM-0-b1 | operators | 0.48 |" in text
    assert "slower than untuned: GMM-0-b1" in text
    assert "in 0 of 1 cells, the worst 0.50" in text


def test_a_board_has_a_page_with_every_case() -> None:
    found = board()
    found["parts"]["operators"]["cases"][0]["trials"] = 128
    for entry in found["parts"]["networks"]["cases"]:
        entry["trials"] = 500
    del found["parts"]["native"]
    text = results_page("scoreboard", {"scoreboard": found})
    assert text.startswith("# The scoreboard") and "## operators" in text
    assert "| GMM-0-b1 | 2.10 s | 2 s | 1 s |" in text and "| resnet50-b1 | 1 s |" in text


def test_the_best_precisions_are_compared() -> None:
    parts = board()["parts"]
    assert best_precisions(parts) == {
        "resnet50-b1": {"ours_s": 0.4, "peer_s": 0.6, "ratio": pytest.approx(1.5)}
    }
    assert summary(parts)["best precision"]["worst"]["ratio"] == pytest.approx(1.5)
    assert summary(parts)["networks"]["slower_than_untuned"] == ["gpt2-b1"]
    assert next(case for _, _, case in shortfalls(parts)) == "GMM-0-b1"


def test_the_page_fits_a_sitting_however_much_falls_short() -> None:
    found = board(cases=2 * MOST_LISTED)
    names = [name for name in networks.TEN if name != "resnet50-b1"]
    found["parts"]["networks"]["cases"] += [network(name, 1.0) for name in names]
    text = page(found, {name: f"results/{name}.md" for name in SUITES})
    assert len(text.split()) <= 1500 and "more are on [its page]" in text


def test_the_first_number_is_the_networks() -> None:
    text = first_number(board())
    assert "ResNet-50, one image, some CPU: **1 s**" in text and "1.50 s in openvino" in text
    assert "make demo" in first_number(None)


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    png, svg = draw(board(), tmp_path)
    assert png.read_bytes().startswith(b"\x89PNG") and "<svg" in svg.read_text()

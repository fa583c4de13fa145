"""The pages of results: what benchmarks/results holds is what they say; every figure has a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.commit import number_of, origins
from benchmarks.page import FOLDER, PAGE, README, SCOREBOARD, SCRIPTS, page, pages
from benchmarks.papers import GPU, PAPERS, row
from benchmarks.provenance import RESULTS
from benchmarks.report import budgets, figure, mixture, told

ORIGIN = {"machine": "some CPU, 2 threads", "commit": "abc", "date": "2026-01-02T03:04:05+00:00"}
COMMITTED = {f.stem: json.loads(f.read_text()) for f in RESULTS.glob("*.json")}
needs_history = pytest.mark.skipif(
    number_of("HEAD") is None, reason="commits are numbered by git's whole history"
)


@needs_history
def test_the_pages_in_the_repository_are_those_of_its_results() -> None:
    written = pages()
    for file, text in written.items():
        assert file.read_text(encoding="utf-8") == text, "run python -m benchmarks.page"
    assert set(FOLDER.glob("*.md")) <= set(written)
    known = {SCOREBOARD, *SCRIPTS, *(stem for more in SCRIPTS.values() for stem in more)}
    assert set(COMMITTED) <= known


@needs_history
@pytest.mark.parametrize("name", COMMITTED)
def test_results_are_of_commits_of_this_repository(name: str) -> None:
    found = origins(COMMITTED[name])
    assert found and all(number_of(one.commit) for one in found)


def test_performance_fits_a_sitting() -> None:
    assert len(PAGE.read_text(encoding="utf-8").split()) <= 1500


def test_without_results_there_are_no_figures(tmp_path: Path) -> None:
    found = pages(tmp_path)
    assert set(found) == {PAGE, README, FOLDER / "papers.md"}
    assert "There is no scoreboard" in found[PAGE] and "##" not in found[PAGE]
    assert "`make demo` says it of your machine" in found[README]
    assert "number" not in found[FOLDER / "papers.md"]


def test_a_file_of_several_commits_or_machines_says_so() -> None:
    head = {"machine": "a CPU", "commit": "abc"}
    assert mixture(head) == mixture({"provenance": head, "cases": [{"commit": "abc"}]}) == ""
    two = mixture({"provenance": head, "cases": [{"commit": c} for c in ("abc", "def", "def")]})
    assert "mixes commits**" in two
    assert two.index("2 of a CPU, commit def") < two.index("1 of a CPU, commit abc")
    moved = {"provenance": head, "cases": [{"commit": "abc"}, {**head, "machine": "another"}]}
    assert "mixes commits and 2 machines**" in mixture(moved)


def test_budgets_that_differ_are_said() -> None:
    assert budgets([{}]) == ""
    assert budgets([{"trials": 128}] * 3) == "Every case has 128 trials."
    several = [{"trials": 64}, {"trials": 128}, {"trials": 64}]
    assert budgets(several) == "**Budgets differ**: of trials 2 cases 64, 1 cases 128."


def test_a_summary_is_a_list_and_tables() -> None:
    worst = {"case": "a", "ratio": 0.5}
    by_kind = {"bytes": {"cases": 2, "worst": worst}, "int32": {"cases": 1, "mean": 2.0}}
    table, lines = told(
        {"cases": 3, "worst": worst, "none": None, "kinds": by_kind, "groups": {"x": 1.5}}
    )
    assert lines == "- cases: 3\n- worst: 0.50 (a)\n- groups: x 1.50"
    assert list(table[0]) == ["kinds", "cases", "worst", "mean"]
    assert table[1] == [["bytes", "2", "0.50 (a)", "–"], ["int32", "1", "–", "2.00"]]
    assert figure([0.9, 1.1]) == "0.90 to 1.10" and figure(["a", "b"]) == "a, b"


def test_a_page_says_how_its_script_measures_and_what_each_file_holds() -> None:
    entry = {"case": "GMM-2-b1", "median_s": 1e-3, "peers": {"torch": 2e-3}, "trials": 70}
    entry |= {"ratio_best_peer": 2.0, "gflops": 100.0}  # of an older file: without untuned
    content = {"provenance": ORIGIN, "cases": [entry], "failed": {"TBS-0-b1": "died"}}
    text = page("operators", {"operators": content, "operators_avx2": content})
    assert text.startswith("# The published operators and subgraphs")
    assert "    python -m benchmarks.operators" in text and text.count("## operators") == 2
    assert "some CPU, 2 threads; commit abc (not in this repository); 2026-01-02." in text
    assert "| GMM-2-b1 | 1 ms | – | 2 ms |" in text and "Failed: TBS-0-b1: died" in text


def test_pages_of_searches_read_their_files() -> None:
    accuracy = {"programs": 9, "rmse": 0.1, "r2": 0.9, "pairwise": 0.8}
    curve = {"median": [1.0, 2.0], "runs": [{"curve": [1.0, 4.0], "confirmed": 3.0}]}
    found: dict[str, Any] = {
        "ablation": {"case": "GMM", "variants": {"full": curve}},
        "cost_model": {
            "programs": 9,
            "tasks": 2,
            "train_s": 0.5,
            "figure_11": {"random 20 %, all": accuracy},
            "figure_3": [{"completion": 0.5, "pairwise": 0.6, "recall@10": 0.3}],
        },
        "cluster": {"summary": {"busy": {"8": 0.97}, "two_nodes_speedup": 1.9}},
    }
    lines = [
        line
        for name, content in found.items()
        for line in page(name, {name: {**ORIGIN, **content}}).splitlines()
    ]
    for line in (
        "| full | 1 | 2 | 3 (3 to 3) |",
        "| random 20 %, all | 9 | 0.100 | 0.900 | 0.800 |  |  |  |",
        "| 50% | 0.600 | 0.300 |",
        "- busy: 8 0.97",
        "- two nodes speedup: 1.90",
    ):
        assert line in lines


PAIR = {
    side: {"throughput": t, "trials": 12}
    for side, t in {"reuse": 0.97, "search": 0.88, "topk": 0.9, "default": 0.8}.items()
}
LISTED = {**PAIR, "all": {"throughput": 0.99, "trials": 200, "expected": 300.0}}
OWN = {"trials": 256, "seconds": 80.0, "throughput": 1.0, "needed": 256}
REUSE = {"trials": 64, "seconds": 20.0, "throughput": 0.98, "needed": 128}
PLACE = {"target": "cpu:any", "simulated": False, "provenance": ORIGIN}
ON_REUSE: dict[str, Any] = {
    "reuse_pairs": {
        **PLACE,
        "pairs": {"a < b": {"type": "C2D", **LISTED}, "c < d": {"type": "DEP", **PAIR}},
    },
    "reuse_sets": {
        **PLACE,
        "search": 128,
        "sets": {
            "BERT-Base": {
                "operators": {"a": {}, "b": {}},
                "sides": {"own": OWN, "reuse": REUSE, "search": {**REUSE, "throughput": 0.99}},
            }
        },
    },
}


def test_pages_of_reuse_read_their_files() -> None:
    lines = [
        line
        for name, content in ON_REUSE.items()
        for line in page(name, {name: content}).splitlines()
    ]
    for line in (
        "| C2D | 1 | 0.970 | 0.880 | 0.900 | 0.990 | 0.800 | 12 | 200 | 0.970 |",
        "| DEP | 1 | 0.970 | 0.880 | 0.900 |  | 0.800 | 12 |  |  |",
        "The published planner expected 1.50 of what *all* measured on average, 1.50 to 1.50, in 1 "
        "pairs.",
        "| BERT-Base | 2 | reuse | 0.980 | 64 | 4.0 | 128 | 20 |",
        "| geometric mean |  | reuse | 0.980 |  | 4.0 | × 2.0 | ÷ 4.0 |",
        "In the geometric mean reuse reaches 0.980 of the throughput by 4.0 times fewer trials in "
        "4.0 times less time.",
        "A search of as many trials is ahead of reuse in 1 of 1 sets.",
    ):
        assert line in lines


def test_the_papers_have_a_row_for_every_figure() -> None:
    where = {name[: name.index(" ")]: [c.where for c in claims] for name, claims in PAPERS.items()}
    assert {f"figure {n}" for n in (5, 7, 8, 9, 10)} <= set(where["ETO"])
    assert {f"table {n}" for n in range(1, 7)} <= set(where["Bolt"])
    assert {f"figure {n}" for n in range(16, 23)} == set(where["Hidet"])
    told_there = " ".join(where["Ansor"])
    assert all(f"{n}" in told_there for n in range(3, 12))


def test_a_claim_reads_its_file_or_says_what_is_lacking() -> None:
    claims = {(name.split()[0], c.where): c for name, of in PAPERS.items() for c in of}
    estimates = row(claims["ETO", "figure 5"], ON_REUSE)
    assert estimates[4] == "1.50 (1.50 to 1.50) in 1 pairs"
    assert estimates[5:] == ["some CPU, 2 threads", "abc (not in this repository)"]
    assert row(claims["ETO", "figure 10"], ON_REUSE)[4] == "4.0 to 4.0 times less time in 1 sets"
    assert row(claims["ETO", "figure 5"], {})[4:] == ["not measured", "", ""]
    assert row(claims["Bolt", "table 2"], {})[4] == GPU
    entry = {"case": "gpt2-b1", "ratio_best_peer": 1.5, "match": {}}
    board = {"provenance": ORIGIN, "parts": {"networks": {"cases": [entry]}}}
    (ours,) = row(claims["Ansor", "figure 9, CPU"], {"scoreboard": board})[4:5]
    assert ours == "1.50 of the best library in the geometric mean of 1, at least 1.50 (gpt2-b1)"

"""docs/performance.md says what benchmarks/results holds; every kind of result has a section."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.commit import number_of, origins
from benchmarks.comparison import Results, entry_of
from benchmarks.page import PAGE, SECTIONS, page
from benchmarks.page_words import budgets, mixture
from benchmarks.provenance import RESULTS
from benchmarks.reuse_ranges import RANGES
from benchmarks.reuse_sets import summary as sets_summary

from benchmarks import chains, edges, networks, profiler, reuse_sets

ORIGIN = {"machine": "some CPU, 2 threads", "commit": "abc", "date": "2026-01-02T03:04:05+00:00"}


COMMITTED = {f.stem: json.loads(f.read_text()) for f in RESULTS.glob("*.json")}
needs_history = pytest.mark.skipif(
    number_of("HEAD") is None, reason="commits are numbered by git's whole history"
)


@needs_history
def test_the_page_in_the_repository_is_that_of_its_results() -> None:
    assert PAGE.read_text() == page(), "run python -m benchmarks.page"
    assert set(COMMITTED) <= set(SECTIONS)


@needs_history
@pytest.mark.parametrize("name", COMMITTED)
def test_results_are_of_commits_of_this_repository(name: str) -> None:
    found = origins(COMMITTED[name])
    assert found and all(number_of(one.commit) for one in found)


@pytest.mark.parametrize(
    "name, summary",
    [
        ("chains", chains.ChainResults),
        ("prologues", chains.ChainResults),
        ("edges", edges.EdgeResults),
        ("networks", networks.NetworkResults),
        ("operators_avx2", Results),
        ("profiler", profiler.summary),
        ("reuse_sets", reuse_sets.summary),
    ],
)
def test_summaries_are_those_of_the_cases_beside_them(name: str, summary: Any) -> None:
    found = COMMITTED[name]
    made = summary(found) if "cases" not in found else summary.read(RESULTS / f"{name}.json")
    again = made.summary() if isinstance(made, Results) else made
    assert rounded(again) == rounded(found["summary"])


def rounded(summary: Any) -> Any:
    return json.loads(json.dumps(summary), parse_float=lambda digits: round(float(digits), 9))


def test_without_results_there_are_no_figures(tmp_path: Path) -> None:
    text = page(tmp_path)
    assert "##" not in text
    assert all(f"`{name}`" in text for name in SECTIONS)


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
    assert budgets([{"trials": 128}] * 3) == "Every case has 128 trials. "
    several = [{"trials": 64}, {"trials": 128}, {"trials": 64}]
    assert budgets(several) == "**Budgets differ**: of trials 2 cases 64, 1 cases 128. "


def test_operators_show_ratios_verdict_and_curve(tmp_path: Path) -> None:
    results = Results(tmp_path / "operators.json")
    results.head = {
        "machine": {},
        "ceilings": {"fma_flops": 4e11, "call_s": 1e-6},
        "provenance": ORIGIN,
    }
    for case, ours, peer in (("GMM-2-b1", 1e-3, 2e-3), ("TBS-0-b1", 1e-3, 0.5e-3)):
        facts: dict[str, Any] = {"trials": 70, "curve": [(0, 4e-3), (16, 2e-3), (65, 1e-3)]}
        results.put(entry_of(case, {"us": ours, "torch": peer}, "us", 10**8, 5e-4, **facts))
    results.write()
    text = page(tmp_path)
    rows = {line.split(" |")[0].removeprefix("| "): line for line in text.splitlines()}
    assert "commit abc (not in this repository); 2026-01-02" in text and "400 GFLOP/s" in text
    assert "2.00" in rows["operators"] and "0.50" in rows["subgraphs"]
    # untuned, after 16 and 64 trials, after all
    assert rows["GMM-2-b1"].endswith("| 70 | 25.0 | 50.0 | 50.0 | 100.0 |")
    assert "Of 1 operators, 1 are" in text and "Of 1 subgraphs, 0 are" in text
    assert "TBS-0-b1 (0.50)" in text


def test_the_other_sections_read_their_benchmarks_files(tmp_path: Path) -> None:
    run = {"best_s": [2e-3, 1e-3]}
    original = {"machine": "another CPU", "trials": 120, "best_s": 3e-3}
    original |= {"seconds_per_trial": 3.5, "ours_s": 1e-3}
    case = {"runs": [run] * 3, "flops": 10**8, "original": original}
    case["median"] = {"seconds_per_trial": 0.1, "best_s": 1e-3, "part_s": {"0.5": 20, "0.95": 80}}
    accuracy = {"programs": 9, "rmse": 0.1, "r2": 0.9, "pairwise": 0.8}
    found: dict[str, Any] = {
        "convergence": {"cases": {"GMM, 200 trials": case}},
        "search_speed": {
            "candidates_per_s": {"GMM": 9e4},
            "seconds_per_trial": 0.1,
            "shares": {"run": 0.6},
        },
        "ablation": {
            "case": "GMM",
            "variants": {
                "full": {"median": [1.0, 2.0], "runs": [{"curve": [1.0, 4.0], "confirmed": 3.0}]}
            },
        },
        "cost_model": {
            "programs": 9,
            "tasks": 2,
            "train_s": 0.5,
            "figure_11": {"random 20 %, all": accuracy},
            "figure_3": [{"completion": 0.5, "pairwise": 0.6, "recall@10": 0.3}],
        },
        "call_overhead": {"functions": {"sum": {"kernel_us": 1, "beyond_us": {"fn(x)": 3.25}}}},
        "onnx_conformance": {
            "onnx": "1.0",
            "goals": {
                "node": {
                    "of": 8,
                    "passed": 7,
                    "share": 0.875,
                    "goal": 0.85,
                    "given_constants": 2,
                    "folded": 1,
                }
            },
            "kinds": {"node": {"passed": 7, "failed": 1, "unsupported": 2}},
            "not_passed": [
                {"kind": "node", "operator": "Det", "excluded": ""},
                {"kind": "node", "operator": "If", "excluded": "control flow operator"},
            ],
        },
    }
    tuned = {"trials": 400, "tasks": 20, "seconds": 100.0}
    found["profiler"] = {
        "provenance": ORIGIN,
        "networks": {"n-b1": {"sides": {"profile": tuned}, "seconds": {}}},
    }
    speeds = {"seconds": 0.02, "untuned_s": 0.025, "first_s": 0.018}
    found["repvgg"] = {"provenance": ORIGIN, "networks": {"repvgg-a0-gelu-b1": speeds}}
    times = {"median_s": 1e-3, "p95_s": 2e-3, "p99_s": 3e-3, "worst_s": 4e-3, "calls": 200}
    sides = {"untuned": times, "onnxruntime": {**times, "median_s": 2e-3}}
    cost = {"median_us": 1.0, "p95_us": 2.0}
    found["load"] = {
        "provenance": ORIGIN,
        "cases": [{"case": "n-b1, 2 loops, 0 ms", "commit": "def", "sides": sides}],
        "machine": {"parallel_call": {"hot": cost, "rested": cost}},
    }
    for name, content in found.items():
        head = {} if "provenance" in content else ORIGIN
        (tmp_path / f"{name}.json").write_text(json.dumps({**head, **content}))
    lines = page(tmp_path).splitlines()
    for row in (
        "| GMM, 200 trials | 3 | 0.100 | 50 | 100 | 20 | 80 |",
        "| GMM, 200 trials | 120 | another CPU | 3 ms | 3.50 | 1 ms | some CPU, 2 threads "
        "| 0.100 |",
        "| full | 0.250 | 0.500 | 3.0 (3.0 to 3.0) |",
        "| random 20 %, all | 9 | 0.100 | 0.900 | 0.800 |  |  |  |",
        "| 50% | 0.600 | 0.300 |",
        "| sum | 1.00 | 3.25 |",
        "| n-b1 | 20 | 400 | 100 |  |  |  |  |  |  |",
        "| 4 | repvgg-a0-gelu-b1 | 50.0 | 40.0 | 0.900 | 0.955 |",
        "| n-b1, 2 loops, 0 ms | untuned | 1 ms | 2 ms | 3 ms | 4 ms | 0.50 1.00 1.00 | 200 |",
        "- untuned: median at most onnxruntime's: met in all 1 cells",
        "- a parallel call costs at most 5 µs hot: met (1.0 µs; 95 %: 2.0 µs)",
        "| node | 8 | 7 | 87.5% | 85% | 2 | 1 |",
        "| node | 7 | 1 | 2 |",
        "Counted node cases that do not pass: Det (1).",
    ):
        assert row in lines


def test_sections_of_reuse_read_their_benchmarks_files(tmp_path: Path) -> None:
    throughputs = {"reuse": 0.97, "search": 0.88, "topk": 0.9, "default": 0.8}
    pair = {side: {"throughput": t, "trials": 12} for side, t in throughputs.items()}
    listed = {**pair, "all": {"throughput": 0.99, "trials": 200, "expected": 300.0}}
    per_range = dict.fromkeys(RANGES, 0.5)
    shares = {"pairs": 4, "held": per_range, "kept": per_range}
    own = {"trials": 256, "seconds": 80.0, "throughput": 1.0, "needed": 256}
    reuse = {"trials": 64, "seconds": 20.0, "throughput": 0.98, "needed": 128}
    sides = {"own": own, "reuse": reuse, "search": {**reuse, "throughput": 0.99}}
    a_set = {"operators": {"a": {}, "b": {}}, "sides": sides}
    place = {"target": "cpu:any", "simulated": False}
    sets = {**place, "search": 128, "sets": {"BERT-Base": a_set}}
    seconds = {"reuse": 1e-3, "search": 2e-3, "untuned": 4e-3}
    networks = {"sides": {"reuse": reuse, "search": own}, "networks": {"bert": seconds}}
    found: dict[str, Any] = {
        "reuse_pairs": {
            **place,
            "pairs": {"a < b": {"type": "C2D", **listed}, "c < d": {"type": "DEP", **pair}},
        },
        "reuse_ranges": {"operators": 9, "types": {"C2D": {"all": shares}}},
        "reuse_sets": {**sets, "summary": sets_summary(sets)},
        "reuse_networks": {"experiments": {"lengths": networks}},
    }
    for name, content in found.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"provenance": ORIGIN, **content}))
    text = page(tmp_path)
    lines = text.splitlines()
    where = "some CPU, 2 threads; commit abc (not in this repository); 2026-01-02."
    assert text.count(where) == len(found)
    for row in (
        "| C2D | 1 | 0.970 | 0.880 | 0.900 | 0.990 | 0.800 | 12 | 200 | 0.970 |",
        "| DEP | 1 | 0.970 | 0.880 | 0.900 |  | 0.800 | 12 |  |  |",
        "The published planner expected 1.50 of what *all* measured on average, 1.50 to 1.50, in 1 "
        "pairs.",
        "| C2D | all | 4 | 50 / 50 | 50 / 50 | 50 / 50 | 50 / 50 | 50 / 50 | 50 / 50 | 50 / 50 |",
        "| BERT-Base | 2 | reuse | 0.980 | 64 | 4.0 | 128 | 20 |",
        "| geometric mean |  | reuse | 0.980 |  | 4.0 | × 2.0 | ÷ 4.0 |",
        "In the geometric mean reuse reaches 0.980 of the throughput by 4.0 times fewer trials in "
        "4.0 times less time; search reaches 0.990 of the throughput by 4.0 times fewer trials in "
        "4.0 times less time.",
        "A plain search of as many trials is ahead of reuse in 1 of 1 sets:",
        "| BERT-Base | 2 | 64 | 0.980 | 0.990 | search |",
        "| lengths, trials |  | 256 | 64 | 4.00 |",
        "| bert | 4 ms | 2 ms | 1 ms | 2.000 |",
    ):
        assert row in lines

"""Sets of operators on a simulated device: slices, resuming, figures made up by hand."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from benchmarks.cases import Case, conv2d
from benchmarks.deadline import Deadline
from benchmarks.operator_sets import SETS, Entry
from benchmarks.reuse_records import task_of
from benchmarks.reuse_sets import (
    Foreseen,
    head,
    known_as,
    main,
    needed,
    rows,
    summary,
    throughput,
)
from simulated_device import simulate

from benchmarks import reuse_sets

SEARCH = 16
STOP = 8  # times that the time is looked at
SIDES = ["own", "reuse", "search", "selective"]


def entry(channels: int, frequency: int = 1, size: int = 8) -> Entry:
    shape = (size, size, channels, 16, 1, 1, 0)
    name = f"tiny-{size}x{channels}"
    return Entry(name, Case(name, "C2D", shape, 1, conv2d), frequency)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the benchmark of a set of two; what its file holds then."""
    tiny = {"tiny": [entry(16), entry(32, 3)]}
    monkeypatch.setattr(reuse_sets, "QUICK", tiny)
    monkeypatch.setattr(reuse_sets, "QUICK_SEARCH", SEARCH)
    file = tmp_path / "sets.json"

    def run(*more: str) -> Any:
        words = ["--quick", "--folder", str(tmp_path / "dbs"), "--json", str(file), *more]
        monkeypatch.setattr("sys.argv", ["reuse_sets", *words])
        assert main() == 0
        return json.loads(file.read_text()) if file.exists() else None

    return run


@pytest.mark.thorough
def test_a_set_is_searched_and_measured_once(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = simulate(monkeypatch)
    assert run("--minutes", "0") is None and not batches

    looks = iter(range(STOP))
    passed = property(lambda _: next(looks, None) is None)
    with monkeypatch.context() as clock:
        clock.setattr(Deadline, "passed", passed)
        begun = run()["sets"]["tiny"]
    assert list(begun["sides"]) == ["own"] and not begun["operators"], "stopped while reusing"

    found = run()
    one = found["sets"]["tiny"]
    assert list(one["sides"]) == [*SIDES, "default"]
    assert one["sides"]["own"]["trials"] == 2 * SEARCH
    assert one["sides"]["reuse"]["trials"] == SEARCH + 12 == one["sides"]["search"]["trials"]
    assert one["sides"]["own"]["throughput"] == 1.0
    assert all(one["sides"][side]["seconds"] > 0 for side in SIDES)
    assert {o["frequency"] for o in one["operators"].values()} == {1.0, 3.0}
    assert found["summary"]["fewer_trials"] == pytest.approx(2 * SEARCH / (SEARCH + 12))
    assert found["summary"]["throughput"] == pytest.approx(one["sides"]["reuse"]["throughput"])
    batches.clear()
    assert run()["sets"] == found["sets"]
    assert not batches

    more = run("--bridges", "all")["sets"]["tiny"]
    assert list(more["sides"]) == [*SIDES, "default", "bridges all"]
    plan = more["sides"]["bridges all"]["plan"]
    assert plan["reuses"] == 0 or plan["spent"] > 0
    assert "bridges all" in run()["summary"]["sides"]


def test_an_operator_is_searched_once_for_all_sets() -> None:
    names = {name: [known_as(e.case).name for e in members] for name, members in SETS.items()}
    assert set(names["ResNet50"]) < set(names["ResNet50-L"])
    assert set(names["BERT-Base"]) < set(names["BERT-L"])
    for members in SETS.values():
        assert len({known_as(e.case).name for e in members}) == len(members)
        for one in members:
            case, same = one.case, known_as(one.case)
            assert (same.make, same.batch, same.shape) == (case.make, case.batch, case.shape)


def test_throughput_counts_an_operator_as_often_as_it_runs() -> None:
    operators = {
        "a": {"frequency": 3.0, "seconds": {"own": 1.0, "reuse": 2.0}},
        "b": {"frequency": 1.0, "seconds": {"own": 5.0, "reuse": 2.0}},
    }
    assert throughput({"operators": operators}, "reuse") == pytest.approx(8 / 8)
    operators["a"]["frequency"] = 1.0
    assert throughput({"operators": operators}, "reuse") == pytest.approx(6 / 4)


def test_search_is_replayed_until_it_is_as_fast() -> None:
    tasks = [task_of(entry(c).case, f) for c, f in ((16, 1.0), (32, 3.0))]
    curves = [[(0, 2.0), (3, 1.0)], [(0, 2.0), (12, 1.0)]]
    assert needed(tasks, curves, SEARCH, 0.5) == 0
    # one task is at its best after 4 trials, the other after 12
    assert needed(tasks, curves, SEARCH, 4 / 7) <= 12
    assert 16 <= needed(tasks, curves, SEARCH, 1.0) <= 2 * SEARCH
    assert needed(tasks, curves, SEARCH, 1.01) == 2 * SEARCH, "never"


def test_the_summary_is_of_complete_sets() -> None:
    own = {"trials": 256, "seconds": 80.0, "throughput": 1.0, "needed": 256}
    cost = {"trials": 64, "seconds": 20.0, "throughput": 0.98, "needed": 128}
    whole = {"operators": {"a": {}, "b": {}}, "sides": {"own": own, "reuse": cost}}
    begun = {"operators": {"a": {}}, "sides": {"own": {"trials": 128, "seconds": 1.0}}}
    results = {"search": 128, "sets": {"whole": whole, "begun": begun}}
    found = summary(results)
    assert found["complete"] == 1
    figures = {key: found[key] for key in cost.keys() & found.keys()}
    assert figures == {"throughput": pytest.approx(0.98)}
    assert found["fewer_trials"] == pytest.approx(4.0) == found["less_time"]
    assert found["fewer_at_equal"] == pytest.approx(2.0)
    assert ["whole", "2", "reuse", "0.980", "64", "4.0", "128", "20"] in rows(results)
    assert len(head(results)) == 8
    plan = asdict(Foreseen(10, 2, 3, 4, 448, 293, 310))
    whole["sides"]["bridges 1"] = {**cost, "plan": plan}
    line = ["whole", "2", "bridges 1", "0.980", "64", "4.0", "128", "20", "2 of 10", "293", "310"]
    assert line in rows(results)
    assert {len(line) for line in rows(results)} == {len(head(results))} == {11}
    assert summary({"search": 128, "sets": {}}) == {"complete": 0, "sides": {}}

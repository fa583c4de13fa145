"""Convergence on a simulated device: its figures, its resume, the original beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.cases import CASES, Case, conv2d
from simulated_device import simulate

from benchmarks import convergence

TINY = Case("tiny", "C2D", (4, 4, 8, 16, 3, 1, 1), 1, conv2d)
INF = float("inf")


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.setitem(CASES, "tiny", TINY)
    return simulate(monkeypatch)


def run(folder: Path, file: Path, *more: str) -> int:
    command = ["--seeds", "2", "--folder", str(folder), "--json", str(file), *more]
    return convergence.main(command)


def test_best_so_far_ignores_failures() -> None:
    assert convergence.best_so_far([None, 3.0, 4.0, None, 2.0]) == [INF, 3.0, 3.0, 3.0, 2.0]


def test_parts_of_the_gain_are_dated_by_the_first_trial_that_reaches_them() -> None:
    best, at = [10.0, 8.0, 6.0, 6.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0]
    assert convergence.reached(best, at, 0.5) == 3.0
    assert convergence.reached(best, at, 0.95) == 5.0
    assert convergence.reached([7.0, 7.0], [1.0, 2.0], 0.95) == 1.0
    assert convergence.reached([INF, 7.0, 5.0], [1.0, 2.0, 3.0], 0.5) == 3.0


def test_every_seed_has_its_figures_and_is_not_run_twice(
    tmp_path: Path, batches: list[int]
) -> None:
    file = tmp_path / "c.json"
    assert run(tmp_path, file, "--case", "tiny", "--trials", "12") == 0
    assert sum(batches) == 2 * 14
    found = json.loads(file.read_text())
    (case,) = found["cases"].values()
    assert found["commit"] and [r["seed"] for r in case["runs"]] == [0, 1]
    for one in case["runs"]:
        # the simulated device may turn the default program down
        assert len(one["best_s"]) == 13 and INF > one["best_s"][-1] <= one["best_s"][0]
        assert one["at_s"] == sorted(one["at_s"]) and one["at_s"][0] > 0
        assert one["part_s"]["0.5"] <= one["part_s"]["0.95"] <= one["at_s"][-1]
        assert sum(one["shares"].values()) == pytest.approx(1)
    run(tmp_path, file, "--case", "tiny", "--trials", "12")
    assert sum(batches) == 2 * 14 and json.loads(file.read_text())["cases"] == found["cases"]


def test_the_original_stands_beside_ours_at_its_own_number_of_trials(
    tmp_path: Path, batches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convergence, "ORIGINAL", {"tiny": (2e-3, 10.0, 5)})
    monkeypatch.setattr(convergence, "ORIGINAL_TRIALS", 9)
    run(tmp_path, tmp_path / "c.json", "--original")
    case = json.loads((tmp_path / "c.json").read_text())["cases"]["tiny, 9 trials"]
    bests = sorted(r["best_s"][5] for r in case["runs"])
    assert case["original"]["ours_s"] == pytest.approx(sum(bests) / 2)
    assert case["original"]["best_s"] == 2e-3 and case["original"]["seconds_per_trial"] == 2.0
    assert case["original"]["machine"] == convergence.ORIGINAL_MACHINE

"""The benchmark of latency under load, on a tiny network; what it counts, and that loops end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.busy import BusyLoops
from benchmarks.load import HEAD, SUITE, LoadResults, entry_of, figures, main, rotated, row
from benchmarks.models.table import CASES
from benchmarks.peers.paced import Pace, latencies
from benchmarks.peers.subjects import Side
from tiny_network import save_tiny


@pytest.mark.thorough
def test_cases_are_measured_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_tiny(tmp_path / "onnx")
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    tiny = replace(SUITE, names=("tiny-b1:1:1",))
    file = tmp_path / "load.json"
    words = ["--folder", str(tmp_path / "onnx"), "--json", str(file), "--peers", "onnxruntime"]
    words += ["--rounds", "2", "--seconds", "0.01", "--calls", "1", "--db", str(tmp_path / "n.db")]
    assert main(words, tiny) == 0
    found = json.loads(file.read_text())
    (entry,) = found["cases"]
    assert entry["case"] == "tiny-b1:1:1" and entry["commit"] and entry["ours"] == "untuned"
    assert list(entry["sides"]) == ["untuned", "onnxruntime"]
    for one in entry["sides"].values():
        assert 0 < one["median_s"] <= one["p95_s"] <= one["p99_s"] <= one["worst_s"]
        assert len(one["turn_medians_s"]) == 2 <= one["calls"]
    assert len(row(entry)) == len(HEAD)
    assert main(words, tiny) == 0 and json.loads(file.read_text()) == found


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_busy_loops_run_and_end() -> None:
    with BusyLoops(2) as loops:
        pids = [p.pid for p in loops.processes]
        loops.check()
        assert all(map(alive, pids))
    assert not any(map(alive, pids))
    with pytest.raises(KeyboardInterrupt), BusyLoops(1) as loops:
        pids = [p.pid for p in loops.processes]
        raise KeyboardInterrupt
    assert not any(map(alive, pids))


def test_a_loop_that_ended_is_noticed() -> None:
    with BusyLoops(1) as loops:
        loops.processes[0].kill()
        loops.processes[0].wait()
        with pytest.raises(RuntimeError, match="1 of 1"):
            loops.check()


def test_percentiles_are_calls_that_were_made() -> None:
    found = figures([[float(n) for n in range(1, 51)], [float(n) for n in range(51, 101)]])
    assert (found["median_s"], found["p95_s"], found["p99_s"]) == (51, 96, 100)
    assert (found["worst_s"], found["calls"]) == (100, 100)
    assert found["turn_medians_s"] == [25.5, 75.5]


def entry(case: str, ours: float, **peers: float) -> dict[str, Any]:
    sides = {name: figures([[s]]) for name, s in {"untuned": ours, **peers}.items()}
    return entry_of(case, sides, "untuned")


def test_cases_are_compared_with_the_best_peer() -> None:
    results = LoadResults()
    results.put(entry("bert-base-b1:0:0", 2.0, openvino=1.0))
    results.put(entry("resnet50-b1:2:0", 1.0, onnxruntime=3.0, openvino=2.0))
    results.put(entry("resnet50-b1:0:0", 1.0))
    alone, first, second = results.sorted()
    assert first["case"] == "resnet50-b1:2:0" and first["ratio_p95"] == 2.0
    assert second["ratio_median"] == 0.5 and alone["ratio_p95"] is None
    assert row(first)[1:5] == ["1 s", "1 s", "1 s", "2 s"] and row(alone)[4] == row(alone)[7]
    summary = results.summary()
    assert summary["worst_at_95_%"] == {"case": "bert-base-b1:0:0", "ratio": 0.5}
    assert summary["at_most_the_best_peer_s_at_95_%"] == 1


def test_a_turn_has_pauses_and_an_end() -> None:
    calls: list[int] = []
    side = Side(lambda: calls.append(1), lambda: np.zeros(1))
    assert 4 <= len(latencies(side, Pace(1e-3, calls=4))) < len(calls)
    assert len(latencies(side, Pace(1.0, calls=1, pause_s=0.3))) <= 4


def test_names_and_turns() -> None:
    assert {name.split(":")[0] for name in LoadResults.names} <= set(CASES)
    assert rotated(["a", "b", "c"], 2) == ["a", "b", "c", "b", "c", "a"]

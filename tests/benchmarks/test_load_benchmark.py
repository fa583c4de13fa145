"""The benchmark of latency under load, on a tiny network; what it counts, and that loops end."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.busy import BusyLoops
from benchmarks.load import (
    HEAD,
    Cell,
    LoadResults,
    arguments,
    cells_of,
    figures,
    main,
    rotated,
    rows,
    share,
    sides_of,
)
from benchmarks.peers.paced import Pace, latencies
from benchmarks.peers.subjects import Side
from tiny_network import save_tiny


@pytest.mark.thorough
def test_cells_are_measured_once_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save_tiny(tmp_path / "onnx")
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "load.json"
    words = ["--networks", "tiny-b1", "--folder", str(tmp_path / "onnx"), "--json", str(file)]
    words += ["--loads", "1", "--pauses", "1", "--processes", "", "--turns", "2"]
    words += ["--seconds", "0.01", "--calls", "1", "--sides", "untuned,library,onnxruntime"]
    assert main([*words, "--threads", ""]) == 0
    (entry,) = json.loads(file.read_text())["cases"]
    assert entry["case"] == "tiny-b1, 1 loops, 1 ms"
    assert entry["machine"] and entry["commit"] and entry["date"]
    assert list(entry["sides"]) == ["untuned", "library", "onnxruntime"]
    for one in entry["sides"].values():
        assert 0 < one["median_s"] <= one["p95_s"] <= one["p99_s"] <= one["worst_s"]
        assert len(one["turn_medians_s"]) == 2 <= one["calls"]
    shown = capsys.readouterr().out
    assert "untuned, median: best peer's over ours, worst" in shown

    assert main([*words, "--threads", "2"]) == 0
    found = json.loads(file.read_text())
    assert found["cases"][0] == entry, "what the file holds is not measured again"
    assert [e["threads"] for e in found["cases"]] == [1, 2] and not found["failed"]
    assert found["summary"]["cells"] == 2


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
    found = figures([float(n) for n in range(1, 101)])
    assert (found["median_s"], found["p95_s"], found["p99_s"]) == (51, 96, 100)
    assert (found["worst_s"], found["calls"]) == (100, 100)


def entry(case: str, ours: float, **peers: float) -> dict[str, Any]:
    def one(seconds: float) -> dict[str, float]:
        times = dict.fromkeys(("median_s", "p95_s", "p99_s", "worst_s"), seconds)
        return {**times, "calls": 200}

    return {"case": case, "sides": {n: one(s) for n, s in {"untuned": ours, **peers}.items()}}


def test_cells_are_compared_with_the_best_peer() -> None:
    entries = [entry("a", 1.0, onnxruntime=3.0, openvino=2.0), entry("b", 2.0, openvino=1.0)]
    assert [share(e, "untuned", "p95_s") for e in entries] == [2.0, 0.5]
    assert share(entry("c", 1.0), "untuned", "p95_s") is None
    assert share(entries[0], "library", "p95_s") is None
    summary = LoadResults(None, {}, {e["case"]: e for e in entries}).summary()
    assert summary["untuned, 95 %: best peer's over ours, worst"] == {"case": "b", "ratio": 0.5}
    first, second, *_ = rows(entries)
    assert first[:3] == ["a", "untuned", "1 s"] and first[-2] == "2.00 2.00"
    assert second[:2] == ["", "onnxruntime"] and len(second) == len(HEAD)


def test_threads_call_at_once_and_a_side_may_make_calls_for_them() -> None:
    seen: set[int] = set()
    made: list[int] = []

    def call() -> None:
        seen.add(threading.get_ident())

    def another() -> Any:
        made.append(1)
        return call

    side = Side(call, lambda: np.zeros(1), another=another)
    assert len(latencies(side, Pace(0.0, calls=4, threads=3))) >= 3
    assert len(seen) == 3 and len(made) == 2
    assert len(latencies(side, Pace(1.0, calls=1, pause_s=0.3))) <= 4


def test_an_error_in_a_thread_is_the_sides() -> None:
    def call() -> None:
        if threading.current_thread() is not threading.main_thread():
            raise ValueError("in a thread")

    with pytest.raises(ValueError, match="in a thread"):
        latencies(Side(call, lambda: np.zeros(1)), Pace(0.0, threads=2))


def test_cells_and_turns() -> None:
    cells = cells_of("n-b1", arguments(["--quick"]))
    assert [c.case for c in cells[:2]] == ["n-b1, 0 loops, 0 ms", "n-b1, 0 loops, 20 ms"]
    assert len(cells_of("n-b1", arguments([]))) == 4 * 3 + 3
    assert "2 processes" in cells[-1].case
    assert rotated(["a", "b", "c"], 2) == ["a", "b", "c", "b", "c", "a"]
    results = LoadResults(None, {}, {cells[0].case: {"tried": ["untuned", "openvino"]}})
    assert results.holds(cells[0], ["untuned"]) and not results.holds(cells[1], ["untuned"])
    assert not results.holds(Cell("n-b1"), ["library"])
    with pytest.raises(ValueError, match="ours"):
        sides_of("onnxruntime")

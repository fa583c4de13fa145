"""The benchmark of networks from tuning to its table, on a tiny network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.models.table import CASES, LENGTHS, PUBLISHED, REPVGG
from benchmarks.networks import HEAD, NetworkResults, checked, entry_of, main, matched, row
from benchmarks.peers.process import SideError
from benchmarks.tuning_log import Point, Slice, TuningLog, estimates, points, reached
from simulated_device import simulate
from tiny_network import save_tiny

from benchmarks import networks
from tilewright.contract.gene import Gene
from tilewright.records.rows import Trial

INF = float("inf")
SUITE = networks.SUITE


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of a quick run."""
    save_tiny(tmp_path / "onnx")
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    folders = ["--folder", str(tmp_path / "onnx"), "--db", str(tmp_path / "n.db")]
    return ["--cases", "tiny-b1", *folders, "--trials", "8", "--stages", "9,18"]


@pytest.mark.thorough
def test_a_network_is_tuned_in_stages_and_measured_once(
    tiny: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = simulate(monkeypatch)
    file = tmp_path / "n.json"
    words = [*tiny, "--json", str(file), "--peers", "onnxruntime", "--rounds", "1"]
    assert main([*words, "--minutes", "0"], SUITE) == 0 and not batches
    assert main(words, SUITE) == 0
    assert sum(batches) == 2 * 3 + 8, "default programs, twice, and trials: of the first stage"
    assert (tmp_path / "n-tiny-b1-9.db").exists() and (tmp_path / "n-tiny-b1-18.db").exists()
    spent = TuningLog.beside(tmp_path / "n-tiny-b1-18.db").seconds("tiny-b1")
    found = json.loads(file.read_text())
    (entry,) = found["cases"]
    assert entry["case"] == "tiny-b1" and not found["failed"]
    assert entry["modes"] == {
        "untuned": "untuned", "after 9 min": "tuned", "after 18 min": "tuned"
    }  # fmt: skip
    assert list(entry["stages"]) == ["after 9 min", "after 18 min"]
    assert entry["stages"]["after 18 min"] == entry["median_s"]
    assert entry["max_rel_error"] < 1e-3
    assert entry["tuning_minutes"] == pytest.approx(spent / 60)
    assert entry["ratio_best_peer"] == pytest.approx(
        entry["peers"]["onnxruntime"] / entry["median_s"]
    )
    assert entry["untuned_s"] > 0 and entry["peak_memory_mib"] > 0
    assert entry["kernel_calls"] == entry["tasks"] == 3
    assert entry["import_s"] > 0 and entry["compile_s"] > 0
    assert entry["trials"] == 8 and entry["curve"][0][0] == 0
    assert found["provenance"]["commit"] and found["summary"]["compared"] == 1
    assert len(row(entry)) == len(HEAD)
    batches.clear()
    assert main(words, SUITE) == 0 and not batches
    assert json.loads(file.read_text())["cases"] == found["cases"]


def test_an_unknown_network_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cases", "resnet51-b1"]) == 1
    assert "resnet51-b1" in capsys.readouterr().err


def test_networks_that_run_where_they_are_asked_for() -> None:
    lengths = {f"bert-base-{length}-b1" for length in LENGTHS}
    chains = {c.name for c in CASES.values() if not c.network.is_whole}
    variants = {f"{network.name}-b1" for network in REPVGG}
    others = {"ppocr-det-b1", "tiny-b1", "unet-b1", "yolo-b1", "resnet50-b4", "resnet50-b8"}
    assert set(CASES) - set(PUBLISHED) == others | lengths | chains | variants
    assert len(variants) == 13 and {"repvgg-a0-gelu-b1", "repvggaug-b0-hardswish-b1"} < variants
    assert {"resnet50-b16", "mobilenet-v2-b16", "gpt2-b1"} <= set(PUBLISHED)
    shapes = CASES["bert-base-b1"].input_shapes()
    assert list(shapes.values()) == [(1, 128)] * 3


def entry(case: str, ours: float, **peers: float) -> dict[str, Any]:
    return entry_of(case, {"untuned": 1.5, "after 3 min": ours, **peers}, ["after 3 min"])


def test_the_summary_compares_with_the_best_float32_peer() -> None:
    results = NetworkResults()
    default = {"openvino by default": 0.1}
    results.put(entry("gpt2-b1", 1.0, torch=2.0, openvino=0.5, **default))
    results.put(entry("resnet50-b1", 2.0, torch=8.0, openvino=4.0))
    results.put(entry("dcgan-b1", 1.0))
    first, second, last = results.sorted()
    assert [e["case"] for e in (first, second, last)] == ["resnet50-b1", "dcgan-b1", "gpt2-b1"]
    assert last["default_openvino_s"] == 0.1 and "openvino by default" not in last["peers"]
    summary = results.summary()
    assert summary["geomean_best_peer"] == pytest.approx(1.0)
    assert summary["geomean_torch"] == pytest.approx(8**0.5)
    assert (summary["at_least_par"], summary["compared"]) == (1, 2)
    assert summary["worst"] == {"case": "gpt2-b1", "ratio": 0.5}
    assert summary["slower_than_untuned"] == ["resnet50-b1"]


def test_outputs_are_compared_with_pytorch_and_each_other() -> None:
    y = np.ones((2, 3), np.float32)
    near, far = y + np.float32(1e-5), y + np.float32(0.1)
    found = checked({"tilewright": near, "untuned": y, "openvino": far, "torch": y})
    assert found["max_rel_error"] == pytest.approx(1e-5, rel=0.1)
    assert found["differences"]["openvino"] == pytest.approx(0.1, rel=0.1)
    assert checked({"tilewright": y, "untuned": y})["max_rel_error"] is None
    with pytest.raises(SideError, match="tuned and untuned"):
        checked({"tilewright": y, "untuned": far, "torch": y})
    with pytest.raises(SideError, match="torch"):
        checked({"tilewright": y, "untuned": y, "torch": far})


# ---- the log of tuning ------------------------------------------------------------------------


def trial(number: int, task: str, seconds: float | None, at: float, origin: str = "tile") -> Trial:
    latencies, error = ((), "Crash") if seconds is None else ((seconds,), None)
    return Trial(
        task, "m", Gene("[]", f'{{"a":{number}}}'), 0, 0, latencies, origin=origin,
        error=error, created_at=at, id=number,
    )  # fmt: skip


def test_estimates_weigh_the_best_of_every_task() -> None:
    steps = [("a", 4.0), ("b", None), ("b", 1.0), ("a", 5.0), ("a", 3.0)]
    assert estimates({"a": 1.0, "b": 2.0}, steps) == [INF, INF, 6.0, 6.0, 5.0]


def test_a_curve_counts_trials_and_the_time_of_the_cases_own_slices() -> None:
    log = TuningLog(Path("unused"), [Slice("n", 100, 110), Slice("o", 110, 200)])
    log.slices.append(Slice("n", 200, 230))
    assert log.seconds("n") == 40
    trials = [
        trial(3, "b", 2.0, 106),
        trial(1, "a", 4.0, 101, "default"),
        trial(2, "b", 3.0, 102, "default"),
        trial(4, "a", 3.99, 108),
        trial(5, "a", None, 201),
        trial(6, "a", 1.0, 205),
        trial(7, "b", 1.999, 210),
    ]
    found = points({"a": 1.0, "b": 1.0}, trials, log.clock("n"))
    assert [(p.trials, p.seconds) for p in found] == [(0, 2), (1, 6), (4, 15), (5, 20)]
    assert [p.latency_s for p in found] == pytest.approx([7.0, 6.0, 3.0, 2.999])
    assert reached(found, 6.5) == found[1] and reached(found, 1.0) is None
    assert points({"a": 1.0}, [], log.clock("n")) == []


def test_a_peer_is_met_where_the_scaled_estimate_meets_it() -> None:
    curve = [Point(0, 1.0, 8.0), Point(10, 5.0, 4.0), Point(20, 9.0, 2.0)]
    # the network takes 3 where its kernels sum up to 2
    assert matched(curve, 3.0, 6.0) == {"trials": 10, "seconds": 5.0}
    assert matched(curve, 3.0, 2.5) is None
    assert matched([], 3.0, 2.5) is None


def test_a_slice_is_on_disk_while_it_lasts(tmp_path: Path) -> None:
    log = TuningLog.beside(tmp_path / "n.db")
    with pytest.raises(KeyboardInterrupt), log.slice("n") as tick:
        tick()
        assert [s.case for s in TuningLog.beside(tmp_path / "n.db").slices] == ["n"]
        raise KeyboardInterrupt
    with log.slice("o"):
        pass
    found = TuningLog.beside(tmp_path / "n.db")
    assert [s.case for s in found.slices] == ["n", "o"]
    assert all(s.ended >= s.started for s in found.slices)
    found.file.write_text('[{"case": 3}]')
    with pytest.raises(ValueError, match=r"n\.db\.slices\.json"):
        TuningLog.beside(tmp_path / "n.db")

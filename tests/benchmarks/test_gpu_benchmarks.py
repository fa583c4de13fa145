"""The benchmarks of GPUs without one: operators under the emulation of CUDA, a network on whatever
OpenCL driver is here, from tuning to the JSON file.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny_network import save_tiny

from benchmarks import networks, operators, slices
from devices import at_hand
from tilewright.ground.errors import TargetError
from tilewright.runtime.devices import open_device
from tilewright.target import Target

MEASURE = ["--peers", "onnxruntime", "--rounds", "1"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))


def opencl() -> Target:
    """The device at hand."""
    return at_hand(lambda: open_device(Target.parse("opencl:pocl"))).target


@pytest.mark.thorough
def test_operators_under_the_emulation(tmp_path: Path) -> None:
    file = tmp_path / "o.json"
    words = ["--device", "emulated", "--cases", "NRM-small", "--db", str(tmp_path / "o.db")]
    words += ["--trials", "1", *MEASURE, "--json", str(file)]
    assert operators.main(words) == 0
    found = json.loads(file.read_text())
    (entry,) = found["cases"]
    assert not found["failed"] and entry["case"] == "NRM-small"
    assert entry["modes"] == {"tilewright": "tuned", "untuned": "untuned"}
    assert entry["trials"] == 1
    assert entry["differences"]["onnxruntime"] < 1e-3 and entry["median_s"] > 0
    assert entry["ratio_best_peer"] == entry["peers"]["onnxruntime"] / entry["median_s"]
    assert found["machine"]["target"].startswith("emulated")
    assert found["provenance"]["machine"] == "cuda-on-cpu, 2 cores"


@pytest.mark.thorough
def test_a_network_on_a_device(tmp_path: Path) -> None:
    opencl()
    save_tiny(tmp_path / "onnx")
    file = tmp_path / "n.json"
    folders = ["--folder", str(tmp_path / "onnx"), "--db", str(tmp_path / "n.db")]
    words = ["--device", "opencl", "--cases", "tiny-b1", *folders, "--stages", "9"]
    assert networks.main([*words, "--trials", "3", *MEASURE, "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    (entry,) = found["cases"]
    assert not found["failed"] and entry["case"] == "tiny-b1"
    assert entry["modes"] == {"after 9 min": "tuned", "untuned": "untuned"}
    assert entry["max_rel_error"] < 1e-3 and entry["trials"] == 3
    assert min(entry["median_s"], entry["untuned_s"]) > 0 and entry["overhead"] < 1
    assert found["machine"]["target"].startswith("opencl:")


def test_a_device_that_is_not_here_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(spec: object) -> None:
        raise TargetError("no CUDA device is here")

    monkeypatch.setattr(slices, "as_target", absent)
    for module in (operators, networks):
        assert module.main(["--device", "cuda"]) == 1
        assert "no CUDA device is here" in capsys.readouterr().err

"""The benchmarks of GPUs without one: operators under the emulation of CUDA, a network on whatever
OpenCL driver is here, from tuning to the JSON file.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.cases import ALL, GEMMS
from benchmarks.gpu_ceilings import GpuCeilings, measure
from benchmarks.roofline import traffic_of
from tiny_network import save_tiny

from benchmarks import gpu_networks, gpu_operators
from devices import at_hand
from tilewright.ground.errors import TargetError
from tilewright.measure.ceilings import Traffic
from tilewright.runtime.devices import open_device
from tilewright.target import CudaTarget, Target

MEASURE = ["--measure-only", "--peers", "onnxruntime", "--rounds", "1"]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))


def opencl() -> Target:
    """The device at hand."""
    return at_hand(lambda: open_device(Target.parse("opencl:pocl"))).target


@pytest.mark.thorough
def test_operators_under_the_emulation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "o.json"
    words = ["--device", "emulated", "--cases", "NRM-small", "--db", str(tmp_path / "o.db")]
    assert gpu_operators.main([*words, "--tune-only", "--trials", "1"]) == 0
    assert "tuned NRM-small: 0 -> 1 trials" in capsys.readouterr().out
    with monkeypatch.context() as patch:
        patch.setattr("tilewright.tune", lambda *_, **__: pytest.fail("tuned again"))
        assert gpu_operators.main([*words, "--tune-only", "--trials", "1"]) == 0

    assert gpu_operators.main([*words, *MEASURE, "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    (entry,) = found["cases"]
    assert not found["failed"] and entry["case"] == "NRM-small"
    assert entry["modes"] == {"tilewright": "tuned"} and entry["trials"] == 1
    assert entry["differences"]["onnxruntime"] < 1e-3 and entry["median_s"] > 0
    assert entry["ratio_best_peer"] == entry["peers"]["onnxruntime"] / entry["median_s"]
    assert found["ceilings"]["fma_flops"] > 0 and entry["roofline_limit"] in ("flops", "bytes")
    assert found["machine"]["target"].startswith("emulated")
    assert found["provenance"]["machine"] == "cuda-on-cpu, 2 cores"


@pytest.mark.thorough
def test_a_network_on_a_device(tmp_path: Path) -> None:
    opencl()
    save_tiny(tmp_path / "onnx")
    file = tmp_path / "n.json"
    folders = ["--folder", str(tmp_path / "onnx"), "--db", str(tmp_path / "n.db")]
    words = ["--device", "opencl", "--models", "tiny-b1", *folders]
    assert gpu_networks.main([*words, "--tune-only", "--trials", "3"]) == 0
    assert gpu_networks.main([*words, *MEASURE, "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    (entry,) = found["cases"]
    assert not found["failed"] and entry["case"] == "tiny-b1"
    assert entry["modes"] == {"tilewright": "tuned", "untuned": "untuned"}
    assert entry["max_rel_error"] < 1e-3 and entry["trials"] == 3
    assert min(entry["median_s"], entry["untuned_s"]) > 0 and entry["overhead"] < 1
    assert found["machine"]["target"].startswith("opencl:")


def test_a_device_that_is_not_here_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(spec: object) -> None:
        raise TargetError("no CUDA device is here")

    for module in (gpu_operators, gpu_networks):
        monkeypatch.setattr(module, "as_target", absent)
        assert module.main([]) == 1
        assert "no CUDA device is here" in capsys.readouterr().err


def test_ceilings_are_measured() -> None:
    device = open_device(opencl())
    large, small = Traffic(1 << 22, 1 << 20), Traffic(1 << 12, 16)
    found = measure(device, [large, small, large])
    assert found.fma_flops > 1e8 and found.call_s > 0
    assert list(found.streams) == [large, small]
    assert found.streams[large] > found.streams[small] >= 0
    assert json.loads(json.dumps(found.to_json()))["fma_flops"] == found.fma_flops


def test_the_roofline_of_a_large_product_is_its_multiply_adds() -> None:
    case = GEMMS["GEMM-4096"]
    assert ALL[case.name].dag().useful_flops == 2 * 4096**3
    ceilings = GpuCeilings(CudaTarget.named("h100"), 6e13, 2e-6, {traffic_of(case): 1e-4})
    bound = ceilings.bound_of(case)
    assert bound.limit == "flops"
    assert bound.total_s == pytest.approx(2 * 4096**3 / 6e13 + 2e-6)

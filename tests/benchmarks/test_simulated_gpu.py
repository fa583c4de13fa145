"""The simulated GPU: smooth, within its bounds, another one by another seed; whole plans on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.operator_sets import entries, square
from benchmarks.reuse_sets import main
from benchmarks.simulated_gpu import SPREAD, SimulatedGpu

from tilewright.cost.usage import Usage
from tilewright.target import Target

GPU = Target.parse("cuda:h100")
SEARCH = 16  # trials of a search


def usages() -> Usage:
    """Programs along one line of the hardware's numbers, in small steps."""
    blocks, threads = 2.0 ** np.linspace(0, 16, 400), 2.0 ** np.linspace(5, 10, 400)
    return Usage(blocks, blocks * threads, blocks * threads * 40)


def test_the_factor_is_smooth_and_bounded() -> None:
    factors = [SimulatedGpu(GPU, seed).factor(usages()) for seed in range(4)]
    for factor in factors:
        assert (np.abs(factor - 1) <= SPREAD + 1e-9).all()
        assert np.ptp(factor) > SPREAD / 4
        assert np.abs(np.diff(factor)).max() < 0.03
    assert not np.allclose(factors[0], factors[1])


@pytest.mark.thorough
def test_sets_are_tuned_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two convolutions on two devices; a real one's figures are not mixed in."""
    shapes = ((28, 16, 16, 1, 1), (28, 16, 64, 1, 1))
    few = {"small": entries("small", square((1, shape) for shape in shapes))}
    monkeypatch.setattr("benchmarks.reuse_sets.QUICK", few)
    monkeypatch.setattr("benchmarks.reuse_sets.QUICK_SEARCH", SEARCH)
    file = tmp_path / "gpu.json"
    words = ["reuse_sets", "--quick", "--folder", str(tmp_path), "--json", str(file)]

    def run(*more: str) -> Any:
        monkeypatch.setattr("sys.argv", [*words, "--target", "cuda:h100", *more])
        return main(), json.loads(file.read_text())

    status, found = run("--simulated", "1,2")
    assert status == 0 and found["simulated"] and "h100" in found["target"]
    first, second = (found["sets"][f"small on device {n}"]["sides"] for n in (1, 2))
    for sides in (first, second):
        assert sides["own"]["trials"] == 2 * SEARCH
        assert sides["reuse"]["trials"] == SEARCH + 12
        assert sides["reuse"]["throughput"] > sides["default"]["throughput"]
    assert first["default"]["throughput"] != second["default"]["throughput"]
    assert run() == (1, found), "a file is of one kind of device"

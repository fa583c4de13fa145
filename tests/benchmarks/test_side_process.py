"""A side in its own process: asked, stopped in between, gone afterwards."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cases import CASES
from benchmarks.peers.problems import random_arrays
from benchmarks.peers.process import SideError, SideProcess
from benchmarks.peers.subjects import Side
from benchmarks.peers.worker import timed

from tilewright.target import Target

ONE_THREAD = Target.parse("cpu:x86-64 cores=1")


def state(pid: int) -> str:
    """The process's state letter: T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def wait_for_state(pid: int, letter: str) -> None:
    """Signals arrive a moment later."""
    limit = time.monotonic() + 20
    while state(pid) != letter:
        assert time.monotonic() < limit, f"state {state(pid)}, not {letter}"


def test_a_side_answers_and_stands_still(tmp_path: Path) -> None:
    case = CASES["GMM-0-b1"]
    with SideProcess("onnxruntime", f"operator:{case.name}", ONE_THREAD) as side:
        pid = side._process.pid
        wait_for_state(pid, "T")
        side.output(tmp_path / "y.npy")
        arrays = random_arrays(case.dag())
        y = np.load(tmp_path / "y.npy")
        np.testing.assert_allclose(y, arrays["a"] @ arrays["b"], rtol=1e-3, atol=1e-4)
        block = side.time(0.001)
        assert 0 < block.least_s <= block.median_s
        assert block.calls >= 1
        wait_for_state(pid, "T")
    assert side._process.returncode is not None


def test_a_side_that_fails_says_why() -> None:
    with pytest.raises(SideError, match="KeyError"):
        SideProcess("onnxruntime", "operator:no such case", ONE_THREAD)


def test_a_side_that_died_is_an_error() -> None:
    with SideProcess("onnxruntime", "operator:GMM-0-b1", ONE_THREAD) as side:
        side._process.kill()
        side._process.wait()
        with pytest.raises(SideError, match="onnxruntime"):
            side.time(0.001)


def test_a_block_has_at_least_one_counted_call() -> None:
    calls: list[int] = []

    def call() -> None:
        calls.append(1)

    figures = timed(Side(call, lambda: np.zeros(1)), seconds=0.0)
    assert figures["calls"] == 1
    assert len(calls) >= 2  # the first does not count


def test_a_device_has_its_own_clock() -> None:
    """Batches grow, and the first one does not count."""
    counts: list[int] = []

    def clock(count: int) -> list[float]:
        counts.append(count)
        return [3.0 - 0.5 * len(counts)] * count

    side = Side(lambda: pytest.fail("called"), lambda: np.zeros(1), clock=clock)
    assert timed(side, seconds=0.0) == {"median_s": 2.0, "least_s": 2.0, "calls": 1}
    counts.clear()
    figures = timed(side, seconds=1e-4)
    assert counts[:3] == [1, 1, 1] and figures["calls"] == sum(counts[1:])
    assert all(after == sum(counts[1:i]) for i, after in enumerate(counts) if i > 2)

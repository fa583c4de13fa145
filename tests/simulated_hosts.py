"""Machines of a cluster that measure nothing: each program's time is made up from its request.

What they measure stands in the file that SIMULATED_LOG names, a line a program: process, program;
what they build for others in another beside it.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tilewright.measure.measurer import MeasureResult
from tilewright.measure.pools import Built
from tilewright.measure.task import MeasureTask
from tilewright.measure.trial import RunOptions

TRIAL_S = 0.01


class SimulatedHost:
    """A LocalMeasurer, whose programs take TRIAL_S each."""

    def __init__(self, **_: object) -> None:
        self.options = RunOptions()

    def launch(self) -> None:
        pass

    def close(self) -> None:
        pass

    def build(self, requests: Sequence[bytes]) -> list[Built]:
        for request in requests:
            note(f"{os.getpid()} {hashlib.sha256(request).hexdigest()}", BUILT)
        return [Built(request, 0.0) for request in requests]

    def measure(
        self,
        task: MeasureTask,
        candidates: Sequence[bytes],
        best_s: float | None = None,
        reference_s: float | None = None,
        built: Sequence[Built] | None = None,
    ) -> list[MeasureResult]:
        assert built is None or [b.artifact for b in built] == list(candidates)
        results = []
        for request in candidates:
            time.sleep(TRIAL_S)
            digest = hashlib.sha256(request).hexdigest()
            results.append(MeasureResult("ok", latencies_s=(1e-3 + int(digest[:4], 16) * 1e-8,)))
            if request != task.reference:
                note(f"{os.getpid()} {digest}")
        return results

    def confirm(self, task: MeasureTask, candidates: Sequence[bytes]) -> list[MeasureResult]:
        return [MeasureResult("ok", latencies_s=(1e-3, 1e-3)) for _ in candidates]


class Quiet:
    """A LoadWatch of a machine that does nothing else."""

    def look(self) -> str:
        return ""


def note(line: str, beside: str = "") -> None:
    """Add a line to the log, or one beside it, whole."""
    with Path(LOG + beside).open("a") as log:
        log.write(f"{line}\n")


def noted(file: Path) -> list[tuple[int, str]]:
    """Process and program of every line."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [(int(pid), program) for pid, program in map(str.split, lines)]


LOG = os.environ.get("SIMULATED_LOG", os.devnull)
BUILT = ".built"


def use_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have actors that are started from here on measure nothing."""
    monkeypatch.setattr("tilewright.front.cluster.LocalMeasurer", SimulatedHost)
    monkeypatch.setattr("tilewright.front.cluster.LoadWatch", Quiet)


def main(address: str, db: str, trials: str, seed: str) -> None:
    """A driver of its own, for tests that kill it."""
    import tilewright as tw

    a, b = tw.placeholder((48, 32), name="a"), tw.placeholder((32, 48), name="b")
    task = tw.Task([a, b, tw.operators.matmul(a, b)], "gemm")
    with pytest.MonkeyPatch.context() as patch:
        use_simulated(patch)
        try:
            found = tw.tune(
                task, trials=int(trials), db=db, cluster=address, seed=int(seed), progress=False
            )
        except tw.TilewrightError as error:
            sys.exit(f"error: {error}")
    print("done", found.trials)


if __name__ == "__main__":
    from simulated_hosts import main as imported  # classes are to be of a module that others find

    imported(*sys.argv[1:])

"""Tuning without processes that measure: `tw.tune` runs whole, and latencies are made up."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tilewright.measure.measurer import MeasureResult
from tilewright.measure.task import MeasureTask


class Simulated:
    """A LocalMeasurer: each program takes a little less than the one before."""

    def __init__(self, **_: object) -> None:
        self.measured = 0

    def measure(
        self, task: MeasureTask, candidates: Sequence[bytes], *_: float | None
    ) -> list[MeasureResult]:
        self.measured += len(candidates)
        return [MeasureResult("ok", latencies_s=(1e-3 / self.measured,)) for _ in candidates]

    def confirm(
        self, task: MeasureTask, candidates: Sequence[bytes], **_: int
    ) -> list[MeasureResult]:
        return [MeasureResult("ok", latencies_s=(1e-4, 1e-4)) for _ in candidates]

    def launch(self) -> None:
        pass

    def close(self) -> None:
        pass


def simulate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `tw.tune` measure nothing until the patch is undone."""
    monkeypatch.setattr("tilewright.front.task_measurer.LocalMeasurer", Simulated)
    monkeypatch.setattr("tilewright.front.api.keep_ceilings", lambda *_: None)

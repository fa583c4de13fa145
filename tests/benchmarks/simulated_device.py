"""Tuning without a device: `api.tune` measures a made-up latency.

batches = simulate(monkeypatch)        grows by the size of every batch measured
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import pytest

from tilewright import api, task_measurer
from tilewright.measure.measurer import MeasureResult
from tilewright.search.tasks import TuningTask


def simulate(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Replace the device by a latency that depends on the trace alone; some programs fail."""
    batches: list[int] = []

    class Simulated:
        def __init__(self, *_: object) -> None:
            pass

        def measure(
            self,
            task: TuningTask,
            default: str,
            traces: Sequence[str],
            best_s: float | None,
            default_s: float | None = None,
        ) -> list[MeasureResult]:
            batches.append(len(traces))
            return [_result(trace) for trace in traces]

        def confirm(
            self, task: TuningTask, default: str, traces: Sequence[str]
        ) -> list[tuple[float, ...]]:
            return [_result(trace).latencies_s for trace in traces]

        def close(self) -> None:
            pass

    for module in (api, task_measurer):
        monkeypatch.setattr(module, "TaskMeasurer", Simulated)
    return batches


def _result(trace: str) -> MeasureResult:
    number = zlib.crc32(trace.encode())
    if number % 11 == 0:
        return MeasureResult("run", "RunError", "simulated crash")
    return MeasureResult("ok", latencies_s=((1 + number % 1000) * 1e-6,))

"""Tuning without a device: `api.tune` measures a made-up latency.

batches = simulate(monkeypatch)        grows by the size of every batch measured
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import pytest

from tilewright.contract.gene import Gene
from tilewright.front import api, cluster, task_measurer
from tilewright.measure.measurer import MeasureResult
from tilewright.search.tasks import TuningTask


def simulate(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Replace the device by a latency that depends on the gene alone; some candidates fail."""
    batches: list[int] = []

    class Simulated:
        def __init__(self, *_: object) -> None:
            pass

        def measure(
            self,
            task: TuningTask,
            default: Gene,
            genes: Sequence[Gene],
            best_s: float | None,
            default_s: float | None = None,
        ) -> list[MeasureResult]:
            batches.append(len(genes))
            return [_result(gene, default) for gene in genes]

        def confirm(
            self, task: TuningTask, default: Gene, genes: Sequence[Gene]
        ) -> list[tuple[float, ...]]:
            return [_result(gene, default).latencies_s for gene in genes]

        def close(self) -> None:
            pass

    for module in (cluster, task_measurer):
        monkeypatch.setattr(module, "TaskMeasurer", Simulated)
    monkeypatch.setattr(api, "keep_ceilings", lambda *_: None)  # those of a real machine
    return batches


def _result(gene: Gene, default: Gene) -> MeasureResult:
    number = zlib.crc32(gene.text.encode())
    if number % 11 == 3 and gene != default:
        return MeasureResult("run", "RunError", "simulated crash")
    return MeasureResult("ok", latencies_s=((1 + number % 1000) * 1e-6,))

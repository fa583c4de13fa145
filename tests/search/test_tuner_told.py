"""What the tuner tells of a run: how far the default programs are, how the run was started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simulated_tuning import MACHINE, TARGET, make_scheduler, make_tasks
from tilewright.contract.gene import Gene
from tilewright.measure.measurer import MeasureResult
from tilewright.records.database import Database
from tilewright.records.rows import RUN
from tilewright.search.tasks import TuningTask
from tilewright.search.tuner import Budget, Progress, Tuner


class SteadyMachine:
    """Every program takes a hundredth of a second."""

    def measure(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene], *_: float | None
    ) -> list[MeasureResult]:
        return [MeasureResult("ok", latencies_s=(0.01,)) for _ in genes]

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> list[tuple[float, ...]]:
        return [(0.01,) for _ in genes]

    def close(self) -> None:
        pass


def test_default_programs_are_told_as_they_pass(tmp_path: Path) -> None:
    told: list[tuple[str, int, float]] = []

    def observe(now: Progress) -> None:
        told.append((now.phase, now.default_programs, now.default_share))

    with Database.open(tmp_path / "t.db") as database:
        one = Tuner(make_tasks(), database, MACHINE, SteadyMachine(), TARGET, make_scheduler)
        one.run(Budget(trials=4, minutes=None), observe)
        (row,) = database.facts(RUN)
        (run,) = database.runs()
    first = [x for x in told if x[0] == "default programs"]
    assert first == [("default programs", 3, n / 6) for n in range(1, 7)]
    assert {x[1:] for x in told if x[0] != "default programs"} == {(3, 1.0)}
    assert row.at == run.started_at and row.machine == run.machine
    assert row.facts["trials"] == 4 and row.facts["tasks"] == 3 and "minutes" not in row.facts

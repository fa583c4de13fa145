"""A run goes on from the program it began with, though a template may serve as one by now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from benchmarks.bolt_problems import product

from simulated_tuning import MACHINE, make_scheduler, simulated
from tilewright.contract.gene import Gene
from tilewright.measure.measurer import MeasureResult
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.schedule.templates import ON_GPUS, ORDINARY
from tilewright.schedule.trace import template_of
from tilewright.search.tasks import TuningTask
from tilewright.search.tuner import Budget, Tuner
from tilewright.target import GpuTarget, Target

pytestmark = pytest.mark.usefixtures("brief_search")

TASK = TuningTask("product", product(512, 512, 512).dag)
TRIALS = 8


@dataclass
class Counting:
    """Takes as long for a program as its gene says; `measured` are the genes, in order."""

    measured: list[Gene] = field(default_factory=list)

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        self.measured += genes
        return [simulated(gene.text) for gene in genes]

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> list[tuple[float, ...]]:
        return [simulated(gene.text).latencies_s for gene in genes]


def tune(database: Database, target: Target) -> tuple[list[Gene], Gene]:
    """What a run measures, and its default program."""
    device = Counting()
    tuner = Tuner([TASK], database, MACHINE, device, target, make_scheduler)
    (search,) = tuner.run(Budget(trials=TRIALS))
    assert search.default is not None
    return device.measured, search.default


@pytest.mark.parametrize("target", ["cuda:h100", "cuda:a100"])
def test_a_run_goes_on_from_what_it_began_with(target: str) -> None:
    plain = Target.parse(target)
    assert isinstance(plain, GpuTarget)
    with Database.open(":memory:") as database:
        measured, begun = tune(database, plain)
        assert len(measured) > TRIALS and template_of(begun) in (None, *(x.name for x in ORDINARY))
        proved = replace(plain, proved=frozenset(ON_GPUS))
        again, default = tune(database, proved)
        assert not again and default == begun
        stored = list(database.trials(TASK.hash, MACHINE.fingerprint))
        assert [t.gene for t in stored if t.origin == DEFAULT] == [begun]
    with Database.open(":memory:") as anew:
        _, default = tune(anew, proved)
        assert template_of(default) in proved.proved - {x.name for x in ORDINARY}

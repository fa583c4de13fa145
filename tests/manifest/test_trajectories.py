"""What a search proposes, round by round: no change of a trajectory goes unnoticed.

Latencies come of the proposed programs' text, so neither a clock nor the form in which traces are
recorded plays a part. A golden file holds what the tuner did of a few workloads on one target: for
each round its trials, each as a digest of the concrete nest and who proposed it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from manifest_cases import WORKLOADS, digest

from simulated_tuning import MACHINE, make_scheduler, simulated
from tilewright.contract.gene import Gene
from tilewright.measure.measurer import MeasureResult
from tilewright.nest.print import program_text
from tilewright.records.database import Database
from tilewright.schedule.producers import lowered_of
from tilewright.search.tasks import TuningTask
from tilewright.search.tuner import Budget, Tuner
from tilewright.target import Target

RUNS = {
    "avx512": ("cpu:icelake-server cores=2", ("GMM", "mobile_depthwise")),
    "avx2": ("cpu:haswell cores=4", ("bert_norm",)),
    "cuda": ("cuda:h100", ("half_matmul",)),
}
TRIALS = 48  # a task: rounds of 8


@dataclass
class SimulatedDevice:
    """Takes as long for a program as its text says; `nests` are the texts."""

    nests: dict[Gene, str] = field(default_factory=dict)

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        return [simulated(self.nest(task, gene)) for gene in genes]

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> list[tuple[float, ...]]:
        return [simulated(self.nest(task, gene)).latencies_s for gene in genes]

    def nest(self, task: TuningTask, gene: Gene) -> str:
        """The text of a gene's program."""
        if gene not in self.nests:
            if gene.key == "native":  # a template's program has no nest
                self.nests[gene] = gene.text
                return gene.text
            self.nests[gene] = program_text(lowered_of(task.dag, gene, "kernel").program)
        return self.nests[gene]

    def close(self) -> None:
        pass


@pytest.mark.no_cover
@pytest.mark.parametrize("name", RUNS)
def test_trajectory(name: str, golden: Callable[[str, str], None]) -> None:
    target, names = RUNS[name]
    tasks = [TuningTask(n, WORKLOADS[n]()) for n in names]
    device = SimulatedDevice()
    with Database.open(":memory:") as database:
        tuner = Tuner(tasks, database, MACHINE, device, Target.parse(target), make_scheduler)
        tuner.run(Budget(trials=TRIALS * len(tasks)))
        lines = [f"target {target}"]
        for task in tasks:
            trials = list(database.trials(task.hash, MACHINE.fingerprint))
            for number in sorted({t.round for t in trials}):
                found = [
                    f"{digest(device.nests[t.gene])} {t.origin}"
                    for t in trials
                    if t.round == number
                ]
                lines.append(f"{task.name} {number}: " + ", ".join(found))
    golden(f"manifest/trajectories/{name}.txt", "".join(f"{line}\n" for line in lines))

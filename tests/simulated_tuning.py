"""Tuning runs on a simulated machine, as processes that tell their parent each step.

run = Run(context, ("run.db", 0, 40))      database, seed, trials
run.event()                                the next trial is about to be measured
run.go(), run.finish(), run.kill()         let it, let it and all others, or strike
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from typing import Any

import numpy as np

from tilewright.contract.gene import Gene
from tilewright.cost.candidates import concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.measure.measurer import MeasureResult
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import DEFAULT, Trial
from tilewright.search.objectives import ObjectiveModel, TotalLatency
from tilewright.search.reuse.run import WELL_KNOWN
from tilewright.search.task_scheduler import TaskScheduler
from tilewright.search.tasks import TuningTask, infos_of
from tilewright.search.tuner import Budget, Tuner
from tilewright.space.default import default_of
from tilewright.target import Target
from workloads import given

TARGET = Target.parse("cpu:icelake-server cores=2")
MACHINE = Machine.of("cpu", cpu="simulated", features="", cores=2, compiler="none")


def simulated(text: str, noise: float = 0.0) -> MeasureResult:
    """A latency that depends on a program's text, and a little on `noise`; some fail."""
    number = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
    if number % 17 == 0:
        return MeasureResult("run", "RunError", "simulated crash")
    return MeasureResult("ok", latencies_s=((1e-3 + number % 1000 * 1e-6) * (1 + noise),))


@dataclass
class SimulatedMachine:
    """Remembers what it measured, and is interrupted once that is `stop_after` or more."""

    measured: list[str] = field(default_factory=list)
    stop_after: int | None = None

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        if self.stop_after is not None and len(self.measured) >= self.stop_after:
            raise KeyboardInterrupt
        self.measured += [gene.hash for gene in genes]
        return [simulated(gene.text) for gene in genes]

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> list[tuple[float, ...]]:
        return [simulated(gene.text).latencies_s for gene in genes]

    def close(self) -> None:
        pass


class SteppingMachine(SimulatedMachine):
    """Tells `parent` of every trial, and begins it when the parent has answered."""

    def __init__(self, parent: Connection, noise: float) -> None:
        super().__init__()
        self.parent, self.noise = parent, noise

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        results = []
        for gene in genes:
            self.parent.send(("trial", task.hash, gene.hash))
            self.parent.recv()
            results.append(simulated(gene.text, self.noise))
        return results


def make_tasks() -> list[TuningTask]:
    """One task of a single program, one of some dozens and one of many; the costliest comes last.

    The small spaces run out, and their default programs are proposed again by the search.
    """
    return [
        TuningTask("single", ComputeDAG([ops.relu(given(3))])),
        TuningTask("small", ComputeDAG([ops.relu(given(6, 48))])),
        TuningTask("large", ComputeDAG([ops.matmul(given(16, 16, name="a"), given(16, 16))]), 2.0),
    ]


def make_scheduler(
    tasks: Sequence[TuningTask], latencies: Sequence[float], seed: int
) -> TaskScheduler:
    model = ObjectiveModel("m", tuple(range(len(tasks))), tuple(t.weight for t in tasks))
    return TaskScheduler(infos_of(tasks, latencies), [model], TotalLatency(), seed=seed)


def tune(parent: Connection, file: str, seed: int, trials: int, noise: float = 0.0) -> None:
    """One run of the tuner: events go to `parent`, at last how many trials it counted."""
    with Database.open(file) as database:
        machine = SteppingMachine(parent, noise)
        tuner = Tuner(make_tasks(), database, MACHINE, machine, TARGET, make_scheduler, seed=seed)
        tuner.run(Budget(trials=trials))
    parent.send(("done", tuner.trials))


@dataclass
class Run:
    """A process that tunes, seen from its parent."""

    context: ForkServerContext
    arguments: tuple[Any, ...]
    measured: list[tuple[str, str]] = field(default_factory=list)  # workload, gene
    trials: int | None = None

    def __post_init__(self) -> None:
        self.pipe, childs = self.context.Pipe()
        self.process = self.context.Process(target=tune, args=(childs, *self.arguments))
        self.process.start()
        childs.close()

    def event(self) -> bool:
        """Wait for the next trial to be announced; False when the run has finished."""
        if not self.pipe.poll(60):
            raise TimeoutError(f"no trial for a minute, after {len(self.measured)}")
        kind, *rest = self.pipe.recv()  # EOFError: the process died
        if kind == "done":
            (self.trials,) = rest
            return False
        self.measured.append(tuple(rest))
        return True

    def go(self) -> None:
        """Let the announced trial be measured."""
        self.pipe.send(None)

    def finish(self) -> None:
        """Let it measure until it has finished."""
        while self.event():
            self.go()
        self.process.join(60)
        assert self.process.exitcode == 0

    def kill(self) -> None:
        """Kill it as the system would."""
        self.process.kill()
        self.process.join()


def record_search(
    database: Database, machine: Machine, target: Target, task: TuningTask, gain: float
) -> None:
    """Records of a search that nobody made: of programs that the estimate likes, those of other
    sketches than the untuned one's take a `gain`-th of what those of its sketch do.
    """
    space = task.space(target)
    extractor = FeatureExtractor(space)
    default = default_of(space, extractor)
    drawn = space.canonical(space.sample(np.random.default_rng(0), 2048))
    drawn = drawn[np.argsort(extractor.latency(drawn), kind="stable")]
    alike = drawn.sketch == default.sketch
    programs = concatenate([default, drawn[alike][:WELL_KNOWN], drawn[~alike][:WELL_KNOWN]])
    genes = map(space.gene, map(int, programs.sketch), programs.rows)
    trials = {
        gene: Trial(task.hash, machine.fingerprint, gene, 0, 0, (1e-3 / share,), origin=origin)
        for gene, share, origin in zip(
            genes,
            np.where(programs.sketch == default.sketch, 1.0, gain),
            [DEFAULT, *["sample"] * (len(programs) - 1)],
            strict=True,
        )
    }
    database.add_machine(machine)
    database.add_workload(task.row)
    database.add_trials(list(trials.values()))

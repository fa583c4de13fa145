"""A small tuning database whose programs are real and whose latencies are made up.

    with Database.open("t.db") as database:
        fill(database)

Three tasks of one model: a matmul (called twice) and a softmax that work, a second softmax of
which nothing worked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.contract.gene import Gene
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import placeholder
from tilewright.records import (
    CeilingsRow,
    Database,
    LoadRow,
    Machine,
    ModelRow,
    ModelTask,
    RunRow,
    Trial,
    TrialLine,
    WorkloadRow,
)
from tilewright.search.tasks import TuningTask
from tilewright.space.space import Space
from tilewright.target import Target

TARGET = Target.parse("cpu:icelake-server cores=2")
MACHINE = Machine.of("cpu", cpu="icelake-server", features="+avx2", cores=2, compiler="LLVM 22")
START = 1_700_000_000.0
TRIALS = 24  # of each task, beside its default program
BATCH = 8
CEILINGS = CeilingsRow(MACHINE.fingerprint, 4e11, (1 << 16, 1 << 20), (4e11, 1e11), START)
LOAD = LoadRow(MACHINE.fingerprint, START, "busy for 80 % of the time: <another> program")
RUN = RunRow(MACHINE.fingerprint, START, 0, "evolution", 100.0, 30.0, 10.0, 20.0, 25.0, 5.0)


def tasks() -> list[TuningTask]:
    a, b = placeholder((64, 48), name="a"), placeholder((48, 96), name="b")
    x, y = placeholder((4, 256), name="x"), placeholder((8, 64), name="y")
    return [
        TuningTask("gemm", ComputeDAG([ops.matmul(a, b)]), 2.0),
        TuningTask("softmax", ComputeDAG([ops.softmax(x)])),
        TuningTask("hopeless", ComputeDAG([ops.softmax(y)])),
    ]


def workload_of(task: TuningTask, name: str = "") -> WorkloadRow:
    """The task's row."""
    return replace(task.row, name=name or task.name)


def trials_of(task: TuningTask, begin: float, fails: bool, target: Target = TARGET) -> list[Trial]:
    """Different programs, a batch every second, that get faster and now and then fail."""
    rng = np.random.default_rng(len(task.name))
    space = Space(task.dag, target)
    population = space.sample(rng, 200)
    found: dict[Gene, Trial] = {}
    for sketch, row in zip(population.sketch, population.rows, strict=True):
        number = len(found)
        if number > TRIALS:
            break
        gene = space.gene(int(sketch), row)
        if gene in found:
            continue
        seconds = 1e-5 * (1 + 4 * float(rng.random()) / (1 + number))
        default = number == 0
        trial = Trial(
            workload_hash=task.hash,
            machine=MACHINE.fingerprint,
            gene=gene,
            round=max(0, number - 1) // BATCH,
            seed=0,
            latencies_s=(seconds,),
            predicted=None if default else 1e-5 / seconds + 0.1 * float(rng.random()),
            origin="default" if default else "tile",
            build_s=0.05,
            run_s=0.1,
            created_at=begin + (number + BATCH - 1) // BATCH,
        )
        if fails or number % 11 == 5:
            trial = replace(
                trial,
                latencies_s=(),
                stage="run",
                error="RunError",
                message=f"the worker died of signal 11\nwhile it ran candidate {number}",
            )
        found[trial.gene] = trial
    return list(found.values())


def fill(database: Database) -> None:
    """See the module."""
    database.add_machine(MACHINE)
    members = tasks()
    for number, task in enumerate(members):
        database.add_workload(workload_of(task))
        ids = database.add_trials(
            trials_of(task, START + 20.0 * number + 5, fails=task.name == "hopeless")
        )
        best = database.best(task.hash)
        default = next(t for t in database.trials(task.hash) if t.origin == "default")
        for one in (best, default):
            if one is not None and one.ok and one.id is not None:
                database.confirm(one.id, [0.9 * s for s in (*one.latencies_s, one.latencies_s[0])])
        assert None not in ids
    parts = tuple(ModelTask(t.hash, int(t.weight)) for t in members[:2])
    database.add_model(ModelRow("net", "net", parts))
    database.keep(RUN)
    database.keep(LOAD)
    database.keep(CEILINGS)


def line(id_: int, seconds: float | None, created_at: float, **changes: object) -> TrialLine:
    """One trial of a history made by hand."""
    plain = TrialLine(
        id=id_,
        workload_hash="w0",
        round=0,
        seed=0,
        origin="tile",
        stage="ok" if seconds else "run",
        error=None if seconds else "RunError",
        measured_s=seconds,
        latency_s=seconds,
        confirmed=False,
        predicted=None,
        build_s=0.0,
        run_s=0.0,
        created_at=created_at,
        message="" if seconds else "crashed",
    )
    return replace(plain, **changes)  # type: ignore[arg-type]

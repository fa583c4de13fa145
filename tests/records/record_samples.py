"""Sample rows, and what the worker processes of the concurrency tests run."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from tilewright.contract.gene import Gene
from tilewright.records import (
    CeilingsRow,
    Database,
    FactsRow,
    LoadRow,
    Machine,
    ReuseRow,
    RunRow,
    Trial,
    WorkloadRow,
)

MACHINE = Machine.of(
    "cpu", cpu="icelake-server", features="+avx2,+avx512f", cores=2, compiler="LLVM 22.1.0"
)
OTHER_MACHINE = Machine.of(
    "cpu", cpu="icelake-server", features="+avx2", cores=4, compiler="LLVM 22.1.0"
)
WORKLOAD = WorkloadRow("w0", "matmul", '{"stages":[]}', "s0", (512, 512, 512), 2 * 512**3)
OTHER_WORKLOAD = WorkloadRow("w1", "conv2d", '{"stages":[]}', "s1", (14, 14, 256), 10**9)
BATCH = 7
LOAD = LoadRow(MACHINE.fingerprint, 1_700_000_000.0, "busy for 80 % of the time: a program")
FACTS = FactsRow(
    MACHINE.fingerprint,
    "run",
    1_700_000_000.0,
    {"command": "tune µ.onnx", "minutes": 2.5},
)
RUN = RunRow(MACHINE.fingerprint, 1_700_000_000.0, 1, "evolution", 60.5, 20.0, 5.0, 10.0, 15.0, 2.5)
REUSED = ReuseRow(MACHINE.fingerprint, "plan", 1, 1, "w1", "reuse", "w0", 12, 7.5)
CEILINGS = CeilingsRow(MACHINE.fingerprint, 4e11, (1 << 15, 1 << 20), (5e11, 1e11), 1.7e9)


def gene(number: int, sketch: str = "tile") -> Gene:
    """Another one for each number; those of a hundred share a producer."""
    steps = f'[["split","C","i",["C.i#1",{number // 100}]]]'
    return Gene(f'{{"sketch":"{sketch}","steps":{steps}}}', f'{{"C.i":[{number}],"C.unroll":2}}')


def number_of(trial: Trial) -> int:
    """The number of a sample trial."""
    (tile,) = json.loads(trial.gene.decisions)["C.i"]
    return int(tile)


def trial(number: int, **changes: Any) -> Trial:
    """A distinct successful trial for each number."""
    sample = Trial(
        workload_hash=WORKLOAD.hash,
        machine=MACHINE.fingerprint,
        gene=gene(number),
        round=number // BATCH,
        seed=1,
        latencies_s=(0.001 + number * 1e-6,),
        predicted=0.5,
        origin="sample",
        created_at=1_700_000_000.0 + number,
    )
    return replace(sample, **changes)


def failure(number: int, **changes: Any) -> Trial:
    """A distinct failed trial for each number."""
    failed = {
        "latencies_s": (),
        "stage": "run",
        "error": "RunError",
        "message": "killed by SIGSEGV",
    }
    return trial(number, **{**failed, **changes})


def write_forever(target: str, first_round: int, told: Connection) -> None:
    """Open the database and add batches (one round each) until killed; tell before each."""
    told.send(None)
    database = Database.open(target)
    database.add_machine(MACHINE)
    database.add_workload(WORKLOAD)
    number = first_round
    while True:
        told.send(number)
        database.add_trials([trial(number * BATCH + i) for i in range(BATCH)])
        number += 1


def write_shared(target: str, barrier: Any, answers: Any, order: list[int]) -> None:
    """Add the trials of `order` in small batches beside another process; answer the new ids."""
    barrier.wait()
    with Database.open(target) as database:
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        barrier.wait()
        ids: list[int] = []
        for start in range(0, len(order), 10):
            batch = [trial(number) for number in order[start : start + 10]]
            ids += [id_ for id_ in database.add_trials(batch) if id_ is not None]
            time.sleep(0.003)  # as measuring would: SQLite's lock is not a fair queue
    answers.put(ids)

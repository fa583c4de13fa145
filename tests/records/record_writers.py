"""What the worker processes of the concurrency tests run."""

from __future__ import annotations

import time
from multiprocessing.connection import Connection
from typing import Any

from tilewright.records import Database
from tilewright.testing.databases import MACHINE, WORKLOAD, trial

BATCH = 7


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

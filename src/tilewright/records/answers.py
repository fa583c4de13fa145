"""What the records database answers with besides its rows: histories, arrays, counts.

    database.rounds(machine)     [Round("9f…", seed=0, number=0, trials=8, failed=1, …), …]
    database.summary()           Summary(schema=3, trials=512, …)

`queries.py` makes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.records.machine import Machine
from tilewright.records.rows import ModelRow


@dataclass(frozen=True, slots=True)
class TrialLine:
    """What a history needs of a trial: not its gene.

    Fields are those of `Trial`; `confirmed` says whether `latency_s` comes of a confirmation.
    """

    id: int
    workload_hash: str
    round: int
    seed: int
    origin: str
    stage: str
    error: str | None
    measured_s: float | None
    latency_s: float | None
    confirmed: bool
    predicted: float | None
    build_s: float
    run_s: float
    created_at: float
    message: str


@dataclass(frozen=True, slots=True)
class Round:
    """The trials of one round of one task: what a scheduler needs to recall its history.

    `best_s` is the least measured median of the round (not of the task), None if all failed.
    """

    workload_hash: str
    seed: int
    number: int
    trials: int
    failed: int
    best_s: float | None
    first_id: int
    last_id: int


@dataclass(frozen=True, slots=True, eq=False)
class TrainingGroup:
    """Trials of one workload and producer as arrays, in order of insertion.

    `decisions` JSON texts [n]; `ids`, `rounds` int64 [n]; `latency_s` float64 [n], inf where the
    trial failed (a throughput of 0); `region_s` float64 [n], nan where it is not known.
    """

    workload_hash: str
    producer: str
    decisions: tuple[str, ...]
    ids: NDArray[np.int64]
    rounds: NDArray[np.int64]
    latency_s: NDArray[np.float64]
    region_s: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is known of one workload on one machine. `defaults` of its trials are of the default
    program; `program` says what the best one is (see `program_kind`).
    """

    workload_hash: str
    name: str
    machine: str
    trials: int
    failed: int
    best_s: float | None
    last_at: float
    defaults: int
    program: str


@dataclass(frozen=True, slots=True)
class ErrorCount:
    """How often trials failed at a stage with an error class."""

    stage: str
    error: str
    trials: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A database at a glance."""

    schema: int
    trials: int
    failed: int
    workloads: int
    machines: tuple[Machine, ...]
    models: tuple[ModelRow, ...]
    coverage: tuple[Coverage, ...]
    errors: tuple[ErrorCount, ...]

    @property
    def defaults(self) -> int:
        """How many of the trials are of default programs; the search measured the others."""
        return sum(line.defaults for line in self.coverage)

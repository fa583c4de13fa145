"""Measuring for the records: what anyone measured is looked up, what is new is recorded at once.

ledger = Ledger(database, machine, measurer, seed, shares)
ledger.known(search, [gene])                 the recorded trials, by gene
ledger.measure(search, candidates)           measured and recorded trials
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.contract.gene import Gene
from tilewright.records.database import Database
from tilewright.records.rows import Trial
from tilewright.search.strategies.memory import Candidate
from tilewright.search.tasks import (
    UNFINISHED,
    AllFailedError,
    Measured,
    Measurer,
    TaskSearch,
)


@dataclass
class Shares:
    """Wall seconds by activity."""

    search: float = 0.0
    train: float = 0.0
    build: float = 0.0
    run: float = 0.0
    other: float = 0.0


@dataclass(frozen=True)
class Ledger:
    """The records of one run on `machine` (a fingerprint); `shares` counts the time. `trials_s` are
    seconds of a program, by the task's hash, when some were measured last.
    """

    database: Database
    machine: str
    measurer: Measurer
    seed: int
    shares: Shares
    trials_s: dict[str, float] = field(default_factory=dict)

    def known(self, search: TaskSearch, genes: Sequence[Gene]) -> dict[Gene, Trial]:
        """Those of some programs that are recorded."""
        return self.database.lookup(search.task.hash, self.machine, genes)

    def measure(self, search: TaskSearch, batch: Sequence[Candidate]) -> list[Trial]:
        """Measure and record; the trials as the database has them, whoever was first, without those
        of programs that had no time to end.
        """
        if not batch:
            return []
        try:
            return self.record(search, batch, self.results(search, batch))
        except AllFailedError as error:
            self.record(search, batch, error.results)
            raise

    def results(self, search: TaskSearch, batch: Sequence[Candidate]) -> Sequence[Measured]:
        """Measure, and count the time."""
        started = time.monotonic()
        assert search.default is not None
        results: Sequence[Measured] = ()
        try:
            results = self.measurer.measure(
                search.task,
                search.default,
                [c.gene for c in batch],
                search.best_s,
                search.reference_s,
            )
        except AllFailedError as error:
            results = error.results
            raise
        finally:
            elapsed, run = time.monotonic() - started, sum(r.run_s for r in results)
            build = min(sum(r.build_s for r in results), max(0.0, elapsed - run))  # in parallel
            self.shares.build += build
            self.shares.run += run
            self.shares.other += max(0.0, elapsed - build - run)
            self.trials_s.pop(search.task.hash, None)  # the newest comes last
            self.trials_s[search.task.hash] = elapsed / len(batch)
        return results

    def record(
        self, search: TaskSearch, batch: Sequence[Candidate], results: Sequence[Measured]
    ) -> list[Trial]:
        """The trials as the database has them, whoever was first, of what ended."""
        pairs = zip(batch, results, strict=True)
        ended = [(c, r) for c, r in pairs if r.stage != UNFINISHED]
        batch = [c for c, _ in ended]
        trials = [self._trial(search, c, r) for c, r in ended]
        if None in self.database.add_trials(trials):  # another run measured the same meanwhile
            return list(self.known(search, [c.gene for c in batch]).values())
        return trials

    def _trial(self, search: TaskSearch, candidate: Candidate, result: Measured) -> Trial:
        return Trial(
            workload_hash=search.task.hash,
            machine=self.machine,
            gene=candidate.gene,
            round=search.rounds,
            seed=self.seed,
            latencies_s=tuple(result.latencies_s),
            predicted=candidate.predicted,
            origin=candidate.origin,
            stage=result.stage,
            error=result.error,
            message=result.message,
            build_s=result.build_s,
            run_s=result.run_s,
            region_s=result.region_s,
        )

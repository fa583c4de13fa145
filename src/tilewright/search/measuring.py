"""Measuring for the records: what anyone measured is looked up, what is new is recorded at once.

ledger = Ledger(database, machine, measurer, seed, shares)
ledger.known(search, [gene])                 the recorded trials, by gene
answer = ledger.ask(search, candidates)      measured, and
ledger.entered(search, [(candidates, answer)], number=3)     recorded, as a part of a round
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
class Answer:
    """What came of some programs in so many seconds; `error` if all failed alike."""

    results: Sequence[Measured]
    seconds: float
    error: AllFailedError | None = None


@dataclass(frozen=True)
class Ledger:
    """The records of one run on `machine` (a fingerprint), of which there are so many `lanes`;
    `shares` counts the time. `trials_s` are seconds of a program, by the task's hash, when some
    were measured last.
    """

    database: Database
    machine: str
    measurer: Measurer
    seed: int
    shares: Shares
    lanes: int = 1
    trials_s: dict[str, float] = field(default_factory=dict)

    def known(self, search: TaskSearch, genes: Sequence[Gene]) -> dict[Gene, Trial]:
        """Those of some programs that are recorded."""
        return self.database.lookup(search.task.hash, self.machine, genes)

    def ask(self, search: TaskSearch, batch: Sequence[Candidate]) -> Answer:
        """Measure: on one of the lanes, of which each may be asked in a thread of its own."""
        started = time.monotonic()
        assert search.default is not None
        results: Sequence[Measured]
        error = None
        try:
            results = self.measurer.measure(
                search.task,
                search.default,
                [c.gene for c in batch],
                search.best_s,
                search.reference_s,
            )
        except AllFailedError as caught:
            results, error = caught.results, caught
        return Answer(results, time.monotonic() - started, error)

    def count(self, search: TaskSearch, answer: Answer) -> None:
        """Count the time of results: a lane's is a share of the run's."""
        results = answer.results
        elapsed, run = answer.seconds, sum(r.run_s for r in results)
        build = min(sum(r.build_s for r in results), max(0.0, elapsed - run))  # in parallel
        self.shares.build += build / self.lanes
        self.shares.run += run / self.lanes
        self.shares.other += max(0.0, elapsed - build - run) / self.lanes
        self.trials_s.pop(search.task.hash, None)  # the newest comes last
        self.trials_s[search.task.hash] = elapsed / max(1, len(results)) / self.lanes

    def counted(self, search: TaskSearch, answer: Answer) -> Sequence[Measured]:
        """Results, with their time counted. Raises AllFailedError."""
        self.count(search, answer)
        if answer.error is not None:
            raise answer.error
        return answer.results

    def results(self, search: TaskSearch, batch: Sequence[Candidate]) -> Sequence[Measured]:
        """Measure, and count the time."""
        return self.counted(search, self.ask(search, batch))

    def entered(
        self, search: TaskSearch, parts: Sequence[tuple[list[Candidate], Answer]], number: int
    ) -> list[Trial]:
        """The trials of parts of a round, recorded at once; as the database has them, whoever was
        first, without those of programs that had no time to end.
        """
        batch = [c for part, _ in parts for c in part]
        trials = self.record(search, batch, [r for _, a in parts for r in a.results], number)
        for _, answer in parts:
            self.count(search, answer)
        return trials

    def record(
        self,
        search: TaskSearch,
        batch: Sequence[Candidate],
        results: Sequence[Measured],
        number: int = 0,
    ) -> list[Trial]:
        """The trials as the database has them, whoever was first, of what ended."""
        pairs = zip(batch, results, strict=True)
        ended = [(c, r) for c, r in pairs if r.stage != UNFINISHED]
        batch = [c for c, _ in ended]
        trials = [self._trial(search, c, r, number) for c, r in ended]
        if None in self.database.add_trials(trials):  # another run measured the same meanwhile
            return list(self.known(search, [c.gene for c in batch]).values())
        return trials

    def _trial(
        self, search: TaskSearch, candidate: Candidate, result: Measured, number: int
    ) -> Trial:
        return Trial(
            workload_hash=search.task.hash,
            machine=self.machine,
            gene=candidate.gene,
            round=number,
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
            points_s=tuple(result.points_s),
        )

"""The default programs of a run's tasks: the first record of each, and what tasks are weighed by.

    defaults = DefaultPrograms(ledger, searches, target, bool(rules), disturbance)
    defaults.measure(defaults.first(minutes), is_late, told)     of the tasks that matter
    defaults.begin(search)                                       of another, when its turn comes

With a budget in minutes, tasks of less than one percent of the estimated sum wait until they are
tuned: among eighty of them no time was left to search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np

from tilewright.contract.gene import Gene
from tilewright.ground.text import one_line
from tilewright.records.rows import DEFAULT, Trial
from tilewright.search.disturbance import Disturbance
from tilewright.search.flight import each
from tilewright.search.measuring import Answer, Ledger
from tilewright.search.strategies.memory import Candidate
from tilewright.search.tasks import UNFINISHED, Measured, TaskSearch
from tilewright.space.default import default_gene
from tilewright.target import GpuTarget, Target

SHOWN_FAULT = 200  # characters
MINOR = 0.01  # of the estimated sum


@dataclass(frozen=True)
class DefaultPrograms:
    """`is_own`: the spaces have rules of the user or templates of the strategy, which do not change
    the default programs.
    """

    ledger: Ledger
    searches: Sequence[TaskSearch]
    target: Target
    is_own: bool
    disturbance: Disturbance

    def first(self, is_timed: bool) -> list[int]:
        """The tasks whose default programs are measured before the search begins: without a limit
        of time all, else those that cost most by the estimate, and those that have records.
        """
        numbers = list(range(len(self.searches)))
        if not is_timed:
            return numbers
        for search in self.searches:
            search.expected_s = search.estimate_s()
        costs = np.array([s.task.weight * (s.expected_s or 0.0) for s in self.searches])
        least = MINOR * float(costs.sum())
        measured = {r.workload_hash for r in self.ledger.database.rounds(self.ledger.machine)}
        order = sorted(numbers, key=lambda i: -costs[i])
        return [i for i in order if costs[i] >= least or self.searches[i].task.hash in measured]

    def measure(
        self, first: Sequence[int], is_late: Callable[[], bool], told: Callable[[int], None]
    ) -> None:
        """Measure those of some tasks, at least of one, until it `is_late`.

        Tasks are weighed by these figures, and all others of a task may be relative to its own. A
        moment in which the machine was slow would spoil what follows, so each is measured twice,
        the other tasks' between.
        """
        estimates_s = [s.expected_s for s in self.searches]
        early: dict[int, Sequence[Measured]] = {}
        found: dict[int, tuple[Candidate, Candidate | None]] = {}
        jobs = (self._job(i, found) for i in first if not (found and is_late()))
        for i, answer in each(jobs, self.ledger.lanes):
            early[i] = self.ledger.counted(self.searches[i], answer) if answer else ()
            told(i)
        jobs = (self._job(i, found, early[i], is_late) for i in found)
        for i, answer in each(jobs, self.ledger.lanes):
            search, results = self.searches[i], early[i]
            if answer:
                results = [*self.ledger.counted(search, answer), *results]
            self._keep(search, *found[i], results)
            told(i)
        self._expect(estimates_s)

    def begin(self, search: TaskSearch) -> None:
        """Measure that of one task."""
        default, parent = self._default(search)
        is_known = bool(self.ledger.known(search, [default.gene]))
        results = () if is_known else self.ledger.results(search, [default])
        self._keep(search, default, parent, results)

    def _job(
        self,
        i: int,
        found: dict[int, tuple[Candidate, Candidate | None]],
        early: Sequence[Measured] = (),
        is_late: Callable[[], bool] = lambda: False,
    ) -> tuple[int, Callable[[], Answer | None]]:
        """What measures a task's default program, which is put into `found`, unless it is known, or
        `early` results are enough.
        """
        search = self.searches[i]
        found[i] = default, _ = found.get(i) or self._default(search)
        if self.ledger.known(search, [default.gene]) or (early and is_late()):
            return i, lambda: None
        return i, partial(self.ledger.ask, search, [default])

    def _keep(
        self,
        search: TaskSearch,
        default: Candidate,
        parent: Candidate | None,
        results: Sequence[Measured],
    ) -> None:
        """Record a default program by its `results`, unless it is known, and take it for the first
        parent, too: it is what the estimate takes for best among thousands.
        """
        known = self.ledger.known(search, [default.gene]).get(default.gene)
        if known is None:
            if len(results) > 1 and all(r.latencies_s for r in results):
                self.disturbance.drifted(*map(_seconds, results))
            best = min(results, key=_seconds)
            if best.stage == UNFINISHED:
                search.fault = _fault(best)
                return
            (known,) = self.ledger.record(search, [default], [best])
        if known.measured_s is None:
            search.errors += 1
            search.fault = _fault(known)
        search.default_s = search.reference_s = known.measured_s
        search.expected_s = None
        if known.measured_s is not None:  # a later confirmation must not change the search
            search.note(known.measured_s, default.gene)
            search.see([known])
            if parent is not None:
                search.strategy.tell([parent], [known.measured_s])

    def _expect(self, estimates_s: Sequence[float | None]) -> None:
        """What is not measured takes as much of its estimate as what is measured, in the sum."""
        pairs = [
            (s.task.weight * estimate_s, s.task.weight * s.default_s)
            for s, estimate_s in zip(self.searches, estimates_s, strict=True)
            if s.default_s is not None and estimate_s is not None
        ]
        if pairs:
            usual = sum(took for _, took in pairs) / sum(estimated for estimated, _ in pairs)
            for search in self.searches:
                if search.expected_s is not None:
                    search.expected_s *= usual

    def _default(self, search: TaskSearch) -> tuple[Candidate, Candidate | None]:
        """The default program, and the same as a candidate of the task's space if it is one."""
        begun = self._begun_with(search)
        if begun is not None:
            gene = begun
        elif self.is_own:
            gene = default_gene(search.task.space(self.target))
        else:
            gene = default_gene(search.space, search.extractor)
        search.default, found = gene, search.space.row_of(gene)
        if found is None:
            return Candidate(0, (), gene, DEFAULT), None
        default = Candidate.at(found, gene, DEFAULT)
        return default, default

    def _begun_with(self, search: TaskSearch) -> Gene | None:
        """The default program of the records where it may be another one by now, because templates
        turned out to be right meanwhile: a run goes on from what it began with.
        """
        if not (isinstance(self.target, GpuTarget) and self.target.proved):
            return None
        known = self.ledger.database.trials(search.task.hash, self.ledger.machine)
        return next((t.gene for t in known if t.origin == DEFAULT and t.ok), None)


def _seconds(result: Measured) -> float:
    return median(result.latencies_s) if result.latencies_s else float("inf")


def _fault(found: Measured | Trial) -> str:
    """What a program without a figure did."""
    if found.stage in ("timeout", UNFINISHED):
        return f"did not end: {found.message}"
    return f"failed in {found.stage} with {found.error}: {one_line(found.message, SHOWN_FAULT)}"

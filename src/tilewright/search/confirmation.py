"""What the search found, measured again in turns with the default programs.

    confirmation = Confirmation(database, machine, measurer)
    confirmation.run(searches, is_late, told)      the records then say what to compile with
    confirmation.contenders(search)                [gene, …] to be seen in their network
    confirmation.place(search, {gene: 1.1})        so many times the default one's time there
    confirmation.settle(search)                    its figures are the records' from now on

The paper has no such step. On a shared machine the best of many noisy figures is not the best
program, and the default program's first figure may be of a moment in which everything took twice as
long. So what is told as a speed-up is a ratio of turns that the two programs took in processes that
did not search, or in their network's own runs; a program that is no faster than the default one
there is not compiled with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from statistics import median

from tilewright.contract.gene import Gene
from tilewright.records.database import Database
from tilewright.records.rows import Trial
from tilewright.search.flight import each
from tilewright.search.tasks import Measurer, TaskSearch

FINALISTS = 2
MORE = 4  # leaders by a lucky figure that get a second measurement, per task
MOST = 32  # the same of leaders by more than luck: their figures are of another state
LUCK = 0.95  # of what the best confirmed program takes
CALMER = 0.9  # a default program quicker than this share of its figure: that was of a busy moment


@dataclass(frozen=True)
class Confirmation:
    """Measures finalists again and keeps that in the records of `machine` (a fingerprint).

    A `brief` one measures the best program of each task alone: the best figure of a few is seldom
    a lucky one. `drifted` hears what a default program took when it was measured first, and what
    it takes now. So many tasks at once as there are `lanes`.
    """

    database: Database
    machine: str
    measurer: Measurer
    drifted: Callable[[float, float], None] = lambda *_: None
    brief: bool = False
    lanes: int = 1

    def run(
        self,
        searches: Sequence[TaskSearch],
        is_late: Callable[[], bool] = lambda: False,
        told: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Finalists of all tasks, those that cost most first; then, in the same order, any program
        that still leads by an unconfirmed figure. `told` hears the number of every task that is
        begun with, and when it is done; when it `is_late` nothing more is measured.

        A whole round may have been measured while the machine was in a state that suits some
        programs better (docs/findings.md).
        """
        costs = [s.task.weight * (s.best_s or 0.0) for s in searches]
        wanted = [i for i, s in enumerate(searches) if s.task.weight]
        order = sorted(wanted, key=lambda i: -costs[i])
        begins = told if self.lanes == 1 else lambda _: None  # others are heard in between
        stages = (self._finalists,) if self.brief else (self._finalists, self._leaders)
        for finish in stages:
            jobs = (
                (i, partial(finish, searches[i], is_late, partial(begins, i)))
                for i in order
                if not is_late()
            )
            for i, is_new in each(jobs, self.lanes):
                if is_new:
                    self.settle(searches[i])
                    told(i)
        for search in searches:
            self.settle(search)

    def settle(self, search: TaskSearch) -> None:
        """Take a task's figures from its confirmed records, where it has such: what will be
        compiled, and the default program, of the same turns.
        """
        if not search.begun:
            return
        best, default = self._best(search), self._default(search)
        if best is None:
            return
        if best.gene == search.default:
            search.default_s = search.best_s = best.latency_s
            search.best, search.confirmed = best.gene, True
        elif best.confirmed_s:
            search.default_s = default.latency_s if default and default.confirmed_s else None
            search.best_s, search.best, search.confirmed = best.latency_s, best.gene, True

    def contenders(self, search: TaskSearch) -> list[Gene]:
        """Programs that are faster than the default one by the figures that count, the best first,
        as long as the best was not seen in its places.
        """
        default = self._default(search)
        if default is None or search.best in (None, search.default, *search.placed):
            return []
        trials = self.database.trials(search.task.hash, self.machine)
        faster = [
            (t.latency_s, t.gene)
            for t in trials
            if t.latency_s and t.latency_s < (default.latency_s or 0.0)
            if t.confirmed_s or not search.confirmed
        ]
        ranked = [gene for _, gene in sorted(faster, key=lambda pair: pair[0])]
        return [gene for gene in ranked if gene not in search.placed][:FINALISTS]

    def place(self, search: TaskSearch, ratios: Mapping[Gene, float]) -> None:
        """Programs take so many times what the default one does in the networks that the task is
        of: these are their figures now.
        """
        default = self._default(search)
        if default is None or default.id is None or not default.latency_s:
            return
        self.database.confirm(default.id, default.confirmed_s or [default.latency_s])
        for gene, ratio in ratios.items():
            trial = self._trial(search, gene)
            if trial.id is not None:
                self.database.confirm(trial.id, [default.latency_s * ratio])
        search.placed.update(ratios)
        self.settle(search)

    def _finalists(
        self, search: TaskSearch, _: Callable[[], bool], begins: Callable[[], None]
    ) -> bool:
        """The best of the search's figures; whether there are any."""
        leading = [gene for _, gene in search.finalists if gene != search.default]
        # A run that goes on where an earlier one ended has nothing new to measure.
        most = 1 if self.brief else FINALISTS
        new = [gene for gene in leading[:most] if not self._trial(search, gene).confirmed_s]
        if new:
            begins()
            self._measure(search, new)
        return bool(leading)

    def _leaders(
        self, search: TaskSearch, is_late: Callable[[], bool], begins: Callable[[], None]
    ) -> bool:
        """Programs that lead by figures of the search, until the best one is confirmed; whether
        there were any.
        """
        measured = 0
        while measured < MOST and not is_late():
            leader, ahead = self._leader(search)
            if leader is None or not (ahead < 1.0 if measured < MORE else ahead < LUCK):
                break
            if not measured:
                begins()
            self._measure(search, [leader.gene])
            measured += 1
            if not self._trial(search, leader.gene).confirmed_s:
                break  # it fails in another process
        return measured > 0

    def _leader(self, search: TaskSearch) -> tuple[Trial | None, float]:
        """The best unconfirmed program, and its share of what the best confirmed one takes: both
        relative to the default program, one as measured in the search, the other in turns.
        """
        leader = self._best(search, confirmed=False)
        sure, default = self._best(search, confirmed=True), self._default(search)
        if leader is None or leader.gene == search.default:
            return None, inf
        if sure is None:
            return leader, 0.0
        usual = 1.0
        if default is not None and default.measured_s and default.latency_s:
            usual = default.latency_s / default.measured_s
        return leader, (leader.latency_s or inf) * usual / (sure.latency_s or inf)

    def _measure(self, search: TaskSearch, genes: Sequence[Gene]) -> None:
        """Keep confirmed figures of some programs and of the default one."""
        assert search.default is not None
        together = [search.default, *genes]
        default, *found = self.measurer.confirm(search.task, search.default, together)
        if not default:
            return
        if search.reference_s is not None:
            self.drifted(search.reference_s, min(default))
        untuned_s = self._untuned(search, default)
        for gene, seconds in zip(genes, found, strict=True):
            ratios = [s / usual for s, usual in zip(seconds, default, strict=False)]
            trial = self._trial(search, gene)
            if ratios and trial.id is not None:
                self.database.confirm(trial.id, [untuned_s * ratio for ratio in ratios])

    def _untuned(self, search: TaskSearch, found: Sequence[float]) -> float:
        """What the default program takes; the quietest process tells.

        It stays what it was, so that all confirmed figures of the task compare, unless that was of
        a busier moment: then they are all put right.
        """
        now_s, default = min(found), self._default(search)
        if default is None or default.id is None:
            return now_s  # it failed when it was to be recorded
        if not default.confirmed_s:
            self.database.confirm(default.id, [now_s])
            return now_s
        known_s = median(default.confirmed_s)
        if now_s >= CALMER * known_s:
            return known_s
        for trial in self.database.trials(search.task.hash, self.machine):
            if trial.ok and trial.id is not None and trial.confirmed_s:
                right = [s * now_s / known_s for s in trial.confirmed_s]
                self.database.confirm(trial.id, right)
        return now_s

    def _best(self, search: TaskSearch, confirmed: bool | None = None) -> Trial | None:
        return self.database.best(search.task.hash, self.machine, confirmed)

    def _default(self, search: TaskSearch) -> Trial | None:
        """The default program's record, unless it failed."""
        if search.default is None:
            return None
        known = self.database.lookup(search.task.hash, self.machine, [search.default])
        found = known.get(search.default)
        return found if found is not None and found.ok else None

    def _trial(self, search: TaskSearch, gene: Gene) -> Trial:
        return self.database.lookup(search.task.hash, self.machine, [gene])[gene]

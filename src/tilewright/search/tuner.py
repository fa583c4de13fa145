"""The tuner: rounds of propose, measure, record and learn, over all tasks of all models.

    tuner = Tuner(tasks, database, machine, measurer, target, scheduler_of)
    result = tuner.run(Budget(minutes=3), observe)

Every round is one decision of the task scheduler: that task's strategy proposes a batch, the
measurer runs it, the batch is recorded in one transaction, and the shared cost model learns. On a
database with records of the same seed the loop takes each round's candidates from there instead of
searching for them, and results that anyone recorded are looked up, not measured again: a killed
run goes on as if it had not been.

On several machines many rounds are under way at once (`flight`), of several tasks, and of one task
before its last are back; the model learns meanwhile. A run that goes on is then told all that is
recorded first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from math import inf
from typing import TypeAlias

from tilewright.contract.gene import Gene
from tilewright.cost.features import COLUMNS
from tilewright.ground import log
from tilewright.ground.text import duration
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.provenance import provenance
from tilewright.records.rows import DEFAULT, RUN, FactsRow, LoadRow, RunRow, Trial
from tilewright.schedule.templates import Template, templates_of
from tilewright.search.confirmation import Confirmation
from tilewright.search.default_programs import DefaultPrograms
from tilewright.search.disturbance import Disturbance
from tilewright.search.flight import TELL_S, Flight, Round
from tilewright.search.measuring import Ledger, Shares
from tilewright.search.model.cost_model import GradientBoostedModel
from tilewright.search.model.training_set import TrainingSet, pretrain
from tilewright.search.progress import (
    CONFIRMING,
    DEFAULTS,
    SEARCH,
    TRIAL_S,
    Budget,
    Callback,
    Progress,
    TaskResult,
)
from tilewright.search.reuse.parts import Parts
from tilewright.search.strategies.memory import Candidate, Listed
from tilewright.search.strategies.profiler import ROUND, lengths
from tilewright.search.strategies.table import STRATEGIES, Maker, Way
from tilewright.search.task_scheduler import TaskScheduler, unit_trials
from tilewright.search.tasks import (
    Measurer,
    TaskSearch,
    TuningTask,
    nearest,
)
from tilewright.space.derivation import Rule
from tilewright.space.rules import rules_of
from tilewright.space.space import Space
from tilewright.target import Target

# Of a budget in minutes so much is kept for confirming, by how many tasks have a winner.
LEAST_CONFIRM, MOST_CONFIRM, CONFIRM_TASK_S = 0.1, 0.3, 2.0
LEAST_TRIAL_S = 1e-3
MOST_PLACED = 3  # times that programs are compared in their places
DEFAULTS_SHARE = 0.3  # of a budget in minutes, for default programs before the search begins
CHECKPOINT_S = 5.0  # at least between two times that the database's file is made whole
# Other workloads to learn from, what each takes, and how much of a budget in minutes all of them.
MAX_TRANSFER, TRANSFER_S, TRANSFER_SHARE = 16, 0.25, 0.1


InPlace: TypeAlias = Callable[
    [Sequence[Gene | None], Sequence[Sequence[Gene]]], Sequence[Mapping[Gene, float]]
]


@dataclass
class TimeLeft:
    """Whether there is time for one more step, by the longest so far; `clock` gives seconds."""

    clock: Callable[[], float]
    longest_s: float = 0.0
    last_s: float | None = None

    def is_late(self, limit_s: float) -> bool:
        """Asked before each step: whether it would end later than `limit_s`."""
        now_s = self.clock()
        if self.last_s is not None:
            self.longest_s = max(self.longest_s, now_s - self.last_s)
        self.last_s = now_s
        return now_s + self.longest_s > limit_s


@dataclass
class Tuner:
    """Tunes tasks together, by a `way` to search, or what `maker` gives each task instead; `rules`
    are the user's sketch rules, tried before those of the target. The measurer measures as much at
    once as it has `lanes`, and `machines` says what they do. `in_place` is told the default program
    and some others of each task, and tells how many times as long these take in the networks that
    the tasks are of (None: nobody can tell). `default_programs_s` is how long default programs
    took. The time counts from `begun` on, by the monotonic clock (None: from when it runs).
    """

    tasks: Sequence[TuningTask]
    database: Database
    machine: Machine
    measurer: Measurer
    target: Target
    schedule: Callable[[Sequence[TuningTask], Sequence[float], int], TaskScheduler]
    way: Way = STRATEGIES["evolution"]
    seed: int = 0
    rules: Sequence[Rule] = ()
    maker: Callable[[TuningTask], Maker] | None = None
    shares: Shares = field(default_factory=Shares)
    disturbance: Disturbance = field(default_factory=Disturbance)
    begun: float | None = None
    default_programs_s: float = 0.0
    checkpoint_s: float = 0.0  # when the database's file was last made whole
    lanes: int = 1
    machines: Callable[[], str] = lambda: ""
    in_place: InPlace | None = None

    def __post_init__(self) -> None:
        self.model = GradientBoostedModel(seed=self.seed)
        self.rows = TrainingSet(len(COLUMNS))
        self.learned = 0
        self.trainer: Executor | None = None  # where machines do not wait for the model
        self.training: Future[None] | None = None
        self.recorded: dict[tuple[int, int], list[Candidate]] = {}  # by task and round
        self.resuming = True
        make = self.maker or (lambda _: self.way.make)
        self.searches = [self._search(task, make(task)) for task in self.tasks]
        self.ledger = Ledger(
            self.database, self.machine.fingerprint, self.measurer, self.seed, self.shares,
            self.lanes,
        )  # fmt: skip
        has_own = bool(self.rules) or self._templates != templates_of(self.target)
        self.defaults = DefaultPrograms(
            self.ledger, self.searches, self.target, has_own, self.disturbance
        )
        self.trials = 0
        self.default_programs, self.default_share = 0, 1.0
        self.start_s = 0.0  # of a program in a process that starts for it, as confirming's do
        self.started, self.started_at = time.monotonic(), time.time()

    def _space(self, task: TuningTask) -> Space:
        return task.space(self.target, (*self.rules, *rules_of(self.target)), self._templates)

    @property
    def _templates(self) -> Sequence[Template]:
        return templates_of(self.target, self.way.asks)

    def _search(self, task: TuningTask, make: Maker) -> TaskSearch:
        space = self._space(task)
        composed = Parts(self.database, self.machine, self.target).program(task, space)
        gene = None if composed is None else composed.gene
        return TaskSearch.start(task, space, self.model, make, gene)

    # ---- the run ------------------------------------------------------------------------------

    def run(self, budget: Budget, observe: Callback = lambda _: None) -> list[TaskSearch]:
        """Tune until the budget is spent or every space is exhausted; returns the searches.

        An exception (of `observe`, too; KeyboardInterrupt) leaves everything measured so far in the
        database.
        """

        def tell(task: int, phase: str = SEARCH) -> None:
            progress = self._progress(task, budget, phase)
            log.info("%s", progress)
            observe(progress)

        now = time.monotonic()
        self.started = now if self.begun is None else self.begun
        self.started_at = time.time() - (now - self.started)
        self.register()
        self._keep_facts(budget)
        self._measure_defaults(budget, lambda i: tell(i, DEFAULTS))
        latencies = [s.best_s or s.expected_s or float("inf") for s in self.searches]
        scheduler = self.schedule(self.tasks, latencies, self.seed)
        unit = unit_trials(budget.expected_trials, len(self.tasks))
        if self.way.short:
            unit, budget = ROUND, self._listed(budget)
        else:
            self._pretrain(budget)
        self.recorded = self._recorded()
        unit = min(unit, budget.patience or unit)
        with Flight(self.ledger, self.lanes) as flight, ThreadPoolExecutor(1) as threads:
            if self.lanes > 1:
                self.trainer = threads
                self._replay(scheduler)
            task = self._rounds(flight, scheduler, budget, unit, tell)
        confirmation = Confirmation(
            self.database,
            self.machine.fingerprint,
            self.measurer,
            self.disturbance.drifted,
            brief=self.way.short,
            lanes=self.lanes,
        )
        limit_s = inf if budget.minutes is None else budget.minutes * 60
        pace = TimeLeft(lambda: self.elapsed_s, self.start_s)
        confirmation.run(
            self.searches,
            lambda: pace.is_late(limit_s - self._place_s),
            lambda i: tell(i, CONFIRMING),
        )
        self._take_places(confirmation, limit_s)
        tell(task, CONFIRMING)
        self._keep_run()
        return self.searches

    def _take_places(self, confirmation: Confirmation, limit_s: float) -> None:
        """Choose among confirmed programs by what they take where they are used, as long as there
        is time: the next best ones, where those that were best by themselves are not.
        """
        for _ in range(MOST_PLACED):
            if self.in_place is None or self.elapsed_s + self._place_s > limit_s:
                return
            genes = [confirmation.contenders(search) for search in self.searches]
            if not any(genes):
                return
            found = self.in_place([search.default for search in self.searches], genes)
            for search, ratios in zip(self.searches, found, strict=True):
                if ratios:
                    told = " and ".join(f"{ratio:.2f}" for ratio in ratios.values())
                    log.info("%s: in place %s of the default's time", search.task.name, told)
                    confirmation.place(search, ratios)
            if not any(found):
                return

    @property
    def _place_s(self) -> float:
        """About what it takes to compare programs in their places, for all are built again."""
        if self.in_place is None:
            return 0.0
        return sum(self.ledger.trials_s.get(s.task.hash, 0.0) for s in self.searches)

    def _rounds(
        self,
        flight: Flight,
        scheduler: TaskScheduler,
        budget: Budget,
        unit: int,
        tell: Callable[[int], None],
    ) -> int:
        """Rounds of `unit` trials and more until the budget is spent; the last one's task."""
        task = 0
        while True:
            is_over = self._spent(budget, scheduler, flight.trials) or scheduler.done
            if is_over and self.elapsed_s >= self._search_until_s(budget):
                flight.give_up()
            scheduler.held = frozenset(r.task for r in flight.rounds if not r.search.is_open)
            room = 0 if is_over or not scheduler.ready else flight.room
            if room:
                task = scheduler.next()
                size = unit
                if self.lanes > 1:
                    size = int(max(unit, min(room, scheduler.most(task))))
                if budget.trials is not None:
                    size = min(size, budget.trials - self.trials - flight.trials)
                size = min(size, self._in_time(task, budget) - flight.trials)
                one = self._begin(task, max(1, size), scheduler)
                if one is None:
                    self._keep_run()
                    tell(task)
                    continue
                flight.launch(one)
            elif not flight.rounds:
                return task
            for one in flight.landed(0.0 if room else TELL_S):
                task = one.task
                self._end(one, scheduler)
                self._keep_run()
                tell(task)

    def _replay(self, scheduler: TaskScheduler) -> None:
        """Tell what earlier runs of this seed recorded, round by round."""
        for (task, number), batch in sorted(self.recorded.items(), key=lambda r: r[0][::-1]):
            search = self.searches[task]
            if not search.begun:
                self._begin_task(task, scheduler)
            search.rounds = number
            known = self.ledger.known(search, [c.gene for c in batch])
            self._end(Round(task, search, number, batch, known), scheduler)
        self.recorded = {}

    def _listed(self, budget: Budget) -> Budget:
        """The budget, of no more trials than all lists together have programs."""
        lists = [s.strategy for s in self.searches if isinstance(s.strategy, Listed)]
        costs = [s.task.weight * s.estimate_s() for s in self.searches]
        for one, most in zip(lists, lengths(costs), strict=True):
            one.most = most
        listed = sum(one.left for one in lists)
        return replace(budget, trials=min(listed, budget.trials or listed))

    @property
    def elapsed_s(self) -> float:
        """Wall seconds since the run began."""
        return time.monotonic() - self.started

    def _spent(self, budget: Budget, scheduler: TaskScheduler, under_way: int = 0) -> bool:
        if budget.trials is not None and self.trials + under_way >= budget.trials:
            return True
        if budget.patience is not None and scheduler.fruitless_trials >= budget.patience:
            log.info("nothing better in %d trials", scheduler.fruitless_trials)
            return True
        return self.elapsed_s >= self._search_until_s(budget)

    def _search_until_s(self, budget: Budget) -> float:
        """When the search ends, by the time: what is left is for confirming."""
        if budget.minutes is None:
            return inf
        seconds = budget.minutes * 60
        winners = sum(s.begun and s.best not in (None, s.default) for s in self.searches)
        wanted = self.start_s + CONFIRM_TASK_S * winners + self._place_s if winners else 0.0
        wanted = min(MOST_CONFIRM * seconds, wanted)
        return seconds - max(LEAST_CONFIRM * seconds, wanted)

    def _in_time(self, task: int, budget: Budget) -> int:
        """How many more trials of a task the budget has time for, at least one; many where it has
        no limit of time.
        """
        left_s = self._search_until_s(budget) - self.elapsed_s
        if left_s == inf:
            return budget.expected_trials
        newest_s = next(reversed(self.ledger.trials_s.values()), TRIAL_S)
        trial_s = self.ledger.trials_s.get(self.searches[task].task.hash, newest_s)
        return max(1, int(left_s / max(trial_s, LEAST_TRIAL_S)))

    def _progress(self, task: int, budget: Budget, phase: str) -> Progress:
        self.disturbance.note(self.elapsed_s)
        if self.elapsed_s - self.checkpoint_s >= CHECKPOINT_S:
            self.database.checkpoint()
            self.checkpoint_s = self.elapsed_s
        return Progress(
            tasks=tuple(map(TaskResult.of, self.searches)),
            current=task,
            trials=self.trials,
            elapsed_s=self.elapsed_s,
            budget=budget,
            shares=replace(self.shares),
            phase=phase,
            default_programs_s=self.default_programs_s,
            default_programs=self.default_programs,
            default_share=self.default_share,
            load=self.disturbance.reason,
            busy=self.disturbance.summary,
            machines=self.machines(),
        )

    def register(self) -> None:
        """Enter machine and workloads in the database."""
        self.database.add_machine(self.machine)
        for task in self.tasks:
            self.database.add_workload(task.row)
        self.database.checkpoint()

    def _measure_defaults(self, budget: Budget, told: Callable[[int], None]) -> None:
        limit_s = inf if budget.minutes is None else budget.minutes * 60 * DEFAULTS_SHARE
        first = self.defaults.first(budget.minutes is not None)
        self.default_programs = len(first)
        done = 0

        begun_s = self.elapsed_s

        def tell(task: int) -> None:
            nonlocal done
            done += 1  # of each program twice
            if done == 1:
                self.start_s = self.elapsed_s - begun_s
            self.default_share = done / (2 * len(first))
            told(task)

        self.defaults.measure(first, lambda: self.elapsed_s >= limit_s, tell)
        self.default_programs_s, self.default_share = self.elapsed_s, 1.0

    def _begin_task(self, index: int, scheduler: TaskScheduler) -> None:
        """Measure a task's default program, which was left for later."""
        started, search = time.monotonic(), self.searches[index]
        self.defaults.begin(search)
        scheduler.begin(index, search.best_s or float("inf"))
        self.default_programs_s += time.monotonic() - started

    def _begin(self, index: int, size: int, scheduler: TaskScheduler) -> Round | None:
        """A task's next round, which is expected from now on; None where there is none left."""
        search = self.searches[index]
        if not search.begun:
            self._begin_task(index, scheduler)
        batch = self._batch(index, size)
        if not batch:
            scheduler.exhausted(index)
            return None
        known = self.ledger.known(search, [c.gene for c in batch])
        one = Round(index, search, search.next_round, batch, known)
        search.expect(batch)
        scheduler.expect(index, len(batch))
        return one

    def _end(self, one: Round, scheduler: TaskScheduler) -> None:
        """Learn from a round that was measured, and tell it."""
        search, batch = one.search, one.batch
        trials = [one.known.get(c.gene) for c in batch]
        for candidate, trial in zip(batch, trials, strict=True):
            log.debug("%s %s: %s", search.task.name, candidate.gene.hash[:8], _outcome(trial))
        latencies = [None if t is None else t.measured_s for t in trials]
        if not self.way.short:
            ended = [i for i, t in enumerate(trials) if t is not None]
            search.learn(
                self.rows,
                [batch[i] for i in ended],
                [latencies[i] for i in ended],
                [t.region_s for t in trials if t is not None],
            )
        search.see(t for t in trials if t is not None)
        search.tell(batch, latencies)
        self.trials += len(batch)
        scheduler.tell(one.task, search.best_s or float("inf"), len(batch))

    def _batch(self, index: int, size: int) -> list[Candidate]:
        """The candidates of a task's next round: as recorded, or else proposed.

        A recorded round may lack candidates that had been recorded before, as default program or
        by another run. Proposing again finds them, while the settings are still the same: what is
        proposed now and recorded of a later round shows that they are not.
        """
        search = self.searches[index]
        recorded = self.recorded.get((index, search.rounds), [])
        if recorded and (len(recorded) >= size or not self.resuming):
            return recorded
        self._train()
        started = time.monotonic()
        batch = search.propose(self.seed, size)
        self.shares.search += time.monotonic() - started
        genes = {c.gene for c in batch}
        later = self._later(index)
        if {c.gene for c in recorded} <= genes and genes.isdisjoint(
            c.gene for number in later for c in self.recorded[index, number]
        ):
            return batch
        self.resuming = False
        if not recorded:  # none of it was measured when a run on several machines ended
            search.rounds = later[0]
            return self.recorded[index, later[0]]
        return recorded

    def _later(self, index: int) -> list[int]:
        """The rounds of a task after its next one that are recorded."""
        rounds = self.searches[index].rounds
        return sorted(number for task, number in self.recorded if task == index and number > rounds)

    def _train(self) -> None:
        if self.rows.programs == self.learned or (self.training and not self.training.done()):
            return
        if self.training is not None:
            self.training.result()
        started, self.learned = time.monotonic(), self.rows.programs
        if self.trainer is not None:
            self.training = self.trainer.submit(self.model.update, self.rows)
        else:
            self.model.update(self.rows)
        self.shares.train += time.monotonic() - started

    def _keep_facts(self, budget: Budget) -> None:
        """Record what the run was started with."""
        facts: dict[str, str | float] = {**provenance(), "tasks": len(self.tasks)}
        if budget.minutes is not None:
            facts["minutes"] = budget.minutes
        if budget.trials is not None:
            facts["trials"] = budget.trials
        self.database.keep(FactsRow(self.machine.fingerprint, RUN, self.started_at, facts))

    def _keep_run(self) -> None:
        """Record how far the run has come, where its time went, and that the machine was busy."""
        shares = {f"{name}_s": seconds for name, seconds in vars(self.shares).items()}
        if reason := self.disturbance.summary:
            self.database.keep(LoadRow(self.machine.fingerprint, self.started_at, reason))
        self.database.keep(
            RunRow(
                self.machine.fingerprint,
                self.started_at,
                self.seed,
                self.way.name,
                self.elapsed_s,
                **shares,
            )
        )

    # ---- what the records hold ----------------------------------------------------------------

    def _recorded(self) -> dict[tuple[int, int], list[Candidate]]:
        """The candidates that this seed's rounds have recorded, by task and number of the round."""
        found: dict[tuple[int, int], list[Candidate]] = {}
        for index, search in enumerate(self.searches):
            for t in self.database.trials(search.task.hash, self.machine.fingerprint):
                if t.seed != self.seed or t.origin == DEFAULT:
                    continue
                if (one := search.candidate(t)) is not None:
                    found.setdefault((index, t.round), []).append(one)
        return found

    def _pretrain(self, budget: Budget) -> None:
        """Learn from the other workloads that this machine's records hold, the nearest ones."""
        most = MAX_TRANSFER
        if budget.minutes is not None:
            most = min(most, int(budget.minutes * 60 * TRANSFER_SHARE / TRANSFER_S))
        measured = self.database.measured(self.machine.fingerprint)
        others = (row for row in self.database.workloads() if row.hash in measured)
        near = nearest(others, self.tasks, most)
        spaces = {row.hash: self._space(TuningTask.of(row)) for row in near}
        pretrain(self.rows, self.database, self.machine.fingerprint, spaces)


def _outcome(trial: Trial | None) -> str:
    """What came of a trial, for the log."""
    if trial is None:
        return "had no time to end"
    if trial.ok:
        return f"{duration(trial.measured_s)}, by {trial.origin}"
    return f"failed in {trial.stage} with {trial.error}: {trial.message}"

"""The tuner: rounds of propose, measure, record and learn, over all tasks of all models.

    tuner = Tuner(tasks, database, machine, measurer, target, scheduler_of)
    result = tuner.run(Budget(minutes=3), observe)

Every round is one decision of the task scheduler: that task's strategy proposes a batch, the
measurer runs it, the batch is recorded in one transaction, and the shared cost model learns. On a
database with records of the same seed the loop takes each round's candidates from there instead of
searching for them, and results that anyone recorded are looked up, not measured again: a killed
run goes on as if it had not been.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import LoadRow, RunRow, Trial
from tilewright.schedule.trace import trace_hash, trace_to_json
from tilewright.search.confirmation import Confirmation
from tilewright.search.cost_model import GradientBoostedModel
from tilewright.search.disturbance import Disturbance
from tilewright.search.memory import Candidate
from tilewright.search.strategies import STRATEGIES
from tilewright.search.task_scheduler import TaskScheduler, unit_trials
from tilewright.search.tasks import (
    AllFailedError,
    Measured,
    Measurer,
    TaskSearch,
    TuningTask,
    nearest,
    recorded_space,
)
from tilewright.search.training_set import TrainingSet
from tilewright.space.default import default_of
from tilewright.space.derivation import Rule
from tilewright.space.extractor import FeatureExtractor
from tilewright.space.features import COLUMNS
from tilewright.space.rules import RULES
from tilewright.space.space import Population
from tilewright.target import Target

# Of a budget in minutes so much is kept for confirming, by how many tasks have a winner.
LEAST_CONFIRM, MOST_CONFIRM, CONFIRM_TASK_S = 0.1, 0.3, 2.0
# Default programs are measured first of tasks that each make up so much of the estimated sum, while
# that takes no more than such a share of a budget in minutes; of the others when they are tuned.
MINOR, DEFAULTS_SHARE = 0.01, 0.3
TRIAL_S = 0.25  # expected seconds of a trial: turns a budget in minutes into trials
MAX_TRANSFER = 16  # other workloads to learn from: a quarter of a second each
DEFAULT = "default"  # origin and sketch key of the default program's record


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop: after so many trials or so many minutes, whichever comes first."""

    trials: int | None = None
    minutes: float | None = None

    @property
    def expected_trials(self) -> int:
        """How many trials it allows, roughly."""
        by_time = None if self.minutes is None else int(self.minutes * 60 / TRIAL_S)
        known = [n for n in (self.trials, by_time) if n is not None]
        return min(known, default=1000)


@dataclass
class Shares:
    """Wall seconds by activity."""

    search: float = 0.0
    train: float = 0.0
    build: float = 0.0
    run: float = 0.0
    other: float = 0.0


@dataclass
class Progress:
    """What an observer sees after every round."""

    searches: Sequence[TaskSearch]
    current: int
    trials: int
    elapsed_s: float
    budget: Budget
    shares: Shares
    phase: str = "search"
    default_programs_s: float = 0.0
    load: Disturbance = field(default_factory=Disturbance)


Observer = Callable[[Progress], None]


@dataclass
class Tuner:
    """Tunes tasks together. `strategy` names an entry of STRATEGIES; `rules` are the user's sketch
    rules, tried before those of the target. `default_programs_s` is how long default programs took.
    """

    tasks: Sequence[TuningTask]
    database: Database
    machine: Machine
    measurer: Measurer
    target: Target
    schedule: Callable[[Sequence[TuningTask], Sequence[float], int], TaskScheduler]
    strategy: str = "evolution"
    seed: int = 0
    rules: Sequence[Rule] = ()
    shares: Shares = field(default_factory=Shares)
    disturbance: Disturbance = field(default_factory=Disturbance)
    default_programs_s: float = 0.0

    def __post_init__(self) -> None:
        self.model = GradientBoostedModel(seed=self.seed)
        self.rows = TrainingSet(len(COLUMNS))
        self.learned = 0
        self.recorded: dict[tuple[int, int], list[Candidate]] = {}  # by task and round
        self.resuming = True
        make = STRATEGIES[self.strategy]
        self.searches = [
            TaskSearch.start(task, task.space(self.target, self._all_rules), self.model, make)
            for task in self.tasks
        ]
        self.trials = 0
        self.started, self.started_at = time.monotonic(), time.time()

    @property
    def _all_rules(self) -> Sequence[Rule]:
        return (*self.rules, *RULES[self.target.kind])

    # ---- the run ------------------------------------------------------------------------------

    def run(self, budget: Budget, observe: Observer = lambda _: None) -> list[TaskSearch]:
        """Tune until the budget is spent or every space is exhausted; returns the searches.

        An interrupt (KeyboardInterrupt) leaves everything measured so far in the database.
        """
        self.started, self.started_at = time.monotonic(), time.time()
        self.register()
        self._defaults(self._first(budget), budget, observe)
        latencies = [s.best_s or s.expected_s or float("inf") for s in self.searches]
        scheduler = self.schedule(self.tasks, latencies, self.seed)
        self._pretrain()
        self.recorded = self._recorded()
        unit = unit_trials(budget.expected_trials, len(self.tasks))
        task = 0
        while not (self._spent(budget) or scheduler.done):
            task = scheduler.next()
            size = unit if budget.trials is None else min(unit, budget.trials - self.trials)
            self._round(task, size, scheduler)
            self._keep_run()
            observe(self._progress(task, budget))

        def is_late() -> bool:
            return budget.minutes is not None and self.elapsed_s >= budget.minutes * 60

        confirmation = Confirmation(
            self.database, self.machine.fingerprint, self.measurer, self.disturbance.drifted
        )
        confirmation.run(
            self.searches, is_late, lambda i: observe(self._progress(i, budget, "confirming"))
        )
        observe(self._progress(task, budget, "confirming"))
        self._keep_run()
        return self.searches

    @property
    def elapsed_s(self) -> float:
        """Wall seconds since the run began."""
        return time.monotonic() - self.started

    def _spent(self, budget: Budget) -> bool:
        if budget.trials is not None and self.trials >= budget.trials:
            return True
        if budget.minutes is None:
            return False
        seconds = budget.minutes * 60
        winners = sum(
            s.begun and s.best_trace not in (None, s.default_trace) for s in self.searches
        )
        wanted = min(MOST_CONFIRM * seconds, CONFIRM_TASK_S * winners)
        return self.elapsed_s >= seconds - max(LEAST_CONFIRM * seconds, wanted)

    def _progress(self, task: int, budget: Budget, phase: str = "search") -> Progress:
        self.disturbance.note(self.elapsed_s)
        return Progress(
            self.searches,
            task,
            self.trials,
            self.elapsed_s,
            budget,
            self.shares,
            phase,
            self.default_programs_s,
            self.disturbance,
        )

    def register(self) -> None:
        """Enter machine and workloads in the database."""
        self.database.add_machine(self.machine)
        for task in self.tasks:
            self.database.add_workload(task.row)

    def _first(self, budget: Budget) -> list[int]:
        """The tasks whose default programs are measured before the search begins: without a limit
        of time all, else those that cost most by the estimate, and those that have records.
        """
        numbers = list(range(len(self.searches)))
        if budget.minutes is None:
            return numbers
        for search in self.searches:
            search.expected_s = search.estimate_s()
        costs = np.array([s.task.weight * (s.expected_s or 0.0) for s in self.searches])
        least = MINOR * float(costs.sum())
        measured = {r.workload_hash for r in self.database.rounds(self.machine.fingerprint)}
        order = sorted(numbers, key=lambda i: -costs[i])
        return [i for i in order if costs[i] >= least or self.tasks[i].hash in measured]

    def _defaults(self, first: Sequence[int], budget: Budget, observe: Observer) -> None:
        """Measure the default programs of some tasks; each is the first record of its task.

        Tasks are weighed by these figures, and all others of a task may be relative to its own. A
        moment in which the machine was slow would spoil what follows, so each is measured twice,
        the other tasks' between.
        """
        early: dict[int, Sequence[Measured]] = {}
        estimates_s = [s.expected_s for s in self.searches]

        def is_late() -> bool:
            limit = None if budget.minutes is None else budget.minutes * 60 * DEFAULTS_SHARE
            return limit is not None and bool(early) and self.elapsed_s >= limit

        defaults: dict[int, tuple[Candidate, Candidate | None]] = {}
        for i in first:
            if is_late():
                break
            search = self.searches[i]
            defaults[i] = self._default(search)
            early[i] = ()
            if not self._known(search, [defaults[i][0].trace]):
                early[i] = self._results(search, [defaults[i][0]])
            observe(self._progress(i, budget, "default programs"))
        for i, (default, parent) in defaults.items():
            again = () if is_late() else None
            self._begin(self.searches[i], default, parent, early[i], again)
            observe(self._progress(i, budget, "default programs"))
        self._expect(estimates_s)
        self.default_programs_s = self.elapsed_s

    def _begin(
        self,
        search: TaskSearch,
        default: Candidate,
        parent: Candidate | None,
        early: Sequence[Measured],
        again: Sequence[Measured] | None,
    ) -> None:
        """Record a default program, unless it is known, and take it for the first parent, too: it
        is what the estimate takes for best among thousands. `again` None measures once more.
        """
        known = self._known(search, [default.trace]).get(default.trace_hash)
        if known is None:
            results = [*(self._results(search, [default]) if again is None else again), *early]
            if all(r.latencies_s for r in results) and len(results) > 1:
                self.disturbance.drifted(*map(_seconds, results))
            (known,) = self._record(search, [default], [min(results, key=_seconds)])
        search.default_s = search.reference_s = known.measured_s
        search.expected_s = None
        if known.measured_s is not None:  # a later confirmation must not change the search
            search.note(known.measured_s, default.trace)
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
        space = search.space
        if self.rules:  # of users do not change the default program
            space = search.task.space(self.target)
            default = default_of(space)
        else:
            default = default_of(space, search.extractor)
        sketch, row = int(default.sketch[0]), default.rows[0]
        search.default_trace = trace = trace_to_json(space.trace(sketch, row))
        parent = Candidate(sketch, tuple(int(x) for x in row), trace, DEFAULT)
        return Candidate(0, (), trace, DEFAULT), parent if space is search.space else None

    def _round(self, index: int, size: int, scheduler: TaskScheduler) -> None:
        search = self.searches[index]
        if not search.begun:
            started = time.monotonic()
            self._begin(search, *self._default(search), (), None)
            scheduler.begin(index, search.best_s or float("inf"))
            self.default_programs_s += time.monotonic() - started
        batch = self._batch(index, size)
        if not batch:
            scheduler.exhausted(index)
            return
        known = self._known(search, [c.trace for c in batch])
        missing = [c for c in batch if c.trace_hash not in known]
        known |= {t.trace_hash: t for t in self._measure(search, missing)}
        trials = [known[c.trace_hash] for c in batch]
        latencies = [t.measured_s for t in trials]
        search.learn(self.rows, batch, latencies, [t.region_s for t in trials])
        search.tell(batch, latencies)
        self.trials += len(batch)
        scheduler.tell(index, search.best_s or float("inf"), len(batch))

    def _batch(self, index: int, size: int) -> list[Candidate]:
        """The candidates of a task's next round: as recorded, or else proposed.

        A recorded round may lack candidates that had been recorded before, as default program or
        by another run. Proposing again finds them, while the settings are still the same.
        """
        search = self.searches[index]
        recorded = self.recorded.get((index, search.rounds), [])
        if recorded and (len(recorded) >= size or not self.resuming):
            return recorded
        self._train()
        started = time.monotonic()
        batch = search.propose(self.seed, size)
        self.shares.search += time.monotonic() - started
        if {c.trace_hash for c in recorded} <= {c.trace_hash for c in batch}:
            return batch
        self.resuming = False
        return recorded

    def _train(self) -> None:
        if self.rows.programs == self.learned:
            return
        started = time.monotonic()
        self.model.update(self.rows)
        self.learned = self.rows.programs
        self.shares.train += time.monotonic() - started

    def _keep_run(self) -> None:
        """Record how far the run has come, where its time went, and that the machine was busy."""
        shares = {f"{name}_s": seconds for name, seconds in vars(self.shares).items()}
        if reason := self.disturbance.summary:
            self.database.keep_load(LoadRow(self.machine.fingerprint, self.started_at, reason))
        self.database.keep_run(
            RunRow(
                self.machine.fingerprint,
                self.started_at,
                self.seed,
                self.strategy,
                self.elapsed_s,
                **shares,
            )
        )

    # ---- measuring and records ----------------------------------------------------------------

    def _known(self, search: TaskSearch, traces: Sequence[str]) -> dict[str, Trial]:
        hashes = [trace_hash(t) for t in traces]
        return self.database.lookup(search.task.hash, self.machine.fingerprint, hashes)

    def _measure(self, search: TaskSearch, batch: Sequence[Candidate]) -> list[Trial]:
        """Measure and record; the trials as the database has them, whoever was first."""
        if not batch:
            return []
        try:
            return self._record(search, batch, self._results(search, batch))
        except AllFailedError as error:
            self._record(search, batch, error.results)
            raise

    def _results(self, search: TaskSearch, batch: Sequence[Candidate]) -> Sequence[Measured]:
        """Measure, and count the time."""
        started = time.monotonic()
        results: Sequence[Measured] = ()
        try:
            results = self.measurer.measure(
                search.task,
                search.default_trace,
                [c.trace for c in batch],
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
        return results

    def _record(
        self, search: TaskSearch, batch: Sequence[Candidate], results: Sequence[Measured]
    ) -> list[Trial]:
        """The trials as the database has them, whoever was first."""
        trials = [self._trial(search, c, r) for c, r in zip(batch, results, strict=True)]
        if None in self.database.add_trials(trials):  # another run measured the same meanwhile
            return list(self._known(search, [c.trace for c in batch]).values())
        return trials

    def _trial(self, search: TaskSearch, candidate: Candidate, result: Measured) -> Trial:
        sketch = search.space.sketches[candidate.sketch]
        return Trial(
            workload_hash=search.task.hash,
            machine=self.machine.fingerprint,
            trace_hash=candidate.trace_hash,
            trace=candidate.trace,
            sketch_key=sketch.key if candidate.row else DEFAULT,
            row=candidate.row,
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

    def _recorded(self) -> dict[tuple[int, int], list[Candidate]]:
        """The candidates that this seed's rounds have recorded, by task and number of the round."""
        found: dict[tuple[int, int], list[Candidate]] = {}
        for index, search in enumerate(self.searches):
            for t in self.database.trials(search.task.hash, self.machine.fingerprint):
                sketch = search.space.recorded(t.sketch_key, len(t.row))
                if t.seed == self.seed and sketch is not None:
                    one = Candidate(sketch, t.row, t.trace, t.origin, t.predicted)
                    found.setdefault((index, t.round), []).append(one)
        return found

    def _pretrain(self) -> None:
        """Learn from the other workloads that this machine's records hold, the nearest ones."""
        groups = self.database.training_set(self.machine.fingerprint)
        measured = {group.workload_hash for group in groups}
        others = (row for row in self.database.workloads() if row.hash in measured)
        extractors = {
            row.hash: FeatureExtractor(recorded_space(row, self.target, self._all_rules))
            for row in nearest(others, self.tasks, MAX_TRANSFER)
        }
        for group in groups:
            if group.workload_hash not in extractors:
                continue
            extractor = extractors[group.workload_hash]
            number = extractor.space.recorded(group.sketch_key, group.rows.shape[1])
            if number is None:
                continue
            sketch = np.full(len(group.rows), number)
            features, owner = extractor.extract(Population(group.rows, sketch))
            self.rows.append(
                features,
                owner,
                1.0 / group.latency_s,
                workload=group.workload_hash,
                round_id=0,
                region_s=group.region_s,
            )


def _seconds(result: Measured) -> float:
    return median(result.latencies_s) if result.latencies_s else float("inf")

"""What the benchmarks of reuse share: searches kept as databases, their programs, and turns.

    bench = Bench(folder)                    on this machine's CPU; or Bench(folder, target)
    db = bench.searched(workload)            its search from nothing, which is made once
    bench.best_of(db, task).gene             its best program, default_of(db, task) untuned
    bench.in_turns(task, {"own": gene})      {"own": seconds}

An operator's own search is a database by the operator's name, which no other run writes to.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import tilewright as tw
from benchmarks.deadline import Deadline
from benchmarks.operator_sets import Workload
from benchmarks.provenance import kept_file, provenance
from benchmarks.selective import TOP, TopKStrategy
from benchmarks.simulated_gpu import SimulatedGpu
from benchmarks.tuning_log import TuningLog
from tilewright.build import default_gene
from tilewright.contract.gene import Gene
from tilewright.cost.candidates import concatenate
from tilewright.front import task_measurer
from tilewright.front.machine import as_target, host_target, machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.files import replacing
from tilewright.measure.load import LoadWatch
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import DEFAULT, Trial, best_first
from tilewright.search.disturbance import Disturbance
from tilewright.search.objectives import ObjectiveModel
from tilewright.search.progress import Budget, Callback, Progress
from tilewright.search.reuse.correspondence import Correspondence, Named
from tilewright.search.reuse.edges import WHOLE
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.hierarchical import HierarchicalStrategy
from tilewright.search.reuse.plan import Costs
from tilewright.search.reuse.rounds import expected_programs
from tilewright.search.reuse.run import Planned
from tilewright.search.reuse.strategy import Relative
from tilewright.search.strategies.table import STRATEGIES, Maker
from tilewright.search.task_scheduler import TaskScheduler
from tilewright.search.tasks import Measurer, TuningTask, infos_of
from tilewright.search.tuner import Tuner
from tilewright.space.space import Space
from tilewright.target import Target

SEARCH = 128  # trials of a search that finds what there is to find
TRIED = 3 * TOP  # programs of a relative that are tried until one runs
Results: TypeAlias = dict[str, Any]

# ---- results ----------------------------------------------------------------------------------


def read_results(
    file: Path | None, empty: Results, where: Mapping[str, Any] | None = None
) -> Results:
    """What earlier slices have found; `empty` without a file. Raises ValueError where one is not of
    the settings `where`.
    """
    found: Results = empty
    if file is not None and file.exists():
        found = json.loads(file.read_text())
    for what, value in (where or {}).items():
        if found.get(what) != value:
            raise ValueError(f"{file} has {what} {found.get(what)}, not {value}")
    return found


def write_results(file: Path | None, results: Results) -> None:
    """The file is whole or as before."""
    if file is not None:
        with replacing(file) as partial:
            partial.write_text(json.dumps(results, indent=1) + "\n")


def keep_results(
    file: Path | None, results: Results, summary: Results, target: Target | None = None
) -> None:
    """Write them with their summary, and with where they come from: this CPU, or the target."""
    results["summary"] = summary
    results["provenance"] = provenance(target)
    write_results(file, results)


# ---- places -----------------------------------------------------------------------------------


def add_places(words: argparse.ArgumentParser) -> None:
    """Options for `places_of`."""
    words.add_argument("--target", help="as of tune (this machine's CPU)")
    words.add_argument("--simulated", metavar="NUMBERS", help="of devices, instead of a real one")


def places_of(options: argparse.Namespace) -> tuple[Target, dict[str, Bench]]:
    """The target, and where its programs run, by what to add to names of results."""
    if not options.simulated:
        target = as_target(options.target)
        return target, {"": Bench(options.folder, target)}
    target = Target.parse(options.target or "cuda:h100")
    places = {}
    for number in options.simulated.split(","):
        folder = options.folder / f"device-{number}"
        folder.mkdir(exist_ok=True)
        device = partial(SimulatedGpu, seed=int(number))
        places[f" on device {number}"] = Bench(folder, target, device)
    return target, places


def where_of(target: Target, options: argparse.Namespace) -> Results:
    """What of these is written to results."""
    name = f"{target.kind}:{target.name}"
    return {"target": name, "simulated": bool(options.simulated)}


# ---- slices -----------------------------------------------------------------------------------


def add_slices(words: argparse.ArgumentParser, folder: str) -> None:
    """Options of a benchmark that goes on where it stopped; its databases are in `folder`."""
    words.add_argument("--minutes", type=float, default=float("inf"), help="of this slice")
    words.add_argument("--folder", type=Path, default=Path(folder), help="of databases")
    words.add_argument("--json", type=kept_file, help="where results are kept, and read from first")


class OutOfTimeError(RuntimeError):
    """The slice is over; what was measured is kept."""


def check_time(deadline: Deadline) -> None:
    """Raises OutOfTimeError when the slice is over."""
    if deadline.passed:
        raise OutOfTimeError("out of time")


@contextlib.contextmanager
def timed(log: TuningLog, label: str, deadline: Deadline) -> Iterator[Callback]:
    """A run whose wall time is kept under `label`; what it gives ends the run with the slice."""
    with log.slice(label) as tick:

        def observe(_: Progress) -> None:
            tick()
            check_time(deadline)

        yield observe


# ---- tasks ------------------------------------------------------------------------------------


def task_of(workload: Workload, weight: float = 1.0) -> TuningTask:
    """An operator by itself, as `tune` sees it."""
    (task,) = tasks_of(tw.Task(workload.dag().outputs, workload.name))
    return replace(task, weight=weight)


def own_database(name: str, folder: Path, trials: int = SEARCH) -> Path:
    """Where an operator's own search of so many trials is kept."""
    few = "" if trials == SEARCH else f"-{trials}"
    return folder / f"{name.replace('/', '_')}{few}.db"


def fresh(db: Path) -> Path:
    """The same, without anything that an older run left there."""
    for old in db.parent.glob(f"{db.name}*"):
        old.unlink()
    return db


def seconds_of(db: Path) -> float:
    """Wall seconds of the runs that wrote to a database."""
    with Database.open(db, create=False, readonly=True) as database:
        return sum(run.seconds for run in database.runs())


@dataclass(frozen=True)
class Bench:
    """A folder of databases, and where programs run: a target, by its device or what `measurer`
    gives in its stead.
    """

    folder: Path
    target: Target = field(default_factory=host_target)
    measurer: Callable[[Target], Measurer] | None = None

    @property
    def machine(self) -> Machine:
        """The machine that the target is of."""
        return machine_of(self.target)

    def space(self, task: TuningTask) -> Space:
        """A task's programs there."""
        return task.space(self.target)

    # ---- runs ---------------------------------------------------------------------------------

    def run(
        self,
        database: Database,
        tasks: Sequence[TuningTask],
        trials: int | None,
        *,
        wanted: int | None = None,
        kind: Callable[..., TaskScheduler] = TaskScheduler,
        maker: Callable[[TuningTask], Maker] | None = None,
        strategy: str = "evolution",
        observe: Callback = lambda _: None,
    ) -> Tuner:
        """Tune tasks together for the sum of their latencies, each as often as its weight says. The
        first `wanted` of them count; what follows are bridges.
        """
        first = tasks[:wanted]
        group = ObjectiveModel("all", tuple(range(len(first))), tuple(t.weight for t in first))

        def schedule(
            every: Sequence[TuningTask], latencies: Sequence[float], seed: int
        ) -> TaskScheduler:
            return kind(infos_of(every, latencies), [group], seed=seed)

        with contextlib.closing(self._measurer()) as measurer:
            tuner = Tuner(
                tasks, database, self.machine, measurer, self.target, schedule,
                replace(STRATEGIES["evolution"], name=strategy),
                maker=maker, disturbance=Disturbance(LoadWatch().look),
            )  # fmt: skip
            tuner.run(Budget(trials=trials), observe)
        return tuner

    def run_plan(
        self,
        database: Database,
        tasks: Sequence[TuningTask],
        trials: int | None = None,
        costs: Costs | None = None,
        hops: int | None = 1,
        observe: Callback = lambda _: None,
    ) -> tuple[Tuner, Planned]:
        """`run` with reuse. Where no `trials` are given, as many as the plan has programs; to the
        plan's end where it does not know how many these will be.
        """
        planned = Planned.begin(tasks, database, self.machine, self.target, None, 0, costs, hops)
        kind: Callable[..., TaskScheduler] = planned.scheduler
        if trials is None and planned.mode == WHOLE:
            kind = partial(planned.scheduler, rest=planned.plan.rest)
        elif trials is None:
            trials = planned.plan.programs + planned.plan.rest
        tuner = self.run(
            database, planned.plan.tasks, trials, wanted=len(tasks), kind=kind,
            maker=planned.maker, strategy="reuse", observe=observe,
        )  # fmt: skip
        return tuner, planned

    def searched(self, workload: Workload, trials: int = SEARCH) -> Path:
        """The database of an operator's own search, which is made once."""
        db = own_database(workload.name, self.folder, trials)
        if not db.exists():
            partial = fresh(self.folder / "partial.db")
            with Database.open(partial) as database:
                self.run(database, [task_of(workload)], trials)
            partial.rename(db)
        return db

    def in_turns(self, task: TuningTask, genes: Mapping[str, Gene]) -> dict[str, float]:
        """Seconds of programs by name, in turns in processes that did not search.

        Raises RuntimeError when one fails there.
        """
        default = default_gene(self.space(task))
        different = list(dict.fromkeys(genes.values()))
        with contextlib.closing(self._measurer()) as measurer:
            found = dict(zip(different, measurer.confirm(task, default, different), strict=True))
        failed = [name for name, gene in genes.items() if not found[gene]]
        if failed:
            raise RuntimeError(f"{task.name}: the program of {', '.join(failed)} fails again")
        return {name: median(found[gene]) for name, gene in genes.items()}

    def _measurer(self) -> Measurer:
        return (self.measurer or task_measurer.TaskMeasurer)(self.target)

    # ---- records ------------------------------------------------------------------------------

    def trials_of(self, db: Path, task: TuningTask) -> list[Trial]:
        """What `db` holds of a task, in the order of measuring."""
        with Database.open(db, create=False, readonly=True) as database:
            return list(database.trials(task.hash, self.machine.fingerprint))

    def best_of(self, db: Path, task: TuningTask) -> Trial:
        """A task's best program; an untuned one counts."""
        with Database.open(db, create=False, readonly=True) as database:
            best = database.best(task.hash, self.machine.fingerprint)
        if best is None:
            raise RuntimeError(f"{db} has no program of {task.name}")
        return best

    def default_of(self, db: Path, task: TuningTask) -> Trial:
        """A task's untuned program."""
        return next(t for t in self.trials_of(db, task) if t.origin == DEFAULT)

    # ---- other ways to reuse ------------------------------------------------------------------

    def named(self, task: TuningTask) -> Named:
        """A task's space with its names."""
        return Named(self.space(task), Operator.of(task.dag))

    def relative(self, source: TuningTask, db: Path) -> Relative:
        """An operator with the best programs that `db` holds of it."""
        named = self.named(source)
        ranked = best_first(self.trials_of(db, source))[:TRIED]
        rows = [named.space.row_of(trial.gene) for trial in ranked]
        return Relative(named, concatenate([row for row in rows if row is not None]))

    def taken_over(self, source: TuningTask, db: Path) -> Maker:
        """The strategy that tries the best programs that `db` holds of `source`, as they are."""
        relative = self.relative(source, db)

        def make(here: Space, *_: Any) -> TopKStrategy:
            named = Named(here, Operator.of(here.dag))
            return TopKStrategy(here, lambda: [relative], named)

        return make

    def enumerated(self, source: TuningTask, db: Path) -> Maker:
        """The published tuner (ETO, algorithm 1), near the best program that `db` holds of
        `source`.
        """
        relative = self.relative(source, db)

        def make(*parts: Any) -> HierarchicalStrategy:
            return HierarchicalStrategy(*parts, lambda: [relative])

        return make

    def expected(self, task: TuningTask, source: TuningTask, db: Path) -> float:
        """How many programs of `task` the published planner expects its tuner to measure, for the
        best program of `source` that has a counterpart (ETO, section 6.1).
        """
        relative, here = self.relative(source, db), self.named(task)
        for sketch in relative.programs.sketch:
            like = Correspondence(relative.named, int(sketch), here)
            if like.sketches:
                there = relative.named.operator
                return expected_programs(here.space, like.sketches[0], here.operator, there)
        return 0.0

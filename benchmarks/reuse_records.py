"""What the benchmarks of reuse share: searches kept as databases, their programs, and turns.

    db = searched(workload, folder)                  its search from nothing, which is made once
    best_of(db, task).gene                           its best program, default_of(db, task) untuned
    in_turns(task, {"own": gene, "reuse": gene})     {"own": seconds, "reuse": seconds}

An operator's own search is a database by the operator's name, which no other run writes to.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import tilewright as tw
from benchmarks.operator_sets import Workload
from benchmarks.tuning_log import TuningLog
from benchmarks.turns import Deadline
from tilewright import task_measurer
from tilewright.build import default_gene
from tilewright.cost.candidates import concatenate
from tilewright.files import replacing
from tilewright.gene import Gene
from tilewright.machine import host_target, machine_of
from tilewright.measure.load import LoadWatch
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT, Trial, best_first
from tilewright.search.disturbance import Disturbance
from tilewright.search.objectives import ObjectiveModel
from tilewright.search.progress import Budget, Callback, Progress
from tilewright.search.reuse.correspondence import Correspondence, Named
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.hierarchical import HierarchicalStrategy
from tilewright.search.reuse.rounds import expected_programs
from tilewright.search.reuse.selective import TOP, TopKStrategy
from tilewright.search.reuse.strategy import Relative
from tilewright.search.strategies import Maker
from tilewright.search.task_scheduler import TaskScheduler
from tilewright.search.tasks import TuningTask, infos_of
from tilewright.search.tuner import Tuner
from tilewright.space.space import Space
from tilewright.tuning_tasks import tasks_of

SEARCH = 128  # trials of a search that finds what there is to find
TRIED = 3 * TOP  # programs of a relative that are tried until one runs
Results: TypeAlias = dict[str, Any]

# ---- results ----------------------------------------------------------------------------------


def read_results(file: Path | None, empty: Results) -> Results:
    """What earlier slices have found; `empty` without a file."""
    return json.loads(file.read_text()) if file is not None and file.exists() else empty


def write_results(file: Path | None, results: Results) -> None:
    """The file is whole or as before."""
    if file is not None:
        with replacing(file) as partial:
            partial.write_text(json.dumps(results, indent=1) + "\n")


# ---- slices -----------------------------------------------------------------------------------


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


# ---- searches ---------------------------------------------------------------------------------


def task_of(workload: Workload, weight: float = 1.0) -> TuningTask:
    """An operator by itself, as `tune` sees it."""
    (task,) = tasks_of(tw.Task(workload.dag().outputs, workload.name))
    return replace(task, weight=weight)


def tuned(workload: Workload, db: Path, trials: int, reuse: bool = False) -> tuple[int, float]:
    """Trials and seconds of a run."""
    task = tw.Task(workload.dag().outputs, workload.name)
    result = tw.tune(task, trials=trials, db=db, reuse=reuse, progress=False)
    return result.trials, result.seconds


def own_database(name: str, folder: Path, trials: int = SEARCH) -> Path:
    """Where an operator's own search of so many trials is kept."""
    few = "" if trials == SEARCH else f"-{trials}"
    return folder / f"{name.replace('/', '_')}{few}.db"


def searched(workload: Workload, folder: Path, trials: int = SEARCH) -> Path:
    """The database of an operator's own search, which is made once."""
    db = own_database(workload.name, folder, trials)
    if not db.exists():
        partial = fresh(folder / "partial.db")
        tuned(workload, partial, trials)
        partial.rename(db)
    return db


def fresh(db: Path) -> Path:
    """The same, without anything that an older run left there."""
    for old in db.parent.glob(f"{db.name}*"):
        old.unlink()
    return db


def trials_of(db: Path, task: TuningTask) -> list[Trial]:
    """What this machine's records in `db` hold of a task, in the order of measuring."""
    with Database.open(db, create=False, readonly=True) as database:
        return list(database.trials(task.hash, fingerprint()))


def seconds_of(db: Path) -> float:
    """Wall seconds of the runs that wrote to a database."""
    with Database.open(db, create=False, readonly=True) as database:
        return sum(run.seconds for run in database.runs())


def best_of(db: Path, task: TuningTask) -> Trial:
    """A task's best program; an untuned one counts."""
    with Database.open(db, create=False, readonly=True) as database:
        best = database.best(task.hash, fingerprint())
    if best is None:
        raise RuntimeError(f"{db} has no program of {task.name}")
    return best


def default_of(db: Path, task: TuningTask) -> Trial:
    """A task's untuned program."""
    return next(t for t in trials_of(db, task) if t.origin == DEFAULT)


def fingerprint() -> str:
    """This machine's."""
    return machine_of(host_target()).fingerprint


# ---- runs -------------------------------------------------------------------------------------


def run_tuner(
    database: Database,
    tasks: Sequence[TuningTask],
    trials: int,
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
    target = host_target()
    first = tasks[:wanted]
    group = ObjectiveModel("all", tuple(range(len(first))), tuple(t.weight for t in first))

    def schedule(
        every: Sequence[TuningTask], latencies: Sequence[float], seed: int
    ) -> TaskScheduler:
        return kind(infos_of(every, latencies), [group], seed=seed)

    with contextlib.closing(task_measurer.TaskMeasurer(target)) as measurer:
        tuner = Tuner(
            tasks, database, machine_of(target), measurer, target, schedule, strategy, maker=maker,
            disturbance=Disturbance(LoadWatch().look),
        )  # fmt: skip
        tuner.run(Budget(trials=trials), observe)
    return tuner


def taken_over(source: TuningTask, db: Path) -> Maker:
    """The strategy that tries the best programs that `db` holds of `source`, as they are."""
    relative = relative_of(source, db)

    def make(here: Space, *_: Any) -> TopKStrategy:
        named = Named(here, Operator.of(here.dag))
        return TopKStrategy(here, lambda: [relative], named)

    return make


def enumerated(source: TuningTask, db: Path) -> Maker:
    """The published tuner (ETO, algorithm 1), for the best program that `db` holds of `source`."""
    relative = relative_of(source, db)

    def make(*parts: Any) -> HierarchicalStrategy:
        return HierarchicalStrategy(*parts, lambda: [relative])

    return make


def expected(task: TuningTask, source: TuningTask, db: Path) -> float:
    """How many programs of `task` the published planner expects its tuner to measure, for the best
    program of `source` that has a counterpart (ETO, section 6.1).
    """
    relative = relative_of(source, db)
    space = task.space(host_target())
    named = Named(space, Operator.of(space.dag))
    for sketch in relative.programs.sketch:
        like = Correspondence(relative.named, int(sketch), named)
        if like.sketches:
            there = relative.named.operator
            return expected_programs(space, like.sketches[0], named.operator, there)
    return 0.0


def relative_of(source: TuningTask, db: Path) -> Relative:
    """An operator with the best programs that `db` holds of it."""
    space = source.space(host_target())
    rows = [space.row_of(t.gene) for t in best_first(trials_of(db, source))[:TRIED]]
    programs = concatenate([row for row in rows if row is not None])
    return Relative(Named(space, Operator.of(source.dag)), programs)


def in_turns(task: TuningTask, genes: Mapping[str, Gene]) -> dict[str, float]:
    """Seconds of programs by name, in turns in processes that did not search.

    Raises RuntimeError when one fails there.
    """
    target = host_target()
    default = default_gene(task.space(target))
    different = list(dict.fromkeys(genes.values()))
    with contextlib.closing(task_measurer.TaskMeasurer(target)) as measurer:
        found = dict(zip(different, measurer.confirm(task, default, different), strict=True))
    failed = [name for name, gene in genes.items() if not found[gene]]
    if failed:
        raise RuntimeError(f"{task.name}: the program of {', '.join(failed)} does not run again")
    return {name: median(found[gene]) for name, gene in genes.items()}

"""A dozen programs near a relative's best against 128 of a search: ETO's figures 7 and 8.

    python -m benchmarks.reuse_pairs [--types C1D,DEP] [--pairs 8] [--minutes 15] [--json FILE]

For every type pairs of operators (benchmarks.operator_sets): a target, and a source that was
searched with 128 trials, whose records all sides begin with.

    reuse     tune(target, trials=12, reuse=True)
    search    tune(target, trials=12): the control, which learns from the same records
    topk      the source's three best programs as they are (Selective Tuning's way)
    default   the untuned program

A figure is the throughput relative to that of the target's own search of 128 trials, which began
with nothing. The programs take turns in processes that did not search. Databases are kept in
--folder, results in the JSON file after every pair: a benchmark that was stopped goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from rich.table import Table

import tilewright as tw
from benchmarks.operator_sets import PAIR_TYPES, Workload, pairs
from benchmarks.operators import reported
from benchmarks.provenance import provenance
from benchmarks.turns import Deadline, chosen
from tilewright.cli.console import output
from tilewright.cost.candidates import concatenate
from tilewright.files import replacing
from tilewright.machine import host_target, machine_of
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT, Trial
from tilewright.search.objectives import ObjectiveModel
from tilewright.search.progress import Budget
from tilewright.search.reuse.correspondence import Named
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.selective import TOP, TopKStrategy
from tilewright.search.reuse.strategy import LENGTH, Relative
from tilewright.search.task_scheduler import TaskInfo, TaskScheduler
from tilewright.search.tasks import TuningTask
from tilewright.search.tuner import Tuner
from tilewright.space.space import Space
from tilewright.task_measurer import TaskMeasurer
from tilewright.tuning_tasks import tasks_of

SEARCH = 128  # trials of a search that finds what there is to find
SIDES = ("reuse", "search", "topk", DEFAULT)


@dataclass(frozen=True)
class Side:
    """What one side reached: throughput relative to the search of 128 trials, by how many trials
    and seconds of its own, and what proposed the program.
    """

    throughput: float
    trials: int
    seconds: float
    origin: str


def main() -> int:
    """Run the benchmark; the exit status."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--types", default="*", help="names or globs, comma-separated (all)")
    words.add_argument("--pairs", type=int, default=8, help="of each type (%(default)s)")
    words.add_argument("--minutes", type=float, default=float("inf"), help="of this slice")
    words.add_argument("--folder", type=Path, default=Path("reuse_pairs"), help="of databases")
    words.add_argument("--json", type=Path, help="where results are kept, and read from first")
    options = words.parse_args()
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """All pairs that are not in the file yet, type by type."""
    kinds = chosen(options.types, PAIR_TYPES)
    deadline = Deadline.after(options.minutes)
    options.folder.mkdir(parents=True, exist_ok=True)
    results = _read(options.json)
    console = output()
    for number in range(options.pairs):  # a slice has pairs of all types
        for kind in kinds:
            both = pairs(kind, number + 1)[number:]
            if not both or deadline.passed:
                continue
            ((target, source),) = both
            name = f"{target.name} < {source.name}"
            if name in results["pairs"]:
                continue
            found = Pair(target, source, options.folder).measured()
            sides = {side: asdict(figures) for side, figures in found.items()}
            results["pairs"][name] = {"type": kind, **sides}
            results["provenance"] = provenance()
            _write(options.json, results)
            figures = "  ".join(f"{s} {found[s].throughput:.3f}" for s in SIDES)
            console.print(f"{kind}  {name}: {figures}", highlight=False, soft_wrap=True)
    console.print(table(results))
    return 0


def _read(file: Path | None) -> dict[str, Any]:
    empty: dict[str, Any] = {"pairs": {}}
    return json.loads(file.read_text()) if file is not None and file.exists() else empty


def _write(file: Path | None, results: dict[str, Any]) -> None:
    if file is not None:
        with replacing(file) as partial:
            partial.write_text(json.dumps(results, indent=1) + "\n")


def means(results: dict[str, Any]) -> dict[str, dict[str, float]]:
    """By type, and of all pairs: the sides' geometric means."""
    found: dict[str, list[dict[str, Any]]] = {}
    for pair in results["pairs"].values():
        found.setdefault(pair["type"], []).append(pair)
    rows = {kind: found[kind] for kind in PAIR_TYPES if kind in found}
    rows["all"] = list(results["pairs"].values())
    return {
        kind: {s: geometric_mean(p[s]["throughput"] for p in some) for s in SIDES}
        | {"pairs": len(some), "trials": sum(p["reuse"]["trials"] for p in some) / len(some)}
        for kind, some in rows.items()
        if some
    }


def table(results: dict[str, Any]) -> Table:
    """Throughput relative to a search of 128 trials."""
    found = Table("type", "pairs", *SIDES, "trials", title="throughput / search of 128 trials")
    for kind, row in means(results).items():
        figures = (f"{row[side]:.3f}" for side in SIDES)
        found.add_row(kind, str(row["pairs"]), *figures, f"{row['trials']:.0f}")
    return found


@dataclass
class Pair:
    """One operator, and the relative whose records the sides begin with."""

    target: Workload
    source: Workload
    folder: Path

    def __post_init__(self) -> None:
        self.machine = machine_of(host_target())
        self.task = task_of(self.target)

    def measured(self) -> dict[str, Side]:
        """All sides; the programs that they found take turns."""
        searched = self._searched(self.target)
        makers = {"reuse": self._reuse, "search": self._search, "topk": self._topk}
        told = {side: make(self._copy(side)) for side, make in makers.items()}
        genes = [self._best(self._database(side)) for side in makers]
        default = self._default(searched)
        with contextlib.closing(TaskMeasurer(host_target())) as measurer:
            together = [default.gene, self._best(searched).gene, *(t.gene for t in genes)]
            found = measurer.confirm(self.task, default.gene, together)
        default_s, searched_s, *sides_s = map(median, found)
        sides = {
            side: Side(searched_s / s, *told[side], trial.origin)
            for side, s, trial in zip(makers, sides_s, genes, strict=True)
        }
        return {**sides, DEFAULT: Side(searched_s / default_s, 0, 0.0, DEFAULT)}

    # ---- sides --------------------------------------------------------------------------------

    def _reuse(self, db: Path) -> tuple[int, float]:
        """Trials and seconds."""
        return _tuned(self.target, db, LENGTH, reuse=True)

    def _search(self, db: Path) -> tuple[int, float]:
        return _tuned(self.target, db, LENGTH)

    def _topk(self, db: Path) -> tuple[int, float]:
        target, source = host_target(), task_of(self.source)
        there = Named(source.space(target), Operator.of(source.dag))
        with (
            Database.open(db) as database,
            contextlib.closing(TaskMeasurer(target)) as measurer,
        ):
            best = _best_first(database.trials(source.hash, self.machine.fingerprint))
            rows = [there.space.row_of(t.gene) for t in best[: 3 * TOP]]
            programs = concatenate([row for row in rows if row is not None])

            def make(space: Space, *_: Any) -> TopKStrategy:
                here = Named(space, Operator.of(space.dag))
                return TopKStrategy(space, lambda: [Relative(there, programs)], here)

            tuner = Tuner(
                [self.task], database, self.machine, measurer, target, _scheduler, "topk",
                maker=lambda _: make,
            )  # fmt: skip
            tuner.run(Budget(trials=3 * TOP))
            return tuner.trials, tuner.elapsed_s

    # ---- records ------------------------------------------------------------------------------

    def _searched(self, workload: Workload) -> Path:
        """The database of an operator's own search, which is made once."""
        db = self._database(workload.name.replace("/", "_"))
        if not db.exists():
            partial = self._database("partial")
            for old in self.folder.glob(f"{partial.name}*"):
                old.unlink()
            _tuned(workload, partial, SEARCH)
            partial.rename(db)
        return db

    def _copy(self, side: str) -> Path:
        """The source's records, for one side to go on with."""
        db = self._database(side)
        for old in self.folder.glob(f"{db.name}*"):
            old.unlink()
        shutil.copy(self._searched(self.source), db)
        return db

    def _database(self, name: str) -> Path:
        return self.folder / f"{name}.db"

    def _best(self, db: Path) -> Trial:
        with Database.open(db, create=False, readonly=True) as database:
            best = database.best(self.task.hash, self.machine.fingerprint)
        assert best is not None, f"{db} has no program of {self.target.name}"
        return best

    def _default(self, db: Path) -> Trial:
        with Database.open(db, create=False, readonly=True) as database:
            trials = database.trials(self.task.hash, self.machine.fingerprint)
            return next(t for t in trials if t.origin == DEFAULT)


def task_of(workload: Workload) -> TuningTask:
    """An operator by itself, as `tune` sees it."""
    (task,) = tasks_of(tw.Task(workload.dag().outputs, workload.name))
    return task


def _tuned(workload: Workload, db: Path, trials: int, reuse: bool = False) -> tuple[int, float]:
    """Trials and seconds of a run."""
    task = tw.Task(workload.dag().outputs, workload.name)
    result = tw.tune(task, trials=trials, db=db, reuse=reuse, progress=False)
    return result.trials, result.seconds


def _best_first(trials: Iterable[Trial]) -> list[Trial]:
    return sorted((t for t in trials if t.ok), key=lambda t: (not t.confirmed_s, t.latency_s))


def _scheduler(tasks: Sequence[TuningTask], latencies: Sequence[float], seed: int) -> TaskScheduler:
    ((task, latency),) = zip(tasks, latencies, strict=True)
    infos = [TaskInfo(task.name, task.flops, task.structure, latency)]
    return TaskScheduler(infos, [ObjectiveModel(task.name, (0,), (1.0,))], seed=seed)


if __name__ == "__main__":
    sys.exit(main())

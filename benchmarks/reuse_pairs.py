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
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from rich.table import Table

from benchmarks.operator_sets import PAIR_TYPES, Workload, pairs
from benchmarks.operators import reported
from benchmarks.provenance import provenance
from benchmarks.reuse_records import (
    TRIED,
    best_of,
    default_of,
    fresh,
    in_turns,
    read_results,
    run_tuner,
    searched,
    taken_over,
    task_of,
    tuned,
    write_results,
)
from benchmarks.turns import Deadline, chosen
from tilewright.cli.console import output
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.search.reuse.strategy import LENGTH

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
    results = read_results(options.json, {"pairs": {}})
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
            write_results(options.json, results)
            figures = "  ".join(f"{s} {found[s].throughput:.3f}" for s in SIDES)
            console.print(f"{kind}  {name}: {figures}", highlight=False, soft_wrap=True)
    console.print(table(results))
    return 0


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


HEAD = ("type", "pairs", *SIDES, "trials")


def rows(results: dict[str, Any]) -> list[list[str]]:
    """The lines of the table, one a type; trials are those of reuse."""
    return [
        [kind, str(row["pairs"]), *(f"{row[s]:.3f}" for s in SIDES), f"{row['trials']:.0f}"]
        for kind, row in means(results).items()
    ]


def table(results: dict[str, Any]) -> Table:
    """Throughput relative to a search of 128 trials."""
    found = Table(*HEAD, title="throughput / search of 128 trials")
    for row in rows(results):
        found.add_row(*row)
    return found


@dataclass
class Pair:
    """One operator, and the relative whose records the sides begin with."""

    target: Workload
    source: Workload
    folder: Path

    def __post_init__(self) -> None:
        self.task = task_of(self.target)

    def measured(self) -> dict[str, Side]:
        """All sides; the programs that they found take turns."""
        own = searched(self.target, self.folder)
        makers = {"reuse": self._reuse, "search": self._search, "topk": self._topk}
        told = {side: make(self._copy(side)) for side, make in makers.items()}
        trials = {side: best_of(self._database(side), self.task) for side in makers}
        trials |= {"own": best_of(own, self.task), DEFAULT: default_of(own, self.task)}
        seconds = in_turns(self.task, {side: trial.gene for side, trial in trials.items()})
        told[DEFAULT] = (0, 0.0)
        return {
            side: Side(seconds["own"] / seconds[side], *told[side], trials[side].origin)
            for side in SIDES
        }

    # ---- sides --------------------------------------------------------------------------------

    def _reuse(self, db: Path) -> tuple[int, float]:
        """Trials and seconds."""
        return tuned(self.target, db, LENGTH, reuse=True)

    def _search(self, db: Path) -> tuple[int, float]:
        return tuned(self.target, db, LENGTH)

    def _topk(self, db: Path) -> tuple[int, float]:
        make = taken_over(task_of(self.source), db)
        with Database.open(db) as database:
            tuner = run_tuner(database, [self.task], TRIED, maker=lambda _: make, strategy="topk")
        return tuner.trials, tuner.elapsed_s

    # ---- records ------------------------------------------------------------------------------

    def _copy(self, side: str) -> Path:
        """The source's records, for one side to go on with."""
        db = fresh(self._database(side))
        shutil.copy(searched(self.source, self.folder), db)
        return db

    def _database(self, name: str) -> Path:
        return self.folder / f"{name}.db"


if __name__ == "__main__":
    sys.exit(main())

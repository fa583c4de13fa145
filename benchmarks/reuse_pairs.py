"""A dozen programs near a relative's best against 128 of a search: ETO's figures 5, 7 and 8.

    python -m benchmarks.reuse_pairs [--types C1D,DEP] [--pairs 8] [--minutes 15] [--json FILE]

For every type pairs of operators (benchmarks.operator_sets): a target, and a source that was
searched with 128 trials, whose records all sides begin with.

    reuse     12 trials of a plan, as tune(target, trials=12, strategy="reuse")
    search    12 of a search, the control, which learns from the same records
    topk      the source's three best programs as they are (Selective Tuning's way)
    all       the published tuner, which measures every program that it enumerates; of the first
              --all pairs of a type. Its planner's estimate of how many is kept, too (figure 5)
    default   the untuned program

Another --target than this machine's CPU, or --simulated devices: see benchmarks.reuse_sets. A
figure is the throughput relative to that of the target's own search of 128 trials, which began with
nothing. The programs take turns in processes that did not search. Databases are kept in
--folder, results in the JSON file after every pair: a benchmark that was stopped goes on.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any

from benchmarks.deadline import Deadline
from benchmarks.operator_sets import PAIR_TYPES, Workload, pairs
from benchmarks.provenance import provenance
from benchmarks.report import Part, Table, show
from benchmarks.reuse_records import (
    TRIED,
    Bench,
    add_places,
    add_slices,
    fresh,
    places_of,
    read_results,
    task_of,
    where_of,
    write_results,
)
from benchmarks.selective import TOP
from benchmarks.slices import reported
from benchmarks.turns import chosen
from tilewright.cli.console import output
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.search.reuse.strategy import LENGTH
from tilewright.search.strategies.table import Maker

ALL = "all"
SIDES = ("reuse", "search", "topk", ALL, DEFAULT)
ENUMERATED = 1000  # programs that the published tuner may measure


@dataclass(frozen=True)
class Side:
    """What one side reached: throughput relative to the search of 128 trials, by how many trials
    and seconds of its own, what proposed the program, and how many trials were expected.
    """

    throughput: float
    trials: int
    seconds: float
    origin: str
    expected: float


@dataclass(frozen=True)
class Taken:
    """Trials and seconds of a side's run, and how many trials were expected."""

    trials: int
    seconds: float
    expected: float = 0.0


def main() -> int:
    """Run the benchmark; the exit status."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--types", default="*", help="names or globs, comma-separated (all)")
    words.add_argument("--pairs", type=int, default=8, help="of each type (%(default)s)")
    words.add_argument("--all", type=int, default=4, help="of these with side all (%(default)s)")
    add_places(words)
    add_slices(words, "reuse_pairs")
    options = words.parse_args()
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """All pairs that are not in the file yet, type by type."""
    kinds = chosen(options.types, PAIR_TYPES)
    deadline = Deadline.after(options.minutes)
    options.folder.mkdir(parents=True, exist_ok=True)
    target, places = places_of(options)
    where = where_of(target, options)
    results = read_results(options.json, {**where, "pairs": {}}, where)
    console = output()
    for number in range(options.pairs):  # a slice has pairs of all types
        for kind in kinds:
            both = pairs(kind, number + 1)[number:]
            if not both or deadline.passed:
                continue
            ((one, other),) = both
            for where_to, bench in places.items():
                name = f"{one.name} < {other.name}{where_to}"
                if name in results["pairs"]:
                    continue
                found = Pair(one, other, bench, with_all=number < options.all).measured()
                sides = {side: asdict(figures) for side, figures in found.items()}
                results["pairs"][name] = {"type": kind, **sides}
                results["provenance"] = provenance(target)
                write_results(options.json, results)
                figures = "  ".join(f"{s} {of.throughput:.3f}" for s, of in found.items())
                console.print(f"{kind}  {name}: {figures}", highlight=False, soft_wrap=True)
    show(console, parts(results))
    return 0


def means(results: dict[str, Any]) -> dict[str, dict[str, float]]:
    """By type, and of all pairs: the sides' geometric means, NaN where none has the side."""
    found: dict[str, list[dict[str, Any]]] = {}
    for pair in results["pairs"].values():
        found.setdefault(pair["type"], []).append(pair)
    kinds = {kind: found[kind] for kind in PAIR_TYPES if kind in found}
    kinds["all pairs"] = list(results["pairs"].values())
    return {kind: _means(some) for kind, some in kinds.items() if some}


def _means(some: Sequence[dict[str, Any]]) -> dict[str, float]:
    listed = [pair for pair in some if ALL in pair]
    by_side = {side: [p[side]["throughput"] for p in some if side in p] for side in SIDES}
    return {
        **{side: geometric_mean(of) if of else nan for side, of in by_side.items()},
        "pairs": len(some),
        "trials": fmean(p["reuse"]["trials"] for p in some),
        "of all": fmean(p[ALL]["trials"] for p in listed) if listed else nan,
        "reuse there": geometric_mean(p["reuse"]["throughput"] for p in listed) if listed else nan,
    }


def estimates(results: dict[str, Any]) -> list[float]:
    """How many programs the published tuner was expected to measure, relative to those it did."""
    every = (pair.get(ALL) for pair in results["pairs"].values())
    return sorted(one["expected"] / one["trials"] for one in every if one and one["trials"])


HEAD = ("type", "pairs", *SIDES, "trials", "of all", "reuse there")


def rows(results: dict[str, Any]) -> list[list[str]]:
    """The lines of the table, one a type: trials of reuse and of all, and what reuse reaches of the
    pairs that have all.
    """
    return [
        [
            kind,
            str(row["pairs"]),
            *(_shown(row[s], 3) for s in SIDES),
            _shown(row["trials"], 0),
            _shown(row["of all"], 0),
            _shown(row["reuse there"], 3),
        ]
        for kind, row in means(results).items()
    ]


def _shown(figure: float, digits: int) -> str:
    return "" if isnan(figure) else f"{figure:.{digits}f}"


def parts(results: dict[str, Any]) -> list[Part]:
    """Throughput relative to a search of 128 trials; what the published planner expected."""
    told: list[Part] = []
    if found := estimates(results):
        told.append(
            f"The published planner expected {fmean(found):.2f} of what *all* measured on average, "
            f"{found[0]:.2f} to {found[-1]:.2f}, in {len(found)} pairs."
        )
    return [*told, Table(HEAD, rows(results))]


@dataclass
class Pair:
    """One operator, and the relative whose records the sides begin with."""

    target: Workload
    source: Workload
    bench: Bench
    with_all: bool = True

    def __post_init__(self) -> None:
        self.task, self.other = task_of(self.target), task_of(self.source)

    def measured(self) -> dict[str, Side]:
        """The sides; the programs that they found take turns."""
        own = self.bench.searched(self.target)
        makers = {"reuse": self._reuse, "search": self._search, "topk": self._topk}
        makers |= {ALL: self._all} if self.with_all else {}
        told = {side: make(self._copy(side)) for side, make in makers.items()}
        trials = {side: self.bench.best_of(self._database(side), self.task) for side in makers}
        trials |= {
            "own": self.bench.best_of(own, self.task),
            DEFAULT: self.bench.default_of(own, self.task),
        }
        genes = {side: trial.gene for side, trial in trials.items()}
        seconds = self.bench.in_turns(self.task, genes)
        told[DEFAULT] = Taken(0, 0.0)
        return {
            side: Side(
                seconds["own"] / seconds[side], told[side].trials, told[side].seconds,
                trials[side].origin, told[side].expected,
            )
            for side in SIDES
            if side in told
        }  # fmt: skip

    # ---- sides --------------------------------------------------------------------------------

    def _reuse(self, db: Path) -> Taken:
        with Database.open(db) as database:
            tuner, _ = self.bench.run_plan(database, [self.task], LENGTH)
        return Taken(tuner.trials, tuner.elapsed_s, LENGTH)

    def _search(self, db: Path) -> Taken:
        return self._run(db, None, LENGTH, "evolution", LENGTH)

    def _topk(self, db: Path) -> Taken:
        return self._run(db, self.bench.taken_over(self.other, db), TRIED, "topk", TOP)

    def _all(self, db: Path) -> Taken:
        expected = self.bench.expected(self.task, self.other, db)
        return self._run(db, self.bench.enumerated(self.other, db), ENUMERATED, ALL, expected)

    def _run(self, db: Path, make: Maker | None, trials: int, name: str, expected: float) -> Taken:
        maker = None if make is None else lambda _: make
        with Database.open(db) as database:
            tuner = self.bench.run(database, [self.task], trials, maker=maker, strategy=name)
        return Taken(tuner.trials, tuner.elapsed_s, expected)

    # ---- records ------------------------------------------------------------------------------

    def _copy(self, side: str) -> Path:
        """The source's records, for one side to go on with."""
        db = fresh(self._database(side))
        shutil.copy(self.bench.searched(self.source), db)
        return db

    def _database(self, name: str) -> Path:
        return self.bench.folder / f"{name}.db"


if __name__ == "__main__":
    sys.exit(main())

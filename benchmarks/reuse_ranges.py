"""In which ranges of usage good programs lie, given a relative's best one (ETO, section 3).

    python -m benchmarks.reuse_ranges [--folder reuse_pairs] [--json FILE]

From records alone: the databases of operators' own searches that benchmarks.reuse_pairs and
benchmarks.reuse_sets leave in --folder. For all ordered pairs of one family, a target and a source
whose rules include the target's:

    held      the share of pairs in which a program of the target within 1/0.9 of its best lies in
              the range that the source's best one gives (the paper's equations 4 to 6)
    kept      the share of random programs of the target that lie in it, which the paper leaves out:
              a range that keeps everything holds everything

`blocks`, `threads`, `bytes` and `published` (all three) are the paper's ranges; `tiles`,
`block bytes` and `ours` (both) are those that reuse goes by on this machine's CPU. Once the pairs
count of which one iteration space dominates the other, which is the paper's condition, once all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import inf
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.table import Table

from benchmarks.operator_sets import PAIR_TYPES
from benchmarks.operators import reported
from benchmarks.provenance import provenance, result_file
from benchmarks.reuse_records import Bench, Results, own_database, write_results
from tilewright.cli.console import output
from tilewright.cost.candidates import concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.usage import Usage, usage_of
from tilewright.records.database import Database
from tilewright.records.rows import Trial, best_first
from tilewright.search.reuse.correspondence import abilities
from tilewright.search.reuse.family import Family, Operator, comparable
from tilewright.search.reuse.ranges import Ranges, published, ranges_of
from tilewright.search.tasks import TuningTask
from tilewright.space.space import Space
from tilewright.target import Target

GOOD = 0.9  # of the best throughput
RANDOM = 2000  # programs of an operator that say what a range keeps
ANY = (0.0, inf)
FREE = Ranges(ANY, ANY)
RANGES = ("blocks", "threads", "bytes", "published", "tiles", "block bytes", "ours")
OTHER = "other"  # than the types of PAIR_TYPES
HEAD = ("type", "which pairs", "pairs", *RANGES)


@dataclass(frozen=True)
class Searched:
    """An operator and its search: what its best program takes, its good ones, and random ones."""

    name: str
    operator: Operator
    rules: frozenset[tuple[str, ...]]
    best: Usage
    good: Usage
    random: Usage


@dataclass(frozen=True)
class Share:
    """Of one pair, by range: whether a good program lies in it, and how many random ones do."""

    is_dominating: bool
    held: Mapping[str, bool]
    kept: Mapping[str, float]


def main() -> int:
    """Run the benchmark; the exit status."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--folder", type=Path, default=Path("reuse_pairs"), help="of databases")
    words.add_argument("--json", type=result_file, help="where results are kept")
    options = words.parse_args()
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """All pairs of what the folder has."""
    bench = Bench(options.folder)
    operators = list(searches(bench))
    if not operators:
        raise ValueError(f"{options.folder} has no search of an operator: run reuse_pairs first")
    results = {**summary(operators, bench.target), "provenance": provenance()}
    write_results(options.json, results)
    output().print(table(results))
    return 0


# ---- records ----------------------------------------------------------------------------------


def searches(bench: Bench) -> Iterable[Searched]:
    """The operators of which a folder has a search of their own, once each."""
    known: set[str] = set()
    for db in sorted(bench.folder.glob("*.db")):
        with Database.open(db, create=False, readonly=True) as database:
            tasks = [TuningTask.of(row) for row in database.workloads()]
            if len(tasks) != 1 or db != own_database(tasks[0].name, bench.folder):
                continue
            trials = best_first(database.trials(tasks[0].hash, bench.machine.fingerprint))
        if trials and tasks[0].hash not in known:
            known.add(tasks[0].hash)
            yield searched_operator(tasks[0], trials, bench.target)


def searched_operator(task: TuningTask, trials: Sequence[Trial], target: Target) -> Searched:
    """From trials that ran, best first."""
    space = task.space(target)
    enough_s = trials[0].latency_s / GOOD
    best = _usage(space, trials[:1])
    good = _usage(space, [t for t in trials if t.latency_s <= enough_s])
    drawn = space.sample(np.random.default_rng(0), RANDOM)
    rules = abilities(task.dag, target, None)
    random = usage_of(FeatureExtractor(space), drawn)
    return Searched(task.name, Operator.of(task.dag), rules, best, good, random)


def _usage(space: Space, trials: Sequence[Trial]) -> Usage:
    rows = [space.row_of(trial.gene) for trial in trials]
    return usage_of(FeatureExtractor(space), concatenate([r for r in rows if r is not None]))


# ---- pairs ------------------------------------------------------------------------------------


def ranges(here: Operator, there: Operator, target: Target) -> dict[str, Ranges]:
    """Those of RANGES for one operator from a program of another."""
    paper, ours = published(here, there), ranges_of(target, here, there)
    return {
        "blocks": replace(FREE, blocks=paper.blocks),
        "threads": replace(FREE, threads=paper.threads),
        "bytes": replace(FREE, bytes=paper.bytes),
        "published": paper,
        "tiles": replace(FREE, threads=ours.threads),
        "block bytes": replace(FREE, block_bytes=ours.block_bytes),
        "ours": ours,
    }


def share(here: Searched, there: Searched, target: Target) -> Share:
    """How one operator's programs lie, given another's best."""
    found = ranges(here.operator, there.operator, target)
    return Share(
        comparable(here.operator.nest, there.operator.nest),
        {name: bool(r.hold(here.good, there.best).any()) for name, r in found.items()},
        {name: float(r.hold(here.random, there.best).mean()) for name, r in found.items()},
    )


def summary(operators: Sequence[Searched], target: Target) -> Results:
    """By type and of all: `{condition: {"pairs", "held": {range: share}, "kept": ...}}`."""
    families: dict[Family, list[Searched]] = {}
    for one in operators:
        families.setdefault(one.operator.family, []).append(one)
    shares: dict[str, list[Share]] = {}
    for members in families.values():
        for here, there in permutations(members, 2):
            if here.operator.nest != there.operator.nest and here.rules <= there.rules:
                shares.setdefault(kind_of(members), []).append(share(here, there, target))
    order = {kind: shares[kind] for kind in (*PAIR_TYPES, OTHER) if kind in shares}
    order["all"] = [one for some in shares.values() for one in some]
    counts = {"operators": len(operators)}
    return {**counts, "types": {kind: _by_condition(some) for kind, some in order.items()}}


def kind_of(members: Sequence[Searched]) -> str:
    """The type that a family's operators are listed under first."""
    for kind, cases in PAIR_TYPES.items():
        names = {case.name for case in cases}
        if any(m.name in names or f"-{kind}-" in f"-{m.name}" for m in members):
            return kind
    return OTHER


def _by_condition(shares: Sequence[Share]) -> Results:
    every = {"dominating": [s for s in shares if s.is_dominating], "all": shares}
    return {
        condition: {
            "pairs": len(some),
            "held": {name: fmean(s.held[name] for s in some) for name in RANGES},
            "kept": {name: fmean(s.kept[name] for s in some) for name in RANGES},
        }
        for condition, some in every.items()
        if some
    }


def rows(results: Results) -> list[list[str]]:
    """The lines of the table: type, pairs, and per cent held and kept of each range."""
    return [
        [kind, condition, str(found["pairs"])]
        + [f"{100 * found['held'][r]:.0f} / {100 * found['kept'][r]:.0f}" for r in RANGES]
        for kind, conditions in results["types"].items()
        for condition, found in conditions.items()
    ]


def table(results: Results) -> Table:
    """Per cent of pairs in which a good program lies in the range / of random programs."""
    shown = Table(*HEAD, title="% of pairs held / % of random programs kept")
    for row in rows(results):
        shown.add_row(*row)
    return shown


if __name__ == "__main__":
    sys.exit(main())

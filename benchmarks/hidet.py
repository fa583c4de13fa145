"""The figures of the Hidet paper (Ding et al., ASPLOS 2023) that a CPU can show.

    python -m benchmarks.hidet [--cases '17:*,19:GEMM-2039'] [--minutes 15] [--json FILE]
    python -m benchmarks.hidet --quick           a small case of each, few trials

    17   what tuning costs: our search, and our profile
    18   how good the programs of a space are: all rows of the CPU's template, and what a search of
         the sketches measures, of one strided convolution
    19   products of consecutive sizes and of primes: our tiles, which may run over the end of an
         axis, and the same search where tiles divide (`benchmarks.divisor_space`)
    20   ResNet-50 at batch 1, 4 and 8, tuned by its profile
    21   convolution, normalisation and ReLU of ResNet-50 in one kernel and in two; and, before the
         convolution, in one and in two

Of 19, 20 and 21, and of 17's programs, sides take turns with the libraries, each in a process of
its own; 18's latencies are those that the searches measured, one after the other. A case that was
cut off is tuned on (17: anew, for its cost counts).
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TypeAlias

import tilewright as tw
from benchmarks.cases import ALL, Case
from benchmarks.chains import ChainBench
from benchmarks.comparison import Entry, Results
from benchmarks.divisor_space import divisors
from benchmarks.hidet_cases import (
    CASES,
    LAYERS,
    QUICK_SIZES,
    SIZES,
    SMALL_LAYER,
    STRIDED,
    parts_of,
)
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES as NETWORKS
from benchmarks.networks import BLOCK_S
from benchmarks.operators import recorded
from benchmarks.peers.sides import OURS, PEERS, UNTUNED
from benchmarks.report import Content, Part, Table, show
from benchmarks.reuse_records import fresh
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of
from benchmarks.turns import compared, in_turns, medians, outliers, outputs
from tilewright.front.machine import machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.text import NONE, duration
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.target import Target

Row: TypeAlias = dict[str, Any]
# Figures and their cases, of a whole run and of a quick one.
FULL: dict[str, tuple[str, ...]] = {
    "17": ("C2D-0-b1", "C2D-1-b1", "C2D-2-b1", "C2D-3-b1", "GMM-2-b1", "GMM-3-b1", "DEP-1-b1"),
    "18": (STRIDED,),
    "19": tuple(f"GEMM-{n}" for n in SIZES),
    "20": ("resnet50-b1", "resnet50-b4", "resnet50-b8"),
    "21": (
        *(case.name for case in LAYERS),
        *(f"norm_conv-56-{c}-{o}-1-b1" for c, o in ((256, 128), (256, 64))),
    ),
}
QUICK: dict[str, tuple[str, ...]] = {
    "17": ("GMM-0-b1",),
    "18": (STRIDED,),
    "19": tuple(f"GEMM-{n}" for n in QUICK_SIZES),
    "20": ("dcgan-b1",),
    "21": (SMALL_LAYER.name, "norm_conv-56-256-64-1-b1"),
}
TEMPLATE_S = 600.0  # for all rows of the template
Sides: TypeAlias = dict[str, tuple[str, str, Path | None]]


@dataclass(frozen=True)
class HidetBench(Bench):
    """Measures a case of a figure."""

    def case(self, name: str) -> Entry:
        number, _, subject = name.partition(":")
        row = FIGURES[number](self, subject)
        return {"case": name, **self.facts({}, {}), **row}

    def cost(self, name: str) -> Row:
        """Figure 17: seconds and trials of each way to tune, and the programs in turns."""
        task = _task(ALL[name])
        ways: dict[str, Row] = {}
        for way, how in self._own_ways().items():
            db = fresh(self.file(f"17-{name}-{way}"))  # of what was cut off the clock is lost
            begun = time.monotonic()
            found = self.tune(task, db=db, **how)
            ways[way] = {
                "trials": found.trials,
                "seconds": time.monotonic() - begun,
                "best_s": found.latency_s,
            }
        others: Sides = {"profile": (OURS, f"operator:{name}", self.file(f"17-{name}-profile"))}
        seconds = self._turns(f"operator:{name}", self.file(f"17-{name}-search"), others)
        return {"ways": ways, "seconds": seconds}

    def _own_ways(self) -> dict[str, dict[str, Any]]:
        return {"search": {}, "profile": {"strategy": "profile", "trials": None}}

    def distribution(self, name: str) -> Row:
        """Figure 18: the latencies of all programs of either space that ran, and how many did
        not.
        """
        task = _task(CASES[name])
        found: Row = {}
        ways: dict[str, dict[str, Any]] = {
            "templates": {
                "strategy": "templates",
                "minutes": self.options.seconds / 60,
                "trials": None,
            },
            "sketches": {},
        }
        for way, how in ways.items():
            db = self.file(f"18-{name}-{way}")
            self.tune(task, db=db, **how)
            trials = [t for t in recorded(task, db, self.target) if t.origin != DEFAULT]
            ran = sorted(t.measured_s for t in trials if t.measured_s is not None)
            found[way] = {"latencies_s": ran, "failed": len(trials) - len(ran)}
        return {"spaces": found}

    def size(self, name: str) -> Row:
        """Figure 19: a product by padded tiles and by those that divide."""
        task = _task(CASES[name])
        padded, divided = (self.file(f"19-{name}-{way}") for way in ("padded", DIVISORS))
        self.tune(task, db=padded)
        self.tune(task, db=divided, rules=divisors(self.target))
        subject, alone = f"operator:{name}", searched(task, divided, self.target)
        others: Sides = {} if alone is None else {DIVISORS: (OURS, subject, alone)}
        seconds = self._turns(subject, padded, others)
        return {"flops": CASES[name].dag().useful_flops, "seconds": seconds}

    def batch(self, name: str) -> Row:
        """Figure 20: a network at a batch size."""
        file, db = onnx_file(NETWORKS[name], self.options.folder), self.file("20")
        found = self.tune(tw.load(file), strategy="profile", db=db, trials=None)
        seconds = self._turns(f"network:{name}:{self.options.folder}", db, {})
        return {"batch": NETWORKS[name].batch, "trials": found.trials, "seconds": seconds}

    def fused(self, name: str) -> Row:
        """Figure 21: what follows a convolution, or goes before it, in its kernel and apart."""
        if name in NETWORKS:
            own = argparse.Namespace(**{**vars(self.options), "db": self.file("21")})
            chained = ChainBench(self.target, own, self.peers, self.trials)
            found = chained.case(name)
            sides = {OURS: "median_s", UNTUNED: "untuned_s"}
            sides |= {APART: "unchained_s", UNTUNED_APART: "untuned_unchained_s"}
            seconds = {side: found[key] for side, key in sides.items()} | found["peers"]
            return {"kind": "before", "is_fused": found["chained"], "seconds": seconds}
        case, db = {**ALL, **CASES}[name], self.file(f"21-{name}")
        for one in (case, *parts_of(case)):
            self.tune(_task(one), db=db)
        apart: Sides = {
            APART: (OURS, f"apart:{name}", db),
            UNTUNED_APART: (UNTUNED, f"apart:{name}", None),
        }
        seconds = self._turns(f"operator:{name}", db, apart)
        return {"kind": "after", "is_fused": True, "seconds": seconds}

    def file(self, stem: str) -> Path:
        """A database."""
        db: Path = self.options.db
        return db.with_name(f"{db.stem}-{stem}.db")

    def _turns(self, subject: str, db: Path, others: Sides) -> dict[str, float]:
        """Seconds of our side, untuned and of the peers; `others` are more sides of ours, with the
        subject and the records that they have. Raises SideError where outputs differ.
        """
        with contextlib.ExitStack() as stack:
            sides = {OURS: self.side(stack, OURS, subject, db)}
            sides |= self.started(stack, (UNTUNED, *self.peers), subject)
            for label, (side, what, records) in others.items():
                sides[label] = self.side(stack, side, what, records)
            outliers(compared(outputs(sides), OURS))
            return medians(in_turns(sides, self.options.rounds, BLOCK_S))


def searched(task: tw.Task, db: Path, target: Target) -> Path | None:
    """A database beside another one, of the programs that a search found: without the default one,
    which need not be of the space that was searched. None where no other ran.
    """
    found = [t for t in recorded(task, db, target) if t.origin != DEFAULT and t.error is None]
    file = fresh(db.with_name(f"{db.stem}-searched.db"))
    if not found:
        return None
    (one,) = tasks_of(task)
    with Database.open(file) as database:
        database.add_machine(machine_of(target))
        database.add_workload(one.row)
        database.add_trials(found)
    return file


FIGURES: dict[str, Callable[[HidetBench, str], Row]] = {
    "17": HidetBench.cost,
    "18": HidetBench.distribution,
    "19": HidetBench.size,
    "20": HidetBench.batch,
    "21": HidetBench.fused,
}


# ---- tables -------------------------------------------------------------------------------------


Rows = Mapping[str, Mapping[str, Any]]
Cells = tuple[Sequence[str], list[list[str]]]
TOLD = {
    "17": "wall seconds of tuning an operator by the search and by its profile (what installs of "
    "TVM today has neither Ansor's search nor AutoTVM's). *Its best* is what the tuner measured.",
    "18": "all rows of the CPU's template that time allowed, and the programs that a search of the "
    "sketches chose to measure; latencies as the searches measured them.",
    "19": "tiles may run over the end of an axis; *divisors* is the same search where they divide "
    "it, which leaves none for a prime.",
    "20": "batch sizes, tuned by the profile.",
    "21": "*after*: normalisation and ReLU in the convolution's kernel, or apart in a second one. "
    "*before*: normalisation and ReLU of its input, where the model is cut so. *apart / ours* is "
    "of the better of the tuned and the untuned program of either way.",
}
DIVISORS, APART, UNTUNED_APART = "divisors", "apart", "untuned, apart"
WAYS = ("search", "profile")
NEAR = 1.1  # times the best program's latency


def tables(entries: Iterable[Mapping[str, Any]]) -> list[Part]:
    """Every figure that has cases: its title, and a table."""
    figures: dict[str, dict[str, Mapping[str, Any]]] = {}
    for entry in entries:
        number, _, name = entry["case"].partition(":")
        figures.setdefault(number, {})[name] = entry
    found: list[Part] = []
    for number, rows in figures.items():
        found += [f"Figure {number}: {TOLD[number]}", Table(*TABLES[number](rows))]
    return found


def _costs(rows: Rows) -> Cells:
    head = ["case"]
    for way in WAYS:
        head += [f"{way}: trials", "s", "its best"]
    sides = (OURS, "profile", UNTUNED, *PEERS)
    lines = []
    for name, row in rows.items():
        cells = [name]
        for way in WAYS:
            one = row["ways"].get(way)
            cells += (
                [str(one["trials"]), f"{one['seconds']:.0f}", duration(one["best_s"])]
                if one
                else [NONE] * 3
            )
        lines.append([*cells, *(duration(row["seconds"].get(side)) for side in sides)])
    return [*head, *(f"in turns: {side}" for side in sides)], lines


def _distributions(rows: Rows) -> Cells:
    head = ["space", "programs", "failed", "best", "1st decile", "median", "9th decile"]
    head.append(f"within {NEAR:g} of the best of all")
    lines = []
    for name, row in rows.items():
        best = min(s for space in row["spaces"].values() for s in space["latencies_s"])
        for way, space in row["spaces"].items():
            ran = space["latencies_s"]
            deciles = quantiles(ran, n=10, method="inclusive") if len(ran) > 1 else ran * 9
            near = sum(s <= NEAR * best for s in ran) / max(len(ran), 1)
            figures = (min(ran), deciles[0], median(ran), deciles[8]) if ran else (None,) * 4
            counts = [str(len(ran)), str(space["failed"])]
            lines.append([f"{name}, {way}", *counts, *map(duration, figures), f"{near:.0%}"])
    return head, lines


def _sizes(rows: Rows) -> Cells:
    sides = [OURS, DIVISORS, UNTUNED, *PEERS]
    lines = []
    for name, row in sorted(rows.items(), key=lambda item: int(item[0].partition("-")[2])):
        rates = [f"{row['flops'] / s / 1e9:.0f}" if s else NONE for s in _of(row, sides)]
        lines.append([name, *rates])
    return ["GFLOP/s", *sides], lines


def _batches(rows: Rows) -> Cells:
    sides = (OURS, UNTUNED, *PEERS)
    lines = []
    for name, row in rows.items():
        seconds = row["seconds"]
        cells = [name, str(row["trials"]), *(duration(seconds.get(side)) for side in sides)]
        lines.append([*cells, _over(seconds, PEERS, [OURS])])
    return ("network", "trials", *sides, "best peer / ours"), lines


def _kernels(rows: Rows) -> Cells:
    sides = (OURS, UNTUNED, APART, UNTUNED_APART, *PEERS)
    lines = []
    for name, row in rows.items():
        seconds = row["seconds"]
        fused = row["kind"] if row["is_fused"] else f"{row['kind']}, not fused"
        cells = [name, fused, *(duration(seconds.get(side)) for side in sides)]
        ways = _over(seconds, [APART, UNTUNED_APART], [OURS, UNTUNED])
        lines.append([*cells, ways, _over(seconds, PEERS, [OURS])])
    return ("layer", "fused", *sides, "apart / ours", "best peer / ours"), lines


def _of(row: Mapping[str, Any], sides: Sequence[str]) -> list[float | None]:
    """Seconds by side; None of one that did not take part."""
    return [row["seconds"].get(side) for side in sides]


def _over(seconds: Mapping[str, float], sides: Sequence[str], own: Sequence[str]) -> str:
    """The best of some sides in terms of the best of ours."""
    others, mine = ([seconds[s] for s in those if s in seconds] for those in (sides, own))
    return f"{min(others) / min(mine):.2f}" if others else NONE


TABLES = {"17": _costs, "18": _distributions, "19": _sizes, "20": _batches, "21": _kernels}


# ---- the suite ----------------------------------------------------------------------------------


def _task(case: Case) -> tw.Task:
    return tw.Task(case.dag().outputs, case.name)


def _named(figures: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(f"{number}:{name}" for number, names in figures.items() for name in names)


@dataclass
class HidetResults(Results):
    """Cases in the order of the figures."""

    names = _named(FULL)

    def summary(self) -> dict[str, Any]:
        """How many there are; the tables are the figures."""
        return {"cases": len(self.cases)}


def parts(found: Content) -> list[Part]:
    """What a file says."""
    return tables(HidetResults.of(dict(found)).sorted())


class HidetSuite(Suite):
    """Figures."""

    def arguments(self, line: argparse.ArgumentParser) -> None:
        line.add_argument(
            "--seconds", type=float, default=TEMPLATE_S, help="of the template's rows (%(default)s)"
        )

    def sentence(self, entry: Entry) -> str:
        return f"figure {entry['case']} is measured"

    def show(self, console: Any, entries: Any) -> None:
        show(console, tables(entries))


SUITE = HidetSuite(
    (__doc__ or "").splitlines()[0], _named(FULL), ",".join(_named(QUICK)), "hidet", 128, 8,
    HidetResults, HidetBench, small=_named(QUICK),
)  # fmt: skip


def main(words: Sequence[str] | None = None, suite: Suite = SUITE) -> int:
    """Run the benchmark; the exit status."""
    return main_of(words, suite)


if __name__ == "__main__":
    sys.exit(main())

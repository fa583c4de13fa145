"""The figures of the Hidet paper (Ding et al., ASPLOS 2023) that a CPU can show.

    python -m benchmarks.hidet [--cases '17:*,19:GEMM-2039'] [--minutes 15] [--json FILE]
    python -m benchmarks.hidet --quick           a small case of each, few trials

    17   what tuning costs: our search, our profile, and TVM's search where apache-tvm is installed
    18   how good the programs of a space are: all rows of the CPU's template, and what a search of
         the sketches measures, of one strided convolution
    19   products of consecutive sizes and of primes: our tiles, which may run over the end of an
         axis, and the same search where tiles divide (`benchmarks.divisor_space`)
    20   ResNet-50 at batch 1, 4 and 8, tuned by its profile
    21   convolution, normalisation and ReLU of ResNet-50 in one kernel and in two; and, before the
         convolution, in one and in two (`benchmarks.prologues`)

Of 19, 20 and 21, and of 17's programs, sides take turns with the libraries, each in a process of
its own; 18's latencies are those that the searches measured, one after the other. A case that was
cut off is tuned on (17: anew, for its cost counts).
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
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
from benchmarks.hidet_report import APART, DIVISORS, UNTUNED_APART, tables
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES as NETWORKS
from benchmarks.networks import BLOCK_S
from benchmarks.operators import recorded
from benchmarks.peers import meta_schedule
from benchmarks.peers.process import SideError
from benchmarks.peers.sides import OURS, UNTUNED
from benchmarks.report import Content, Part, show
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of
from benchmarks.turns import compared, in_turns, medians, outliers, outputs
from tilewright.cli.console import complain
from tilewright.records.rows import DEFAULT

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
            db = self.file(f"17-{name}-{way}")
            for old in db.parent.glob(f"{db.name}*"):
                old.unlink()  # of a run that was cut off: its clock is lost
            begun = time.monotonic()
            found = self.tune(task, db=db, **how)
            ways[way] = {
                "trials": found.trials,
                "seconds": time.monotonic() - begun,
                "best_s": found.latency_s,
            }
        if meta_schedule.is_installed() and ALL[name].operator in meta_schedule.OPERATORS:
            try:
                found_there = meta_schedule.tuned(name, self.trials, self.target)
                ways[meta_schedule.NAME] = dict(found_there)
            except SideError as error:
                complain(f"{name} without {error}")
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
        subject = f"operator:{name}"
        seconds = self._turns(subject, padded, {DIVISORS: (OURS, subject, divided)})
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


FIGURES: dict[str, Callable[[HidetBench, str], Row]] = {
    "17": HidetBench.cost,
    "18": HidetBench.distribution,
    "19": HidetBench.size,
    "20": HidetBench.batch,
    "21": HidetBench.fused,
}


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

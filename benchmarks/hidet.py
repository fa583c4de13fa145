"""The figures of the Hidet paper (Ding et al., ASPLOS 2023) that a CPU can show.

    python -m benchmarks.hidet [--figures 17,18,19,20,21] [--minutes 15] [--json FILE]
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
its own; 18's latencies are those that the searches measured, one after the other. Everything is
kept in --folder and, after every case, in the JSON file, with a picture of each figure beside it:
run it again until nothing is left. A case that was cut off is tuned on (17: anew, for its cost
counts).
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import tilewright as tw
from benchmarks.cases import ALL, Case
from benchmarks.chains import Bench as Chained
from benchmarks.deadline import Deadline
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
from benchmarks.hidet_report import APART, DIVISORS, UNTUNED_APART, draw, lines_of
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES as NETWORKS
from benchmarks.networks import BLOCK_S
from benchmarks.operators import recorded, reported
from benchmarks.peers import meta_schedule
from benchmarks.peers.process import WAITS, SideError, SideProcess
from benchmarks.peers.sides import OURS, PEERS, UNTUNED
from benchmarks.provenance import kept_file, provenance
from benchmarks.reuse_records import read_results, write_results
from benchmarks.turns import (
    ROUNDS,
    compared,
    in_turns,
    installed,
    medians,
    outliers,
    outputs,
    started,
)
from tilewright.cli.console import complain, output
from tilewright.front.machine import host_target
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
TRIALS, QUICK_TRIALS = 128, 8
TEMPLATE_S, QUICK_TEMPLATE_S = 600.0, 20.0  # for all rows of the template
Sides: TypeAlias = dict[str, tuple[str, str, Path | None]]


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("--figures", default=",".join(FULL), help="(%(default)s)")
    line.add_argument("--quick", action="store_true", help="small cases, few trials")
    line.add_argument("--trials", type=int, help=f"of every search ({TRIALS}, of a quick run less)")
    line.add_argument("--seconds", type=float, help=f"of the template's rows ({TEMPLATE_S:.0f})")
    line.add_argument("--minutes", type=float, default=15, help="of this slice (%(default)s)")
    line.add_argument("--peers", default=",".join(PEERS), help="comma-separated (%(default)s)")
    line.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    line.add_argument("--threads", type=int, default=2, help="of every side (%(default)s)")
    line.add_argument("--networks", type=Path, default=Path("networks"), help="of ONNX files")
    line.add_argument("--folder", type=Path, default=Path("hidet"), help="of databases")
    line.add_argument("--json", type=kept_file, help="where results are kept, and read from first")
    line.add_argument(
        "--wait", choices=WAITS, default=WAITS[0], help="peers' OpenMP threads (%(default)s)"
    )
    options = line.parse_args(words)
    if options.trials is None:
        options.trials = QUICK_TRIALS if options.quick else TRIALS
    if options.seconds is None:
        options.seconds = QUICK_TEMPLATE_S if options.quick else TEMPLATE_S
    return reported(lambda: run(options))


def run(options: argparse.Namespace, cases: Mapping[str, Sequence[str]] | None = None) -> int:
    """What the file lacks of `cases` (those that the options say); 1 where a case failed."""
    cases = cases or (QUICK if options.quick else FULL)
    unknown = [number for number in options.figures.split(",") if number not in cases]
    if unknown:
        raise ValueError(f"no figure {', '.join(unknown)}; there are {', '.join(cases)}")
    console, deadline = output(), Deadline.after(options.minutes)
    options.folder.mkdir(parents=True, exist_ok=True)
    setting = {"trials": options.trials, "rounds": options.rounds, "threads": options.threads}
    results = read_results(options.json, {"setting": setting, "figures": {}}, {"setting": setting})
    target = replace(host_target(), cores=options.threads)
    bench = Bench(options, target, installed(options.peers))
    failed = False
    for number in options.figures.split(","):
        figure = results["figures"].setdefault(number, {})
        for name in (n for n in cases[number] if n not in figure):
            if deadline.passed:
                console.print(f"out of time before figure {number}, {name}")
                return int(failed)
            try:
                row = FIGURES[number](bench, name)
            except SideError as error:
                failed = True
                complain(f"figure {number}, {name}: {error}")
                continue
            origin = provenance(target)
            figure[name] = row | {key: origin[key] for key in ("commit", "date")}
            results["provenance"] = origin
            write_results(options.json, results)
            if options.json:
                draw(number, figure, options.json)
            for text in lines_of(number, {name: row}):
                console.print(text, highlight=False, soft_wrap=True)
    return int(failed)


@dataclass(frozen=True)
class Bench:
    """Where and how cases are tuned and measured."""

    options: argparse.Namespace
    target: Target
    peers: Sequence[str]

    def cost(self, name: str) -> Row:
        """Figure 17: seconds and trials of each way to tune, and the programs in turns."""
        task = _task(ALL[name])
        ways: dict[str, Row] = {}
        for way, how in self._own_ways().items():
            db = self._file(f"17-{name}-{way}")
            for old in db.parent.glob(f"{db.name}*"):
                old.unlink()  # of a run that was cut off: its clock is lost
            begun = time.monotonic()
            found = tw.tune(task, db=db, target=self.target, progress=False, **how)
            ways[way] = {
                "trials": found.trials,
                "seconds": time.monotonic() - begun,
                "best_s": found.latency_s,
            }
        if meta_schedule.is_installed() and ALL[name].operator in meta_schedule.OPERATORS:
            try:
                found_there = meta_schedule.tuned(name, self.options.trials, self.target)
                ways[meta_schedule.NAME] = dict(found_there)
            except SideError as error:
                complain(f"{name} without {error}")
        others: Sides = {"profile": (OURS, f"operator:{name}", self._file(f"17-{name}-profile"))}
        seconds = self._turns(f"operator:{name}", self._file(f"17-{name}-search"), others)
        return {"ways": ways, "seconds": seconds}

    def _own_ways(self) -> dict[str, dict[str, Any]]:
        return {"search": {"trials": self.options.trials}, "profile": {"strategy": "profile"}}

    def distribution(self, name: str) -> Row:
        """Figure 18: the latencies of all programs of either space that ran, and how many did
        not.
        """
        task = _task(CASES[name])
        found: Row = {}
        ways: dict[str, dict[str, Any]] = {
            "templates": {"strategy": "templates", "minutes": self.options.seconds / 60},
            "sketches": {"trials": self.options.trials},
        }
        for way, how in ways.items():
            db = self._file(f"18-{name}-{way}")
            tw.tune(task, db=db, target=self.target, progress=False, **how)
            trials = [t for t in recorded(task, db, self.target) if t.origin != DEFAULT]
            ran = sorted(t.measured_s for t in trials if t.measured_s is not None)
            found[way] = {"latencies_s": ran, "failed": len(trials) - len(ran)}
        return {"spaces": found}

    def size(self, name: str) -> Row:
        """Figure 19: a product by padded tiles and by those that divide."""
        task = _task(CASES[name])
        padded, divided = (self._file(f"19-{name}-{way}") for way in ("padded", DIVISORS))
        self._tune(task, padded)
        self._tune(task, divided, rules=divisors(self.target))
        subject = f"operator:{name}"
        seconds = self._turns(subject, padded, {DIVISORS: (OURS, subject, divided)})
        return {"flops": CASES[name].dag().useful_flops, "seconds": seconds}

    def batch(self, name: str) -> Row:
        """Figure 20: a network at a batch size."""
        file, db = onnx_file(NETWORKS[name], self.options.networks), self._file("20")
        found = tw.tune(
            tw.load(file), strategy="profile", db=db, target=self.target, progress=False
        )
        seconds = self._turns(f"network:{name}:{self.options.networks}", db, {})
        return {"batch": NETWORKS[name].batch, "trials": found.trials, "seconds": seconds}

    def fused(self, name: str) -> Row:
        """Figure 21: what follows a convolution, or goes before it, in its kernel and apart."""
        if name in NETWORKS:
            own = {**vars(self.options), "db": self._file("21"), "folder": self.options.networks}
            chained = Chained(
                self.target, argparse.Namespace(**own), self.peers, self.options.trials
            )
            found = chained.case(name)
            sides = {OURS: "median_s", UNTUNED: "untuned_s"}
            sides |= {APART: "unchained_s", UNTUNED_APART: "untuned_unchained_s"}
            seconds = {side: found[key] for side, key in sides.items()} | found["peers"]
            return {"kind": "before", "is_fused": found["chained"], "seconds": seconds}
        case, db = {**ALL, **CASES}[name], self._file(f"21-{name}")
        for one in (case, *parts_of(case)):
            self._tune(_task(one), db)
        apart: Sides = {
            APART: (OURS, f"apart:{name}", db),
            UNTUNED_APART: (UNTUNED, f"apart:{name}", None),
        }
        seconds = self._turns(f"operator:{name}", db, apart)
        return {"kind": "after", "is_fused": True, "seconds": seconds}

    def _tune(self, task: tw.Task, db: Path, **how: Any) -> None:
        trials = self.options.trials
        tw.tune(task, trials=trials, db=db, target=self.target, progress=False, **how)

    def _file(self, stem: str) -> Path:
        return Path(self.options.folder) / f"{stem}.db"

    def _turns(self, subject: str, db: Path, others: Sides) -> dict[str, float]:
        """Seconds of our side, untuned and of the peers; `others` are more sides of ours, with the
        subject and the records that they have. Raises SideError where outputs differ.
        """
        wait = self.options.wait
        with contextlib.ExitStack() as stack:
            wanted = (OURS, UNTUNED, *self.peers)
            sides = started(stack, wanted, subject, self.target, db, wait)
            for label, (side, what, records) in others.items():
                process = SideProcess(side, what, self.target, records, wait)
                sides[label] = stack.enter_context(process)
            outliers(compared(outputs(sides), OURS))
            return medians(in_turns(sides, self.options.rounds, BLOCK_S))


FIGURES: dict[str, Callable[[Bench, str], Row]] = {
    "17": Bench.cost,
    "18": Bench.distribution,
    "19": Bench.size,
    "20": Bench.batch,
    "21": Bench.fused,
}


def _task(case: Case) -> tw.Task:
    return tw.Task(case.dag().outputs, case.name)


if __name__ == "__main__":
    sys.exit(main())

"""Tilewright against libraries on the published operators and subgraphs (Ansor, appendix C).

    python -m benchmarks.operators --cases 'C2D-*,GMM-2-b1' --trials 256 --json operators.json
    python -m benchmarks.operators --tune-only --minutes 60          a slice of tuning
    python -m benchmarks.operators --measure-only --missing          a slice of measuring

Tuning and measuring are separate and resumable. A case whose records hold `--trials` trials is not
tuned again, one with fewer gets the rest. Measured cases stay in the JSON file, which is written
after each; a case measured again replaces its entry.

Every side runs in a process of its own, on `--threads` threads, in float32, and is called as its
Python user calls it (benchmarks/peers). Sides take turns: in every round each is called for
`BLOCK_S` seconds, or once, in an order that rotates, while all others are stopped. A figure is the
median over the rounds of the median call of a round. The outputs of all sides are compared first;
a case in which no peer agrees with Tilewright fails. PyTorch runs in the fastest of its modes.
benchmarks/roofline.py says what the roofline is.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console

import tilewright as tw
from benchmarks.cases import CASES, Case
from benchmarks.ceilings import Ceilings, lines, measure
from benchmarks.comparison import Results, entry_of, print_cases, print_summary
from benchmarks.peers.process import WAITS, Block, SideError, SideProcess
from benchmarks.peers.sides import OURS, PEERS, missing
from benchmarks.provenance import provenance
from benchmarks.roofline import bound_of, traffic_of
from tilewright.api import host_target, machine_of, tasks_of
from tilewright.cli.arrays import difference
from tilewright.cli.console import complain, output
from tilewright.cli.text import duration
from tilewright.records.database import Database
from tilewright.records.rows import Trial
from tilewright.target import Target

ROUNDS = 11
BLOCK_S = 0.04
# Float32 sums in another order: more than this of the largest output is an error.
TOLERANCE = 1e-3
DEFAULT = "default"  # the sketch of a default program's record, which is no trial of the search


@dataclass(frozen=True)
class Deadline:
    """When a slice ends; no case begins afterwards."""

    at: float

    @classmethod
    def after(cls, minutes: float) -> Deadline:
        return cls(time.monotonic() + 60 * minutes)

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at


def main() -> int:
    """Run the benchmark; the exit status."""
    options = arguments()
    try:
        return run(options, output())
    except (tw.TilewrightError, ValueError) as error:
        complain(str(error))
        return 1
    except KeyboardInterrupt:
        complain("stopped; what was tuned and measured is kept")
        return 130


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", default="*", help="names or globs, comma-separated (all)")
    parser.add_argument("--trials", type=int, default=256, help="trials a case (%(default)s)")
    parser.add_argument("--peers", default=",".join(PEERS), help="comma-separated (%(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="of every side (%(default)s)")
    parser.add_argument("--db", type=Path, default=Path("operators.db"), help="(%(default)s)")
    parser.add_argument("--json", type=Path, help="where results are kept, and read from first")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    parser.add_argument(
        "--wait", choices=WAITS, default=WAITS[0], help="peers' OpenMP threads (%(default)s)"
    )
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no case after that time"
    )
    parser.add_argument("--missing", action="store_true", help="measure only what --json lacks")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--tune-only", action="store_true")
    only.add_argument("--measure-only", action="store_true")
    return parser.parse_args()


def run(options: argparse.Namespace, console: Console) -> int:
    """Tune, then measure."""
    cases = chosen(options.cases)
    target = replace(host_target(), cores=options.threads)
    deadline = Deadline.after(options.minutes)
    if not options.measure_only:
        tune(console, cases, options.trials, options.db, target, deadline)
    if options.tune_only:
        return 0
    results = Results.read(options.json)
    peers = installed(options.peers)
    if options.missing:
        cases = [c for c in cases if c.name not in results.cases]
    ceilings = measure(target, [traffic_of(c) for c in cases])
    console.print("\n".join(lines(ceilings)), highlight=False)
    origin = provenance()
    results.head = {
        "machine": {"target": str(target), "threads": target.cores, "wait": options.wait},
        "ceilings": ceilings.to_json(),
        "provenance": origin,
    }
    bench = Bench(
        console,
        results,
        peers,
        options.db,
        options.rounds,
        options.wait,
        ceilings,
        target,
        {key: origin[key] for key in ("commit", "date")},
    )
    names = [c.name for c in cases]
    for case in cases:
        if deadline.passed:
            console.print(f"out of time before {case.name}")
            break
        bench.case(case)
    print_cases(console, [e for e in results.sorted() if e["case"] in names], peers)
    print_summary(console, results, peers)
    return 1 if any(n in results.failed for n in names) else 0


def chosen(patterns: str) -> list[Case]:
    """Cases by names and globs, in the published order. Raises ValueError for one without any."""
    wanted = [p.strip() for p in patterns.split(",") if p.strip()]
    for pattern in wanted:
        if not fnmatch.filter(CASES, pattern):
            raise ValueError(f"no case is called {pattern}; cases: {', '.join(CASES)}")
    return [c for c in CASES.values() if any(fnmatch.fnmatchcase(c.name, p) for p in wanted)]


def installed(peers: str) -> list[str]:
    """The wanted peers that can run; a message names those that cannot.

    Raises ValueError for an unknown name.
    """
    wanted = [p.strip() for p in peers.split(",") if p.strip()]
    unknown = [p for p in wanted if p not in PEERS]
    if unknown:
        raise ValueError(f"unknown peers {', '.join(unknown)}; known: {', '.join(PEERS)}")
    absent = missing(wanted)
    if absent:
        complain(
            f"not installed: {', '.join(absent)}; the comparison goes on without "
            f"(pip install '.[peers]' installs all peers)"
        )
    return [p for p in wanted if p not in absent]


# ---- tuning -----------------------------------------------------------------------------------


def tune(
    console: Console,
    cases: Sequence[Case],
    trials: int,
    db: Path,
    target: Target,
    deadline: Deadline,
) -> None:
    """Give every case its trials, one case after the other."""
    for case in cases:
        if deadline.passed:
            console.print(f"out of time before tuning {case.name}")
            return
        task = tw.Task(case.dag().outputs, case.name)
        known = sum(t.sketch_key != DEFAULT for t in recorded(task, db, target))
        if known >= trials:
            continue
        started = time.monotonic()
        # The tuner replays what is recorded, so the budget is the sum of all runs.
        found = tw.tune(task, trials=trials, db=db, target=target).tasks[0]
        console.print(
            f"tuned {case.name}: {known} -> {found.trials} trials in "
            f"{time.monotonic() - started:.0f} s, {duration(found.default_s)} untuned, "
            f"{duration(found.best_s)} best, {found.errors} failed"
        )


def recorded(task: tw.Task, db: Path, target: Target) -> list[Trial]:
    """What the database holds for this task and machine: the default program, then the search's."""
    if not db.exists():
        return []
    (one,) = tasks_of(task)
    with Database.open(db, create=False, readonly=True) as database:
        return list(database.trials(one.hash, machine_of(target).fingerprint))


def curve(trials: Sequence[Trial]) -> list[tuple[int, float]]:
    """Each trial that was better than all before, and its seconds; number 0 is the default."""
    found: list[tuple[int, float]] = []
    number = 0
    for trial in trials:
        number += trial.sketch_key != DEFAULT
        if trial.measured_s is not None and (not found or trial.measured_s < found[-1][1]):
            found.append((number, trial.measured_s))
    return found


# ---- measuring --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bench:
    """Measures cases and keeps their results."""

    console: Console
    results: Results
    peers: Sequence[str]
    db: Path
    rounds: int
    wait: str
    ceilings: Ceilings
    target: Target
    origin: Mapping[str, str]

    def case(self, case: Case) -> None:
        """Measure one case; its entry or its failure is on disk afterwards."""
        try:
            with contextlib.ExitStack() as stack:
                entry = self._measured(case, stack)
        except SideError as error:
            self.results.fail(case.name, str(error))
            complain(f"{case.name}: {error}")
        else:
            self.results.put(entry)
            self._say(entry)
        self.results.write()

    def _measured(self, case: Case, stack: contextlib.ExitStack) -> dict[str, Any]:
        """Raises SideError when Tilewright fails or is wrong; a failed peer is left out."""
        sides = {OURS: stack.enter_context(self._started(OURS, case))}
        for peer in self.peers:
            try:
                sides[peer] = stack.enter_context(self._started(peer, case))
            except SideError as error:
                complain(f"{case.name} without {peer}: {error}")
        differences = compared(sides)
        wrong = outliers(differences)
        if wrong:
            complain(f"{case.name}: outputs of {', '.join(wrong)} alone are off; timed anyway")
        blocks = in_turns(sides, self.rounds)
        medians = {name: median(b.median_s for b in found) for name, found in blocks.items()}
        bound = bound_of(case, self.ceilings, self.target)
        trials = recorded(tw.Task(case.dag().outputs, case.name), self.db, self.target)
        return entry_of(
            case.name,
            medians,
            OURS,
            case.dag().useful_flops,
            bound.total_s,
            roofline_limit=bound.limit,
            least_s={name: min(b.least_s for b in found) for name, found in blocks.items()},
            modes={name: side.mode for name, side in sides.items() if side.mode},
            differences=differences,
            rounds=self.rounds,
            trials=sum(t.sketch_key != DEFAULT for t in trials),
            curve=curve(trials),
            **self.origin,
        )

    def _started(self, side: str, case: Case) -> SideProcess:
        db = self.db if side == OURS else None
        return SideProcess(side, case.name, self.target.cores, db, self.wait)

    def _say(self, entry: Mapping[str, Any]) -> None:
        peers = ", ".join(f"{n} {duration(s)}" for n, s in entry["peers"].items())
        ratio = entry["ratio_best_peer"]
        self.console.print(
            f"{entry['case']}: {duration(entry['median_s'])} ({entry['modes'][OURS]}); {peers}; "
            f"torch mode {entry['modes'].get('torch', '-')}; "
            f"ratio {'-' if ratio is None else f'{ratio:.2f}'}, {entry['gflops']:.1f} GFLOP/s, "
            f"{100 * entry['roofline_fraction']:.0f} % of the roofline ({entry['roofline_limit']})",
            soft_wrap=True,
        )


def compared(sides: Mapping[str, SideProcess]) -> dict[str, float]:
    """How far each peer's output is from Tilewright's, relative to the largest magnitude."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "output.npy"
        sides[OURS].output(file)
        ours = np.load(file)
        found = {}
        for name, side in sides.items():
            if name != OURS:
                side.output(file)
                theirs = np.load(file)
                if theirs.shape != ours.shape:
                    raise SideError(f"{name} gives {theirs.shape}, Tilewright {ours.shape}")
                found[name] = difference([ours], [theirs])[1]
        return found


def outliers(differences: Mapping[str, float]) -> list[str]:
    """Peers further from Tilewright than TOLERANCE, where another peer agrees with it.

    Some sum millions of numbers naively. Raises SideError when none agrees: Tilewright is suspect.
    """
    wrong = [name for name, d in differences.items() if not d <= TOLERANCE]
    if wrong and len(wrong) == len(differences):
        raise SideError(
            f"outputs differ from Tilewright's by {dict(differences)} of the largest value; "
            f"{TOLERANCE} is allowed"
        )
    return wrong


def in_turns(sides: Mapping[str, SideProcess], rounds: int) -> dict[str, list[Block]]:
    """Every side's block of every round."""
    names = list(sides)
    blocks: dict[str, list[Block]] = {name: [] for name in names}
    for turn in range(rounds):
        for i in range(len(names)):
            name = names[(turn + i) % len(names)]
            blocks[name].append(sides[name].time(BLOCK_S))
    return blocks


if __name__ == "__main__":
    sys.exit(main())

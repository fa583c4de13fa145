"""Tilewright against libraries on the published operators and subgraphs (Ansor, appendix C).

    python -m benchmarks.operators --cases 'C2D-*,GMM-2-b1' --trials 256 --json operators.json
    python -m benchmarks.operators --tune-only --minutes 60          a slice of tuning
    python -m benchmarks.operators --measure-only --missing          a slice of measuring

`python -m benchmarks.gpu_operators` does the same on a GPU.

Tuning and measuring are separate and resumable. A case whose records hold `--trials` trials is not
tuned again, one with fewer gets the rest. Measured cases stay in the JSON file, which is written
after each; a case measured again replaces its entry.

Every side runs in a process of its own, on `--threads` threads, in float32, and is called as its
Python user calls it (benchmarks/peers). Sides take turns: in every round each is called for
40 ms, or once, in an order that rotates, while all others are stopped (benchmarks/turns.py). The
outputs of all sides are compared first; a case in which no peer agrees with Tilewright fails.
PyTorch runs in the fastest of its modes. The roofline (benchmarks/roofline.py) is a side, too: what
caches that other machines' work shares deliver changes several times within a minute.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isinf
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

import tilewright as tw
from benchmarks.cases import CASES, Case
from benchmarks.comparison import Results, entry_of, print_cases, print_summary
from benchmarks.deadline import Deadline
from benchmarks.peers.process import WAITS, SideError
from benchmarks.peers.sides import OURS, PEERS
from benchmarks.provenance import kept_file, provenance
from benchmarks.roofline import Bound, CpuBounds
from benchmarks.turns import (
    ROUNDS,
    chosen,
    compared,
    in_turns,
    installed,
    least,
    medians,
    outliers,
    outputs,
    started,
)
from tilewright.cli.console import complain, output
from tilewright.front.machine import host_target, machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.text import duration
from tilewright.records.database import Database
from tilewright.records.rows import Trial
from tilewright.target import Target

DEFAULT = "default"  # the sketch of a default program's record, which is no trial of the search


def main() -> int:
    """Run the benchmark; the exit status."""
    words = parser(__doc__, "operators.db", PEERS)
    words.add_argument("--threads", type=int, default=2, help="of every side (%(default)s)")
    options = words.parse_args()
    return reported(lambda: run(options, output(), _machine(options)))


def reported(action: Callable[[], int]) -> int:
    """The exit status of a benchmark; what went wrong is said in a line."""
    try:
        return action()
    except (tw.TilewrightError, ValueError, RuntimeError) as error:
        complain(str(error))
        return 1
    except KeyboardInterrupt:
        complain("stopped; what was tuned and measured is kept")
        return 130


def parser(description: str | None, db: str, peers: Sequence[str]) -> argparse.ArgumentParser:
    """The command line of this benchmark on any machine."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--cases", default="*", help="names or globs, comma-separated (all)")
    parser.add_argument("--trials", type=int, default=256, help="trials a case (%(default)s)")
    parser.add_argument("--peers", default=",".join(peers), help="comma-separated (%(default)s)")
    parser.add_argument("--db", type=Path, default=Path(db), help="(%(default)s)")
    parser.add_argument(
        "--json", type=kept_file, help="where results are kept, and read from first"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    parser.add_argument(
        "--wait", choices=WAITS, default=WAITS[0], help="peers' OpenMP threads (%(default)s)"
    )
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="of this slice (no limit)"
    )
    parser.add_argument("--missing", action="store_true", help="measure only what --json lacks")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--tune-only", action="store_true")
    only.add_argument("--measure-only", action="store_true")
    return parser


@dataclass(frozen=True)
class Machine:
    """Where cases run. `ceilings` measures what it can do at best, with the cases to be bounded."""

    target: Target
    cases: Mapping[str, Case]
    ceilings: Callable[[Sequence[Case]], Bounds]


class Bounds(Protocol):
    """Measured ceilings. `sides` names the side (one, or none) that takes turns with the others to
    show what a case takes at least; without one the ceilings measured before say it.
    """

    @property
    def sides(self) -> tuple[str, ...]: ...

    def bound_of(self, case: Case) -> Bound: ...

    def to_json(self) -> dict[str, Any]: ...

    def lines(self) -> list[str]: ...


def _machine(options: argparse.Namespace) -> Machine:
    """This one's CPU."""
    target = replace(host_target(), cores=options.threads)
    return Machine(target, CASES, lambda cases: CpuBounds.measured(target, cases))


def run(options: argparse.Namespace, console: Console, machine: Machine) -> int:
    """Tune, then measure."""
    cases = [machine.cases[name] for name in chosen(options.cases, machine.cases)]
    target = machine.target
    deadline = Deadline.after(options.minutes)
    if not options.measure_only:
        tune(console, cases, options.trials, options.db, target, deadline)
    if options.tune_only:
        return 0
    results = Results.read(options.json)
    peers = installed(options.peers)
    if options.missing:
        cases = [c for c in cases if c.name not in results.cases]
    ceilings = machine.ceilings(cases)
    console.print("\n".join(ceilings.lines()), highlight=False)
    origin = provenance(target)
    results.begin(
        machine={"target": str(target), "threads": target.cores, "wait": options.wait},
        ceilings=ceilings.to_json(),
        provenance=origin,
    )
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
        known = sum(t.origin != DEFAULT for t in recorded(task, db, target))
        if known >= trials:
            continue
        started = time.monotonic()
        # The tuner replays what is recorded, so the budget is the sum of all runs.
        minutes = None if isinf(deadline.minutes) else deadline.minutes
        run = tw.tune(task, trials=trials, minutes=minutes, db=db, target=target, progress=False)
        found = run.tasks[0]
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
        number += trial.origin != DEFAULT
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
    ceilings: Bounds
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
        subject = f"operator:{case.name}"
        sides = started(stack, (OURS, *self.peers), subject, self.target, self.db, self.wait)
        differences = compared(outputs(sides), OURS)
        wrong = outliers(differences)
        if wrong:
            complain(f"{case.name}: outputs of {', '.join(wrong)} alone are off; timed anyway")
        limits = started(stack, self.ceilings.sides, subject, self.target, self.db, self.wait)
        blocks = in_turns({**sides, **limits}, self.rounds)
        found = medians(blocks)
        bound = self.ceilings.bound_of(case)
        trials = recorded(tw.Task(case.dag().outputs, case.name), self.db, self.target)
        return entry_of(
            case.name,
            {name: found[name] for name in sides},
            OURS,
            case.dag().useful_flops,
            max((found[name] for name in limits), default=bound.total_s),
            roofline_limit=next((side.mode for side in limits.values()), bound.limit),
            roofline_before_s=bound.total_s,
            least_s=least(blocks),
            modes={name: side.mode for name, side in sides.items() if side.mode},
            differences=differences,
            rounds=self.rounds,
            trials=sum(t.origin != DEFAULT for t in trials),
            curve=curve(trials),
            **self.origin,
        )

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


if __name__ == "__main__":
    sys.exit(main())

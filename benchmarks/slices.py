"""Benchmarks of cases, measured in slices: what they share.

    SUITE = Suite("What it is about", names, quick="GMM-*", stem="mine", kept=MyResults,
                  bench_of=MyBench, head=HEAD, row=row)
    main(words, SUITE)

    python -m benchmarks.mine [--cases NAMES] [--trials N] [--minutes 15] [--json FILE] [--quick]

A case is tuned and measured at once, and kept in the JSON file before the next begins; cases that
the file has are not measured again, so the same command goes on until nothing is left. Every side
is a process of its own, in turns (benchmarks/turns.py).
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

import tilewright as tw
from benchmarks.comparison import Entry, Results
from benchmarks.deadline import Deadline
from benchmarks.peers.process import WAITS, Block, SideError, SideProcess
from benchmarks.peers.sides import OURS, PEERS
from benchmarks.provenance import kept_file, provenance
from benchmarks.report import Table, show, told
from benchmarks.turns import ROUNDS, chosen, installed, least, started
from tilewright.cli.console import complain, output
from tilewright.front.machine import as_target, host_target
from tilewright.target import Target


@dataclass(frozen=True)
class Bench:
    """Where and how cases are tuned and measured."""

    target: Target
    options: argparse.Namespace
    peers: Sequence[str]
    trials: int

    def case(self, name: str) -> Entry:
        """Tune, then time all sides. Raises SideError when Tilewright fails or is wrong; failed
        peers are left out.
        """
        raise NotImplementedError

    def tune(self, model: Any, **how: Any) -> tw.TuneResult:
        """Give a model its trials, less those that are recorded. Raises SideError."""
        usual = {"trials": self.trials, "db": self.options.db}
        try:
            return tw.tune(model, target=self.target, progress=False, **{**usual, **how})
        except tw.TilewrightError as error:
            raise SideError(f"{OURS}: {error}") from error

    def started(
        self, stack: contextlib.ExitStack, wanted: Iterable[str], subject: str
    ) -> dict[str, SideProcess]:
        """A process for every side, ours with the records that there are."""
        options = self.options
        return started(stack, wanted, subject, self.target, options.db, options.wait)

    def side(
        self, stack: contextlib.ExitStack, side: str, subject: str, db: Path | None = None
    ) -> SideProcess:
        """One side with these records. Raises SideError."""
        return stack.enter_context(SideProcess(side, subject, self.target, db, self.options.wait))

    def facts(
        self, sides: Mapping[str, SideProcess], blocks: Mapping[str, Sequence[Block]]
    ) -> dict[str, Any]:
        """What every entry says of how it came about."""
        origin = provenance(self.target)
        return {
            "trials": self.trials,
            "modes": {name: side.mode for name, side in sides.items() if side.mode},
            "least_s": least(blocks),
            **{key: origin[key] for key in ("commit", "date")},
        }


def _no_cells(entry: Entry) -> list[str]:
    return []


@dataclass(frozen=True)
class Suite:
    """A benchmark: its cases, and which of them are a quick run; `stem` names its database."""

    title: str
    names: Sequence[str]
    quick: str
    stem: str
    trials: int = 96
    quick_trials: int = 48
    kept: type[Results] = Results
    bench_of: type[Bench] = Bench
    head: Sequence[str] = ()
    row: Callable[[Entry], list[str]] = field(default=_no_cells)
    small: Sequence[str] = ()
    """Cases of an emulated device, and of a quick run beside the names."""

    def arguments(self, line: argparse.ArgumentParser) -> None:
        """Add what only this benchmark has."""

    def results(self, file: Path | None) -> Results:
        """What the file holds."""
        return self.kept.read(file)

    def bench(
        self, target: Target, options: argparse.Namespace, peers: Sequence[str], trials: int
    ) -> Bench:
        """What measures a case."""
        return self.bench_of(target, options, peers, trials)

    def sentence(self, entry: Entry) -> str:
        """A measured case for people."""
        name, *cells = self.row(entry)
        figures = (f"{what} {cell}" for what, cell in zip(self.head[1:], cells, strict=True))
        return f"{name}: {', '.join(figures)}"

    def show(self, console: Console, entries: Iterable[Entry]) -> None:
        """Print the table of all."""
        show(console, [Table(self.head, map(self.row, entries))])


def parsed(words: Sequence[str] | None, suite: Suite) -> argparse.Namespace:
    """The command line of a benchmark."""
    line = argparse.ArgumentParser(description=suite.title)
    line.add_argument("--cases", default="*", help="names or globs, comma-separated (all)")
    line.add_argument("--quick", action="store_true", help="few cases, fewer trials")
    fewer = f"{suite.trials}, a quick run's {suite.quick_trials}"
    line.add_argument("--trials", type=int, help=f"of a case, or of each way ({fewer})")
    line.add_argument("--minutes", type=float, default=15, help="of this slice (%(default)s)")
    line.add_argument("--peers", default=",".join(PEERS), help="comma-separated (%(default)s)")
    line.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    line.add_argument("--threads", type=int, default=2, help="of every side (%(default)s)")
    line.add_argument("--device", help="a target, such as cuda or emulated (this machine's CPU)")
    line.add_argument("--db", type=Path, default=Path(f"{suite.stem}.db"), help="(%(default)s)")
    line.add_argument("--folder", type=Path, default=Path("networks"), help="of ONNX files")
    line.add_argument("--json", type=kept_file, help="where results are kept, and read from first")
    line.add_argument(
        "--wait", choices=WAITS, default=WAITS[0], help="peers' OpenMP threads (%(default)s)"
    )
    suite.arguments(line)
    return line.parse_args(words)


def main(words: Sequence[str] | None = None, suite: Suite | None = None) -> int:
    """Run a benchmark; the exit status."""
    assert suite is not None
    options = parsed(words, suite)
    return reported(lambda: run(options, suite))


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


def run(options: argparse.Namespace, suite: Suite) -> int:
    """What the file lacks; 1 where a case failed."""
    console, results = output(), suite.results(options.json)
    names, bench = begun(options, suite)
    results.begin(
        machine={"target": str(bench.target), "threads": bench.target.cores, "wait": options.wait},
        provenance=provenance(bench.target),
    )
    measure(console, suite, bench, results, names, Deadline.after(options.minutes))
    suite.show(console, [e for e in results.sorted() if e["case"] in names])
    show(console, told(results.summary()))
    return 1 if any(n in results.failed for n in names) else 0


def begun(options: argparse.Namespace, suite: Suite) -> tuple[list[str], Bench]:
    """The cases that are asked for, and what measures them."""
    target = (
        as_target(options.device) if options.device else
        replace(host_target(), cores=options.threads)
    )  # fmt: skip
    usual = suite.quick_trials if options.quick else suite.trials
    trials = usual if options.trials is None else options.trials
    known = suite.small if options.device == "emulated" and suite.small else suite.names
    quick = suite.quick if options.quick else ""
    names = chosen(
        quick or options.cases, dict.fromkeys((*known, *suite.small)) if quick else known
    )
    return names, suite.bench(target, options, installed(options.peers), trials)


def measure(
    console: Console,
    suite: Suite,
    bench: Bench,
    results: Results,
    names: Sequence[str],
    deadline: Deadline,
) -> bool:
    """Measure the cases that are not in the results, which are kept after each; whether there was
    time for all.
    """
    for name in names:
        if name in results.cases:
            continue
        if deadline.passed:
            console.print(f"out of time before {name}")
            return False
        try:
            entry = bench.case(name)
        except SideError as error:
            results.fail(name, str(error))
            complain(f"{name}: {error}")
        else:
            results.put(entry)
            console.print(suite.sentence(entry), soft_wrap=True, highlight=False)
        results.write()
    return True

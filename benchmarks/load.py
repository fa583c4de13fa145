"""Latency of networks beside other programs: ours, onnxruntime's and OpenVINO's.

    python -m benchmarks.load --json load.json       all cells, about an hour
    python -m benchmarks.load --quick                two networks, few cells, about five minutes

A cell is a network, so many busy loops, and so long a pause between calls; also two and four
threads that call one network, and two processes at once. Each side has a process of its own, which
is stopped unless it is its turn: turns of some seconds, in an order that rotates, so that all meet
the same conditions. A figure is of all calls of a side's turns in a cell.

Sides are `untuned` (Tilewright's default programs), `tilewright` (its records in --db, by default
in place of `untuned` if that is given), `library` (the same network, saved and loaded again), and
the peers in their default settings, but for the number of threads, which is everybody's, and
OpenVINO's precision, which is float32.

--json keeps results after every cell; cells that it holds are not measured again.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.busy import BusyLoops
from benchmarks.comparison import Results
from benchmarks.deadline import Deadline
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES
from benchmarks.peers.paced import Pace
from benchmarks.peers.process import SideError, SideProcess
from benchmarks.peers.sides import LIBRARY, OURS, OWN, PEERS, UNTUNED
from benchmarks.provenance import kept_file, provenance
from benchmarks.report import Part, Table, show, told
from benchmarks.slices import reported
from benchmarks.turns import chosen, compared, installed, outliers, outputs, started
from tilewright.cli.console import complain, output
from tilewright.front.machine import host_target
from tilewright.ground.text import duration
from tilewright.target import CpuTarget

NETWORKS = ("mobilenet-v2-b1", "resnet50-b1", "bert-base-b1", "ppocr-det-b1")
WAIT = "default"  # peers' threads wait as they do by themselves
FULL: dict[str, Any] = {
    "networks": ",".join(NETWORKS), "loads": "0,1,2,4", "pauses": "0,5,20", "threads": "2,4",
    "processes": "2", "turns": 5, "seconds": 1.5, "calls": 30,
}  # fmt: skip
QUICK: dict[str, Any] = {
    "networks": "mobilenet-v2-b1,ppocr-det-b1", "loads": "0,2", "pauses": "0,20", "threads": "2",
    "processes": "2", "turns": 3, "seconds": 0.8, "calls": 10,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """A network under conditions: busy loops, a pause, who calls."""

    network: str
    loops: int = 0
    pause_ms: int = 0
    threads: int = 1
    processes: int = 1

    @property
    def case(self) -> str:
        """Its name."""
        callers = f", {self.threads} threads" * (self.threads > 1)
        callers += f", {self.processes} processes" * (self.processes > 1)
        return f"{self.network}, {self.loops} loops, {self.pause_ms} ms{callers}"


def cells_of(network: str, options: argparse.Namespace) -> list[Cell]:
    """The cells of a network; several callers meet no other load."""
    found = [
        Cell(network, loops, pause)
        for loops in numbers(options.loads)
        for pause in numbers(options.pauses)
    ]
    found += [Cell(network, threads=n) for n in numbers(options.threads)]
    return found + [Cell(network, processes=n) for n in numbers(options.processes)]


def numbers(text: str) -> list[int]:
    """Comma-separated numbers. Raises ValueError for what is none."""
    return [int(word) for word in text.split(",") if word.strip()]


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    options = arguments(words)
    cores = options.cores or host_target().cores
    target = dataclasses.replace(host_target(), cores=cores)
    return reported(lambda: run(options, output(), target))


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line; what it leaves open is as in FULL or QUICK."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="about five minutes")
    parser.add_argument("--networks", help=f"names or globs ({FULL['networks']})")
    parser.add_argument("--sides", help="comma-separated (ours, the saved library, two peers)")
    parser.add_argument("--loads", help=f"busy loops ({FULL['loads']})")
    parser.add_argument("--pauses", help=f"ms between calls ({FULL['pauses']})")
    parser.add_argument("--threads", help=f"that call one network ({FULL['threads']})")
    parser.add_argument("--processes", help=f"at once ({FULL['processes']})")
    parser.add_argument("--turns", type=int, help=f"of a side in a cell ({FULL['turns']})")
    parser.add_argument("--seconds", type=float, help=f"of a turn ({FULL['seconds']})")
    parser.add_argument("--calls", type=int, help=f"of a turn, at least ({FULL['calls']})")
    parser.add_argument("--cores", type=int, help="threads of every side (all)")
    parser.add_argument("--db", type=Path, help="records; without, programs are untuned")
    parser.add_argument("--folder", type=Path, default=Path("networks"), help="of ONNX files")
    parser.add_argument(
        "--json", type=kept_file, help="where results are kept, and read from first"
    )
    parser.add_argument("--minutes", type=float, default=120, help="of this slice (%(default)s)")
    options = parser.parse_args(words)
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    if options.sides is None:
        options.sides = f"{OURS if options.db else UNTUNED},{LIBRARY},onnxruntime,openvino"
    return options


def sides_of(text: str) -> list[str]:
    """Ours and the installed peers. Raises ValueError for an unknown name."""
    names = [n.strip() for n in text.split(",") if n.strip()]
    own = [n for n in names if n in (OURS, UNTUNED, LIBRARY)]
    if not own:
        raise ValueError(f"none of {text} is ours; sides: {', '.join((*OWN[:-1], *PEERS))}")
    return [*own, *installed(",".join(n for n in names if n not in own))]


def run(options: argparse.Namespace, console: Console, target: CpuTarget) -> int:
    """Measure the cells that are missing, then print all that were asked for."""
    results = LoadResults.read(options.json)
    results.begin(machine={"target": str(target)}, provenance=provenance(target))
    measure(options, console, target, results, Deadline.after(options.minutes))
    show(console, parts(results.to_json()))
    for case, message in results.failed.items():
        console.print(f"failed: {case}: {message}", markup=False, soft_wrap=True)
    return 1 if results.failed else 0


def measure(
    options: argparse.Namespace,
    console: Console,
    target: CpuTarget,
    results: LoadResults,
    deadline: Deadline,
) -> bool:
    """Measure what the results lack, network by network; whether there was time for all."""
    names = sides_of(options.sides)
    for network in chosen(options.networks, CASES):
        missing = [c for c in cells_of(network, options) if not results.holds(c, names)]
        if missing and deadline.passed:
            return False
        if missing:
            Measurement(options, console, target, results, names, network).cells(missing)
    return True


@dataclass
class LoadResults(Results):
    """Cells by name, network by network in the order in which they were measured."""

    def holds(self, cell: Cell, sides: Sequence[str]) -> bool:
        """Whether these sides have been tried in the cell."""
        entry = self.cases.get(cell.case)
        return entry is not None and set(sides) <= set(entry["tried"])

    def sorted(self) -> list[dict[str, Any]]:
        """By network; several callers after all single ones."""
        order = {name: i for i, name in enumerate(CASES)}

        def place(entry: dict[str, Any]) -> tuple[int, ...]:
            keys = ("processes", "threads", "loops", "pause_ms")
            return (order.get(entry["network"], len(order)), *(entry[key] for key in keys))

        return sorted(self.cases.values(), key=place)

    def summary(self) -> dict[str, Any]:
        """Of each side of ours, how its percentiles compare with the best peer's."""
        found: dict[str, Any] = {"cells": len(self.cases)}
        for name in (n for n in OWN if any(n in e["sides"] for e in self.cases.values())):
            for key in ("median_s", "p95_s"):
                shares = {c: s for c, e in self.cases.items() if (s := share(e, name, key))}
                least = min(shares, key=lambda c: shares[c], default=None)
                what = f"{name}, {COLUMNS[key]}: best peer's over ours, worst"
                found[what] = least and {"case": least, "ratio": shares[least]}
        return found


@dataclass(frozen=True)
class Measurement:
    """One network: its sides, started once for all its cells."""

    options: argparse.Namespace
    console: Console
    target: CpuTarget
    results: LoadResults
    names: Sequence[str]
    network: str

    def cells(self, cells: Sequence[Cell]) -> None:
        """Measure these; each is on disk afterwards, or why it failed."""
        try:
            onnx_file(CASES[self.network], self.options.folder)
            with contextlib.ExitStack() as stack:
                sides = self._started(stack)
                own = next(n for n in self.names if n in OWN)
                outliers(compared(outputs(sides), own) if len(sides) > 1 else {})
                for cell in cells:
                    self._cell(cell, sides)
        except SideError as error:
            for cell in cells:
                if not self.results.holds(cell, self.names):
                    self.results.fail(cell.case, str(error))
            complain(f"{self.network}: {error}")
            self.results.write()

    def _started(self, stack: contextlib.ExitStack) -> dict[str, SideProcess]:
        subject = f"served:{self.network}:{self.options.folder}"
        records = self.options.db or Path("none")
        return started(stack, self.names, subject, self.target, records, WAIT)

    def _cell(self, cell: Cell, sides: Mapping[str, SideProcess]) -> None:
        """Every side's turns under the cell's load."""
        options = self.options
        pace = Pace(options.seconds, options.calls, cell.pause_ms / 1e3, cell.threads)
        taken: dict[str, list[list[float]]] = {name: [] for name in sides}
        with self._callers(cell, sides) as callers, BusyLoops(cell.loops) as loops:
            for name in rotated(list(sides), options.turns):
                taken[name].append(together(callers[name], pace))
            loops.check()
        origin = provenance(self.target)
        entry = {
            "case": cell.case,
            **dataclasses.asdict(cell),
            "sides": {
                name: {
                    **figures([s for turn in turns for s in turn]),
                    "turn_medians_s": [median(turn) for turn in turns],
                }
                for name, turns in taken.items()
            },
            "tried": list(self.names),
            "machine": origin["machine"],
            "commit": origin["commit"],
            "date": origin["date"],
        }
        self.results.put(entry)
        self.results.write()
        found = ", ".join(
            f"{n} {duration(s['median_s'])} ({duration(s['p99_s'])} at 99 %)"
            for n, s in entry["sides"].items()
        )
        self.console.print(f"{cell.case}: {found}", markup=False, soft_wrap=True)

    @contextlib.contextmanager
    def _callers(
        self, cell: Cell, sides: Mapping[str, SideProcess]
    ) -> Iterator[dict[str, list[SideProcess]]]:
        """The processes that call at once; further ones live as long as the cell."""
        with contextlib.ExitStack() as stack:
            found = {name: [side] for name, side in sides.items()}
            for _ in range(cell.processes - 1):
                for name, side in self._started(stack).items():
                    found[name].append(side)
            yield found


COLUMNS = {"median_s": "median", "p95_s": "95 %", "p99_s": "99 %", "worst_s": "worst"}


def figures(latencies: Sequence[float]) -> dict[str, float]:
    """Of all calls of a cell; a percentile is a call that was made, none between two."""
    median, p95, p99 = np.percentile(latencies, (50, 95, 99), method="higher").tolist()
    counts = {"worst_s": max(latencies), "calls": len(latencies)}
    return {"median_s": median, "p95_s": p95, "p99_s": p99, **counts}


def share(entry: Mapping[str, Any], name: str, key: str) -> float | None:
    """The best peer's figure over that of a side of ours; None where nothing is compared."""
    peers = [side[key] for peer, side in entry["sides"].items() if peer not in OWN]
    if name not in entry["sides"] or not peers:
        return None
    return float(min(peers) / entry["sides"][name][key])


HEAD = ("cell", "side", *COLUMNS.values(), "best peer / ours: median, 95 %", "calls")


def parts(found: Mapping[str, Any]) -> list[Part]:
    """What a file says."""
    results = LoadResults.of(dict(found))
    return [*told(results.summary()), Table(HEAD, rows(results.sorted()))]


def rows(entries: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """A row for every side of every cell; the cell is named in its first row."""
    found = []
    for entry in entries:
        for number, (name, one) in enumerate(entry["sides"].items()):
            parts = [share(entry, name, k) if name in OWN else None for k in ("median_s", "p95_s")]
            cells = [entry["case"] if number == 0 else "", name]
            cells += [duration(one[key]) for key in COLUMNS]
            cells += [" ".join(f"{p:.2f}" for p in parts if p), str(one["calls"])]
            found.append(cells)
    return found


def rotated(names: Sequence[str], turns: int) -> list[str]:
    """Whose turn it is: every name once a round, each round beginning with the next."""
    return [names[(turn + i) % len(names)] for turn in range(turns) for i in range(len(names))]


def together(processes: Sequence[SideProcess], pace: Pace) -> list[float]:
    """One turn of all these processes at once."""
    with ThreadPoolExecutor(len(processes)) as pool:
        return [s for found in pool.map(lambda p: p.latencies(pace), processes) for s in found]


if __name__ == "__main__":
    raise SystemExit(main())

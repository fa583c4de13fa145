"""Latency of networks beside other programs: ours, and the libraries'.

    python -m benchmarks.load [--cases 'resnet50-b1:*'] [--db networks.db] [--json FILE]
    python -m benchmarks.load --quick                a network without load and beside two loops

A case is a network, so many busy loops, and the milliseconds between calls. Each side has a process
of its own, which is stopped unless it is its turn: turns of some seconds, in an order that rotates,
so that all meet the same conditions. A figure is of all calls of a side's turns in a case; a
percentile is a call that was made. Our programs are those that `benchmarks.networks` left in --db
after its stage of --stage minutes, and untuned without. Peers have their default settings, but for
the number of threads, which is everybody's, and OpenVINO's precision, which is float32.

- ratio_median, ratio_p95      the least of the peers' over ours
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.busy import BusyLoops
from benchmarks.comparison import Entry, Results, mean, ratio_text, worst
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES
from benchmarks.networks import Stages
from benchmarks.peers.paced import Pace
from benchmarks.peers.sides import OURS, UNTUNED
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of
from benchmarks.turns import compared, outliers, outputs, started
from tilewright.ground.text import duration

NETWORKS = ("mobilenet-v2-b1", "resnet50-b1", "bert-base-b1", "ppocr-det-b1")
LOOPS, PAUSES_MS = (0, 1, 2, 4), (0, 5, 20)
WAIT = "default"  # peers' threads wait as they do by themselves


@dataclass(frozen=True)
class LoadBench(Bench):
    """Measures a network under load."""

    def case(self, name: str) -> Entry:
        network, loops, pause_ms = name.split(":")
        options = self.options
        onnx_file(CASES[network], options.folder)
        records = Stages(network, (), options.db).file(options.stage)
        ours = OURS if records.exists() else UNTUNED
        pace = Pace(options.seconds, options.calls, int(pause_ms) / 1e3)
        subject = f"served:{network}:{options.folder}"
        with contextlib.ExitStack() as stack:
            wanted = (ours, *self.peers)
            sides = started(stack, wanted, subject, self.target, records, WAIT)
            outliers(compared(outputs(sides), ours) if len(sides) > 1 else {})
            taken: dict[str, list[list[float]]] = {side: [] for side in sides}
            with BusyLoops(int(loops)) as busy:
                for side in rotated(list(sides), options.rounds):
                    taken[side].append(sides[side].latencies(pace))
                busy.check()
        found = {side: figures(turns) for side, turns in taken.items()}
        return entry_of(name, found, ours, **self.facts(sides, {}))


def rotated(names: Sequence[str], turns: int) -> list[str]:
    """Whose turn it is: every name once a round, each round beginning with the next."""
    return [names[(turn + i) % len(names)] for turn in range(turns) for i in range(len(names))]


def figures(turns: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Of all calls of a side."""
    calls = [seconds for turn in turns for seconds in turn]
    middle, p95, p99 = np.percentile(calls, (50, 95, 99), method="higher").tolist()
    return {
        "median_s": middle, "p95_s": p95, "p99_s": p99, "worst_s": max(calls),
        "calls": len(calls), "turn_medians_s": [median(turn) for turn in turns],
    }  # fmt: skip


def entry_of(case: str, sides: dict[str, dict[str, Any]], ours: str, **facts: Any) -> Entry:
    """One case; `sides` have their figures."""
    peers = [side for name, side in sides.items() if name != ours]
    ratios = {
        f"ratio_{name}": min(p[key] for p in peers) / sides[ours][key] if peers else None
        for name, key in (("median", "median_s"), ("p95", "p95_s"))
    }
    return {"case": case, "ours": ours, "sides": sides, **ratios, **facts}


@dataclass
class LoadResults(Results):
    """In the order of the table."""

    names = tuple(f"{n}:{loops}:{ms}" for n in NETWORKS for loops in LOOPS for ms in PAUSES_MS)

    def summary(self) -> dict[str, Any]:
        """How percentiles compare with the best peer's."""
        found = [e for e in self.sorted() if e["ratio_p95"] is not None]
        return {
            "cases": len(self.cases),
            "at_most_the_best_peer_s_at_95_%": sum(e["ratio_p95"] >= 1 for e in found),
            "geomean_median": mean(e["ratio_median"] for e in found),
            "worst_median": worst(found, "ratio_median"),
            "worst_at_95_%": worst(found, "ratio_p95"),
        }


HEAD = (
    "network, loops, ms", "ours: median", "95 %", "99 %", "best peer's median", "95 %", "99 %",
    "ratio of medians", "at 95 %", "calls",
)  # fmt: skip


def row(entry: Entry) -> list[str]:
    """The figures of a case, as HEAD names them."""
    keys = ("median_s", "p95_s", "p99_s")
    mine = entry["sides"][entry["ours"]]
    peers = [side for name, side in entry["sides"].items() if name != entry["ours"]]
    return [
        entry["case"],
        *(duration(mine[key]) for key in keys),
        *(duration(min((p[key] for p in peers), default=None)) for key in keys),
        *(ratio_text(entry[key]) for key in ("ratio_median", "ratio_p95")),
        str(mine["calls"]),
    ]


class LoadSuite(Suite):
    """Turns of some seconds."""

    def arguments(self, line: argparse.ArgumentParser) -> None:
        line.add_argument("--seconds", type=float, default=1.0, help="of a turn (%(default)s)")
        line.add_argument("--calls", type=int, default=10, help="of a turn, at least (%(default)s)")
        line.add_argument("--stage", type=float, default=10, help="whose records (%(default)s)")
        line.set_defaults(rounds=3, db=Path("networks.db"))


SUITE = LoadSuite(
    (__doc__ or "").splitlines()[0], LoadResults.names, "ppocr-det-b1:0:0,ppocr-det-b1:2:0", "load",
    0, 0, LoadResults, LoadBench, HEAD, row,
)  # fmt: skip


def main(words: Sequence[str] | None = None, suite: Suite = SUITE) -> int:
    """Run the benchmark; the exit status."""
    return main_of(words, suite)


if __name__ == "__main__":
    sys.exit(main())

"""What moves data rather than multiplies: transposes, layouts, rows, functions, strides, orders.

    python -m benchmarks.edges [--cases NAMES] [--trials 32] [--minutes 15] [--json FILE]
    python -m benchmarks.edges --quick            one case of each kind, 8 trials

Cases (benchmarks.models.table, EDGES) are small graphs with shapes of known networks, given and
returned as ONNX has them: channels first, every array contiguous. Each is tuned, then all sides
take turns, each in a process of its own on two threads, called on the same arrays:

    tilewright, untuned     with and without records
    peers                   as in benchmarks.networks
    copy                    transposes and functions: the quickest copy of as many bytes as the
                            case reads and writes, called from Python as the others are

- ratio_best_peer, ratio_untuned     the best peer's time over tuned and untuned Tilewright's
- copy_share                         the copy's time over tuned Tilewright's: its part of the
                                     bandwidth of a copy of that size

Databases are kept in --db, and results in the JSON file after every case: run it again until
nothing is left.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

import tilewright as tw
from benchmarks import chains
from benchmarks.chains import BLOCK_S, worst
from benchmarks.comparison import Entry, Results, mean, print_rows, ratio_text, ratios
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES, EDGES
from benchmarks.networks import checked
from benchmarks.peers.process import SideError
from benchmarks.peers.sides import COPY, OURS, OWN, PEERS, UNTUNED
from benchmarks.provenance import provenance
from benchmarks.turns import in_turns, least, medians, outputs, started
from tilewright.ground.text import NONE, duration
from tilewright.target import Target

KIND_OF = {
    f"{network.name}-b{batch}": kind
    for kind, networks in EDGES.items()
    for network in networks
    for batch in network.batches
}
QUICK = (
    "permuted-0-2-3-1-64x56x56-b1,depthwise-3-2-144x56x56-b1,layer_norm-768-b384,"
    "hardswish-240x28x28-b1,max_pool-2-2-64x112x112-b1,largest-5-1000-b1"
)
COPIED = ("transposes", "functions")  # kinds that do little beside moving what they are given


@dataclass(frozen=True)
class EdgeBench(chains.Bench):
    """Measures a case as ONNX has it."""

    def case(self, name: str) -> Entry:
        """Tune, then time all sides. Raises SideError when Tilewright fails or is wrong; failed
        peers are left out.
        """
        case = CASES[name]
        file = onnx_file(case, self.options.folder)
        db, wait = self.options.db, self.options.wait
        try:
            model = tw.load(file).for_target(self.target)
            tw.tune(model, trials=self.trials, db=db, target=self.target, progress=False)
        except tw.TilewrightError as error:
            raise SideError(f"{OURS}: {error}") from error
        subject = f"served:{case.name}:{self.options.folder}"
        limits = (COPY,) if KIND_OF.get(case.name) in COPIED else ()
        with contextlib.ExitStack() as stack:
            wanted = (OURS, UNTUNED, *self.peers)
            sides = started(stack, wanted, subject, self.target, db, wait)
            errors = checked(outputs(sides))
            copies = started(stack, limits, subject, self.target, db, wait)
            blocks = in_turns({**sides, **copies}, self.options.rounds, BLOCK_S)
        return entry_of(
            case.name,
            medians(blocks),
            **errors,
            trials=self.trials,
            modes={name: side.mode for name, side in sides.items() if side.mode},
            least_s=least(blocks),
            **{key: provenance(self.target)[key] for key in ("commit", "date")},
        )


def entry_of(case: str, seconds: Mapping[str, float], **facts: Any) -> Entry:
    """One measured case; `seconds` by side, `facts` are kept as they are."""
    peers = {name: s for name, s in seconds.items() if name not in OWN}
    mine, copied = seconds[OURS], seconds.get(COPY)
    best = min(peers.values(), default=None)
    return {
        "case": case,
        "kind": KIND_OF.get(case, ""),
        "median_s": mine,
        "untuned_s": seconds[UNTUNED],
        "copy_s": copied,
        "peers": peers,
        "ratio_best_peer": None if best is None else best / mine,
        "ratio_untuned": None if best is None else best / seconds[UNTUNED],
        "copy_share": None if copied is None else copied / mine,
        **facts,
    }


@dataclass
class EdgeResults(Results):
    """Results in the order of the table."""

    def sorted(self) -> list[Entry]:
        order = list(KIND_OF)
        places = {name: order.index(name) if name in order else len(order) for name in self.cases}
        return sorted(self.cases.values(), key=lambda e: places[e["case"]])

    def summary(self) -> dict[str, Any]:
        """Over all cases; None where there is nothing to compare with."""
        found = self.sorted()
        compared = [e for e in found if e["ratio_best_peer"] is not None]
        copied = [e for e in found if e["copy_share"] is not None]
        return {
            "cases": len(found),
            "geomean_best_peer": mean(e["ratio_best_peer"] for e in compared),
            "worst": worst(compared, "ratio_best_peer"),
            "at_least_par": sum(e["ratio_best_peer"] >= 1 for e in compared),
            "compared": len(compared),
            "geomean_untuned": mean(e["ratio_untuned"] for e in compared),
            "worst_untuned": worst(compared, "ratio_untuned"),
            "copy_share": worst(copied, "copy_share"),
            "kinds": {
                kind: mean(e["ratio_best_peer"] for e in compared if e["kind"] == kind)
                for kind in EDGES
                if any(e["kind"] == kind for e in compared)
            },
            **{f"geomean_{peer}": mean(ratios(found, peer)) for peer in PEERS},
        }


HEAD = ("case", "ours", "untuned", *PEERS, "best peer / ours", "best peer / untuned", "% of copy")


def row(entry: Entry) -> list[str]:
    """The figures of a case, as HEAD names them."""
    share = entry["copy_share"]
    return [
        entry["case"],
        duration(entry["median_s"]),
        duration(entry["untuned_s"]),
        *(duration(entry["peers"].get(p)) for p in PEERS),
        *(ratio_text(entry[key]) for key in ("ratio_best_peer", "ratio_untuned")),
        NONE if share is None else f"{100 * share:.0f}",
    ]


class EdgeSuite(chains.Suite):
    """Cases that are measured as ONNX has them."""

    def results(self, file: Path | None) -> Results:
        return EdgeResults.read(file)

    def bench(
        self, target: Target, options: argparse.Namespace, peers: Sequence[str], trials: int
    ) -> chains.Bench:
        return EdgeBench(target, options, peers, trials)

    def sentence(self, entry: Entry) -> str:
        peers = ", ".join(f"{n} {duration(s)}" for n, s in entry["peers"].items())
        copied = entry["copy_s"]
        copying = "" if copied is None else f"; a copy takes {duration(copied)}"
        best, untuned = (ratio_text(entry[key]) for key in ("ratio_best_peer", "ratio_untuned"))
        return (
            f"{entry['case']}: {duration(entry['median_s'])}, untuned "
            f"{duration(entry['untuned_s'])}; {peers}; ratio {best}, "
            f"untuned {untuned}{copying}"
        )

    def show(self, console: Console, entries: Iterable[Entry]) -> None:
        print_rows(console, HEAD, map(row, entries))


SUITE = EdgeSuite(
    (__doc__ or "").splitlines()[0], tuple(KIND_OF), QUICK, "edges", trials=32, quick_trials=8
)


def main(words: Sequence[str] | None = None, suite: chains.Suite = SUITE) -> int:
    """Run the benchmark; the exit status."""
    return chains.main(words, suite)


if __name__ == "__main__":
    sys.exit(main())

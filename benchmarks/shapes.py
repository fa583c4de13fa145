"""One network for a range of shapes, beside networks of one shape each and libraries.

    python -m benchmarks.shapes [--cases NAMES] [--trials 0] [--json FILE]
    python -m benchmarks.shapes --quick            two lengths of a text, untuned

Cases (benchmarks.models.shaped) are networks, exported with dynamic axes, at values of their sizes.
`tilewright` is the network of the whole range; `static` is Tilewright's of that shape alone, which
has had as many trials; libraries load the file with dynamic axes. Each is a process of its own, in
turns. Outputs are compared first.

Decoders read one token behind a cache of so many: `tilewright` in a stream, which appends to it,
`static` without a state, as ONNX says; onnxruntime's inputs and outputs are bound once.

- ratio_static             the static network's time over the range's: 1 / 1.10 is a tenth slower
- ratio_best_peer          the best library's time over ours
- first_call_ms            what the first call of a length takes longer than the second: the median
                           of five lengths near the case's
- code_bytes, arena_bytes, tuning_s
                           of the range's network and, as static_…, of that shape alone; the first
                           case of a network tunes it, others find it tuned

Databases are kept in --db, results in the JSON file after every case: run it again until nothing is
left.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

import tilewright as tw
from benchmarks import chains
from benchmarks.chains import worst
from benchmarks.comparison import Entry, Results, mean, print_rows, ratio_text
from benchmarks.models.shaped import SHAPED
from benchmarks.networks import BLOCK_S
from benchmarks.peers.process import SideError
from benchmarks.peers.sides import OURS, PEERS
from benchmarks.provenance import provenance
from benchmarks.turns import compared, in_turns, least, medians, outliers, outputs, started
from tilewright.ground.text import duration
from tilewright.target import Target

STATIC = "static"
QUICK = "bert-base:16,bert-base:128"


@dataclass(frozen=True)
class ShapesBench(chains.Bench):
    """Measures a network at one shape."""

    def case(self, name: str) -> Entry:
        """Tune, then time all sides. Raises SideError when Tilewright fails or is wrong; failed
        peers are left out.
        """
        case = SHAPED[name]
        folder, db, wait = self.options.folder, self.options.db, self.options.wait
        file = case.network.file(folder)
        tuning = {}
        try:
            for is_static in (False, True) if self.trials else ():
                state = None if is_static else case.network.state
                model = tw.load(file, shapes=case.shapes(is_static), state=state)
                begun = time.monotonic()
                tw.tune(model, trials=self.trials, db=db, target=self.target, progress=False)
                tuning["static_tuning_s" if is_static else "tuning_s"] = time.monotonic() - begun
        except tw.TilewrightError as error:
            raise SideError(f"{OURS}: {error}") from error
        peers = [p for p in self.peers if p != "torch"]
        with contextlib.ExitStack() as stack:
            sides = started(stack, (OURS, *peers), f"shaped:{name}:{folder}", self.target, db, wait)
            alone = f"shaped-static:{name}:{folder}"
            (sides[STATIC],) = started(stack, (OURS,), alone, self.target, db, wait).values()
            static = {f"static_{k}": n for k, n in sides[STATIC].facts.items() if "bytes" in k}
            differences = compared(outputs(sides), OURS)
            outliers(differences)
            blocks = in_turns(sides, self.options.rounds, BLOCK_S)
            facts = sides[OURS].facts
        seconds = medians(blocks)
        theirs = {p: seconds[p] for p in peers if p in seconds}
        return {
            "case": name,
            "median_s": seconds[OURS],
            "static_s": seconds[STATIC],
            "peers": theirs,
            "ratio_static": seconds[STATIC] / seconds[OURS],
            "ratio_best_peer": min(theirs.values()) / seconds[OURS] if theirs else None,
            **facts,
            **static,
            **tuning,
            "differences": differences,
            "trials": self.trials,
            "least_s": least(blocks),
            **{key: provenance(self.target)[key] for key in ("commit", "date")},
        }


@dataclass
class ShapesResults(Results):
    """Results in the order of the table."""

    def sorted(self) -> list[Entry]:
        order = list(SHAPED)
        return sorted(self.cases.values(), key=lambda e: order.index(e["case"]))

    def summary(self) -> dict[str, Any]:
        """Over all cases, and by network."""
        found = self.sorted()
        networks: dict[str, list[Entry]] = {}
        for entry in found:
            networks.setdefault(entry["case"].partition(":")[0], []).append(entry)
        return {
            **_figures(found),
            "networks": {
                name: {**_figures(entries), **_costs(entries)} for name, entries in networks.items()
            },
        }


def _figures(entries: Sequence[Entry]) -> dict[str, Any]:
    compared_ = [e for e in entries if e["ratio_best_peer"] is not None]
    return {
        "cases": len(entries),
        "geomean_static": mean(e["ratio_static"] for e in entries),
        "worst_static": worst(entries, "ratio_static"),
        "geomean_peer": mean(e["ratio_best_peer"] for e in compared_),
        "worst_peer": worst(compared_, "ratio_best_peer"),
        "first_call_ms": max((e["first_call_ms"] for e in entries), default=None),
    }


def _costs(entries: Sequence[Entry]) -> dict[str, float]:
    """How many times as much code and memory for values the range's network has, of the shape whose
    own has most: what varies is laid out for the most. And how many times as long the network was
    tuned, which is once, as the shape that took longest.
    """
    found = {}
    for what in ("code", "arena"):
        own, static = f"{what}_bytes", f"static_{what}_bytes"
        pairs = [(e[static], e[own]) for e in entries if static in e]
        if pairs:
            found[what] = max(pairs)[1] / max(pairs)[0]
    tuned = [e for e in entries if "tuning_s" in e]
    if tuned:
        longest = max(e["static_tuning_s"] for e in tuned)
        found["tuning"] = max(e["tuning_s"] for e in tuned) / longest
    return found


PEERS_OF_FILES = tuple(p for p in PEERS if p != "torch")
HEAD = (
    "case",
    "ours",
    "static",
    *PEERS_OF_FILES,
    "static / ours",
    "best peer / ours",
    "first call",
)


def row(entry: Entry) -> list[str]:
    """The figures of a case, as HEAD names them."""
    return [
        entry["case"],
        duration(entry["median_s"]),
        duration(entry["static_s"]),
        *(duration(entry["peers"].get(p)) for p in PEERS_OF_FILES),
        ratio_text(entry["ratio_static"]),
        ratio_text(entry["ratio_best_peer"]),
        f"+{entry['first_call_ms']:.2f} ms",
    ]


class ShapesSuite(chains.Suite):
    """Networks at shapes."""

    def results(self, file: Path | None) -> Results:
        return ShapesResults.read(file)

    def bench(
        self, target: Target, options: argparse.Namespace, peers: Sequence[str], trials: int
    ) -> chains.Bench:
        return ShapesBench(target, options, peers, trials)

    def sentence(self, entry: Entry) -> str:
        return ", ".join(f"{head} {text}" for head, text in zip(HEAD, row(entry), strict=True))

    def show(self, console: Console, entries: Iterable[Entry]) -> None:
        print_rows(console, HEAD, map(row, entries))


SUITE = ShapesSuite(
    (__doc__ or "").splitlines()[0], tuple(SHAPED), QUICK, "shapes", trials=0, quick_trials=0
)


if __name__ == "__main__":
    sys.exit(chains.main(suite=SUITE))

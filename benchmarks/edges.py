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

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tilewright as tw
from benchmarks.chains import BLOCK_S
from benchmarks.comparison import Entry, Results, having, mean, ratio_text, worst
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES, EDGES
from benchmarks.networks import checked
from benchmarks.peers.process import SideError
from benchmarks.peers.sides import COPY, OURS, OWN, PEERS, UNTUNED
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of
from benchmarks.turns import in_turns, medians, outputs
from tilewright.ground.text import NONE, duration

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
class EdgeBench(Bench):
    """Measures a case as ONNX has it."""

    def case(self, name: str) -> Entry:
        case = CASES[name]
        file = onnx_file(case, self.options.folder)
        try:
            model = tw.load(file).for_target(self.target)
        except tw.TilewrightError as error:
            raise SideError(f"{OURS}: {error}") from error
        self.tune(model)
        subject = f"served:{case.name}:{self.options.folder}"
        limits = (COPY,) if KIND_OF.get(case.name) in COPIED else ()
        with contextlib.ExitStack() as stack:
            sides = self.started(stack, (OURS, UNTUNED, *self.peers), subject)
            errors = checked(outputs(sides))
            sides |= self.started(stack, limits, subject)
            blocks = in_turns(sides, self.options.rounds, BLOCK_S)
        return entry_of(case.name, medians(blocks), **errors, **self.facts(sides, blocks))


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

    names = tuple(KIND_OF)

    def summary(self) -> dict[str, Any]:
        found = having(self.sorted(), "ratio_best_peer")
        kinds = {kind: [e for e in found if e["kind"] == kind] for kind in EDGES}
        return {
            **super().summary(),
            "geomean_untuned": mean(e["ratio_untuned"] for e in found),
            "worst_untuned": worst(found, "ratio_untuned"),
            "copy_share": worst(self.sorted(), "copy_share"),
            "kinds": {k: mean(e["ratio_best_peer"] for e in es) for k, es in kinds.items() if es},
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


SUITE = Suite(
    (__doc__ or "").splitlines()[0], tuple(KIND_OF), QUICK, "edges", 32, 8, EdgeResults, EdgeBench,
    HEAD, row,
)  # fmt: skip


def main(words: Sequence[str] | None = None, suite: Suite = SUITE) -> int:
    """Run the benchmark; the exit status."""
    return main_of(words, suite)


if __name__ == "__main__":
    sys.exit(main())

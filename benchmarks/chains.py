"""Contractions back to back: in one kernel, in kernels of their own, and as libraries run them.

    python -m benchmarks.chains [--cases NAMES] [--trials 96] [--minutes 15] [--json FILE]
    python -m benchmarks.chains --quick           one case of each kind, 48 trials

Cases (benchmarks.models.table): the pairs of Bolt's tables 1 (products) and 2 (convolutions, batch
4), six blocks of MobileNet-V2 at batch 1 and 16, attention of 12 heads of 64 at five lengths, an
MLP of BERT. The model is cut as a user's would be: where nothing is gained by what is expected,
both ways are one program, and what their figures differ by is the noise of the others. Each way is
tuned with as many trials, then all sides take turns, each in a process of its own on two threads:

    tilewright              contractions may share a kernel       } tuned
    unchained               each in a kernel of its own           }
    untuned, and untuned, unchained       the same without records
    peers                   as in benchmarks.networks

Ratios above 1 mean that sharing a kernel, or Tilewright, is faster. A way's figure is the better of
its tuned and its untuned program, so that a search which ended badly is no gain of the other way;
peers are compared with the tuned program. Databases are kept in --db, and
results in the JSON file after every case: run it again until nothing is left.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tilewright as tw
from benchmarks.comparison import Entry, Results, having, mean, ratio_text, ratios, worst
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES, CHAINS, NetworkCase
from benchmarks.networks import checked
from benchmarks.peers.chain_subject import ours
from benchmarks.peers.sides import OURS, OWN, PEERS, UNCHAINED, UNTUNED, UNTUNED_UNCHAINED
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of
from benchmarks.turns import in_turns, medians, outputs
from tilewright.ground.text import duration

NAMES = tuple(f"{network.name}-b{batch}" for network in CHAINS for batch in network.batches)
QUICK = (
    "gemms-256-64-16-b16384,conv_pointwise-56-48-48-1-b4,block-56-24-24-1-b1,block-56-24-24-1-b16,"
    "attention-512-b1"
)
BLOCK_S = 0.1  # of a side's turn


@dataclass(frozen=True)
class ChainBench(Bench):
    """Measures both ways of a case."""

    def case(self, name: str) -> Entry:
        case = CASES[name]
        is_chained = self._tune(case)
        onnx_file(case, self.options.folder)
        wanted = (OURS, UNCHAINED, UNTUNED, UNTUNED_UNCHAINED, *self.peers)
        with contextlib.ExitStack() as stack:
            sides = self.started(stack, wanted, f"chain:{case.name}:{self.options.folder}")
            errors = checked(outputs(sides))
            blocks = in_turns(sides, self.options.rounds, BLOCK_S)
        facts = errors | self.facts(sides, blocks)
        return entry_of(case.name, is_chained, medians(blocks), **facts)

    def _tune(self, case: NetworkCase) -> bool:
        """Give each way its trials; whether contractions share a kernel."""
        file = onnx_file(ours(case), self.options.folder)
        ways = [tw.load(file, chains=chains).for_target(self.target) for chains in (True, False)]
        is_chained = len({len(way.partition.subgraphs) for way in ways}) > 1
        for way in ways if is_chained else ways[:1]:
            self.tune(way)
        return is_chained


def entry_of(case: str, is_chained: bool, seconds: Mapping[str, float], **facts: Any) -> Entry:
    """One measured case; `seconds` by side, `facts` are kept as they are."""
    peers = {name: s for name, s in seconds.items() if name not in OWN}
    mine, untuned = seconds[OURS], seconds[UNTUNED]
    apart = min(seconds[UNCHAINED], seconds[UNTUNED_UNCHAINED])
    return {
        "case": case,
        "chained": is_chained,
        "median_s": mine,
        "unchained_s": seconds[UNCHAINED],
        "untuned_s": untuned,
        "untuned_unchained_s": seconds[UNTUNED_UNCHAINED],
        "peers": peers,
        "ratio_unchained": apart / min(mine, untuned),
        "ratio_untuned": seconds[UNTUNED_UNCHAINED] / untuned,
        "ratio_best_peer": min(peers.values()) / mine if peers else None,
        **facts,
    }


@dataclass
class ChainResults(Results):
    """Results of chains, in the order of the table."""

    names = tuple(CASES)

    def summary(self) -> dict[str, Any]:
        """Over all cases; None where there is nothing to compare with."""
        found = self.sorted()
        compared = having(found, "ratio_best_peer")
        same = [e["ratio_unchained"] for e in found if not e["chained"]]
        return {
            "cases": len(found),
            "chained": sum(e["chained"] for e in found),
            "geomean_unchained": mean(e["ratio_unchained"] for e in found),
            "geomean_where_chained": mean(e["ratio_unchained"] for e in found if e["chained"]),
            "same_program": [min(same), max(same)] if same else None,
            "worst_unchained": worst(found, "ratio_unchained"),
            "geomean_untuned": mean(e["ratio_untuned"] for e in found),
            "worst_untuned": worst(found, "ratio_untuned"),
            "geomean_best_peer": mean(e["ratio_best_peer"] for e in compared),
            "worst_best_peer": worst(compared, "ratio_best_peer"),
            **{f"geomean_{peer}": mean(ratios(found, peer)) for peer in PEERS},
        }


HEAD = (
    "case", "kernels", "ours", "unchained", "untuned", "unchained", *PEERS, "unchained / ours",
    "the same untuned", "best peer / ours",
)  # fmt: skip


def row(entry: Entry) -> list[str]:
    """The figures of a case, as HEAD names them."""
    keys = ("median_s", "unchained_s", "untuned_s", "untuned_unchained_s")
    ways = [f"{entry[key]:.2f}" for key in ("ratio_unchained", "ratio_untuned")]
    return [
        entry["case"],
        "shared" if entry["chained"] else "apart",
        *(duration(entry[key]) for key in keys),
        *(duration(entry["peers"].get(p)) for p in PEERS),
        *ways,
        ratio_text(entry["ratio_best_peer"]),
    ]


SUITE = Suite(
    (__doc__ or "").splitlines()[0], NAMES, QUICK, "chains", 96, 48, ChainResults, ChainBench, HEAD,
    row,
)  # fmt: skip


def main(words: Sequence[str] | None = None, suite: Suite = SUITE) -> int:
    """Run the benchmark; the exit status."""
    return main_of(words, suite)


if __name__ == "__main__":
    sys.exit(main())

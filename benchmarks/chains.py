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

import argparse
import contextlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

import tilewright as tw
from benchmarks.comparison import Entry, Results, mean, print_rows, ratio_text, ratios
from benchmarks.deadline import Deadline
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES, CHAINS, NetworkCase
from benchmarks.networks import checked
from benchmarks.operators import reported
from benchmarks.peers.chain_subject import ours
from benchmarks.peers.process import WAITS, SideError
from benchmarks.peers.sides import OURS, OWN, PEERS, UNCHAINED, UNTUNED, UNTUNED_UNCHAINED
from benchmarks.provenance import kept_file, provenance
from benchmarks.turns import (
    ROUNDS,
    chosen,
    in_turns,
    installed,
    least,
    medians,
    outputs,
    started,
)
from tilewright.cli.console import complain, output
from tilewright.front.machine import host_target
from tilewright.ground.text import duration
from tilewright.target import Target

NAMES = tuple(f"{network.name}-b{batch}" for network in CHAINS for batch in network.batches)
QUICK = (
    "gemms-256-64-16-b16384,conv_pointwise-56-48-48-1-b4,block-56-24-24-1-b1,block-56-24-24-1-b16,"
    "attention-512-b1"
)
QUICK_TRIALS = 48
BLOCK_S = 0.1  # of a side's turn
# What is asked of all cases together, whether or not they are cut to share a kernel.
BARS = {"geomean_unchained": 1.15, "worst_unchained": 0.97, "geomean_best_peer": 1.4}


@dataclass(frozen=True)
class Suite:
    """Cases of the table, and which of them are a quick run; `stem` names its database. Other
    benchmarks of slices say how a case is measured and shown.
    """

    title: str
    names: Sequence[str]
    quick: str
    stem: str
    trials: int = 96
    quick_trials: int = QUICK_TRIALS

    def results(self, file: Path | None) -> Results:
        """What the file holds."""
        return ChainResults.read(file)

    def bench(
        self, target: Target, options: argparse.Namespace, peers: Sequence[str], trials: int
    ) -> Bench:
        """What measures a case."""
        return Bench(target, options, peers, trials)

    def sentence(self, entry: Entry) -> str:
        """A measured case for people."""
        return _sentence(entry)

    def show(self, console: Console, entries: Iterable[Entry]) -> None:
        """Print the table of all."""
        print_rows(console, (*HEAD, *RATIOS), map(row, entries))


SUITE = Suite((__doc__ or "").splitlines()[0], NAMES, QUICK, "chains")


def main(words: Sequence[str] | None = None, suite: Suite = SUITE) -> int:
    """Run the benchmark; the exit status."""
    line = argparse.ArgumentParser(description=suite.title)
    line.add_argument("--cases", default="*", help="names or globs, comma-separated (all)")
    line.add_argument("--quick", action="store_true", help="few cases, fewer trials")
    line.add_argument(
        "--trials",
        type=int,
        help=f"of each way ({suite.trials}, a quick run's {suite.quick_trials})",
    )
    line.add_argument("--minutes", type=float, default=15, help="of this slice (%(default)s)")
    line.add_argument("--peers", default=",".join(PEERS), help="comma-separated (%(default)s)")
    line.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    line.add_argument("--threads", type=int, default=2, help="of every side (%(default)s)")
    line.add_argument("--db", type=Path, default=Path(f"{suite.stem}.db"), help="(%(default)s)")
    line.add_argument("--folder", type=Path, default=Path("networks"), help="of ONNX files")
    line.add_argument("--json", type=kept_file, help="where results are kept, and read from first")
    line.add_argument(
        "--wait", choices=WAITS, default=WAITS[0], help="peers' OpenMP threads (%(default)s)"
    )
    options = line.parse_args(words)
    return reported(lambda: run(options, suite))


def run(options: argparse.Namespace, suite: Suite) -> int:
    """What the file lacks; 1 where a case failed."""
    console = output()
    usual = suite.quick_trials if options.quick else suite.trials
    trials = usual if options.trials is None else options.trials
    names = chosen(suite.quick if options.quick else options.cases, suite.names)
    deadline = Deadline.after(options.minutes)
    results = suite.results(options.json)
    target = replace(host_target(), cores=options.threads)
    results.begin(
        machine={"target": str(target), "threads": target.cores, "wait": options.wait},
        provenance=provenance(target),
    )
    bench = suite.bench(target, options, installed(options.peers), trials)
    for name in names:
        if name in results.cases:
            continue
        if deadline.passed:
            console.print(f"out of time before {name}")
            break
        try:
            entry = bench.case(name)
        except SideError as error:
            results.fail(name, str(error))
            complain(f"{name}: {error}")
        else:
            results.put(entry)
            console.print(suite.sentence(entry), soft_wrap=True, highlight=False)
        results.write()
    suite.show(console, [e for e in results.sorted() if e["case"] in names])
    for key, value in results.summary().items():
        console.print(f"{key}: {value}", highlight=False)
    return 1 if any(n in results.failed for n in names) else 0


@dataclass(frozen=True)
class Bench:
    """Where and how cases are tuned and measured."""

    target: Target
    options: argparse.Namespace
    peers: Sequence[str]
    trials: int

    def case(self, name: str) -> Entry:
        """Tune both ways, then time all sides. Raises SideError when Tilewright fails or is wrong;
        failed peers are left out.
        """
        case = CASES[name]
        is_chained = self._tune(case)
        onnx_file(case, self.options.folder)
        subject = f"chain:{case.name}:{self.options.folder}"
        wanted = (OURS, UNCHAINED, UNTUNED, UNTUNED_UNCHAINED, *self.peers)
        with contextlib.ExitStack() as stack:
            sides = started(stack, wanted, subject, self.target, self.options.db, self.options.wait)
            errors = checked(outputs(sides))
            blocks = in_turns(sides, self.options.rounds, BLOCK_S)
        return entry_of(
            case.name,
            is_chained,
            medians(blocks),
            **errors,
            trials=self.trials,
            modes={name: side.mode for name, side in sides.items() if side.mode},
            least_s=least(blocks),
            **{key: provenance(self.target)[key] for key in ("commit", "date")},
        )

    def _tune(self, case: NetworkCase) -> bool:
        """Give each way its trials, less those that are recorded; whether contractions share a
        kernel.
        """
        file = onnx_file(ours(case), self.options.folder)
        ways = [tw.load(file, chains=chains).for_target(self.target) for chains in (True, False)]
        is_chained = len({len(way.partition.subgraphs) for way in ways}) > 1
        for way in ways if is_chained else ways[:1]:
            tw.tune(
                way,
                trials=self.trials,
                db=self.options.db,
                target=self.target,
                progress=False,
            )
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

    def sorted(self) -> list[Entry]:
        order = list(CASES)
        return sorted(self.cases.values(), key=lambda e: order.index(e["case"]))

    def summary(self) -> dict[str, Any]:
        """Over all cases; None where there is nothing to compare with."""
        found = self.sorted()
        compared = [e for e in found if e["ratio_best_peer"] is not None]
        return {
            "cases": len(found),
            "chained": sum(e["chained"] for e in found),
            "geomean_unchained": mean(e["ratio_unchained"] for e in found),
            "geomean_where_chained": mean(e["ratio_unchained"] for e in found if e["chained"]),
            "same_program": _spread([e["ratio_unchained"] for e in found if not e["chained"]]),
            "worst_unchained": worst(found, "ratio_unchained"),
            "geomean_untuned": mean(e["ratio_untuned"] for e in found),
            "worst_untuned": worst(found, "ratio_untuned"),
            "geomean_best_peer": mean(e["ratio_best_peer"] for e in compared),
            "worst_best_peer": worst(compared, "ratio_best_peer"),
            **{f"geomean_{peer}": mean(ratios(found, peer)) for peer in PEERS},
        }


def worst(entries: Sequence[Entry], ratio: str) -> dict[str, Any] | None:
    """The case with the least of a ratio."""
    found = min(entries, key=lambda e: e[ratio], default=None)
    return found and {"case": found["case"], "ratio": found[ratio]}


def _spread(ratios: Sequence[float]) -> tuple[float, float] | None:
    """The least and the largest."""
    return (min(ratios), max(ratios)) if ratios else None


def _sentence(entry: Entry) -> str:
    peers = ", ".join(f"{n} {duration(s)}" for n, s in entry["peers"].items())
    return (
        f"{entry['case']}: {duration(entry['median_s'])}, unchained "
        f"{duration(entry['unchained_s'])}; untuned {duration(entry['untuned_s'])}, unchained "
        f"{duration(entry['untuned_unchained_s'])}; {peers}"
    )


HEAD = ("case", "kernels", "ours", "unchained", "untuned", "unchained", *PEERS)
RATIOS = ("unchained / ours", "the same untuned", "best peer / ours")


def row(entry: Entry) -> list[str]:
    """The figures of a case, as HEAD and RATIOS name them."""
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


if __name__ == "__main__":
    sys.exit(main())

"""The published operators and subgraphs (Ansor, appendix C) beside libraries.

    python -m benchmarks.operators --cases 'C2D-*,GMM-2-b1' --trials 128 --json operators.json
    python -m benchmarks.operators --device cuda --cases 'GEMM-*'         1024 to 4096 squared
    python -m benchmarks.operators --device emulated --trials 2           small cases, without a GPU

The ten operators and two subgraphs, four shapes each, batch 1 and 16, float32. Each is tuned, then
sides take turns: `untuned` is Tilewright without records. Every side is called as its Python user
calls it, with arrays that begin where NumPy's do. Outputs are compared first; a case in which no
peer agrees with Tilewright fails. PyTorch runs in the fastest of its modes. On a device arguments
are there and every side is timed by its clock (float32 without TF32).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tilewright as tw
from benchmarks.cases import ALL, CASES, GEMMS, SMALL, SUBGRAPHS
from benchmarks.comparison import Entry, Results, having, mean, ratio_text
from benchmarks.peers.sides import OURS, OWN, PEERS, UNTUNED
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of
from benchmarks.turns import compared, in_turns, medians, outliers, outputs
from tilewright.cli.console import complain
from tilewright.front.machine import machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.text import duration
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT, Trial
from tilewright.target import Target

QUICK = "C2D-2-b1,GMM-1-b1,DEP-2-b1,TBS-2-b1"


@dataclass(frozen=True)
class OperatorBench(Bench):
    """Measures an operator."""

    def case(self, name: str) -> Entry:
        case = ALL[name]
        task = tw.Task(case.dag().outputs, name)
        self.tune(task)
        with contextlib.ExitStack() as stack:
            sides = self.started(stack, (OURS, UNTUNED, *self.peers), f"operator:{name}")
            differences = compared(outputs(sides), OURS)
            theirs = {side: d for side, d in differences.items() if side != UNTUNED}
            if wrong := outliers(theirs):
                complain(f"{name}: outputs of {', '.join(wrong)} alone are off; timed anyway")
            blocks = in_turns(sides, self.options.rounds)
        trials = recorded(task, self.options.db, self.target)
        facts = {**self.facts(sides, blocks), "trials": sum(t.origin != DEFAULT for t in trials)}
        return entry_of(
            name, medians(blocks), case.dag().useful_flops,
            differences=differences, curve=curve(trials), **facts,
        )  # fmt: skip


def entry_of(case: str, seconds: Mapping[str, float], flops: int, **facts: Any) -> Entry:
    """One measured case; `seconds` by side, `facts` are kept as they are."""
    peers = {name: s for name, s in seconds.items() if name not in OWN}
    mine, untuned = seconds[OURS], seconds[UNTUNED]
    best = min(peers.values(), default=None)
    return {
        "case": case,
        "median_s": mine,
        "untuned_s": untuned,
        "peers": peers,
        "ratio_best_peer": None if best is None else best / mine,
        "ratio_untuned": None if best is None else best / untuned,
        "gflops": flops / mine / 1e9,
        **facts,
    }


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


@dataclass
class OperatorResults(Results):
    """In the order of the published list."""

    names = tuple(ALL)

    def summary(self) -> dict[str, Any]:
        found = having(self.sorted(), "ratio_best_peer")
        groups = {o: [e for e in found if operator_of(e) == o] for o in map(operator_of, found)}
        subgraphs = [e for e in found if operator_of(e) in SUBGRAPHS]
        return {
            **super().summary(),
            "geomean_untuned": mean(e["ratio_untuned"] for e in having(found, "ratio_untuned")),
            "subgraphs": mean(e["ratio_best_peer"] for e in subgraphs),
            "operators": {o: mean(e["ratio_best_peer"] for e in g) for o, g in groups.items()},
        }


def operator_of(entry: Entry) -> str:
    """ "C2D" of "C2D-2-b1"."""
    name: str = entry["case"]
    return name.split("-", 1)[0]


HEAD = ("case", "ours", "untuned", *PEERS, "best peer / ours", "best peer / untuned", "GFLOP/s")


def row(entry: Entry) -> list[str]:
    """The figures of a case, as HEAD names them."""
    return [
        entry["case"],
        *(duration(entry.get(key)) for key in ("median_s", "untuned_s")),
        *(duration(entry["peers"].get(p)) for p in PEERS),
        *(ratio_text(entry.get(key)) for key in ("ratio_best_peer", "ratio_untuned")),
        f"{entry['gflops']:.1f}",
    ]


SUITE = Suite(
    (__doc__ or "").splitlines()[0], (*CASES, *GEMMS), QUICK, "operators", 128, 16,
    OperatorResults, OperatorBench, HEAD, row, small=tuple(SMALL),
)  # fmt: skip


def main(words: Sequence[str] | None = None, suite: Suite = SUITE) -> int:
    """Run the benchmark; the exit status."""
    return main_of(words, suite)


if __name__ == "__main__":
    sys.exit(main())

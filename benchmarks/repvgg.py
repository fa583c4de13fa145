"""RepVGG's variants in Bolt's tables 4 to 6: what activations and 1x1 convolutions cost here.

    python -m benchmarks.repvgg [--cases NAMES] [--minutes 15] [--json FILE]

Each network is tuned by its profile (`tune(strategy="profile")`), all in one database, for they
have most tasks in common; then it takes turns with RepVGG-A0 with ReLU, and with itself untuned,
each in a process of its own, batch 1. Speeds are images a second; `relative` is that to RepVGG-A0
in the same turns, beside what the paper's speeds come to (T4, FP16, batch 32). Accuracies need
training and are the paper's alone.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tilewright as tw
from benchmarks.comparison import Entry, Results
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES
from benchmarks.networks import BLOCK_S
from benchmarks.peers.process import SideError
from benchmarks.peers.sides import OURS, UNTUNED
from benchmarks.slices import Bench, Suite
from benchmarks.slices import main as main_of
from benchmarks.turns import compared, in_turns, medians, outputs

FIRST = "repvgg-a0-b1"  # what all are compared with
TOLERANCE = 1e-2  # of up to 56 layers of random weights: libraries are 1e-3 from float64 there
TABLES: dict[str, dict[str, int]] = {  # images a second in the paper
    "4": {
        "repvgg-a0-b1": 5909,
        "repvgg-a0-gelu-b1": 5645,
        "repvgg-a0-hardswish-b1": 5713,
        "repvgg-a0-softplus-b1": 5453,
    },
    "5": {
        "repvgg-a0-b1": 7861,
        "repvgg-a1-b1": 6253,
        "repvgg-b0-b1": 4888,
        "repvggaug-a0-b1": 6716,
        "repvggaug-a1-b1": 5241,
        "repvggaug-b0-b1": 4145,
    },
    "6": {
        "repvgg-a0-b1": 7861,
        "repvgg-a1-b1": 6253,
        "repvgg-b0-b1": 4888,
        "repvggaug-a0-hardswish-b1": 6338,
        "repvggaug-a1-hardswish-b1": 4868,
        "repvggaug-b0-hardswish-b1": 3842,
        "repvggaug3-a0-hardswish-b1": 7288,
    },
}


NAMES = tuple(dict.fromkeys(name for table in TABLES.values() for name in table))


@dataclass(frozen=True)
class RepvggBench(Bench):
    """Measures a network's profile; tasks of earlier networks are known."""

    def case(self, name: str) -> Entry:
        folder, db = self.options.folder, self.options.db
        model = tw.load(onnx_file(CASES[name], folder))
        self.tune(model, strategy="profile", trials=self.options.trials)
        subject, first = (f"network:{which}:{folder}" for which in (name, FIRST))
        with contextlib.ExitStack() as stack:
            sides = {
                OURS: self.side(stack, OURS, subject, db),
                UNTUNED: self.side(stack, UNTUNED, subject),
            }
            (error,) = compared(outputs(sides), UNTUNED).values()
            if not error <= TOLERANCE:
                raise SideError(f"{name}: tuned and untuned outputs differ by {error}")
            sides["first"] = self.side(stack, OURS, first, db)
            blocks = in_turns(sides, self.options.rounds, BLOCK_S)
        return entry_of(name, medians(blocks), **self.facts(sides, blocks))


def entry_of(case: str, seconds: dict[str, float], **facts: Any) -> Entry:
    """One measured network, with its speed relative to the first."""
    mine = {"median_s": seconds[OURS], "untuned_s": seconds[UNTUNED], "first_s": seconds["first"]}
    return {"case": case, **mine, "relative": seconds["first"] / seconds[OURS], **facts}


@dataclass
class RepvggResults(Results):
    """In the order of the tables."""

    names = NAMES

    def summary(self) -> dict[str, Any]:
        """By table, each network's speed relative to the first, here and in the paper."""
        return {
            f"table_{number}": {
                name: {"here": self.cases[name]["relative"], "paper": speed / table[FIRST]}
                for name, speed in table.items()
                if name in self.cases
            }
            for number, table in TABLES.items()
        }


HEAD = ("network", "images/s", "untuned", "relative to A0")


def row(entry: Entry) -> list[str]:
    """The figures of a network, as HEAD names them."""
    speeds = [f"{1 / entry[key]:.1f}" for key in ("median_s", "untuned_s")]
    return [entry["case"], *speeds, f"{entry['relative']:.3f}"]


SUITE = Suite(
    (__doc__ or "").splitlines()[0], NAMES, FIRST, "repvgg", 0, 0, RepvggResults, RepvggBench, HEAD,
    row,
)  # fmt: skip


def main(words: Sequence[str] | None = None, suite: Suite = SUITE) -> int:
    """Run the benchmark; the exit status."""
    return main_of(words, suite)


if __name__ == "__main__":
    sys.exit(main())

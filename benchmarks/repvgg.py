"""RepVGG's variants in Bolt's tables 4 to 6: what activations and 1x1 convolutions cost here.

    python -m benchmarks.repvgg [--tables 4,5,6] [--minutes 15] [--json FILE]

Each network is tuned by its profile (`tune(strategy="profile")`), all in one database, for they
have most tasks in common; then it takes turns with RepVGG-A0 with ReLU, and with itself untuned,
each in a process of its own, batch 1. Speeds are images a second; `relative` is that to RepVGG-A0
in the same turns, beside what the paper's speeds come to (T4, FP16, batch 32). Accuracies need
training and are the paper's alone. Everything is kept in --folder and the JSON file: run it again
until nothing is left.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

import tilewright as tw
from benchmarks.deadline import Deadline
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES
from benchmarks.networks import BLOCK_S
from benchmarks.operators import reported
from benchmarks.peers.process import SideError, SideProcess
from benchmarks.peers.sides import OURS, UNTUNED
from benchmarks.reuse_records import (
    OutOfTimeError,
    Results,
    add_slices,
    check_time,
    keep_results,
    read_results,
    timed,
)
from benchmarks.tuning_log import TuningLog
from benchmarks.turns import ROUNDS, TOLERANCE, compared, in_turns, medians, outputs
from tilewright.cli.console import output
from tilewright.front.machine import host_target

FIRST = "repvgg-a0-b1"  # what all are compared with
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


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("--tables", default=",".join(TABLES), help="of the paper (%(default)s)")
    line.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    line.add_argument("--networks", type=Path, default=Path("networks"), help="of ONNX files")
    add_slices(line, "repvgg")
    options = line.parse_args(words)
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """What the file lacks."""
    deadline = Deadline.after(options.minutes)
    options.folder.mkdir(parents=True, exist_ok=True)
    results = read_results(options.json, {"networks": {}})
    console = output()
    wanted = [TABLES[number] for number in options.tables.split(",") if number in TABLES]
    if not wanted:
        raise ValueError(f"no table {options.tables}; there are {', '.join(TABLES)}")
    try:
        for name in dict.fromkeys(name for table in wanted for name in table):
            if name in results["networks"]:
                continue
            check_time(deadline)
            tune(name, options, deadline)
            results["networks"][name] = found = measured(name, options)
            keep_results(options.json, results, summary(results))
            console.print(f"{name}: {1 / found['seconds']:.1f} images/s", highlight=False)
    except OutOfTimeError:
        console.print("out of time")
    shown = Table(*HEAD)
    for row in rows(results):
        shown.add_row(*row)
    console.print(shown)
    return 0


def tune(name: str, options: argparse.Namespace, deadline: Deadline) -> None:
    """Measure a network's profile; tasks of earlier networks are known."""
    db = options.folder / "repvgg.db"
    with timed(TuningLog.beside(db), name, deadline) as observe:
        model = tw.load(onnx_file(CASES[name], options.networks))
        tw.tune(model, strategy="profile", db=db, callbacks=[observe], progress=False)


def measured(name: str, options: argparse.Namespace) -> dict[str, float]:
    """Seconds of a network and of the first in the same turns. Raises SideError."""
    target, db = host_target(), options.folder / "repvgg.db"
    sides = {"seconds": (OURS, name), "untuned_s": (UNTUNED, name), "first_s": (OURS, FIRST)}
    with contextlib.ExitStack() as stack:
        running = {
            what: stack.enter_context(
                SideProcess(
                    side, f"network:{which}:{options.networks}", target,
                    db if side == OURS else None,
                )
            )
            for what, (side, which) in sides.items()
        }  # fmt: skip
        own = {what: running[what] for what in ("seconds", "untuned_s")}
        (error,) = compared(outputs(own), "untuned_s").values()
        if not error <= TOLERANCE:
            raise SideError(f"{name}: tuned and untuned outputs differ by {error}")
        return medians(in_turns(running, options.rounds, BLOCK_S))


# ---- figures ----------------------------------------------------------------------------------


def summary(results: Results) -> Results:
    """By table, each network's speed relative to the first, here and in the paper."""
    found: Results = {}
    for number, table in TABLES.items():
        for name, speed in table.items():
            if name in results["networks"]:
                one = results["networks"][name]
                relative = {"here": one["first_s"] / one["seconds"], "paper": speed / table[FIRST]}
                found.setdefault(number, {})[name] = relative
    return found


HEAD = ("table", "network", "images/s", "untuned", "relative to A0", "in the paper")


def rows(results: Results) -> list[list[str]]:
    """The lines of the table."""
    found = []
    for number, table in summary(results).items():
        for name, relative in table.items():
            one = results["networks"][name]
            speeds = [f"{1 / one[what]:.1f}" for what in ("seconds", "untuned_s")]
            shares = [f"{relative[where]:.3f}" for where in ("here", "paper")]
            found.append([number, name, *speeds, *shares])
    return found


if __name__ == "__main__":
    sys.exit(main())

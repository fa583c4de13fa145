"""Profiles against search: how long networks take to tune, and how fast they are then.

    python -m benchmarks.profiler [--models NAMES] [--minutes 15] [--json FILE]
    python -m benchmarks.profiler --quick           a small network, searched for two minutes

    profile    `tune(strategy="profile")`: at most 24 programs a task, no model (Bolt, 3.2.2)
    search     `tune(minutes=...)`: ten minutes for ResNet-50, others by their number of tasks

Then each network is compiled with the records of either side, and untuned; the three take turns, as
in benchmarks.networks. Figures of a network: trials, and wall seconds of tuning, the file's import
included; seconds of a call. `speed` is what the profile reaches of the search's. Everything is kept
in --folder and the JSON file: run it again until nothing is left. A search that is tuned in slices
has as many minutes in all; a profile that a slice cuts off is counted whole, and what it reads anew
counts again.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from rich.table import Table

import tilewright as tw
from benchmarks.deadline import Deadline
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES, PUBLISHED
from benchmarks.operators import reported
from benchmarks.peers.sides import UNTUNED
from benchmarks.reuse_networks import measured
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
from benchmarks.turns import ROUNDS, chosen
from tilewright.cli.console import output
from tilewright.front.machine import host_target
from tilewright.front.tuning_tasks import parts_of, tasks_of
from tilewright.ground.text import duration
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.search.progress import Callback

PROFILE, SEARCH = "profile", "search"
SIDES = (PROFILE, SEARCH)
REFERENCE_TASKS = 27  # of ResNet-50, which is searched for REFERENCE_MINUTES
REFERENCE_MINUTES = 10.0
LEAST_MINUTES = 0.1  # less is not worth a slice
QUICK = "dcgan-b1"


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("--models", default=",".join(PUBLISHED), help="names or globs (all)")
    line.add_argument("--quick", action="store_true", help=f"{QUICK} alone")
    line.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    line.add_argument("--networks", type=Path, default=Path("networks"), help="of ONNX files")
    add_slices(line, "profiler")
    options = line.parse_args(words)
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """What the file lacks."""
    deadline = Deadline.after(options.minutes)
    options.folder.mkdir(parents=True, exist_ok=True)
    results = read_results(options.json, {"networks": {}})
    console = output()

    def keep(line: str) -> None:
        keep_results(options.json, results, summary(results))
        console.print(line, highlight=False, soft_wrap=True)

    try:
        for name in chosen(QUICK if options.quick else options.models, CASES):
            found = results["networks"].setdefault(name, {"sides": {}, "seconds": {}})
            tuning = Tuning(name, options.folder, options.networks, deadline)
            for side in SIDES:
                if side not in found["sides"]:
                    found["sides"][side] = one = tuning.tuned(side)
                    keep(f"{name}  {side}: {one['trials']} trials, {one['seconds']:.0f} s")
            if not found["seconds"]:
                check_time(deadline)
                dbs = {side: tuning.database(side) for side in SIDES}
                found["seconds"] = seconds = measured(name, options.networks, dbs, options.rounds)
                keep(f"{name}: " + ", ".join(f"{n} {duration(seconds[n])}" for n in seconds))
    except OutOfTimeError:
        console.print("out of time")
    console.print(table(results))
    return 0


# ---- tuning -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tuning:
    """The runs of a network, in databases of their own; one that was stopped goes on."""

    network: str
    folder: Path
    networks: Path
    deadline: Deadline

    def tuned(self, side: str) -> Results:
        """Trials, tasks and wall seconds of a side's runs. Raises OutOfTimeError."""
        check_time(self.deadline)
        log = TuningLog.beside(self.database(side))
        file = onnx_file(CASES[self.network], self.networks)
        if side == PROFILE:
            with timed(log, self.network, self.deadline) as observe:
                self._tune(tw.load(file), side, observe, strategy="profile")
        else:
            self._search(tw.load(file), log)
        with Database.open(self.database(side), create=False, readonly=True) as database:
            counted = Counter(t.origin == DEFAULT for t in database.trials())
            tasks = len({t.workload_hash for t in database.trials()})
        seconds = log.seconds(self.network)
        return {"trials": counted[False], "tasks": tasks, "seconds": seconds}

    def database(self, side: str) -> Path:
        """Where a side's records are."""
        return self.folder / f"{self.network}-{side}.db"

    def _search(self, model: tw.Model | tw.ModelSet, log: TuningLog) -> None:
        """What is left of the network's minutes. Raises OutOfTimeError where the slice ends before
        they do.
        """
        (part,) = parts_of([model], host_target())
        wanted = REFERENCE_MINUTES * len(tasks_of(part)) / REFERENCE_TASKS
        left = wanted - log.seconds(self.network) / 60
        minutes = min(left, self.deadline.minutes)
        if minutes >= LEAST_MINUTES:
            with log.slice(self.network) as tick:
                self._tune(model, SEARCH, tick, minutes=minutes)
        if left - minutes >= LEAST_MINUTES:
            raise OutOfTimeError("out of time")

    def _tune(
        self, model: tw.Model | tw.ModelSet, side: str, observe: Callback, **how: Any
    ) -> None:
        tw.tune(model, db=self.database(side), callbacks=[observe], progress=False, **how)


# ---- figures ----------------------------------------------------------------------------------


def summary(results: Results) -> Results:
    """Of each network that is measured, and the geometric means of all."""
    found: Results = {}
    for name, one in results["networks"].items():
        if one["seconds"]:
            seconds, sides = one["seconds"], one["sides"]
            found[name] = {
                "speed": seconds[SEARCH] / seconds[PROFILE],
                "gain": seconds[UNTUNED] / seconds[PROFILE],
                "profile_s": sides[PROFILE]["seconds"],
                "less_time": sides[SEARCH]["seconds"] / sides[PROFILE]["seconds"],
            }
    if not found:
        return {}
    means = {f: geometric_mean(one[f] for one in found.values()) for f in ("speed", "less_time")}
    return {"networks": found, **means, "worst": min(one["speed"] for one in found.values())}


HEAD = (
    *("network", "tasks", "programs", "s", "trials of search", "s of search"),
    *(UNTUNED, SEARCH, PROFILE, f"{SEARCH} / {PROFILE}"),
)


def rows(results: Results) -> list[list[str]]:
    """The lines of the table."""
    found = []
    for name, one in results["networks"].items():
        sides, seconds = one["sides"], one["seconds"]
        row = [name, str(sides[PROFILE]["tasks"]) if PROFILE in sides else ""]
        for side in SIDES:
            known = sides.get(side)
            row += [str(known["trials"]), f"{known['seconds']:.0f}"] if known else ["", ""]
        if seconds:
            row += [duration(seconds[n]) for n in (UNTUNED, SEARCH, PROFILE)]
            row.append(f"{seconds[SEARCH] / seconds[PROFILE]:.3f}")
        found.append([*row, *[""] * (len(HEAD) - len(row))])
    return found


def table(results: Results) -> Table:
    """All that is known."""
    shown = Table(*HEAD)
    for row in rows(results):
        shown.add_row(*row)
    return shown


if __name__ == "__main__":
    sys.exit(main())

"""Whole networks by reuse against search: many shapes of one network, and one after another.

    python -m benchmarks.reuse_networks [--experiments NAMES] [--minutes 15] [--json FILE]

    bert-lengths             BERT-base for texts of eight lengths, tuned together from nothing:
                             reuse   as many trials as the plan has programs
                             search  64 trials a task
    resnet50-inception-v3    Inception-v3 in a database that ResNet-50 was tuned in, 64 trials a
                             task: reuse 200 trials; without these records: search 640 trials

Then each network is compiled with the records of either side, and untuned; the three take turns, as
in benchmarks.networks. Figures of an experiment: trials, and wall seconds of tuning (what a slice
reads anew where another stopped counts again); seconds of each network; in the summary the
geometric mean of the networks' speed by reuse relative to search, how many times fewer trials, and
less time. Everything is kept in --folder and the JSON file: run it again until nothing is left.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from rich.table import Table

import tilewright as tw
from benchmarks.deadline import Deadline
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES, LENGTHS
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
from benchmarks.turns import (
    ROUNDS,
    TOLERANCE,
    chosen,
    compared,
    in_turns,
    medians,
    outputs,
)
from tilewright.cli.console import output
from tilewright.front.machine import host_target
from tilewright.front.tuning_tasks import merged
from tilewright.ground.text import duration

REUSE, SEARCH = "reuse", "search"
EACH = 64  # trials a task


@dataclass(frozen=True)
class Experiment:
    """Networks that are tuned together by either side, in so many trials (None: as its plan has
    programs, or EACH a task); `before` are networks whose records reuse begins with.
    """

    networks: tuple[str, ...]
    trials: Mapping[str, int | None]
    before: tuple[str, ...] = ()


EXPERIMENTS = {
    "bert-lengths": Experiment(
        ("bert-base-b1", *(f"bert-base-{length}-b1" for length in LENGTHS)),
        {REUSE: None, SEARCH: None},
    ),
    "resnet50-inception-v3": Experiment(
        ("inception-v3-b1",), {REUSE: 200, SEARCH: 640}, ("resnet50-b1",)
    ),
}


def main() -> int:
    """Run the benchmark; the exit status."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--experiments", default="*", help="names or globs, comma-separated (all)")
    words.add_argument("--rounds", type=int, default=ROUNDS, help="(%(default)s)")
    words.add_argument("--networks", type=Path, default=Path("networks"), help="of ONNX files")
    add_slices(words, "reuse_networks")
    options = words.parse_args()
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """What the file lacks."""
    deadline = Deadline.after(options.minutes)
    options.folder.mkdir(parents=True, exist_ok=True)
    results = read_results(options.json, {"experiments": {}})
    console = output()

    def keep(line: str) -> None:
        keep_results(options.json, results, summary(results))
        console.print(line, highlight=False, soft_wrap=True)

    try:
        for name in chosen(options.experiments, EXPERIMENTS):
            experiment = EXPERIMENTS[name]
            found = results["experiments"].setdefault(name, {"sides": {}, "networks": {}})
            tuning = Tuning(name, experiment, options.folder, options.networks, deadline)
            for side in experiment.trials:
                if side not in found["sides"]:
                    found["sides"][side] = one = tuning.tuned(side)
                    keep(f"{name}  {side}: {one['trials']} trials, {one['seconds']:.0f} s")
            for network in experiment.networks:
                if network not in found["networks"]:
                    check_time(deadline)
                    dbs = {side: tuning.database(side) for side in experiment.trials}
                    seconds = measured(network, options.networks, dbs, options.rounds)
                    found["networks"][network] = seconds
                    keep(f"{network}: " + ", ".join(f"{n} {duration(seconds[n])}" for n in seconds))
    except OutOfTimeError:
        console.print("out of time")
    console.print(table(results))
    return 0


# ---- tuning -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tuning:
    """The runs of an experiment, in databases of their own; one that was stopped goes on."""

    name: str
    experiment: Experiment
    folder: Path
    networks: Path
    deadline: Deadline

    def tuned(self, side: str) -> Results:
        """Trials, tasks and wall seconds of a side's run."""
        check_time(self.deadline)
        db = self.database(side)
        if side == REUSE and self.experiment.before and not db.exists():
            earlier = self.database("before")
            self._run("before", earlier, self.experiment.before, None)
            partial = db.with_suffix(".partial")
            shutil.copy(earlier, partial)
            partial.rename(db)
        found = self._run(side, db, self.experiment.networks, self.experiment.trials[side])
        seconds = TuningLog.beside(self._log).seconds(self._label(side))
        return {"trials": found.trials, "tasks": len(found.tasks), "seconds": seconds}

    def database(self, side: str) -> Path:
        """Where a side's records are."""
        return self.folder / f"{self._label(side)}.db"

    def _run(
        self, side: str, db: Path, networks: Sequence[str], trials: int | None
    ) -> tw.TuneResult:
        models = [tw.load(onnx_file(CASES[network], self.networks)) for network in networks]
        with timed(TuningLog.beside(self._log), self._label(side), self.deadline) as observe:
            return tw.tune(
                models,
                trials=trials or self._trials(side, models),
                db=db,
                strategy="reuse" if side == REUSE else "evolution",
                callbacks=[observe],
                progress=False,
            )

    def _trials(self, side: str, models: Sequence[tw.Model]) -> int:
        """Those of a run from nothing: a plan's programs, or so many a task."""
        tasks, _ = merged(models)
        if side != REUSE:
            return EACH * len(tasks)
        plan = tw.plan(models, db=self.folder / "nothing.db")
        return plan.programs + plan.rest

    @property
    def _log(self) -> Path:
        return self.folder / "reuse_networks.db"

    def _label(self, side: str) -> str:
        return f"{self.name}-{side}"


# ---- measuring --------------------------------------------------------------------------------


def measured(
    network: str, networks: Path, dbs: Mapping[str, Path], rounds: int
) -> dict[str, float]:
    """Seconds of a network with each side's records and untuned, in turns. Raises SideError."""
    onnx_file(CASES[network], networks)
    subject, target = f"network:{network}:{networks}", host_target()
    with contextlib.ExitStack() as stack:
        sides = {
            side: stack.enter_context(SideProcess(OURS, subject, target, db))
            for side, db in dbs.items()
        }
        sides[UNTUNED] = stack.enter_context(SideProcess(UNTUNED, subject, target))
        differences = compared(outputs(sides), UNTUNED)
        if not max(differences.values()) <= TOLERANCE:
            raise SideError(f"{network}: outputs differ from untuned ones by {differences}")
        return medians(in_turns(sides, rounds, BLOCK_S))


# ---- figures ----------------------------------------------------------------------------------


def summary(results: Results) -> Results:
    """Of each experiment that both sides are done with and that has a network measured."""
    found = {}
    for name, one in results["experiments"].items():
        sides, networks = one["sides"], one["networks"].values()
        if {REUSE, SEARCH} <= set(sides) and networks:
            found[name] = {
                "networks": len(networks),
                "speed": geometric_mean(n[SEARCH] / n[REUSE] for n in networks),
                "gain": geometric_mean(n[UNTUNED] / n[REUSE] for n in networks),
                "fewer_trials": sides[SEARCH]["trials"] / sides[REUSE]["trials"],
                "less_time": sides[SEARCH]["seconds"] / sides[REUSE]["seconds"],
            }
    return found


HEAD = ("experiment", UNTUNED, SEARCH, REUSE, f"{SEARCH} / {REUSE}")


def rows(results: Results) -> list[list[str]]:
    """The lines of the table: what tuning took, then each network."""
    found = []
    for name, one in results["experiments"].items():
        sides = one["sides"]
        for figure, unit in (("trials", "trials"), ("seconds", "s of tuning")):
            both = [sides[side][figure] if side in sides else None for side in (SEARCH, REUSE)]
            shown = ["" if x is None else f"{x:.0f}" for x in both]
            ratio = "" if None in both else f"{both[0] / both[1]:.2f}"
            found.append([f"{name}, {unit}", "", *shown, ratio])
        for network, seconds in one["networks"].items():
            times = [duration(seconds[side]) for side in (UNTUNED, SEARCH, REUSE)]
            found.append([network, *times, f"{seconds[SEARCH] / seconds[REUSE]:.3f}"])
    return found


def table(results: Results) -> Table:
    """All that is known."""
    shown = Table(*HEAD)
    for row in rows(results):
        shown.add_row(*row)
    return shown


if __name__ == "__main__":
    sys.exit(main())

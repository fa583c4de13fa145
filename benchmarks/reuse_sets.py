"""Whole sets of operators by a plan of who reuses whom: ETO's table 2, figures 9 to 11.

    python -m benchmarks.reuse_sets [--sets NAMES] [--minutes 15] [--json FILE]
    python -m benchmarks.reuse_sets --quick         three small sets, searches of 64 trials
    python -m benchmarks.reuse_sets --bridges 0,1,all
    python -m benchmarks.reuse_sets --quick --target cuda:h100 --simulated 1,2,3

Sets are those of benchmarks.operator_sets; an operator counts as often as its networks run it.

    own         each operator searched alone with 128 trials: what the figures are relative to
    reuse       all operators in one run that reuses, with as many trials as the plan has programs
    search      one run of as many trials from nothing, which gradients divide
    selective   Selective Tuning: of operators whose spaces overlap one is searched alone, the
                others try its best programs as they are
    bridges N   reuse as published, strategy="reuse-all", with bridges of so many hops: figure 11

All programs of an operator take turns in processes that did not search. Of each side:

    throughput  weighted seconds of `own` over the side's
    trials, seconds    of all its runs, untuned programs, confirming and planning included; those of
                a slice that goes on where another stopped count again what it reads anew
    needed      trials after which a search from nothing, divided by gradients, is as fast: replayed
                on the curves of `own`; all of them where it never is
    plan        bridges that were considered and used, and how many trials the reuses were expected
                to take and took

A target's device runs the programs; with --simulated they take what the devices of these numbers
say, which are made of the target's estimate (benchmarks.simulated_gpu), and seconds are those of
the search alone.

The summary has the geometric means over sets of throughput, of 128 trials an operator relative to
the side's (`fewer_trials`), of `needed` relative to the side's (`fewer_at_equal`) and of seconds
(`less_time`). Databases are kept in --folder, results in the JSON file after every operator.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import geometric_mean
from typing import TypeAlias

from benchmarks.cases import Case
from benchmarks.deadline import Deadline
from benchmarks.operator_sets import PAIR_TYPES, SETS, Entry
from benchmarks.operators import curve
from benchmarks.report import Part, Table, show
from benchmarks.reuse_records import (
    SEARCH,
    TRIED,
    Bench,
    OutOfTimeError,
    Results,
    add_places,
    add_slices,
    check_time,
    keep_results,
    places_of,
    read_results,
    seconds_of,
    task_of,
    timed,
    where_of,
)
from benchmarks.selective import clusters
from benchmarks.slices import reported
from benchmarks.tuning_log import TuningLog
from benchmarks.turns import chosen
from tilewright.cli.console import output
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.records.rows import REUSE as REUSES
from tilewright.records.rows import SEARCH as SEARCHES
from tilewright.search.objectives import ObjectiveModel
from tilewright.search.progress import Callback
from tilewright.search.reuse.edges import WHOLE
from tilewright.search.reuse.plan import COSTS, Costs, ReusePlan
from tilewright.search.strategies.table import Maker
from tilewright.search.task_scheduler import TaskScheduler
from tilewright.search.tasks import TuningTask, infos_of

OWN, REUSE, PLAIN, SELECTIVE = "own", "reuse", "search", "selective"
UNIT = 4  # trials at a time of a search that is replayed
QUICK = {
    "BERT-Base": SETS["BERT-Base"],
    "DCGAN": SETS["DCGAN"],
    "MobileNetV2-DEP": [e for e in SETS["MobileNetV2"] if e.case.operator == "DEP"],
}
QUICK_SEARCH = 64
HOPS = {"0": 0, "1": 1, "all": None}

Curve: TypeAlias = Sequence[tuple[int, float]]
"""Trial and seconds of each program that was better than all before; trial 0 is untuned."""


@dataclass(frozen=True)
class Foreseen:
    """What a plan expects: bridges that came into question and that it uses, how many operators are
    searched and how many reuse, programs in all and those of the reuses, which then took `spent`.
    """

    considered: int
    used: int
    searches: int
    reuses: int
    programs: int
    expected: int
    spent: int | None = None

    @staticmethod
    def of(plan: ReusePlan, spent: Mapping[str, int] | None = None) -> Foreseen:
        """That of a plan; `spent` says what its steps measured, by the hash of their tasks."""
        reuses = [step for step in plan.steps if step.kind == REUSES]
        return Foreseen(
            plan.considered,
            sum(not task.weight for task in plan.tasks),
            sum(step.kind == SEARCHES for step in plan.steps),
            len(reuses),
            plan.programs + plan.rest,
            sum(step.programs for step in reuses),
            None if spent is None else sum(spent[step.task] for step in reuses),
        )


@dataclass(frozen=True)
class Cost:
    """What a side took, and what its plan, where it has one, expected."""

    trials: int
    seconds: float
    plan: Foreseen | None = None


def main() -> int:
    """Run the benchmark; the exit status."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--sets", default="*", help="names or globs, comma-separated (all)")
    words.add_argument("--quick", action="store_true", help="three small sets, 64 trials")
    add_places(words)
    words.add_argument("--bridges", default="", help="of 0, 1 and all, comma-separated (none)")
    words.add_argument("--search", type=int, help="trials of a search (128; of few sets 64)")
    add_slices(words, "reuse_pairs")
    options = words.parse_args()
    return reported(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """What the file lacks of the sets."""
    sets, search = SETS, SEARCH
    if options.quick:
        sets, search = QUICK, QUICK_SEARCH
    search = options.search or search
    hops = chosen(options.bridges, HOPS)
    deadline = Deadline.after(options.minutes)
    options.folder.mkdir(parents=True, exist_ok=True)
    target, places = places_of(options)
    where = {"search": search, **where_of(target, options)}
    results = read_results(options.json, {**where, "sets": {}}, where)
    console = output()
    try:
        for name, (where_to, bench) in product(chosen(options.sets, sets), places.items()):
            found = results["sets"].setdefault(name + where_to, {"operators": {}, "sides": {}})
            one = OperatorSet(name, sets[name], bench, search, deadline)
            for keep in one.steps(found, hops):
                keep_results(options.json, results, summary(results), target)
                console.print(keep + where_to, highlight=False, soft_wrap=True)
    except OutOfTimeError:
        console.print("out of time")
    show(console, parts(results))
    return 0


# ---- a set ------------------------------------------------------------------------------------


class OperatorSet:
    """The operators of a set, and the runs that tune them together."""

    def __init__(
        self, name: str, members: Sequence[Entry], bench: Bench, search: int, deadline: Deadline
    ) -> None:
        self.name, self.bench, self.search, self.deadline = name, bench, search, deadline
        self.cases = [known_as(entry.case) for entry in members]
        pairs = zip(self.cases, members, strict=True)
        self.tasks = [task_of(case, float(entry.frequency)) for case, entry in pairs]
        self.owns: list[Path] = []
        self.log = TuningLog.beside(bench.folder / "reuse_sets.db")

    def steps(self, found: Results, hops: Sequence[str]) -> Iterator[str]:
        """Fill in what `found` lacks; a line after everything that is worth keeping."""
        sides = self._sides(found, hops)
        if is_complete(found, len(self.tasks), sides):
            return
        for case in self.cases:
            check_time(self.deadline)
            self.owns.append(self.bench.searched(case, self.search))
        for side, run_side in sides.items():
            if side not in found["sides"]:
                check_time(self.deadline)
                cost = run_side()
                found["sides"][side] = asdict(cost)
                yield f"{self.name}  {side}: {cost.trials} trials, {cost.seconds:.0f} s"
        yield from self._measured(found)
        self._reckon(found)
        reached = (f"{side} {one['throughput']:.3f}" for side, one in found["sides"].items())
        yield f"{self.name}: " + "  ".join(reached)

    def _sides(self, found: Results, hops: Sequence[str]) -> dict[str, Callable[[], Cost]]:
        costs = Costs(search=self.search)
        sides: dict[str, Callable[[], Cost]] = {
            OWN: self._own,
            REUSE: partial(self._reuse, REUSE, costs, 1),
            PLAIN: lambda: self._plain(found["sides"][REUSE]["trials"]),
            SELECTIVE: self._selective,
        }
        published = replace(COSTS[WHOLE], search=self.search)
        for hop in hops:
            side = f"bridges {hop}"
            sides[side] = partial(self._reuse, side, published, HOPS[hop])
        return sides

    def _measured(self, found: Results) -> Iterator[str]:
        """Seconds of all sides' programs, operator by operator."""
        for task, own in zip(self.tasks, self.owns, strict=True):
            known = found["operators"].get(task.name, {"seconds": ()})
            if set(found["sides"]) <= set(known["seconds"]):
                continue
            check_time(self.deadline)
            programs = {
                side: self.bench.best_of(self._holder(side, task, own), task)
                for side in found["sides"]
                if side != DEFAULT
            }
            programs[DEFAULT] = self.bench.default_of(own, task)
            genes = {side: trial.gene for side, trial in programs.items()}
            seconds = self.bench.in_turns(task, genes)
            found["operators"][task.name] = {"frequency": task.weight, "seconds": seconds}
            ratios = (f"{s} {seconds[OWN] / seconds[s]:.3f}" for s in seconds if s != OWN)
            yield f"{self.name}  {task.name}: " + "  ".join(ratios)

    def _holder(self, side: str, task: TuningTask, own: Path) -> Path:
        """The database of a side's program: who is searched alone has its own."""
        db = self._database(side)
        alone = side == OWN or (side == SELECTIVE and not self.bench.trials_of(db, task))
        return own if alone else db

    def _reckon(self, found: Results) -> None:
        """Each side's throughput, and what a search from nothing needs for it."""
        pairs = zip(self.tasks, self.owns, strict=True)
        curves = [curve(self.bench.trials_of(db, task)) for task, db in pairs]
        found["sides"].setdefault(DEFAULT, asdict(Cost(0, 0.0)))
        for side, one in found["sides"].items():
            one["throughput"] = throughput(found, side)
            one["needed"] = needed(self.tasks, curves, self.search, one["throughput"])

    # ---- sides --------------------------------------------------------------------------------

    def _own(self) -> Cost:
        return self._alone(range(len(self.tasks)))

    def _alone(self, numbers: Iterable[int]) -> Cost:
        """What the own searches of some operators took."""
        chosen = [(self.tasks[i], self.owns[i]) for i in numbers]
        trials = sum(
            t.origin != DEFAULT for task, db in chosen for t in self.bench.trials_of(db, task)
        )
        return Cost(trials, sum(seconds_of(db) for _, db in chosen))

    def _reuse(self, side: str, costs: Costs, hops: int | None) -> Cost:
        with self._slice(side) as observe, Database.open(self._database(side)) as database:
            tuner, planned = self.bench.run_plan(database, self.tasks, None, costs, hops, observe)
        foreseen = Foreseen.of(planned.plan, planned.spent)
        return Cost(tuner.trials, self._seconds(side), foreseen)

    def _plain(self, trials: int) -> Cost:
        with self._slice(PLAIN) as observe, Database.open(self._database(PLAIN)) as database:
            tuner = self.bench.run(database, self.tasks, trials, observe=observe)
        return Cost(tuner.trials, self._seconds(PLAIN))

    def _selective(self) -> Cost:
        db = self._database(SELECTIVE)
        with self._slice(SELECTIVE) as observe, Database.open(db) as database:
            found = clusters([self.bench.named(task) for task in self.tasks])
            makers: dict[str, Maker] = {}
            for first, *others in found:
                if others:
                    make = self.bench.taken_over(self.tasks[first], self.owns[first])
                    makers |= {self.tasks[i].hash: make for i in others}
            tried = [task for task in self.tasks if task.hash in makers]
            trials = 0
            if tried:
                tuner = self.bench.run(
                    database, tried, TRIED * len(tried), maker=lambda task: makers[task.hash],
                    strategy="topk", observe=observe,
                )  # fmt: skip
                trials = tuner.trials
        alone = self._alone(first for first, *_ in found)
        return Cost(alone.trials + trials, alone.seconds + self._seconds(SELECTIVE))

    # ---- slices -------------------------------------------------------------------------------

    def _slice(self, side: str) -> contextlib.AbstractContextManager[Callback]:
        return timed(self.log, self._label(side), self.deadline)

    def _label(self, side: str) -> str:
        return f"{self.name}-{self.search}-{side.replace(' ', '-')}"

    def _seconds(self, side: str) -> float:
        return self.log.seconds(self._label(side))

    def _database(self, side: str) -> Path:
        return self.bench.folder / f"{self._label(side)}.db"


def known_as(case: Case) -> Case:
    """The same operator under the name by which benchmarks.reuse_pairs has it."""
    return _KNOWN.get((case.make, case.batch, case.shape), case)


_KNOWN = {(c.make, c.batch, c.shape): c for cases in PAIR_TYPES.values() for c in cases}


# ---- figures ----------------------------------------------------------------------------------


def is_complete(found: Results, operators: int, sides: Iterable[str]) -> bool:
    """Whether nothing is missing of a set."""
    measured = [one["seconds"] for one in found["operators"].values()]
    is_reckoned = all("needed" in found["sides"].get(side, ()) for side in sides)
    return (
        is_reckoned and len(measured) == operators and all(set(sides) <= set(m) for m in measured)
    )


def throughput(found: Results, side: str) -> float:
    """Of a set's operators, each as often as it runs, relative to their own searches."""

    def total_s(of: str) -> float:
        operators = found["operators"].values()
        return float(sum(one["frequency"] * one["seconds"][of] for one in operators))

    return total_s(OWN) / total_s(side)


def needed(tasks: Sequence[TuningTask], curves: Sequence[Curve], search: int, wanted: float) -> int:
    """Trials after which a search from nothing of all tasks, divided by gradients, has the
    throughput `wanted`, relative to the ends of their own searches' curves.
    """
    weights = tuple(task.weight for task in tasks)
    best = [of[0][1] for of in curves]
    scheduler = TaskScheduler(
        infos_of(tasks, best), [ObjectiveModel("all", tuple(range(len(tasks))), weights)]
    )
    spent = [0] * len(tasks)
    own_s = sum(w * of[-1][1] for w, of in zip(weights, curves, strict=True))
    while not scheduler.done:
        if own_s >= wanted * sum(w * s for w, s in zip(weights, best, strict=True)):
            break
        task = scheduler.next()
        if spent[task] >= search:
            scheduler.exhausted(task)
            continue
        spent[task] += UNIT
        best[task] = [s for number, s in curves[task] if number <= max(spent[task], 1)][-1]
        scheduler.tell(task, best[task], UNIT)
    return sum(spent)


def summary(results: Results) -> Results:
    """The geometric means over the sets that are complete; those of reuse at the top."""
    search, found = results["search"], results["sets"].values()
    complete: dict[str, list[Results]] = {}
    for one in found:
        for side, cost in one["sides"].items():
            if side != DEFAULT and "needed" in cost:
                complete.setdefault(side, []).append(one)
    means = {side: _means(sets, side, search) for side, sets in complete.items()}
    return {"complete": len(complete.get(REUSE, ())), **means.get(REUSE, {}), "sides": means}


def _means(sets: Sequence[Results], side: str, search: int) -> dict[str, float]:
    costs = [(one["sides"][side], one["sides"][OWN], len(one["operators"])) for one in sets]
    return {
        "throughput": geometric_mean(cost["throughput"] for cost, *_ in costs),
        "fewer_trials": geometric_mean(search * n / cost["trials"] for cost, _, n in costs),
        "fewer_at_equal": geometric_mean(
            max(cost["needed"], 1) / cost["trials"] for cost, *_ in costs
        ),
        "less_time": geometric_mean(own["seconds"] / cost["seconds"] for cost, own, _ in costs),
    }


HEAD = (
    "set", "operators", "side", "throughput", "trials", "fewer trials", "search needs", "seconds",
)  # fmt: skip
OF_PLANS = ("bridges", "expected", "spent")  # where the results have bridges


def has_bridges(results: Results) -> bool:
    """Whether a set was tuned with some number of hops."""
    return any(
        side.startswith("bridges") for one in results["sets"].values() for side in one["sides"]
    )


def head(results: Results) -> tuple[str, ...]:
    """The columns of the table."""
    return (*HEAD, *OF_PLANS) if has_bridges(results) else HEAD


def rows(results: Results) -> list[list[str]]:
    """The lines of the table, a set's sides one after the other, then the geometric means."""
    found = []
    for name, one in results["sets"].items():
        n = len(one["operators"])
        for side, cost in one["sides"].items():
            if "needed" not in cost:
                continue
            fewer = f"{results['search'] * n / cost['trials']:.1f}" if cost["trials"] else ""
            counts = [str(cost["trials"]), fewer, str(cost["needed"]), f"{cost['seconds']:.0f}"]
            plan = [str(v) for v in _planned(cost.get("plan"))]
            found.append([name, str(n), side, f"{cost['throughput']:.3f}", *counts, *plan])
    for side, mean in summary(results)["sides"].items():
        figures = [f"{mean['throughput']:.3f}", "", f"{mean['fewer_trials']:.1f}"]
        times = [f"× {mean['fewer_at_equal']:.1f}", f"÷ {mean['less_time']:.1f}"]
        found.append(["geometric mean", "", side, *figures, *times, *_planned(None)])
    return [line[: len(head(results))] for line in found]


def _planned(plan: Results | None) -> tuple[str, str, str]:
    """Bridges used of those considered; what the reuses were expected to take, and took."""
    if plan is None:
        return "", "", ""
    return f"{plan['used']} of {plan['considered']}", str(plan["expected"]), str(plan["spent"])


def parts(results: Results) -> list[Part]:
    """All sides that are complete; reuse beside a plain search of as many trials."""
    told: list[Part] = [
        f"In the geometric mean {side} reaches {mean['throughput']:.3f} of the throughput by "
        f"{mean['fewer_trials']:.1f} times fewer trials in {mean['less_time']:.1f} times less time."
        for side, mean in summary(results)["sides"].items()
        if side != OWN
    ]
    sides = [one["sides"] for one in results["sets"].values() if {REUSE, PLAIN} <= {*one["sides"]}]
    if sides:
        lost = sum(one[PLAIN]["throughput"] > one[REUSE]["throughput"] for one in sides)
        told.append(f"A search of as many trials is ahead of reuse in {lost} of {len(sides)} sets.")
    return [*told, Table(head(results), rows(results))]


if __name__ == "__main__":
    sys.exit(main())

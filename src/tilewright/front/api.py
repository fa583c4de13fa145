"""The public functions that search: tune, plan.

    model = load("resnet50.onnx")                        # or Task([A, B, C])
    result = tune(model, minutes=10, db="tuning.db")     # then `compilation.compile`

Only this module wires graph, search and measuring together.
"""

from __future__ import annotations

import inspect
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Never, TypeGuard

from rich.console import Console

from tilewright.contract import arguments
from tilewright.front.cluster import Site, site
from tilewright.front.machine import as_target, host_target, keep_ceilings, machine_of
from tilewright.front.machines import Runners
from tilewright.front.models import Model, PathLike, Task, Tunable, as_tunables
from tilewright.front.places import Places
from tilewright.front.tuning_tasks import merged, model_row, parts_of
from tilewright.ground.errors import InputError
from tilewright.ground.text import LOG_WIDTH, clock, count, duration, preformatted
from tilewright.measure.trial import RunOptions
from tilewright.progress import TaskTable, showing
from tilewright.records.database import Database
from tilewright.search.disturbance import Disturbance
from tilewright.search.objectives import Objective, ObjectiveModel, as_objective
from tilewright.search.progress import Budget, Callback, Progress, TaskResult, weighted_sum
from tilewright.search.reuse.plan import COSTS, ReusePlan, make_plan
from tilewright.search.reuse.run import Planned, known_tasks
from tilewright.search.strategies.profile_plan import ProfilePlan, plan_profile
from tilewright.search.strategies.table import STRATEGIES, WHOLE, Maker, Way, way_of
from tilewright.search.task_scheduler import TaskScheduler
from tilewright.search.tasks import TaskSearch, TuningTask, infos_of
from tilewright.search.tuner import Tuner
from tilewright.space.derivation import Rule, check_rules
from tilewright.space.rules import rules_of
from tilewright.target import CpuTarget, Target

DEFAULT_MINUTES = 10.0

# ---- tuning -----------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class TuneResult:
    """What a tuning run did. `shares` are wall seconds by activity, `default_programs_s` those
    until the search began. `busy` says when this machine was busy and why, nothing if it was not.
    """

    tasks: tuple[TaskResult, ...]
    trials: int
    seconds: float
    shares: dict[str, float]
    default_programs_s: float = 0.0
    busy: str = ""

    @staticmethod
    def of(tuner: Tuner, searches: Sequence[TaskSearch]) -> TuneResult:
        """What a tuner has done."""
        return TuneResult(
            tuple(map(TaskResult.of, searches)),
            tuner.trials,
            tuner.elapsed_s,
            dict(vars(tuner.shares)),
            tuner.default_programs_s,
            tuner.disturbance.summary,
        )

    @property
    def latency_s(self) -> float | None:
        """Estimated latency: the weighted sum over all tasks; None while one has no program."""
        return weighted_sum((t.weight, t.best_s) for t in self.tasks)

    @property
    def untuned_s(self) -> float | None:
        """The same with default programs."""
        return weighted_sum((t.weight, t.default_s) for t in self.tasks)

    @property
    def speedup(self) -> float | None:
        """How many times faster than untuned, where that is known; what is not confirmed counts as
        untuned.
        """
        sure_s = weighted_sum((t.weight, t.sure_s) for t in self.tasks)
        untuned_s = weighted_sum((t.weight, t.untuned_s) for t in self.tasks)
        is_sure = any(t.confirmed for t in self.tasks)
        return untuned_s / sure_s if is_sure and sure_s and untuned_s else None

    def __repr__(self) -> str:
        took = f"{count(self.trials, 'trial')} in {clock(self.seconds)}"
        tasks = count(len(self.tasks), "task")
        faster = "" if self.speedup is None else f", {self.speedup:.2f}x as fast"
        return f"TuneResult({tasks}, {took}: {duration(self.latency_s)}{faster})"

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=LOG_WIDTH, highlight=False, emoji=False)
        with console.capture() as capture:
            console.print(TaskTable(self.tasks))
        return f"{capture.get()}{self!r}"

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def tune(
    models: Tunable | PathLike | Sequence[Tunable | PathLike],
    *,
    minutes: float | None = None,
    trials: int | None = None,
    patience: int | None = None,
    db: str | Path = "tuning.db",
    objective: Objective | Callable[[Sequence[float]], float] | None = None,
    target: Target | str | None = None,
    strategy: str | Maker | Way = "evolution",
    seed: int = 0,
    runner: Runners | None = None,
    cluster: str | None = None,
    machine: str | None = None,
    options: RunOptions | None = None,
    rules: Sequence[Rule] = (),
    callbacks: Sequence[Callback] = (),
    progress: bool | None = None,
    **unknown: Never,
) -> TuneResult:
    """Search for fast programs of every task and record all trials in `db`.

    `models` are tasks and models, or paths of ONNX files (one with symbolic dimensions is given as
    `load(path, shapes=...)`). `target` None is this machine's CPU, "opencl" or "cuda" its device.
    Stops after `minutes` or `trials`, whichever comes first (default: 10 minutes), or sooner: once
    `patience` trials in a row made nothing better by a thousandth. Equal tasks of several models
    are tuned once. The same command with the same seed goes on where an earlier one stopped.

    `strategy` is how to search, one of `STRATEGIES`, a class of one's own (docs/strategies.md), or
    a `Way`. `runner` is the command of a remote runner, or several such, each a list of words.
    `cluster` measures on all machines of a Ray cluster, "HOST:PORT" or "auto" (docs/cluster.md); of
    several kinds of machines on those whose description has `machine` in it, by default the most.
    `rules` are sketch rules of one's own, tried before those of the target. Each of `callbacks` is
    called with a `Progress` after every round; what it raises ends the run, whose records are kept.
    The logger "tilewright" has rounds (INFO) and trials (DEBUG), too. `progress` shows the run on
    standard error; None does where that is a terminal or a notebook.

    Raises InputError for an argument that cannot be, RecordsError for a database that cannot be
    used, TargetError for a device that is not here, ScheduleError for a rule of one's own that
    fails, BuildError, RunError or WrongAnswer when nothing can be measured.
    """
    begun = time.monotonic()
    if unknown:
        known = [name for name in inspect.signature(tune).parameters if name != "unknown"]
        arguments.refuse_unknown("tune", unknown, known)
    way, goal = way_of(strategy), as_objective(objective)
    budget = _budget(trials, minutes, patience, is_bounded=way.short or way.reuse == WHOLE)
    budget_s = None if budget.minutes is None else budget.minutes * 60
    db, seed = arguments.database(db), arguments.count("seed", seed, least=0)
    check_rules(rules)
    observe = _observer(callbacks)
    with site(cluster, runner, target, machine, options, budget_s) as where:
        given = parts_of(as_tunables(models), where.target)
        with showing(progress, observe) as told, Database.open(db) as database:
            return _tuned(given, where, database, budget, way, goal, seed, rules, begun, told)


def _tuned(
    models: Sequence[Task | Model],
    where: Site,
    database: Database,
    budget: Budget,
    way: Way,
    goal: Objective,
    seed: int,
    rules: Sequence[Rule],
    begun: float,
    told: Callback,
) -> TuneResult:
    """What a run does there, by a plan of who reuses whom where its way has one."""
    target, machine = where.target, machine_of(where.target)
    tasks, groups = merged(models)
    make: Callable[..., TaskScheduler] = way.scheduler
    planned = None
    if way.reuse is not None:
        planned = Planned.begin(
            tasks, database, machine, target, _all_rules(rules, target), seed, COSTS[way.reuse]
        )
        tasks = list(planned.plan.tasks)
        is_open = budget.trials is None and budget.minutes is None
        make = partial(planned.scheduler, rest=planned.plan.rest if is_open else None)

    def scheduler(
        tasks: Sequence[TuningTask], latencies: Sequence[float], seed: int
    ) -> TaskScheduler:
        return make(infos_of(tasks, latencies), groups, goal, seed=seed)

    places = (
        Places.of(models, groups, tasks, target) if where.is_here and _is_host(target) else None
    )
    tuner = Tuner(
        tasks, database, machine, where.measurer, target, scheduler, way, seed, tuple(rules),
        planned.maker if planned else None, disturbance=Disturbance(where.look), begun=begun,
        lanes=where.lanes, machines=where.line, in_place=places.ratios if places else None,
    )  # fmt: skip
    _register(tuner, models, groups, where.is_here)
    result = TuneResult.of(tuner, tuner.run(budget, told))
    if planned is not None:
        planned.tell()
    return result


def plan(
    models: Tunable | PathLike | Sequence[Tunable | PathLike],
    *,
    db: str | Path = "tuning.db",
    target: Target | str | None = None,
    rules: Sequence[Rule] = (),
    strategy: str = "reuse",
) -> ReusePlan | ProfilePlan:
    """What `tune(models, strategy=strategy)` would do with this database (which need not exist):
    which tasks are searched, and which reuse whose programs; for "reuse-all" that takes some
    seconds an operator. Of "profile", how many programs it measures of each task. Arguments are
    those of `tune`. Raises InputError for a strategy without a plan.
    """
    arguments.one_of("strategy of a plan", strategy, arguments.PLANNED)
    chosen = as_target(target)
    tasks, _ = merged(parts_of(as_tunables(models), chosen))
    mode = STRATEGIES[strategy].reuse
    if mode is None:
        return plan_profile(tasks, chosen, _all_rules(rules, chosen))
    name = arguments.database(db)
    recorded: Sequence[TuningTask] = ()
    foreign: Sequence[TuningTask] = ()
    if "://" in str(name) or Path(name).exists():
        with Database.open(name, create=False, readonly=True) as database:
            recorded, foreign = known_tasks(database, machine_of(chosen))
    return make_plan(tasks, chosen, recorded, foreign, _all_rules(rules, chosen), COSTS[mode])


def _all_rules(rules: Sequence[Rule], target: Target) -> Sequence[Rule] | None:
    """A user's rules and the target's; None for those alone."""
    return (*rules, *rules_of(target)) if rules else None


def _register(
    tuner: Tuner, models: Sequence[Task | Model], groups: Sequence[ObjectiveModel], is_here: bool
) -> None:
    """Enter what is tuned, and where, in the database."""
    tuner.register()
    target = tuner.target
    if is_here and _is_host(target):
        keep_ceilings(tuner.database, tuner.machine, target)
    for model, group in zip(models, groups, strict=True):
        tuner.database.add_model(model_row(model, group, tuner.tasks))


def _is_host(target: Target) -> TypeGuard[CpuTarget]:
    """Whether it is this machine's CPU, or some of its cores."""
    return isinstance(target, CpuTarget) and target == replace(host_target(), cores=target.cores)


def _observer(callbacks: Sequence[Callback]) -> Callback:
    """One callback for several; raises InputError."""
    if not isinstance(callbacks, Sequence):
        raise InputError(f"callbacks is a sequence of functions: callbacks=[{callbacks!r}]")
    told = [arguments.function("a callback", c) for c in callbacks]

    def observe(progress: Progress) -> None:
        for callback in told:
            callback(progress)

    return observe


def _budget(
    trials: int | None, minutes: float | None, patience: int | None, is_bounded: bool
) -> Budget:
    """The budget from what a user gives; that of a run that `is_bounded` need not have a limit.
    Raises InputError.
    """
    if minutes is None and trials is None and not is_bounded:
        minutes = DEFAULT_MINUTES
    return Budget(
        trials=None if trials is None else arguments.count("trials", trials),
        minutes=None if minutes is None else arguments.minutes(minutes),
        patience=None if patience is None else arguments.count("patience", patience),
    )

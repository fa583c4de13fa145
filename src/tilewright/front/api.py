"""The public functions that search: tune, plan.

    model = load("resnet50.onnx")                        # or Task([A, B, C])
    result = tune(model, minutes=10, db="tuning.db")     # then `compilation.compile`

Only this module wires graph, search and measuring together.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Never, TypeAlias

from rich.console import Console

from tilewright.contract import arguments
from tilewright.front.cluster import several_machines
from tilewright.front.machine import as_target, host_target, keep_ceilings, machine_of
from tilewright.front.machines import Runners, commands_of
from tilewright.front.models import Model, PathLike, Task, Tunable, as_tunables
from tilewright.front.task_measurer import TaskMeasurer
from tilewright.front.tuning_tasks import merged, model_row, parts_of
from tilewright.ground.errors import InputError
from tilewright.ground.text import LOG_WIDTH, clock, count, duration, preformatted
from tilewright.measure.device_trial import device_of
from tilewright.measure.load import LoadWatch
from tilewright.measure.trial import RunOptions
from tilewright.progress import TaskTable, showing
from tilewright.records.database import Database
from tilewright.search.disturbance import Disturbance
from tilewright.search.objectives import Objective, ObjectiveModel, as_objective
from tilewright.search.progress import Budget, Callback, Progress, TaskResult, weighted_sum
from tilewright.search.reuse.plan import COSTS, Plan, make_plan
from tilewright.search.reuse.run import Planned, known_tasks
from tilewright.search.strategies.profile_plan import ProfilePlan, plan_profile
from tilewright.search.strategies.table import STRATEGIES, WHOLE, Maker, Way, way_of
from tilewright.search.task_scheduler import TaskScheduler
from tilewright.search.tasks import TaskSearch, TuningTask, infos_of
from tilewright.search.tuner import Tuner
from tilewright.space.derivation import Rule, check_rules
from tilewright.space.rules import rules_of
from tilewright.target import CpuTarget, Target

SchedulerMaker: TypeAlias = Callable[..., TaskScheduler]
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
    `runner` is the command of a remote runner, or several such, each a list of words. `cluster`
    measures on all machines of a Ray cluster, "HOST:PORT" or "auto" (docs/cluster.md); of several
    kinds of machines on those whose description has `machine` in it, by default the most. `rules`
    are sketch rules of one's own, tried before those of the target. Each of `callbacks` is called
    with a `Progress` after every round; what it raises ends the run, whose records are kept. The
    logger "tilewright" has rounds (INFO) and trials (DEBUG), too. `progress` shows the run on
    standard error; None does where that is a terminal or a notebook.

    `strategy` is how to search, one of `STRATEGIES`; a class of one's own, called with a task's
    space, feature extractor and cost model (docs/strategies.md); or a `Way`, which says who allots
    trials to tasks, too. "evolution", "random", "beam" and "exhaustive" search each task by itself,
    "templates" measures all programs of nests written by hand.

    With "reuse", tasks whose shapes alone differ are searched near each other's good programs and
    recorded ones, by a plan of who reuses whom (see `plan`): a dozen programs a reuse, chosen by
    the estimate and what was learnt; what is left of the budget is spent as ever. "reuse-all"
    measures every program that the published tuner enumerates, tens to hundreds a reuse (ETO,
    algorithm 1): for devices of which the estimate says little. Given neither `minutes` nor
    `trials`, it ends when its plan does.

    With "profile", the few programs that guidelines suggest are measured, at most 24 a task, and
    nothing is learnt: it ends when they are, without any other budget (Bolt, section 3.2.2).

    Raises InputError for an argument that cannot be, RecordsError for a database that cannot be
    used, TargetError for a device that is not here, ScheduleError for a rule of one's own that
    fails, BuildError, RunError or WrongAnswer when nothing can be measured.
    """
    begun = time.monotonic()
    if unknown:
        known = [name for name in inspect.signature(tune).parameters if name != "unknown"]
        arguments.refuse_unknown("tune", unknown, known)
    way = way_of(strategy)
    budget = _budget(trials, minutes, patience, is_bounded=way.short or way.reuse == WHOLE)
    db = arguments.database(db)
    check_rules(rules)
    seed = arguments.count("seed", seed, least=0)
    goal = as_objective(objective)
    observe = _observer(callbacks)
    budget_s = None if budget.minutes is None else budget.minutes * 60
    with contextlib.ExitStack() as stack:
        many = stack.enter_context(
            several_machines(cluster, runner, target, machine, options, budget_s)
        )
        chosen = as_target(target) if many is None else many.target
        given = parts_of(as_tunables(models), chosen)
        command = next(iter(commands_of(runner)), None)
        is_here = command is None and many is None
        look = many.look if many else LoadWatch().look if is_here else quiet
        if is_here and chosen.backend.device is not None:
            device_of(chosen)
        tasks, groups = merged(given)
        told = stack.enter_context(showing(progress, observe))
        database = stack.enter_context(Database.open(db))
        measurer = many or stack.enter_context(
            contextlib.closing(TaskMeasurer(chosen, command, options, budget_s))
        )
        schedulers: SchedulerMaker = way.scheduler
        planned = None
        if way.reuse is not None:
            planned = Planned.begin(
                tasks, database, machine_of(chosen), chosen, _all_rules(rules, chosen), seed,
                COSTS[way.reuse],
            )  # fmt: skip
            tasks = list(planned.plan.tasks)
            is_open = budget.trials is None and budget.minutes is None
            schedulers = partial(planned.scheduler, rest=planned.plan.rest if is_open else None)
        tuner = Tuner(
            tasks, database, machine_of(chosen), measurer, chosen,
            _scheduler(schedulers, groups, goal), way, seed, tuple(rules),
            None if planned is None else planned.maker,
            disturbance=Disturbance(look), begun=begun,
            lanes=len(many.lanes) if many else 1, machines=many.line if many else quiet,
        )  # fmt: skip
        _register(tuner, given, groups, is_remote=not is_here)
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
) -> Plan | ProfilePlan:
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


def quiet() -> str:
    """Nothing to tell of machines."""
    return ""


def _all_rules(rules: Sequence[Rule], target: Target) -> Sequence[Rule] | None:
    """A user's rules and the target's; None for those alone."""
    return (*rules, *rules_of(target)) if rules else None


def _register(
    tuner: Tuner, models: Sequence[Task | Model], groups: Sequence[ObjectiveModel], is_remote: bool
) -> None:
    """Enter what is tuned, and where, in the database."""
    tuner.register()
    target = tuner.target
    is_here = target == replace(host_target(), cores=target.cores)
    if not is_remote and is_here and isinstance(target, CpuTarget):
        keep_ceilings(tuner.database, tuner.machine, target)
    for model, group in zip(models, groups, strict=True):
        tuner.database.add_model(model_row(model, group, tuner.tasks))


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


def _scheduler(
    kind: SchedulerMaker, groups: Sequence[ObjectiveModel], objective: Objective
) -> Callable[[Sequence[TuningTask], Sequence[float], int], TaskScheduler]:
    def make(tasks: Sequence[TuningTask], latencies: Sequence[float], seed: int) -> TaskScheduler:
        return kind(infos_of(tasks, latencies), groups, objective, seed=seed)

    return make

"""The public functions: tune, compile (and `models.load`).

    model = load("resnet50.onnx")                        # or Task([A, B, C])
    result = tune(model, minutes=10, db="tuning.db")
    net = compile(model, db="tuning.db")
    y = net(x)

Only this module wires graph, search and measuring together.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import overload

import llvmlite.binding as llvm

from tilewright.build import compile_request, make_request
from tilewright.build.cache import ArtifactCache
from tilewright.cost.resources import runs_on
from tilewright.errors import InputError, RunError, TilewrightError
from tilewright.expr.serialize import extents
from tilewright.graph.executor import Network
from tilewright.graph.variants import NetworkSet
from tilewright.measure.ceilings import Traffic, working_sets
from tilewright.measure.ceilings import measure as measure_ceilings
from tilewright.measure.device_trial import device_of
from tilewright.measure.load import LoadWatch
from tilewright.measure.measurer import BatchFailedError, LocalMeasurer, MeasureResult
from tilewright.measure.pools import BuilderPool, Built
from tilewright.measure.task import MeasureTask
from tilewright.measure.trial import RunOptions
from tilewright.models import Model, ModelSet, Task, Tunable
from tilewright.progress import showing
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.matching import Match, find_record
from tilewright.records.rows import CeilingsRow, ModelRow, ModelTask, Trial, WorkloadRow
from tilewright.runtime import nvrtc
from tilewright.runtime.artifact import Artifact
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.devices import loaded, target_at_hand
from tilewright.runtime.function import CompiledFunction
from tilewright.runtime.pool import ConstantPool
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step
from tilewright.schedule.trace import trace_from_json, trace_to_json
from tilewright.search.disturbance import Disturbance
from tilewright.search.objectives import Model as ObjectiveModel
from tilewright.search.objectives import Objective, TotalLatency
from tilewright.search.strategies import STRATEGIES
from tilewright.search.task_scheduler import SCHEDULERS, TaskInfo, TaskScheduler
from tilewright.search.tasks import AllFailedError, TaskSearch, TuningTask
from tilewright.search.tuner import Budget, Observer, Tuner
from tilewright.settings import Settings
from tilewright.space.derivation import Rule
from tilewright.target import (
    EMULATED,
    CpuTarget,
    CudaTarget,
    GpuTarget,
    OpenclTarget,
    Target,
    available_cores,
)

# ---- targets and machines -------------------------------------------------------------------


def host_target() -> Target:
    """This machine, with as many threads as the settings allow."""
    target = Target.parse("cpu")
    threads = Settings.from_environment().threads
    return target if threads is None else replace(target, cores=threads)


def machine_of(target: Target) -> Machine:
    """The facts of a target that make latencies comparable."""
    facts = [w for w in str(target).split()[1:] if not w.startswith("cores=")]
    return Machine.of(
        target.kind,
        cpu=target.name,
        features=target.features if isinstance(target, CpuTarget) else facts,
        cores=target.cores,
        compiler=compiler_of(target),
    )


def compiler_of(target: Target) -> str:
    """Name and version of what makes a target's machine code."""
    match target:
        case CudaTarget() if target.architecture == EMULATED:
            return "g++"
        case CudaTarget():
            return f"NVRTC {nvrtc.version()}"
        case OpenclTarget():
            return "the OpenCL driver"  # which one is a fact of the target
    return f"LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def as_target(target: Target | str | None) -> Target:
    """A Target from what a user gives: None is this machine, "opencl" its device."""
    if target is None:
        return host_target()
    return target_at_hand(target) if isinstance(target, str) else target


# ---- tuning -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TaskResult:
    """One task after tuning; latencies in seconds, None where nothing ran.

    `confirmed`: both latencies are of turns that the two programs took, in processes that did not
    search; else they are of different moments, and do not compare on a busy machine.
    """

    name: str
    weight: float
    flops: int
    trials: int
    errors: int
    default_s: float | None
    best_s: float | None
    confirmed: bool = False


@dataclass(frozen=True)
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

    @property
    def latency_s(self) -> float | None:
        """Estimated latency: the weighted sum over all tasks; None while one has no program."""
        found = [None if t.best_s is None else t.weight * t.best_s for t in self.tasks]
        return None if None in found else sum(f for f in found if f is not None)


def tune(
    models: Tunable | Sequence[Tunable],
    *,
    minutes: float | None = None,
    trials: int | None = None,
    db: str | Path = "tuning.db",
    objective: Objective | None = None,
    target: Target | str | None = None,
    strategy: str = "evolution",
    scheduler: str = "gradient",
    seed: int = 0,
    runner: Sequence[str] | str | None = None,
    options: RunOptions | None = None,
    rules: Sequence[Rule] = (),
    observe: Observer = lambda _: None,
    progress: bool | None = None,
) -> TuneResult:
    """Search for fast programs of every task and record all trials in `db`.

    `target` None is this machine's CPU, "opencl" or "cuda" its device of that kind.

    Stops after `minutes` or `trials`, whichever comes first (default: 10 minutes). Equal tasks of
    several models are tuned once; `scheduler` allots trials to tasks. The same command with the
    same seed goes on where an earlier one stopped. `runner` is the command of a remote runner.
    `rules` are sketch rules of one's own, tried before those of the target. `progress` shows the
    run on standard error; None does where that is a terminal or a notebook. Raises RecordsError
    for a database that cannot be used, TargetError for a device that is not here, BuildError,
    RunError or WrongAnswer when nothing can be measured.
    """
    chosen = as_target(target)
    given = _parts(models, chosen)
    if strategy not in STRATEGIES:
        raise InputError(f"unknown strategy {strategy!r}; known: {', '.join(STRATEGIES)}")
    if scheduler not in SCHEDULERS:
        raise InputError(f"unknown scheduler {scheduler!r}; known: {', '.join(SCHEDULERS)}")
    if minutes is None and trials is None:
        minutes = 10.0
    if runner is None and isinstance(chosen, GpuTarget):
        device_of(chosen)
    tasks, groups = _merge(given)
    with (
        showing(progress, observe) as told,
        Database.open(db) as database,
        contextlib.closing(TaskMeasurer(chosen, runner, options)) as measurer,
    ):
        tuner = Tuner(
            tasks=tasks,
            database=database,
            machine=machine_of(chosen),
            measurer=measurer,
            target=chosen,
            schedule=_scheduler(scheduler, groups, objective or TotalLatency()),
            strategy=strategy,
            seed=seed,
            rules=tuple(rules),
            disturbance=Disturbance() if runner else Disturbance(LoadWatch().look),
        )
        tuner.register()
        is_here = chosen == replace(host_target(), cores=chosen.cores)
        if runner is None and is_here and isinstance(chosen, CpuTarget):
            _keep_ceilings(database, tuner.machine, chosen)
        for model, group in zip(given, groups, strict=True):
            database.add_model(_model_row(model, group, tasks))
        searches = tuner.run(Budget(trials, minutes), told)
    return TuneResult(
        tuple(map(_task_result, searches)),
        tuner.trials,
        tuner.elapsed_s,
        dict(vars(tuner.shares)),
        tuner.default_programs_s,
        tuner.disturbance.summary,
    )


def _task_result(search: TaskSearch) -> TaskResult:
    return TaskResult(
        name=search.task.name,
        weight=search.task.weight,
        flops=search.task.flops,
        trials=search.trials,
        errors=search.errors,
        default_s=search.default_s,
        best_s=search.best_s,
        confirmed=search.confirmed,
    )


def _parts(models: Tunable | Sequence[Tunable], target: Target) -> list[Task | Model]:
    """What is to be tuned, with every shape of a ModelSet as a model of its own."""
    given = [models] if isinstance(models, (Task, Model, ModelSet)) else models
    parts = [m for each in given for m in (each.models if isinstance(each, ModelSet) else [each])]
    return [m if isinstance(m, Task) else m.for_target(target) for m in parts]


def _keep_ceilings(database: Database, machine: Machine, target: CpuTarget) -> None:
    """Record what this machine can do at best; takes a quarter of a second on a quiet one.

    Every run measures anew and the higher figures stay, for a busy moment spoils them.
    """
    sizes = working_sets(target)
    found = measure_ceilings(target, [Traffic(s, 0) for s in sizes], sweeps=3, empty_calls=1)
    rates = tuple(stream.traffic.total / stream.seconds for stream in found.streams)
    row = CeilingsRow(machine.fingerprint, found.fma_flops, sizes, rates)
    known = next((c for c in database.ceilings() if c.machine == machine.fingerprint), row)
    database.keep_ceilings(known.raised_by(row))


def tasks_of(model: Task | Model) -> list[TuningTask]:
    """The different tasks of a model, each with its weight."""
    if isinstance(model, Task):
        return [TuningTask(model.name, model.dag)]
    # Constants are read once a run. What kernels hand on to each other is nearer.
    constants = {v for s in model.partition.subgraphs for v in s.constants}
    between = 1 + sum(v.bytes for v in constants)  # a model without any is a network, too
    return [TuningTask(t.name, t.dag, float(t.weight), between) for t in model.partition.tasks]


def _merge(models: Sequence[Task | Model]) -> tuple[list[TuningTask], list[ObjectiveModel]]:
    """All different tasks, and every model in terms of them."""
    tasks: dict[str, TuningTask] = {}
    groups = []
    for model in models:
        mine = tasks_of(model)
        for task in mine:
            old = tasks.get(task.hash)
            weight = task.weight + (old.weight if old is not None else 0.0)
            kept = task if old is None else old
            tasks[task.hash] = replace(kept, weight=weight)
        index = {h: i for i, h in enumerate(tasks)}
        numbers = tuple(index[t.hash] for t in mine)
        groups.append(ObjectiveModel(model.name, numbers, tuple(t.weight for t in mine)))
    return list(tasks.values()), groups


def _scheduler(
    name: str, groups: Sequence[ObjectiveModel], objective: Objective
) -> Callable[[Sequence[TuningTask], Sequence[float], int], TaskScheduler]:
    def make(tasks: Sequence[TuningTask], latencies: Sequence[float], seed: int) -> TaskScheduler:
        infos = [
            TaskInfo(t.name, t.flops, t.structure, latency)
            for t, latency in zip(tasks, latencies, strict=True)
        ]
        return SCHEDULERS[name](infos, groups, objective, seed=seed)

    return make


def _model_row(model: Task | Model, group: ObjectiveModel, tasks: Sequence[TuningTask]) -> ModelRow:
    parts = tuple(
        ModelTask(tasks[i].hash, int(w)) for i, w in zip(group.tasks, group.weights, strict=True)
    )
    return ModelRow.of(model.name, parts, model.path if isinstance(model, Model) else "")


@dataclass
class TaskMeasurer:
    """Measures programs of tasks, given as traces: a LocalMeasurer in the tuner's terms."""

    target: Target
    command: Sequence[str] | str | None = None
    options: RunOptions | None = None
    known: dict[str, MeasureTask] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.local = LocalMeasurer(runner=self.command, options=self.options)

    def measure(
        self,
        task: TuningTask,
        default: str,
        traces: Sequence[str],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        """Build, check and time candidates of a task."""
        requests = [self._request(task, t) for t in traces]
        try:
            return self.local.measure(self._task(task, default), requests, best_s, default_s)
        except BatchFailedError as error:
            raise AllFailedError(str(error), error.results) from error

    def confirm(
        self, task: TuningTask, default: str, traces: Sequence[str]
    ) -> list[tuple[float, ...]]:
        """Latencies of finalists, in turns with the default program in fresh processes; empty for
        one that failed there.
        """
        requests = [self._request(task, t) for t in traces]
        results = self.local.confirm(self._task(task, default), requests)
        return [r.latencies_s for r in results]

    def close(self) -> None:
        """Stop all worker processes."""
        self.local.close()

    def _task(self, task: TuningTask, default: str) -> MeasureTask:
        if task.hash not in self.known:
            reference = self._request(task, default)
            self.known[task.hash] = MeasureTask.of(task.hash, task.dag, reference, task.between)
        return self.known[task.hash]

    def _request(self, task: TuningTask, trace: str) -> bytes:
        name = kernel_name(task.name)
        return make_request(task.dag, trace, self.target, name, prefetch_bytes(task))


def kernel_name(task: str) -> str:
    """A task's name as a symbol."""
    return re.sub(r"\W", "_", task, flags=re.ASCII)


# ---- compiling --------------------------------------------------------------------------------


@overload
def compile(
    model: Task,
    db: str | Path | None = None,
    target: Target | str | None = None,
    notes: Callable[[str], None] | None = None,
) -> CompiledFunction | DeviceFunction: ...
@overload
def compile(
    model: Model,
    db: str | Path | None = None,
    target: Target | str | None = None,
    notes: Callable[[str], None] | None = None,
    *,
    pool: ConstantPool | None = None,
) -> Network: ...
@overload
def compile(
    model: ModelSet,
    db: str | Path | None = None,
    target: Target | str | None = None,
    notes: Callable[[str], None] | None = None,
) -> NetworkSet: ...
def compile(
    model: Tunable,
    db: str | Path | None = None,
    target: Target | str | None = None,
    notes: Callable[[str], None] | None = None,
    *,
    pool: ConstantPool | None = None,
) -> Network | NetworkSet | CompiledFunction | DeviceFunction:
    """Compile a model or task with the best recorded programs; defaults where none is known.

    Never fails for want of tuning. `notes` hears a sentence for every task that has no record, runs
    a program recorded on another machine, or has better records that give no program; without it,
    the latter two are a UserWarning. A task's constants are given with `.prepare({...})`. A model
    may be compiled for another CPU, and saved. For a GPU, functions and networks run on this
    machine's device of that kind.
    Networks compiled with one `pool` store equal packed constants once; those of a ModelSet do.
    """
    chosen = as_target(target)
    parts = _parts(model, chosen)
    tasks, _ = _merge(parts)
    matches, kernels = build_recorded(tasks, db, chosen)
    tell(matches, notes)
    if isinstance(model, Task):
        return loaded(kernels[tasks[0].alone], chosen, arguments=model.arguments)
    common = ConstantPool() if isinstance(model, ModelSet) else pool
    networks = [m.partition for m in parts if isinstance(m, Model)]
    nets = [Network(p, kernels, chosen, common) for p in networks]
    return NetworkSet(nets, model.name) if isinstance(model, ModelSet) else nets[0]


def tell(matches: Sequence[Match], notes: Callable[[str], None] | None) -> None:
    """Pass on what is not as it should be; see `compile`."""
    if notes is not None:
        for match in matches:
            if match.note:
                notes(match.note)
        return
    refused = [m.note for m in matches if m.refused]
    if refused:
        warnings.warn(
            f"{len(refused)} of {len(matches)} programs are not the best recorded; see all with "
            f"notes=print. {refused[0]}",
            stacklevel=3,
        )
    foreign = [m.note for m in matches if m.trial is not None and not m.exact]
    if foreign:
        warnings.warn(
            f"{len(foreign)} of {len(matches)} programs were recorded on another machine; tune on "
            f"this one, or see all with notes=print. {foreign[0]}",
            stacklevel=3,
        )


@contextlib.contextmanager
def open_records(db: str | Path | None) -> Iterator[Database | None]:
    """The database to compile from, for reading; None without one."""
    if db is None:
        yield None
        return
    with Database.open(db, create=False, readonly=True) as database:
        yield database


def find_match(
    task: TuningTask, database: Database | None, target: Target, without: Collection[int] = ()
) -> Match:
    """The record to compile a task with; its trial is None where the default program serves.

    A task of a network that has none takes that of the same computation by itself. Trials whose
    ids are in `without` are passed over.
    """
    if database is None:
        return Match(None, False, "")
    machine, size = machine_of(target), tuple(extents(task.dag))

    def runs(trial: Trial) -> bool:
        try:
            state = State(task.dag).replay(trace_from_json(trial.trace))
            program = lower(state, task.name).program
        except TilewrightError:
            return True  # building it says what is wrong with it
        return runs_on(program, target)

    rows = [
        WorkloadRow(h, task.name, "", task.structure, size, task.flops)
        for h in dict.fromkeys((task.hash, task.alone))
    ]
    found = [find_record(database, row, machine, runs, without) for row in rows]
    return max(found, key=lambda m: (m.trial is not None, m.exact))


MOST_REFUSED = 8
"""Records of a task that are tried before its default program is taken."""


def build_recorded(
    tasks: Sequence[TuningTask], db: str | Path | None, target: Target
) -> tuple[list[Match], dict[str, Artifact]]:
    """The best records of all tasks and their kernels. A record that no program can be built from
    gives way to the next best, in the end to the default program, and the match's note says so.
    """
    with open_records(db) as database:
        matches = [find_match(t, database, target) for t in tasks]
        while True:
            traces = [None if m.trial is None else m.trial.trace for m in matches]
            refused: dict[int, TilewrightError] = {}
            kernels = build_all(tasks, traces, target, refused)
            if not refused:
                return matches, kernels
            for i, error in refused.items():
                matches[i] = _next_best(tasks[i], matches[i], error, database, target)


def _next_best(
    task: TuningTask,
    match: Match,
    error: TilewrightError,
    database: Database | None,
    target: Target,
) -> Match:
    """What to take instead of a record that cannot be used because of `error`."""
    assert match.trial is not None and match.trial.id is not None and database is not None
    ids = (*match.refused, match.trial.id)
    found = Match(None, False, "")
    if len(ids) < MOST_REFUSED:
        found = find_match(task, database, target, ids)
    instead = "the default program" if found.trial is None else f"trial {found.trial.id}"
    listed = f"trial{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}"
    note = f"{task.name}: {listed} of {database.name} cannot be used ({error}); using {instead}"
    return replace(found, note=note, refused=ids)


PREFETCH_BYTES = 1 << 16  # smaller constants come quickly from anywhere


def prefetch_bytes(task: TuningTask) -> int:
    """The size from which constants are fetched ahead: in a network they come from main memory,
    since others were read after their last use.
    """
    return PREFETCH_BYTES if task.between else 0


def build_all(
    tasks: Sequence[TuningTask],
    traces: Sequence[Sequence[Step] | str | None],
    target: Target,
    refused: dict[int, TilewrightError] | None = None,
) -> dict[str, Artifact]:
    """One artifact a task, by the hash of its computation (`TuningTask.alone`); compiled ones are
    kept in the user's cache. A trace is steps or their JSON, None the default program.

    What traces fail with goes to `refused` by the number of the task, if it is given; else it is
    raised.
    """
    settings = Settings.from_environment()
    cache = ArtifactCache(settings.cache, settings.cache_limit)
    artifacts: dict[str, Artifact] = {}
    missing: list[tuple[int, str]] = []  # number and key of a task
    requests = []
    for number, (task, trace) in enumerate(zip(tasks, traces, strict=True)):
        prefetch = prefetch_bytes(task)
        name = f"{kernel_name(task.name)}_{number}"
        genes = trace if trace is None or isinstance(trace, str) else trace_to_json(trace)
        # Equal work under other names is another artifact: its buffers are known by name.
        dag = task.dag
        names = (t.name for t in (*dag.inputs, *dag.constants, *dag.outputs))
        built_for = f"{target} prefetch={prefetch}"
        key = cache.key(" ".join((task.hash, *names)), genes, built_for, name)
        known = cache.get(key)
        if known is not None:
            artifacts[task.alone] = known
        else:
            missing.append((number, key))
            requests.append(make_request(dag, genes, target, name, prefetch, not task.between))
    # What `TILEWRIGHT_SHOW` asks for is printed by this process, in the order of the tasks.
    for i, built in _compiled(requests, processes=1 if settings.show else available_cores()):
        number, key = missing[i]
        if isinstance(built, TilewrightError):
            if refused is None or traces[number] is None:
                raise built
            refused[number] = built
            continue
        cache.put(key, built)
        artifacts[tasks[number].alone] = Artifact.from_bytes(built)
    if missing:
        cache.trim()
    return artifacts


WORTH_PROCESSES = 8
"""So many kernels are compiled in several processes; fewer take no longer than these to start."""
COMPILE_TIMEOUT_S = 600.0


def _compiled(
    requests: Sequence[bytes], processes: int
) -> Iterator[tuple[int, bytes | TilewrightError]]:
    """The number and the artifact of every request, in the order they are ready.

    What a process of its own fails at is done again here; an error is this one's.
    """
    left = dict(enumerate(requests))
    if processes > 1 and len(requests) >= WORTH_PROCESSES:
        pool = BuilderPool("tilewright.build:compile_request", processes, COMPILE_TIMEOUT_S)
        with contextlib.suppress(RunError), pool:
            for i, outcome in pool.build(requests):
                if isinstance(outcome, Built):
                    del left[i]
                    yield i, outcome.artifact
    for i, request in left.items():
        try:
            yield i, compile_request(request)
        except TilewrightError as error:
            yield i, error

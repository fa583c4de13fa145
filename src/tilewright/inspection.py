"""What a compiled model and a records database consist of, for a person to read.

plan = plan_of(load("resnet50.onnx"), db="tuning.db")      kernels, their origin, memory
programs = list_programs(database)                         one line a task
program = find_program(database, "conv_relu")              the best of one task, layer by layer
print(program.layers.text("nest"))
onnx_operators()                                           the supported operators, and the others
write_report("tuning.db", "report.html")                   a page with all of it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from tilewright.build.layers import Layers
from tilewright.errors import InputError, RecordsError, TargetError, TilewrightError, VerifyError
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import static_shape
from tilewright.expr.serialize import dag_from_json
from tilewright.graph.executor import link
from tilewright.graph.linker import Linker
from tilewright.graph.memory import Memory
from tilewright.graph.onnx_support import Operator, operators
from tilewright.kernels import build_all, find_match, kernel_name, open_records
from tilewright.machine import as_target, machine_of
from tilewright.models import Model, Task
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import Coverage, Trial, WorkloadRow
from tilewright.report.history import History, Program, read_history
from tilewright.runtime.artifact import Artifact
from tilewright.schedule.trace import trace_from_json
from tilewright.search.tasks import TuningTask
from tilewright.target import Target
from tilewright.tuning_tasks import tasks_of


def onnx_operators() -> list[Operator]:
    """Every operator of ONNX's default domain: how it is supported, or why not."""
    return operators()


# ---- the plan of a compiled model -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlannedKernel:
    """One kernel. `latency_s` is the record's, a call; None for a default program.

    `note` says what is not as it should be: no record, or one of another machine.
    """

    name: str
    calls: int
    flops: int
    tuned: bool
    latency_s: float | None
    code_bytes: int
    scratch_bytes: int
    note: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled model: its kernels, and the memory of a run."""

    target: Target
    kernels: tuple[PlannedKernel, ...]
    memory: Memory

    @property
    def calls(self) -> int:
        """Kernel calls of one run."""
        return sum(k.calls for k in self.kernels)

    @property
    def latency_s(self) -> float | None:
        """The sum of all calls' recorded latencies; None while a kernel has none."""
        known = [k.calls * k.latency_s for k in self.kernels if k.latency_s is not None]
        return sum(known) if len(known) == len(self.kernels) else None


def plan_of(
    model: Task | Model, db: str | Path | None = None, target: Target | str | None = None
) -> Plan:
    """Compile every kernel of `model` for `target` (which need not be this machine) and link them.

    Raises what `compile` raises, but needs no machine that can run the code.
    """
    chosen = as_target(target)
    model = model if isinstance(model, Task) else model.for_target(chosen)
    tasks = tasks_of(model)
    with open_records(db) as database:
        matches = [find_match(t, database, chosen) for t in tasks]
    trials = [m.trial for m in matches]
    traces = [None if t is None else trace_from_json(t.trace) for t in trials]
    artifacts = build_all(tasks, traces, chosen)
    kernels = tuple(
        _planned(task, trial, match.note, artifacts[task.alone])
        for task, trial, match in zip(tasks, trials, matches, strict=True)
    )
    if isinstance(model, Model):
        linker = Linker(model.partition, artifacts, chosen)
        memory = Memory.of(link(linker), linker.plan.arena_bytes)
    else:
        memory = Memory.of(artifacts[tasks[0].alone])
    return Plan(chosen, kernels, memory)


def _planned(task: TuningTask, trial: Trial | None, note: str, artifact: Artifact) -> PlannedKernel:
    return PlannedKernel(
        name=task.name,
        calls=int(task.weight),
        flops=task.flops,
        tuned=trial is not None,
        latency_s=None if trial is None else trial.latency_s,
        code_bytes=len(artifact.object_code),
        scratch_bytes=artifact.scratch_bytes,
        note=note,
    )


# ---- the programs of a database -------------------------------------------------------------


@dataclass(frozen=True)
class RecordedProgram:
    """A recorded trial with everything needed to print its program."""

    workload: WorkloadRow
    machine: Machine | None
    trial: Trial
    layers: Layers


def list_programs(database: Database) -> tuple[Coverage, ...]:
    """What is known of every task on every machine, in the order `find_program` numbers them."""
    return database.summary().coverage


def find_program(
    database: Database,
    task: str | None = None,
    trial: int | None = None,
    target: Target | str | None = None,
) -> RecordedProgram:
    """The best program of a task, or the trial of a given number.

    `task` is a name, the beginning of a workload's hash, or a position in `list_programs` from 1;
    None is the only task. IR is made for `target` (None: this machine, or the device it was
    measured on). Raises RecordsError when there is no such trial, InputError when `task` fits none
    or several.
    """
    found = _best(database, task) if trial is None else database.trial(trial)
    if found is None:
        raise RecordsError(
            f"{database.name} has no trial {trial}; `tilewright records` shows what it has"
        )
    workload = database.workload(found.workload_hash)
    assert workload is not None, "a trial's workload is kept with it"
    machine = next((m for m in database.machines() if m.fingerprint == found.machine), None)
    is_device = target is None and machine is not None and machine.kind != "cpu"
    layers = Layers(
        dag_from_json(workload.dag),
        trace_from_json(found.trace),
        _target(machine) if is_device and machine is not None else as_target(target),
        kernel_name(workload.name),
    )
    return RecordedProgram(workload, machine, found, layers)


def _best(database: Database, task: str | None) -> Trial:
    """The best trial of the line that `task` names, else its first failed one."""
    line = _line(list_programs(database), task, database.name)
    best = database.best(line.workload_hash, line.machine)
    return best or next(database.trials(line.workload_hash, line.machine))


def _line(lines: Sequence[Coverage], task: str | None, name: str) -> Coverage:
    if not lines:
        raise InputError(f"{name} holds no trials: tune something first")
    if task is None and len(lines) == 1:
        return lines[0]
    if task is not None and task.isdecimal() and 1 <= int(task) <= len(lines):
        return lines[int(task) - 1]
    exact = [c for c in lines if task is not None and c.name == task]
    fits = exact or [c for c in lines if task is not None and _fits(c, task)]
    if len({c.workload_hash for c in fits}) == 1:
        # one task on several machines: the machine where it is fastest
        return min(fits, key=lambda c: c.best_s if c.best_s is not None else float("inf"))
    listed = "".join(f"\n  {i} {c.name} ({c.workload_hash[:8]})" for i, c in enumerate(lines, 1))
    asked = "which task?" if task is None else f"no single task fits {task!r}:"
    raise InputError(f"{asked} {name} has{listed}")


def _fits(line: Coverage, task: str) -> bool:
    return task in line.name or line.workload_hash.startswith(task)


# ---- the page about a database ------------------------------------------------------------------


def write_report(db: str | Path, out: str | Path, machine: str | None = None) -> History:
    """Write one HTML page about the tuning of a machine; returns what it shows.

    `machine` is the beginning of a fingerprint; None is the machine with the newest trials. Raises
    RecordsError for a database that cannot be read, InputError when it holds no trials (of that
    machine), when the page cannot be written there, or when its libraries are not installed.
    """
    from tilewright.report import page  # an optional extra brings what it needs

    if Path(out).resolve() == Path(db).resolve():
        raise InputError(f"the page would replace the database {db}: name another file for it")
    with Database.open(db, create=False, readonly=True) as database:
        chosen = _machine(database, machine)
        history = read_history(
            database, chosen, _programs(database, chosen), Path(database.name).name
        )
    page.write(page.render(history), Path(out))
    return history


def _machine(database: Database, wanted: str | None) -> Machine:
    """The machine whose fingerprint begins so; None: the one measured last."""
    newest: dict[str, float] = {}
    for line in list_programs(database):
        newest[line.machine] = max(line.last_at, newest.get(line.machine, 0.0))
    known = [m for m in database.machines() if m.fingerprint in newest]
    if not known:
        raise InputError(f"{database.name} holds no trials: tune something first")
    if wanted is None:
        return max(known, key=lambda m: newest[m.fingerprint])
    fits = [m for m in known if m.fingerprint.startswith(wanted)]
    if len(fits) != 1:
        listed = "".join(f"\n  {m.fingerprint[:8]} {m}" for m in known)
        raise InputError(f"no single machine fits {wanted!r}; {database.name} has{listed}")
    return fits[0]


def _programs(database: Database, machine: Machine) -> dict[str, Program]:
    """The printed forms of every task's best program on a machine, by workload hash."""
    target = _target(machine)
    found = {}
    for line in list_programs(database):
        workload = database.workload(line.workload_hash)
        if line.machine == machine.fingerprint and workload is not None:
            trial = database.best(line.workload_hash, line.machine)
            found[workload.hash] = _printed(workload, trial, target)
    return found


def _target(machine: Machine) -> Target:
    """A target for which to print what ran on `machine`: its own, or this machine's."""
    here = as_target(None)
    if machine_of(here) == machine:
        return here
    # `machine_of` keeps LLVM's features of a CPU, and all facts of another device.
    facts = () if machine.kind == "cpu" else machine.features
    try:
        return Target.parse(
            " ".join([f"{machine.kind}:{machine.cpu}", f"cores={machine.cores}", *facts])
        )
    except TargetError:
        return here


def _printed(workload: WorkloadRow, trial: Trial | None, target: Target) -> Program:
    """The forms of one program; of a record that this version cannot print, why not."""
    name = kernel_name(workload.name)
    try:
        dag = dag_from_json(workload.dag)
        task = Program(least_bytes=least_bytes(dag), math=Layers(dag, (), target, name).nest)
        if trial is None:
            return replace(task, note="No program worked.")
        layers = Layers(dag, trace_from_json(trial.trace), target, name)
        sketch, values = layers.decided or (None, {})
        return replace(
            task,
            sketch=(sketch.name or "plain loops") if sketch else layers.sketch,
            decisions=tuple(values.items()),
            steps=layers.trace,
            nest=layers.nest,
            ir=layers.ir,
            target=f"{target.kind}:{target.name}",
        )
    except VerifyError:
        raise
    except (TilewrightError, ValueError, KeyError) as error:
        return Program(note=f"This version of Tilewright cannot print the program: {error}")


def least_bytes(dag: ComputeDAG) -> int:
    """Bytes of all inputs, constants and outputs, each once."""
    return sum(_bytes(t) for t in (*dag.inputs, *dag.constants, *dag.outputs))


def _bytes(tensor: Tensor) -> int:
    return tensor.dtype.bits * prod(static_shape(tensor)) // 8

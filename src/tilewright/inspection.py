"""What a compiled model and a records database consist of, for a person to read.

plan = plan_of(load("resnet50.onnx"), db="tuning.db")      kernels, their origin, memory
programs = list_programs(database)                         one line a task
program = find_program(database, "conv_relu")              the best of one task, layer by layer
print(program.layers.text("nest"))
onnx_operators()                                           the supported operators, and the others
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tilewright.api import (
    as_target,
    build_all,
    find_match,
    kernel_name,
    open_records,
    tasks_of,
)
from tilewright.build.layers import Layers
from tilewright.errors import InputError, RecordsError
from tilewright.expr.serialize import dag_from_json
from tilewright.graph.executor import Linker, link
from tilewright.graph.memory import Memory
from tilewright.graph.onnx_support import Operator, operators
from tilewright.models import Model, Task
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import Coverage, Trial, WorkloadRow
from tilewright.runtime.artifact import Artifact
from tilewright.schedule.trace import trace_from_json
from tilewright.search.tasks import TuningTask
from tilewright.target import Target


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
    tasks = tasks_of(model)
    with open_records(db) as database:
        matches = [find_match(t, database, chosen) for t in tasks]
    trials = [m.trial for m in matches]
    traces = [None if t is None else trace_from_json(t.trace) for t in trials]
    artifacts = build_all(tasks, traces, chosen, network=isinstance(model, Model))
    kernels = tuple(
        _planned(task, trial, match.note, artifacts[task.hash])
        for task, trial, match in zip(tasks, trials, matches, strict=True)
    )
    if isinstance(model, Model):
        linker = Linker(model.partition, artifacts)
        memory = Memory.of(link(linker, chosen), linker.plan.arena_bytes)
    else:
        memory = Memory.of(artifacts[tasks[0].hash])
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
    None is the only task. IR is made for `target` (None: this machine). Raises RecordsError when
    there is no such trial, InputError when `task` fits none or several.
    """
    found = _best(database, task) if trial is None else database.trial(trial)
    if found is None:
        raise RecordsError(
            f"{database.name} has no trial {trial}; `tilewright records` shows what it has"
        )
    workload = database.workload(found.workload_hash)
    assert workload is not None, "a trial's workload is kept with it"
    machine = next((m for m in database.machines() if m.fingerprint == found.machine), None)
    layers = Layers(
        dag_from_json(workload.dag),
        trace_from_json(found.trace),
        as_target(target),
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

"""What a compiled model and a records database consist of, for a person to read.

plan = plan_of(load("resnet50.onnx"), db="tuning.db")      kernels, their origin, memory
programs = list_programs(database)                         one line a task
program = find_program(database, "conv_relu")              the best of one task, layer by layer
print(program.layers.text("nest"))
onnx_operators()                                           the supported operators, and the others
write_report("tuning.db", "report.html")                   a page with all of it
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tilewright.build.layers import Layers
from tilewright.build.library import linker_for
from tilewright.contract.sizes import Sizes, points_text, timed_points
from tilewright.expr.dag import ComputeDAG, stage_flops
from tilewright.expr.rewrites.winograd import Convolution, find, multiply_adds, rewrite
from tilewright.expr.serialize import dag_from_json
from tilewright.front.compilation import compiled
from tilewright.front.kernels import kernel_name, plan_of_task
from tilewright.front.machine import as_target, machine_of
from tilewright.front.models import Model, Task, Tunable
from tilewright.front.precision import gain_of, summary
from tilewright.front.tuning_tasks import merged, parts_of
from tilewright.graph.onnx.file import inputs_of, weights_beside
from tilewright.graph.onnx.support import OnnxOperator, operators
from tilewright.ground.errors import (
    InputError,
    RecordsError,
    TargetError,
    TilewrightError,
    VerifyError,
)
from tilewright.ground.files import database_files, refuse_output
from tilewright.network.plan import Plan
from tilewright.records.answers import Coverage
from tilewright.records.database import Database
from tilewright.records.exchange import ImportedRecords
from tilewright.records.machine import Machine
from tilewright.records.provenance import network_key
from tilewright.records.rows import MEASURED, FactsRow, Trial, WorkloadRow
from tilewright.report.history import History
from tilewright.report.reading import read_history
from tilewright.report.tasks import PrintedProgram
from tilewright.runtime.library import refuse_library
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step, Winograd
from tilewright.schedule.trace import gene_of
from tilewright.search.model.imported import ImportCheck
from tilewright.target import Target

PAGE_SUFFIXES = (".html", ".htm", "")


def onnx_operators() -> list[OnnxOperator]:
    """Every operator of ONNX's default domain: how it is supported, or why not."""
    return operators()


def weight_files(model: Path) -> list[Path]:
    """The files that an ONNX model keeps weights in. Raises UnsupportedModel."""
    return weights_beside(model)


def model_inputs(model: Path) -> list[Any]:
    """The inputs of an ONNX file as it has them. Raises UnsupportedModel."""
    return list(inputs_of(model))


def refuse_saving(path: Path, target: Target) -> Path:
    """Raise what saving a library for `target` to `path` would: InputError for the path,
    TargetError for what is no CPU, BuildError without a compiler that links for it; returns the
    path of its header.
    """
    header = refuse_library(path)
    linker_for(target)
    return header


# ---- the plan of a compiled model -----------------------------------------------------------


def plan_of(
    model: Task | Model, db: str | Path | None = None, target: Target | str | None = None
) -> Plan:
    """Compile every kernel of `model` for `target` (which need not be this machine) and link them.

    Raises what `compile` raises, but needs no machine that can run the code.
    """
    chosen = as_target(target)
    if isinstance(model, Task):
        return plan_of_task(model, db, chosen)
    return compiled(model, db, chosen, progress=False).plans[0]


# ---- the programs of a database -------------------------------------------------------------


@dataclass(frozen=True)
class RecordedProgram:
    """A recorded trial with everything needed to print its program.

    `reused` is the task near whose programs its own search began, if it did: itself where they were
    another machine's. `note` says which better ones cannot be printed, and why. Those with `sizes`
    have latencies at their points.
    """

    workload: WorkloadRow
    machine: Machine | None
    trial: Trial
    layers: Layers
    reused: WorkloadRow | None = None
    note: str = ""

    @property
    def sizes(self) -> Sizes:
        """Those of its workload."""
        return self.layers.dag.sizes

    @property
    def points_s(self) -> tuple[tuple[str, float], ...]:
        """Seconds at values of the sizes, in words."""
        return points_text(self.sizes, self.trial.points_s)


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

    `task` is a name or a part of it (`t2`: its first word), the beginning of a workload's hash, or
    a position in `list_programs` from 1; None is the only task. IR is made for `target` (None: this
    machine, or the device it was measured on). A task's trial that gives no program is passed over.
    Raises RecordsError when there is no such trial, or it gives no program, InputError when `task`
    fits none or several.
    """
    if trial is None:
        return _best(database, find_task(database, task), target)
    found = database.trial(trial)
    if found is None:
        raise RecordsError(
            f"{database.name} has no trial {trial}; `tilewright records` shows what it has"
        )
    return _program(database, found, target)


def _best(database: Database, line: Coverage, target: Target | str | None) -> RecordedProgram:
    """The best program of a line, else that of its first failed trial."""
    refused: list[int] = []
    note = ""
    while True:
        best = database.best(line.workload_hash, line.machine, without=refused)
        if best is None and not refused:
            best = next(database.trials(line.workload_hash, line.machine))
        if best is None or best.id is None:
            raise RecordsError(f"{note}; it has no other")
        try:
            return replace(_program(database, best, target), note=note)
        except RecordsError as error:
            refused.append(best.id)
            note = str(error)


def _program(database: Database, found: Trial, target: Target | str | None) -> RecordedProgram:
    """A trial's program; RecordsError if its gene gives none."""
    workload = database.workload(found.workload_hash)
    assert workload is not None, "a trial's workload is kept with it"
    machine = next((m for m in database.machines() if m.fingerprint == found.machine), None)
    is_device = target is None and machine is not None and machine.kind != "cpu"
    chosen = _target(machine) if is_device and machine is not None else as_target(target)
    try:
        dag = dag_from_json(workload.dag)
        layers = Layers(dag, found.gene, chosen, kernel_name(workload.name))
        assert layers.nest
    except TilewrightError as error:
        raise RecordsError(
            f"{workload.name}: trial {found.id} of {database.name} gives no program: {error}"
        ) from error
    step = database.reused(found.machine).get(workload.hash)
    reused = database.workload(step.source_hash) if step and step.source_hash else None
    return RecordedProgram(workload, machine, found, layers, reused)


def find_task(database: Database, task: str | None) -> Coverage:
    """The line of `list_programs` that `task` names, as `find_program` takes it; raises InputError
    when it fits none or several.
    """
    lines, name = list_programs(database), database.name
    if not lines:
        raise InputError(f"{name} holds no trials: tune something first")
    if task is None and len(lines) == 1:
        return lines[0]
    if task is not None and task.isdecimal() and 1 <= int(task) <= len(lines):
        return lines[int(task) - 1]
    fits = _fitting(lines, task) if task is not None else []
    if len({c.workload_hash for c in fits}) == 1:
        # one task on several machines: the machine where it is fastest
        return min(fits, key=lambda c: c.best_s if c.best_s is not None else float("inf"))
    listed = "".join(
        f"\n  {i} {c.name} ({c.workload_hash[:8]})"
        for i, c in enumerate(lines, 1)
        if not fits or c in fits
    )
    if fits:
        raise InputError(f"several tasks fit {task!r}; name one, or its number:{listed}")
    asked = "which task?" if task is None else f"no task fits {task!r}:"
    raise InputError(f"{asked} {name} has{listed}")


def _fitting(lines: Sequence[Coverage], task: str) -> list[Coverage]:
    """Those of that name; else whose name begins with it as a word; else that hold it at all."""
    ways: tuple[Callable[[Coverage], bool], ...] = (
        lambda c: c.name == task,
        lambda c: c.name.startswith(f"{task}_"),
        lambda c: task in c.name or c.workload_hash.startswith(task),
    )
    return next(filter(None, ([c for c in lines if fits(c)] for fits in ways)), [])


def import_records(database: Database, file: str | Path) -> ImportedRecords:
    """Merge what `tilewright export` wrote. Raises RecordsError, naming the line, where it is wrong
    or a program does not fit its workload; what came before that line may be kept.
    """
    return database.import_(file, ImportCheck(database))


# ---- the page about a database ------------------------------------------------------------------


def write_report(db: str | Path, out: str | Path, machine: str | None = None) -> History:
    """Write one HTML page about the tuning of a machine; returns what it shows.

    `machine` is the beginning of a fingerprint; None is the machine with the newest trials. Raises
    RecordsError for a database that cannot be read, InputError when it holds no trials (of that
    machine), when the page cannot be written there, or when its libraries are not installed.
    """
    from tilewright.report import page  # an optional extra brings what it needs

    refuse_output(Path(out), PAGE_SUFFIXES, {"the database": database_files(db)})
    with Database.open(db, create=False, readonly=True) as database:
        chosen = _machine(database, machine)
        history = read_history(
            database, chosen, _programs(database, chosen), Path(database.name).name
        )
    page.write(page.render(history), Path(out))
    return history


def keep_measured(
    db: str | Path,
    plan: Plan,
    latencies_s: Mapping[str, float],
    target: Target | str | None = None,
) -> None:
    """Record what a whole network of that plan took, for the page to show beside the estimate.

    `latencies_s` are by program: "untuned", "tuned", and others that took turns with them. A
    database that cannot be written stays as it is.
    """
    key = network_key([(kernel.task, kernel.calls) for kernel in plan.kernels])
    machine = machine_of(as_target(target))
    facts: dict[str, str | float] = {"network": key, **latencies_s}
    with suppress(RecordsError), Database.open(db, create=False) as database:
        database.add_machine(machine)
        database.keep(FactsRow(machine.fingerprint, MEASURED, time.time(), facts))


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
        listed = "".join(f"\n  {m}" for m in known)
        raise InputError(f"no single machine fits {wanted!r}; {database.name} has{listed}")
    return fits[0]


def _programs(database: Database, machine: Machine) -> dict[str, PrintedProgram]:
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
    words = [f"{machine.kind}:{machine.cpu}", f"cores={machine.cores}", *facts]
    try:
        return Target.parse(" ".join(words))
    except TargetError:
        return here


def precisions(models: Sequence[Tunable], target: Target) -> dict[str, list[str]]:
    """Names of models' tasks by how their contractions run on a target (`front.precision`)."""
    return summary(merged(parts_of(models, target))[0], target)


def sizes_of(models: Sequence[Tunable], target: Target) -> list[str]:
    """The ranges of models' sizes, and where programs are timed."""
    found = {s: None for task in merged(parts_of(models, target))[0] for s in task.dag.sizes}
    return [f"{s}, timed at {', '.join(str(n) for n, _ in s.measured)}" for s in found]


def _printed(workload: WorkloadRow, trial: Trial | None, target: Target) -> PrintedProgram:
    """The forms of one program; of a record that this version cannot print, why not."""
    name = kernel_name(workload.name)
    try:
        dag = dag_from_json(workload.dag)
        task = PrintedProgram(
            least_bytes=_least_bytes(dag),
            sizes=", ".join(map(str, dag.sizes)),
            math=Layers(dag, gene_of(()), target, name).nest,
            gain=gain_of(dag, target),
        )
        if trial is None:
            return replace(task, note="No program worked.")
        layers = Layers(dag, trial.gene, target, name)
        task = replace(task, own_flops=winograd_flops(dag, layers.steps))
        return replace(
            task,
            sketch=layers.sketch_name,
            points_s=points_text(dag.sizes, trial.points_s),
            decisions=tuple(layers.decisions),
            steps=layers.trace,
            nest=layers.nest,
            ir=layers.ir,
            target=f"{target.kind}:{target.name}",
        )
    except VerifyError:
        raise
    except (TilewrightError, ValueError, KeyError) as error:
        return PrintedProgram(note=f"This version of Tilewright cannot print the program: {error}")


def _least_bytes(dag: ComputeDAG) -> int:
    """Bytes of inputs and outputs, the mean over points where there are sizes: so are latencies."""
    points = timed_points(dag.sizes)
    if not points:
        return dag.least_bytes
    return round(sum(p.weight * dag.at(p.values).least_bytes for p in points))


def winograd_flops(dag: ComputeDAG, steps: Sequence[Step]) -> int | None:
    """Operations of a program in Winograd's form, a multiply-add counted as 2; None for others,
    whose operations are those of the math.
    """
    last = max((i for i, step in enumerate(steps) if isinstance(step, Winograd)), default=-1)
    if last < 0:
        return None
    state, flops = State(dag), float(dag.useful_flops)
    for step in steps[: last + 1]:
        if isinstance(step, Winograd) and (found := find(state[step.stage].compute)) is not None:
            tensor = state[step.stage].tensor
            windows = tuple(w for w in found.windows if w.axis in step.axes)
            new = rewrite(tensor, Convolution(found.data, found.weights, windows), step.tile)
            flops += 2 * multiply_adds(new, len(windows), step.tile) - stage_flops(tensor)
        state.apply(step)
    return round(flops)

"""Compiled kernels: the best recorded program of every task, or its default program.

compiled = build_networks(model, "tuning.db", target)             networks, plans, notes
matches, kernels = build_recorded(tasks, "tuning.db", target)     artifacts by task
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from tilewright.build import compile_request, make_request
from tilewright.contract.artifact import Artifact
from tilewright.contract.cache import ArtifactCache
from tilewright.contract.gene import Gene
from tilewright.contract.sizes import points_text
from tilewright.cost.resources import runs_on
from tilewright.cutlass import refusal
from tilewright.expr.access import has_data_reuse
from tilewright.expr.serialize import extents
from tilewright.front.machine import machine_of
from tilewright.front.models import Model, ModelSet, Task
from tilewright.front.tuning_tasks import merged, parts_of, tasks_of
from tilewright.ground import log
from tilewright.ground.errors import RunError, TilewrightError
from tilewright.ground.settings import Settings
from tilewright.ground.text import count
from tilewright.measure.pools import BuilderPool, Built
from tilewright.network.kept import CompiledNetworks
from tilewright.network.link import linked, unpacked
from tilewright.network.memory_use import MemoryUse
from tilewright.network.plan import Plan, PlannedKernel
from tilewright.records.database import Database
from tilewright.records.matching import RecordMatch, find_record
from tilewright.records.rows import Trial, WorkloadRow
from tilewright.runtime.constants import ConstantPool
from tilewright.schedule.producers import lowered_of
from tilewright.schedule.trace import template_of
from tilewright.search.reuse.carry import Carrier
from tilewright.search.tasks import TuningTask
from tilewright.space.space import natives_of
from tilewright.space.templates import unproved
from tilewright.target import GpuTarget, Target, available_cores


def kernel_name(task: str) -> str:
    """A task's name as a symbol."""
    return re.sub(r"\W", "_", task, flags=re.ASCII)


Told: TypeAlias = Callable[[int, int], None]
"""Hears that so many kernels are ready, of so many."""


def unheard(done: int, total: int) -> None:
    """Nobody hears it."""


def records_state(db: str | Path | None) -> str:
    """A digest of everything in a database that programs are chosen by."""
    with open_records(db) as database:
        return "" if database is None else database.state()


# ---- records ----------------------------------------------------------------------------------


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
) -> RecordMatch:
    """The record to compile a task with; its trial is None where the default program serves.

    A task of a network that has none takes that of the same computation by itself. Trials whose
    ids are in `without` are passed over.
    """
    if database is None:
        return RecordMatch(None, False, "")
    machine, size = machine_of(target), tuple(extents(task.dag.heaviest))

    def runs(trial: Trial) -> bool:
        if not isinstance(target, GpuTarget):
            return True  # to be short of registers is slow on a CPU
        try:
            program = lowered_of(task.dag, trial.gene, task.name).program
        except TilewrightError:
            return True  # building it says what is wrong with it
        return runs_on(program, target)

    rows = [
        WorkloadRow(h, task.name, "", task.structure, size, task.flops)
        for h in dict.fromkeys((task.hash, task.computation))
    ]
    found = [find_record(database, row, machine, runs, without) for row in rows]
    return max(found, key=lambda m: (m.trial is not None, m.exact))


def notes_of(tasks: Sequence[TuningTask], matches: Sequence[RecordMatch]) -> list[str]:
    """What is not as it should be: one sentence for all tasks of which the same is true."""
    named: dict[str, list[str]] = {}
    for task, match in zip(tasks, matches, strict=True):
        if match.note:
            named.setdefault(match.note, []).append(task.name)
    whom = {note: _whom(names, len(tasks)) for note, names in named.items()}
    return [*(f"{whom[note]}: {note}" for note in named), *_unproved(matches)]


def _whom(names: Sequence[str], total: int) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} of {count(total, 'kernel')}"


def remarks(
    tasks: Sequence[TuningTask], matches: Sequence[RecordMatch]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is not as it should be: all notes, and the warnings for who does not hear these."""
    for task, match in zip(tasks, matches, strict=True):
        if match.detail:
            log.debug("%s: %s", task.name, match.detail)
    notes = tuple(notes_of(tasks, matches))
    warnings = []
    refused = [m.note for m in matches if m.refused]
    if refused:
        warnings.append(
            f"{len(refused)} of {len(matches)} programs are not the best recorded; see all with "
            f"notes=print. {refused[0]}"
        )
    foreign = [m.note for m in matches if m.trial is not None and not m.exact]
    if foreign:
        warnings.append(
            f"{len(foreign)} of {len(matches)} programs were recorded on another machine; tune on "
            f"this one, or see all with notes=print. {foreign[0]}"
        )
    return notes, tuple(warnings)


def _unproved(matches: Sequence[RecordMatch]) -> Iterator[str]:
    """A sentence on templates that are left out, if any are."""
    waiting = [m for m in matches if m.gene is None and m.unproved]
    if waiting:
        names = ", ".join(dict.fromkeys(name for m in waiting for name in m.unproved))
        yield (
            f"{len(waiting)} of {len(matches)} programs are of no template: none of {names} was "
            "ever measured to be right on this device; tune on it"
        )


# ---- building ---------------------------------------------------------------------------------


MOST_REFUSED = 8
"""Records of a task that are tried before its default program is taken."""


def build_networks(
    model: Model | ModelSet,
    db: str | Path | None,
    target: Target,
    pool: ConstantPool | None = None,
    told: Told = unheard,
) -> CompiledNetworks:
    """The networks of a model, one for each shape, with plans for people and notes. Those of a
    ModelSet, or made with one `pool`, store equal packed constants once; else constants are not
    packed yet.
    """
    parts = [m for m in parts_of([model], target) if isinstance(m, Model)]
    tasks, groups = merged(parts)
    matches, kernels = build_recorded(tasks, db, target, told)
    common = ConstantPool() if isinstance(model, ModelSet) else pool
    networks, plans, weights = [], [], []
    for part, group in zip(parts, groups, strict=True):
        if common is None:
            network, constants = unpacked(part.partition, kernels, target)
            weights.append(constants)
        else:
            network = linked(part.partition, kernels, target, common)
        planned = tuple(
            _planned(tasks[i], int(weight), matches[i], kernels[tasks[i].computation])
            for i, weight in zip(group.tasks, group.weights, strict=True)
        )
        mine = [tasks[i] for i in group.tasks]
        told_of = tuple(notes_of(mine, [matches[i] for i in group.tasks]))
        verdicts: dict[str, list[str]] = {}
        for link in part.partition.links:
            verdicts.setdefault(link.verdict, []).append(str(link))
        networks.append(network)
        apart = untemplated(mine, target)
        sizes = part.partition.graph.sizes
        plans.append(Plan(planned, network.memory, told_of, verdicts, apart, sizes))
    said = remarks(tasks, matches)
    return CompiledNetworks(tuple(networks), tuple(plans), *said, tuple(weights))


def _planned(task: TuningTask, calls: int, match: RecordMatch, artifact: Artifact) -> PlannedKernel:
    return PlannedKernel(
        name=task.name,
        calls=calls,
        flops=task.flops,
        program=match.program,
        latency_s=None if match.trial is None else match.trial.latency_s,
        code_bytes=len(artifact.object_code),
        scratch_bytes=artifact.scratch_bytes,
        task=task.hash,
        points_s=points_text(task.dag.sizes, () if match.trial is None else match.trial.points_s),
    )


def untemplated(tasks: Sequence[TuningTask], target: Target) -> dict[str, list[str]]:
    """Names of tasks with a contraction that none of the target's templates computes, by the
    reason; nothing where it has no templates.
    """
    found: dict[str, list[str]] = {}
    for task in tasks if target.backend.templates is not None else ():
        stages = task.dag.heaviest.stages
        if any(map(has_data_reuse, stages)) and (reason := refusal(task.dag, target)):
            found.setdefault(reason, []).append(task.name)
    return found


def plan_of_task(task: Task, db: str | Path | None, target: Target) -> Plan:
    """The plan of an operator by itself."""
    (tuned,) = tasks_of(task)
    matches, kernels = build_recorded([tuned], db, target)
    artifact = kernels[tuned.computation]
    planned = _planned(tuned, 1, matches[0], artifact)
    notes = tuple(notes_of([tuned], matches))
    apart = untemplated([tuned], target)
    return Plan((planned,), MemoryUse.of(artifact), notes, {}, apart, tuned.dag.sizes)


def build_recorded(
    tasks: Sequence[TuningTask], db: str | Path | None, target: Target, told: Told = unheard
) -> tuple[list[RecordMatch], dict[str, Artifact]]:
    """The best records of all tasks and their kernels. A record that no program can be built from
    gives way to the next best, in the end to the default program, and the match's note says so.
    `told` hears how many kernels there are of how many.
    """
    with open_records(db) as database:
        matches = [find_match(t, database, target) for t in tasks]
        if database is not None:
            carrier = Carrier(database, machine_of(target), target)
            matches = [_carried(*pair, carrier) for pair in zip(tasks, matches, strict=True)]
        matches = [_offered(*pair, target) for pair in zip(tasks, matches, strict=True)]
        while True:
            refused: dict[int, TilewrightError] = {}
            kernels = build_all(tasks, [m.gene for m in matches], target, refused, told)
            if not refused:
                return matches, kernels
            for i, error in refused.items():
                matches[i] = _next_best(tasks[i], matches[i], error, database, target)


def _carried(task: TuningTask, match: RecordMatch, carrier: Carrier) -> RecordMatch:
    """The same, with a relative's program where the task has no record and that one promises."""
    found = None if match.trial is not None else carrier.program(task)
    if found is None:
        return match
    note = f"{match.note}; a program of another task serves, which was not measured for it"
    detail = f"{match.detail or match.note}; it takes a program of {found.source}"
    return replace(match, carried=found.gene, note=note, detail=detail)


def _offered(task: TuningTask, match: RecordMatch, target: Target) -> RecordMatch:
    """The same, with the first program that templates of vendors offer where there is no other: no
    sketch is as good before it is searched. A template must have been right on the device.
    """
    if match.gene is not None:
        return match
    vendors = [(template_of(gene), gene) for gene in natives_of(task.dag, target)]
    good = (gene for name, gene in vendors if name and target.has_passed(name))
    waiting = [name for name, _ in vendors if name and not target.has_passed(name)]
    left_out = dict.fromkeys([*waiting, *unproved(task.dag, target)])
    return replace(match, offered=next(good, None), unproved=tuple(left_out))


def _next_best(
    task: TuningTask,
    match: RecordMatch,
    error: TilewrightError,
    database: Database | None,
    target: Target,
) -> RecordMatch:
    """What to take instead of a record that cannot be used because of `error`."""
    if match.trial is None:
        note = f"{match.note}, but cannot be used ({error}); using the default program"
        return replace(match, carried=None, offered=None, note=note)
    assert match.trial.id is not None and database is not None
    ids = (*match.refused, match.trial.id)
    found = RecordMatch(None, False, "")
    if len(ids) < MOST_REFUSED:
        found = find_match(task, database, target, ids)
    instead = "the default program" if found.trial is None else f"trial {found.trial.id}"
    listed = f"trial{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}"
    note = f"{listed} of {database.name} cannot be used ({error}); using {instead}"
    return _offered(task, replace(found, note=note, refused=ids), target)


def build_all(
    tasks: Sequence[TuningTask],
    genes: Sequence[Gene | None],
    target: Target,
    refused: dict[int, TilewrightError] | None = None,
    told: Told = unheard,
) -> dict[str, Artifact]:
    """One artifact a task, by the hash `TuningTask.computation`; compiled ones are kept in the
    user's cache. None is the default program.

    What genes fail with goes to `refused` by the number of the task, if it is given; else it is
    raised.
    """
    settings, cache = Settings.from_environment(), ArtifactCache.of_user()
    artifacts: dict[str, Artifact] = {}
    missing: list[tuple[int, str]] = []  # number and key of a task
    requests = []
    for number, (task, gene) in enumerate(zip(tasks, genes, strict=True)):
        name = f"{kernel_name(task.name)}_{number}"
        # Equal work under other names is another artifact: its buffers are known by name.
        dag = task.dag
        names = (t.name for t in (*dag.inputs, *dag.constants, *dag.outputs))
        built_for = f"{target} prefetch={task.setting.prefetch_bytes}"
        text = None if gene is None else gene.text
        key = cache.key(" ".join((task.hash, *names)), text, built_for, name)
        known = cache.get(key)
        if known is not None:
            artifacts[task.computation] = known
        else:
            missing.append((number, key))
            requests.append(make_request(dag, gene, target, name, task.setting))
    if missing:
        told(len(artifacts), len(tasks))
    # What `TILEWRIGHT_SHOW` asks for is printed by this process, in the order of the tasks.
    for i, built in _compiled(requests, processes=1 if settings.show else available_cores()):
        number, key = missing[i]
        told(len(artifacts) + 1, len(tasks))
        if isinstance(built, TilewrightError):
            if refused is None or genes[number] is None:
                raise built
            refused[number] = built
            continue
        cache.put(key, built)
        artifacts[tasks[number].computation] = Artifact.from_bytes(built)
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

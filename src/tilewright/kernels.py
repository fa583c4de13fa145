"""Compiled kernels: the best recorded program of every task, or its default program.

with open_records("tuning.db") as database:
    matches = [find_match(task, database, target) for task in tasks]
tell(matches, notes)
kernels = build_all(tasks, traces, target)          artifacts, from the user's cache if there
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tilewright.build import compile_request, make_request
from tilewright.build.cache import ArtifactCache
from tilewright.errors import RunError
from tilewright.expr.serialize import extents
from tilewright.log import log
from tilewright.machine import machine_of
from tilewright.measure.pools import BuilderPool, Built
from tilewright.records.database import Database
from tilewright.records.matching import Match, find_record
from tilewright.records.rows import Trial, WorkloadRow
from tilewright.runtime.artifact import Artifact
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step
from tilewright.schedule.trace import trace_from_json, trace_to_json
from tilewright.search.tasks import TuningTask
from tilewright.settings import Settings
from tilewright.space.resources import runs_on
from tilewright.target import Target, available_cores


def kernel_name(task: str) -> str:
    """A task's name as a symbol."""
    return re.sub(r"\W", "_", task, flags=re.ASCII)


# ---- records ----------------------------------------------------------------------------------


@contextlib.contextmanager
def open_records(db: str | Path | None) -> Iterator[Database | None]:
    """The database to compile from, for reading; None without one."""
    if db is None:
        yield None
        return
    with Database.open(db, create=False, readonly=True) as database:
        yield database


def find_match(task: TuningTask, database: Database | None, target: Target) -> Match:
    """The record to compile a task with; its trial is None where the default program serves.

    A task of a network that has none takes that of the same computation by itself.
    """
    if database is None:
        return Match(None, False, "")
    machine, size = machine_of(target), tuple(extents(task.dag))

    def runs(trial: Trial) -> bool:
        return runs_on(State(task.dag).replay(trace_from_json(trial.trace)), target)

    found = [
        find_record(
            database, WorkloadRow(h, task.name, "", task.structure, size, task.flops), machine, runs
        )
        for h in dict.fromkeys((task.hash, task.alone))
    ]
    return max(found, key=lambda m: (m.trial is not None, m.exact))


def tell(matches: Sequence[Match], notes: Callable[[str], None] | None) -> None:
    """Pass on what is not as it should be; see `compile`."""
    for note in (m.note for m in matches if m.note):
        log.warning("%s", note)
        if notes is not None:
            notes(note)
    if notes is not None:
        return
    foreign = [m.note for m in matches if m.trial is not None and not m.exact]
    if foreign:
        warnings.warn(
            f"{len(foreign)} of {len(matches)} programs were recorded on another machine; tune on "
            f"this one, or see all with notes=print. {foreign[0]}",
            stacklevel=3,
        )


# ---- building ---------------------------------------------------------------------------------


PREFETCH_BYTES = 1 << 16  # smaller constants come quickly from anywhere


def prefetch_bytes(task: TuningTask) -> int:
    """The size from which constants are fetched ahead: in a network they come from main memory,
    since others were read after their last use.
    """
    return PREFETCH_BYTES if task.between else 0


def build_all(
    tasks: Sequence[TuningTask],
    traces: Sequence[Sequence[Step] | None],
    target: Target,
) -> dict[str, Artifact]:
    """One artifact a task, by the hash of its computation (`TuningTask.alone`); compiled ones are
    kept in the user's cache.
    """
    settings = Settings.from_environment()
    cache = ArtifactCache(settings.cache)
    artifacts: dict[str, Artifact] = {}
    missing: list[tuple[str, str]] = []  # hash and key of a task
    requests = []
    for number, (task, trace) in enumerate(zip(tasks, traces, strict=True)):
        prefetch = prefetch_bytes(task)
        name = f"{kernel_name(task.name)}_{number}"
        genes = None if trace is None else trace_to_json(trace)
        # Equal work under other names is another artifact: its buffers are known by name.
        dag = task.dag
        names = (t.name for t in (*dag.inputs, *dag.constants, *dag.outputs))
        built_for = f"{target} prefetch={prefetch}"
        key = cache.key(" ".join((task.hash, *names)), genes, built_for, name)
        known = cache.get(key)
        if known is not None:
            artifacts[task.alone] = known
        else:
            missing.append((task.alone, key))
            requests.append(make_request(dag, trace, target, name, prefetch, not task.between))
    # What `TILEWRIGHT_SHOW` asks for is printed by this process, in the order of the tasks.
    for i, built in _compiled(requests, processes=1 if settings.show else available_cores()):
        alone, key = missing[i]
        cache.put(key, built)
        artifacts[alone] = Artifact.from_bytes(built)
    return artifacts


WORTH_PROCESSES = 8
"""So many kernels are compiled in several processes; fewer take no longer than these to start."""
COMPILE_TIMEOUT_S = 600.0


def _compiled(requests: Sequence[bytes], processes: int) -> Iterator[tuple[int, bytes]]:
    """The number and the artifact of every request, in the order they are ready.

    What a process of its own fails at is done here, where it raises what it has to.
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
        yield i, compile_request(request)

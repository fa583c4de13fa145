"""From a database to a history: one machine's trials, put together by task and by model.

history = read_history(database, machine, programs, "tuning.db")
history.models[0].speedup
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from tilewright.records.answers import TrialLine
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.provenance import network_key
from tilewright.records.rows import MEASURED, RUN, FactsRow, ModelRow, ModelTask, Trial, told_apart
from tilewright.report.clock import Clock
from tilewright.report.history import History, ModelHistory
from tilewright.report.tasks import PrintedProgram, Roofline, TaskHistory


def read_history(
    database: Database, machine: Machine, programs: Mapping[str, PrintedProgram], source: str
) -> History:
    """Everything the page says. `programs` are by workload hash; `source` names the database."""
    lines = database.history(machine.fingerprint)
    runs = tuple(run for run in database.runs() if run.machine == machine.fingerprint)
    clock = Clock.of(runs, lines)
    measured = [x for x in database.facts(MEASURED) if x.machine == machine.fingerprint]
    ceilings = next((c for c in database.ceilings() if c.machine == machine.fingerprint), None)
    models = told_apart(database.models())
    tasks = _tasks(
        database, models, machine.fingerprint, lines, clock, programs, Roofline(ceilings)
    )
    counts: Counter[str] = Counter()
    for row in database.summary().coverage:
        counts[row.machine] += row.trials
    others = [(m, counts[m.fingerprint]) for m in database.machines() if m != machine]
    return History(
        source=source,
        machine=machine,
        tasks=tuple(sorted(tasks.values(), key=lambda t: (-t.cost_s, t.name))),
        models=tuple(_models(models, tasks, measured)),
        runs=runs,
        ceilings=ceilings,
        clock=clock,
        others=tuple((m, n) for m, n in others if n),
        loads=tuple(x for x in database.loads() if x.machine == machine.fingerprint),
        facts=tuple(x for x in database.facts(RUN) if x.machine == machine.fingerprint),
    )


def _tasks(
    database: Database,
    models: Sequence[ModelRow],
    machine: str,
    lines: Sequence[TrialLine],
    clock: Clock,
    programs: Mapping[str, PrintedProgram],
    roofline: Roofline,
) -> dict[str, TaskHistory]:
    """Every task that has trials, by hash."""
    order = np.argsort([line.created_at for line in lines], kind="stable")
    steps = np.zeros(len(lines))
    steps[order] = clock.steps([lines[i].created_at for i in order])
    readings = clock.at([line.created_at for line in lines])
    members: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        members.setdefault(line.workload_hash, []).append(number)
    calls: dict[str, list[tuple[str, int]]] = {}
    for model in models:
        for task in model.tasks:
            calls.setdefault(task.workload_hash, []).append((model.name, task.weight))
    workloads = {workload.hash: workload for workload in database.workloads()}
    sources = {h: step.source_hash or "" for h, step in database.reused(machine).items()}
    return {
        workload.hash: TaskHistory(
            workload=workload,
            lines=tuple(lines[i] for i in members[workload.hash]),
            at_s=readings[members[workload.hash]],
            given_s=float(steps[members[workload.hash]].sum()),
            calls=tuple(calls.get(workload.hash, ())),
            program=programs.get(workload.hash),
            roofline=roofline,
            figures_s=_figures(database.best(workload.hash, machine)),
            reused=workloads.get(sources.get(workload.hash, "")),
        )
        for workload in workloads.values()
        if workload.hash in members
    }


def _figures(best: Trial | None) -> tuple[float, ...]:
    """All latencies that its own is the median of."""
    return () if best is None else best.confirmed_s or best.latencies_s


def _models(
    models: Sequence[ModelRow], tasks: Mapping[str, TaskHistory], measured: Sequence[FactsRow]
) -> list[ModelHistory]:
    """The models whose tasks all have trials here, then every task that is in none of them."""
    whole = [m for m in models if m.tasks and all(t.workload_hash in tasks for t in m.tasks)]
    used = {task.workload_hash for model in whole for task in model.tasks}
    alone = [
        ModelRow(t.workload.hash, t.name, (ModelTask(t.workload.hash, 1),))
        for t in tasks.values()
        if t.workload.hash not in used
    ]
    return [
        ModelHistory(
            model.name,
            tuple(tasks[t.workload_hash] for t in model.tasks),
            tuple(t.weight for t in model.tasks),
            model in whole,
            _measured(model, measured),
        )
        for model in (*whole, *alone)
    ]


def _measured(model: ModelRow, measured: Sequence[FactsRow]) -> dict[str, float]:
    """The newest latencies of the whole network, by program."""
    key = network_key([(task.workload_hash, task.weight) for task in model.tasks])
    found = [row for row in measured if row.facts.get("network") == key]
    if not found:
        return {}
    newest = max(found, key=lambda row: row.at).facts
    return {name: float(s) for name, s in newest.items() if not isinstance(s, str) and s > 0}

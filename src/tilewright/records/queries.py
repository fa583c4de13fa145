"""Reading queries that answer with more than plain rows: rounds, training arrays, a summary.

    training_set(connection, fingerprint, None, include_failed=False)
    -> [TrainingGroup(workload_hash="9f…", producer="{…}", decisions=("{…}", …), …), …]

Each takes an open connection and reads one consistent view of the database.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
from sqlalchemy import Column, Connection, Select, Table, case, func, select

from tilewright.contract.gene import compact
from tilewright.ground.text import natural
from tilewright.records import codec
from tilewright.records.answers import (
    Coverage,
    ErrorCount,
    Round,
    Summary,
    TrainingGroup,
    TrialLine,
)
from tilewright.records.faults import BadCellError
from tilewright.records.machine import Machine
from tilewright.records.rows import DEFAULT, ModelRow, program_kind, told_apart
from tilewright.records.tables import (
    SCHEMA_VERSION,
    machines,
    model_files,
    model_tasks,
    producers,
    trials,
    workloads,
)
from tilewright.records.tables import models as model_heads

IN_LIST = 1000  # values in one IN (…)

MACHINES: Select[Any] = select(machines).order_by(machines.c.fingerprint)

_DERIVED = {"measured_s", "latency_s", "gene_hash", "producer_hash"}

CONFIRMED = trials.c.confirmed_s != compact(())
BEST_FIRST = (
    case((trials.c.latency_s.is_(None), 1), else_=0),
    case((CONFIRMED, 0), else_=1),
    trials.c.latency_s,
    trials.c.id,
)
"""The order of a task's trials: those that worked and were measured again in turns, if there are
any, come first, since figures of different moments do not compare; then the faster; ties: the
first.
"""

WHOLE_TRIALS: Select[Any] = select(
    *(column for column in trials.c if column.name not in _DERIVED), producers.c.producer
).join(producers, producers.c.hash == trials.c.producer_hash)
"""Selects the columns that `codec.trial_of` reads."""


def rows(connection: Connection, query: Select[Any]) -> list[codec.Columns]:
    """The answer as dictionaries by column name."""
    result = connection.execute(query)
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result]


def whole(connection: Connection, table: Table) -> list[codec.Columns]:
    """All rows of a table, in the order of its key."""
    return rows(connection, select(table).order_by(*table.primary_key))


def history(connection: Connection, machine: str) -> list[TrialLine]:
    """See `Database.history`."""
    names = [field.name for field in fields(TrialLine)]
    columns = [CONFIRMED if name == "confirmed" else trials.c[name] for name in names]
    query = select(*columns).where(trials.c.machine == machine).order_by(trials.c.id)
    return [TrialLine(*row) for row in connection.execute(query)]


def last_trial(connection: Connection) -> int:
    """The newest trial's id; 0 when there is none."""
    return connection.execute(select(func.max(trials.c.id))).scalar_one() or 0


def known(connection: Connection, column: Column[Any], values: Collection[Any]) -> set[Any]:
    """Those of `values` that are in `column`."""
    wanted = list(values)
    found: set[Any] = set()
    for start in range(0, len(wanted), IN_LIST):
        query = select(column).where(column.in_(wanted[start : start + IN_LIST]))
        found.update(connection.scalars(query))
    return found


def models(connection: Connection) -> list[ModelRow]:
    """All models, by name, their tasks in order."""
    tasks: dict[str, list[tuple[str, int]]] = {}
    for row in connection.execute(select(model_tasks).order_by(model_tasks.c.position)):
        tasks.setdefault(row.model_hash, []).append((row.workload_hash, row.weight))
    paths = {row["model_hash"]: row["path"] for row in whole(connection, model_files)}
    heads = connection.execute(select(model_heads).order_by(model_heads.c.name, model_heads.c.hash))
    return [
        codec.model_of(row.hash, row.name, tasks.get(row.hash, []), paths.get(row.hash, ""))
        for row in heads
    ]


def rounds(connection: Connection, machine: str, workload_hash: str | None) -> list[Round]:
    """See `Database.rounds`."""
    key = (trials.c.workload_hash, trials.c.seed, trials.c.round)
    first = func.min(trials.c.id)
    query = (
        select(
            *key,
            func.count(),
            func.count(trials.c.error),
            func.min(trials.c.measured_s),
            first,
            func.max(trials.c.id),
        )
        .where(trials.c.machine == machine)
        .group_by(*key)
        .order_by(first)
    )
    if workload_hash is not None:
        query = query.where(trials.c.workload_hash == workload_hash)
    return [Round(*row) for row in connection.execute(query)]


def training_set(
    connection: Connection,
    machine: str,
    workload_hashes: Collection[str] | None,
    include_failed: bool,
) -> list[TrainingGroup]:
    """See `Database.training_set`."""
    query = (
        select(
            trials.c.workload_hash,
            trials.c.producer_hash,
            trials.c.decisions,
            trials.c.id,
            trials.c.round,
            trials.c.measured_s,
            trials.c.region_s,
        )
        .where(trials.c.machine == machine, trials.c.origin != DEFAULT)
        .order_by(trials.c.id)
    )
    if not include_failed:
        query = query.where(trials.c.measured_s.is_not(None))
    if workload_hashes is not None:
        query = query.where(trials.c.workload_hash.in_(workload_hashes))
    groups: dict[tuple[str, str], list[_Member]] = {}
    for workload_hash, producer_hash, *member in connection.execute(query):
        groups.setdefault((workload_hash, producer_hash), []).append(tuple(member))
    used = sorted({producer_hash for _, producer_hash in groups})
    texts: dict[str, str] = {}
    for start in range(0, len(used), IN_LIST):
        some = select(producers).where(producers.c.hash.in_(used[start : start + IN_LIST]))
        texts |= {row.hash: row.producer for row in connection.execute(some)}
    if missing := sorted(set(used) - set(texts)):
        raise BadCellError(f"no producer {missing[0]}, which a trial names")
    return [_training_group(w, texts[p], members) for (w, p), members in groups.items()]


_Member: TypeAlias = tuple[Any, ...]  # decisions, id, round, latency, region


def _training_group(workload_hash: str, producer: str, members: list[_Member]) -> TrainingGroup:
    decisions, ids, numbers, measured_s, region_s = zip(*members, strict=True)
    latency_s = np.array(measured_s, dtype=np.float64)  # None becomes nan
    return TrainingGroup(
        workload_hash,
        producer,
        decisions,
        np.array(ids, dtype=np.int64),
        np.array(numbers, dtype=np.int64),
        np.where(np.isnan(latency_s), np.inf, latency_s),
        np.array(region_s, dtype=np.float64),
    )


def summary(connection: Connection) -> Summary:
    """See `Database.summary`."""
    coverage = _coverage(connection)
    return Summary(
        schema=SCHEMA_VERSION,
        trials=sum(line.trials for line in coverage),
        failed=sum(line.failed for line in coverage),
        workloads=connection.execute(select(func.count()).select_from(workloads)).scalar_one(),
        machines=tuple(codec.row_of(Machine, row) for row in rows(connection, MACHINES)),
        models=tuple(told_apart(models(connection))),
        coverage=coverage,
        errors=_errors(connection),
    )


def _coverage(connection: Connection) -> tuple[Coverage, ...]:
    again = case((CONFIRMED, trials.c.latency_s))  # see `BEST_FIRST`
    query = (
        select(
            trials.c.workload_hash,
            workloads.c.name,
            trials.c.machine,
            func.count(),
            func.count(trials.c.error),
            func.coalesce(func.min(again), func.min(trials.c.latency_s)),
            func.max(trials.c.created_at),
            func.sum(case((trials.c.origin == DEFAULT, 1), else_=0)),
        )
        .join(workloads, workloads.c.hash == trials.c.workload_hash)
        .group_by(trials.c.workload_hash, workloads.c.name, trials.c.machine)
    )
    origins = _best_origins(connection)
    lines = [
        Coverage(*(*row, program_kind(origins.get((row[0], row[2])))))
        for row in connection.execute(query)
    ]
    return tuple(sorted(lines, key=lambda c: (natural(c.name), c.workload_hash, c.machine)))


def _best_origins(connection: Connection) -> dict[tuple[str, str], str]:
    """What proposed the best trial, by workload and machine; none where all failed."""
    key = (trials.c.workload_hash, trials.c.machine)
    place = func.row_number().over(partition_by=key, order_by=BEST_FIRST)
    ranked = (
        select(*key, trials.c.origin, place.label("place"))
        .where(trials.c.latency_s.is_not(None))
        .subquery()
    )
    best = select(ranked.c.workload_hash, ranked.c.machine, ranked.c.origin)
    found = connection.execute(best.where(ranked.c.place == 1))
    return {(row.workload_hash, row.machine): row.origin for row in found}


def _errors(connection: Connection) -> tuple[ErrorCount, ...]:
    count = func.count()
    query = (
        select(trials.c.stage, trials.c.error, count)
        .where(trials.c.error.is_not(None))
        .group_by(trials.c.stage, trials.c.error)
        .order_by(count.desc(), trials.c.stage, trials.c.error)
    )
    return tuple(ErrorCount(*row) for row in connection.execute(query))

"""What a user may throw away of a database.

    with store.write() as connection:
        drop_trials(connection, beyond(connection, keep=10))

Each takes a connection inside a writer's transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, or_, select, update

from tilewright.contract.gene import compact
from tilewright.records import codec
from tilewright.records.queries import BEST_FIRST, IN_LIST, rows
from tilewright.records.rows import DEFAULT, ReuseRow
from tilewright.records.tables import model_tasks, producers, reuses, trials, workloads


def beyond(connection: Connection, keep: int) -> list[int]:
    """Trials that are not among the `keep` best of their task and machine; failed ones are none.

    Default programs and confirmed ones stay: speed-ups are told by them.
    """
    place = func.row_number().over(
        partition_by=(trials.c.workload_hash, trials.c.machine), order_by=BEST_FIRST
    )
    ranked = select(
        trials.c.id, trials.c.error, trials.c.origin, trials.c.confirmed_s, place.label("place")
    ).subquery()
    query = select(ranked.c.id).where(
        or_(
            ranked.c.error.is_not(None),
            (ranked.c.place > keep) & (ranked.c.origin != DEFAULT) & (ranked.c.confirmed_s == "[]"),
        )
    )
    return list(connection.scalars(query.order_by(ranked.c.id)))


def trials_of(connection: Connection, workload_hash: str) -> list[int]:
    """All trials of a task."""
    return list(
        connection.scalars(select(trials.c.id).where(trials.c.workload_hash == workload_hash))
    )


def drop_trials(connection: Connection, ids: Sequence[int]) -> None:
    """Delete trials, the producers that no other has, and what plans say of them."""
    for start in range(0, len(ids), IN_LIST):
        connection.execute(delete(trials).where(trials.c.id.in_(ids[start : start + IN_LIST])))
    used = select(trials.c.producer_hash)
    connection.execute(delete(producers).where(producers.c.hash.not_in(used)))
    _unpin(connection, set(ids))


def _unpin(connection: Connection, gone: set[int]) -> None:
    """Let no step of a plan name trials that have gone. One that has none left begins anew."""
    pinned = select(reuses).where(reuses.c.trials != compact(()))
    for row in [codec.row_of(ReuseRow, line) for line in rows(connection, pinned)]:
        left = [id_ for id_ in row.trials if id_ not in gone]
        if len(left) < len(row.trials):
            same = [c == getattr(row, c.name) for c in reuses.primary_key]
            values = {"trials": compact(left)} | ({} if left else {"begun_at": 0.0})
            connection.execute(update(reuses).where(*same).values(values))


def drop_unused(connection: Connection, workload_hash: str) -> None:
    """Delete a task that neither a model nor a trial names, and the plans that do, whole: a plan
    that lacks a step is none.
    """
    for column in (model_tasks.c.workload_hash, trials.c.workload_hash):
        if connection.execute(select(column).where(column == workload_hash).limit(1)).first():
            return
    names_it = (reuses.c.workload_hash == workload_hash) | (reuses.c.source_hash == workload_hash)
    plan = (reuses.c.machine, reuses.c.plan, reuses.c.seed)
    for found in connection.execute(select(*plan).where(names_it).distinct()).all():
        same = [column == value for column, value in zip(plan, found, strict=True)]
        connection.execute(delete(reuses).where(*same))
    connection.execute(delete(workloads).where(workloads.c.hash == workload_hash))

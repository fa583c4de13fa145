"""Databases and exports of older versions, brought to today's form.

    upgrade(connection, found=1)          inside a writer's transaction
    gene_of_trace('[["split",…]]')        the gene of a schedule's concrete steps

Schema 1 kept a program as its concrete steps and, beside them, as a row of a matrix that only the
space of its time could read. Here such a program is a producer without decisions; a search that
meets one finds its decisions again (`Space.decided`). Schema 2 knew no plans of reuse.
"""

from __future__ import annotations

from sqlalchemy import (
    Connection,
    column,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy import table as light_table

from tilewright.gene import Gene
from tilewright.records import codec
from tilewright.records.tables import (
    SCHEMA_KEY,
    SCHEMA_VERSION,
    insert_new,
    meta,
    metadata,
    producers,
    reuses,
    trials,
)

PAGE = 1000  # trials at once


def gene_of_trace(trace: str) -> Gene:
    """The gene of concrete steps, given as the JSON text that schema 1 kept."""
    return Gene(f'{{"sketch":"","steps":{trace}}}')


def upgrade(connection: Connection, found: int) -> None:
    """Bring a database of an older schema to today's."""
    for version in range(found, SCHEMA_VERSION):
        UPGRADES[version](connection)
    now = {"value": str(SCHEMA_VERSION)}
    connection.execute(update(meta).where(meta.c.key == SCHEMA_KEY).values(now))


def _genes(connection: Connection) -> None:
    """From 1 to 2: genes instead of traces and rows; what was beside a trial is in it."""
    present = set(inspect(connection).get_table_names())
    metadata.create_all(connection)
    for statement in (
        "ALTER TABLE workloads ADD COLUMN between_bytes BIGINT",
        "ALTER TABLE trials RENAME COLUMN trace_hash TO gene_hash",
        "ALTER TABLE trials ADD COLUMN producer_hash TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE trials ADD COLUMN decisions TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE trials ADD COLUMN region_s DOUBLE PRECISION",
        'ALTER TABLE trials DROP COLUMN "row"',
        "ALTER TABLE trials DROP COLUMN sketch_key",
    ):
        connection.execute(text(statement))
    if "conditions" in present:
        connection.execute(
            text(
                "UPDATE trials SET region_s = (SELECT region_s FROM conditions "
                "WHERE conditions.trial_id = trials.id)"
            )
        )
    traces = light_table("traces", column("trial_id"), column("trace"))
    after = 0
    while page := connection.execute(
        select(traces).where(traces.c.trial_id > after).order_by(traces.c.trial_id).limit(PAGE)
    ).all():
        for trial_id, trace in page:
            gene = gene_of_trace(trace)
            line = codec.producer_columns(gene)
            connection.execute(insert_new(producers, connection.dialect.name), line)
            connection.execute(
                update(trials).where(trials.c.id == trial_id).values(codec.gene_columns(gene))
            )
        after = page[-1].trial_id
    for name in ("traces", "sources", "conditions"):
        if name in present:
            connection.execute(text(f"DROP TABLE {name}"))


def _plans(connection: Connection) -> None:
    """From 2 to 3: one table more, which `_genes` has made already where it came before."""
    reuses.create(connection, checkfirst=True)


UPGRADES = {1: _genes, 2: _plans}
"""What brings a schema to the next one."""

_TRIAL = ("trial_id INTEGER NOT NULL", "PRIMARY KEY (trial_id)",
          "FOREIGN KEY(trial_id) REFERENCES trials (id)")  # fmt: skip
OLDER_PARTS = {
    "trials": (
        "trace_hash TEXT NOT NULL",
        "sketch_key TEXT NOT NULL",
        "row TEXT NOT NULL",
        "CONSTRAINT trials_once UNIQUE (workload_hash, machine, trace_hash)",
        "producer_hash TEXT NOT NULL DEFAULT ''",
        "decisions TEXT NOT NULL DEFAULT '{}'",
        "region_s DOUBLE PRECISION",
    ),
    "traces": (*_TRIAL, "trace TEXT NOT NULL"),
    "sources": (*_TRIAL, "nest TEXT NOT NULL", "ir TEXT NOT NULL"),
    "conditions": (*_TRIAL, "region_s DOUBLE NOT NULL"),
}
"""What tables of older schemas have, and upgraded ones, that today's have not (in SQLite)."""

LEAVES_ROOM = {1}
"""The schemas from which a file is left with much that it no longer holds."""

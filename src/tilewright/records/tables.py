"""The schema, as SQLAlchemy Core tables that mean the same on SQLite and PostgreSQL.

    machines <── trials ──> workloads <── model_tasks ──> models <── model_files
        ▲          └──> producers
        └── runs, loads, facts, ceilings; reuses ──> workloads

A trial's gene is its producer, a text of some kilobytes that hundreds of trials share, and its
decisions. Lists and decisions are JSON text. UNIQUE (workload, machine, gene) is what makes
resuming and merging idempotent.

The version changes with the tables; `upgrade.py` brings older databases to it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import TypeDecorator

SCHEMA_VERSION = 3
SCHEMA_KEY = "schema_version"


class FreeText(TypeDecorator[str]):
    """Text from compilers and crashed processes: what no database stores becomes U+FFFD.

    PostgreSQL refuses NUL, both refuse lone surrogates (bytes that were not UTF-8).
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        if value is None or (value.isascii() and "\0" not in value):
            return value
        return (
            value.encode("utf-16", "surrogatepass")
            .decode("utf-16", "replace")
            .replace("\0", "\N{REPLACEMENT CHARACTER}")
        )


def insert_new(table: Table, dialect: str) -> sqlite.Insert | postgresql.Insert:
    """INSERT that leaves a row with the same key alone, as the database of that name has it."""
    if dialect == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()


metadata = MetaData()

meta = Table(
    "tilewright_meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

machines = Table(
    "machines",
    metadata,
    Column("fingerprint", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("cpu", Text, nullable=False),
    Column("features", Text, nullable=False),
    Column("cores", Integer, nullable=False),
    Column("compiler", Text, nullable=False),
)

workloads = Table(
    "workloads",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("name", FreeText, nullable=False),
    Column("structure_hash", Text, nullable=False, index=True),
    Column("extents", Text, nullable=False),
    Column("flops", BigInteger, nullable=False),
    Column("dag", Text, nullable=False),
    Column("between_bytes", BigInteger),
)

producers = Table(
    "producers",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("producer", Text, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    # SQLite numbers rows by itself only where the type is spelled INTEGER.
    Column("id", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
    Column("workload_hash", Text, ForeignKey("workloads.hash"), nullable=False),
    Column("machine", Text, ForeignKey("machines.fingerprint"), nullable=False),
    Column("gene_hash", Text, nullable=False),
    Column("producer_hash", Text, ForeignKey("producers.hash"), nullable=False),
    Column("decisions", Text, nullable=False),
    Column("round", BigInteger, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("origin", Text, nullable=False),
    Column("stage", Text, nullable=False),
    Column("error", Text),
    Column("measured_s", Double),
    Column("latency_s", Double),
    Column("predicted", Double),
    Column("build_s", Double, nullable=False),
    Column("run_s", Double, nullable=False),
    Column("region_s", Double),
    Column("created_at", Double, nullable=False),
    Column("latencies_s", Text, nullable=False),
    Column("confirmed_s", Text, nullable=False),
    Column("message", FreeText, nullable=False),
    UniqueConstraint("workload_hash", "machine", "gene_hash", name="trials_once"),
    Index("trials_by_latency", "workload_hash", "machine", "latency_s"),
    sqlite_autoincrement=True,
)

models = Table(
    "models",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("name", FreeText, nullable=False),
)

model_files = Table(
    "model_files",
    metadata,
    Column("model_hash", Text, ForeignKey("models.hash"), primary_key=True),
    Column("path", FreeText, nullable=False),
)

model_tasks = Table(
    "model_tasks",
    metadata,
    Column("model_hash", Text, ForeignKey("models.hash"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("workload_hash", Text, ForeignKey("workloads.hash"), nullable=False),
    Column("weight", BigInteger, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("machine", Text, ForeignKey("machines.fingerprint"), primary_key=True),
    Column("started_at", Double, primary_key=True),
    Column("seed", BigInteger, nullable=False),
    Column("strategy", Text, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("search_s", Double, nullable=False),
    Column("train_s", Double, nullable=False),
    Column("build_s", Double, nullable=False),
    Column("run_s", Double, nullable=False),
    Column("other_s", Double, nullable=False),
)

loads = Table(
    "loads",
    metadata,
    Column("machine", Text, ForeignKey("machines.fingerprint"), primary_key=True),
    Column("started_at", Double, primary_key=True),
    Column("reason", FreeText, nullable=False),
)

facts = Table(
    "facts",
    metadata,
    Column("machine", Text, ForeignKey("machines.fingerprint"), primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("at", Double, primary_key=True),
    Column("facts", FreeText, nullable=False),
)

reuses = Table(
    "reuses",
    metadata,
    Column("machine", Text, ForeignKey("machines.fingerprint"), primary_key=True),
    Column("plan", Text, primary_key=True),
    Column("seed", BigInteger, primary_key=True),
    Column("workload_hash", Text, ForeignKey("workloads.hash"), primary_key=True),
    Column("position", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("source_hash", Text, ForeignKey("workloads.hash")),
    Column("programs", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("trials", Text, nullable=False),
    Column("begun_at", Double, nullable=False),
)

ceilings = Table(
    "ceilings",
    metadata,
    Column("machine", Text, ForeignKey("machines.fingerprint"), primary_key=True),
    Column("flops_per_s", Double, nullable=False),
    Column("sizes_bytes", Text, nullable=False),
    Column("bytes_per_s", Text, nullable=False),
    Column("measured_at", Double, nullable=False),
)

"""The schema, as SQLAlchemy Core tables that mean the same on SQLite and PostgreSQL.

    machines <── trials ──> workloads <── model_tasks ──> models <── model_files
        ▲          └──> producers
        └── facts; reuses ──> workloads

A trial's gene is its producer, a text of some kilobytes that hundreds of trials share, and its
decisions. Lists and decisions are JSON text. UNIQUE (workload, machine, gene) is what makes
resuming and merging idempotent.

`facts` are what else is known of a machine: runs of the tuner, how busy it was, what it can do at
best. The version changes with the tables; a database of another one is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeDecorator, TypeEngine

from tilewright.records.faults import BadCellError

SCHEMA_VERSION = 6
SCHEMA_KEY = "schema_version"
LONGEST_ROW = 1 << 25
"""Bytes of a row, in a file and in an export; the text of a large program takes some kilobytes."""


class _Cell(TypeDecorator[Any]):
    """A column whose cells are checked when they are read: in SQLite any cell may hold anything.

    Raises BadCellError for a value of another type, and for none unless `nullable`.
    """

    impl: TypeEngine[Any] | type[TypeEngine[Any]] = Text
    cache_ok = True
    of: tuple[type, ...] = (str,)

    def __init__(self, column: str, nullable: bool) -> None:
        super().__init__()
        self.column, self.nullable = column, nullable

    def result_processor(self, dialect: Any, coltype: Any) -> Callable[[Any], Any] | None:
        """What a value goes through on its way out; nothing where the server sees to its types."""
        if dialect.name != "sqlite":
            return super().result_processor(dialect, coltype)
        of, nullable = self.of, self.nullable

        def check(value: Any) -> Any:
            is_right = nullable if value is None else type(value) in of
            if not is_right or (type(value) is float and not math.isfinite(value)):
                raise BadCellError(f"{self.column}: {value!r:.60} instead of {of[0].__name__}")
            return value

        return check


class Words(_Cell):
    """Text."""

    cache_ok = True


class Whole(_Cell):
    """An integer of 64 bits."""

    impl, of = BigInteger, (int,)
    cache_ok = True


class SmallWhole(_Cell):
    """An integer of 32 bits."""

    impl, of = Integer, (int,)
    cache_ok = True


class Number(_Cell):
    """A finite float64; SQLite returns a new one as it was given."""

    impl, of = Double, (float, int)
    cache_ok = True


class FreeText(Words):
    """Text from compilers and crashed processes: what no database stores becomes U+FFFD.

    PostgreSQL refuses NUL, both refuse lone surrogates (bytes that were not UTF-8).
    """

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


def _column(
    name: str,
    kind: type[_Cell],
    *rest: SchemaItem,
    primary_key: bool = False,
    nullable: bool = True,
    index: bool | None = None,
) -> Column[Any]:
    """A column of checked cells."""
    nullable = nullable and not primary_key
    return Column(
        name, kind(name, nullable), *rest, primary_key=primary_key, nullable=nullable, index=index
    )


metadata = MetaData()

meta = Table(
    "tilewright_meta",
    metadata,
    _column("key", Words, primary_key=True),
    _column("value", Words, nullable=False),
)

machines = Table(
    "machines",
    metadata,
    _column("fingerprint", Words, primary_key=True),
    _column("kind", Words, nullable=False),
    _column("cpu", Words, nullable=False),
    _column("features", Words, nullable=False),
    _column("cores", SmallWhole, nullable=False),
    _column("compiler", Words, nullable=False),
)

workloads = Table(
    "workloads",
    metadata,
    _column("hash", Words, primary_key=True),
    _column("name", FreeText, nullable=False),
    _column("structure_hash", Words, nullable=False, index=True),
    _column("extents", Words, nullable=False),
    _column("flops", Whole, nullable=False),
    _column("dag", Words, nullable=False),
    _column("between_bytes", Whole, nullable=False),
)

producers = Table(
    "producers",
    metadata,
    _column("hash", Words, primary_key=True),
    _column("producer", Words, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    # SQLite numbers rows by itself only where the type is spelled INTEGER.
    Column("id", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
    _column("workload_hash", Words, ForeignKey("workloads.hash"), nullable=False),
    _column("machine", Words, ForeignKey("machines.fingerprint"), nullable=False),
    _column("gene_hash", Words, nullable=False),
    _column("producer_hash", Words, ForeignKey("producers.hash"), nullable=False),
    _column("decisions", Words, nullable=False),
    _column("round", Whole, nullable=False),
    _column("seed", Whole, nullable=False),
    _column("origin", Words, nullable=False),
    _column("stage", Words, nullable=False),
    _column("error", Words),
    _column("measured_s", Number),
    _column("latency_s", Number),
    _column("predicted", Number),
    _column("build_s", Number, nullable=False),
    _column("run_s", Number, nullable=False),
    _column("region_s", Number),
    _column("points_s", Words, nullable=False),
    _column("created_at", Number, nullable=False),
    _column("latencies_s", Words, nullable=False),
    _column("confirmed_s", Words, nullable=False),
    _column("message", FreeText, nullable=False),
    UniqueConstraint("workload_hash", "machine", "gene_hash", name="trials_once"),
    Index("trials_by_latency", "workload_hash", "machine", "latency_s"),
    sqlite_autoincrement=True,
)

models = Table(
    "models",
    metadata,
    _column("hash", Words, primary_key=True),
    _column("name", FreeText, nullable=False),
)

model_files = Table(
    "model_files",
    metadata,
    _column("model_hash", Words, ForeignKey("models.hash"), primary_key=True),
    _column("path", FreeText, nullable=False),
)

model_tasks = Table(
    "model_tasks",
    metadata,
    _column("model_hash", Words, ForeignKey("models.hash"), primary_key=True),
    _column("position", SmallWhole, primary_key=True),
    _column("workload_hash", Words, ForeignKey("workloads.hash"), nullable=False),
    _column("weight", Whole, nullable=False),
)

facts = Table(
    "facts",
    metadata,
    _column("machine", Words, ForeignKey("machines.fingerprint"), primary_key=True),
    _column("kind", Words, primary_key=True),
    _column("at", Number, primary_key=True),
    _column("facts", FreeText, nullable=False),
)

reuses = Table(
    "reuses",
    metadata,
    _column("machine", Words, ForeignKey("machines.fingerprint"), primary_key=True),
    _column("plan", Words, primary_key=True),
    _column("seed", Whole, primary_key=True),
    _column("workload_hash", Words, ForeignKey("workloads.hash"), primary_key=True),
    _column("position", Whole, nullable=False),
    _column("kind", Words, nullable=False),
    _column("source_hash", Words, ForeignKey("workloads.hash")),
    _column("programs", Whole, nullable=False),
    _column("seconds", Number, nullable=False),
    _column("trials", Words, nullable=False),
    _column("begun_at", Number, nullable=False),
)

"""A database as schema 1 had it: what an upgrade begins with."""

from __future__ import annotations

import json

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
)

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
    Column("name", Text, nullable=False),
    Column("structure_hash", Text, nullable=False, index=True),
    Column("extents", Text, nullable=False),
    Column("flops", BigInteger, nullable=False),
    Column("dag", Text, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    # SQLite numbers rows by itself only where the type is spelled INTEGER.
    Column("id", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
    Column("workload_hash", Text, ForeignKey("workloads.hash"), nullable=False),
    Column("machine", Text, ForeignKey("machines.fingerprint"), nullable=False),
    Column("trace_hash", Text, nullable=False),
    Column("sketch_key", Text, nullable=False),
    Column("row", Text, nullable=False),
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
    Column("created_at", Double, nullable=False),
    Column("latencies_s", Text, nullable=False),
    Column("confirmed_s", Text, nullable=False),
    Column("message", Text, nullable=False),
    UniqueConstraint("workload_hash", "machine", "trace_hash", name="trials_once"),
    Index("trials_by_latency", "workload_hash", "machine", "latency_s"),
    sqlite_autoincrement=True,
)

traces = Table(
    "traces",
    metadata,
    Column("trial_id", ForeignKey("trials.id"), primary_key=True, autoincrement=False),
    Column("trace", Text, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("trial_id", ForeignKey("trials.id"), primary_key=True, autoincrement=False),
    Column("nest", Text, nullable=False),
    Column("ir", Text, nullable=False),
)

conditions = Table(
    "conditions",
    metadata,
    Column("trial_id", ForeignKey("trials.id"), primary_key=True, autoincrement=False),
    Column("region_s", Double, nullable=False),
)

models = Table(
    "models",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("name", Text, nullable=False),
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

TRACES = ('[["split","C","i",[4]]]', '[["split","C","i",[8]]]')


def fill(connection: Connection) -> None:
    """Two trials of one workload: the first beside what was known of its moment, one failed."""
    metadata.create_all(connection)
    connection.execute(insert(meta), {"key": "schema_version", "value": "1"})
    connection.execute(
        insert(machines),
        {"fingerprint": "m", "kind": "cpu", "cpu": "x", "features": "[]", "cores": 2,
         "compiler": "LLVM"},
    )  # fmt: skip
    connection.execute(
        insert(workloads),
        {"hash": "w0", "name": "matmul", "structure_hash": "s0", "extents": "[8]", "flops": 16,
         "dag": "{}"},
    )  # fmt: skip
    for number, trace in enumerate(TRACES, 1):
        failed = number == 2
        line = {
            "workload_hash": "w0",
            "machine": "m",
            "trace_hash": f"t{number}",
            "sketch_key": "tile",
            "row": json.dumps([number]),
            "round": 0,
            "seed": 1,
            "origin": "sample",
            "stage": "run" if failed else "done",
            "error": "RunError" if failed else None,
            "measured_s": None if failed else 0.5,
            "latency_s": None if failed else 0.25,
            "predicted": None,
            "build_s": 0.0,
            "run_s": 0.0,
            "created_at": 1.0,
            "latencies_s": "[]" if failed else "[0.5]",
            "confirmed_s": "[]" if failed else "[0.25]",
            "message": "",
        }
        connection.execute(insert(trials), line)
        connection.execute(insert(traces), {"trial_id": number, "trace": trace})
    connection.execute(insert(conditions), {"trial_id": 1, "region_s": 1e-6})
    connection.execute(insert(sources), {"trial_id": 1, "nest": "for i", "ir": ""})

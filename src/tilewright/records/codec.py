"""Between the frozen rows and what the tables and JSON lines hold.

    columns_of(run) -> {"machine": "5a…", "seed": 0, …}      lists and objects are JSON text
    row_of(RunRow, columns) -> RunRow
    trial_columns(trial) -> {"workload_hash": …, "gene_hash": "5a…", "latency_s": 0.002, …}
    trial_of(result_row) -> Trial

Floats survive exactly (Python prints the shortest text that reads back equal).
"""

from __future__ import annotations

import json
from dataclasses import fields
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar

from tilewright.errors import RecordsError
from tilewright.gene import Gene, compact
from tilewright.records.machine import Machine
from tilewright.records.rows import (
    CeilingsRow,
    FactsRow,
    LoadRow,
    ModelRow,
    ModelTask,
    ReuseRow,
    RunRow,
    Trial,
    WorkloadRow,
)

Columns = dict[str, Any]
Plain: TypeAlias = Machine | WorkloadRow | RunRow | LoadRow | FactsRow | CeilingsRow | ReuseRow
"""Rows that are one line of one table, which has their fields as columns."""
Row = TypeVar("Row", bound=Plain)


def columns_of(row: Plain) -> Columns:
    """The row's line."""
    return {f.name: _stored(getattr(row, f.name)) for f in fields(row)}


def _stored(value: Any) -> Any:
    return compact(value) if isinstance(value, (tuple, dict)) else value


def row_of(kind: type[Row], columns: Columns) -> Row:
    """Inverse of `columns_of`. Raises RecordsError for lists or objects that cannot be read."""
    found = dict(columns)
    for field in fields(kind):
        convert = _STORED_AS_TEXT.get(str(field.type).split("[")[0])
        if convert is not None:
            try:
                found[field.name] = convert(json.loads(found[field.name]))
            except (ValueError, TypeError) as error:
                what = found.get("kind", kind.__name__)
                raise RecordsError(f"{field.name} of {what!r} cannot be read: {error}") from error
    return kind(**found)


_STORED_AS_TEXT: dict[str, type] = {"tuple": tuple, "dict": dict}


def producer_columns(gene: Gene) -> Columns:
    """The line in `producers` of a gene's producer."""
    return {"hash": _hash(gene.producer), "producer": gene.producer}


def _hash(producer: str) -> str:
    return sha256(producer.encode()).hexdigest()[:32]


def gene_columns(gene: Gene) -> Columns:
    """What a line of `trials` says of its gene."""
    return {
        "gene_hash": gene.hash,
        "producer_hash": _hash(gene.producer),
        "decisions": gene.decisions,
    }


def trial_columns(trial: Trial) -> Columns:
    """The trial's line in `trials`; its id is the database's."""
    values = {f.name: _stored(getattr(trial, f.name)) for f in fields(trial)}
    del values["id"], values["gene"]
    derived = {"measured_s": trial.measured_s, "latency_s": trial.latency_s}
    return values | derived | gene_columns(trial.gene)


def trial_of(columns: Columns) -> Trial:
    """From a joined line of `trials` (less what a trial derives) and `producers`."""
    lists = {name: tuple(json.loads(columns[name])) for name in ("latencies_s", "confirmed_s")}
    gene = Gene(columns.pop("producer"), columns.pop("decisions"))
    return Trial(**{**columns, **lists, "gene": gene})


def model_columns(model: ModelRow) -> tuple[Columns, list[Columns], list[Columns]]:
    """The model's line in `models`, its lines in `model_tasks` and that in `model_files`."""
    tasks = [
        {
            "model_hash": model.hash,
            "position": position,
            "workload_hash": task.workload_hash,
            "weight": task.weight,
        }
        for position, task in enumerate(model.tasks)
    ]
    files = [{"model_hash": model.hash, "path": model.path}] if model.path else []
    return {"hash": model.hash, "name": model.name}, tasks, files


def model_of(hash_: str, name: str, tasks: list[tuple[str, int]], path: str) -> ModelRow:
    return ModelRow(hash_, name, tuple(ModelTask(*task) for task in tasks), path)

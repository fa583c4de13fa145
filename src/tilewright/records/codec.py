"""Between the frozen rows and what the tables and JSON lines hold.

    columns_of(run) -> {"machine": "5a…", "seed": 0, …}      lists and objects are JSON text
    row_of(RunRow, columns) -> RunRow
    trial_columns(trial) -> {"workload_hash": …, "gene_hash": "5a…", "latency_s": 0.002, …}
    trial_of(result_row) -> Trial

Floats survive exactly (Python prints the shortest text that reads back equal).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import Field, fields
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar

from tilewright.contract.gene import Gene, compact
from tilewright.ground.errors import RecordsError
from tilewright.records.faults import BadCellError
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
Fact: TypeAlias = RunRow | LoadRow | FactsRow | CeilingsRow
"""Rows that are one line of the table of facts."""
Plain: TypeAlias = Machine | WorkloadRow | ReuseRow | Fact
"""Rows that are one line of one table: that of facts, or one that has their fields as columns."""
Row = TypeVar("Row", bound=Plain)
FACTS: dict[type, tuple[str, str]] = {
    RunRow: ("tuning", "started_at"),
    LoadRow: ("load", "started_at"),
    CeilingsRow: ("ceilings", ""),
}
"""The kind of a row's fact, and the field that says when it was; "": a machine has one."""


def columns_of(row: Plain) -> Columns:
    """The row's line."""
    if type(row) not in FACTS:
        return {f.name: _stored(getattr(row, f.name)) for f in fields(row)}
    kind, moment = FACTS[type(row)]
    values = {f.name: getattr(row, f.name) for f in fields(row)}
    machine, at = values.pop("machine"), values.pop(moment, 0.0)
    return {"machine": machine, "kind": kind, "at": at, "facts": compact(values)}


def _stored(value: Any) -> Any:
    return compact(value) if isinstance(value, (tuple, dict)) else value


def row_of(kind: type[Row], columns: Columns) -> Row:
    """Inverse of `columns_of`. Raises BadCellError for what is none of its rows."""
    with _reading(kind, columns):
        if kind not in FACTS:
            return kind(**{field.name: _read(field, columns[field.name]) for field in fields(kind)})
        _, moment = FACTS[kind]
        values = {**json.loads(columns["facts"]), "machine": columns["machine"]}
        if moment:
            values[moment] = columns["at"]
        named = {field.name: field for field in fields(kind)}
        if odd := sorted(values.keys() ^ named.keys()):
            raise RecordsError(f"{', '.join(odd)}: missing, or no part of it")
        return kind(**{name: checked(named[name], value) for name, value in values.items()})


@contextmanager
def _reading(kind: type, columns: Columns) -> Iterator[None]:
    """Whatever is wrong with a row of that kind, made inside, is wrong in the database."""
    try:
        yield
    except (RecordsError, ValueError, TypeError, RecursionError) as error:
        what = columns.get("kind", kind.__name__)
        raise BadCellError(f"{what}: {error}") from error


def _read(field: Field[Any], value: Any) -> Any:
    is_text = str(field.type).startswith(("tuple", "dict"))
    return checked(field, json.loads(value) if is_text else value)


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
    gene = Gene(columns.pop("producer"), columns.pop("decisions"))
    with _reading(Trial, columns):
        values = {f.name: _read(f, columns[f.name]) for f in fields(Trial) if f.name != "gene"}
        return Trial(**values, gene=gene)


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
    with _reading(ModelRow, {"kind": name}):
        return ModelRow(hash_, name, tuple(ModelTask(*task) for task in tasks), path)


def checked(field: Field[Any], value: Any) -> Any:
    """A field of a row from what JSON gives. Raises RecordsError for a value of another type."""
    return _CONVERTERS[str(field.type)](field.name, value)


def _of(*types: type) -> Callable[[str, Any], Any]:
    """A converter that takes exactly these JSON types (True is no integer)."""

    def convert(name: str, value: Any) -> Any:
        if type(value) not in types:
            raise RecordsError(f"{name!r} must be {types[0].__name__}, not {value!r:.80}")
        return value

    return convert


def _tuple_of(element: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    def convert(name: str, value: Any) -> Any:
        if not isinstance(value, list):
            raise RecordsError(f"{name!r} must be a list, not {value!r:.80}")
        return tuple(element(name, item) for item in value)

    return convert


def _facts(name: str, value: Any) -> dict[str, str | float]:
    if not isinstance(value, dict):
        raise RecordsError(f"{name!r} must be an object, not {value!r:.80}")
    return value  # the row checks what is in it


def _gene(_: str, value: Any) -> Gene:
    producer, decisions = value
    convert = _of(str)
    return Gene(convert("producer", producer), convert("decisions", decisions))


def _task(name: str, value: Any) -> ModelTask:
    match value:
        case [str(workload_hash), int(weight)] if type(weight) is int:
            return ModelTask(workload_hash, weight)
        case _:
            raise RecordsError(f"{name!r} must be pairs of workload hash and weight")


_NUMBER = _of(float, int)
_CONVERTERS: dict[str, Callable[[str, Any], Any]] = {
    "str": _of(str),
    "int": _of(int),
    "float": _NUMBER,
    "str | None": _of(str, type(None)),
    "int | None": _of(int, type(None)),
    "float | None": _of(float, int, type(None)),
    "tuple[int, ...]": _tuple_of(_of(int)),
    "tuple[float, ...]": _tuple_of(_NUMBER),
    "tuple[str, ...]": _tuple_of(_of(str)),
    "tuple[ModelTask, ...]": _tuple_of(_task),
    "dict[str, str | float]": _facts,
    "Gene": _gene,
}

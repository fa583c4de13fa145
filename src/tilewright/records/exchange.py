"""JSON lines: records as text, to carry from one database to another.

    {"format":"tilewright-records","version":1}
    {"record":"machine","fingerprint":"5a0c…","cpu":"icelake-server",…}
    {"record":"workload",…}  {"record":"model",…}  {"record":"trial",…}  {"record":"source",…}

A line names only lines before it. Row ids stay behind: a trial is known by its workload, machine
and trace. A file whose name ends in .gz is compressed.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TypeAlias

from tilewright.errors import RecordsError
from tilewright.files import replacing
from tilewright.records.machine import Machine
from tilewright.records.rows import (
    CeilingsRow,
    FactsRow,
    LoadRow,
    ModelRow,
    ModelTask,
    RunRow,
    Trial,
    TrialSource,
    WorkloadRow,
)

FORMAT = "tilewright-records"
VERSION = 1

Item: TypeAlias = (
    Machine
    | WorkloadRow
    | ModelRow
    | RunRow
    | LoadRow
    | FactsRow
    | CeilingsRow
    | Trial
    | TrialSource
)

RECORDS: dict[str, type[Item]] = {
    "machine": Machine,
    "workload": WorkloadRow,
    "model": ModelRow,
    "run": RunRow,
    "load": LoadRow,
    "facts": FactsRow,
    "ceilings": CeilingsRow,
    "trial": Trial,
    "source": TrialSource,
}
ADDED = {"region_s", "path"}  # fields that older exports lack
_RECORD_OF = {type_: record for record, type_ in RECORDS.items()}


@dataclass(frozen=True, slots=True)
class Imported:
    """How many rows an import added, and how many trials were known already."""

    machines: int = 0
    workloads: int = 0
    models: int = 0
    runs: int = 0
    trials: int = 0
    known_trials: int = 0
    sources: int = 0


def write_items(file: Path, items: Iterable[Item]) -> None:
    """Write a file that appears whole or not at all; raises RecordsError if that fails."""
    try:
        with (
            replacing(file) as part,
            _open(part, "w", compressed=file.suffix == ".gz") as stream,
        ):
            stream.write(_line({"format": FORMAT, "version": VERSION}))
            for item in items:
                stream.write(_line(_to_dict(item)))
    except OSError as error:
        raise RecordsError(
            f"cannot export to {file}: {error.strerror or error}: name a file that can be written "
            "on a disk with space"
        ) from error


def read_items(file: Path, check: Callable[[Item], None] = lambda _: None) -> Iterator[Item]:
    """Yield the rows of an export; raises RecordsError naming the file, the line and the fault.

    `check` raises RecordsError for a row that only looks right.
    """
    number = 0
    try:
        with _open(file, "r", compressed=file.suffix == ".gz") as stream:
            _check_header(stream.readline())
            number = 1
            for line in stream:
                number += 1
                item = _from_dict(json.loads(line))
                check(item)
                yield item
    except (
        ValueError,
        RecursionError,
        EOFError,
        zlib.error,
        gzip.BadGzipFile,
        RecordsError,
    ) as error:
        place = f", line {number}" if number else ""
        raise RecordsError(
            f"cannot import {file}{place}: {error}: what was imported before is kept; export the "
            "file anew or mend it, then import it again"
        ) from error
    except OSError as error:
        raise RecordsError(f"cannot import {file}: {error.strerror or error}") from error


@contextmanager
def importing(file: Path) -> Iterator[None]:
    """Let an error of the database inside the block name the file being imported."""
    try:
        yield
    except RecordsError as error:
        raise RecordsError(f"cannot import {file}: {error}") from error


def _open(file: Path, mode: str, compressed: bool) -> TextIOWrapper:
    """UTF-8 text; compressed lightly, for traces compress well at once."""
    binary: Any
    if compressed:
        binary = gzip.open(file, f"{mode}b", compresslevel=4)  # noqa: SIM115 - closed by the wrapper
    else:
        binary = file.open(f"{mode}b")
    return TextIOWrapper(binary, encoding="utf-8", newline="\n")


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


def _check_header(line: str) -> None:
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise RecordsError("it is not an export of Tilewright records")
    if header.get("version") != VERSION:
        raise RecordsError(
            f"it has format version {header.get('version')}, this Tilewright reads {VERSION}: use "
            "the Tilewright that wrote it, or a newer one"
        )


def _to_dict(item: Item) -> dict[str, Any]:
    values = {field.name: getattr(item, field.name) for field in fields(item)}
    values.pop("id", None)
    if isinstance(item, ModelRow):
        values["tasks"] = [[task.workload_hash, task.weight] for task in item.tasks]
    return {"record": _RECORD_OF[type(item)], **values}


def _from_dict(values: object) -> Item:
    if not isinstance(values, dict) or values.get("record") not in RECORDS:
        raise RecordsError(f"it is not an object whose record is one of {', '.join(RECORDS)}")
    type_ = RECORDS[values.pop("record")]
    arguments = {}
    for field in fields(type_):
        if field.name == "id":
            continue
        if field.name in ADDED and field.name not in values:
            continue
        if field.name not in values:
            raise RecordsError(f"{field.name!r} is missing")
        convert = _CONVERTERS[str(field.type)]
        arguments[field.name] = convert(field.name, values.pop(field.name))
    if values:
        raise RecordsError(f"unknown fields: {', '.join(map(repr, values))}")
    return type_(**arguments)


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
    "float | None": _of(float, int, type(None)),
    "tuple[int, ...]": _tuple_of(_of(int)),
    "tuple[float, ...]": _tuple_of(_NUMBER),
    "tuple[str, ...]": _tuple_of(_of(str)),
    "tuple[ModelTask, ...]": _tuple_of(_task),
    "dict[str, str | float]": _facts,
}

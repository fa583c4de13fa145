"""JSON lines: records as text, to carry from one database to another.

    {"format":"tilewright-records","version":2}
    {"record":"machine","fingerprint":"5a0c…","cpu":"icelake-server",…}
    {"record":"workload",…}  {"record":"model",…}  {"record":"trial",…}

A line names only lines before it. Row ids stay behind: a trial is known by its workload, machine
and gene, whose texts are its fields `producer` and `decisions`. Plans of reuse, which name trials
by id, stay behind as well. A file whose name ends in .gz is compressed.
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

from tilewright.contract.gene import compact
from tilewright.ground.errors import RecordsError
from tilewright.ground.files import replacing
from tilewright.ground.text import one_line, size
from tilewright.records import codec
from tilewright.records.machine import Machine
from tilewright.records.rows import (
    CeilingsRow,
    FactsRow,
    LoadRow,
    ModelRow,
    RunRow,
    Trial,
    WorkloadRow,
)
from tilewright.records.tables import LONGEST_ROW

FORMAT = "tilewright-records"
LONGEST_LINE = LONGEST_ROW  # characters
SHOWN = 400  # characters of what is wrong
VERSION = 2

Item: TypeAlias = (
    Machine | WorkloadRow | ModelRow | RunRow | LoadRow | FactsRow | CeilingsRow | Trial
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
}
_RECORD_OF = {type_: record for record, type_ in RECORDS.items()}


@dataclass(frozen=True, slots=True)
class ImportedRecords:
    """How many rows an import added, and how many trials were known already."""

    machines: int = 0
    workloads: int = 0
    models: int = 0
    runs: int = 0
    trials: int = 0
    known_trials: int = 0


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
        if file.exists() and not file.is_file():
            raise RecordsError("it is no regular file")
        with _open(file, "r", compressed=file.suffix == ".gz") as stream:
            _check_version(stream.readline(LONGEST_LINE))
            number = 1
            while line := stream.readline(LONGEST_LINE):
                number += 1
                if len(line) == LONGEST_LINE:
                    raise RecordsError(f"it has {size(LONGEST_LINE)} or more, and no program has")
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
            f"cannot import {file}{place}: {one_line(error, SHOWN)}: what was imported before is "
            "kept; export the file anew or mend it, then import it again"
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
    return compact(value) + "\n"


def _check_version(line: str) -> None:
    """Raise RecordsError for a header of a version that is not read."""
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise RecordsError("it is not an export of Tilewright records")
    version = header.get("version")
    if type(version) is not int or version != VERSION:
        raise RecordsError(
            f"it has format version {version}, this Tilewright reads {VERSION}: use "
            "the Tilewright that wrote it, or a newer one"
        )


def _to_dict(item: Item) -> dict[str, Any]:
    values = {field.name: getattr(item, field.name) for field in fields(item)}
    if isinstance(item, Trial):
        values.pop("id")
        gene = values.pop("gene")
        values |= {"producer": gene.producer, "decisions": gene.decisions}
    if isinstance(item, ModelRow):
        values["tasks"] = [[task.workload_hash, task.weight] for task in item.tasks]
    return {"record": _RECORD_OF[type(item)], **values}


def _from_dict(values: object) -> Item:
    if not isinstance(values, dict) or values.get("record") not in tuple(RECORDS):
        raise RecordsError(f"it is not an object whose record is one of {', '.join(RECORDS)}")
    type_ = RECORDS[values.pop("record")]
    arguments: dict[str, Any] = {}
    if type_ is Trial:
        gene = values.pop("producer", None), values.pop("decisions", None)
        values = {**values, "gene": gene}
    for field in fields(type_):
        if field.name == "id":
            continue
        if field.name not in values:
            raise RecordsError(f"{field.name!r} is missing")
        arguments[field.name] = codec.checked(field, values.pop(field.name))
    if values:
        raise RecordsError(f"unknown fields: {', '.join(map(repr, values))}")
    return type_(**arguments)

"""Traces as JSON: the gene of the search, the log format and the replay format at once.

    trace_to_json([Split("C", "i", (4, 8))]) == '[["split","C","i",[4,8]]]'

Only bound traces (ints) are written; `trace_hash` names a program together with its workload.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import Any

from tilewright.errors import ScheduleError
from tilewright.nest.marks import MARKS
from tilewright.schedule.steps import STEPS, Step

OLDER = {rule.older: name for name, rule in MARKS.items() if rule.older}
"""What the steps of earlier versions that said one mark each are called now."""
GREATEST_NUMBER = 2**31 - 1
"""The greatest tile length, position or limit in a trace: no tensor has a longer axis."""


def trace_to_json(trace: Sequence[Step]) -> str:
    """A compact JSON list, one list a step: its name, then its fields."""
    rows = [[s.name, *(getattr(s, f.name) for f in fields(s))] for s in trace]
    try:
        return json.dumps(rows, separators=(",", ":"))
    except TypeError:
        raise ScheduleError("the trace has unbound decisions; bind a row first") from None


def trace_from_json(text: str) -> list[Step]:
    """Inverse of `trace_to_json`. The text may be anybody's: raises ScheduleError, naming the step,
    for whatever `trace_to_json` does not write.
    """
    try:
        rows = json.loads(text)
        if not isinstance(rows, list):
            raise ScheduleError(f"a trace is a list of steps, not {_shown(rows)}")
        return [_step(row, number) for number, row in enumerate(rows, 1)]
    except (ValueError, RecursionError) as error:
        raise ScheduleError(f"the trace is not JSON: {error}") from error


def _current(row: Any) -> Any:
    """A row as it is written now: earlier versions had more steps for annotations."""
    match row:
        case [("pragma" | "stream") as name, stage, value]:
            return ["mark", stage, OLDER[name], value]
        case ["bind", stage, leaf, worker]:
            return ["annotate", stage, leaf, worker]
        case ["storage_align", stage, _, int() as unit, half] if half == unit // 2:
            return ["mark", stage, OLDER["storage_align"], unit]
    return row


def _step(row: Any, number: int) -> Step:
    row = _current(row)
    match row:
        case [str() as name, *values] if name in STEPS:
            cls = STEPS[name]
        case [str() as name, *_]:
            raise ScheduleError(f"unknown schedule step {name!r}; known: {', '.join(STEPS)}")
        case _:
            raise ScheduleError(f"step {number} of the trace is {_shown(row)}, not [name, fields…]")
    every = fields(cls)
    least = sum(f.default is MISSING for f in every)
    if not least <= len(values) <= len(every):
        names = ", ".join(f.name for f in every)
        raise ScheduleError(
            f"step {number} of the trace: {name} has the fields {names}, not {_shown(values)}"
        )
    for field, value in zip(every, values, strict=False):
        if not _fits(value, str(field.type)):
            raise ScheduleError(
                f"step {number} of the trace: {field.name} of {name} must be "
                f"{_words(str(field.type))}, not {_shown(value)}"
            )
    return cls(*map(_tuples, values))


def _fits(value: Any, kind: str) -> bool:
    """Whether a JSON value may be a field of that type (True is no integer)."""
    element = _element(kind)
    if element:
        return isinstance(value, list) and all(_fits(v, element) for v in value)
    if kind in ("int", "Extent"):
        return type(value) is int and 0 <= value <= GREATEST_NUMBER
    return type(value) is {"str": str, "bool": bool}[kind]


def _words(kind: str) -> str:
    element = _element(kind)
    if element:
        return f"a list, each {_words(element)}"
    number = f"a number from 0 to {GREATEST_NUMBER}"
    return {"str": "text", "bool": "true or false", "int": number, "Extent": number}[kind]


def _element(kind: str) -> str:
    """The type of a tuple's elements, "" for another type."""
    is_tuple = kind.startswith("tuple[")
    return kind.removeprefix("tuple[").removesuffix(", ...]") if is_tuple else ""


def _shown(value: Any) -> str:
    return f"{json.dumps(value):.60}"


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def trace_hash(text: str) -> str:
    """Short stable name of a JSON trace."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]

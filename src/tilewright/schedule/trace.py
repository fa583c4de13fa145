"""Traces as JSON: the gene of the search, the log format and the replay format at once.

    trace_to_json([Split("C", "i", (4, 8))]) == '[["split","C","i",[4,8]]]'

Only bound traces (ints) are written; `trace_hash` names a program together with its workload.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from tilewright.errors import ScheduleError
from tilewright.schedule.steps import STEPS, Step
from tilewright.schedule.worker_steps import WORKER_STEPS

KNOWN_STEPS = STEPS | WORKER_STEPS


def trace_to_json(trace: Sequence[Step]) -> str:
    """A compact JSON list, one list a step: its name, then its fields."""
    rows = [[s.name, *(getattr(s, f.name) for f in fields(s))] for s in trace]
    try:
        return json.dumps(rows, separators=(",", ":"))
    except TypeError:
        raise ScheduleError("the trace has unbound decisions; bind a row first") from None


def trace_from_json(text: str) -> list[Step]:
    """Inverse of `trace_to_json`. Raises ScheduleError for a step this version does not know."""
    steps: list[Step] = []
    for name, *values in json.loads(text):
        if name not in KNOWN_STEPS:
            raise ScheduleError(f"unknown schedule step {name!r}; known: {', '.join(KNOWN_STEPS)}")
        steps.append(KNOWN_STEPS[name](*(_tuples(v) for v in values)))
    return steps


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def trace_hash(text: str) -> str:
    """Short stable name of a JSON trace."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]

"""A schedule as text: steps whose extents are numbers or depend on named decisions.

    trace_to_json([Split("C", "i", (4, 8))]) == '[["split","C","i",[4,8]]]'
    trace_to_json([Split("C", "i", (Var("C.i#1"), 8))]) == '[["split","C","i",["C.i#1",8]]]'
    steps_of(gene)                 the concrete steps of a gene whose producer is a sketch

An extent is an int, the name of a decision variable, or `[op, extent, extent]`.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from tilewright.contract.gene import GREATEST_NUMBER, Gene, compact, parsed
from tilewright.expr.nodes import Binary, Const, Extent, Operand, Var
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.steps import STEPS, Step

EXTENT_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
}

EXTENTS = "tuple[Extent, ...]"

# ---- genes ------------------------------------------------------------------------------------


def sketch_to_json(name: str, trace: Sequence[Step]) -> str:
    """The producer text of a sketch, or of a schedule by hand, which has no name."""
    return f'{{"sketch":{compact(name)},"steps":{trace_to_json(trace)}}}'


def gene_of(trace: Sequence[Step]) -> Gene:
    """The gene of a schedule without decisions."""
    return Gene(sketch_to_json("", trace))


def sketch_from_json(producer: str) -> tuple[str, list[Any]]:
    """Name and steps (see `read_steps`) of a producer that is a sketch. Raises ScheduleError."""
    match parsed(producer, "the trace is"):
        case {"sketch": str() as name, "steps": rows}:
            return name, rows
    raise ScheduleError(f'a producer is {{"sketch": …, "steps": …}}, not {producer:.60}')


def steps_of(gene: Gene) -> list[Step]:
    """The concrete steps of a gene. Raises ScheduleError for a text that no search writes."""
    _, rows = sketch_from_json(gene.producer)
    return read_steps(rows, gene.values)


def template_of(gene: Gene) -> str | None:
    """The name of the template that makes a gene's program, a vendor's or ours; None where a
    schedule does. Raises ScheduleError for a text that no search writes.
    """
    match parsed(gene.producer, "the producer is"):
        case {"native": str() as name} | {"template": str() as name}:
            return name
    return None


# ---- steps ------------------------------------------------------------------------------------


def trace_to_json(trace: Sequence[Step]) -> str:
    """A compact JSON list, one list a step: its name, then its fields."""
    return compact([[s.name, *(plain(getattr(s, f.name)) for f in fields(s))] for s in trace])


def plain(value: Any) -> Any:
    """A field of a step as JSON has it."""
    match value:
        case tuple():
            return [plain(v) for v in value]
        case Const(value=number):
            return number
        case Var(name=name):
            return name
        case Binary(op=op, a=a, b=b) if op in EXTENT_OPS:
            return [op, plain(a), plain(b)]
        case Operand():
            raise ScheduleError(f"the extent {value} has no text; its form is not among EXTENT_OPS")
    return value


def trace_from_json(text: str) -> list[Step]:
    """Inverse of `trace_to_json` for concrete steps. The text may be anybody's: raises
    ScheduleError, naming the step, for whatever `trace_to_json` does not write.
    """
    return read_steps(parsed(text, "the trace is"), {})


def read_steps(rows: Any, values: Mapping[str, Extent]) -> list[Step]:
    """Steps as JSON has them, with `values` (ints, or variables for a symbolic schedule) for the
    variables. Raises ScheduleError for anything else.
    """
    if not isinstance(rows, list):
        raise ScheduleError(f"a trace is a list of steps, not {_shown(rows)}")
    try:
        return [_step(row, number, values) for number, row in enumerate(rows, 1)]
    except RecursionError as error:
        raise ScheduleError(f"a step is nested too deeply: {error}") from error


def read_extents(given: Any, values: Mapping[str, Extent]) -> tuple[Extent, ...]:
    """A list of extents as JSON has it. Raises ScheduleError for anything else."""
    found: tuple[Extent, ...] | None = _bound(given, EXTENTS, values)
    if found is None:
        raise ScheduleError(f"numbers must be {_words(EXTENTS)}, not {_shown(given)}")
    return found


def _step(row: Any, number: int, values: Mapping[str, Extent]) -> Step:
    match row:
        case [str() as name, *given] if name in STEPS:
            cls = STEPS[name]
        case [str() as name, *_]:
            raise ScheduleError(f"unknown schedule step {name!r}; known: {', '.join(STEPS)}")
        case _:
            raise ScheduleError(f"step {number} of the trace is {_shown(row)}, not [name, fields…]")
    every = fields(cls)
    least = sum(f.default is MISSING for f in every)
    if not least <= len(given) <= len(every):
        names = ", ".join(f.name for f in every)
        raise ScheduleError(
            f"step {number} of the trace: {name} has the fields {names}, not {_shown(given)}"
        )
    found = []
    for field, value in zip(every, given, strict=False):
        bound = _bound(value, str(field.type), values)
        if bound is None:
            raise ScheduleError(
                f"step {number} of the trace: {field.name} of {name} must be "
                f"{_words(str(field.type))}, not {_shown(value)}"
            )
        found.append(bound)
    return cls(*found)


def _bound(value: Any, kind: str, values: Mapping[str, Extent]) -> Any:
    """A JSON value as a field of that type; None where it can be none (True is no integer)."""
    element = _element(kind)
    if element:
        parts = [_bound(v, element, values) for v in value] if isinstance(value, list) else [None]
        return None if any(p is None for p in parts) else tuple(parts)
    if kind in ("int", "Extent") and type(value) is int:
        return value if 0 <= value <= GREATEST_NUMBER else None
    if kind == "Extent":
        return _extent(value, values)
    return value if type(value) is {"str": str, "bool": bool, "int": int}[kind] else None


def _extent(value: Any, values: Mapping[str, Extent]) -> Extent | None:
    match value:
        case int() if type(value) is int:
            return value
        case str():
            return values.get(value)
        case [str() as op, a, b] if op in EXTENT_OPS:
            left, right = _extent(a, values), _extent(b, values)
            is_divided = not (isinstance(right, int) and right == 0)
            if left is not None and right is not None and is_divided:
                extent: Extent = EXTENT_OPS[op](left, right)
                return extent
    return None


def _words(kind: str) -> str:
    element = _element(kind)
    if element:
        return f"a list, each {_words(element)}"
    number = f"a number from 0 to {GREATEST_NUMBER}"
    extent = f"{number}, or a decision that has a value"
    return {"str": "text", "bool": "true or false", "int": number, "Extent": extent}[kind]


def _element(kind: str) -> str:
    """The type of a tuple's elements, "" for another type."""
    is_tuple = kind.startswith("tuple[")
    return kind.removeprefix("tuple[").removesuffix(", ...]") if is_tuple else ""


def _shown(value: Any) -> str:
    return f"{json.dumps(value):.60}"

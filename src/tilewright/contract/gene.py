"""A candidate as it is stored, hashed, sent and replayed: who makes the program, and how.

    gene = Gene('{"sketch":"tiling","steps":[["split","C","i",["C.i#1"]]]}', '{"C.i":[8]}')
    gene.text        '{"producer":{"sketch":…},"decisions":{"C.i":[8]}}'
    gene.values      {"C.i#1": 8}

A *producer* is a sketch's steps, whose free extents are decision variables, or a template by its
name: `{"template":"matmul.threads.1","numbers":[…]}` is one of ours, `{"native":"cutlass.gemm"}` a
vendor's, `{"by_size":"S","below":[32],"programs":[…]}` has a program for each range of a size. Its
*decisions* have an int each, or a list where a decision has several variables (`variables`). Both
are kept as the JSON text that was written first, so equal genes have equal texts and nothing reads
them on their way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeAlias

from tilewright.ground.errors import ScheduleError

Value: TypeAlias = int | list[int]

GREATEST_NUMBER = 2**31 - 1
"""The greatest tile length, position or limit of a program: no tensor has a longer axis."""


LONGEST_TEXT = 1 << 18
"""Characters of a producer or of decisions; those of large programs have some thousands."""


def compact(value: object) -> str:
    """JSON text without spaces, ASCII only."""
    return json.dumps(value, separators=(",", ":"))


def parsed(text: str, what: str) -> Any:
    """The value of a JSON text of a gene. Raises ScheduleError, which begins with `what` ("the gene
    is"), for other text and for one that is longer than any search writes.
    """
    if len(text) > LONGEST_TEXT:
        raise ScheduleError(f"{what} longer than {LONGEST_TEXT} characters")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScheduleError(f"{what} not JSON: {error}") from error


def variables(name: str, count: int | None) -> tuple[str, ...]:
    """The variables of a decision: its name, or `name#1`, … where it has a list of values."""
    return (name,) if count is None else tuple(f"{name}#{i}" for i in range(1, count + 1))


@dataclass(frozen=True)
class Gene:
    """A producer and its decisions, JSON texts. The texts may be anybody's: who reads them raises
    ScheduleError for what no search writes.
    """

    producer: str
    decisions: str = "{}"

    @property
    def text(self) -> str:
        """Both as one JSON object: not kept, for a search keeps every program that it measured."""
        return f'{{"producer":{self.producer},"decisions":{self.decisions}}}'

    @cached_property
    def hash(self) -> str:
        """16 hexadecimal digits that name the program together with its workload."""
        return sha256(self.text.encode()).hexdigest()[:16]

    @property
    def key(self) -> str:
        """The producer's first key, which says what makes the program: "sketch", "template",
        "native", a vendor's template (`tilewright.cutlass`), or "by_size"; "" of no producer.
        """
        return next(iter(self.producer.split('"')[1:]), "")

    @staticmethod
    def of(text: str) -> Gene:
        """Inverse of `text`. Raises ScheduleError for anything else."""
        match document := parsed(text, "the gene is"):
            case {"producer": producer, "decisions": dict() as decisions} if len(document) == 2:
                return Gene(compact(producer), compact(decisions))
        raise ScheduleError(
            f'a gene is {{"producer": …, "decisions": {{…}}}}, not {compact(document):.80}'
        )

    @property
    def values(self) -> dict[str, int]:
        """Decision variable -> its value. Raises ScheduleError for decisions that are none."""
        found: dict[str, int] = {}
        for name, value in read_decisions(self.decisions).items():
            numbers = value if isinstance(value, list) else [value]
            names = variables(name, len(value) if isinstance(value, list) else None)
            found |= dict(zip(names, numbers, strict=True))
        return found


def read_decisions(text: str) -> Mapping[str, Value]:
    """The decisions of a gene. Raises ScheduleError for other text."""
    decisions = parsed(text, "the decisions are")
    if not isinstance(decisions, dict):
        raise ScheduleError(f"decisions are an object, not {compact(decisions):.60}")
    for name, value in decisions.items():
        numbers = value if isinstance(value, list) else [value]
        if not all(type(n) is int and 0 <= n <= GREATEST_NUMBER for n in numbers):
            raise ScheduleError(
                f"decision {name!r} must have numbers from 0 to {GREATEST_NUMBER}, not "
                f"{compact(value):.60}"
            )
    return decisions

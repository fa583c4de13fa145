"""Sizes: int64 variables of a program that a call gives values, each with a range.

rows = Size("S", 1, 512)
checked_sizes((rows,), {"S": 37})     {"S": 37}, or an InputError that says what is wrong
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tilewright.ground.errors import InputError


@dataclass(frozen=True, slots=True)
class Size:
    """A variable called `name`, from `least` to `most`. Raises InputError for an empty range."""

    name: str
    least: int
    most: int

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.most or self.most < 1:
            raise InputError(f"size {self.name} cannot be in {self.least}..{self.most}")

    def __str__(self) -> str:
        return f"{self.name} in {self.least}..{self.most}"


Sizes: TypeAlias = tuple[Size, ...]


def checked_sizes(sizes: Sizes, values: Mapping[str, int]) -> dict[str, int]:
    """The value of each size, in their order. Raises InputError for one that is missing, unknown,
    no int or out of its range.
    """
    unknown = sorted(set(values) - {s.name for s in sizes})
    if unknown:
        known = ", ".join(map(str, sizes)) or "none"
        raise InputError(f"there is no size {', '.join(unknown)}; known: {known}")
    found = {}
    for s in sizes:
        said = repr(values[s.name]) if s.name in values else "not given"
        value = values.get(s.name, -1)
        is_int = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not is_int or not s.least <= value <= s.most:
            raise InputError(f"size {s.name} is {said}; it must be in {s.least}..{s.most}")
        found[s.name] = int(value)
    return found

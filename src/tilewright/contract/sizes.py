"""Sizes: int64 variables of a program that a call gives values, each with a range.

rows = Size("S", 1, 512)
checked_sizes((rows,), {"S": 37})     {"S": 37}, or an InputError that says what is wrong
points_of((rows,))                    values at which programs are measured, each with its weight
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

import numpy as np

from tilewright.ground.errors import InputError

APART = 4  # times, values at which programs are measured where nobody says which
ESTIMATED = 3  # points


@dataclass(frozen=True, slots=True)
class Size:
    """A variable called `name`, from `least` to `most`. Programs are measured at `points`, pairs of
    a value and its weight: () are the most, a quarter of it, a quarter of that …, which weigh
    1 / √value: between "every call counts alike" and "every second does". A network's own run finds
    the value of one that is `computed`; the shapes of inputs give the others, where extents are
    `step` times them. The value of one that is `pitched` may change while memory is in use, as what
    grows in place: what lies in rows over it is as far apart as the most of it wants.
    Raises InputError for an empty range, or a point outside of it.
    """

    name: str
    least: int
    most: int
    points: tuple[tuple[int, float], ...] = ()
    computed: bool = False
    step: int = field(default=1, compare=False)
    pitched: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.most or self.most < 1:
            raise InputError(f"size {self.name} cannot be in {self.least}..{self.most}")
        for value, weight in self.points:
            if not self.least <= value <= self.most or not 0 < weight < math.inf:
                raise InputError(
                    f"size {self} is not measured at {value} with weight {weight}: points are in "
                    f"its range, weights above 0"
                )

    def __str__(self) -> str:
        return f"{self.name} in {self.least}..{self.most}"

    def by(self, factor: int) -> Size:
        """What counts this many of it. Raises InputError where its range has no multiple."""
        step = factor * self.step
        name = f"{self.name.removesuffix(f'_by_{self.step}')}_by_{step}"
        least, most = -(-self.least // factor), self.most // factor
        points = {min(max(v // factor, least), most): w for v, w in self.points}
        return Size(name, least, most, tuple(points.items()), step=step, pitched=self.pitched)

    @property
    def dimension(self) -> str:
        """The extent of inputs that gives its value, as `BufferSpec.varying` has it."""
        return f"{self.name} * {self.step}" if self.step > 1 else self.name

    @property
    def range(self) -> list[Any]:
        """Its ends, its points and whether it is pitched, as JSON has them."""
        if self.pitched:
            return [self.least, self.most, self.points, True]
        return [self.least, self.most, *([self.points] if self.points else [])]

    @staticmethod
    def of(
        name: str,
        least: int,
        most: int,
        points: Iterable[Iterable[Any]] = (),
        pitched: bool = False,
    ) -> Size:
        """From JSON: the name, then `range`."""
        found = tuple((value, weight) for value, weight in points)
        return Size(name, least, most, found, pitched=pitched)

    @property
    def measured(self) -> tuple[tuple[int, float], ...]:
        """The points, or those that nobody had to say, the greatest first."""
        found, value = list(self.points), self.most
        while not self.points and value >= max(self.least, 1):
            found.append((value, value**-0.5))
            value //= APART
        return tuple(sorted(found, reverse=True))

    @property
    def estimated(self) -> tuple[tuple[int, float], ...]:
        """The points at which programs are estimated: the greatest, the least and one between; of a
        range that has fewer and nobody said, its ends and their geometric mean.
        """
        found, low = self.measured, max(self.least, 1)
        if self.points or len(found) >= ESTIMATED:
            return tuple(found[k] for k in sorted({0, len(found) // 2, len(found) - 1}))
        values = {self.most, _middle(low, self.most), low}
        return tuple((v, v**-0.5) for v in sorted(values, reverse=True))

    @property
    def compared(self) -> tuple[tuple[int, float], ...]:
        """The points at which the best by these estimates are compared: all that somebody said, or
        those of the estimates and one between two, which weigh alike.
        """
        values = [value for value, _ in self.estimated]
        between = {_middle(low, high) for high, low in pairwise(values)}
        return self.points or tuple((v, 1.0) for v in sorted({*values, *between}, reverse=True))


def _middle(low: int, high: int) -> int:
    """As many times `low` as `high` is times it."""
    return round(math.sqrt(low * high))


Sizes: TypeAlias = tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """Values of all sizes, and their weight: 0 where programs are checked and not timed."""

    values: Mapping[str, int]
    weight: float = 0.0

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.values.items())


def points_of(sizes: Sizes) -> tuple[Point, ...]:
    """Where programs are measured, weights that sum to 1: the first points of all sizes together,
    then the second ones …, a size that has no more at its last. Then where they are checked only:
    all sizes at their least, and one below their most.
    """
    if not sizes:
        return ()
    found = _together([s.measured for s in sizes])
    for values in ([s.least for s in sizes], [max(s.least, s.most - 1) for s in sizes]):
        found.setdefault(tuple(values), 0.0)
    return tuple(_points(sizes, found))


def estimated_points(sizes: Sizes) -> list[Point]:
    """Where programs are estimated: those points of all sizes together, weights that sum to 1."""
    return _points(sizes, _together([s.estimated for s in sizes]))


def compared_points(sizes: Sizes) -> list[Point]:
    """Where the best of them are compared: those points of all sizes together."""
    return _points(sizes, _together([s.compared for s in sizes]))


def _together(lists: Sequence[Sequence[tuple[int, float]]]) -> dict[tuple[int, ...], float]:
    """The first points of all sizes, then the second ones …, each with the product of weights."""
    found: dict[tuple[int, ...], float] = {}
    for k in range(max(map(len, lists))):
        pairs = [points[min(k, len(points) - 1)] for points in lists]
        found[tuple(value for value, _ in pairs)] = prod(weight for _, weight in pairs)
    return found


def _points(sizes: Sizes, found: Mapping[tuple[int, ...], float]) -> list[Point]:
    names, total = [s.name for s in sizes], sum(found.values())
    return [
        Point(dict(zip(names, values, strict=True)), weight / total)
        for values, weight in found.items()
    ]


def timed_points(sizes: Sizes) -> list[Point]:
    """Those of them where programs are timed."""
    return [p for p in points_of(sizes) if p.weight > 0]


def points_text(sizes: Sizes, seconds: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """The points where programs are timed, in words, with what one took there; nothing where that
    is not known.
    """
    pairs = zip(timed_points(sizes), seconds, strict=True) if seconds else ()
    return tuple((str(point), s) for point, s in pairs)


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

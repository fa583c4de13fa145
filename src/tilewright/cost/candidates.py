"""What is scored: programs with free decisions, and rows of an integer matrix that decide them.

A producer is one symbolic nest with its decision variables; where the nest comes from (a schedule,
a template, a hand) nobody here asks. `space.Space` holds the producers of one task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.contract.sizes import Point
from tilewright.expr.nodes import Expr, Extent
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import Program
from tilewright.target import Target

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Float32s: TypeAlias = NDArray[np.float32]


class SymbolicNest(Protocol):
    """A program with free decisions."""

    @property
    def name(self) -> str:
        """Unique in its space."""

    @property
    def program(self) -> Program:
        """The symbolic nest."""

    @property
    def definitions(self) -> Mapping[str, Expr]:
        """What the names of recurring expressions in the nest stand for."""

    @property
    def resources(self) -> Mapping[tuple[str, str], Extent]:
        """Amounts by whose and of what (`cost.resources`)."""

    def environment(self, rows: Ints) -> dict[str, Ints | int]:
        """Decision variable -> its column in `rows` (`[n, all columns]`), and size -> its most."""


@dataclass
class Population:
    """Candidates: `rows` `[n, columns]` int64 and the number of the producer of each, `[n]`."""

    rows: Ints
    sketch: Ints

    def __post_init__(self) -> None:
        """Raises ScheduleError for arrays that are no such pair."""
        shapes = np.shape(self.rows), np.shape(self.sketch)
        if len(shapes[0]) != 2 or shapes[1] != shapes[0][:1]:
            raise ScheduleError(
                f"Population(rows, sketch) takes a matrix of decisions, [n, columns], then the "
                f"number of each row's sketch, [n]; got arrays of shapes {shapes[0]}, {shapes[1]}"
            )

    def __len__(self) -> int:
        return len(self.sketch)

    def __getitem__(self, which: Ints | Bools | slice) -> Population:
        return Population(self.rows[which], self.sketch[which])


def concatenate(parts: Sequence[Population]) -> Population:
    """One population of all rows, in order."""
    rows = np.concatenate([p.rows for p in parts])
    return Population(rows, np.concatenate([p.sketch for p in parts]))


class Producers(Protocol):
    """The producers of one task, as scoring sees them.

    Tensors named in `shifted` begin anywhere in a cache line.
    """

    @property
    def sketches(self) -> Sequence[SymbolicNest]:
        """All of them, by number."""

    @property
    def target(self) -> Target:
        """The device."""

    @property
    def shifted(self) -> frozenset[str]:
        """Names of inputs."""

    @property
    def points(self) -> Sequence[Point]:
        """Where those of a task with sizes are estimated; else none."""

    def groups(self, population: Population) -> Sequence[tuple[SymbolicNest, Ints]]:
        """The producers present, each with the indices of its rows."""

    def sample(self, rng: np.random.Generator, n: int) -> Population:
        """Valid candidates."""

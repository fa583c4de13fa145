"""A nest that somebody wrote, with free decisions: a producer that needs no schedule.

    space = template_space(target, [Template("tiled", program, decisions, constraints)])
    population = space.sample(rng, 64)
    space.sketches[0].concrete(population.rows[0])      a concrete program

It is scored, checked and searched as sketches are: all of that reads nests. `program` is symbolic,
its free variables those of its decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.contract.gene import compact
from tilewright.cost.candidates import Ints
from tilewright.expr.nodes import Expr
from tilewright.nest.bind import bind
from tilewright.nest.nodes import Program
from tilewright.nest.verify import verify
from tilewright.space.candidate_space import CandidateSpace, Decided
from tilewright.space.decisions import Decision
from tilewright.target import Target


@dataclass(frozen=True)
class Template:
    """A symbolic nest, its decisions, and conditions (bool expressions) on them."""

    name: str
    program: Program
    decisions: tuple[Decision, ...]
    constraints: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class DecidedTemplate(Decided):
    """A template whose decisions have their columns."""

    nest: Program

    @property
    def producer(self) -> str:
        """Its name."""
        return compact({"template": self.name})

    @property
    def program(self) -> Program:
        """The symbolic loop nest."""
        return self.nest

    def concrete(self, row: Ints) -> Program:
        """The program of one candidate, its decisions put in."""
        return bind(self.nest, self.values(row))


def template_space(
    target: Target, templates: Sequence[Template]
) -> CandidateSpace[DecidedTemplate]:
    """The templates side by side. Raises VerifyError for a nest that breaks its layer's rules."""
    space: CandidateSpace[DecidedTemplate] = CandidateSpace(target)
    placed = []
    for t in templates:
        verify(t.program, symbolic=True)
        columns = space.place(t.decisions)
        placed.append(
            DecidedTemplate(t.name, target, t.decisions, t.constraints, columns, t.program)
        )
    space.sketches = tuple(placed)
    return space

"""The search space of one DAG: the sketches that rules derive, on one target.

    space = Space(dag, target)
    population = space.sample(rng, 2048)          see `candidate_space`
    gene = space.gene(sketch, row)                what is kept of a candidate
    trace = space.trace(sketch, row)              concrete transform steps

A candidate is a sketch's number and a row of the matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tilewright.contract.surroundings import AMONG_OTHERS, Setting
from tilewright.cost.candidates import Ints
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr
from tilewright.nest.nodes import Program
from tilewright.schedule.bounds import Bounds, infer_bounds
from tilewright.schedule.lower import Lowered, lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step
from tilewright.schedule.trace import read_steps, sketch_from_json, sketch_to_json
from tilewright.space.annotate import annotate
from tilewright.space.annotate_gpu import annotate_gpu
from tilewright.space.candidate_space import CandidateSpace, Decided
from tilewright.space.derivation import Derivation, Rule, derive
from tilewright.space.rules import rules_of
from tilewright.target import CpuTarget, Target

TEMPLATE_ROWS = 10_000  # of a template, valid or not, at most


@dataclass(frozen=True)
class Sketch(Decided):
    """A schedule with free decisions: the `rules` that derived it, and what is otherwise in each
    `variant` of that.
    """

    state: State
    rules: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()

    @property
    def is_template(self) -> bool:
        """Whether a template computes everything."""
        return self.state.templated is not None

    @property
    def serves_unmeasured(self) -> bool:
        templated = self.state.templated
        return templated is None or templated.template.serves_unmeasured(self.target)

    @cached_property
    def producer(self) -> str:
        """Its steps as JSON text, the decisions free."""
        return sketch_to_json(self.name, self.state.trace)

    @cached_property
    def _steps(self) -> list[Any]:
        """The same as JSON has it."""
        return sketch_from_json(self.producer)[1]

    @cached_property
    def bounds(self) -> Bounds:
        """Symbolic extents, axis values and windows of all stages."""
        return infer_bounds(self.state)

    @cached_property
    def lowered(self) -> Lowered:
        """The symbolic loop nest, and how its constants are packed."""
        return lower(self.state, self.name, self.bounds)

    @property
    def program(self) -> Program:
        """The symbolic loop nest."""
        return self.lowered.program

    @property
    def definitions(self) -> Mapping[str, Expr]:
        """What the names of recurring expressions in the nest stand for."""
        return self.bounds.definitions

    def concrete(self, row: Ints) -> Program:
        """The program of one candidate, replayed."""
        return lower(State(self.state.dag).replay(self.trace(row)), self.name).program

    def trace(self, row: Ints) -> list[Step]:
        """Concrete steps of one candidate."""
        return read_steps(self._steps, self.values(row))


class Space(CandidateSpace[Sketch]):
    """All sketches of one DAG on one target."""

    def __init__(
        self,
        dag: ComputeDAG,
        target: Target,
        rules: Sequence[Rule] | None = None,
        setting: Setting = AMONG_OTHERS,
    ) -> None:
        """`rules` are those of the target's kind where none are given; `setting` is what runs
        around the program.
        """
        super().__init__(target)
        self.dag = dag
        chosen = rules_of(target) if rules is None else rules
        derived = derive(dag, target, chosen)
        if isinstance(target, CpuTarget):
            self.shifted = frozenset(t.name for t in dag.inputs if setting.is_alone)
            streams = setting.is_alone and _overflows(dag, target)
            derivations = [v for d in derived for v in annotate(d, streams)]
        else:
            derivations = [v for d in derived for v in annotate_gpu(d)]
        self.sketches = tuple(self._sketch(d) for d in derivations)
        self.sketches = tuple(s for k, s in enumerate(self.sketches) if self._has_any(k, s))

    def _sketch(self, d: Derivation) -> Sketch:
        decisions = tuple(d.decisions.values())
        return Sketch(
            name=" · ".join((*d.rules, *d.variant)),
            target=self.target,
            decisions=decisions,
            constraints=tuple(d.constraints),
            columns=self.place(decisions),
            state=d.state,
            rules=d.rules,
            variant=d.variant,
        )

    def _has_any(self, number: int, sketch: Sketch) -> bool:
        """Whether a sketch has candidates, which is asked of templates only: those have few."""
        return not sketch.is_template or len(self.listed(number, TEMPLATE_ROWS)) > 0

    def drawn_sketches(self, rng: np.random.Generator, n: int) -> Ints:
        """Uniform, but all templates together are one: they have few candidates."""
        templates = np.array([s.is_template for s in self.sketches])
        if not templates.any() or templates.all():
            return super().drawn_sketches(rng, n)
        share = np.where(templates, 1 / templates.sum(), 1.0)
        return rng.choice(len(share), n, p=share / share.sum())

    def trace(self, sketch: int, row: Ints) -> list[Step]:
        """Concrete steps of candidate `row` (`[columns]`) of a sketch."""
        return self.sketches[sketch].trace(row)


def _overflows(dag: ComputeDAG, target: CpuTarget) -> bool:
    """Whether what a program reads and writes is more than the cores' own caches hold: then its
    outputs do not stay there anyway.
    """
    return dag.least_bytes > target.cores * target.l2_bytes

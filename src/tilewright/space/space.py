"""The search space of one DAG: the sketches that rules derive, on one target.

    space = Space(dag, target)
    population = space.sample(rng, 2048)          see `candidate_space`
    trace = space.trace(sketch, row)              concrete transform steps

A candidate is a sketch's number and a row of the matrix.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tilewright.cost.candidates import Ints
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr
from tilewright.expr.reference import static_shape
from tilewright.nest.nodes import Program
from tilewright.schedule.bounds import Bounds, infer_bounds
from tilewright.schedule.lower import Lowered, lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step
from tilewright.setting import AMONG_OTHERS, Setting
from tilewright.space.annotate import annotate
from tilewright.space.annotate_gpu import annotate_gpu
from tilewright.space.candidate_space import CandidateSpace, Decided
from tilewright.space.derivation import Derivation, Rule, derive
from tilewright.space.rules import rules_of
from tilewright.target import CpuTarget, Target


@dataclass(frozen=True)
class Sketch(Decided):
    """A schedule with free decisions.

    `key` names structure and columns for the records: rows of another key mean something else.
    """

    key: str
    state: State

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
        values = self.values(row)
        return [step.bind(values) for step in self.state.trace]


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

    def _sketch(self, d: Derivation) -> Sketch:
        decisions = tuple(d.decisions.values())
        columns = self.place(decisions)
        variables = [v for decision in decisions for v in decision.columns]
        name = " · ".join((*_summary(d.applied), *d.variant))
        genes = f"{name}\n{self.width}\n{variables}\n{d.state.trace}"
        return Sketch(
            name=name,
            target=self.target,
            decisions=decisions,
            constraints=tuple(d.constraints),
            columns=columns,
            key=hashlib.sha256(genes.encode()).hexdigest()[:12],
            state=d.state,
        )

    def recorded(self, key: str, width: int) -> int | None:
        """The number of the sketch that a recorded row belongs to, by the sketch's key and the
        length of the row; None where today's space has no such sketch or other columns.
        """
        keys = (i for i, sketch in enumerate(self.sketches) if sketch.key == key)
        return next(keys, None) if width == self.width else None

    def trace(self, sketch: int, row: Ints) -> list[Step]:
        """Concrete steps of candidate `row` (`[columns]`) of a sketch."""
        return self.sketches[sketch].trace(row)


def _overflows(dag: ComputeDAG, target: CpuTarget) -> bool:
    """Whether what a program reads and writes is more than the cores' own caches hold: then its
    outputs do not stay there anyway.
    """
    tensors = (*dag.inputs, *dag.constants, *dag.outputs)
    total = sum(math.prod(static_shape(t)) * t.dtype.bytes for t in tensors)
    return total > target.cores * target.l2_bytes


def _summary(applied: tuple[str, ...]) -> list[str]:
    """Rule names without skips."""
    return [name for name in applied if name not in ("skip", "always_inline")]

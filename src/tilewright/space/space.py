"""The search space of one DAG: the sketches that rules derive, on one target.

    space = Space(dag, target)
    population = space.sample(rng, 2048)          see `candidate_space`
    gene = space.gene(sketch, row)                what is kept of a candidate
    trace = space.trace(sketch, row)              concrete transform steps

A candidate is a sketch's number and a row of the matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tilewright.contract.gene import Gene
from tilewright.contract.sizes import Point, estimated_points
from tilewright.contract.surroundings import AMONG_OTHERS, Setting
from tilewright.cost.candidates import Ints
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import Program
from tilewright.schedule.bounds import Bounds, infer_bounds
from tilewright.schedule.lower import Lowered, lower
from tilewright.schedule.producers import lowered_of
from tilewright.schedule.state import Stage, State
from tilewright.schedule.steps import Step
from tilewright.schedule.templates import Template, templates_of
from tilewright.schedule.trace import sketch_to_json, steps_of
from tilewright.space.annotate import annotate
from tilewright.space.annotate_gpu import annotate_gpu
from tilewright.space.candidate_space import CandidateSpace, Producer
from tilewright.space.derivation import Derivation, Rule, derive
from tilewright.space.rules import rules_of
from tilewright.space.templates import placed
from tilewright.target import CpuTarget, Target

LISTED_ROWS = 10_000  # of a producer whose candidates are listed, valid or not, at most


@dataclass(frozen=True, kw_only=True)
class Sketch(Producer):
    """A schedule with free decisions, and `sized`, the same one of a DAG with sizes, if that is
    what it is for: then its nest has these as variables.
    """

    state: State
    sized: State | None = None

    @property
    def stages(self) -> Mapping[str, Stage]:
        return self.state.stages

    @cached_property
    def producer(self) -> str:
        """Its steps as JSON text, the decisions free."""
        return sketch_to_json(self.name, self.state.trace)

    @cached_property
    def bounds(self) -> Bounds:
        """Symbolic extents, axis values and windows of all stages."""
        return infer_bounds(self.sized or self.state, free=True)

    @cached_property
    def lowered(self) -> Lowered:
        """The symbolic loop nest, and how its constants are packed."""
        return lower(self.sized or self.state, self.name, self.bounds)

    @property
    def program(self) -> Program:
        """The symbolic loop nest."""
        return self.lowered.program

    @property
    def definitions(self) -> Mapping[str, Expr]:
        """What the names of recurring expressions in the nest stand for."""
        return self.bounds.definitions

    def environment(self, rows: Ints) -> dict[str, Ints | int]:
        """Sizes are at their most."""
        sizes = self.sized.dag.sizes if self.sized else ()
        return {**super().environment(rows), **{s.name: s.most for s in sizes}}


class Space(CandidateSpace):
    """All sketches and templates of one DAG on one target."""

    def __init__(
        self,
        dag: ComputeDAG,
        target: Target,
        rules: Sequence[Rule] | None = None,
        setting: Setting = AMONG_OTHERS,
        templates: Sequence[Template] | None = None,
    ) -> None:
        """`rules` and `templates` are the target's where none are given (with the rules `()` there
        are templates alone); `setting` is what runs around the program. Of a DAG with sizes it is
        the space of the heaviest; templates, and sketches that do not fit all values, are left out.
        """
        super().__init__(target)
        self.sized = sized = dag if dag.sizes else None
        self.dag = dag = dag.heaviest
        if sized is not None:
            templates = ()
        elif templates is None:
            templates = templates_of(target)
        made = placed(self, dag, templates)
        self.sketches = tuple(made)  # their columns come first
        chosen = rules_of(target) if rules is None else rules
        derived = derive(dag, target, chosen, sized) if chosen or not self.sketches else []
        if isinstance(target, CpuTarget):
            self.shifted = frozenset(t.name for t in dag.inputs if setting.is_alone)
            streams = setting.is_alone and _overflows(dag, target)
            derivations = [v for d in derived for v in annotate(d, streams)]
        else:
            derivations = [v for d in derived for v in annotate_gpu(d)]
        for d in derivations:
            replayed = None if sized is None else _replayed(sized, d.state.trace)
            if sized is None or replayed is not None:
                self.sketches += (self._sketch(d, replayed),)
        self.sketches = tuple(s for k, s in enumerate(self.sketches) if self._has_any(k, s))
        twice = [name for name, n in Counter(s.name for s in self.sketches).items() if n > 1]
        if twice:
            raise ScheduleError(
                f"two sketches are called {twice[0]!r}: a rule beside which others are tried adds "
                f"what it did to the derivation's variant"
            )

    @cached_property
    def points(self) -> Sequence[Point]:
        return () if self.sized is None else estimated_points(self.sized.sizes)

    def _sketch(self, d: Derivation, sized: State | None) -> Sketch:
        decisions = tuple(d.decisions.values())
        return Sketch(
            target=self.target,
            rules=d.rules,
            variant=d.variant,
            decisions=decisions,
            constraints=tuple(d.constraints),
            columns=self.place(decisions),
            state=d.state,
            sized=sized,
        )

    def _has_any(self, number: int, sketch: Producer) -> bool:
        """Whether there are candidates, which is asked of listed ones only: those are few."""
        return not sketch.is_listed or len(self.listed(number, LISTED_ROWS)) > 0

    @cached_property
    def natives(self) -> tuple[Gene, ...]:
        return natives_of(self.dag, self.target) if self.sized is None else ()

    def concrete(self, sketch: int, row: Ints) -> Program:
        """The program of candidate `row` (`[columns]`) of a sketch."""
        return lowered_of(self.dag, self.gene(sketch, row), self.sketches[sketch].name).program

    def trace(self, sketch: int, row: Ints) -> list[Step]:
        """Concrete steps of a candidate. Raises ScheduleError where it is no schedule's."""
        return steps_of(self.gene(sketch, row))


def _replayed(dag: ComputeDAG, trace: Sequence[Step]) -> State | None:
    """What the steps make of a DAG on which they are legal."""
    try:
        return State(dag).replay(trace)
    except ScheduleError:
        return None


def natives_of(dag: ComputeDAG, target: Target) -> tuple[Gene, ...]:
    """The programs that vendors' templates for a target offer, the most promising first."""
    part = target.backend.templates
    return () if part is None else tuple(part.load()(dag, target))


def _overflows(dag: ComputeDAG, target: CpuTarget) -> bool:
    """Whether what a program reads and writes is more than the cores' own caches hold: then its
    outputs do not stay there anyway.
    """
    return dag.least_bytes > target.cores * target.l2_bytes

"""The search space of one DAG: sketches, their decisions, and the candidate matrix.

    space = Space(dag, target)
    population = space.sample(rng, 2048)          rows [n, columns], sketch index [n]
    space.valid(population)                       bool [n]
    trace = space.trace(sketch, row)              concrete transform steps

A candidate is a sketch index and a row of one integer matrix whose columns are those of all
decisions of all sketches. A sketch reads its own columns; the others ride along, so that a child
may change its sketch. Decisions that are equal in two sketches share their columns.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tilewright.cost.candidates import Bools, Ints, Population, concatenate
from tilewright.cost.resources import limits, resources
from tilewright.errors import ScheduleError
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.evaluate import ColumnProgram
from tilewright.expr.nodes import Expr, Extent
from tilewright.expr.reference import static_shape
from tilewright.nest.nodes import Program
from tilewright.schedule.bounds import Bounds, infer_bounds
from tilewright.schedule.lower import Lowered, lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step
from tilewright.space.annotate import annotate
from tilewright.space.annotate_gpu import annotate_gpu
from tilewright.space.decisions import Decision, encode, sample
from tilewright.space.derivation import Derivation, Rule, derive
from tilewright.space.rules import RULES
from tilewright.target import CpuTarget, Target

SAMPLE_ROUNDS = 50  # redraws of invalid rows before the space is called empty


@dataclass(frozen=True)
class Sketch:
    """A program with free decisions. `columns[j]` is the matrix column of its j-th variable.

    `key` names structure and columns for the records: rows of another key mean something else.
    """

    name: str
    key: str
    state: State
    target: Target
    decisions: tuple[Decision, ...]
    constraints: tuple[Expr, ...]
    variables: tuple[str, ...]
    columns: Ints

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
        """Names of recurring expressions in it."""
        return self.bounds.definitions

    @cached_property
    def resources(self) -> dict[str, Extent]:
        """Named amounts as expressions over the decisions (`cost.resources`)."""
        return resources(self.program, self.target)

    @cached_property
    def validity(self) -> ColumnProgram:
        """All constraints as one column program (each result is a bool column)."""
        tests = limits(self.resources, self.target)
        return ColumnProgram([*self.constraints, *tests], self.bounds.definitions)

    def environment(self, rows: Ints) -> dict[str, Ints]:
        """Decision variable -> its column in `rows` (`[n, all columns]`)."""
        return {v: rows[:, c] for v, c in zip(self.variables, self.columns, strict=True)}

    def trace(self, row: Ints) -> list[Step]:
        """Concrete steps of one candidate."""
        values = {v: int(row[c]) for v, c in zip(self.variables, self.columns, strict=True)}
        return [step.bind(values) for step in self.state.trace]


class Space:
    """All sketches of one DAG on one target."""

    def __init__(
        self,
        dag: ComputeDAG,
        target: Target,
        rules: Sequence[Rule] | None = None,
        alone: bool = False,
    ) -> None:
        """`rules` are those of the target's kind where none are given. `alone`: nothing that the
        same caller runs reads the outputs soon, so that they may be written past the caches, and
        the inputs are the caller's arrays, which begin anywhere in a cache line (`shifted`).
        """
        self.dag = dag
        self.target = target
        self.shifted: frozenset[str] = frozenset()
        chosen = RULES[target.kind] if rules is None else rules
        derived = derive(dag, target, chosen)
        if isinstance(target, CpuTarget):
            streams = alone and _overflows(dag, target)
            self.shifted = frozenset(t.name for t in dag.inputs if alone)
            derivations = [v for d in derived for v in annotate(d, streams)]
        else:
            derivations = [v for d in derived for v in annotate_gpu(d)]
        self.decisions: list[Decision] = []
        self.starts: list[int] = []
        self.width = 0
        self._starts: dict[Decision, int] = {}
        self.sketches = tuple(self._sketch(d) for d in derivations)

    def _sketch(self, d: Derivation) -> Sketch:
        columns = [self._place(decision) for decision in d.decisions.values()]
        variables = [v for decision in d.decisions.values() for v in decision.columns]
        index = np.concatenate([np.zeros(0, np.int64), *columns])
        name = " · ".join((*_summary(d.applied), *d.variant))
        genes = f"{name}\n{self.width}\n{variables}\n{d.state.trace}"
        return Sketch(
            name=name,
            key=hashlib.sha256(genes.encode()).hexdigest()[:12],
            state=d.state,
            target=self.target,
            decisions=tuple(d.decisions.values()),
            constraints=tuple(d.constraints),
            variables=tuple(variables),
            columns=index.astype(np.int64),
        )

    def _place(self, decision: Decision) -> Ints:
        """Matrix columns of a decision, shared by sketches that have the same one."""
        if decision not in self._starts:
            self._starts[decision] = self.width
            self.decisions.append(decision)
            self.starts.append(self.width)
            self.width += len(decision.columns)
        start = self._starts[decision]
        return np.arange(start, start + len(decision.columns))

    def recorded(self, key: str, width: int) -> int | None:
        """The number of the sketch that a recorded row belongs to, by the sketch's key and the
        length of the row; None where today's space has no such sketch or other columns.
        """
        keys = (i for i, sketch in enumerate(self.sketches) if sketch.key == key)
        return next(keys, None) if width == self.width else None

    def span(self, decision: Decision) -> slice:
        """The matrix columns of a decision."""
        start = self._starts[decision]
        return slice(start, start + len(decision.columns))

    def groups(self, population: Population) -> list[tuple[Sketch, Ints]]:
        """The sketches present, each with the indices of its rows."""
        return [
            (self.sketches[k], np.flatnonzero(population.sketch == k))
            for k in np.unique(population.sketch)
        ]

    def sample(self, rng: np.random.Generator, n: int) -> Population:
        """`n` valid candidates: a uniform sketch, then uniform over its valid rows.

        Raises ScheduleError when valid rows are not found.
        """
        sketch = rng.integers(0, len(self.sketches), n)
        rows = np.empty((n, self.width), np.int64)
        todo = np.arange(n)
        for _ in range(SAMPLE_ROUNDS):
            rows[todo] = self.draw(rng, len(todo))
            todo = todo[~self.satisfied(Population(rows[todo], sketch[todo]))]
            if not len(todo):
                break
        if 0 < len(todo) == n:
            raise ScheduleError(f"no valid candidate in {SAMPLE_ROUNDS} draws of {n}")
        return Population(np.delete(rows, todo, axis=0), np.delete(sketch, todo))

    def draw(self, rng: np.random.Generator, n: int) -> Ints:
        """`n` rows, every decision uniform by itself; the constraints are not heeded."""
        rows = np.empty((n, self.width), np.int64)
        for decision in self.decisions:
            rows[:, self.span(decision)] = sample(decision, rng, n)
        return rows

    def enumerate(self, limit: int) -> Population:
        """All valid candidates, sketch by sketch. Raises ScheduleError beyond `limit` rows."""
        parts = []
        for k, sketch in enumerate(self.sketches):
            sizes = [len(d.table) for d in sketch.decisions]
            if math.prod(sizes) > limit:
                raise ScheduleError(
                    f"{sketch.name} has {math.prod(sizes)} candidates, more than {limit}; "
                    "use evolution or random search"
                )
            grid = np.indices(sizes).reshape(len(sizes), -1)
            rows = np.zeros((grid.shape[1], self.width), np.int64)
            for decision, index in zip(sketch.decisions, grid, strict=True):
                rows[:, self.span(decision)] = decision.table[index]
            every = Population(rows, np.full(len(rows), k))
            parts.append(every[self.satisfied(every)])
        return concatenate(parts)

    def valid(self, population: Population) -> Bools:
        """Which candidates satisfy their sketch's decisions and constraints."""
        ok = self.satisfied(population)
        for sketch, at in self.groups(population):
            for decision in sketch.decisions:
                ok[at] &= encode(decision, population.rows[at, self.span(decision)]) >= 0
        return ok

    def satisfied(self, population: Population) -> Bools:
        """Which candidates satisfy their sketch's constraints; every decision must have one of its
        values.
        """
        ok = np.ones(len(population), bool)
        for sketch, at in self.groups(population):
            good = np.ones(len(at), bool)
            for result in sketch.validity.run(sketch.environment(population.rows[at])):
                good &= np.asarray(result, bool)
            ok[at] = good
        return ok

    def completed(self, rng: np.random.Generator, population: Population) -> Population:
        """Columns that a row's sketch does not read drawn at random: another sketch may read them
        after a mutation.
        """
        rows = np.empty_like(population.rows)
        for decision in self.decisions:
            rows[:, self.span(decision)] = sample(decision, rng, len(rows))
        return self._joined(rows, population)

    def canonical(self, population: Population) -> Population:
        """Columns that a row's sketch does not read set to zero: equal programs become equal."""
        return self._joined(np.zeros_like(population.rows), population)

    def _joined(self, rows: Ints, population: Population) -> Population:
        """`rows` with the columns that each candidate's sketch reads."""
        for sketch, at in self.groups(population):
            read = np.ix_(at, sketch.columns)
            rows[read] = population.rows[read]
        return Population(rows, population.sketch)

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

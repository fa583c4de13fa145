"""Producers side by side: their decisions in one integer matrix, whose rows are candidates.

    space.sketches                                the producers that have a nest, by number
    population = space.sample(rng, 2048)          rows [n, columns], number of the producer [n]
    space.valid(population)                       bool [n]

A producer reads its own columns; the others ride along, so that a child may change its producer.
Decisions that are equal in two producers share their columns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from tilewright.contract.gene import Gene, Value, compact, read_decisions
from tilewright.contract.sizes import Point
from tilewright.cost.candidates import Bools, Ints, Population, concatenate
from tilewright.cost.resources import Amounts, limits, resources
from tilewright.expr.evaluate import ColumnProgram
from tilewright.expr.nodes import Expr
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import Program
from tilewright.schedule.state import Stage
from tilewright.space.decisions import Decision, encode, sample
from tilewright.target import Target

SAMPLE_ROUNDS = 50  # redraws of invalid rows
MANY = 8192  # draws of which none is valid in an empty space


@dataclass(frozen=True, kw_only=True)
class Producer(ABC):
    """A program with free decisions. `columns[j]` is the matrix column of its j-th variable; the
    `rules` are what made it, and `variant` what is otherwise in each that they made.
    """

    is_listed: ClassVar[bool] = False
    """Whether its candidates are so few that all of them may be tried, one after the other."""

    target: Target
    rules: tuple[str, ...]
    variant: tuple[str, ...]
    decisions: tuple[Decision, ...]
    constraints: tuple[Expr, ...] = ()
    columns: Ints

    @cached_property
    def name(self) -> str:
        """Unique in its space."""
        return " · ".join((*self.rules, *self.variant))

    @property
    @abstractmethod
    def program(self) -> Program:
        """The symbolic loop nest."""

    @property
    @abstractmethod
    def producer(self) -> str:
        """What a gene says of it: JSON text."""

    @property
    @abstractmethod
    def stages(self) -> Mapping[str, Stage]:
        """The stages by name, as scheduled."""

    @property
    def serves_unmeasured(self) -> bool:
        """Whether its programs may run, and be the reference of others, before any was measured."""
        return True

    @property
    def definitions(self) -> Mapping[str, Expr]:
        """What the names of recurring expressions in the nest stand for."""
        return {}

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The decision variables, in the order of `columns`."""
        return tuple(v for decision in self.decisions for v in decision.columns)

    @cached_property
    def resources(self) -> Amounts:
        """Amounts as expressions over the decisions (`cost.resources`)."""
        return resources(self.program, self.target)

    @cached_property
    def tests(self) -> list[Expr]:
        """All conditions, those that the target's limits make included."""
        return [*self.constraints, *limits(self.resources, self.target)]

    @cached_property
    def validity(self) -> ColumnProgram:
        """All `tests` as one column program."""
        return ColumnProgram(self.tests, self.definitions)

    def environment(self, rows: Ints) -> dict[str, Ints | int]:
        """Decision variable -> its column in `rows` (`[n, all columns]`)."""
        return {v: rows[:, c] for v, c in zip(self.variables, self.columns, strict=True)}

    def values(self, row: Ints) -> dict[str, int]:
        """Decision variable -> its value in one row."""
        return {v: int(row[c]) for v, c in zip(self.variables, self.columns, strict=True)}

    def gene(self, row: Ints) -> Gene:
        """What is kept of a candidate."""
        values = self.values(row)
        decided = {
            d.name: values[d.name] if d.columns == (d.name,) else [values[v] for v in d.columns]
            for d in self.decisions
        }
        return Gene(self.producer, compact(decided))


class CandidateSpace:
    """Producers of one task on one target. Inputs named in `shifted` begin anywhere in a cache line
    (see `cost.candidates.Producers`).
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.shifted: frozenset[str] = frozenset()
        self.decisions: list[Decision] = []
        self.starts: list[int] = []
        self.width = 0
        self._starts: dict[Decision, int] = {}
        self.sketches: tuple[Producer, ...] = ()

    @property
    def points(self) -> Sequence[Point]:
        """Where candidates of a task with sizes are estimated; else none."""
        return ()

    def place(self, decisions: Sequence[Decision]) -> Ints:
        """Matrix columns of some decisions, those of each shared with who has the same one."""
        found = [np.zeros(0, np.int64), *(self._place(decision) for decision in decisions)]
        return np.concatenate(found).astype(np.int64)

    def _place(self, decision: Decision) -> Ints:
        if decision not in self._starts:
            self._starts[decision] = self.width
            self.decisions.append(decision)
            self.starts.append(self.width)
            self.width += len(decision.columns)
        start = self._starts[decision]
        return np.arange(start, start + len(decision.columns))

    @property
    def nobody(self) -> Population:
        """No candidates."""
        return Population(np.zeros((0, self.width), np.int64), np.zeros(0, np.int64))

    def span(self, decision: Decision) -> slice:
        """The matrix columns of a decision."""
        start = self._starts[decision]
        return slice(start, start + len(decision.columns))

    # ---- genes ------------------------------------------------------------------------------

    def gene(self, sketch: int, row: Ints) -> Gene:
        """What is kept of a candidate; equal programs of one sketch have equal genes."""
        native = sketch - len(self.sketches)
        return self.sketches[sketch].gene(row) if native < 0 else self.natives[native]

    @cached_property
    def natives(self) -> tuple[Gene, ...]:
        """Programs that vendors' templates make: producers of which nothing is left to decide. They
        have no nest to be scored or changed, and their numbers come after those of all sketches.
        """
        return ()

    @property
    def offered(self) -> Population:
        """These as candidates, the most promising first."""
        n = len(self.natives)
        return Population(np.zeros((n, self.width), np.int64), len(self.sketches) + np.arange(n))

    def row_of(self, gene: Gene) -> Population | None:
        """The candidate that a gene of any space is here; None where it is none."""
        found, _ = self.rows_of(gene.producer, [gene.decisions])
        if not len(found) and gene in self.natives:
            at = self.natives.index(gene)
            found = self.offered[at : at + 1]
        return found if len(found) else None

    def rows_of(self, producer: str, decisions: Sequence[str]) -> tuple[Population, Ints]:
        """The candidates that genes of one producer are here, and which of them are: none where
        this space lacks the producer, else those that have a valid value for each decision. What a
        sketch does not read is 0; decisions that nobody can read are none.
        """
        numbers = [k for k, s in enumerate(self.sketches) if s.producer == producer]
        genes = [_readable(text) for text in decisions] if numbers else []
        rows = np.zeros((len(genes), self.width), np.int64)
        valid = np.array([gene is not None for gene in genes], bool)
        for decision in self.sketches[numbers[0]].decisions if numbers else ():
            span, missing = self.span(decision), [-1] * len(decision.columns)
            values = [(gene or {}).get(decision.name, missing) for gene in genes]
            listed = [v if isinstance(v, list) else [v] for v in values]
            rows[:, span] = [v if len(v) == len(missing) else missing for v in listed]
            valid &= encode(decision, rows[:, span]) >= 0
        at = np.flatnonzero(valid)
        return Population(rows[at], np.full(len(at), numbers[0] if numbers else 0)), at

    # ---- populations ------------------------------------------------------------------------

    def groups(self, population: Population) -> list[tuple[Producer, Ints]]:
        """The sketches present, each with the indices of its rows."""
        return [
            (self.sketches[k], np.flatnonzero(population.sketch == k))
            for k in np.unique(population.sketch)
        ]

    def sample(self, rng: np.random.Generator, n: int) -> Population:
        """`n` valid candidates: a sketch, then uniform over its valid rows.

        Raises ScheduleError when valid rows are not found.
        """
        sketch = self.drawn_sketches(rng, n)
        rows = np.empty((n, self.width), np.int64)
        todo = np.arange(n)
        for _ in range(SAMPLE_ROUNDS):
            rows[todo] = self.draw(rng, len(todo))
            todo = todo[~self.satisfied(Population(rows[todo], sketch[todo]))]
            if not len(todo):
                break
        if 0 < len(todo) == n:
            return self._rare(rng, n)
        return Population(np.delete(rows, todo, axis=0), np.delete(sketch, todo))

    def drawn_sketches(self, rng: np.random.Generator, n: int) -> Ints:
        """The sketches of `n` candidates to be drawn: uniform, but all that are listed together are
        one, for they have few candidates.
        """
        listed = np.array([s.is_listed for s in self.sketches])
        if not listed.any() or listed.all():
            return rng.integers(0, len(listed), n)
        share = np.where(listed, 1 / listed.sum(), 1.0)
        return rng.choice(len(share), n, p=share / share.sum())

    def _rare(self, rng: np.random.Generator, n: int) -> Population:
        """At most `n` of the valid rows among many: where one draw of fifty is valid, all draws for
        a few candidates may fail.
        """
        drawn = Population(self.draw(rng, MANY), self.drawn_sketches(rng, MANY))
        valid = np.flatnonzero(self.satisfied(drawn))[:n]
        if not len(valid):
            raise ScheduleError(f"no valid candidate in {MANY} draws")
        return drawn[valid]

    def draw(self, rng: np.random.Generator, n: int) -> Ints:
        """`n` rows, every decision uniform by itself; the constraints are not heeded."""
        rows = np.empty((n, self.width), np.int64)
        for decision, start in zip(self.decisions, self.starts, strict=True):
            rows[:, start : start + len(decision.columns)] = sample(decision, rng, n)
        return rows

    def cross(
        self, rng: np.random.Generator, child: Population, fathers: Population, at: Ints
    ) -> None:
        """Give the children in `at` each DAG node's decisions of themselves or of their fathers
        (`[len(at)]`), and the sketch of either; they may be invalid then (paper §5.1).
        """
        nodes = sorted({d.stage for d in self.decisions})
        from_father = rng.random((len(at), len(nodes))) < 0.5
        for decision in self.decisions:
            mine = from_father[:, nodes.index(decision.stage)]
            span = self.span(decision)
            child.rows[at[mine], span] = fathers.rows[mine, span]
        mine = rng.random(len(at)) < 0.5
        child.sketch[at[mine]] = fathers.sketch[mine]

    def enumerate(self, limit: int) -> Population:
        """All valid candidates, sketch by sketch. Raises ScheduleError beyond `limit` rows."""
        return concatenate([self.listed(k, limit) for k in range(len(self.sketches))])

    def listed(self, number: int, limit: int) -> Population:
        """All valid candidates of one sketch. Raises ScheduleError beyond `limit` rows."""
        sketch = self.sketches[number]
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
        every = Population(rows, np.full(len(rows), number))
        return every[self.satisfied(every)]

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
            values = sketch.validity.run(sketch.environment(population.rows[at]))
            for test in sketch.tests:
                good &= values[test]
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


def _readable(decisions: str) -> Mapping[str, Value] | None:
    """The decisions of a gene that may be anybody's; None of one that no search wrote."""
    try:
        return read_decisions(decisions)
    except ScheduleError:
        return None

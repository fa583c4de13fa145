"""Tables of one statement over many candidates at once: what features and estimates are made of.

    program, compiled = compile_statements(producer)
    values = program.run(producer.environment(rows))
    a = Analysis(compiled[0].statement, values, len(rows), target.line_bytes)
    a.extents, a.total, a.reached[0].footprint         [L, n], [n], [t + 1, n]

A loop of extent 1 equals an absent loop in every table. What no decision changes stays a number,
and the tables of an access have rows for the loops that move it alone.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.cost.candidates import Bools, Floats, Ints, SymbolicNest
from tilewright.cost.statements import Dimension, Statement, StatementAccess, statements
from tilewright.expr.evaluate import ColumnProgram, Values
from tilewright.expr.nodes import Extent
from tilewright.nest.nodes import Kind

Number: TypeAlias = NDArray[Any] | float
"""A column `[n]`, or what is the same in all of them."""


@dataclass(frozen=True)
class Compiled:
    """A statement, and those of its numbers that differ from candidate to candidate (`varying`,
    equal ones once, by their rows in the table of the program's values); dimensions that loops move
    alike are one object. Compiled statements of equal `structure` may share tables, whatever their
    programs: what one calls a number stands at the same place in all.
    """

    statement: Statement
    varying: Ints
    structure: Hashable
    _constants: tuple[int, ...]
    _numbers: dict[int, int]

    def values(self, table: Floats) -> Values:
        """All its numbers from the rows that are `varying`, `[v, n]`."""
        return Values(self._numbers, [*self._constants, *table])


def compile_statements(producer: SymbolicNest) -> tuple[ColumnProgram, list[Compiled]]:
    """The producer's statements, and the program that gives their numbers."""
    found = statements(producer.program)
    for s in found:
        s.resources = {
            what: amount
            for (whose, what), amount in producer.resources.items()
            if whose == s.kernel and s.workers
        }
    numbers = [s.numbers for s in found]
    program = ColumnProgram([e for some in numbers for e in some], producer.definitions)
    return program, [_compiled(s, some, program) for s, some in zip(found, numbers, strict=True)]


def _compiled(s: Statement, numbers: list[Extent], program: ColumnProgram) -> Compiled:
    known = [program.number(e) for e in numbers]
    order = sorted(dict.fromkeys(known), key=lambda number: not number[1])  # constants first
    place = {number: i for i, number in enumerate(order)}
    constants = tuple(value for value, is_constant in order if is_constant)
    alike: dict[Hashable, Dimension] = {}

    def shared(d: Dimension) -> Dimension:
        return alike.setdefault((*d.loops, *(place[program.number(e)] for e in d.numbers)), d)

    accesses = [replace(a, dimensions=tuple(shared(d) for d in a.dimensions)) for a in s.accesses]
    return Compiled(
        replace(s, accesses=accesses),
        np.array([number for number, _ in order[len(constants) :]], np.int64),
        (s.structure, constants, tuple(place[number] for number in known)),
        constants,
        {id(e): place[number] for e, number in zip(numbers, known, strict=True)},
    )


def past_last(marked: Bools) -> Ints:
    """One more than the last row of `[L, n]` that holds in each column; 0 where none does."""
    numbers = np.arange(1, len(marked) + 1, dtype=np.int16)[:, None]  # small: argmax is slower
    past: Ints = (marked * numbers).max(0, initial=0).astype(np.int64)
    return past


@dataclass(frozen=True)
class Reached:
    """What one access reaches over some of the `loops` that move it, `[t + 1, n]`: row j is over
    those from the j-th on, and `level[l]` is the row that is over loops l.. of the statement.

    `footprint` is in elements; `row` in elements of a row of the tensor, which has `pitch` of them;
    `outer` are the other dimensions that loops move, inner ones first: how many indices, and how
    many elements lie between two of them. `stride`, `[t, n]`, is elements between two iterations.
    """

    loops: list[int]
    level: Ints
    footprint: Floats
    row: Floats
    pitch: Number
    outer: list[tuple[Floats, Number]]
    stride: Floats


class Analysis:
    """Loop and access tables of one statement over `n` candidates.

    `extents` is `[L, n]`; `inner[l]` the iterations of all loops inside loop l - 1 (`inner[L]` =
    1). Tensors whose names are in `shifted` do not begin with a cache line; `shifted[b]` says
    whether that of access b is one of them.
    """

    def __init__(
        self,
        statement: Statement,
        values: Values,
        n: int,
        line_bytes: int,
        shifted: frozenset[str] = frozenset(),
    ) -> None:
        self.statement, self.n, self.line = statement, n, float(line_bytes)
        self._values = values
        self.loops, self.accesses = statement.loops, statement.accesses
        L = self.L = len(self.loops)
        self.B = len(self.accesses)
        self.extents = np.empty((L, n))
        for row, loop in zip(self.extents, self.loops, strict=True):
            row[:] = values[loop.extent]
        self.live = self.extents > 1
        self._steps = self.extents - 1.0  # that each loop makes
        self.inner = np.ones((L + 1, n))
        for i in range(L - 1, -1, -1):
            np.multiply(self.inner[i + 1], self.extents[i], out=self.inner[i])
        self.total: Floats = self.inner[0]
        self.parallel = {
            i: values[loop.parallel] != 0
            for i, loop in enumerate(self.loops)
            if loop.parallel is not False
        }
        """In which candidates each loop that may be parallel is."""
        self.marks = {name: values[e] for name, e in statement.marks.items()}
        self.workers = {kind: values[e] for kind, e in statement.workers.items()}
        self.resources = {name: values[e] for name, e in statement.resources.items()}
        self.bytes = [float(a.tensor.dtype.bytes) for a in self.accesses]
        self.shifted = [a.tensor.name in shifted for a in self.accesses]
        self._spans: dict[Dimension, Floats] = {}
        self._moves: dict[Dimension, dict[int, Number]] = {}
        self.reached = [self._reached(a) for a in self.accesses]

    def _reached(self, access: StatementAccess) -> Reached:
        t, last = len(access.loops), len(access.dimensions) - 1
        footprint = row = one = np.ones((t + 1, self.n))
        stride = np.zeros((t, self.n))
        pitch = self._values[1]
        outer: list[tuple[Floats, Number]] = []
        for at in range(last, -1, -1):
            d, rows = access.dimensions[at], access.rows[at]
            if at == last:
                pitch = self._values[d.extent]
            if not d.loops:
                continue
            span, step = self.span(d), self._values[access.steps[at]]
            for i, moves in self.moves(d).items():
                stride[access.level[i]] += moves * step
            if len(d.loops) < t:
                span = span[rows]
            if at == last:
                row = span
            else:
                outer.append((span, step))
            footprint = span if footprint is one else footprint * span
        return Reached(access.loops, access.level, footprint, row, pitch, outer, stride)

    def span(self, d: Dimension) -> Floats:
        """How many indices of one dimension are reached over the loops from each of its on."""
        if d in self._spans:
            return self._spans[d]
        span = self._spans[d] = np.empty((len(d.loops) + 1, self.n))
        span[-1] = 1.0
        if d.coefficients is None:
            for j, i in enumerate(d.loops):
                np.add(self._values[d.inside[i]], 1.0, out=span[j])
        else:
            moves = self.moves(d)
            for j in range(len(d.loops) - 1, -1, -1):
                i = d.loops[j]
                np.add(span[j + 1], moves[i] * self._steps[i], out=span[j])
        return np.minimum(span, self._values[d.extent], out=span)

    def moves(self, d: Dimension) -> dict[int, Number]:
        """How far one step of each loop moves the index of a dimension, on average."""
        found = self._moves.get(d)
        if found is None:
            if d.coefficients is None:
                steps = {i: np.maximum(self._steps[i], 1.0) for i in d.loops}
                found = {i: self._values[w] / steps[i] for i, w in d.alone.items()}
            else:
                signed: dict[int, Any] = {i: self._values[c] for i, c in d.coefficients.items()}
                found = {i: abs(c) for i, c in signed.items()}
            self._moves[d] = found
        return found

    def of_kind(self, kind: Kind) -> list[int]:
        """The loops of one kind, outermost first."""
        return [i for i, loop in enumerate(self.loops) if loop.kind is kind]

    def stride(self, b: int, loop: int) -> Number:
        """The elements between two iterations of a loop of access b."""
        moving = self.reached[b].loops
        return self.reached[b].stride[moving.index(loop)] if loop in moving else 0.0

    def size(self, b: int) -> Number:
        """Elements of the tensor of access b."""
        found: Number = 1.0
        for extent in self.shape(b):
            found = found * extent
        return found

    def shape(self, b: int) -> list[Number]:
        """Extents of the tensor of access b."""
        return [self._values[d.extent] for d in self.accesses[b].dimensions]

    def run(self, b: int) -> Number:
        """Elements that follow each other among those that access b reaches over all loops."""
        found: Number = 1.0
        whole: Bools | bool = True
        for d in reversed(self.accesses[b].dimensions):
            full = self._values[d.extent]
            span = self.span(d)[0] if d.loops else 1.0
            found = np.where(whole, found * span, found)
            whole = whole & (span >= full)
            if not np.any(whole):
                break
        return found

    @cached_property
    def unique_bytes(self) -> Floats:
        """Bytes of the elements that each access reaches over all loops, `[B, n]`."""
        pairs = zip(self.reached, self.bytes, strict=True)
        return np.stack([r.footprint[0] * size for r, size in pairs])

    @cached_property
    def level_bytes(self) -> Floats:
        """Bytes of the elements that all accesses reach over loops l.., `[L + 1, n]`."""
        found = np.zeros((self.L + 1, self.n))
        for reached, size in zip(self.reached, self.bytes, strict=True):
            found += (reached.footprint * size)[reached.level]
        return found

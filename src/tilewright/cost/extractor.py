"""Features and estimated latencies of candidates, for whole populations at once.

    extractor = FeatureExtractor(space)
    features, owner = extractor.extract(population)     float32 [m, columns], int64 [m]
    seconds = extractor.latency(population)             float64 [n]

Features come one row a statement (but for those that start a reduction: they tell nothing more);
`owner[r]` is the candidate that row r belongs to. Rows stand in the order in which they are
computed, statement by statement, and the matrix is stored column by column. Values are
log2(1 + x), which leaves a flag what it is.

The last columns are estimates: the parts of the statement's time, and the candidate's, relative to
the least of a sample of its space. What the cost model predicts is relative to the best of a task,
too, and from absolute features of many tasks it cannot tell how good a task's best is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from tilewright.contract.sizes import Point
from tilewright.cost.analysis import Analysis, Compiled, compile_statements
from tilewright.cost.candidates import (
    Bools,
    Float32s,
    Floats,
    Ints,
    Population,
    Producers,
    SymbolicNest,
)
from tilewright.cost.estimate import estimator_of
from tilewright.cost.features import COLUMNS, INDEX, PARTS, columns
from tilewright.expr.evaluate import ColumnProgram

BLOCK = 2048  # candidates analysed at once: their tables stay in a fast cache
ESTIMATED_BLOCK = 8192  # the same without features, whose tables are few: most time goes into calls
SAMPLES = 256  # random candidates a sketch, of which the least estimate is usual
ESTIMATED = [INDEX[f"estimated_{part}"] for part in PARTS]
Groups: TypeAlias = Sequence[tuple[SymbolicNest, Ints]]
Which: TypeAlias = tuple[int, int]  # the number of a statement's group, and its own in the sketch
Places: TypeAlias = tuple[Ints, Ints]
Points: TypeAlias = Sequence[Mapping[str, int]]
Known: TypeAlias = dict[Hashable, tuple[Ints, Floats]]
"""Seconds of statements by their structure, and by keys of their numbers, which ascend."""
NOTHING = np.array([np.iinfo(np.int64).max]), np.array([np.nan])
EVERY = slice(None)
NUMBERS: Points = ({},)
"""The one point of a task without sizes, and with sizes their most."""


@dataclass(frozen=True)
class Alike:
    """Statements of one structure: the numbers of all, `[v, columns]`, and which columns differ
    (`first`, with a key each), and where those of each sketch's candidates are among these.
    """

    compiled: Compiled
    table: Ints
    keys: Ints
    first: Ints
    members: dict[Which, Ints]


class FeatureExtractor:
    """For the candidates of one space. Structure is analysed once a sketch."""

    def __init__(self, space: Producers) -> None:
        self.space = space
        self._sketches: dict[str, tuple[ColumnProgram, list[Compiled]]] = {}
        self._structures: dict[Hashable, int] = {}
        self._usual: Floats | None = None

    def compiled(self, sketch: SymbolicNest) -> tuple[ColumnProgram, list[Compiled]]:
        """The sketch's column program and statements, whose structures are numbered."""
        if sketch.name not in self._sketches:
            (program, found), known = compile_statements(sketch), self._structures
            numbers = [known.setdefault(c.structure, len(known)) for c in found]
            compiled = [replace(c, structure=k) for c, k in zip(found, numbers, strict=True)]
            self._sketches[sketch.name] = program, compiled
        return self._sketches[sketch.name]

    @property
    def usual_s(self) -> Floats:
        """The least estimate among random candidates of every sketch, `[sketches]`. They are always
        the same: a resumed run must score as the interrupted one did.
        """
        if self._usual is None:
            count = len(self.space.sketches)
            some = self.space.sample(np.random.default_rng(0), SAMPLES * count)
            latency = self.latency(some)
            self._usual = np.full(count, latency.min())
            for k in np.unique(some.sketch):
                self._usual[k] = latency[some.sketch == k].min()
        return self._usual

    def extract(self, population: Population) -> tuple[Float32s, Ints]:
        """Feature rows of all candidates; see the module's docstring."""
        starts = range(0, max(1, len(population)), BLOCK)
        parts = [self._extract(population[start : start + BLOCK]) for start in starts]
        owner = np.concatenate([own + start for start, (_, own) in zip(starts, parts, strict=True)])
        features = [found for found, _ in parts]
        return (features[0] if len(parts) == 1 else np.concatenate(features, axis=1)).T, owner

    def _extract(self, population: Population) -> tuple[Float32s, Ints]:
        """Columns `[columns, m]` and owners of one block."""
        groups = self.space.groups(population)
        told: dict[Which, slice] = {}  # the rows of each statement that has some
        owners = [np.zeros(0, np.int64)]
        end = 0
        for g, (sketch, at) in enumerate(groups):
            for k in _told(self.compiled(sketch)[1]):
                begin, end = end, end + len(at)
                told[g, k] = slice(begin, end)
                owners.append(at)
        features = np.empty((len(COLUMNS), end), np.float32)
        usual_s = self.usual_s.min()
        seconds: dict[Which, Floats] = {}
        for analysis, members in self._analyses(population, groups):
            total, parts = self._estimate(analysis)
            seconds |= {which: total[at] for which, at in members.items()}
            if rows := members.keys() & told.keys():
                found = np.zeros((len(COLUMNS), analysis.n), np.float32)
                columns(analysis, found)
                found[ESTIMATED] = parts / usual_s
                found += 1.0
                np.log2(found, out=found)
                for which in rows:
                    np.take(found, members[which], 1, features[:, told[which]], "clip")
        owner = np.concatenate(owners)
        if self.space.points:
            relative = self.latency(population) / usual_s
        else:
            (latency,) = self._sums(groups, seconds, 1, len(population))
            relative = latency / usual_s
        features[INDEX["estimate"]] = np.log2(relative.astype(np.float32) + 1.0)[owner]
        return features, owner

    def latency(self, population: Population, known: Known | None = None) -> Floats:
        """Estimated seconds of every candidate, `[n]`, with sizes their mean over the points;
        `known` are those of statements that were estimated before, to which it adds.
        """
        return self.mean(self.latencies(population, known))

    def mean(self, seconds: Floats) -> Floats:
        """Of what `latencies` says, by the weights of the points, `[n]`."""
        weights = [point.weight for point in self.space.points] or [1.0]
        mean: Floats = np.sum([w * s for w, s in zip(weights, seconds, strict=True)], axis=0)
        return mean

    def latencies(self, population: Population, known: Known | None = None) -> Floats:
        """Estimated seconds of every candidate at each point, `[points, n]`; without sizes there is
        one. `known` is as of `latency`.
        """
        if self.space.points:
            return self.latencies_at(self.space.points, population, known)
        return self._latencies(NUMBERS, population, known)

    def latencies_at(
        self, points: Sequence[Point], population: Population, known: Known | None = None
    ) -> Floats:
        """The same of a task with sizes at any points, `[points, n]`."""
        return self._latencies([p.values for p in points], population, known)

    def _latencies(self, points: Points, population: Population, known: Known | None) -> Floats:
        known = {} if known is None else known
        out = np.zeros((len(points), len(population)))
        for start in range(0, len(population), ESTIMATED_BLOCK):
            part = population[start : start + ESTIMATED_BLOCK]
            groups = self.space.groups(part)
            seconds: dict[Which, Floats] = {}
            for alike in self._statements(part, groups, points):
                keys, found = known.get(alike.compiled.structure, NOTHING)
                place = keys.searchsorted(alike.keys)
                new = keys.take(place, mode="clip") != alike.keys
                if new.any():
                    total, _ = self._estimate(self._analysis(alike, new))
                    keys = np.insert(keys, place[new], alike.keys[new])
                    found = np.insert(found, place[new], total)
                    known[alike.compiled.structure] = keys, found
                    place += new.cumsum() - new
                total = found[place]
                seconds |= {which: total[at] for which, at in alike.members.items()}
            sums = self._sums(groups, seconds, len(points), len(part))
            out[:, start : start + len(part)] = sums
        return out

    def analyses(self, population: Population) -> Iterator[tuple[Analysis, list[Places]]]:
        """Tables of all statements, and where candidates stand in them: of each sketch that has
        such a statement the candidates, and their columns.
        """
        for start in range(0, len(population), BLOCK):
            part = population[start : start + BLOCK]
            groups = self.space.groups(part)
            for analysis, members in self._analyses(part, groups):
                yield analysis, [(groups[g][1] + start, at) for (g, _), at in members.items()]

    def extracted_latency(self, features: Float32s, owner: Ints) -> Floats:
        """The same, to float32's precision, of candidates whose features are at hand."""
        relative = np.zeros(owner.max(initial=-1) + 1)
        relative[owner] = np.exp2(features[:, INDEX["estimate"]]) - 1.0
        latency: Floats = relative * self.usual_s.min()
        return latency

    def _estimate(self, analysis: Analysis) -> tuple[Floats, Floats]:
        target = self.space.target
        return estimator_of(target)(analysis, target)

    def _analyses(
        self, population: Population, groups: Groups
    ) -> Iterator[tuple[Analysis, dict[Which, Ints]]]:
        """Tables of all statements, and the columns in which each candidate's stand, `[n]`."""
        for alike in self._statements(population, groups):
            yield self._analysis(alike), alike.members

    def _analysis(self, alike: Alike, which: Bools | slice = EVERY) -> Analysis:
        table = alike.table[:, alike.first[which]].astype(np.float64)
        statement, space = alike.compiled.statement, self.space
        values, line = alike.compiled.values(table), space.target.line_bytes
        return Analysis(statement, values, table.shape[1], line, space.shifted)

    def _statements(
        self, population: Population, groups: Groups, points: Points = NUMBERS
    ) -> Iterator[Alike]:
        """All statements, of each sketch its candidates at the first point, then at the second ….
        Those of one structure share tables, whatever their sketches, and those of equal numbers
        share a column: candidates have parents, and many a statement in common.
        """
        alike: dict[Hashable, list[tuple[Which, Compiled, Ints]]] = {}
        for g, (sketch, at) in enumerate(groups):
            program, compiled = self.compiled(sketch)
            given = sketch.environment(population.rows[at])
            if points[0]:
                given = {name: np.tile(column, len(points)) for name, column in given.items()}
                for name in points[0]:
                    given[name] = np.repeat([p[name] for p in points], len(at))
            table = program.run(given).table(len(points) * len(at))
            for k, c in enumerate(compiled):
                alike.setdefault(c.structure, []).append(((g, k), c, table[c.varying]))
        for statements in alike.values():
            table = np.concatenate([t for *_, t in statements], axis=1)
            keys = _factors(len(table)) @ table
            keys, first, column = np.unique(keys, return_index=True, return_inverse=True)
            ends = np.cumsum([t.shape[1] for *_, t in statements])
            parts = np.split(column, ends[:-1])
            members = {which: at for (which, *_), at in zip(statements, parts, strict=True)}
            yield Alike(statements[0][1], table, keys, first, members)

    def _sums(self, groups: Groups, seconds: Mapping[Which, Floats], points: int, n: int) -> Floats:
        """The candidates' seconds at so many points, `[points, n]`, from those of their statements
        in order: a sum of floats must not depend on who else was asked about.
        """
        out = np.zeros((points, n))
        for g, (sketch, at) in enumerate(groups):
            for k in range(len(self.compiled(sketch)[1])):
                out[:, at] += seconds[g, k].reshape(points, len(at))
        return out


@lru_cache
def _factors(n: int) -> Ints:
    """Random odd numbers: a sum of so many columns times these is as good as all of them."""
    return np.random.default_rng(11).integers(1, 2**62, n) * 2 + 1


def _told(compiled: list[Compiled]) -> list[int]:
    """The statements that have a row."""
    reduced = {c.statement.stage for c in compiled if not c.statement.is_init}
    return [
        k
        for k, c in enumerate(compiled)
        if not (c.statement.is_init and c.statement.stage in reduced)
    ]

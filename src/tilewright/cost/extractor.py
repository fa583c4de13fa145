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
from typing import TypeAlias

import numpy as np

from tilewright.cost.candidates import (
    Float32s,
    Floats,
    Ints,
    Population,
    Producer,
    Producers,
)
from tilewright.cost.estimate import ESTIMATES
from tilewright.cost.features import (
    COLUMNS,
    INDEX,
    PARTS,
    Analysis,
    Plan,
    compiled,
)
from tilewright.expr.evaluate import ColumnProgram

BLOCK = 2048  # candidates analysed at once: their tables stay in a fast cache
SAMPLES = 256  # random candidates a sketch, of which the least estimate is usual
ESTIMATED = [INDEX[f"estimated_{part}"] for part in PARTS]
Groups: TypeAlias = Sequence[tuple[Producer, Ints]]
Which: TypeAlias = tuple[int, int]  # the number of a statement's group, and its own in the sketch


class FeatureExtractor:
    """For the candidates of one space. Structure is analysed once a sketch."""

    def __init__(self, space: Producers) -> None:
        self.space = space
        self._sketches: dict[str, tuple[ColumnProgram, list[Plan]]] = {}
        self._usual: Floats | None = None

    def plans(self, sketch: Producer) -> tuple[ColumnProgram, list[Plan]]:
        """The sketch's column program and per-statement plans."""
        if sketch.name not in self._sketches:
            self._sketches[sketch.name] = compiled(sketch)
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
        features = [columns for columns, _ in parts]
        return (features[0] if len(parts) == 1 else np.concatenate(features, axis=1)).T, owner

    def _extract(self, population: Population) -> tuple[Float32s, Ints]:
        """Columns `[columns, m]` and owners of one block."""
        groups = self.space.groups(population)
        told: dict[Which, slice] = {}  # the rows of each statement that has some
        owners = [np.zeros(0, np.int64)]
        end = 0
        for g, (sketch, at) in enumerate(groups):
            for k in _told(self.plans(sketch)[1]):
                begin, end = end, end + len(at)
                told[g, k] = slice(begin, end)
                owners.append(at)
        features = np.zeros((len(COLUMNS), end), np.float32)
        usual_s = self.usual_s.min()
        seconds: dict[Which, Floats] = {}
        for analysis, members in self._analyses(population, groups):
            total, parts = self._estimate(analysis)
            seconds |= {which: total[part] for which, part in members.items()}
            if rows := members.keys() & told.keys():
                columns = np.zeros((len(COLUMNS), analysis.n), np.float32)
                analysis.columns(columns)
                columns[ESTIMATED] = parts / usual_s
                for which in rows:
                    features[:, told[which]] = columns[:, members[which]]
        owner = np.concatenate(owners)
        features[INDEX["estimate"]] = self._sums(groups, seconds, len(population))[owner] / usual_s
        features += 1.0
        np.log2(features, out=features)
        return features, owner

    def latency(self, population: Population) -> Floats:
        """Estimated seconds of every candidate, `[n]`."""
        out = np.zeros(len(population))
        for start in range(0, len(population), BLOCK):
            part = population[start : start + BLOCK]
            groups = self.space.groups(part)
            seconds: dict[Which, Floats] = {}
            for analysis, members in self._analyses(part, groups):
                total, _ = self._estimate(analysis)
                seconds |= {which: total[columns] for which, columns in members.items()}
            out[start : start + BLOCK] = self._sums(groups, seconds, len(part))
        return out

    def extracted_latency(self, features: Float32s, owner: Ints) -> Floats:
        """The same, to float32's precision, of candidates whose features are at hand."""
        relative = np.zeros(owner.max(initial=-1) + 1)
        relative[owner] = np.exp2(features[:, INDEX["estimate"]]) - 1.0
        latency: Floats = relative * self.usual_s.min()
        return latency

    def _estimate(self, analysis: Analysis) -> tuple[Floats, Floats]:
        target = self.space.target
        return ESTIMATES[target.kind](analysis, target)

    def _analyses(
        self, population: Population, groups: Groups
    ) -> Iterator[tuple[Analysis, dict[Which, slice]]]:
        """Tables of all statements, and the columns in which each stands; those of one structure
        share a table, whatever their sketches.
        """
        space = self.space
        alike: dict[Hashable, list[tuple[int, int, Plan, Floats]]] = {}
        for g, (sketch, at) in enumerate(groups):
            program, plans = self.plans(sketch)
            values = program.run(sketch.environment(population.rows[at]))
            for k, plan in enumerate(plans):
                table = plan.table(values, len(at))
                alike.setdefault(plan.structure, []).append((g, k, plan, table))
        for statements in alike.values():
            members, end = {}, 0
            for g, k, _, table in statements:
                begin, end = end, end + table.shape[1]
                members[g, k] = slice(begin, end)
            plan, joined = statements[0][2], np.concatenate([t for *_, t in statements], axis=1)
            yield Analysis(plan, joined, space.target.line_bytes, space.shifted), members

    def _sums(self, groups: Groups, seconds: Mapping[Which, Floats], n: int) -> Floats:
        """The candidates' seconds, `[n]`, from those of their statements in order: a sum of floats
        must not depend on who else was asked about.
        """
        out = np.zeros(n)
        for g, (sketch, at) in enumerate(groups):
            for k in range(len(self.plans(sketch)[1])):
                out[at] += seconds[g, k]
        return out


def _told(plans: list[Plan]) -> list[int]:
    """The statements that have a row."""
    reduced = {plan.statement.stage for plan in plans if not plan.statement.is_init}
    return [
        k
        for k, plan in enumerate(plans)
        if not (plan.statement.is_init and plan.statement.stage in reduced)
    ]

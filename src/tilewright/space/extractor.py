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
too, and from absolute features of many tasks it cannot tell how good a task's best is: of 6,144
programs of 96 tasks it then explains 0.89 of the variance instead of 0.85.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tilewright.expr.evaluate import ColumnProgram
from tilewright.space.decisions import Ints
from tilewright.space.estimate import ESTIMATES
from tilewright.space.features import (
    COLUMNS,
    INDEX,
    PARTS,
    Analysis,
    Float32s,
    Floats,
    Plan,
    compiled,
)
from tilewright.space.space import Population, Sketch, Space

BLOCK = 2048  # candidates analysed at once: their tables stay in a fast cache
SAMPLES = 256  # random candidates a sketch, of which the least estimate is usual
ESTIMATED = [INDEX[f"estimated_{part}"] for part in PARTS]


class FeatureExtractor:
    """For the candidates of one space. Structure is analysed once a sketch."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._sketches: dict[str, tuple[ColumnProgram, list[Plan]]] = {}
        self._usual: Floats | None = None

    def plans(self, sketch: Sketch) -> tuple[ColumnProgram, list[Plan]]:
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
        groups = self.space.groups(population)
        told = {sketch.key: _told(self.plans(sketch)[1]) for sketch, _ in groups}
        total = sum(len(at) * len(told[sketch.key]) for sketch, at in groups)
        owner = np.empty(total, np.int64)
        features = np.zeros((len(COLUMNS), total), np.float32)
        usual_s = self.usual_s.min()
        end = 0
        for sketch, part, analyses in self._analyses(population):
            seconds, parts = self._estimate(analyses)
            for k in told[sketch.key]:
                begin, end = end, end + len(part)
                owner[begin:end] = part
                columns = features[:, begin:end]
                analyses[k].columns(columns)
                columns[ESTIMATED] = parts[k] / usual_s
                columns[INDEX["estimate"]] = seconds / usual_s
                columns += 1.0
                np.log2(columns, out=columns)
        return features.T, owner

    def latency(self, population: Population) -> Floats:
        """Estimated seconds of every candidate, `[n]`."""
        out = np.zeros(len(population))
        for _, part, analyses in self._analyses(population):
            out[part], _ = self._estimate(analyses)
        return out

    def extracted_latency(self, features: Float32s, owner: Ints) -> Floats:
        """The same, to float32's precision, of candidates whose features are at hand."""
        relative = np.zeros(owner.max(initial=-1) + 1)
        relative[owner] = np.exp2(features[:, INDEX["estimate"]]) - 1.0
        latency: Floats = relative * self.usual_s.min()
        return latency

    def _estimate(self, analyses: list[Analysis]) -> tuple[Floats, list[Floats]]:
        target = self.space.target
        return ESTIMATES[target.kind](analyses, target)

    def _analyses(self, population: Population) -> Iterator[tuple[Sketch, Ints, list[Analysis]]]:
        """Of blocks of candidates, by sketch: which they are, and their statements' tables."""
        line_bytes = self.space.target.line_bytes
        for sketch, at in self.space.groups(population):
            program, plans = self.plans(sketch)
            for start in range(0, len(at), BLOCK):
                part = at[start : start + BLOCK]
                values = program.run(sketch.environment(population.rows[part]))
                yield sketch, part, [Analysis(p, values, len(part), line_bytes) for p in plans]


def _told(plans: list[Plan]) -> list[int]:
    """The statements that have a row."""
    reduced = {plan.statement.stage for plan in plans if not plan.statement.is_init}
    return [
        k
        for k, plan in enumerate(plans)
        if not (plan.statement.is_init and plan.statement.stage in reduced)
    ]

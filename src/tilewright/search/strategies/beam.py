"""Beam search over incomplete programs: the baseline that the paper argues against (§2, §7.1).

    strategy = BeamStrategy(space, score)
    batch = strategy.ask(rng, 16)

A sketch's decisions are made one after another. After each, only the `width` programs that the
score likes best are kept, although the rest of each program is still undecided: an undecided
tiling is left untiled, an undecided choice takes its first option.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.cost.candidates import Ints, Population, concatenate
from tilewright.search.strategies.evolution import SAMPLE, Score, Scored, named
from tilewright.search.strategies.memory import Candidate, ProposalMemory
from tilewright.space.space import Space

OPTIONS = 64  # values tried per decision and program


@dataclass
class BeamStrategy:
    """Beam search with random tie-breaking order of the options tried."""

    space: Space
    score: Score
    width: int = 16

    def __post_init__(self) -> None:
        self._memory = ProposalMemory(self.space)

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """The best new complete programs of one beam per sketch."""
        beams = [self._beam(rng, k, max(n, self.width)) for k in range(len(self.space.sketches))]
        population = self.space.canonical(concatenate(beams))
        score = self.score(population)
        order = np.argsort(-score, kind="stable")
        found = Scored(population[order], score[order], named(SAMPLE, len(order)))
        return self._memory.candidates(found, n, with_score=True)

    def expect(self, batch: Sequence[Candidate]) -> None:
        """The memory knows what was proposed."""

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember what was measured."""
        self._memory.remember(batch)

    def _beam(self, rng: np.random.Generator, sketch: int, width: int) -> Population:
        rows = undecided(self.space)[None, :]
        for decision in self.space.sketches[sketch].decisions:
            table = decision.table
            tried = table[rng.permutation(len(table))[:OPTIONS]]
            grown = np.repeat(rows, len(tried), axis=0)
            grown[:, self.space.span(decision)] = np.tile(tried, (len(rows), 1))
            population = Population(grown, np.full(len(grown), sketch))
            population = population[self.space.satisfied(population)]
            if not len(population):
                continue
            best = np.argsort(-self.score(population), kind="stable")[:width]
            rows = population.rows[best]
        return Population(rows, np.full(len(rows), sketch))


def undecided(space: Space) -> Ints:
    """A row `[width]` in which nothing is tiled and every choice takes its first option."""
    row = np.zeros(space.width, np.int64)
    for decision in space.decisions:
        row[space.span(decision)] = decision.table[0]
    return row

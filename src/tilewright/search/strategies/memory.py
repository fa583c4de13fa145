"""What a strategy proposes and remembers.

    memory = ProposalMemory(space)
    batch = memory.candidates(scored, 16, with_score=True)     new programs only, best first
    Listed(memory, lambda: scored).ask(rng, 16)                the next programs of a list

Several rows may stand for one program; the memory knows both the rows and the genes proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tilewright.contract.gene import Gene
from tilewright.cost.candidates import Population
from tilewright.search.strategies.evolution import SAMPLE, Scored, fingerprints, named
from tilewright.space.space import Space


@dataclass(frozen=True)
class Candidate:
    """One program to measure: its gene, and where in its space it is. `predicted` is the model's
    score where there is one.
    """

    sketch: int
    row: tuple[int, ...]
    gene: Gene
    origin: str = "sample"
    predicted: float | None = None

    @staticmethod
    def at(
        found: Population, gene: Gene, origin: str = SAMPLE, predicted: float | None = None
    ) -> Candidate:
        """The one program of a population."""
        row = tuple(found.rows[0].tolist())
        return Candidate(int(found.sketch[0]), row, gene, origin, predicted)


@dataclass
class ProposalMemory:
    """What every strategy remembers: fingerprints and genes proposed so far."""

    space: Space
    rows: set[int] = field(default_factory=set)
    genes: set[Gene] = field(default_factory=set)

    def candidates(self, found: Scored, n: int, with_score: bool) -> list[Candidate]:
        """The first `n` new programs of a scored list, remembered as proposed."""
        batch: list[Candidate] = []
        keys = fingerprints(found.population)
        for i in range(len(found.population)):
            if len(batch) == n:
                break
            if int(keys[i]) in self.rows:
                continue
            self.rows.add(int(keys[i]))
            candidate = self._candidate(found, i, with_score)
            if candidate.gene in self.genes:
                continue
            self.genes.add(candidate.gene)
            batch.append(candidate)
        return batch

    def _candidate(self, found: Scored, i: int, with_score: bool) -> Candidate:
        one = found.population[i : i + 1]
        gene = self.space.gene(int(one.sketch[0]), one.rows[0])
        score = float(found.score[i]) if with_score else None
        return Candidate.at(one, gene, found.origin[i], score)

    def remember(self, batch: Sequence[Candidate]) -> None:
        """Candidates known from records: never proposed again."""
        if not batch:
            return
        self.genes.update(c.gene for c in batch)
        self.rows.update(int(k) for k in fingerprints(as_population(batch)))


@dataclass
class Listed:
    """The strategy of a list: its programs in order, and then none. The list is made when it is
    first asked for; at most `most` of it count.
    """

    memory: ProposalMemory
    make: Callable[[], Scored]
    with_score: bool = True
    most: int | None = None
    _next: int = 0

    @cached_property
    def programs(self) -> Scored:
        """All of them."""
        return self.make()

    @property
    def _rest(self) -> Scored:
        return self.programs[self._next : self.most]

    @property
    def left(self) -> int:
        """How many are still to be proposed."""
        rest = self._rest.population
        genes = {self.memory.space.gene(*one) for one in zip(rest.sketch, rest.rows, strict=True)}
        return len(genes - self.memory.genes)

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """The next of them."""
        batch: list[Candidate] = []
        while len(batch) < n:
            part = self._rest[: n - len(batch)]
            if not len(part.score):
                break
            self._next += len(part.score)
            batch += self.memory.candidates(part, n, self.with_score)
        return batch

    def expect(self, batch: Sequence[Candidate]) -> None:
        """The list does not depend on what is measured."""

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember what was measured."""
        self.memory.remember(batch)


def as_population(batch: Sequence[Candidate]) -> Population:
    """The candidates' rows as a population."""
    rows = np.array([c.row for c in batch], np.int64).reshape(len(batch), -1)
    return Population(rows, np.array([c.sketch for c in batch], np.int64))


def unscored(population: Population) -> Scored:
    n = len(population)
    return Scored(population, np.zeros(n), named(SAMPLE, n))


def drawn(memory: ProposalMemory, rng: np.random.Generator, n: int) -> list[Candidate]:
    """Up to `n` new uniform candidates; none where some draws in a row give nothing new."""
    batch: list[Candidate] = []
    for _ in range(8):
        some = memory.space.canonical(memory.space.sample(rng, 4 * n))
        batch += memory.candidates(unscored(some), n - len(batch), False)
        if len(batch) == n:
            break
    return batch

"""Search strategies behind one ask/tell protocol.

    strategy = EvolutionStrategy(space, model)
    batch = strategy.ask(rng, 16)               list of Candidate
    strategy.tell(batch, latencies)             seconds, or None for a failure

A strategy proposes candidates it has not proposed before; an empty batch means that the space is
exhausted. `STRATEGIES` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from tilewright.search.beam import BeamStrategy
from tilewright.search.cost_model import CostModel
from tilewright.search.evolution import Evolution, EvolutionSettings, Floats
from tilewright.search.memory import Candidate, Memory, as_population, unscored
from tilewright.space.estimate import Estimator
from tilewright.space.features import FeatureExtractor
from tilewright.space.space import Population, Space

EXHAUSTIVE_LIMIT = 100_000
PER_TRIAL = 128  # population per program to be measured: a small batch needs a short search
SMALLEST_POPULATION = 256


class Strategy(Protocol):
    """What the tuner needs of a strategy."""

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """Up to `n` new candidates; fewer (or none) when the space runs out."""
        ...

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Results of candidates, in order: seconds, or None for a failure."""
        ...


@dataclass
class RandomStrategy:
    """Uniform random candidates: the baseline, and the ablation without fine-tuning."""

    space: Space

    def __post_init__(self) -> None:
        self._memory = Memory(self.space)

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """New uniform candidates."""
        batch: list[Candidate] = []
        for _ in range(8):
            drawn = self.space.canonical(self.space.sample(rng, 4 * n))
            batch += self._memory.candidates(unscored(drawn), n - len(batch), False)
            if len(batch) == n:
                break
        return batch

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember what was measured."""
        self._memory.remember(batch)


@dataclass
class ExhaustiveStrategy:
    """Every valid candidate, in order. Raises ScheduleError for spaces that are too large."""

    space: Space

    def __post_init__(self) -> None:
        self._memory = Memory(self.space)
        self._all = self.space.enumerate(EXHAUSTIVE_LIMIT)
        self._next = 0

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """The next candidates in order."""
        batch: list[Candidate] = []
        while len(batch) < n and self._next < len(self._all):
            part = self._all[self._next : self._next + n - len(batch)]
            self._next += len(part)
            batch += self._memory.candidates(unscored(part), n - len(batch), False)
        return batch

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember what was measured."""
        self._memory.remember(batch)


@dataclass
class EvolutionStrategy:
    """Evolution on the learned cost model; the analytical estimate until programs of this
    workload have been measured: what a model learned from others alone ranks them worse.

    `epsilon` of every batch is random (paper: ε-greedy).
    """

    space: Space
    extractor: FeatureExtractor
    model: CostModel
    settings: EvolutionSettings = field(default_factory=EvolutionSettings)
    epsilon: float = 0.05

    def __post_init__(self) -> None:
        self._memory = Memory(self.space)
        self._random = RandomStrategy(self.space)
        self._random._memory = self._memory
        self._measured: list[tuple[float, Candidate]] = []
        self.evolution = Evolution(self.space, self.settings)
        self.winners: dict[str, int] = {}
        self._score = ModelScore(self.extractor, self.model, learned=False)

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """The best new candidates of an evolution run, and a few random ones."""
        size = min(self.settings.population, max(SMALLEST_POPULATION, PER_TRIAL * n))
        self.evolution.settings = replace(self.settings, population=size)
        found = self.evolution.run(rng, self._score, self._parents())
        random = int(rng.binomial(n, self.epsilon))
        batch = self._memory.candidates(found, n - random, with_score=True)
        return batch + self._random.ask(rng, n - len(batch))

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember results; a new best counts as a win of the operator that made it."""
        self._memory.remember(batch)
        self._score.learned = True
        for candidate, latency in zip(batch, latencies, strict=True):
            if latency is None:
                continue
            if not self._measured or latency < self._measured[0][0]:
                self.winners[candidate.origin] = self.winners.get(candidate.origin, 0) + 1
            self._measured.append((latency, candidate))
            self._measured.sort(key=lambda pair: pair[0])

    def _parents(self) -> Population | None:
        if not self._measured:
            return None
        return as_population([c for _, c in self._measured])


@dataclass
class ModelScore:
    """Scores populations by the cost model; by the analytical estimate until it is trained, or
    while it has not `learned` from this workload.
    """

    extractor: FeatureExtractor
    model: CostModel
    learned: bool = True

    def __call__(self, population: Population) -> Floats:
        """Predicted relative throughput `[n]`; higher is better."""
        if not (self.learned and self.model.trained):
            latency = Estimator(self.extractor).latency(population)
            relative: Floats = latency.min() / latency
            return relative
        features, owner = self.extractor.extract(population)
        return self.model.predict(features, owner, len(population))


Maker = Callable[[Space, FeatureExtractor, CostModel], Strategy]
STRATEGIES: dict[str, Maker] = {
    "evolution": lambda space, extractor, model: EvolutionStrategy(space, extractor, model),
    "random": lambda space, extractor, model: RandomStrategy(space),
    "exhaustive": lambda space, extractor, model: ExhaustiveStrategy(space),
    "beam": lambda space, extractor, model: BeamStrategy(space, ModelScore(extractor, model)),
}

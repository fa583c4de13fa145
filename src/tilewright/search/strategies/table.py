"""Search strategies behind one ask/tell protocol.

    strategy = EvolutionStrategy(space, model)
    batch = strategy.ask(rng, 16)               list of Candidate
    strategy.tell(batch, latencies)             seconds, or None for a failure

A strategy proposes candidates it has not proposed before; an empty batch means that the space is
exhausted. `STRATEGIES` names them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Protocol, TypeAlias

import numpy as np

from tilewright.cost.candidates import Ints, Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.schedule.templates import Template, templates_of
from tilewright.search.model.cost_model import CostModel
from tilewright.search.strategies.beam import BeamStrategy
from tilewright.search.strategies.evolution import (
    CHOICE,
    Evolution,
    EvolutionSettings,
    Floats,
    Scored,
    changed_choices,
    choices,
)
from tilewright.search.strategies.memory import Candidate, ProposalMemory, as_population, unscored
from tilewright.search.strategies.profiler import ProfileStrategy
from tilewright.search.strategies.template_rows import TemplateStrategy, has_templates
from tilewright.space.space import Space
from tilewright.target import Target

log = logging.getLogger(__name__)

EXHAUSTIVE_LIMIT = 100_000
PER_TRIAL = 128  # population per program to be measured: a small batch needs a short search
SMALLEST_POPULATION = 256
PROFILED = 12  # of a task's profile come before evolution: half of it, a first round's worth
Option: TypeAlias = tuple[tuple[int, ...], ...]  # of choices: the first column, all values
NEGLIGIBLE = 0.05  # a smaller share of the prior is not worth its computation


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
        self._memory = ProposalMemory(self.space)

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
        self._memory = ProposalMemory(self.space)
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
    """Evolution on the learned cost model, with the analytical estimate as the prior.

    Of every batch, `epsilon` is random (paper: ε-greedy) and `explore` is for the sketches that
    were tried least, the best candidates of each in turn: what the estimate says of programs of
    different sketches, or a model that has seen one sketch only, misleads. Half of the first batch
    explores. And `vary` is for the best program with one choice made otherwise, in turns: what pays
    with the right tiles only (stores past the caches) looks bad in random programs, and a model of
    these never proposes it with the right ones. `profile` programs of the task's profile come
    before all of these. Where templates compute the task, `template` of every batch are their rows,
    the most promising first, until all have been measured.
    """

    space: Space
    extractor: FeatureExtractor
    model: CostModel
    settings: EvolutionSettings = field(default_factory=EvolutionSettings)
    epsilon: float = 0.05
    explore: float = 0.15
    vary: float = 0.06
    profile: int = 0
    template: float = 0.3

    def __post_init__(self) -> None:
        self._memory = ProposalMemory(self.space)
        self._templates = TemplateStrategy(self.space, self.extractor)
        self._varied: Counter[Option] = Counter()
        self._random = RandomStrategy(self.space)
        self._random._memory = self._memory
        self.measured: list[tuple[float, Candidate]] = []  # seconds, best first
        self._tried = np.zeros(len(self.space.sketches), np.int64)
        self.evolution = Evolution(self.space, self.settings)
        self.winners: dict[str, int] = {}
        self._score = GuidedScore(self.extractor, self.model)
        self._profile = ProfileStrategy(self.space, self.extractor, self.profile)

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """What is left of the templates' rows and of the profile's programs; then the best new
        candidates of an evolution run, and a few that explore.
        """
        listed = self._templates.ask(rng, ceil(self.template * n))
        self._profile.tell(listed, [None] * len(listed))  # no program twice in a batch
        if self.profile:
            listed += self._profile.ask(rng, n - len(listed))
        self._memory.remember(listed)
        return listed if len(listed) == n else listed + self._evolved(rng, n - len(listed))

    def _evolved(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        size = min(self.settings.population, max(SMALLEST_POPULATION, PER_TRIAL * n))
        self.evolution.settings = replace(self.settings, population=size)
        found = self.evolution.run(rng, self._score, self._parents())
        varied = self._variations(ceil(self.vary * n))
        chosen = n - len(varied) - int(rng.binomial(n - len(varied), self.epsilon))
        first = self._tried.sum() <= 1  # at most the default program has been tried
        exploring = chosen // 2 if first else int(rng.binomial(chosen, self.explore))
        batch = self._memory.candidates(found, chosen - exploring, with_score=True)
        sketches = np.array([c.sketch for c in batch], np.int64)
        tried = self._tried + np.bincount(sketches, minlength=len(self._tried))
        rest = chosen - len(batch)
        batch += self._memory.candidates(in_turns(found, tried), rest, with_score=True)
        batch += varied
        return batch + self._random.ask(rng, n - len(batch))

    def _variations(self, n: int) -> list[Candidate]:
        """Up to `n` new programs that differ from the best in a choice; those options first that
        have been tried so least often.
        """
        if not self.measured:
            return []
        best = as_population([self.measured[0][1]])
        found = changed_choices(self.space, best)
        tried = [self._varied[self._option(best.rows[0], row)] for row in found.population.rows]
        order = np.argsort(tried, kind="stable")
        return self._memory.candidates(found[order], n, with_score=False)

    def _option(self, best: Ints, row: Ints) -> Option:
        """What a row of the best's sketch does otherwise: names and values of choices."""
        sketch = self.space.sketches[self.measured[0][1].sketch]
        spans = [self.space.span(d) for d in choices(sketch)]
        differ = [span for span in spans if (row[span] != best[span]).any()]
        return tuple((span.start, *map(int, row[span])) for span in differ)

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember results; a new best counts as a win of the operator that made it."""
        self._memory.remember(batch)
        self._templates.tell(batch, latencies)
        self._profile.tell(batch, latencies)
        self._score.measured += len(batch)
        if self.measured:
            best = np.array(self.measured[0][1].row)
            varied = [np.array(c.row) for c in batch if c.origin == CHOICE]
            self._varied.update(self._option(best, row) for row in varied)
        for candidate, latency in zip(batch, latencies, strict=True):
            self._tried[candidate.sketch] += 1
            if latency is None:
                continue
            if not self.measured or latency < self.measured[0][0]:
                self.winners[candidate.origin] = self.winners.get(candidate.origin, 0) + 1
            self.measured.append((latency, candidate))
            self.measured.sort(key=lambda pair: pair[0])

    def _parents(self) -> Population | None:
        if not self.measured:
            return None
        return as_population([c for _, c in self.measured])


def in_turns(found: Scored, tried: Ints) -> Scored:
    """A list, best first, with the sketches taking turns; the one tried least begins.

    `tried` `[sketches]` says how many programs of each have been measured.
    """
    sketch = found.population.sketch
    by_sketch = np.argsort(sketch, kind="stable")
    first = np.searchsorted(sketch[by_sketch], sketch[by_sketch])
    turn = np.empty(len(sketch), np.int64)
    turn[by_sketch] = np.arange(len(sketch)) - first
    order = np.argsort(turn + tried[sketch], kind="stable")
    return found[order]


@dataclass
class ModelScore:
    """Scores populations by the cost model; by the analytical estimate until it is trained."""

    extractor: FeatureExtractor
    model: CostModel

    def __call__(self, population: Population) -> Floats:
        """Predicted relative throughput `[n]`; higher is better."""
        if not self.model.trained:
            latency = self.extractor.latency(population)
            relative: Floats = latency.min() / latency
            return relative
        features, owner = self.extractor.extract(population)
        return self.model.predict(features, owner, len(population))


@dataclass
class GuidedScore:
    """The cost model's prediction, mixed with the analytical estimate while data are scarce.

    A model of few programs is wrong about most of the space. The estimate's share is `prior` /
    (`prior` + `measured`) for `measured` programs of this workload: all while there are none,
    whatever other workloads taught the model. It orders programs of one sketch well and sketches
    badly, hence counts relative to good random candidates of the same sketch.
    """

    extractor: FeatureExtractor
    model: CostModel
    prior: float = 8.0
    measured: int = 0

    def __call__(self, population: Population) -> Floats:
        """Expected relative throughput `[n]`; higher is better."""
        share = self.prior / (self.prior + self.measured) if self.model.trained else 1.0
        usual_s = self.extractor.usual_s[population.sketch]
        if share == 1.0:
            estimated: Floats = usual_s / self.extractor.latency(population)
            return estimated
        features, owner = self.extractor.extract(population)
        score = (1.0 - share) * self.model.predict(features, owner, len(population))
        if share > NEGLIGIBLE:
            score += share * usual_s / self.extractor.extracted_latency(features, owner)
        return score


Maker = Callable[[Space, FeatureExtractor, CostModel], Strategy]


def _evolution(space: Space, extractor: FeatureExtractor, model: CostModel) -> Strategy:
    return EvolutionStrategy(space, extractor, model, profile=PROFILED)


def _templates(space: Space, extractor: FeatureExtractor, model: CostModel) -> Strategy:
    """Templates alone; evolution for a task that none computes."""
    if has_templates(space):
        return TemplateStrategy(space, extractor)
    names = ", ".join(t.name for t in space.dag.outputs)
    log.info("no template computes %s, which evolution searches", names)
    return _evolution(space, extractor, model)


TEMPLATES = "templates"
STRATEGIES: dict[str, Maker] = {
    "evolution": _evolution,
    "random": lambda space, extractor, model: RandomStrategy(space),
    "exhaustive": lambda space, extractor, model: ExhaustiveStrategy(space),
    "beam": lambda space, extractor, model: BeamStrategy(space, ModelScore(extractor, model)),
    TEMPLATES: _templates,
}


def templates_of_strategy(strategy: str, target: Target) -> tuple[Template, ...]:
    """The templates with which a strategy searches."""
    return templates_of(target, asked=strategy == TEMPLATES)

"""Search strategies behind one ask/tell protocol.

    strategy = EvolutionStrategy(space, model)
    batch = strategy.ask(rng, 16)               list of Candidate
    strategy.tell(batch, latencies)             seconds, or None for a failure

A strategy proposes candidates it has not proposed before; an empty batch means that the space is
exhausted. `STRATEGIES` has the ways to search by name.
"""

from __future__ import annotations

import logging
from bisect import insort
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from typing import Protocol, TypeAlias

import numpy as np

from tilewright.contract import arguments
from tilewright.cost.candidates import Ints, Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.search.model.cost_model import CostModel
from tilewright.search.strategies.beam import BeamStrategy
from tilewright.search.strategies.evolution import (
    CHOICE,
    TEMPLATE,
    Evolution,
    EvolutionSettings,
    Floats,
    Scored,
    changed_choices,
    choices,
    named,
)
from tilewright.search.strategies.memory import (
    Candidate,
    Listed,
    ProposalMemory,
    as_population,
    drawn,
    unscored,
)
from tilewright.search.strategies.profiler import PROFILE, PROGRAMS, profile_of
from tilewright.search.task_scheduler import TaskScheduler
from tilewright.space.space import LISTED_ROWS, Space

log = logging.getLogger(__name__)

EXHAUSTIVE_LIMIT = 100_000
PER_TRIAL = 128  # population per program to be measured: a small batch needs a short search
SMALLEST_POPULATION = 256
PROFILED = 12  # of a task's profile come before evolution: half of it, a first round's worth
Option: TypeAlias = tuple[tuple[int, ...], ...]  # of choices: the first column, all values
LEAST_SHARE = 1e-3  # of the best one's throughput, of a program that was not measured
NEGLIGIBLE = 0.05  # a smaller share of the prior is not worth its computation


class Strategy(Protocol):
    """What the tuner needs of a strategy. One that has `expect(batch)`, too, hears there which
    candidates are being measured, and may be asked for more before it is told of these: on several
    machines others have one batch at a time.
    """

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
        return drawn(self._memory, rng, n)

    def expect(self, batch: Sequence[Candidate]) -> None:
        """Nothing depends on what is measured."""

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember what was measured."""
        self._memory.remember(batch)


Source: TypeAlias = tuple[Callable[[], Scored], float]
"""A list of programs, which is made when it is first asked for, and its share of a batch."""


def rows_of_templates(space: Space, extractor: FeatureExtractor) -> Scored:
    """All rows of templates, the most promising first; scores are estimated throughputs relative to
    the first one's. There are at most a few hundred, so no model chooses among them: measuring all
    takes less time than learning which are good (Hidet, section 4.3).
    """
    numbers = [k for k, sketch in enumerate(space.sketches) if sketch.is_listed]
    every = concatenate([space.nobody, *(space.listed(k, LISTED_ROWS) for k in numbers)])
    latency = extractor.latency(every) if len(every) else np.zeros(0)
    order = np.argsort(latency, kind="stable")
    score = latency.min(initial=np.inf) / latency[order]
    return Scored(every[order], score, named(TEMPLATE, len(order)))


def by_template(space: Space, extractor: FeatureExtractor, share: float = 0.3) -> Source:
    """The rows of templates, the most promising first."""
    return partial(rows_of_templates, space, extractor), share


@dataclass
class EvolutionStrategy:
    """Evolution on the learned cost model, with the analytical estimate as the prior.

    Of every batch, `epsilon` is random (paper: ε-greedy) and `explore` is for the sketches that
    were tried least, the best candidates of each in turn: what the estimate says of programs of
    different sketches, or a model that has seen one sketch only, misleads. Half of the first batch
    explores. And `vary` is for the best program with one choice made otherwise, in turns: what pays
    with the right tiles only (stores past the caches) looks bad in random programs, and a model of
    these never proposes it with the right ones. Before all of these come `sources`, lists of
    programs, each with its share of every batch until all of it have been measured; the rows of
    templates are one where none are given. What is being measured counts as tried, and as a parent
    that takes what was predicted.
    """

    space: Space
    extractor: FeatureExtractor
    model: CostModel
    settings: EvolutionSettings = field(default_factory=EvolutionSettings)
    epsilon: float = 0.05
    explore: float = 0.15
    vary: float = 0.06
    sources: Sequence[Source] | None = None

    def __post_init__(self) -> None:
        self._memory = ProposalMemory(self.space)
        if self.sources is None:
            self.sources = (by_template(self.space, self.extractor),)
        self._lists = [(Listed(self._memory, make), share) for make, share in self.sources]
        self._varied: Counter[Option] = Counter()
        self.measured: list[tuple[float, Candidate]] = []  # seconds, best first
        self._expected: list[Candidate] = []  # being measured
        self._tried = np.zeros(len(self.space.sketches), np.int64)
        self.evolution = Evolution(self.space, self.settings)
        self.winners: dict[str, int] = {}
        self._score = GuidedScore(self.extractor, self.model)

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """What is left of the sources; then the best new candidates of an evolution run, and a few
        that explore.
        """
        listed: list[Candidate] = []
        for source, share in self._lists:
            listed += source.ask(rng, min(ceil(share * n), n - len(listed)))
        return listed if len(listed) == n else listed + self._evolved(rng, n - len(listed))

    def _evolved(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        size = min(self.settings.population, max(SMALLEST_POPULATION, PER_TRIAL * n))
        self.evolution.settings = replace(self.settings, population=size)
        found = self.evolution.run(rng, self._score, self._parents())
        varied = self._variations(ceil(self.vary * n))
        chosen = n - len(varied) - int(rng.binomial(n - len(varied), self.epsilon))
        expected = np.array([c.sketch for c in self._expected], np.int64)
        known = self._tried + np.bincount(expected, minlength=len(self._tried))
        first = known.sum() <= 1  # at most the default program has been tried
        exploring = chosen // 2 if first else int(rng.binomial(chosen, self.explore))
        batch = self._memory.candidates(found, chosen - exploring, with_score=True)
        sketches = np.array([c.sketch for c in batch], np.int64)
        tried = known + np.bincount(sketches, minlength=len(known))
        rest = chosen - len(batch)
        batch += self._memory.candidates(in_turns(found, tried), rest, with_score=True)
        batch += varied
        return batch + drawn(self._memory, rng, n - len(batch))

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

    def expect(self, batch: Sequence[Candidate]) -> None:
        """These are being measured."""
        self._expected += batch

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember results; a new best counts as a win of the operator that made it."""
        self._memory.remember(batch)
        told = {c.gene for c in batch}
        self._expected = [c for c in self._expected if c.gene not in told]
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
            insort(self.measured, (latency, candidate), key=lambda pair: pair[0])

    def _parents(self) -> Population | None:
        if not self.measured:
            return None
        best_s = self.measured[0][0]
        scores = [(np.clip(c.predicted or 0.0, LEAST_SHARE, 1.0), c) for c in self._expected]
        lies = [(float(best_s / score), c) for score, c in scores]
        ranked = sorted([*self.measured, *lies], key=lambda pair: pair[0])
        return as_population([c for _, c in ranked])


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
    profile: Source = partial(profile_of, space, extractor, PROFILED), 1.0
    sources = by_template(space, extractor), profile
    return EvolutionStrategy(space, extractor, model, sources=sources)


def _exhaustive(space: Space, extractor: FeatureExtractor, model: CostModel) -> Strategy:
    """Every valid candidate, in order. Raises ScheduleError for spaces that are too large."""
    every = unscored(space.enumerate(EXHAUSTIVE_LIMIT))
    return Listed(ProposalMemory(space), lambda: every, with_score=False)


def _beam(space: Space, extractor: FeatureExtractor, model: CostModel) -> Strategy:
    return BeamStrategy(space, ModelScore(extractor, model))


def _templates(space: Space, extractor: FeatureExtractor, model: CostModel) -> Strategy:
    """Templates alone; evolution for a task that none computes."""
    if any(sketch.is_listed for sketch in space.sketches):
        return Listed(ProposalMemory(space), partial(rows_of_templates, space, extractor))
    names = ", ".join(t.name for t in space.dag.outputs)
    log.info("no template computes %s, which evolution searches", names)
    return _evolution(space, extractor, model)


def _profile(space: Space, extractor: FeatureExtractor, model: CostModel) -> Listed:
    """The programs of a task's profile."""
    return Listed(ProposalMemory(space), partial(profile_of, space, extractor), most=PROGRAMS)


RANKED, WHOLE = "ranked", "all"
"""How a plan reuses programs (`reuse.edges`)."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a run searches: `make` gives what proposes a task's programs, the `scheduler` allots
    trials to tasks. One that `asks` has templates that are there when asked for only. A `short` one
    has lists, measured to their end without a cost model. With a mode of `reuse` a plan of who
    reuses whose programs proposes them, too.
    """

    name: str
    make: Maker
    scheduler: type[TaskScheduler] = TaskScheduler
    asks: bool = False
    short: bool = False
    reuse: str | None = None


STRATEGIES: dict[str, Way] = {
    way.name: way
    for way in (
        Way("evolution", _evolution),
        Way("templates", _templates, asks=True),
        Way("reuse", _evolution, reuse=RANKED),
        Way("reuse-all", _evolution, reuse=WHOLE),
        Way(PROFILE, _profile, short=True),
        Way("random", lambda space, extractor, model: RandomStrategy(space)),
        Way("beam", _beam),
        Way("exhaustive", _exhaustive),
    )
}


"""By name: each task by itself, by all programs of nests written by hand ("templates"), by a plan
of who reuses whose programs (docs/reuse.md), or by what guidelines suggest, at most 24 programs a
task, which is all the budget that it needs ("profile": Bolt, section 3.2.2).
"""


def way_of(strategy: str | Maker | Way) -> Way:
    """The way to search that a name, a class of one's own, or a way stands for. Raises
    InputError.
    """
    if isinstance(strategy, Way):
        return strategy
    if callable(strategy):
        return Way(getattr(strategy, "__name__", type(strategy).__name__), strategy)
    return STRATEGIES[arguments.one_of("strategy", strategy, STRATEGIES)]

"""Searching near relatives' good programs (ETO, section 5), a few trials in all.

    strategy = ReuseStrategy(space, extractor, model, lambda: [Relative(named, programs), ...])
    strategy.ask(rng, 4)             programs like the relatives'; later what evolution proposes

The published tuner measures every program that it enumerates, hundreds of them. Here the ranges and
the neighbourhoods of the relatives' programs say which come into question, and the estimate and the
cost model, which has learnt what the relatives' programs took, choose `LENGTH` of them in rounds of
`ROUND`. What they took is then where evolution begins. Where neither the relatives' search nor the
first round found anything much faster than the untuned program, one round is all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TypeAlias

import numpy as np

from tilewright.cost.candidates import Ints, Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.usage import Usage, usage_of
from tilewright.records.rows import CARRIED, DEFAULT
from tilewright.search.model.cost_model import CostModel
from tilewright.search.reuse.correspondence import Correspondence, Named
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.ranges import Ranges, ranges_of
from tilewright.search.strategies.evolution import (
    CHOICE,
    Evolution,
    EvolutionSettings,
    Scored,
    changed_choices,
    named,
)
from tilewright.search.strategies.memory import Candidate, ProposalMemory, as_population
from tilewright.search.strategies.table import EvolutionStrategy, GuidedScore
from tilewright.space.space import Space

RANKED = "ranked"  # how candidates arise, besides by other strategies' ways and CARRIED
ROUND = 4  # programs after which the model learns
LENGTH = 12  # programs that a reuse measures
WORTH = 1.05  # times as fast as the untuned program: what is less is not worth more rounds
POOL = 2048  # programs near one to choose from, half as many near the next
KNOWN = 12  # of the operator's own trials, which relatives' make up for
PROMISING = 0.9  # of the best throughput: relatives' programs that reach less are no help
PARENTS = 64  # programs near a relative's, to look for those of other rules from


@dataclass(frozen=True)
class Relative:
    """An operator whose good programs are known, best first; `gain` is how many times as fast as
    the untuned one the best is.
    """

    named: Named
    programs: Population
    gain: float = inf


Relatives: TypeAlias = Callable[[], Sequence[Relative]]


@dataclass(frozen=True)
class _Example:
    """One program of a relative."""

    like: Correspondence
    row: Ints
    ranges: Ranges
    usage: Usage


@dataclass
class ReuseStrategy:
    """Reuse of relatives' programs, then evolution. `relatives` is asked when the first program is
    to be proposed: they may have been searched earlier in the same run.
    """

    space: Space
    extractor: FeatureExtractor
    model: CostModel
    relatives: Relatives
    length: int = LENGTH
    _proposed: int = 0

    def __post_init__(self) -> None:
        self.after = EvolutionStrategy(self.space, self.extractor, self.model)
        self._memory = ProposalMemory(self.space)
        self.named = Named(self.space, Operator.of(self.space.dag))
        self._score = GuidedScore(self.extractor, self.model, measured=KNOWN)
        self._evolution = Evolution(self.space, EvolutionSettings(population=512))

    @property
    def measured(self) -> list[tuple[float, Candidate]]:
        """What ran, and how many seconds it took; best first."""
        return self.after.measured

    @property
    def reusing(self) -> bool:
        """Whether relatives' programs still say what is measured next."""
        if self._proposed >= ROUND and not self._pays:
            return False
        return self._proposed < self.length

    @property
    def is_over(self) -> bool:
        """Whether they no longer do."""
        return not self.reusing

    @property
    def _pays(self) -> bool:
        """Whether there is something to find, by what relatives have found and what was here."""
        gains = [relative.gain for relative in self._relatives]
        untuned = next((s for s, c in self.measured if c.origin == DEFAULT), None)
        if untuned is not None:
            gains.append(untuned / self.measured[0][0])
        return max(gains, default=inf) >= WORTH

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """The rest of a round of reuse; what evolution proposes once that is over, or where nothing
        new is near. It depends on what was told alone, as a resumed run is told.
        """
        if self.reusing:
            left = min(ROUND - self._proposed % ROUND, self.length - self._proposed)
            batch = self._reuse(rng, min(n, left))
            if batch:
                return batch
        return self.after.ask(rng, n)

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember results."""
        self.after.tell(batch, latencies)
        self._memory.remember(batch)
        self._proposed += sum(c.origin != DEFAULT for c in batch)
        self._score.measured += len(batch)

    @cached_property
    def _relatives(self) -> Sequence[Relative]:
        return self.relatives()

    @cached_property
    def _examples(self) -> list[_Example]:
        return [example for relative in self._relatives for example in self._examples_of(relative)]

    # ---- rounds -------------------------------------------------------------------------------

    def _reuse(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """`n` programs: in the first round the relatives' best and one of other rules, in the last
        a changed choice; else the best of all that are near, and of what evolves from these.
        """
        if not self._examples:
            return []
        pools = [self._pool(rng, e, i) for i, e in enumerate(self._examples) if self._promises(e)]
        batch: list[Candidate] = []
        if self._proposed < ROUND:
            for pool in pools[: max(1, n // 2)]:
                batch += self._best(pool[:1], 1, CARRIED)
        measured = [c for _, c in self.measured]
        best = as_population(measured) if measured else self.space.nobody
        if len(best) and self._proposed >= self.length - ROUND:
            batch += self._best(changed_choices(self.space, best[:1]).population, n // 4, CHOICE)
        if len(best):
            own = Correspondence(self.named, int(best.sketch[0]), self.named)
            pools.append(own.neighbours(rng, best.rows[0], POOL))
        parents = concatenate([*(p[:PARENTS] for p in pools), best])
        evolved = 0
        if self._proposed < ROUND:
            batch += self._others(rng, parents, n // 4)
        else:
            evolved = (n - len(batch)) // 2
        batch += self._best(concatenate(pools), n - len(batch) - evolved, RANKED)
        if len(batch) < n:
            found = self._evolution.run(rng, self._score, parents)
            batch += self._memory.candidates(found, n - len(batch), with_score=True)
        return batch

    def _examples_of(self, relative: Relative) -> list[_Example]:
        """A relative's programs that have a counterpart here."""
        target, there = self.space.target, relative.named
        usage = usage_of(FeatureExtractor(there.space), relative.programs)
        ranges = ranges_of(target, self.named.operator, there.operator)
        examples = [
            _Example(Correspondence(there, int(k), self.named), row, ranges, usage[np.array([i])])
            for i, (k, row) in enumerate(
                zip(relative.programs.sketch, relative.programs.rows, strict=True)
            )
        ]
        return [e for e in examples if e.like.sketches]

    def _promises(self, example: _Example) -> bool:
        """Whether programs like this one are among the best measured here, or none was measured."""
        like = [s for s, c in self.measured if c.sketch in example.like.sketches]
        carried = any(c.origin in (CARRIED, RANKED) for _, c in self.measured)
        return not carried or bool(like and self.measured[0][0] >= PROMISING * like[0])

    def _pool(self, rng: np.random.Generator, example: _Example, number: int) -> Population:
        """Programs near one of a relative's and in its ranges; the nearest where none is."""
        near = example.like.neighbours(rng, example.row, POOL >> number)
        inside = example.ranges.hold(usage_of(self.extractor, near), example.usage)
        return near[np.flatnonzero(inside)] if inside.any() else near[:1]

    def _others(self, rng: np.random.Generator, parents: Population, n: int) -> list[Candidate]:
        """Programs of rules that none of `parents` is of: a relative's best has had to do with
        another shape, for which other rules may have been better.
        """
        sketches = self.space.sketches
        used = {sketches[k].rules for k in parents.sketch}
        others = [k for k, sketch in enumerate(sketches) if sketch.rules not in used]
        if not others or not n:
            return []
        found = self._evolution.run(rng, self._score, parents)
        found = found[np.flatnonzero(np.isin(found.population.sketch, others))]
        found = found[np.argsort(self.extractor.latency(found.population), kind="stable")]
        return self._memory.candidates(found, n, with_score=True)

    def _best(self, population: Population, n: int, origin: str) -> list[Candidate]:
        """The `n` new programs that score best."""
        if n <= 0 or not len(population):
            return []
        score = self._score(population)
        order = np.argsort(-score, kind="stable")
        found = Scored(population[order], score[order], named(origin, len(order)))
        return self._memory.candidates(found, n, with_score=True)

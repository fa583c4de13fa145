"""The published tuner, which measures every program that it enumerates (ETO, algorithm 1).

    strategy = HierarchicalStrategy(space, extractor, model, lambda: [Relative(named, programs)])
    strategy.ask(rng, 64)            the next programs of a round; none when all rounds are over
    WholeReuse(space, extractor, model, relatives).ask(rng, 64)         the same, then evolution

It takes the best program of the first relative that has a counterpart here. What it measures
depends on what it was told and on nothing else. `ReuseStrategy` measures a few of such programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tilewright.cost.candidates import Ints, Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.usage import usage_of
from tilewright.search.model.cost_model import CostModel
from tilewright.search.reuse.correspondence import Correspondence, Named
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.rounds import (
    THREADS,
    Reuse,
    Rounds,
    SearchRound,
    search_rounds,
    tuner_ranges,
)
from tilewright.search.reuse.shapes import Shapes
from tilewright.search.reuse.strategy import Relative, Relatives
from tilewright.search.strategies.evolution import Scored, fingerprints, named
from tilewright.search.strategies.memory import Candidate, ProposalMemory, as_population
from tilewright.search.strategies.table import EvolutionStrategy
from tilewright.space.space import Space


@dataclass
class HierarchicalStrategy:
    """Algorithm 1. `relatives` is asked when the first program is to be proposed. The model is
    part of what makers of strategies are given, and not asked.
    """

    space: Space
    extractor: FeatureExtractor
    model: CostModel
    relatives: Relatives
    _queue: list[Candidate] = field(default_factory=list)
    _known: dict[int, float] = field(default_factory=dict)  # seconds by fingerprint
    _rounds: Rounds | None = None
    _begun: bool = False
    _ended: bool = False
    _round: Population | None = None

    def __post_init__(self) -> None:
        self._memory = ProposalMemory(self.space)
        self._named = Named(self.space, Operator.of(self.space.dag))
        self._best: Population | None = None

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """The next programs of the round; the first ones of the next where it is over."""
        if self.is_over:
            return []
        batch, self._queue = self._queue[:n], self._queue[n:]
        return batch

    @property
    def is_over(self) -> bool:
        """Whether all rounds are, once what was proposed is told. Asks for the relatives."""
        while not self._queue and not self._ended:
            found = self._next()
            if found is None:
                self._ended = True
                break
            programs = self.space.canonical(found.programs)
            scored = Scored(programs, np.zeros(len(programs)), named(found.origin, len(programs)))
            self._queue = self._memory.candidates(scored, len(programs), with_score=False)
        return self._ended

    @property
    def has_relatives(self) -> bool:
        """Whether there is a program to reuse; known once `is_over` was asked."""
        return self._rounds is not None

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember results."""
        self._memory.remember(batch)
        told = fingerprints(as_population(batch)).tolist() if batch else []
        for key, latency in zip(told, latencies, strict=True):
            if latency is not None:
                self._known[key] = min(latency, self._known.get(key, latency))
        if self._queue and told:  # a resumed run is told what it has not asked for yet
            keys = fingerprints(as_population(self._queue))
            pairs = zip(keys, self._queue, strict=True)
            self._queue = [c for key, c in pairs if int(key) not in told]

    def _next(self) -> SearchRound | None:
        """The next round, after the last one's programs were measured."""
        try:
            if not self._begun:
                self._begun = True
                reuse = self._reuse()
                self._rounds = None if reuse is None else search_rounds(reuse)
                found = None if self._rounds is None else next(self._rounds)
            else:
                found = None if self._rounds is None else self._rounds.send(self._fastest())
        except StopIteration:
            found = None
        if found is not None:
            self._begin(found)
        return found

    def _begin(self, found: SearchRound) -> None:
        """Programs of a round of threads are compared with each other, those of others with the
        fastest before.
        """
        programs = self.space.canonical(found.programs)
        if found.origin != THREADS and self._best is not None:
            programs = concatenate([self._best, programs])
        self._round = programs

    def _fastest(self) -> Population | None:
        """The fastest program of the round, None where none has run."""
        assert self._round is not None
        keys = fingerprints(self._round) if len(self._round) else np.zeros(0, np.int64)
        latencies = [self._known.get(int(key), np.inf) for key in keys]
        self._best = None
        if min(latencies, default=np.inf) < np.inf:
            at = int(np.argmin(latencies))
            self._best = self._round[at : at + 1]
        return self._best

    # ---- what is reused -----------------------------------------------------------------------

    def _reuse(self) -> Reuse | None:
        for relative in self.relatives():
            programs = relative.programs
            for number in range(len(programs)):
                one = programs[number : number + 1]
                like = Correspondence(relative.named, int(one.sketch[0]), self._named)
                if like.sketches:
                    return self._reuse_of(relative, one, like)
        return None

    def _reuse_of(self, relative: Relative, one: Population, like: Correspondence) -> Reuse:
        """The rounds' beginning for one program of a relative."""
        there, row = relative.named, one.rows[0]
        mine, sketch = carried(self.space, like, row)
        extractor = FeatureExtractor(there.space)
        ranges = tuner_ranges(self.space.target, self._named.operator, there.operator)
        return Reuse(
            self.space, self.extractor, sketch, self._named.operator, mine, ranges,
            usage_of(extractor, one), registers_of(there, extractor, one),
        )  # fmt: skip


@dataclass
class WholeReuse:
    """Algorithm 1 to its end, then evolution from what it measured; evolution alone where there is
    no program to reuse.
    """

    space: Space
    extractor: FeatureExtractor
    model: CostModel
    relatives: Relatives

    def __post_init__(self) -> None:
        parts = self.space, self.extractor, self.model
        self.rounds = HierarchicalStrategy(*parts, self.relatives)
        self.after = EvolutionStrategy(*parts)

    @property
    def measured(self) -> list[tuple[float, Candidate]]:
        """What ran, and how many seconds it took; best first."""
        return self.after.measured

    @property
    def is_over(self) -> bool | None:
        """Whether the rounds are; None where they never began."""
        over = self.rounds.is_over
        return over if self.rounds.has_relatives else None

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """The next programs of the rounds; what evolution proposes when they are over."""
        return self.rounds.ask(rng, n) or self.after.ask(rng, n)

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember results."""
        self.rounds.tell(batch, latencies)
        self.after.tell(batch, latencies)


def carried(space: Space, like: Correspondence, row: Ints) -> tuple[Ints, int]:
    """The nearest valid program to a relative's, `[columns]`, and its sketch: choices taken one by
    one may exclude each other. Fetches are of single elements, as published.
    """
    near = like.nearest(row)
    sketch = int(near.sketch[0]) if len(near) else like.sketches[0]
    decisions = space.sketches[sketch].decisions
    found = near.rows[0].copy() if len(near) else np.zeros(space.width, np.int64)
    for decision, far in zip(decisions, like.distances(row, sketch), strict=True):
        if ".fetch." in decision.name:
            found[space.span(decision)] = decision.table[0]
        elif not len(near):
            found[space.span(decision)] = decision.table[far.argmin()]
    return found, sketch


def registers_of(named: Named, extractor: FeatureExtractor, one: Population) -> float | None:
    """Registers of a thread of a program; None where its sketch has no levels."""
    space, sketch = named.space, int(one.sketch[0])
    shapes = Shapes.of(space, extractor, sketch, named.operator, one.rows[0])
    decision, _, registers = (None, None, None) if shapes is None else shapes.unrolling(one)
    if decision is None or registers is None:
        return None
    at = int(np.flatnonzero(decision.table[:, 0] == one.rows[0, space.span(decision)][0])[0])
    return float(registers[at, 0])

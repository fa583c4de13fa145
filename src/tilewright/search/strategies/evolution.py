"""Evolutionary search over the candidate matrix (paper §5.1), whole generations at a time.

    evolution = Evolution(space, EvolutionSettings())
    found = evolution.run(rng, score, parents)      Scored(population, score, origin)

A generation is one matrix. Parents are drawn with probability proportional to fitness; children
come from mutation (of a decision, by one of the changes that it names, or of the sketch) or
node-based crossover: for every DAG node a child takes all decisions of one parent, and the sketch
of either. Columns of other sketches ride along, so a child of parents with different sketches is
well formed; it is then validated, and an invalid child is replaced by its parent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.cost.candidates import Ints, Population, concatenate
from tilewright.space.candidate_space import CandidateSpace, Producer
from tilewright.space.decisions import Decision

Floats: TypeAlias = NDArray[np.float64]
Names: TypeAlias = NDArray[np.object_]
Score: TypeAlias = Callable[[Population], Floats]

# How candidates arise, besides by the mutations of their decisions.
SAMPLE, PARENT, CROSSOVER, SKETCH, CHOICE = "sample", "parent", "crossover", "sketch", "choice"
TEMPLATE = "template"  # a row of a template, or one that a vendor's template offers
TILE = "tile"  # the mutation that stands in for one that nothing of a sketch has


@dataclass(frozen=True, slots=True)
class EvolutionSettings:
    """The knobs; the published code's values where it had any.

    `weights` are relative frequencies of the mutations (None: those of the target's backend).
    """

    population: int = 2048
    generations: int = 4
    mutation: float = 0.85
    elite: float = 0.2
    weights: Mapping[str, float] | None = None


@dataclass(slots=True)
class Scored:
    """Candidates with their scores and how each arose."""

    population: Population
    score: Floats
    origin: Names

    def __getitem__(self, at: Ints | slice) -> Scored:
        return Scored(self.population[at], self.score[at], self.origin[at])


class Seen:
    """The distinct candidates of all generations, each scored when it is first met: a quarter of a
    generation has been met before, for an invalid child is its parent.
    """

    def __init__(self, space: CandidateSpace, score: Score) -> None:
        self._space, self._score = space, score
        none: Ints = np.empty(0, np.int64)
        self._keys = none  # fingerprints, ascending
        self._found = Scored(space.nobody, np.empty(0), named(SAMPLE, 0))

    def add(self, population: Population, origin: Names) -> Floats:
        """The scores `[n]` of a generation, which may repeat candidates; `origin` says how each
        arose.
        """
        canonical = self._space.canonical(population)
        keys = fingerprints(canonical)
        _, first = np.unique(keys, return_index=True)
        new = first[~np.isin(keys[first], self._keys, assume_unique=True)]
        fresh = canonical[new]
        known, all_keys = self._found, np.concatenate([self._keys, keys[new]])
        found = Scored(
            concatenate([known.population, fresh]),
            np.concatenate([known.score, self._score(fresh)]),
            np.concatenate([known.origin, origin[new]]),
        )
        order = np.argsort(all_keys)
        self._keys, self._found = all_keys[order], found[order]
        return self._found.score[np.searchsorted(self._keys, keys)]

    def best_first(self) -> Scored:
        """All of them, equal scores in the order of fingerprints."""
        return self._found[np.argsort(-self._found.score, kind="stable")]


@dataclass
class Evolution:
    """Evolves one space. `attempts` and `valid` count children by operator."""

    space: CandidateSpace
    settings: EvolutionSettings = field(default_factory=EvolutionSettings)
    attempts: Counter[str] = field(default_factory=Counter)
    valid: Counter[str] = field(default_factory=Counter)

    def run(self, rng: np.random.Generator, score: Score, parents: Population | None) -> Scored:
        """All distinct candidates seen in all generations, best first."""
        current = self.initial(rng, parents)
        origin = named(SAMPLE, len(current))
        if parents is not None:
            origin[: min(len(parents), len(current))] = PARENT
        seen = Seen(self.space, score)
        scores = seen.add(current, origin)
        for _ in range(self.settings.generations):
            current, origin = self.generation(rng, current, scores)
            scores = seen.add(current, origin)
        return seen.best_first()

    def initial(self, rng: np.random.Generator, parents: Population | None) -> Population:
        """The best measured candidates (at most the elite share) and random ones."""
        n = self.settings.population
        if parents is None or not len(parents):
            return self.space.sample(rng, n)
        kept = self.space.completed(rng, parents[: int(n * self.settings.elite)])
        return concatenate([kept, self.space.sample(rng, n - len(kept))])

    def generation(
        self, rng: np.random.Generator, population: Population, score: Floats
    ) -> tuple[Population, Names]:
        """The next generation and how each child arose."""
        n = len(population)
        fitness = score - score.min()
        fitness = fitness / fitness.sum() if fitness.sum() > 0 else np.full(n, 1.0 / n)
        mothers = rng.choice(n, n, p=fitness)
        fathers = rng.choice(n, n, p=fitness)
        child = Population(population.rows[mothers].copy(), population.sketch[mothers].copy())
        crossing = rng.random(n) >= self.settings.mutation
        how = named(CROSSOVER, n)
        at = np.flatnonzero(crossing)
        self.space.cross(rng, child, population[fathers[at]], at)
        mutating = np.flatnonzero(~crossing)
        how[mutating] = self._mutate(rng, child, mutating)
        ok = self.space.satisfied(child)
        self._count(how, ok)
        lost = ~ok
        child.rows[lost] = population.rows[mothers[lost]]
        child.sketch[lost] = population.sketch[mothers[lost]]
        how[lost] = PARENT
        return child, how

    # ---- operators ----------------------------------------------------------------------------

    def _mutate(self, rng: np.random.Generator, child: Population, at: Ints) -> Names:
        """Change one decision (or the sketch) of every row in `at`; returns the mutations."""
        frequencies = self.settings.weights or self.space.target.backend.mutations
        weights = np.array(list(frequencies.values()))
        drawn = rng.choice(len(weights), len(at), p=weights / weights.sum())
        how = np.array(list(frequencies), object)[drawn]
        if len(self.space.sketches) == 1:
            how[how == SKETCH] = TILE
        rows = at[how == SKETCH]
        child.sketch[rows] = rng.integers(0, len(self.space.sketches), len(rows))
        for sketch, members in self.space.groups(child[at]):
            for name in (m for m in frequencies if m != SKETCH):
                decisions = having(sketch, name) or having(sketch, TILE) or list(sketch.decisions)
                if decisions:
                    self._change(rng, child, at[members[how[members] == name]], decisions, name)
        return how

    def _change(
        self,
        rng: np.random.Generator,
        child: Population,
        rows: Ints,
        decisions: list[Decision],
        mutation: str,
    ) -> None:
        movable = [d for d in decisions if len(d.table) > 1] or decisions
        which = rng.integers(0, len(movable), len(rows))
        for i, decision in enumerate(movable):
            mine = rows[which == i]
            if len(mine):
                span = self.space.span(decision)
                change = decision.mutations.get(mutation, decision.mutate)
                child.rows[mine, span] = change(rng, child.rows[mine, span])

    def _count(self, how: Names, ok: NDArray[np.bool_]) -> None:
        self.attempts.update(how)
        self.valid.update(how[ok])


def named(name: str, n: int) -> Names:
    """`n` candidates that arose alike."""
    return np.full(n, name, object)


def having(sketch: Producer, mutation: str) -> list[Decision]:
    """A sketch's decisions that have a mutation."""
    return [d for d in sketch.decisions if mutation in d.mutations]


def choices(sketch: Producer) -> list[Decision]:
    """A sketch's decisions among options, those of few options first."""
    return sorted((d for d in sketch.decisions if d.is_choice), key=lambda d: len(d.table))


def changed_choices(space: CandidateSpace, one: Population) -> Scored:
    """The program of a population of one, with one choice made otherwise: all such that are valid,
    in the order of `choices`.
    """
    (number,) = one.sketch
    rows = [one.rows[:0]]
    for decision in choices(space.sketches[number]):
        span = space.span(decision)
        others = decision.table[(decision.table != one.rows[:, span]).any(axis=1)]
        changed = np.repeat(one.rows, len(others), axis=0)
        changed[:, span] = others
        rows.append(changed)
    matrix = np.concatenate(rows)
    found = Population(matrix, np.repeat(one.sketch, len(matrix)))
    found = space.canonical(found[space.satisfied(found)])
    return Scored(found, np.zeros(len(found)), named(CHOICE, len(found)))


def fingerprints(canonical: Population) -> Ints:
    """A 64-bit hash of every row of a canonical population (a product with fixed odd numbers)."""
    width = canonical.rows.shape[1]
    weights = np.random.default_rng(7).integers(1, 2**62, width + 1) * 2 + 1
    with np.errstate(over="ignore"):
        hashes: Ints = canonical.rows @ weights[1:] + canonical.sketch * weights[0]
    return hashes

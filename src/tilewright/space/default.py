"""The default program of a task: good without any measurement, the same every time.

    default_of(space) -> Population of one
    default_gene(space) -> its gene

A seeded sample of the search space, ranked by the analytical estimate; the best are then changed
one decision at a time for a few rounds. It is what an untuned model runs and the reference that
measured candidates are compared with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.cost.candidates import Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.gene import Gene
from tilewright.space.candidate_space import CandidateSpace

SAMPLES = 4096
ROUNDS = 8
PARENTS = 32
CHILDREN = 12


def default_gene(space: CandidateSpace[Any], extractor: FeatureExtractor | None = None) -> Gene:
    """Its gene. Raises ScheduleError when the space is empty."""
    default = default_of(space, extractor)
    return space.gene(int(default.sketch[0]), default.rows[0])


def default_of(space: CandidateSpace[Any], extractor: FeatureExtractor | None = None) -> Population:
    """The default program as a candidate of its space, whose `extractor` may be at hand."""
    rng = np.random.default_rng(0)
    extractor = extractor or FeatureExtractor(space)
    population = space.sample(rng, SAMPLES)
    latency = extractor.latency(population)
    for _ in range(ROUNDS):
        best = np.argsort(latency, kind="stable")[:PARENTS]
        children = neighbours(space, population[best], rng)
        population = concatenate([population[best], children])
        latency = np.concatenate([latency[best], extractor.latency(children)])
    return population[np.argmin(latency, keepdims=True)]


def neighbours(
    space: CandidateSpace[Any], parents: Population, rng: np.random.Generator
) -> Population:
    """Valid candidates that differ from a parent in one decision of its sketch."""
    parents = parents[np.repeat(np.arange(len(parents)), CHILDREN)]
    rows = parents.rows.copy()
    for sketch, at in space.groups(parents):
        which = rng.integers(0, max(1, len(sketch.decisions)), len(at))
        for k, decision in enumerate(sketch.decisions):
            mine, span = at[which == k], space.span(decision)
            if len(mine):
                rows[mine, span] = decision.mutate(rng, rows[mine, span])
    children = Population(rows, parents.sketch)
    return children[space.satisfied(children)]

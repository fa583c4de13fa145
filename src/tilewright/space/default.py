"""The default program of a task: good without any measurement, the same every time.

    default_of(space) -> Population of one
    default_gene(space) -> its gene

A seeded sample of the search space, ranked by the analytical estimate; the best are then changed
one decision at a time, and crossed by DAG node, while that makes them better. It is what an untuned
model runs and the reference that measured candidates are compared with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.cost.candidates import Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.gene import Gene
from tilewright.space.candidate_space import CandidateSpace

SAMPLES = 4096
PARENTS = 256
CHILDREN = 4  # of each parent with one decision changed, and as many of it and another one
ROUNDS = 64  # at most
STALE = 3  # rounds in a row that make nothing better by GAIN: a good place was reached
GAIN = 0.005


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
    least, stale = latency.min(), 0
    for _ in range(ROUNDS):
        if stale == STALE:
            break
        best = np.argsort(latency, kind="stable")[:PARENTS]
        parents = population[best]
        population = concatenate(
            [parents, neighbours(space, parents, rng, CHILDREN), _crossed(space, parents, rng)]
        )
        latency = np.concatenate([latency[best], extractor.latency(population[len(best) :])])
        stale = 0 if latency.min() < (1 - GAIN) * least else stale + 1
        least = latency.min()
    return population[np.argmin(latency, keepdims=True)]


def _crossed(
    space: CandidateSpace[Any], parents: Population, rng: np.random.Generator
) -> Population:
    """Valid candidates that take each DAG node's decisions from a parent or from another one."""
    children = parents[np.repeat(np.arange(len(parents)), CHILDREN)]
    fathers = parents[rng.integers(0, len(parents), len(children))]
    space.cross(rng, children, fathers, np.arange(len(children)))
    return children[space.satisfied(children)]


def neighbours(
    space: CandidateSpace[Any], parents: Population, rng: np.random.Generator, each: int
) -> Population:
    """Valid candidates that differ from a parent in one decision of its sketch, at most so many of
    each parent.
    """
    parents = parents[np.repeat(np.arange(len(parents)), each)]
    rows = parents.rows.copy()
    for sketch, at in space.groups(parents):
        which = rng.integers(0, max(1, len(sketch.decisions)), len(at))
        for k, decision in enumerate(sketch.decisions):
            mine, span = at[which == k], space.span(decision)
            if len(mine):
                rows[mine, span] = decision.mutate(rng, rows[mine, span])
    children = Population(rows, parents.sketch)
    return children[space.satisfied(children)]

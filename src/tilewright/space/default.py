"""The default program of a task: good without any measurement, the same every time.

    default_of(space) -> Population of one
    default_gene(space) -> its gene

A seeded sample of the search space, ranked by the analytical estimate; the best are then changed
one decision at a time, and crossed, while that makes them better. A few of every sketch are kept
at first however slow they are: where contractions share a kernel, the sketch of the best program
of all has few valid programs, and none of these is good at once. It is what an untuned model runs
and the reference that measured candidates are compared with, so it is of no template with
instructions that was never right on the device: one that hangs there would be the end of both.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.contract.gene import Gene
from tilewright.cost.candidates import Floats, Ints, Population, concatenate
from tilewright.cost.extractor import FeatureExtractor, Known
from tilewright.ground.errors import ScheduleError
from tilewright.space.candidate_space import CandidateSpace

SAMPLES = 1024
PARENTS = 128
OF_SKETCH = 8  # of these, of every sketch that is still tried
STILL = 0.9  # of the sketches, in the next round
DECISIONS = 6  # for so many of a sketch a parent has one child of each kind more
SHARE = 0.3  # of its decisions that a child takes from another parent
ROUNDS = 64  # at most
STALE = 3  # rounds in a row that make nothing better by GAIN: a good place was reached
GAIN = 0.005


def default_gene(space: CandidateSpace, extractor: FeatureExtractor | None = None) -> Gene:
    """Its gene. Raises what `default_of` does."""
    default = default_of(space, extractor)
    return space.gene(int(default.sketch[0]), default.rows[0])


def default_of(space: CandidateSpace, extractor: FeatureExtractor | None = None) -> Population:
    """The default program as a candidate of its space, whose `extractor` may be at hand.

    Raises ScheduleError when the space is empty, or has nothing that serves unmeasured.
    """
    rng = np.random.default_rng(0)
    extractor = extractor or FeatureExtractor(space)
    each = 1 + max(len(s.decisions) for s in space.sketches) // DECISIONS
    population = _serving(space, space.sample(rng, SAMPLES))
    known: Known = {}
    latency = extractor.latency(population, known)
    least, stale = latency.min(), 0
    for number in range(ROUNDS):
        if stale == STALE:
            break
        best = _parents(population, latency, STILL**number)
        parents, latency = population[best], latency[best]
        children = concatenate(
            [
                neighbours(space, parents, rng, each),
                _crossed(space, parents, rng, each),
                mixed(space, parents, rng, each),
            ]
        )
        children = children[space.satisfied(children)]
        population = concatenate([parents, children])
        latency = np.concatenate([latency, extractor.latency(children, known)])
        stale = 0 if latency.min() < (1 - GAIN) * least else stale + 1
        least = latency.min()
    return population[np.argmin(latency, keepdims=True)]


def _serving(space: CandidateSpace, population: Population) -> Population:
    """The candidates that serve unmeasured."""
    serves = np.array([sketch.serves_unmeasured for sketch in space.sketches])
    found = population[np.flatnonzero(serves[population.sketch])]
    if not len(found):
        names = ", ".join(sketch.name for sketch in space.sketches)
        raise ScheduleError(f"no program of {names} was ever right on {space.target}; measure some")
    return found


def _parents(population: Population, latency: Floats, share: float) -> Ints:
    """The numbers of the best candidates of a share of the sketches, those that have the best ones,
    and of the best of all; of those that the estimate takes for equal one.
    """
    order = np.lexsort((population.sketch, latency))
    kinds = np.stack([latency, population.sketch])[:, order]
    order = order[np.append(True, (kinds[:, 1:] != kinds[:, :-1]).any(0))]
    sketch = population.sketch[order]
    sketches, first = np.unique(sketch, return_index=True)
    tried = sketches[np.argsort(first)][: math.ceil(share * len(sketches))]
    own = order[leading(sketch, latency[order], OF_SKETCH)]
    own = own[np.isin(population.sketch[own], tried)]
    others = order[~np.isin(order, own)]
    return np.concatenate([own, others[: max(0, PARENTS - len(own))]])


def leading(kind: Ints, latency: Floats, most: int) -> Ints:
    """The numbers of the quickest candidates of each kind, at most `most` of it."""
    order = np.lexsort((latency, kind))
    begins = np.searchsorted(kind[order], kind[order])
    return order[np.arange(len(order)) - begins < most]


def _crossed(
    space: CandidateSpace, parents: Population, rng: np.random.Generator, each: int
) -> Population:
    """Candidates that take each DAG node's decisions from a parent or from another one."""
    children = _copies(parents, each)
    fathers = parents[rng.integers(0, len(parents), len(children))]
    space.cross(rng, children, fathers, np.arange(len(children)))
    return children


def mixed(
    space: CandidateSpace, parents: Population, rng: np.random.Generator, each: int
) -> Population:
    """Candidates that take a share of a parent's decisions from another one of its sketch."""
    children = _copies(parents, each)
    rows = children.rows.copy()
    for sketch, at in space.groups(children):
        other = children.rows[at[rng.integers(0, len(at), len(at))]]
        for decision in sketch.decisions:
            taken, span = rng.random(len(at)) < SHARE, space.span(decision)
            rows[at[taken], span] = other[taken, span]
    return Population(rows, children.sketch)


def neighbours(
    space: CandidateSpace, parents: Population, rng: np.random.Generator, each: int
) -> Population:
    """Candidates that differ from a parent in one decision of its sketch, so many of each."""
    parents = _copies(parents, each)
    rows = parents.rows.copy()
    for sketch, at in space.groups(parents):
        which = rng.integers(0, max(1, len(sketch.decisions)), len(at))
        for k, decision in enumerate(sketch.decisions):
            mine, span = at[which == k], space.span(decision)
            if len(mine):
                rows[mine, span] = decision.mutate(rng, rows[mine, span])
    return Population(rows, parents.sketch)


def _copies(population: Population, each: int) -> Population:
    return population[np.repeat(np.arange(len(population)), each)]

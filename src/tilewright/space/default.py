"""The default program of a task: good without any measurement, the same every time.

    default_gene(space) -> its gene
    default_of(space) -> the same as a Population of one, without programs by size

A seeded sample of the search space, ranked by the analytical estimate; the best are then changed
one decision at a time, and crossed, while that makes them better. A few of every sketch are kept
at first however slow they are: where contractions share a kernel, the sketch of the best program
of all has few valid programs, and none of these is good at once. With sizes the best at each of a
few points are kept beside those that are best in the mean, and where two or three of them, each for
a range of a size, promise much more than one, they are the default program together.

It is what an untuned model runs and the reference that measured candidates are compared with, so it
is of no template with instructions that was never right on the device: one that hangs there would
be the end of both.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.contract.gene import Gene
from tilewright.contract.sizes import compared_points
from tilewright.cost.candidates import Floats, Ints, Population, concatenate
from tilewright.cost.estimate import REGION_S
from tilewright.cost.extractor import FeatureExtractor, Known
from tilewright.ground.errors import ScheduleError
from tilewright.space.by_size import ranges_of
from tilewright.space.candidate_space import CandidateSpace
from tilewright.space.space import Space
from tilewright.target import CpuTarget

SAMPLES = 1024
PARENTS = 128
OF_SKETCH = 8  # of these, of every sketch that is still tried
STILL = 0.9  # of the sketches, in the next round
DECISIONS = 6  # for so many of a sketch a parent has one child of each kind more
SHARE = 0.3  # of its decisions that a child takes from another parent
ROUNDS = 64  # at most
STALE = 3  # rounds in a row that make nothing better by GAIN: a good place was reached
GAIN = 0.005
COMPARED = 0.25  # of the sketches, whose best candidates are compared at more points
SAVING = 0.05
"""Of the latency at all points, that one more program by size must save: estimates are no more
precise, and each has code and perhaps constants of its own.
"""


def default_gene(space: CandidateSpace, extractor: FeatureExtractor | None = None) -> Gene:
    """Its gene. Raises what `default_of` does."""
    extractor = extractor or FeatureExtractor(space)
    found, goals = _improved(space, extractor)
    if isinstance(space, Space) and _has_ranges(space):
        return _by_size(space, found[_parents(found, goals, COMPARED)], extractor)
    return _gene(space, found, int(goals[0].argmin()))


def _by_size(space: Space, found: Population, extractor: FeatureExtractor) -> Gene:
    """Programs by size, of these candidates, or the one that is nearest to the best at each of
    more points: those of the space, for which they were bred, are few, and tiles suit them.
    """
    assert space.sized is not None
    points = compared_points(space.sized.sizes)
    costs = extractor.latencies_at(points, found).T + REGION_S
    costs *= [point.weight for point in points] / costs.min(axis=0)
    ranges = ranges_of(points, costs, SAVING)
    if ranges is None:
        return _gene(space, found, int(costs.sum(axis=1).argmin()))
    return ranges.gene([_gene(space, found, k) for k in ranges.programs])


def _gene(space: CandidateSpace, found: Population, number: int) -> Gene:
    return space.gene(int(found.sketch[number]), found.rows[number])


def default_of(space: CandidateSpace, extractor: FeatureExtractor | None = None) -> Population:
    """The default program, of all sizes together, as a candidate of its space, whose `extractor`
    may be at hand.

    Raises ScheduleError when the space is empty, or has nothing that serves unmeasured.
    """
    found, goals = _improved(space, extractor or FeatureExtractor(space))
    return found[np.argmin(goals[0], keepdims=True)]


def _improved(space: CandidateSpace, extractor: FeatureExtractor) -> tuple[Population, Floats]:
    """The last candidates of all rounds, the best ones among them, and their goals."""
    rng = np.random.default_rng(0)
    each = 1 + max(len(s.decisions) for s in space.sketches) // DECISIONS
    population = _serving(space, space.sample(rng, SAMPLES))
    known: Known = {}
    goals = _goals(space, extractor, population, known)
    stale = 0
    for number in range(ROUNDS):
        if stale == STALE:
            break
        best, least = _parents(population, goals, STILL**number), goals.min(axis=1)
        parents = population[best]
        children = concatenate(
            [
                neighbours(space, parents, rng, each),
                _crossed(space, parents, rng, each),
                mixed(space, parents, rng, each),
            ]
        )
        children = children[space.satisfied(children)]
        population = concatenate([parents, children])
        own = _goals(space, extractor, children, known)
        goals = np.concatenate([goals[:, best], own], axis=1)
        stale = 0 if (goals.min(axis=1) / least).mean() < 1 - GAIN else stale + 1
    return population, goals


def _has_ranges(space: CandidateSpace) -> bool:
    """Whether a default program may be several, each for a range of a size: a grid has one."""
    return isinstance(space.target, CpuTarget) and len(space.points) > 1


def _goals(
    space: CandidateSpace, extractor: FeatureExtractor, some: Population, known: Known
) -> Floats:
    """What is to become little, `[goals, n]`: the mean, then seconds at points that may have a
    program of their own.
    """
    seconds = extractor.latencies(some, known)
    mean = extractor.mean(seconds)[None]
    return np.concatenate([mean, seconds]) if _has_ranges(space) else mean


def _serving(space: CandidateSpace, population: Population) -> Population:
    """The candidates that serve unmeasured."""
    serves = np.array([sketch.serves_unmeasured for sketch in space.sketches])
    found = population[np.flatnonzero(serves[population.sketch])]
    if not len(found):
        names = ", ".join(sketch.name for sketch in space.sketches)
        raise ScheduleError(f"no program of {names} was ever right on {space.target}; measure some")
    return found


def _parents(population: Population, goals: Floats, share: float) -> Ints:
    """The numbers of the best candidates of a share of the sketches, those that have the best ones,
    and of the best of all; of those that the estimate takes for equal one.
    """
    mean, latency = goals[0], _nearness(goals)
    order = np.lexsort((population.sketch, mean, latency))
    kinds = np.stack([latency, mean, population.sketch])[:, order]
    order = order[np.append(True, (kinds[:, 1:] != kinds[:, :-1]).any(0))]
    sketch = population.sketch[order]
    sketches, first = np.unique(sketch, return_index=True)
    tried = sketches[np.argsort(first)][: math.ceil(share * len(sketches))]
    own = order[leading(sketch, latency[order], OF_SKETCH)]
    own = own[np.isin(population.sketch[own], tried)]
    others = order[~np.isin(order, own)]
    return np.concatenate([own, others[: max(0, PARENTS - len(own))]])


def _nearness(goals: Floats) -> Floats:
    """How good each candidate is by that of the goals by which it is nearest to the best one."""
    relative = goals if len(goals) == 1 else goals / goals.min(axis=1, keepdims=True)
    nearest: Floats = relative.min(axis=0)
    return nearest


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

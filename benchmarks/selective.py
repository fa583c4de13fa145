"""Selective tuning, the baseline: programs of similar operators taken over as they are.

    clusters(members)                  [[representative, others …], …]
    TopKStrategy(space, relatives)     their programs, three at a time until one runs

Operators are similar when their spaces overlap; clusters are maximal cliques of similar ones, of
which one is searched and the others try its best programs (ETO, sections 1 and 7; the proposal
"Selective Tuning" of AutoTVM). What no value here is the same as is carried to the nearest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import networkx
import numpy as np

from tilewright.cost.candidates import Ints, concatenate
from tilewright.records.rows import CARRIED
from tilewright.search.reuse.correspondence import Correspondence, Named, kin
from tilewright.search.reuse.strategy import Relatives
from tilewright.search.strategies.evolution import Scored, named
from tilewright.search.strategies.memory import Candidate, ProposalMemory
from tilewright.space.candidate_space import Producer
from tilewright.space.space import Space

TOP = 3
THRESHOLD = 0.01  # of overlap, from which on two operators are similar
POOL = 512  # programs near one, of which the nearest valid one is taken


@dataclass
class TopKStrategy:
    """The `top` best programs of relatives, the next ones while none has run; nothing else."""

    space: Space
    relatives: Relatives
    named: Named
    top: int = TOP
    _tried: int = 0
    _has_run: bool = False

    def __post_init__(self) -> None:
        self._memory = ProposalMemory(self.space)
        self._nearest: Scored | None = None

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """Programs as the relatives have them, as near as can be."""
        if self._nearest is None:
            self._nearest = self._carried(rng)
        if self._has_run and self._tried % self.top == 0:
            return []
        left = self.top - self._tried % self.top
        return self._memory.candidates(self._nearest, min(n, left), with_score=False)

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember what ran."""
        self._memory.remember(batch)
        carried = [s for c, s in zip(batch, latencies, strict=True) if c.origin == CARRIED]
        self._tried += len(carried)
        self._has_run |= any(s is not None for s in carried)

    def _carried(self, rng: np.random.Generator) -> Scored:
        found = []
        for relative in self.relatives():
            pairs = zip(relative.programs.sketch, relative.programs.rows, strict=True)
            for sketch, row in pairs:
                here = Correspondence(relative.named, int(sketch), self.named)
                found.append(here.neighbours(rng, row, POOL)[:1])
        every = concatenate([self.space.nobody, *found])
        return Scored(every, np.zeros(len(every)), named(CARRIED, len(every)))


def similarity(a: Named, b: Named) -> float:
    """How much of two operators' programs are the same, from 0 to 1: those of both spaces relative
    to those of either.
    """
    common = 0.0
    for sketch in a.space.sketches:
        for other in b.space.sketches:
            same = kin(sketch.rules) == kin(other.rules) and a.places(sketch) == b.places(other)
            common += same * _common(_tables(a, sketch), _tables(b, other))
    either = sum(_size(n) for n in (a, b)) - common
    return common / either


def _size(named: Named) -> float:
    return sum(prod(float(len(d.table)) for d in s.decisions) for s in named.space.sketches)


def _tables(named: Named, sketch: Producer) -> dict[str, Ints]:
    return {named.decision(d, sketch): d.table for d in sketch.decisions}


def _common(a: dict[str, Ints], b: dict[str, Ints]) -> float:
    """How many rows two sketches share; a decision that one lacks is 1 there."""
    shared = 1.0
    for name in a.keys() | b.keys():
        mine, theirs = a.get(name), b.get(name)
        if mine is None or theirs is None:
            continue
        if mine.shape[1] != theirs.shape[1]:
            return 0.0
        shared *= len({*map(tuple, mine.tolist())} & {*map(tuple, theirs.tolist())})
    return shared


def clusters(operators: Sequence[Named], threshold: float = THRESHOLD) -> list[list[int]]:
    """Numbers of operators that are similar pairwise, each in the largest clique that is left; in
    each cluster the one that is most similar to all others comes first.
    """
    n = len(operators)
    similar = np.eye(n)
    for i in range(n):
        for j in range(i):
            if operators[i].operator.family == operators[j].operator.family:
                similar[i, j] = similar[j, i] = similarity(operators[i], operators[j])
    graph = networkx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((i, j) for i in range(n) for j in range(i) if similar[i, j] >= threshold)
    found = []
    while len(graph):
        clique = min(networkx.find_cliques(graph), key=lambda c: (-len(c), sorted(c)))
        best = max(sorted(clique), key=lambda i: similar[i, clique].sum())
        found.append([best, *(i for i in sorted(clique) if i != best)])
        graph.remove_nodes_from(clique)
    return found

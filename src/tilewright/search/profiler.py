"""A task's profile: a few programs that the machine's own facts suggest, all of them measured
(Bolt, section 3.2.2).

    profile_of(space, extractor)            at most 24 programs, the most promising first
    ProfileStrategy(space, extractor)       proposes these, and nothing else

Bolt generates sample programs by guidelines of its GPU (large warp tiles within the registers, four
or eight warps, small blocks for small problems) and times them all: no model is trained. Here the
guidelines are columns over all sketches. Whether a program is valid at all (registers, bounds of
positions, threads and shared memory of a GPU) is known before anything compiles; how well a
register tile fills the ports, whether its panels stay in a cache and whether there is work for all
threads is what the analytical estimate is made of. What it cannot know is left to measuring:
programs are listed that differ in sketch, register tile, cache panels or work for threads, for
`profile_of` takes whatever is like a program chosen before for slower than its estimate says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tilewright.cost.candidates import Floats, Ints, Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.usage import usage_of
from tilewright.gene import Gene
from tilewright.search.evolution import Evolution, EvolutionSettings, Scored
from tilewright.search.memory import Candidate, ProposalMemory
from tilewright.space.space import Space

PROFILE = "profile"
PROGRAMS = 24  # of a task: the paper's "tens of best parameter combinations"
ROUND = 8  # programs that are recorded together: so many a killed run may have to measure again
POPULATION = 1024
# By how much a program is taken for slower for each chosen one that is like it: of the same
# sketch, of as many register tiles, of panels in the same octave of bytes, of as many blocks.
ALIKE = (0.05, 0.05, 0.03, 0.02)


def profile_of(space: Space, extractor: FeatureExtractor, most: int = PROGRAMS) -> Scored:
    """The programs of a task's profile, at most `most`, the most promising first; scores are
    estimated throughputs relative to the first one's. The same every time.

    Raises ScheduleError when the space is empty.
    """
    pool, latency = _pool(space, extractor)
    chosen = _diverse(latency, _likeness(extractor, pool.population), most)
    found = pool[chosen]
    found.score = latency[chosen[0]] / latency[chosen]
    found.origin[:] = PROFILE
    return found


def _pool(space: Space, extractor: FeatureExtractor) -> tuple[Scored, Floats]:
    """Valid programs of all sketches that the estimate likes, and their estimated seconds `[n]`.

    They evolve by the estimate relative to what is usual for their sketch: of another one it says
    little, and each should have some.
    """

    def score(population: Population) -> Floats:
        found: Floats = extractor.usual_s[population.sketch] / extractor.latency(population)
        return found

    evolution = Evolution(space, EvolutionSettings(population=POPULATION))
    pool = evolution.run(np.random.default_rng(0), score, None)
    return pool, extractor.usual_s[pool.population.sketch] / pool.score


def _likeness(extractor: FeatureExtractor, population: Population) -> Ints:
    """What programs are compared by, `[n, len(ALIKE)]`: equal numbers are alike."""
    usage = usage_of(extractor, population)
    panels = np.rint(np.log2(np.maximum(usage.bytes / np.maximum(usage.blocks, 1.0), 1.0)))
    return np.stack([population.sketch, usage.threads, panels, usage.blocks], 1).astype(np.int64)


def _diverse(latency: Floats, likeness: Ints, most: int) -> Ints:
    """The numbers of at most `most` candidates: each the quickest by the estimate when what is
    like those before it counts for more.
    """
    cost = np.log(latency)
    chosen: list[int] = []
    for _ in range(min(most, len(cost))):
        best = int(np.argmin(cost))
        chosen.append(best)
        cost += (likeness == likeness[best]) @ np.array(ALIKE)
        cost[best] = np.inf
    return np.array(chosen, np.int64)


@dataclass
class ProfileStrategy:
    """The programs of a task's profile, in order, and then none: every space is soon exhausted."""

    space: Space
    extractor: FeatureExtractor
    most: int = PROGRAMS

    def __post_init__(self) -> None:
        self._memory = ProposalMemory(self.space)
        self._proposed: set[Gene] = set()

    @cached_property
    def programs(self) -> list[Candidate]:
        """All but what is known when it is first asked for: the default program, that is."""
        listed = profile_of(self.space, self.extractor, self.most)
        return self._memory.candidates(listed, self.most, with_score=True)

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """The next of them."""
        batch = [c for c in self.programs if c.gene not in self._proposed][:n]
        self._proposed.update(c.gene for c in batch)
        return batch

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember what was measured; of a round read from the records nobody had asked."""
        self._memory.remember(batch)
        self._proposed.update(c.gene for c in batch)

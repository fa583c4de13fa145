"""A task's profile: a few programs that the machine's own facts suggest, all of them measured
(Bolt, section 3.2.2).

    profile_of(space, extractor)            at most 24 programs, the most promising first

Bolt generates sample programs by guidelines of its GPU (large warp tiles within the registers, four
or eight warps, small blocks for small problems) and times them all: no model is trained. Here the
guidelines are columns over all sketches. Whether a program is valid at all (registers, bounds of
positions, threads and shared memory of a GPU) is known before anything compiles; how well a
register tile fills the ports, whether its panels stay in a cache and whether there is work for all
threads is what the analytical estimate is made of. How sketches, register tiles and sizes of panels
compare is where it is wrong, and left to measuring: what is like a program that is listed already
counts as slower than its estimate says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tilewright.cost.candidates import Floats, Ints, Population, concatenate
from tilewright.cost.extractor import FeatureExtractor, Known
from tilewright.cost.usage import usage_of
from tilewright.expr.nodes import Expr, Extent, as_expr
from tilewright.expr.traversal import free_vars
from tilewright.search.strategies.evolution import Scored, fingerprints, named
from tilewright.space.decisions import TileFactors
from tilewright.space.default import leading, mixed, neighbours
from tilewright.space.space import Space

PROFILE = "profile"
PROGRAMS = 24  # of a task: the paper's "tens of best parameter combinations"
ROUND = 8  # programs that are recorded together: so many a killed run may have to measure again
MINOR = 0.01  # of the estimated sum: tasks that cost less have one round
SAMPLES = 256  # random programs a sketch to begin with
STEPS = 12  # of which the first is of these, the others are of children of
PARENTS = 8  # a sketch, the best by the estimate
SPREAD = 8  # best programs of all whose decisions every sketch tries
CHILDREN = 12  # of each parent by one decision, and half as many of it and another one
KEPT = 64  # a sketch, to choose from
SAME = 4  # of the same sketch and register tile
# By how much a program is taken for slower for each chosen one that is like it: of the same
# sketch, with its register tile, with panels in the same octave of bytes.
ALIKE = (0.03, 0.05, 0.02)


def profile_of(space: Space, extractor: FeatureExtractor, most: int = PROGRAMS) -> Scored:
    """The programs of a task's profile, at most `most`, the most promising first; scores are
    estimated throughputs relative to the first one's. The same every time.

    Raises ScheduleError when the space is empty.
    """
    pool, latency = _pool(space, extractor)
    chosen = _diverse(latency, _likeness(space, extractor, pool), most)
    score = latency[chosen[0]] / latency[chosen]
    return Scored(pool[chosen], score, named(PROFILE, len(chosen)))


def lengths(costs_s: Sequence[float]) -> list[int]:
    """How many programs the profiles of tasks that cost so much in a model have, at most."""
    least = MINOR * sum(costs_s)
    return [PROGRAMS if cost >= least else ROUND for cost in costs_s]


def _pool(space: Space, extractor: FeatureExtractor) -> tuple[Population, Floats]:
    """Different valid programs that the estimate likes, and their estimated seconds `[n]`: so many
    of each sketch, and of a sketch few of the same register tile.

    Between sketches and between tiles the estimate says little, so each has its own best.
    """
    rng = np.random.default_rng(0)
    pool, latency, known = space.nobody, np.zeros(0), Known()
    found = space.sample(rng, SAMPLES * len(space.sketches))
    for _ in range(STEPS):
        every = concatenate([pool, space.canonical(found)])
        latency = np.concatenate([latency, extractor.latency(found, known)])
        _, different = np.unique(fingerprints(every), return_index=True)
        pool, latency = every[different], latency[different]
        kept = leading(register_tiles(space, pool), latency, SAME)
        kept = kept[leading(pool.sketch[kept], latency[kept], KEPT)]
        pool, latency = pool[kept], latency[kept]
        best = leading(register_tiles(space, pool), latency, 1)
        parents = best[leading(pool.sketch[best], latency[best], PARENTS)]
        spread = np.argsort(latency, kind="stable")[:SPREAD]
        near = neighbours(space, pool[parents], rng, CHILDREN)
        between = mixed(space, pool[parents], rng, CHILDREN // 2)
        found = concatenate([near, between, _elsewhere(space, pool[spread], rng)])
        found = found[space.satisfied(found)]
    return pool, latency


def register_tiles(space: Space, population: Population) -> Ints:
    """A number for each candidate's sketch and register tile, `[n]`: its elements, and how many of
    them lie along the vector lanes. So 14 x 32 and 9 x 48 differ, 7 x 2 x 32 is like the former.

    A tile is made of the decisions that say how many registers a program takes.
    """
    rows = np.zeros_like(population.rows)
    elements = np.ones(len(population), np.int64)
    for sketch, at in space.groups(population):
        deciding = _variables(sketch.resources.values(), sketch.definitions)
        known = zip(sketch.variables, sketch.columns, strict=True)
        columns = [column for variable, column in known if variable in deciding]
        elements[at] = population.rows[np.ix_(at, columns)].prod(axis=1)
        tiles = [d for d in sketch.decisions if isinstance(d, TileFactors) and d.levels[-1].lanes]
        along = [column for d in tiles if (column := space.span(d).stop - 1) in columns]
        rows[np.ix_(at, along)] = population.rows[np.ix_(at, along)]
    return fingerprints(Population(np.column_stack([elements, rows]), population.sketch))


def _variables(amounts: Iterable[Extent], definitions: Mapping[str, Expr]) -> set[str]:
    """The names that amounts depend on, those of recurring expressions followed."""
    found: set[str] = set()
    waiting = [as_expr(amount) for amount in amounts]
    while waiting:
        new = free_vars(waiting.pop()) - found
        found |= new
        waiting += [definitions[name] for name in new if name in definitions]
    return found


def _elsewhere(space: Space, population: Population, rng: np.random.Generator) -> Population:
    """Candidates of every sketch with the decisions of each of some, as far as it has such."""
    sketches = np.arange(len(space.sketches)).repeat(len(population))
    rows = np.tile(space.completed(rng, population).rows, (len(space.sketches), 1))
    return Population(rows, sketches)


def _likeness(space: Space, extractor: FeatureExtractor, population: Population) -> Ints:
    """What programs are compared by, `[n, len(ALIKE)]`: equal numbers are alike."""
    usage = usage_of(extractor, population)
    panels = np.log2(np.maximum(usage.bytes / np.maximum(usage.blocks, 1.0), 1.0)).round()
    tiles = register_tiles(space, population)
    return np.stack([population.sketch, tiles, panels.astype(np.int64)], axis=1)


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

"""Programs by size, made of measured or estimated ones: each range of a size by the best one there.

    combined(sizes, {gene: (0.0021, 0.0006, 0.0002), …})     a gene, and its expected latency
    ranges_of(points, costs, 0.03)                           the same by the numbers of programs

Products seldom gain; rows along the vector, prefill beside decoding, images of many pixels beside
small ones do (DietCode, MLSys 2022, chooses among micro-kernels in the same way).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tilewright.contract.gene import Gene
from tilewright.contract.sizes import Point, Sizes, timed_points
from tilewright.schedule.by_size import KEY, MOST_PROGRAMS, by_size

Floats: TypeAlias = npt.NDArray[np.float64]

SAVING = 0.03
"""Of the mean latency, that one more program must save."""


@dataclass(frozen=True)
class BySize:
    """The numbers of `programs`, each for a range of a size, `bounds` between, and what they cost
    over all points.
    """

    size: str
    bounds: tuple[int, ...]
    programs: tuple[int, ...]
    cost: float

    def gene(self, genes: Sequence[Gene]) -> Gene:
        """Of programs that have these genes, in the order of `programs`."""
        return by_size(self.size, self.bounds, genes)


def combined(sizes: Sizes, measured: Mapping[Gene, Sequence[float]]) -> tuple[Gene, float] | None:
    """The programs by size, at most three, that promise most, and their mean latency; None where
    one program does. `measured` are seconds at the points that are timed.
    """
    points = timed_points(sizes)
    genes = [gene for gene in measured if gene.key != KEY]
    if not genes or len(points) < 2:
        return None
    seconds = np.array([measured[gene] for gene in genes])
    found = ranges_of(points, seconds * [point.weight for point in points], SAVING)
    if found is None:
        return None
    return found.gene([genes[k] for k in found.programs]), found.cost


def ranges_of(points: Sequence[Point], costs: Floats, saving: float) -> BySize | None:
    """The programs by size that cost least, at most three, of the size that varies most, where each
    saves a share of what one less would cost; None where one program does. `costs` are
    `[programs, points]`, of two points at least.
    """
    values = {name: [p.values[name] for p in points] for name in points[0].values}
    size = max(values, key=lambda name: len(set(values[name])))
    order = np.argsort(values[size], kind="stable")
    at, costs = [values[size][i] for i in order], costs[:, order]
    places = [k for k in range(1, len(at)) if at[k - 1] < at[k]]
    found, least = None, float(costs.sum(axis=1).min())
    for count in range(2, MOST_PROGRAMS + 1):
        ways = [_split(costs, cuts) for cuts in combinations(places, count - 1)]
        if not ways:
            break
        total, cuts, chosen = min(ways, key=lambda way: way[0])
        if total > (1 - saving) * least:
            break
        bounds = tuple(_between(at[k - 1], at[k]) for k in cuts)
        found, least = BySize(size, bounds, chosen, total), total
    return found


def _split(costs: Floats, cuts: tuple[int, ...]) -> tuple[float, tuple[int, ...], tuple[int, ...]]:
    """What ranges of points cost by their best programs, and those."""
    ranges = zip((0, *cuts), (*cuts, costs.shape[1]), strict=True)
    parts = [costs[:, first:end].sum(axis=1) for first, end in ranges]
    return float(sum(p.min() for p in parts)), cuts, tuple(int(p.argmin()) for p in parts)


def _between(low: int, high: int) -> int:
    """Where the programs change: the size as many times `low` as `high` is times it."""
    return min(high, max(low + 1, math.ceil(math.sqrt(low * high))))

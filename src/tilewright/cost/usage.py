"""What candidates take of their hardware: the features by which one operator's programs say which
of another's may be good (ETO, section 3).

    usage = usage_of(extractor, population)         Usage of columns [n]
    usage.blocks, usage.threads, usage.bytes        the paper's B, T, M

On a GPU these are the blocks, the threads of all blocks, and their shared bytes. A CPU has no such
workers; what stands for them there is what a program keeps near the core. A *block* is what is done
outside the outermost running loop over the reduction, a *thread* is a register tile, and a block's
*bytes* are what one step of that loop touches.

They are those of the statement of most iterations, read off the tables that features are made of:
padded tiles, positions, packed operands and fused stages are in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tilewright.cost.analysis import Analysis
from tilewright.cost.candidates import Floats, Ints, Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.nest.nodes import THREADS, Kind
from tilewright.target import Target


@dataclass(frozen=True)
class Usage:
    """Amounts of all blocks together, `[n]` each."""

    blocks: Floats
    threads: Floats
    bytes: Floats

    def __getitem__(self, at: Ints) -> Usage:
        return Usage(self.blocks[at], self.threads[at], self.bytes[at])


Meter: TypeAlias = Callable[[Analysis], Usage]


def usage_of(extractor: FeatureExtractor, population: Population) -> Usage:
    """What every candidate takes, by its statement of most iterations."""
    meter = meter_of(extractor.space.target)
    n = len(population)
    most, found = np.full(n, -1.0), np.zeros((3, n))
    for analysis, at in extractor.analyses(population):
        usage = meter(analysis)
        amounts = np.stack([usage.blocks, usage.threads, usage.bytes])
        for rows, column in at:
            more = analysis.total[column] > most[rows]
            most[rows[more]] = analysis.total[column[more]]
            found[:, rows[more]] = amounts[:, column[more]]
    return Usage(*found)


def meter_of(target: Target) -> Meter:
    """How a target's kind is used."""
    meter: Meter = target.backend.usage.load()
    return meter


def cpu_usage(a: Analysis) -> Usage:
    """Cache blocks, register tiles and bytes near the core."""
    tile = np.array([loop.kind in (Kind.VECTOR, Kind.UNROLLED) for loop in a.loops], bool)
    reduce = np.array([loop.reduce for loop in a.loops], bool)
    running = a.live & ~tile[:, None]
    reducing = running & reduce[:, None]
    numbers = np.arange(a.L)[:, None]
    first = np.where(reducing, numbers, a.L).min(0, initial=a.L)  # the outermost such loop
    spatial = np.where(running & ~reduce[:, None], a.extents, 1.0)
    blocks = np.where(numbers < first, spatial, 1.0).prod(0)
    inside = np.where(running.any(0), np.where(running, numbers, -1).max(0, initial=-1), -1) + 1
    level = np.where(first < a.L, first + 1, inside)
    return Usage(blocks, spatial.prod(0), blocks * a.level_bytes[level, np.arange(a.n)])


def gpu_usage(a: Analysis) -> Usage:
    """Blocks, their threads and their shared bytes."""
    blocks = np.broadcast_to(a.workers.get(Kind.BLOCK, 1.0), a.n).astype(float)
    threads = blocks.copy()
    for kind in THREADS:
        threads = threads * a.workers.get(kind, 1.0)
    return Usage(blocks, threads, blocks * a.resources.get("shared", 0.0))

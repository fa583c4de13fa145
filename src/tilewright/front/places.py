"""Confirmed programs of a network's tasks in their places there, in turns with the default ones.

    places = Places.of(models, groups, tasks, target)      of a run's networks; None: it has none
    places.ratios(defaults, genes)                         [{gene: 1.31}, …]: of the default's time

A program by itself finds its inputs where its own last call left them, and a network's weights were
all read since. In a network its inputs were written a moment ago, by threads that took other parts
of them, and what it writes is read at once. So a program that won by itself may lose there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import median

import numpy as np

from tilewright.contract.artifact import Artifact
from tilewright.contract.gene import Gene
from tilewright.front.kernels import build_all
from tilewright.front.models import Model, Task
from tilewright.ground import log
from tilewright.ground.errors import TilewrightError
from tilewright.network.executor import Network
from tilewright.network.link import linked
from tilewright.runtime.constants import ConstantPool
from tilewright.search.confirmation import FINALISTS
from tilewright.search.objectives import ObjectiveModel
from tilewright.search.tasks import TuningTask
from tilewright.target import Target, memory_bytes

MOST_RUNS, TURN_S = 10, 0.1  # of a network's turn
LEAST_TURNS, MOST_TURNS, ALL_S = 3, 9, 3.0  # and of all turns of all
VALUES = 2  # of random integers: 0 and 1 index anything


@dataclass(frozen=True)
class Places:
    """The networks that a run tunes, each with the numbers of its tasks among `tasks`."""

    networks: Sequence[tuple[Model, Sequence[int]]]
    tasks: Sequence[TuningTask]
    target: Target

    @staticmethod
    def of(
        models: Sequence[Task | Model],
        groups: Sequence[ObjectiveModel],
        tasks: Sequence[TuningTask],
        target: Target,
    ) -> Places | None:
        """Those of more than one kernel whose sizes are numbers, and whose weights memory has room
        for with every kind of program.
        """
        room = memory_bytes() // (4 * (1 + FINALISTS))
        found = [
            (model, group.tasks)
            for model, group in zip(models, groups, strict=True)
            if isinstance(model, Model)
            and not model.partition.is_one_kernel
            and not model.partition.graph.sizes
            and all(tasks[i].setting.between_bytes <= room for i in group.tasks)
        ]
        return Places(found, tasks, target) if found else None

    def ratios(
        self, defaults: Sequence[Gene | None], genes: Sequence[Sequence[Gene]]
    ) -> list[dict[Gene, float]]:
        """Of each task's `genes` how many times its default program's time they take, in all its
        places. Of a network that cannot be run here nothing is known.
        """
        rows = [
            [
                default if gene is None else gene
                for gene, default in zip(rank, defaults, strict=True)
            ]
            for rank in zip_longest(*genes)
        ]
        totals: list[dict[int, float]] = [defaultdict(float) for _ in (defaults, *rows)]
        try:
            ways = [build_all(self.tasks, row, self.target) for row in (defaults, *rows)]
            for model, numbers in self.networks:
                names = [task.name for task in model.partition.tasks]
                for total, seconds in zip(totals, self._seconds(model, ways), strict=True):
                    for i, name in zip(numbers, names, strict=True):
                        total[i] += seconds.get(name, 0.0)
        except TilewrightError as error:
            log.info("programs are not compared in their places: %s", error)
            return [{} for _ in genes]
        usual, *others = totals
        return [
            {gene: total[i] / usual[i] for gene, total in zip(own, others, strict=False)}
            if usual[i]
            else {}
            for i, own in enumerate(genes)
        ]

    def _seconds(
        self, model: Model, ways: Sequence[Mapping[str, Artifact]]
    ) -> list[dict[str, float]]:
        """Of the network by each of some kernels, what these take in a run, by name."""
        pool = ConstantPool()
        return _in_turns([linked(model.partition, k, self.target, pool) for k in ways])


def _in_turns(networks: Sequence[Network]) -> list[dict[str, float]]:
    """Of each network the seconds of its kernels in a run, by name: medians of some turns."""
    rng = np.random.default_rng(0)
    inputs = {s.name: s.random(rng, VALUES) for s in networks[0].inputs}
    first, *_ = [network.profile(inputs, 1) for network in networks]
    run_s = max(first.latency_s, TURN_S / MOST_RUNS)
    runs = max(1, int(TURN_S / run_s))
    turns = int(ALL_S / (2 * runs * run_s * len(networks)))
    found: list[list[dict[str, float]]] = [[] for _ in networks]
    for _ in range(min(MOST_TURNS, max(LEAST_TURNS, turns))):
        for network, rows in zip(networks, found, strict=True):
            rows.append({k.kernel: k.seconds for k in network.profile(inputs, runs).kernels})
    return [{n: median(r[n] for r in rows) for n in rows[0]} for rows in found]

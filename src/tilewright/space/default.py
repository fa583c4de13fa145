"""The default program of a task: good without any measurement, the same every time.

    default_trace(dag, target) -> list[Step]

A seeded sample of the search space, ranked by the analytical estimate. It is what an untuned
model runs and the reference that measured candidates are compared with.
"""

from __future__ import annotations

import numpy as np

from tilewright.expr.dag import ComputeDAG
from tilewright.schedule.steps import Step
from tilewright.space.estimate import Estimator
from tilewright.space.features import FeatureExtractor
from tilewright.space.space import Space
from tilewright.target import Target

SAMPLES = 1024


def default_trace(dag: ComputeDAG, target: Target) -> list[Step]:
    """The best of a fixed sample by estimate. Raises ScheduleError when the space is empty."""
    return default_of(Space(dag, target))


def default_of(space: Space) -> list[Step]:
    """The same for a space that exists already."""
    population = space.sample(np.random.default_rng(0), SAMPLES)
    latency = Estimator(FeatureExtractor(space)).latency(population)
    best = int(np.argmin(latency))
    return space.trace(int(population.sketch[best]), population.rows[best])

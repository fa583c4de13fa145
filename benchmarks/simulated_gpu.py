"""A GPU that nobody has: programs take what the estimate says, times a factor of its own.

    Bench(folder, Target.parse("cuda:h100"), partial(SimulatedGpu, seed=1))

The factor, from 1 - SPREAD to 1 + SPREAD, is a wave over how many blocks a program has, and how
many threads and how much shared memory a block. The search knows the estimate and has to learn the
factor, as it has to learn what an estimate is wrong about on a real device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tilewright.contract.gene import Gene
from tilewright.cost.candidates import Floats, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.usage import Usage, usage_of
from tilewright.measure.measurer import MeasureResult
from tilewright.search.tasks import TuningTask
from tilewright.space.space import Space
from tilewright.target import Target

SPREAD = 0.3
WAVELENGTH = 8.0  # octaves from one slow program to the next


@dataclass
class SimulatedGpu:
    """What a tuner measures with; its seeds are different devices."""

    target: Target
    seed: int = 0
    _known: dict[str, tuple[Space, FeatureExtractor]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        direction = rng.normal(size=3)
        self._wave = direction / np.linalg.norm(direction) * 2 * np.pi / WAVELENGTH
        self._phase = rng.uniform(0, 2 * np.pi)

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        """One latency a program."""
        return [MeasureResult("ok", latencies_s=(s,)) for s in self._seconds(task, genes)]

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> list[tuple[float, ...]]:
        """The same."""
        return [(s,) for s in self._seconds(task, genes)]

    def close(self) -> None:
        """Nothing is open."""

    def factor(self, usage: Usage) -> Floats:
        """What programs take relative to the estimate, `[n]`."""
        each = [usage.blocks, usage.threads / usage.blocks, 1 + usage.bytes / usage.blocks]
        wave: Floats = np.sin(self._wave @ np.log2(each) + self._phase)
        return 1 + SPREAD * wave

    def _seconds(self, task: TuningTask, genes: Sequence[Gene]) -> list[float]:
        if task.hash not in self._known:
            made = task.space(self.target)
            self._known[task.hash] = made, FeatureExtractor(made)
        space, extractor = self._known[task.hash]
        rows = [space.row_of(gene) for gene in genes]
        programs = concatenate([row for row in rows if row is not None])
        if len(programs) < len(genes):
            raise ValueError(f"{task.name}: a program is none of its space")
        seconds = extractor.latency(programs) * self.factor(usage_of(extractor, programs))
        return [float(s) for s in seconds]

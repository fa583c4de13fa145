"""The rows of template sketches, all of them, the most promising first (Hidet, section 4.3).

    rows_of_templates(space, extractor)         as Scored, by the estimate; may be none
    TemplateStrategy(space, extractor)          proposes these, and nothing else

A template has at most a few hundred rows, so no model chooses among them: measuring all takes less
time than learning which are good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.cost.candidates import concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.search.strategies.evolution import Scored, named
from tilewright.search.strategies.memory import Candidate, ProposalMemory
from tilewright.search.strategies.offered import TEMPLATE
from tilewright.space.space import LISTED_ROWS, Space


def has_templates(space: Space) -> bool:
    """Whether a template computes the task."""
    return any(sketch.is_listed for sketch in space.sketches)


def rows_of_templates(space: Space, extractor: FeatureExtractor) -> Scored:
    """All of them; scores are estimated throughputs relative to the first one's."""
    numbers = [k for k, sketch in enumerate(space.sketches) if sketch.is_listed]
    every = concatenate([space.nobody, *(space.listed(k, LISTED_ROWS) for k in numbers)])
    latency = extractor.latency(every) if len(every) else np.zeros(0)
    order = np.argsort(latency, kind="stable")
    score = latency.min(initial=np.inf) / latency[order]
    return Scored(every[order], score, named(TEMPLATE, len(order)))


@dataclass
class TemplateStrategy:
    """The rows of templates in the order of the estimate, until there is none left."""

    space: Space
    extractor: FeatureExtractor

    def __post_init__(self) -> None:
        self._memory = ProposalMemory(self.space)
        self._rows = rows_of_templates(self.space, self.extractor)

    def ask(self, rng: np.random.Generator, n: int) -> list[Candidate]:
        """The next rows."""
        return self._memory.candidates(self._rows, n, with_score=True)

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Remember what was measured."""
        self._memory.remember(batch)

"""The rows of template sketches, all of them, the most promising first (Hidet, section 4.3).

    rows_of_templates(space, extractor)         as Scored, by the estimate; may be none

A template has at most a few hundred rows, so no model chooses among them: measuring all takes less
time than learning which are good.
"""

from __future__ import annotations

import numpy as np

from tilewright.cost.candidates import concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.search.strategies.evolution import Scored, named
from tilewright.space.space import LISTED_ROWS, Space

TEMPLATE = "template"
"""Where such a candidate comes from, or one of a vendor's template."""


def rows_of_templates(space: Space, extractor: FeatureExtractor) -> Scored:
    """All of them; scores are estimated throughputs relative to the first one's."""
    numbers = [k for k, sketch in enumerate(space.sketches) if sketch.is_listed]
    every = concatenate([space.nobody, *(space.listed(k, LISTED_ROWS) for k in numbers)])
    latency = extractor.latency(every) if len(every) else np.zeros(0)
    order = np.argsort(latency, kind="stable")
    score = latency.min(initial=np.inf) / latency[order]
    return Scored(every[order], score, named(TEMPLATE, len(order)))

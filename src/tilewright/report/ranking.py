"""How well the cost model ranked programs before they were measured.

    rank_correlation(scores, speeds)    Spearman's: 1 for the same order, 0 for guessing
    regret(scores, speeds)              0.02: what was liked best missed the fastest by 2 %

Only programs that the model liked are measured, so what it tells apart are near ties; no pair of
neighbours is asked for here, but the order of all, and what following the model would have cost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LEAST = 3  # programs: of fewer there is no order worth telling
LIKED = 0.1  # of all, at least one


def rank_correlation(scores: Floats, speeds: Floats) -> float | None:
    """Spearman's, ties in the middle of their ranks; None for few programs or equal ones."""
    if len(scores) < LEAST:
        return None
    a, b = _ranks(scores), _ranks(speeds)
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else None


def regret(scores: Floats, speeds: Floats) -> float | None:
    """By how much slower the fastest of the programs that were liked best is than the fastest."""
    if len(scores) < LEAST:
        return None
    liked = np.argsort(-scores, kind="stable")[: max(1, round(LIKED * len(scores)))]
    return float(speeds.max() / speeds[liked].max()) - 1.0


def _ranks(values: Floats) -> Floats:
    """From 0, equal values in the middle."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle: Floats = ends - (counts + 1) / 2
    return middle[inverse]

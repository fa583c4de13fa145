"""How good predictions are, by the paper's four figures (§2, §7.5).

    accuracy(predicted, truth, task)  ->  Accuracy(rmse=…, r2=…, pairwise=…, …)

All functions take `predicted` and `truth`, float64 `[n]`, one value a program; higher is faster.
Equal predictions count as an order chosen at random, so that a model which tells nothing apart
gets a pairwise accuracy of one half and a recall of k / n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TOP = 30  # k of the recall in figure 11
_BLOCK = 512  # rows of a block of pairs: bounds memory


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The figures of one test set.

    rmse, r2:  see the functions; over the whole set.
    pairwise:  over all pairs of the set, programs of two tasks among them (as in the paper, whose
               throughputs are normalised by task).
    within:    over pairs of one task: what a search asks of the model.
    recall:    of the top `TOP` of the whole set, as in the paper, whose tasks were 29. Each task's
               best is 1, so of T > 30 tasks a perfect model finds 30 / T.
    top:       the same in each task, the mean over tasks of at least twice as many programs; NaN
               where there is none.
    """

    programs: int
    rmse: float
    r2: float
    pairwise: float
    within: float
    recall: float
    top: float


def accuracy(predicted: Floats, truth: Floats, task: Ints) -> Accuracy:
    """All figures of a test set; `task` `[n]` says which task a program belongs to."""
    return Accuracy(
        programs=len(truth),
        rmse=rmse(predicted, truth),
        r2=r_squared(predicted, truth),
        pairwise=pairwise(predicted, truth),
        within=pairwise_within(predicted, truth, task),
        recall=recall(predicted, truth, TOP),
        top=recall_within(predicted, truth, task, TOP),
    )


def rmse(predicted: Floats, truth: Floats) -> float:
    """Root of the mean squared difference, in the unit of `truth`."""
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))


def r_squared(predicted: Floats, truth: Floats) -> float:
    """Coefficient of determination, 1 - Σ (truth - predicted)² / Σ (truth - mean)².

    No line is fitted first, so predictions of the wrong scale count against the model. NaN where
    all truths are equal.
    """
    spread = float(np.sum((truth - truth.mean()) ** 2))
    return 1.0 - float(np.sum((truth - predicted) ** 2)) / spread if spread else float("nan")


def pairwise(predicted: Floats, truth: Floats) -> float:
    """Share of the pairs unequal in truth that are ordered rightly; NaN where there is none."""
    right, pairs = _ordered(predicted, truth)
    return right / pairs if pairs else float("nan")


def pairwise_within(predicted: Floats, truth: Floats, group: Ints) -> float:
    """The same over pairs of one group only."""
    counts = [_ordered(predicted[group == g], truth[group == g]) for g in np.unique(group)]
    right, pairs = np.sum(counts, axis=0)
    return float(right / pairs) if pairs else float("nan")


def _ordered(predicted: Floats, truth: Floats) -> tuple[float, int]:
    """How many pairs are ordered rightly (a tie is half of one), of how many."""
    right, pairs = 0.0, 0
    for start in range(0, len(truth), _BLOCK):
        part = slice(start, start + _BLOCK)
        faster = truth[part, None] > truth
        right += np.sum(faster & (predicted[part, None] > predicted))
        right += np.sum(faster & (predicted[part, None] == predicted)) / 2
        pairs += int(faster.sum())
    return float(right), pairs


def recall(predicted: Floats, truth: Floats, k: int) -> float:
    """recall@k = |G ∩ P| / k: G the k truly fastest programs, P the k that are predicted to be.

    Of fewer than k programs it is 1.
    """
    k = min(k, len(truth))
    return float(_top(truth, k) @ _top(predicted, k)) / k


def recall_within(predicted: Floats, truth: Floats, group: Ints, k: int) -> float:
    """The mean recall@k over the groups of at least 2k programs; NaN where there is none.

    Of a group of m, guessing gets k / m.
    """
    large = np.flatnonzero(np.bincount(group) >= 2 * k)
    found = [recall(predicted[group == g], truth[group == g], k) for g in large]
    return float(np.mean(found)) if found else float("nan")


def _top(values: Floats, k: int) -> Floats:
    """The probability `[n]` of each to be among the k largest, ties broken at random."""
    least = np.partition(values, -k)[-k]
    above, tied = values > least, values == least
    return above + tied * ((k - above.sum()) / tied.sum())

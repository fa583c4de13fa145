"""The metrics' definitions on data small enough to count by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.cost_model import (
    TOP,
    accuracy,
    pairwise,
    pairwise_within,
    r_squared,
    recall,
    recall_within,
    rmse,
)

TRUTH = np.array([0.1, 0.4, 0.7, 1.0])


def test_rmse_and_r_squared_by_hand() -> None:
    predicted = TRUTH + np.array([0.1, -0.1, 0.1, -0.1])
    assert rmse(predicted, TRUTH) == pytest.approx(0.1)
    # Σ (truth - mean)² = 2 · (0.45² + 0.15²) = 0.45
    assert r_squared(predicted, TRUTH) == pytest.approx(1 - 0.04 / 0.45)
    assert r_squared(TRUTH, TRUTH) == 1.0
    assert r_squared(np.full(4, TRUTH.mean()), TRUTH) == pytest.approx(0.0)
    assert r_squared(2 * TRUTH, TRUTH) < 0, "perfectly correlated, of the wrong scale"
    assert math.isnan(r_squared(TRUTH, np.ones(4)))


def test_pairwise_counts_ordered_pairs_and_half_of_the_ties() -> None:
    assert pairwise(TRUTH, TRUTH) == 1.0
    assert pairwise(-TRUTH, TRUTH) == 0.0
    assert pairwise(np.zeros(4), TRUTH) == 0.5
    # of six pairs (1, 0) is wrong and (3, 2) undecided
    assert pairwise(np.array([2.0, 1.0, 3.0, 3.0]), TRUTH) == pytest.approx(4.5 / 6)
    # pairs equal in truth do not count
    assert pairwise(np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])) == 1.0
    assert math.isnan(pairwise(TRUTH, np.ones(4)))


def test_pairwise_does_not_depend_on_the_size_of_blocks() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(1300)
    guess = truth + rng.normal(size=1300)
    right = (np.sign(guess[:, None] - guess) == np.sign(truth[:, None] - truth)).sum() - 1300
    assert pairwise(guess, truth) == pytest.approx(right / (1300 * 1299))


def test_pairs_of_different_tasks_do_not_count_within() -> None:
    task = np.array([0, 0, 1, 1])
    assert pairwise_within(np.array([5.0, 6.0, 1.0, 2.0]), TRUTH, task) == 1.0
    assert pairwise_within(np.array([5.0, 6.0, 2.0, 1.0]), TRUTH, task) == 0.5


def test_recall_is_the_share_of_the_true_top_that_is_predicted() -> None:
    truth = np.arange(10.0)
    predicted = truth.copy()
    predicted[[9, 0]] = [-1.0, 20.0]  # the best is missed, the worst taken for the best
    assert recall(truth, truth, 3) == 1.0
    assert recall(predicted, truth, 3) == pytest.approx(2 / 3)
    assert recall(-truth, truth, 3) == 0.0
    assert recall(-truth, truth, 10) == recall(-truth, truth, 30) == 1.0


def test_a_model_that_tells_nothing_apart_gets_the_recall_of_a_guess() -> None:
    assert recall(np.zeros(100), np.arange(100.0), 10) == pytest.approx(0.1)
    # three of the four highest are certain, the last is one of two that are tied
    assert recall(np.array([3.0, 3, 3, 1, 1, 0]), np.arange(6.0)[::-1], 4) == pytest.approx(3.5 / 4)


def test_recall_within_asks_only_groups_of_twice_k() -> None:
    group = np.array([0, 0, 0, 0, 1, 1, 1])
    truth = np.array([1.0, 2, 3, 4, 1, 2, 3])
    predicted = np.array([1.0, 4, 2, 3, 3, 2, 1])
    assert recall_within(predicted, truth, group, 2) == 0.5
    assert math.isnan(recall_within(predicted, truth, group, 3))


def test_accuracy_gathers_all_figures() -> None:
    rng = np.random.default_rng(0)
    task = np.repeat([0, 1], 2 * TOP)
    truth = rng.random(4 * TOP)
    perfect = accuracy(truth, truth, task)
    assert (perfect.programs, perfect.rmse) == (4 * TOP, 0.0)
    figures = (perfect.r2, perfect.pairwise, perfect.within, perfect.recall, perfect.top)
    assert figures == (1.0,) * 5

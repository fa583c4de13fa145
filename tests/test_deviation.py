"""Arrays are compared relative to their largest value, integers exactly."""

from __future__ import annotations

import numpy as np

from tilewright.contract.artifact import Array
from tilewright.contract.deviation import GivenTolerance, compare, difference


def test_difference_counts_values_that_are_not_finite() -> None:
    good = np.array([1.0, np.inf, np.nan, -4.0])
    assert difference([good], [good]) == (0.0, 0.0)
    worst, relative = difference([good + np.array([0.5, 0, 0, 0])], [good])
    assert (worst, relative) == (0.5, 0.125)
    assert np.isnan(difference([np.array([np.nan])], [np.array([1.0])])[0])


def test_integers_must_be_equal_and_narrow_floats_need_not() -> None:
    def agree(ours: Array, theirs: Array, tolerance: GivenTolerance) -> bool:
        return compare(["y"], [ours], [theirs], tolerance)[0].is_allowed

    ints = np.arange(1000)
    assert agree(ints, ints, GivenTolerance())
    assert not agree(ints + 1, ints, GivenTolerance())
    assert agree(ints + 1, ints, GivenTolerance(rtol=0.01))
    assert not agree(ints + 2**60 + 1, ints + 2**60, GivenTolerance())
    for dtype, expected in ((np.float16, True), (np.float32, False)):
        ones = np.ones(3, dtype)
        assert agree(ones * dtype(1.01), ones, GivenTolerance()) is expected
    assert not agree(np.array([np.nan]), np.ones(1), GivenTolerance())
    assert not agree(np.ones((1, 2)), np.ones(2), GivenTolerance())

"""What is told of a busy machine."""

from __future__ import annotations

import pytest

from tilewright.search.disturbance import Disturbance


def after(*reasons: str, seconds: float = 1.0) -> Disturbance:
    """A run in which each look found one of `reasons`, so many seconds apart."""
    found = iter(reasons)
    one = Disturbance(lambda: next(found))
    for number in range(len(reasons)):
        one.note((number + 1) * seconds)
    return one


def test_the_reason_of_most_of_the_time_is_told() -> None:
    one = after("", "a", "a", "b", "")
    assert one.share == pytest.approx(0.6)
    assert one.summary == "busy for 60 % of the time: a"
    assert one.reason == ""


def test_a_quiet_machine_and_a_short_disturbance_are_not_worth_a_word() -> None:
    assert Disturbance().summary == after("", "").summary == ""
    assert after(*[""] * 30, "a").summary == ""


def test_default_programs_that_take_longer_at_another_time_tell_of_it() -> None:
    one = Disturbance()
    for slow in (1.9, 0.5, 2.1):
        one.drifted(1e-3, slow * 1e-3)
    assert one.summary == "", "few programs may differ between processes"
    one.drifted(1e-3, 2e-3)
    assert one.summary == "default programs took 2.0 times as long at one time as at another"

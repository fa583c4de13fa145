"""What is known at a place: bounds under conditions, and what is tried value by value."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.expr.index.facts import Facts
from tilewright.expr.index.intervals import UNBOUNDED, Interval
from tilewright.expr.nodes import Expr, Var, select

A, B, C = Var("a"), Var("b"), Var("c")
THIRD = (A * 2 + (A * 2 + B) // 3) % 4  # (A * 8 + B) % 12 // 3
FACTS = Facts({"a": Interval(0, 9), "b": Interval(0, 2)})


@pytest.mark.parametrize(
    ("facts", "e", "bounds"),
    [
        (FACTS, A + B, Interval(0, 11)),
        (FACTS.assume(A + B < 10), A + B, Interval(0, 9)),
        (FACTS.assume(A + B < 10), A + B + 1, Interval(1, 10)),
        (FACTS.assume(A + B < 10), 20 - A - B, Interval(11, 20)),
        (FACTS.assume(A + B < 10), (A + B) // 2, Interval(0, 4)),
        (FACTS.assume(A + B < 2), A, Interval(0, 1)),
        (FACTS.assume(A * 3 >= 7), A, Interval(3, 9)),
        (FACTS.assume((A < 5) & (A > B)), A, Interval(1, 4)),
        (FACTS.assume(~((A >= 5) | (A < 2))), A, Interval(2, 4)),
        (FACTS.assume(A < 5, holds=False), A, Interval(5, 9)),
        (FACTS.assume((A < 5) & (B < 1), holds=False), A, Interval(0, 9)),
        (FACTS.assume((A - B).eq(3)), A, Interval(3, 5)),
        (FACTS.assume((A - B).eq(3)), B, Interval(0, 2)),
        (FACTS, select(A < 4, A + 6, A - 4), Interval(0, 9)),
        (FACTS.assume(A * 4 + B < 9), A * 2 + B, Interval(0, 5)),
        (FACTS.assume(A * 2 + B * 3 < 9), A * 4 + B * 6 + 1, Interval(1, 17)),
        (FACTS.assume((A + B < 4) & (A - B >= 2)), A * 2, Interval(4, 6)),
        (FACTS, A + (A + B) // 2 - (A * 3) // 2, Interval(0, 1)),
        (FACTS.assume(A * 3 + B < 9), A + (A + B) // 2, Interval(0, 4)),
        (FACTS.assume(B * 2 + A // 2 >= 1), B + (A + 2) // 4, Interval(1, 4)),
        (FACTS.assume(B * 2 - A // 2 >= 1), B * 4 - A, Interval(1, 8)),
        (FACTS.assume((A * 3 + B) % 14 < 7), (A * 3 + B) // 2 % 7, Interval(0, 3)),
        (FACTS.assume((A * 8 + B) % 12 < 7), THIRD, Interval(0, 2)),
        (FACTS.assume(((A * 8 + B) % 12 + C * 3).eq(9)), THIRD + C, Interval(3, 3)),
        (FACTS, (A * 5 + B) // 3 % 4 - (A * 5 + B) // 4 % 3, Interval(0, 1)),
    ],
)
def test_facts_bound_expressions(facts: Facts, e: Expr, bounds: Interval) -> None:
    assert facts.bounds(e) == bounds


def test_what_forms_cannot_show_is_tried() -> None:
    """The quotient of a row by its image, whose digits are written one by one."""
    half, thread = Var("half"), Var("thread")
    facts = Facts({"half": Interval(0, 1), "thread": Interval(0, 31)})
    facts = facts.assume(half * 8 + thread // 4 < 4)
    e = half * 4 + thread // 8
    assert facts.tried(e) == Interval(0, 1)
    assert facts.tried(e * 0 + 3) == Interval(3, 3)
    assert facts.tried(Var("unbounded")) == UNBOUNDED
    wide = Facts({"thread": Interval(0, 1 << 40)})
    assert wide.tried(thread) == UNBOUNDED
    never = facts.assume(thread > 20).tried(thread)
    assert never.within(0, 0), "no value satisfies all conditions"


def test_facts_that_contradict_are_impossible() -> None:
    assert FACTS.assume(A > 9).impossible
    assert FACTS.assume((A + B < 3) & (A >= 4)).impossible
    assert not FACTS.assume(A > 8).impossible


@pytest.mark.parametrize("seed", range(30))
def test_facts_are_sound(seed: int) -> None:
    """Every value that satisfies random conditions lies within the bounds."""
    rng = np.random.default_rng(seed)
    a, b = np.meshgrid(np.arange(10), np.arange(3))
    facts, holds = FACTS, np.ones(a.shape, np.bool_)
    for _ in range(2):
        p, q, limit = (int(v) for v in rng.integers(-3, 4, 3))
        facts = facts.assume(A * p + B * q < limit * 2)
        holds &= a * p + b * q < limit * 2
    p, q = (int(v) for v in rng.integers(-3, 4, 2))
    values = ((a * p + b * q) // 2)[holds]
    bounds = facts.bounds((A * p + B * q) // 2)
    tried = facts.tried((A * p + B * q) // 2)
    if values.size:
        assert tried == Interval(int(values.min()), int(values.max()))
    if values.size and not facts.impossible:
        assert bounds.lo is not None
        assert bounds.hi is not None
        assert bounds.lo <= values.min()
        assert values.max() <= bounds.hi
    assert not (facts.impossible and values.size)

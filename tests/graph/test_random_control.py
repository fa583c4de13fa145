"""Random nests of `If`, `Loop`, `Scan`, compiled, against an interpreter of their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from random_control import interpret, random_nest

import tilewright as tw


@pytest.mark.parametrize("seed", range(15))
def test_a_random_nest_is_what_it_says(seed: int) -> None:
    model, given = random_nest(seed)
    net = tw.compile(tw.load(model))
    for inputs in given:
        for ours, theirs in zip(net.run(inputs), interpret(model.graph, inputs), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)

"""A quotient that is rounded to an integer is divided: one bit wrong would be a whole step."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright.expr import operators as op
from tilewright.runtime.function import CompiledFunction


@pytest.mark.cpu
@pytest.mark.parametrize("fn", ["round", "floor", "ceil", "trunc"])
def test_a_rounded_quotient_is_exact(fn: str) -> None:
    """By one divisor for all lanes, which is otherwise replaced by its reciprocal."""
    steps = {"round": op.round_half_even, "floor": op.floor, "ceil": op.ceil, "trunc": op.trunc}
    x, s = tw.placeholder((4099,), name="x"), tw.placeholder((1,), name="s")
    y = steps[fn](op.divide(x, s, name="q"), name="y")
    compiled = tw.compile(tw.Task([x, s, y]))
    assert isinstance(compiled, CompiledFunction)
    rng = np.random.default_rng(0)
    numpy = {"round": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}[fn]
    for scale in np.float32([5 / 255, 0.1, 3, 7e-3]):
        half = np.arange(4099, dtype=np.float32) - 2048 + np.float32(0.5)
        near = (
            half
            * scale
            * (1 + rng.choice([-1, 0, 1], 4099).astype(np.float32) * np.float32(2**-23))
        )
        (found,) = compiled(near, np.array([scale]))
        np.testing.assert_array_equal(found, numpy(near / scale))

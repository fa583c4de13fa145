"""Programs for GPUs, verified and interpreted: they mean what their math means."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_cases import CASES

from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify


@pytest.mark.parametrize("name", CASES)
def test_programs_equal_the_math(name: str) -> None:
    case = CASES[name]
    program = case.lowered().program
    verify(program)
    arrays = case.arrays()
    for rng in (None, np.random.default_rng(1)):
        found = interpret(program, arrays, rng=rng)
        for key, value in case.dag().evaluate(arrays).items():
            tolerance = 2e-3 if value.dtype == np.float16 else 1e-4
            np.testing.assert_allclose(
                found[key].astype(np.float64), value.astype(np.float64), tolerance, tolerance
            )

"""Integers, casts and masks over whole ranges: programs of a space equal NumPy on whole arrays.

A program is named by (seed, row); `check_seed(seed, rows, backend)` repeats all of one DAG.
"""

from __future__ import annotations

import numpy as np
import pytest
from random_numbers import random_numbers

from tilewright.contract.artifact import Array
from tilewright.nest.print import program_text
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import Backend, compiled, interpreted

pytestmark = pytest.mark.no_cover

HOST = Target.parse("cpu")


def compare(found: Array, expected: Array) -> None:
    """Equal to the last bit, but for the bits of NaN and the sign of zero."""
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if expected.dtype.itemsize == 2 and expected.dtype.kind not in "iu":
        found, expected = found.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(found, expected)


def check_seed(seed: int, rows: int, backend: Backend) -> int:
    """Random candidates of one random DAG; returns how many."""
    rng = np.random.default_rng(seed)
    case = random_numbers(rng)
    space = Space(case.dag, HOST)
    population = space.sample(rng, rows)
    for i in range(len(population)):
        trace = space.trace(int(population.sketch[i]), population.rows[i])
        lowered = lower(State(case.dag).replay(trace), "program")
        try:
            verify(lowered.program)
            found = backend(lowered, case.arrays)
            for name, expected in case.expected.items():
                compare(found[name], expected)
        except Exception as error:
            error.add_note(f"seed {seed}, row {i}\n{program_text(lowered.program)}")
            raise
    return len(population)


@pytest.mark.parametrize("shard", range(2))
def test_interpreted_programs_equal_numpy(shard: int, request: pytest.FixtureRequest) -> None:
    wanted = request.config.getoption("--programs") // 32
    for seed in range(shard, wanted, 2):
        check_seed(seed, 2, interpreted)


@pytest.mark.cpu
@pytest.mark.parametrize("shard", range(2))
def test_compiled_programs_equal_numpy(shard: int, request: pytest.FixtureRequest) -> None:
    wanted = request.config.getoption("--programs") // 64
    for seed in range(1_000_000 + shard, 1_000_000 + wanted, 2):
        check_seed(seed, 1, compiled)


@pytest.mark.parametrize("seed", range(4))
def test_the_math_itself_equals_numpy(seed: int) -> None:
    """Evaluation is what programs are compared with elsewhere."""
    for case in map(random_numbers, np.random.default_rng(2_000_000 + seed).spawn(25)):
        found = case.dag.evaluate(case.arrays)
        for name, expected in case.expected.items():
            compare(found[name], expected)

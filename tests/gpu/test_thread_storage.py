"""Who computes a stage inside thread loops: each thread its own, or all of them one together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from gpu_cases import Case

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import VerifyError
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.schedule.steps import Annotate, ComputeAt, SetScope, Split, Step

DEVICE = EmulatedDevice(seed=3)


def scaled_by_sums() -> ComputeDAG:
    """y[i, j] = x[i, j] · s[i], s[i] = Σ over k of x[i, k]."""
    x, k = placeholder((3, 8), name="x"), reduce_axis(8, "k")
    s = compute((3,), lambda i: sum_over(x[i, k], k), name="s")
    return ComputeDAG([compute((3, 8), lambda i, j: x[i, j] * s[i], name="y")])


BLOCKS = (ComputeAt("s", "y", 1), Annotate("y", "i", "block"))
THREADS = Annotate("y", "j", "thread.x")
VIRTUAL = (
    Split("y", "j", (4,)),
    Annotate("y", "j.0", "virtual thread"),
    Annotate("y", "j.1", "thread.x"),
)


@pytest.mark.parametrize("steps", [(*BLOCKS, THREADS), (*BLOCKS, *VIRTUAL)])
def test_a_private_sum_is_not_combined_with_those_of_other_threads(steps: Sequence[Step]) -> None:
    case = Case(scaled_by_sums, tuple(steps))
    program, arrays = case.lowered().program, case.arrays()
    verify(program)
    expected = case.dag().evaluate(arrays)["y"]
    np.testing.assert_allclose(interpret(program, arrays)["y"], expected, rtol=1e-5)
    case.check(case.artifact(DEVICE.target), DEVICE)


@pytest.mark.parametrize(
    ("steps", "who"),
    [
        ((*BLOCKS, THREADS), "every thread.x of y.j writes this shared element"),
        ((*BLOCKS, *VIRTUAL[:2]), "every virtual thread of y.j.0 writes this shared element"),
    ],
)
def test_a_shared_sum_that_every_thread_computes_is_refused(
    steps: Sequence[Step], who: str
) -> None:
    program = Case(scaled_by_sums, (*steps, SetScope("s", "shared"))).lowered().program
    with pytest.raises(VerifyError, match=who):
        verify(program)

"""What is reduced over rows and what is made of them in one kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.build import build
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.emulated import EmulatedDevice
from tilewright.space.default import default_of
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import given, weight

DEVICE = EmulatedDevice(seed=5)
H100 = Target.parse("cuda:h100")
CANDIDATES = 3


def normalised() -> Tensor:
    scale, shift = weight(96, name="scale"), weight(96, name="shift")
    return ops.add(ops.multiply(ops.layer_norm(given(2, 5, 96)), scale), shift)


def masked() -> Tensor:
    """Scores of attention with a mask, then softmax."""
    return ops.softmax(ops.add(given(2, 3, 7, 64), given(2, 1, 1, 64, name="mask")))


CASES: dict[str, Callable[[], Tensor]] = {
    "softmax": lambda: ops.softmax(given(9, 160)),
    "masked": masked,
    "layer norm": normalised,
    "of a product": lambda: ops.softmax(ops.matmul(given(6, 16, name="a"), given(16, 64))),
    "norm of rows": lambda: ops.divide(x := given(6, 64), ops.reduce_l2(x, [1], keepdims=True)),
    "over two axes": lambda: ops.subtract(
        x := given(3, 8, 32), ops.reduce_mean(x, [1, 2], keepdims=True)
    ),
}


def by_rows(space: Space) -> list[int]:
    return [k for k, sketch in enumerate(space.sketches) if "by_rows" in sketch.rules]


@pytest.mark.parametrize("name", CASES)
def test_rows_equal_the_mathematics(name: str) -> None:
    dag = ComputeDAG([CASES[name]()])
    space = Space(dag, DEVICE.target)
    number = by_rows(space)[0]
    drawn = space.sample(np.random.default_rng(3), 400)
    drawn = drawn[drawn.sketch == number][:CANDIDATES]
    assert len(drawn) == CANDIDATES
    rng = np.random.default_rng(4)
    values = {
        t.name: rng.standard_normal([e for e in t.shape if isinstance(e, int)]).astype(np.float32)
        for t in (*dag.inputs, *dag.constants)
    }
    (expected,) = dag.evaluate(values).values()
    for row in drawn.rows:
        artifact = build(dag, space.trace(number, row), DEVICE.target, "rows")
        assert len(artifact.launches) == (2 if name == "of a product" else 1)
        function = DeviceFunction(artifact, DEVICE)
        function.prepare({t.name: values[t.name] for t in dag.constants})
        (found,) = function(*(values[t.name] for t in dag.inputs))
        np.testing.assert_allclose(found, expected, 1e-4, 1e-5)


@pytest.mark.parametrize("operator", [ops.softmax, ops.layer_norm])
@pytest.mark.parametrize("rows", [64, 100_000])
def test_untuned_they_are_one_kernel_however_many(
    operator: Callable[[Tensor], Tensor], rows: int
) -> None:
    space = Space(ComputeDAG([operator(given(rows, 1024))]), H100)
    assert int(default_of(space).sketch[0]) in by_rows(space)


def test_what_is_not_whole_rows_has_kernels_of_its_own() -> None:
    x = given(64, 96)
    columns = ops.divide(x, ops.reduce_sum(x, [0], keepdims=True))
    assert not by_rows(Space(ComputeDAG([columns]), H100)), "of columns"
    whole = ops.divide(x, ops.reduce_sum(x))
    assert not by_rows(Space(ComputeDAG([whole]), H100)), "there is one row"
    short = ops.softmax(given(64, 31))
    assert not by_rows(Space(ComputeDAG([short]), H100)), "of less than a warp"
    two = ops.softmax(given(64, 96), name="two")
    both = ComputeDAG([two, ops.reduce_max(given(64, 96, name="z"), [1])])
    assert by_rows(Space(both, H100)), "beside another output"


def test_long_rows_are_shared_though_there_are_many() -> None:
    """One thread a row would read as many rows as it has neighbours."""
    dag = ComputeDAG([ops.reduce_sum(given(8192, 1024), [1])])
    space = Space(dag, H100)
    default = space.sketches[int(default_of(space).sketch[0])]
    assert default.rules == ("cross_thread_reduction",)

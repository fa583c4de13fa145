"""Convolutions in Winograd's form: which have it, that it computes the same, that it is shipped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernel_calls import poisoned
from tilewright.build import build
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import InputError, ScheduleError
from tilewright.runtime import CompiledFunction
from tilewright.schedule.lower import Lowered, lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Winograd
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import HOST, Backend, interpreted
from workloads import given, weight

ROWS = 12


def arrays_of(dag: ComputeDAG) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    tensors = (*dag.inputs, *dag.constants)
    return {t.name: rng.standard_normal(t.shape, dtype="f4") for t in tensors}


def in_winograds_form(dag: ComputeDAG, target: Target) -> list[Lowered]:
    """Lowered random candidates of the sketches that the rule made."""
    space = Space(dag, target)
    ours = [i for i, s in enumerate(space.sketches) if "winograd" in s.name]
    population = space.sample(np.random.default_rng(0), 40 * ROWS)
    chosen = population[np.isin(population.sketch, ours)][:ROWS]
    return [
        lower(State(dag).replay(space.trace(int(sketch), row)), "k")
        for sketch, row in zip(chosen.sketch, chosen.rows, strict=True)
    ]


CONVOLUTIONS = {
    "padded": lambda: ops.conv2d(given(1, 16, 16, 32), weight(3, 3, 32, 32), padding=1),
    "batch, odd extents": lambda: ops.conv2d(given(2, 9, 14, 24), weight(3, 3, 24, 40)),
    "relu behind": lambda: ops.relu(
        ops.conv2d(given(1, 16, 16, 32), weight(3, 3, 32, 32), padding=1)
    ),
    "groups": lambda: ops.conv2d(given(1, 16, 16, 64), weight(3, 3, 32, 64), padding=1, groups=2),
    "third dimension": lambda: ops.conv3d(
        given(1, 3, 8, 8, 32), weight(3, 3, 3, 32, 32), padding=1
    ),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("run", [interpreted, poisoned])
def test_random_programs_compute_the_convolution(name: str, run: Backend, target: Target) -> None:
    dag = ComputeDAG([CONVOLUTIONS[name]()])
    arrays = arrays_of(dag)
    (expected,) = dag.evaluate(arrays).values()
    programs = in_winograds_form(dag, target)
    assert len(programs) >= ROWS // 2
    for lowered in programs if run is poisoned else programs[:2]:
        (found,) = run(lowered, arrays).values()
        assert np.abs(found - expected).max() <= 2e-5 * np.abs(expected).max()


@pytest.mark.parametrize(("axes", "tile"), [(("h",), 2), (("w",), 4), (("h", "w"), 2)])
def test_any_windows_and_tiles(axes: tuple[str, ...], tile: int) -> None:
    dag = ComputeDAG([ops.conv2d(given(1, 5, 7, 3), weight(3, 3, 3, 4), padding=1)])
    arrays = arrays_of(dag)
    lowered = lower(State(dag).apply(Winograd("conv2d", axes, tile)), "k")
    found = interpreted(lowered, arrays)["conv2d"]
    np.testing.assert_allclose(found, dag.evaluate(arrays)["conv2d"], rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        ((3, 3, 32, 32), {"stride": 2}),
        ((3, 3, 32, 32), {"dilation": 2}),
        ((5, 5, 32, 32), {}),
        ((1, 3, 32, 32), {}),
        ((3, 3, 1, 32), {"groups": 32}),
        ((3, 3, 32, 1), {}),
    ],
    ids=str,
)
def test_convolutions_that_it_would_not_serve(
    kernel: tuple[int, ...], options: dict[str, Any], target: Target
) -> None:
    dag = ComputeDAG([ops.conv2d(given(1, 16, 16, 32), weight(*kernel), padding=1, **options)])
    assert not any("winograd" in s.name for s in Space(dag, target).sketches)


def sketch_names(x: Tensor, w: Tensor, target: Target) -> list[str]:
    return [s.name for s in Space(ComputeDAG([ops.conv2d(x, w, padding=1)]), target).sketches]


def test_weights_must_be_constant_and_wide_enough(target: Target) -> None:
    shapes: list[tuple[int, ...]] = [(1, 16, 16, 32), (3, 3, 32, 32)]
    for dtype, constant, offered in [
        ("float32", True, True),
        ("float32", False, False),
        ("float16", True, False),
    ]:
        x = placeholder(shapes[0], dtype, name="x")
        w = placeholder(shapes[1], dtype, name="w", constant=constant)
        assert any("winograd" in n for n in sketch_names(x, w, target)) is offered


@pytest.mark.parametrize(("batch", "offered"), [(1, False), (4, True)])
def test_few_tiles_do_not_pay_for_more_weights(batch: int, offered: bool, target: Target) -> None:
    """Four tiles an image."""
    x, w = given(batch, 7, 7, 64), weight(3, 3, 64, 64)
    assert any("winograd" in n for n in sketch_names(x, w, target)) is offered


def test_what_the_step_refuses() -> None:
    dag = ComputeDAG([ops.conv2d(given(1, 8, 8, 4), weight(3, 3, 4, 8))])
    for step, message in [
        (Winograd("conv2d", ("h", "w"), 3), r"no tables for tiles of 3 \(there are for \[2, 4\]\)"),
        (Winograd("conv2d", ("h", "c"), 4), r"conv2d has no windows \('h', 'c'\)"),
    ]:
        with pytest.raises(ScheduleError, match=message):
            State(dag).apply(step)
    done = State(dag).apply(Winograd("conv2d", ("h", "w"), 4))
    with pytest.raises(ScheduleError, match="no sum over windows"):
        done.apply(Winograd("conv2d", ("h", "w"), 4))


def test_the_artifact_says_how_weights_are_made() -> None:
    dag = ComputeDAG([ops.conv2d(given(1, 8, 8, 16), weight(3, 3, 16, 16), padding=1)])
    arrays = arrays_of(dag)
    built = build(dag, [Winograd("conv2d", ("h", "w"), 4)], HOST, "k")
    again = type(built).from_bytes(built.to_bytes())
    assert again == built and again.packings[0].source.shape == (3, 3, 16, 16)
    assert again.constants[0].shape == (6, 6, 16, 16)
    function = CompiledFunction(again)
    function.prepare({"w": arrays["w"]})
    (found,) = function.run({"x": arrays["x"]})
    np.testing.assert_allclose(found, dag.evaluate(arrays)["conv2d"], rtol=0, atol=1e-3)
    with pytest.raises(InputError, match=r"w must be float32 of shape \(3, 3, 16, 16\)"):
        function.prepare({"w": np.zeros((6, 6, 16, 16), "f4")})

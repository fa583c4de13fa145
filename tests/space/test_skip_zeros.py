"""Transposed convolutions: their sketches, and how many products their programs execute."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from tilewright.codegen.passes.simplify import simplified
from tilewright.codegen.passes.zero_terms import without_zero_terms
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.evaluate import evaluate
from tilewright.expr.nodes import Expr, select
from tilewright.expr.reference import open_grid
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.nest.nodes import For, If, Kind, Node, Store, bodies
from tilewright.nest.reference.interpret import interpret
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.space.space import Sketch, Space
from tilewright.target import Target
from workloads import given, weight

ROWS = 6
Loops = dict[str, int]


def transposed(kernel: int, stride: Any, **options: Any) -> ComputeDAG:
    """A transposed convolution of 5 x 4 positions, 6 channels to 8."""
    w = weight(kernel, kernel, 6, 8 // options.get("groups", 1))
    return ComputeDAG([ops.conv_transpose(given(1, 5, 4, 6), w, stride=stride, **options)])


def levels_of_the_sum(sketch: Sketch) -> list[list[str]]:
    stages = sketch.state.stages.values()
    return next(s.groups for s in stages if any(s.is_reduction(leaf) for leaf in s.leaves))


@pytest.mark.parametrize(
    ("kernel", "stride", "options", "phases"),
    [
        (4, 2, {}, ["h.4", "w.4"]),
        (3, 3, {"padding": 1}, ["h.4", "w.4"]),
        (3, 2, {"groups": 2}, ["h.4", "w.4"]),
        (3, 4, {"dilation": 2}, ["h.4", "w.4"]),
        (3, (2, 1), {}, ["h.4"]),
    ],
    ids=str,
)
def test_phases_are_loops_outside_of_the_reductions(
    kernel: int, stride: Any, options: dict[str, Any], phases: list[str], target: Target
) -> None:
    for sketch in Space(transposed(kernel, stride, **options), target).sketches:
        assert sketch.name.startswith("skip_zeros")
        outer, middle, phase, reduction, *_ = levels_of_the_sum(sketch)
        assert phase == phases and reduction[0].startswith("r")
        assert not any(leaf.startswith("r") for leaf in (*outer, *middle))


def test_no_zeros_between_elements_or_none_to_solve_for_change_no_sketch(target: Target) -> None:
    for dag in (transposed(3, 1, padding=1), transposed(3, 2, dilation=2)):
        assert not any("skip_zeros" in s.name for s in Space(dag, target).sketches)


@pytest.mark.parametrize(
    ("outputs", "channels", "vector"),
    [(3, 32, "rc.1"), (8, 32, "c.3"), (3, 12, "c.3"), (7, 16, "rc.1")],
)
def test_lanes_run_along_a_reduction_where_outputs_are_few(
    outputs: int, channels: int, vector: str, target: Target
) -> None:
    x, w = given(1, 6, 6, channels), weight(4, 4, channels, outputs)
    for dag in (ops.conv_transpose(x, w, stride=2, padding=1), ops.conv2d(x, w, padding=1)):
        for sketch in Space(ComputeDAG([dag]), target).sketches:
            stages = sketch.state.stages.values()
            tiled = next(s for s in stages if any(s.is_reduction(leaf) for leaf in s.leaves))
            assert tiled.kinds[vector] is Kind.VECTOR
            assert list(tiled.kinds.values()).count(Kind.VECTOR) == 1


def test_zeros_that_another_stage_reads_too_stay(target: Target) -> None:
    x, r = given(8), reduce_axis(4, "r")
    z = compute((16,), lambda i: select((i % 2).eq(0), x[i // 2], 0.0), name="z")
    y = compute((12,), lambda h: sum_over(z[h + r] * 2.0, r), name="y")
    both = compute((12,), lambda h: y[h] + z[h], name="both")
    assert not any("skip_zeros" in s.name for s in Space(ComputeDAG([both]), target).sketches)
    assert all("skip_zeros" in s.name for s in Space(ComputeDAG([y]), target).sketches)


def terms(node: Node, loops: Loops, conditions: tuple[Expr, ...] = ()) -> int:
    """Terms that a concrete nest adds to sums: iterations in which the conditions around hold."""
    if isinstance(node, Store):
        if node.reduce is None:
            return 0
        grid = open_grid(list(loops), tuple(slice(0, n) for n in loops.values()))
        holds = np.ones(tuple(loops.values()), bool)
        for c in conditions:
            holds &= evaluate(c, grid)
        return int(holds.sum())
    if isinstance(node, For):
        assert isinstance(node.extent, int)
        loops = loops | {node.var.name: node.extent}
    if isinstance(node, If):
        conditions = (*conditions, node.cond)
    return sum(terms(b, loops, conditions) for b in bodies(node))


@pytest.mark.parametrize(
    ("kernel", "stride", "options"),
    [
        (4, 2, {"padding": 1}),
        (2, 3, {"output_padding": 2}),
        (3, 2, {"padding": 1, "output_padding": 1}),
        (5, 3, {"padding": 2, "groups": 2}),
        (4, 4, {}),
        (3, 4, {"dilation": 2, "padding": 1}),
        (3, 3, {"dilation": 2}),
        (1, 2, {}),
    ],
    ids=str,
)
def test_programs_add_the_terms_that_the_math_needs(
    kernel: int, stride: int, options: dict[str, Any], target: Target
) -> None:
    dag = transposed(kernel, stride, **options)
    ones = {t.name: np.ones(t.shape, "f4") for t in (*dag.inputs, *dag.constants)}
    expected = dag.evaluate(ones)["conv_transpose"]
    needed = int(expected.sum())  # products of ones: one a term
    space = Space(dag, target)
    population = space.sample(np.random.default_rng(kernel), ROWS)
    for sketch, row in zip(population.sketch, population.rows, strict=True):
        lowered = lower(State(dag).replay(space.trace(int(sketch), row)), "k")
        for layout in lowered.layouts.values():
            shape = tuple(int(e) for e in layout.packed_shape)
            ones[layout.source.name] = np.ones(shape, "f4")
        program = lowered.program
        given_ones = {t.name: ones[t.name] for t in program.inputs}
        constants = {t.name: ones[t.name].reshape(t.shape) for t in program.constants}
        found = interpret(program, given_ones, constants)["conv_transpose"]
        np.testing.assert_array_equal(found, expected)
        assert terms(without_zero_terms(simplified(program.body)), {}) == needed
        for layout in lowered.layouts.values():
            ones[layout.source.name] = np.ones(layout.source.shape, "f4")


@pytest.mark.parametrize("batch", [1, 3])
def test_dense_phases_have_no_iteration_without_a_useful_term(batch: int, target: Target) -> None:
    x, w = given(batch, 4, 6, 8), weight(4, 4, 8, 16)
    dag = ComputeDAG([ops.conv_transpose(x, w, stride=2, padding=1)])
    space = Space(dag, target)
    population = space.sample(np.random.default_rng(0), ROWS)
    for sketch, row in zip(population.sketch, population.rows, strict=True):
        steps = space.trace(int(sketch), row)
        body = lower(State(dag).replay(steps), "k").program.body
        if not any(isinstance(n, If) for n in _nodes(body)):  # tiles that divide their axes
            assert 2 * terms(body, {}) == dag.useful_flops == 2 * prod((batch, 8, 12, 16, 4, 8))


def _nodes(node: Node) -> list[Node]:
    return [node, *(n for b in bodies(node) for n in _nodes(b))]

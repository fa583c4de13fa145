"""Extents, windows and constraints as columns equal those of each replayed candidate."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.cost.candidates import Population
from tilewright.expr.evaluate import ColumnProgram
from tilewright.expr.index.extents import plain
from tilewright.expr.nodes import Extent
from tilewright.expr.traversal import free_vars
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import Kind
from tilewright.schedule.bounds import Bounds, infer_bounds, loop_var, outside
from tilewright.schedule.state import State
from tilewright.space.decisions import sample
from tilewright.space.space import Sketch, Space
from tilewright.target import Target
from workloads import OPERATORS, attention, conv_layer, long_attention

pytestmark = pytest.mark.no_cover

MADE = {**OPERATORS, "ConvLayer": conv_layer, "TBS": attention, "long TBS": long_attention}
NARROW = Target.parse("cpu:haswell cores=2")


def values(sketch: Sketch, exprs: list[Extent], rows: np.ndarray) -> list[np.ndarray]:
    """Columns `[n]` of symbolic extents."""
    program = ColumnProgram(exprs, sketch.bounds.definitions)
    found = program.run(sketch.environment(rows))
    return [np.broadcast_to(found[e], (len(rows),)) for e in exprs]


@pytest.mark.parametrize("name", MADE)
def test_bounds_equal_those_of_the_replayed_schedule(
    name: str, target: Target, request: pytest.FixtureRequest
) -> None:
    dag = MADE[name]()
    space = Space(dag, target)
    population = space.sample(np.random.default_rng(0), request.config.getoption("--rows"))
    for sketch, at in space.groups(population):
        labels = [
            (stage, kind, key)
            for stage, b in sketch.bounds.stages.items()
            for kind, keys in (("extents", b.extents), ("shape", range(len(b.shape))))
            for key in keys
        ]
        exprs = [getattr(sketch.bounds[s], kind)[key] for s, kind, key in labels]
        columns = values(sketch, exprs, population.rows[at])
        for n, i in enumerate(at):
            steps = space.trace(int(population.sketch[i]), population.rows[i])
            bounds = infer_bounds(State(dag).replay(steps))
            for (stage, kind, key), column in zip(labels, columns, strict=True):
                expected = getattr(bounds[stage], kind)[key]
                assert column[n] == expected, (sketch.name, stage, kind, key, population.rows[i])


@pytest.mark.parametrize("name", ["C2D", "GRD", "T2D", "DEP", "ConvLayer", "long TBS"])
def test_windows_start_where_the_replayed_schedule_says(name: str, target: Target) -> None:
    dag = MADE[name]()
    space = Space(dag, target)
    rng = np.random.default_rng(1)
    population = space.sample(rng, 24)
    for i in range(len(population)):
        sketch, row = space.sketches[population.sketch[i]], population.rows[i : i + 1]
        state = State(dag).replay(space.trace(int(population.sketch[i]), row[0]))
        bounds = infer_bounds(state)
        loops = {
            loop_var(s.name, leaf).name: bounds[s.name].extents[leaf]
            for s in state.stages.values()
            for leaf in s.leaves
        }
        for stage in state.stages.values():
            if stage.attach is None:
                continue
            around = [v for v, live in outside(state, stage.attach).items() if live]
            place = dict.fromkeys(loops, 0) | {v: int(rng.integers(loops[v])) for v in around}
            mine = ColumnProgram(sketch.bounds[stage.name].base, sketch.bounds.definitions)
            theirs = ColumnProgram(bounds[stage.name].base)
            expected = theirs.run(place)
            found = mine.run({**sketch.environment(row), **place})
            mine_of = sketch.bounds[stage.name].base
            assert [np.asarray(found[e]).item() for e in mine_of] == [
                expected[e] for e in bounds[stage.name].base
            ], (sketch.name, stage.name, row)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("narrow", [False, True])
def test_valid_rows_are_those_that_keep_every_rule(
    name: str, narrow: bool, target: Target, request: pytest.FixtureRequest
) -> None:
    dag = MADE[name]()
    space = Space(dag, NARROW if narrow else target)
    rng = np.random.default_rng(2)
    n = request.config.getoption("--rows")
    rows = np.column_stack([sample(d, rng, n) for d in space.decisions])
    population = Population(rows, rng.integers(0, len(space.sketches), n))
    found = space.valid(population)
    expected = [keeps_rules(space, int(population.sketch[i]), rows[i]) for i in range(n)]
    np.testing.assert_array_equal(found, expected)
    assert found.any()


def keeps_rules(space: Space, number: int, row: np.ndarray) -> bool:
    """The constraints on one candidate, from its replayed state."""
    sketch = space.sketches[number]
    try:
        state = State(space.dag).replay(space.trace(number, row))
    except ScheduleError:
        return False  # a stage attached after its consumer ran
    bounds = infer_bounds(state)
    inside = {"chain", "online_softmax"} & {*sketch.rules}
    if inside and not computes_once(state, bounds):
        return False
    for stage in state.stages.values():
        for child in state.attached(stage.name):
            assert child.attach is not None
            enclosing = [leaf for g in stage.groups[: child.attach.level + 1] for leaf in g]
            if stage.attach is None and stage.parallel > len(enclosing):
                return False
        vectors, rest = 1, 1
        lanes = space.target.lanes(stage.tensor.dtype)
        for leaf, kind in stage.kinds.items():
            extent = plain(bounds[stage.name].extents[leaf])
            if kind is Kind.VECTOR and not stage.is_reduction(leaf):
                vectors = -(-extent // lanes)
            elif not stage.is_reduction(leaf):
                rest *= extent
        tiled = stage.compute.reduce_axes and stage.relations
        if tiled and rest * vectors + vectors + 1 > space.target.vector_registers:
            return False
    return True


def computes_once(state: State, bounds: Bounds) -> bool:
    """Whether every loop around a reduction gives it other elements."""
    extents = {
        loop_var(s.name, leaf).name: bounds[s.name].extents[leaf]
        for s in state.stages.values()
        for leaf in s.leaves
    }
    for stage in state.stages.values():
        if stage.attach is None or not stage.compute.reduce_axes:
            continue
        moving = frozenset().union(*(free_vars(e) for e in bounds[stage.name].values.values()))
        around = [name for name, live in outside(state, stage.attach).items() if live]
        if any(extents[name] != 1 and name not in moving for name in around):
            return False
    return True

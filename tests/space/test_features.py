"""Columns of a whole population equal what a slow walk over each lowered program finds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from slow_features import slow_features
from tilewright.cost.analysis import Analysis
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.features import COLUMNS, INDEX, PAPER_COLUMNS
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import INT64
from tilewright.expr.nodes import Expr, binary, cast, select
from tilewright.expr.tensors import compute, placeholder
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import OPERATORS, attention, conv_layer, long_attention

MADE: dict[str, Callable[[], ComputeDAG]] = {
    **OPERATORS,
    "ConvLayer": conv_layer,
    "TBS": attention,
    "long TBS": long_attention,
}
ESTIMATES = slice(INDEX["estimated_compute"], INDEX["estimate"] + 1)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MADE)
def test_columns_equal_those_of_the_lowered_program(
    name: str, target: Target, request: pytest.FixtureRequest
) -> None:
    dag = MADE[name]()
    space = Space(dag, target)
    extractor = FeatureExtractor(space)
    population = space.sample(np.random.default_rng(0), request.config.getoption("--rows"))
    features, owner = extractor.extract(population)
    for i in range(len(population)):
        sketch = space.sketches[population.sketch[i]]
        state = State(dag).replay(space.trace(int(population.sketch[i]), population.rows[i]))
        slow = slow_features(state, lower(state, name).program, target.line_bytes)
        found = [c.statement for c in extractor.compiled(sketch)[1]]
        names = [s.stage + "=" * s.is_init for s in found]
        assert sorted(names) == sorted(slow), sketch.name
        names = [name for name in names if not name.endswith("=")]
        for statement, row in zip(names, features[owner == i], strict=True):
            expected = scaled(slow[statement])
            expected[ESTIMATES] = row[ESTIMATES]  # of no program alone
            wrong = np.flatnonzero(~np.isclose(row, expected, rtol=1e-5, atol=1e-5))
            listed = [(COLUMNS[c][0], float(row[c]), float(expected[c])) for c in wrong]
            assert not listed, (sketch.name, statement, population.rows[i], listed)


def scaled(columns: dict[str, float]) -> np.ndarray:
    """A row as the extractor writes it."""
    assert set(columns) <= {n for n, _ in COLUMNS}
    raw = np.array([columns.get(name, 0.0) for name, _ in COLUMNS])
    scaled: np.ndarray = np.log2(raw + 1.0)
    return scaled


def test_columns_are_the_papers_and_ours() -> None:
    names = [name for name, _ in COLUMNS]
    assert len(set(names)) == len(names)
    assert all(unit for _, unit in COLUMNS)
    # 57 of operations and annotations, 18 for each of 5 buffers, 10 of the curve, 4 of the
    # allocation, 3 of the loops (paper appendix B)
    assert PAPER_COLUMNS == 57 + 5 * 18 + 10 + 4 + 3
    assert names[PAPER_COLUMNS:] == [
        "padding_waste",
        "streamed",
        "registers",
        "shared_bytes",
        "matrix_ops",
        "estimated_compute",
        "estimated_near",
        "estimated_far",
        "estimated_exposed",
        "estimate",
    ]


def test_the_estimate_is_relative_to_the_usual_one(target: Target) -> None:
    space = Space(conv_layer(), target)
    extractor = FeatureExtractor(space)
    population = space.sample(np.random.default_rng(5), 50)
    features, owner = extractor.extract(population)
    relative = extractor.latency(population) / extractor.usual_s.min()
    assert np.exp2(features[:, INDEX["estimate"]]) - 1.0 == pytest.approx(relative[owner], rel=1e-4)
    extracted = extractor.extracted_latency(features, owner)
    assert extracted == pytest.approx(extractor.latency(population), rel=1e-4)
    assert extractor.usual_s.shape == (len(space.sketches),)
    assert relative.min() > 0.1  # it is the least of many random ones
    np.testing.assert_array_equal(FeatureExtractor(space).usual_s, extractor.usual_s)


def test_no_part_takes_longer_than_the_estimate(target: Target) -> None:
    """Even if all cores share the part: every statement's parts are that candidate's."""
    extractor = FeatureExtractor(Space(conv_layer(), target))
    population = extractor.space.sample(np.random.default_rng(6), 200)
    rows = np.exp2(extractor.extract(population)[0][:, ESTIMATES]) - 1.0
    assert (rows[:, :3].max(axis=1) < 1.001 * target.cores * rows[:, -1]).all()
    assert (rows[:, 0] > 0).all()
    assert (rows[:, 1] > 0).any() and (rows[:, 3] > 0).any()
    assert (rows[:, 2] == 0).all()  # the second level has room for all of it


def test_rows_follow_their_candidates(target: Target) -> None:
    space = Space(conv_layer(), target)
    extractor = FeatureExtractor(space)
    population = space.sample(np.random.default_rng(0), 300)
    features, owner = extractor.extract(population)
    assert set(owner) == set(range(300))
    order = np.random.default_rng(1).permutation(300)
    again, theirs = extractor.extract(population[order])
    for at in range(0, 300, 17):
        np.testing.assert_array_equal(again[theirs == at], features[owner == order[at]])


def test_features_do_not_depend_on_who_else_is_asked_about(target: Target) -> None:
    """Statements of many sketches share tables; no number may depend on it."""
    space = Space(conv_layer(), target)
    extractor = FeatureExtractor(space)
    population = space.sample(np.random.default_rng(0), 120)
    features, owner = extractor.extract(population)
    latency = extractor.latency(population)
    structures = [c.structure for s in space.sketches for c in extractor.compiled(s)[1]]
    assert len(set(structures)) < 0.6 * len(structures)
    for at in range(0, 120, 7):
        alone = population[at : at + 1]
        np.testing.assert_array_equal(extractor.extract(alone)[0], features[owner == at])
        np.testing.assert_array_equal(extractor.latency(alone), latency[at : at + 1])


STEERED: dict[str, Callable[[Expr, Expr], Expr]] = {  # an index i and a number v that data gives
    "step": lambda i, v: i * v,
    "bounded step": lambda i, v: binary("min", binary("max", i * v, 0), 11),
    "choice": lambda i, v: (select(v < 0, v + 12, v) + i) % 12,
    "divisor": lambda i, v: i // v,
    "modulus": lambda i, v: i % v,
}


@pytest.mark.parametrize("form", STEERED)
def test_data_may_decide_which_rows_are_read(form: str, target: Target) -> None:
    x, p = placeholder((12, 4), name="x"), placeholder((1,), "int32", name="p")
    y = compute((12, 4), lambda i, j: x[STEERED[form](i, cast(INT64, p[0])), j], name="y")
    space = Space(ComputeDAG([y]), target)
    population = space.sample(np.random.default_rng(0), 50)
    extractor = FeatureExtractor(space)
    features, _ = extractor.extract(population)
    latency_s = extractor.latency(population)
    assert np.isfinite(features).all()
    assert (np.isfinite(latency_s) & (latency_s > 0.0)).all()
    names = [name for name, _ in COLUMNS]
    for buffer in range(2):  # x, of which any row may be read, and y, which has as many elements
        unique = features[:, names.index(f"buffer{buffer}_unique_bytes")]
        np.testing.assert_allclose(unique, np.log2(12 * 4 * 4 + 1.0), rtol=1e-6)


def test_annotations_have_exactly_one_position(target: Target) -> None:
    space = Space(OPERATORS["C2D"](), target)
    features, _ = FeatureExtractor(space).extract(space.sample(np.random.default_rng(0), 200))
    names = [name for name, _ in COLUMNS]
    seen = set()
    for kind in ("vector", "unrolled", "parallel"):
        at = [i for i, n in enumerate(names) if n.startswith(f"{kind}_at_")]
        assert (features[:, at].sum(axis=1) == 1.0).all()
        seen |= {names[at[k]] for k in features[:, at].argmax(axis=1)}
    assert {
        "vector_at_InnerSpatial",
        "parallel_at_OuterSpatial",
        "unrolled_at_MiddleSpatial",
    } <= seen


@pytest.mark.parametrize("name", ("GMM", "C2D", "TBS"))
def test_rows_are_reached_from_the_innermost_loop_outwards(name: str, target: Target) -> None:
    """A row's elements over loops l..: one inside of all, never more than the row has."""
    space = Space(MADE[name](), target)
    extractor = FeatureExtractor(space)
    population = space.sample(np.random.default_rng(0), 100)
    for sketch, at in space.groups(population):
        program, compiled = extractor.compiled(sketch)
        values = program.run(sketch.environment(population.rows[at]))
        for c in compiled:
            a = Analysis(c.statement, values, len(at), target.line_bytes)
            for r in a.reached:
                assert (r.row[-1] == 1.0).all() and (r.row <= r.pitch).all()
                assert (np.diff(r.row, axis=0) <= 0.0).all()
                assert (r.row <= r.footprint).all()

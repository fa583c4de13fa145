"""A nest written by hand is scored, checked and searched like a sketch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.cost.candidates import Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.features import INDEX
from tilewright.cost.resources import resources
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.index.extents import ceildiv
from tilewright.expr.nodes import Const, Var, as_expr
from tilewright.expr.operators import matmul
from tilewright.ground.errors import VerifyError
from tilewright.nest.bind import bind
from tilewright.nest.marks import marks
from tilewright.nest.nodes import For, Hoist, If, Kind, Program, Store, seq
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Annotate, Parallel, Reorder, Split
from tilewright.search.strategies.evolution import Evolution, EvolutionSettings
from tilewright.space.candidate_space import CandidateSpace
from tilewright.space.decisions import TILE, Choice, S, TileFactors
from tilewright.space.default import default_of
from tilewright.space.template import DecidedTemplate, Template, template_space
from tilewright.target import Target
from workloads import given

M, N, K = 24, 48, 20


def product() -> ComputeDAG:
    """C [24, 48] = A · B."""
    return ComputeDAG([matmul(given(M, K, name="A"), given(K, N, name="B"), name="C")])


def tiled(rows: Var, lanes: Var) -> Program:
    """C in tiles of `rows` (which need not divide) by `lanes`, in parallel over rows of tiles."""
    dag = product()
    (a, b), (c,) = dag.inputs, dag.outputs
    i0, i1, j0, j1, k = Var("i.0"), Var("i.1"), Var("j.0"), Var("j.1"), Var("k")
    i, j = i0 * rows + i1, j0 * lanes + j1
    inside = i < M

    def tile(body: Any) -> For:
        return For(i1, rows, For(j1, lanes, If(inside, body), Kind.VECTOR), Kind.UNROLLED)

    clear = tile(Store(c, (i, j), Const(0.0, FLOAT32), initial=True, operations=()))
    add = tile(Store(c, (i, j), a[i, k] * b[k, j], "sum"))
    body = For(j0, ceildiv(N, lanes), seq(clear, For(k, K, add)))
    nest = For(i0, ceildiv(M, rows), body, Kind.PARALLEL, marks=marks(unroll_step=16))
    return Program("tiled", dag.inputs, (), (), dag.outputs, nest)


def templates(target: Target) -> CandidateSpace[DecidedTemplate]:
    rows = Choice("rows", "C", "tile", (1, 2, 3, 4, 5, 6, 8, 12, 24), ordered=True)
    lanes = Choice("lanes", "C", "tile", (1, 2, 4, 8, 16, 48), ordered=True)
    program = tiled(Var("rows"), Var("lanes"))
    return template_space(target, [Template("by hand", program, (rows, lanes))])


def test_every_candidate_computes_the_product(target: Target) -> None:
    space = templates(target)
    rng = np.random.default_rng(3)
    arrays = {"A": rng.standard_normal((M, K), np.float32), "B": rng.random((K, N), np.float32)}
    expected = product().evaluate(arrays)["C"]
    everyone = space.enumerate(100)
    assert 20 < len(everyone) < 54, "some need more registers than there are"
    for row in everyone.rows[::3]:
        program = space.sketches[0].concrete(row)
        verify(program)
        np.testing.assert_allclose(interpret(program, arrays)["C"], expected, atol=1e-5)


def test_it_is_scored_as_the_same_schedule_is(target: Target) -> None:
    """Features, estimate and resources of both, for tiles of 4 by 16."""
    space = templates(target)
    population = Population(np.array([[4, 16]]), np.array([0]))
    steps = [
        Split("C", "i", (4,)), Split("C", "j", (16,)),
        Reorder("C", (("i.0",), ("j.0",), ("k",), ("i.1",), ("j.1",))),
        Annotate("C", "j.1", "vector"), Annotate("C", "i.1", "unrolled"), Parallel("C", 1),
    ]  # fmt: skip
    scheduled = lower(State(product()).replay(steps), "tiled").program
    twin = template_space(target, [Template("scheduled", scheduled, ())])
    other = Population(np.zeros((1, 0), np.int64), np.array([0]))
    mine, _ = FeatureExtractor(space).extract(population)
    theirs, _ = FeatureExtractor(twin).extract(other)
    scored = [i for n, i in INDEX.items() if not n.startswith("estimate") and n != "unroll_step"]
    np.testing.assert_allclose(mine[:, scored], theirs[:, scored], rtol=1e-5)
    latency = FeatureExtractor(space).latency(population), FeatureExtractor(twin).latency(other)
    np.testing.assert_allclose(*latency, rtol=0.2)  # the pragma writes nothing more out here
    bound = bind(space.sketches[0].program, {"rows": 4, "lanes": 16})
    assert resources(space.sketches[0].program, target).keys() == {("C", "registers")}
    verify(bound)


def test_search_finds_the_best_estimate(target: Target) -> None:
    space = templates(target)
    extractor = FeatureExtractor(space)
    everyone = space.enumerate(100)
    best = extractor.latency(everyone).min()

    def score(population: Population) -> np.ndarray:
        return -extractor.latency(population)

    evolution = Evolution(space, EvolutionSettings(population=32, generations=4))
    found = evolution.run(np.random.default_rng(0), score, None)
    assert extractor.latency(found.population[:1])[0] == pytest.approx(best)
    assert extractor.latency(default_of(space))[0] == pytest.approx(best)


def test_tiles_may_be_factors(target: Target) -> None:
    """A decision of another kind, shared by two templates: they read the same columns."""
    decision = TileFactors("C.i", "C", M, (S, TILE))
    (name,) = decision.columns
    program = tiled(Var(name), as_expr(16))
    space = template_space(target, [Template(n, program, (decision,)) for n in ("one", "two")])
    assert space.width == 1
    population = space.sample(np.random.default_rng(0), 16)
    assert set(population.sketch) == {0, 1}
    assert set(population.rows[:, 0]) <= {1, 2, 3, 4, 6, 8, 12, 24}


def test_an_illegal_template_is_refused(target: Target) -> None:
    program = tiled(Var("rows"), Var("lanes"))
    c = program.outputs[0]
    outside = For(Var("n"), 4, Store(c, (Var("n"),), Const(0.0, FLOAT32)))
    with pytest.raises(VerifyError, match="2 dimensions, 1 indices"):
        template_space(target, [Template("bad", Program("bad", (), (), (), (c,), outside), ())])


def test_what_is_not_decided_is_told() -> None:
    with pytest.raises(VerifyError, match="lanes"):
        bind(tiled(Var("rows"), Var("lanes")), {"rows": 4})
    program = tiled(Var("rows"), Var("lanes"))
    hoisted = Program("p", (), (), (), program.outputs, Hoist((), (), program.body))
    with pytest.raises(VerifyError, match="hoist"):
        bind(hoisted, {"rows": 4, "lanes": 4})

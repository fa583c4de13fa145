"""The candidate matrix: sampling, enumeration, validity, canonical rows."""

from __future__ import annotations

import numpy as np
import pytest
from test_decisions import chi_square_z

from tilewright.contract.gene import Gene
from tilewright.contract.surroundings import ALONE, AMONG_OTHERS
from tilewright.cost.candidates import Population, concatenate
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.trace import gene_of, steps_of, trace_to_json
from tilewright.space.default import default_gene, default_of
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import OPERATORS, conv_layer, given, weight


def small_space(target: Target) -> Space:
    """A matrix product with ReLU, small enough to list."""
    y = ops.matmul(given(4, 3, name="a"), given(3, 4, name="b"), name="c")
    return Space(ComputeDAG([ops.relu(y, name="d")]), target)


def keys(population: Population) -> list[tuple[int, ...]]:
    rows = np.column_stack([population.sketch, population.rows])
    return [tuple(r) for r in rows.tolist()]


def test_sampling_is_uniform_within_each_sketch(target: Target) -> None:
    space = small_space(target)
    every = space.enumerate(100_000)
    drawn = space.canonical(space.sample(np.random.default_rng(0), 12 * len(every)))
    place = {key: i for i, key in enumerate(keys(every))}
    counts = np.bincount([place[k] for k in keys(drawn)], minlength=len(every))
    shares = np.bincount(drawn.sketch) / len(drawn)
    np.testing.assert_allclose(shares, 1 / len(space.sketches), atol=0.02)
    for k in range(len(space.sketches)):
        assert chi_square_z(counts[every.sketch == k]) < 4


def test_enumeration_lists_every_valid_candidate_once(target: Target) -> None:
    space = small_space(target)
    every = space.enumerate(100_000)
    assert len(set(keys(every))) == len(every) and space.valid(every).all()
    assert set(every.sketch) == set(range(len(space.sketches)))
    rng = np.random.default_rng(1)
    assert set(keys(space.canonical(space.sample(rng, 500)))) <= set(keys(every))
    some = every[:: max(1, len(every) // 1000)]
    traces = [
        trace_to_json(space.trace(int(some.sketch[i]), some.rows[i])) for i in range(len(some))
    ]
    assert len(set(traces)) == len(some)


def test_enumeration_refuses_large_spaces(target: Target) -> None:
    with pytest.raises(ScheduleError, match=r"has \d+ candidates, more than 10; use evolution"):
        small_space(target).enumerate(10)


def test_samples_are_valid_and_repeat_by_seed(target: Target) -> None:
    space = Space(conv_layer(), target)
    one = space.sample(np.random.default_rng(5), 300)
    two = space.sample(np.random.default_rng(5), 300)
    assert len(one) == 300 and space.valid(one).all()
    assert keys(one) == keys(two)
    assert keys(one) != keys(space.sample(np.random.default_rng(6), 300))


def test_samples_are_in_random_order(target: Target) -> None:
    """Rows that were drawn again because of a constraint do not come last."""
    space = Space(conv_layer(), target)
    sketch = space.sample(np.random.default_rng(2), 4000).sketch
    first, last = (np.bincount(s, minlength=len(space.sketches)) for s in np.split(sketch, 2))
    assert np.abs(first - last).max() < 5 * np.sqrt(4000 / len(space.sketches))


def test_an_impossible_space_says_so() -> None:
    space = Space(OPERATORS["GMM"](), Target.parse("cpu:haswell vector_registers=2"))
    with pytest.raises(ScheduleError, match="no valid candidate in"):
        space.sample(np.random.default_rng(0), 16)


def test_any_tampered_row_is_invalid(target: Target) -> None:
    space = Space(OPERATORS["C2D"](), target)
    population = space.sample(np.random.default_rng(3), 200)
    rng = np.random.default_rng(4)
    for i in range(len(population)):
        columns = space.sketches[population.sketch[i]].columns
        population.rows[i, rng.choice(columns)] = 1009  # a prime that is no option
    assert not space.valid(population).any()


def test_canonical_rows_name_the_same_programs(target: Target) -> None:
    space = Space(conv_layer(), target)
    population = space.sample(np.random.default_rng(7), 100)
    canonical = space.canonical(population)
    assert space.valid(canonical).all()
    for i in range(0, 100, 9):
        sketch = int(population.sketch[i])
        assert space.trace(sketch, canonical.rows[i]) == space.trace(sketch, population.rows[i])
        unread = np.setdiff1d(np.arange(space.width), space.sketches[sketch].columns)
        assert not canonical.rows[i, unread].any()


@pytest.mark.parametrize(("length", "overflows"), [(64, False), (1 << 20, True)])
def test_what_caches_cannot_keep_may_be_written_past_them(
    target: Target, length: int, overflows: bool
) -> None:
    dag = ComputeDAG([ops.relu(given(length, 16, name="x"), name="y")])
    for setting in (AMONG_OTHERS, ALONE):
        space = Space(dag, target, setting=setting)
        found = {d.name for d in space.decisions}
        assert ("y.streamed" in found) == (setting.is_alone and overflows)
    default = default_of(space)
    assert space.concrete(int(default.sketch[0]), default.rows[0]).marked("streamed") == ()


def test_decisions_of_one_name_share_their_columns(target: Target) -> None:
    """A child that changes its sketch keeps its tiles."""
    space = Space(OPERATORS["GMM"](), target)
    tiled, cached = space.sketches
    shared = set(tiled.variables) & set(cached.variables)
    assert {"matmul.i#1", "matmul.k#1", "matmul.unroll"} <= shared
    for name in shared - {"matmul.parallel"}:
        mine = tiled.columns[tiled.variables.index(name)]
        assert mine == cached.columns[cached.variables.index(name)]


def test_selection_and_concatenation(target: Target) -> None:
    population = small_space(target).sample(np.random.default_rng(0), 10)
    again = concatenate([population[:4], population[np.arange(4, 10)]])
    assert keys(again) == keys(population) and len(again) == 10


def test_default_programs_are_valid_and_repeat(target: Target) -> None:
    dag = conv_layer()
    trace = steps_of(default_gene(Space(dag, target)))
    assert trace == steps_of(default_gene(Space(dag, target)))
    program = lower(State(dag).replay(trace), "layer").program
    assert program.outputs == dag.outputs


@pytest.mark.parametrize("n", [2039, 2048])
def test_large_products_pack_by_default(target: Target, n: int) -> None:
    """Read in place, every step of the reduction leaps over a row, and vectors of rows of prime
    length cross cache lines.
    """
    dag = ComputeDAG([ops.matmul(given(n, n, name="a"), given(n, n, name="b"), name="c")])
    assert "cache_read" in {step.name for step in steps_of(default_gene(Space(dag, target)))}


def test_constants_without_reduction_have_a_space(target: Target) -> None:
    dag = ComputeDAG([ops.add(given(3, 5), weight(5), name="y")])
    space = Space(dag, target)
    assert space.valid(space.sample(np.random.default_rng(0), 8)).all()


def test_genes_are_rows_of_every_space_that_has_their_decisions(target: Target) -> None:
    def space_of(rows: int) -> Space:
        return Space(ComputeDAG([ops.matmul(given(rows, 8), weight(8, 8))]), target)

    space, other = space_of(8), space_of(24)
    some = space.canonical(space.sample(np.random.default_rng(0), 200))
    genes = [space.gene(int(k), row) for k, row in zip(some.sketch, some.rows, strict=True)]
    for i, gene in enumerate(genes):
        found = space.row_of(gene)
        assert found is not None and Gene.of(gene.text) == gene
        assert (found.rows[0] == some.rows[i]).all() and found.sketch[0] == some.sketch[i]
        concrete = space.trace(int(some.sketch[i]), some.rows[i])
        assert steps_of(gene) == concrete
        assert space.row_of(gene_of(concrete)) is None
    carried = [other.row_of(gene) for gene in genes]
    assert any(found is not None and other.valid(found).all() for found in carried)
    assert space.row_of(Gene(genes[0].producer)) is None
    assert space.row_of(Gene('{"sketch":"another","steps":[]}', genes[0].decisions)) is None


def test_genes_of_one_producer_are_read_together(target: Target) -> None:
    space = Space(ComputeDAG([ops.matmul(given(8, 8), weight(8, 8))]), target)
    some = space.canonical(space.sample(np.random.default_rng(0), 50))
    rows = some.rows[some.sketch == some.sketch[0]]
    texts = [space.gene(int(some.sketch[0]), row).decisions for row in rows]
    wrong = texts[0].replace("[", "[77,", 1)
    producer = space.sketches[int(some.sketch[0])].producer
    bad = [wrong, "", "{", "[]", "[" * 100_000, '{"a":-1}', f'{{"a":[{"1," * 200_000}1]}}']
    found, at = space.rows_of(producer, [*bad, *texts])
    assert at.tolist() == list(range(len(bad), len(bad) + len(texts)))
    assert (found.rows == rows).all() and (found.sketch == some.sketch[0]).all()

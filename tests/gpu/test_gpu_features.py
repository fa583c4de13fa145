"""What the search knows of GPU programs without lowering them: features, estimate, mutations."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from tilewright.build import build
from tilewright.build.compile import build_nest
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.features import COLUMNS, INDEX
from tilewright.cost.resources import SPARE_REGISTERS
from tilewright.search.strategies.evolution import Evolution, EvolutionSettings
from tilewright.space.decisions import TileFactors
from tilewright.space.default import default_of
from tilewright.space.space import Space
from tilewright.target import GpuTarget, Target
from workloads import OPERATORS, attention, conv_layer

A100 = Target.parse("cuda:a100")
MALI = Target.parse("opencl:mali")
DAGS = {**OPERATORS, "CONV": conv_layer, "TBS": attention}


@pytest.mark.parametrize("name", ["C2D", "NRM", "DEP"])
def test_workers_are_those_of_the_launches(name: str) -> None:
    space = Space(DAGS[name](), MALI)
    extractor = FeatureExtractor(space)
    population = space.sample(np.random.default_rng(3), 40)
    features, owner = extractor.extract(population)
    values = np.exp2(features) - 1.0
    for i in range(0, 40, 4):
        gene = space.gene(int(population.sketch[i]), population.rows[i])
        launches = build_nest(space.dag, gene, MALI, "k").launches
        found = {
            tuple(round(float(row[INDEX[c]])) for c in ("block_x", "thread_x", "thread_y"))
            for row in values[owner == i]
        }
        assert found == {(launch.blocks, *launch.threads) for launch in launches}
        assert (values[owner == i, INDEX["is_gpu"]] == 1).all()


@pytest.mark.parametrize(
    ("name", "target", "rule", "kept"),
    [
        ("GMM", A100, "tiling", 1),
        ("C2D", A100, "tiling", 1),
        ("CAP", A100, "tiling", 1),
        # threads are combined in shared memory; the root's kernel keeps nothing
        ("NRM", MALI, "cross_thread", 0),
    ],
)
def test_what_a_kernel_takes_is_known(name: str, target: GpuTarget, rule: str, kept: int) -> None:
    """Shared bytes are those of the launches; registers hold what a thread keeps, at least `kept`,
    and some more.
    """
    space = Space(DAGS[name](), target)
    sketch = max(range(len(space.sketches)), key=lambda k: rule in space.sketches[k].name)
    population = space.sample(np.random.default_rng(4), 64)
    population = population[population.sketch == sketch][:8]
    features, owner = FeatureExtractor(space).extract(population)
    values = np.exp2(features) - 1.0
    for i in range(len(population)):
        launches = build(space.dag, space.trace(sketch, population.rows[i]), target, "k").launches
        taken = {launch.shared_bytes for launch in launches}
        found = values[owner == i]
        assert {round(float(b)) for b in found[:, INDEX["shared_bytes"]]} == taken
        registers = np.round(found[:, INDEX["registers"]])
        assert registers.min() >= SPARE_REGISTERS + kept
        assert registers.max() > SPARE_REGISTERS


def test_a_cpu_has_no_workers() -> None:
    space = Space(OPERATORS["GMM"](), Target.parse("cpu:znver4"))
    features, _ = FeatureExtractor(space).extract(space.sample(np.random.default_rng(0), 16))
    starts = ("is_gpu", "block_", "thread_", "vthreads", "registers", "shared_bytes")
    names = [n for n, _ in COLUMNS if n.startswith(starts)]
    assert len(names) == 10
    assert not features[:, [INDEX[n] for n in names]].any()


def test_a_cooperative_fetch_is_done_once_for_all_threads() -> None:
    """Its iterations are those of the window, not of the window times the threads around."""
    space = Space(OPERATORS["GMM"](), MALI)
    (sketch,) = (s for s in space.sketches if "gpu_tiling" in s.name)
    population = space.sample(np.random.default_rng(1), 64)
    population = population[population.sketch == space.sketches.index(sketch)]
    for variable, column in zip(sketch.variables, sketch.columns, strict=True):
        if ".align." in variable:
            population.rows[:, column] = 1  # no padding: the buffer is the window
    program, compiled = FeatureExtractor(space).compiled(sketch)
    values = program.run(sketch.environment(population.rows))
    fetches = [c.statement for c in compiled if c.statement.stage.startswith(("a.", "b."))]
    assert len(fetches) == 2
    for s in fetches:
        iterations = prod(values[loop.extent] for loop in s.loops)
        window = prod(values[d.extent] for d in s.accesses[0].dimensions)
        blocks, threads = (values[s.workers[k]] for k in list(s.workers)[::2])
        rounds = [values[x.extent] for x in s.loops if x.name.startswith("matmul.local.k")]
        times = blocks * prod(rounds)
        assert (iterations >= times * window).all()
        assert (iterations < times * (window + 4 * threads)).all()


@pytest.mark.parametrize("target", [A100, MALI])
@pytest.mark.parametrize("name", DAGS)
def test_estimates_are_seconds(name: str, target: Target) -> None:
    space = Space(DAGS[name](), target)
    population = space.sample(np.random.default_rng(2), 64)
    latency = FeatureExtractor(space).latency(population)
    assert latency.shape == (len(population),)
    assert ((latency > 1e-6) & (latency < 1.0)).all()


def test_the_estimate_knows_what_makes_programs_slow() -> None:
    """The default program of a large product keeps the device busy; long sums are shared."""
    from tilewright.expr import operators as ops
    from tilewright.expr.dag import ComputeDAG
    from workloads import given

    product = ops.matmul(given(512, 512, name="a"), given(512, 512, name="b"))
    space = Space(ComputeDAG([product]), A100)
    extractor = FeatureExtractor(space)
    best = default_of(space)
    values = np.exp2(extractor.extract(best)[0].max(axis=0)) - 1.0
    assert values[INDEX["block_x"]] >= 32 and values[INDEX["thread_x"]] >= 64
    drawn = space.sample(np.random.default_rng(0), 512)
    derived = drawn[[not space.sketches[k].is_listed for k in drawn.sketch]]
    typical = np.median(extractor.latency(derived))
    assert extractor.latency(best)[0] < typical / 3
    norm = Space(ComputeDAG([ops.matrix_norm(given(1, 512, 512))]), A100)
    assert "cross_thread" in norm.sketches[int(default_of(norm).sketch[0])].name


def test_threads_are_rebound() -> None:
    """The mutation changes the level of threads of one axis; every result is a valid tiling."""
    space = Space(conv_layer(), MALI)
    tiles = [d for d in space.decisions if {"tile", "thread"} <= d.mutations.keys()]
    assert len(tiles) == 3  # rows, columns and channels; the batch is 1
    rng = np.random.default_rng(0)
    for tile in tiles:
        before = tile.table[rng.integers(0, len(tile.table), 500)]
        assert isinstance(tile, TileFactors)
        after = tile.mutations["thread"](rng, before)
        level = tile.threads - 1
        assert (after[:, level] != before[:, level]).mean() > 0.5
        known = {tuple(row) for row in tile.table.tolist()}
        assert {tuple(row) for row in after.tolist()} <= known


@pytest.mark.parametrize(("target", "binds"), [("opencl:mali", True), ("cpu:znver4", False)])
def test_evolution_binds_threads_on_gpus(target: str, binds: bool) -> None:
    space = Space(OPERATORS["NRM"](), Target.parse(target))
    evolution = Evolution(space, EvolutionSettings(population=128, generations=2))
    latency = FeatureExtractor(space).latency
    found = evolution.run(np.random.default_rng(0), lambda p: 1.0 / latency(p), None)
    assert space.satisfied(found.population).all()
    assert ("thread" in found.origin) is binds
    assert (evolution.attempts["thread"] > 0) is binds

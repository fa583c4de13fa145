"""Profiles: what is listed for machines and operators, and runs that measure all of it, once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simulated_tuning import MACHINE, TARGET, SimulatedMachine, make_scheduler, make_tasks
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.tensors import placeholder
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.search.strategies.profile_plan import plan_profile
from tilewright.search.strategies.profiler import (
    PROFILE,
    PROGRAMS,
    ROUND,
    profile_of,
)
from tilewright.search.strategies.table import STRATEGIES
from tilewright.search.tuner import Budget, Tuner
from tilewright.space.space import Space
from tilewright.target import CpuTarget, Target
from workloads import given

WIDE = CpuTarget.of("cpu:icelake-server cores=2")  # 32 registers of 16 lanes
NARROW = CpuTarget.of("cpu:haswell cores=2")  # 16 of 8


def product(n: int = 512) -> ComputeDAG:
    weights = placeholder((n, n), name="w", constant=True)
    return ComputeDAG([ops.matmul(given(n, n, name="a"), weights)])


def convolution() -> ComputeDAG:
    weights = placeholder((3, 3, 64, 64), name="w", constant=True)
    return ComputeDAG([ops.relu(ops.conv2d(given(1, 28, 28, 64, name="x"), weights, padding=1))])


@pytest.mark.parametrize("target", [WIDE, NARROW, Target.parse("cuda:a100")], ids=str)
@pytest.mark.parametrize("dag", [product(), ComputeDAG([ops.softmax(given(64, 512))])], ids=str)
def test_a_profile_is_short_valid_and_the_same_every_time(dag: ComputeDAG, target: Target) -> None:
    space = Space(dag, target)
    listed = profile_of(space, FeatureExtractor(space))
    assert 1 < len(listed.score) <= PROGRAMS
    assert space.valid(listed.population).all()
    genes = [
        space.gene(int(k), row)
        for k, row in zip(listed.population.sketch, listed.population.rows, strict=True)
    ]
    assert len(set(genes)) == len(genes)
    again = profile_of(Space(dag, target), FeatureExtractor(Space(dag, target)))
    assert (again.population.rows == listed.population.rows).all()
    assert listed.score[0] == 1.0 and set(listed.origin) == {PROFILE}


@pytest.mark.parametrize(("target", "usual"), [(WIDE, (13, 2)), (NARROW, (6, 2))], ids=str)
def test_register_tiles_are_large_and_fit_the_registers(
    target: CpuTarget, usual: tuple[int, int]
) -> None:
    space = Space(product(), target)
    tiles = set()
    listed = profile_of(space, FeatureExtractor(space)).population
    for k, row in zip(listed.sketch, listed.rows, strict=True):
        values = space.sketches[k].values(row)
        tiles.add((values["matmul.i#3"], values["matmul.j#3"] // target.lanes(FLOAT32)))
    assert all(r * v + v + 1 <= target.vector_registers for r, v in tiles)
    # multiply-adds of a tile's step for each vector loaded: half as many as the best has, at least
    reuse = [r * v / (r + v) for r, v in tiles]
    assert min(reuse) >= 0.5 * max(reuse)
    assert usual in tiles and len(tiles) >= 3


def test_sketches_and_cache_panels_differ() -> None:
    space = Space(convolution(), WIDE)
    listed = profile_of(space, FeatureExtractor(space)).population
    assert len(set(listed.sketch)) > 2
    few = profile_of(space, FeatureExtractor(space), 3).population
    assert (few.rows == listed.rows[:3]).all(), "a shorter profile begins like a longer one"


def test_a_strategy_proposes_its_list_and_no_more() -> None:
    space = Space(product(64), WIDE)
    strategy, other = (STRATEGIES[PROFILE].make(space, FeatureExtractor(space), None) for _ in "ab")
    rng = np.random.default_rng(0)
    first, *rest = other.ask(rng, PROGRAMS)
    strategy.tell([first], [1e-3])  # read from the records
    batches = [strategy.ask(rng, ROUND) for _ in range(PROGRAMS)]
    proposed = [c.gene for batch in batches for c in batch]
    assert proposed == [c.gene for c in rest]
    assert batches[-1] == []


def profiler(file: Path, machine: SimulatedMachine) -> Tuner:
    return Tuner(
        make_tasks(), Database.open(file), MACHINE, machine, TARGET, make_scheduler,
        STRATEGIES[PROFILE],
    )  # fmt: skip


def test_a_profile_ends_by_itself_and_trains_nothing(tmp_path: Path) -> None:
    machine = SimulatedMachine()
    one = profiler(tmp_path / "t.db", machine)
    told = []
    searches = one.run(Budget(), told.append)
    listed = [s.trials for s in searches]
    assert (
        one.trials == sum(listed)
        and max(listed) <= PROGRAMS
        and not any(s.strategy.left for s in searches)
    )
    assert told[-1].budget.trials == one.trials
    assert not one.model.trained and one.shares.train == 0.0
    origins = {t.origin for t in one.database.trials()}
    assert origins == {DEFAULT, PROFILE}


def test_a_killed_profile_measures_nothing_twice(tmp_path: Path) -> None:
    whole = SimulatedMachine()
    profiler(tmp_path / "whole.db", whole).run(Budget())
    first = SimulatedMachine(stop_after=len(whole.measured) // 2)
    with pytest.raises(KeyboardInterrupt):
        profiler(tmp_path / "t.db", first).run(Budget())
    second = SimulatedMachine()
    profiler(tmp_path / "t.db", second).run(Budget())
    searched = sorted(first.measured + second.measured)
    assert searched == sorted(whole.measured)
    third = SimulatedMachine()
    profiler(tmp_path / "t.db", third).run(Budget())
    assert third.measured == []


def test_a_plan_tells_programs_and_time() -> None:
    tasks = make_tasks()
    plan = plan_profile(tasks, TARGET)
    assert plan.programs == sum(plan.counts) and max(plan.counts) <= PROGRAMS
    head, *lines = str(plan).splitlines()
    assert head.startswith(f"3 tasks: {plan.programs} programs to measure, about 0:")
    assert lines == [f"{t.name}: {n}" for t, n in zip(tasks, plan.counts, strict=True)]

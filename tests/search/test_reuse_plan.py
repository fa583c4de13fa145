"""Plans of who reuses whom: on small families, and on a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.front.tuning_tasks import parts_of, tasks_of
from tilewright.records.rows import FOREIGN, RECORDED, REUSE, SEARCH
from tilewright.search.reuse import plan as plans
from tilewright.search.reuse.edges import WHOLE, Member, ReuseEdges
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.plan import COSTS, Costs, PlanStep, ReusePlan, make_plan
from tilewright.search.reuse.strategy import LENGTH, ROUND
from tilewright.search.tasks import TuningTask
from tilewright.target import Target
from workloads import given, light_resnet50, product

CPU = Target.parse("cpu:icelake-server cores=2")


def matmul(n: int, m: int, k: int, weight: float = 1.0) -> TuningTask:
    return TuningTask(f"matmul{n}x{m}x{k}", product(n, m, k), weight)


def conv(size: int, channels: int, kernel: int, **options: Any) -> TuningTask:
    weights = tw.placeholder((kernel, kernel, channels, channels), name="w", constant=True)
    dag = ComputeDAG([ops.conv2d(given(1, size, size, channels), weights, **options)])
    return TuningTask(f"conv{size}x{channels}x{kernel}", dag)


def check(plan: ReusePlan, tasks: Sequence[TuningTask]) -> None:
    """Every task at most once, sources before those that reuse them, bridges of weight 0 used."""
    assert plan.tasks[: len(tasks)] == tuple(tasks)
    done = {task.hash for task in plan.recorded}
    for step in plan.steps:
        assert step.task not in done
        assert (step.source is None) == (step.kind == SEARCH)
        assert step.source is None or step.source in done or step.kind == FOREIGN
        done.add(step.task)
    for bridge in plan.tasks[len(tasks) :]:
        assert bridge.weight == 0
        assert any(step.source == bridge.hash for step in plan.steps)


def test_a_task_without_relatives_is_searched_as_ever() -> None:
    tasks = [matmul(64, 64, 64), conv(14, 32, 3)]
    plan = make_plan(tasks, CPU)
    assert plan.steps == ()
    assert plan.tasks == tuple(tasks)
    assert "searched as ever: matmul64x64x64, conv14x32x3 (about" in str(plan)
    assert Costs().search < plan.rest < 2 * Costs().search, "the larger is worth a whole one"


def test_one_of_a_family_is_searched_and_the_others_reuse() -> None:
    tasks = [matmul(64, 64, 64), matmul(128, 64, 64), matmul(128, 128, 64)]
    plan = make_plan(tasks, CPU)
    check(plan, tasks)
    assert sorted(s.kind for s in plan.steps) == [REUSE, REUSE, SEARCH]
    assert plan.programs == Costs().search + 2 * LENGTH
    text = str(plan)
    assert "3 tasks: 1 to search first, 2 to reuse others, 0 to reuse records" in text
    assert all(task.name in text for task in tasks)


def test_what_is_recorded_is_free() -> None:
    tasks = [matmul(64, 64, 64), matmul(128, 64, 64)]
    other, stranger = matmul(96, 64, 64, 0.0), replace(conv(14, 32, 3), weight=0.0)
    plan = make_plan(tasks, CPU, [other, stranger])
    check(plan, tasks)
    assert [s.kind for s in plan.steps] == [RECORDED, RECORDED]
    assert [task.hash for task in plan.recorded] == [other.hash]
    assert plan.programs == 2 * LENGTH
    assert f"{other.name}: recorded" in str(plan)


def test_a_recorded_task_is_a_source_itself() -> None:
    tasks = [matmul(64, 64, 64), matmul(128, 64, 64)]
    plan = make_plan(tasks, CPU, [replace(tasks[1], weight=0.0)])
    check(plan, tasks)
    assert [(s.task, s.kind, s.source) for s in plan.steps] == [
        (tasks[0].hash, RECORDED, tasks[1].hash)
    ]


def test_another_machines_programs_cost_a_few_trials() -> None:
    tasks = [matmul(64, 64, 64), matmul(128, 64, 64)]
    other, stranger = matmul(96, 64, 64, 0.0), replace(conv(14, 32, 3), weight=0.0)
    plan = make_plan(tasks, CPU, foreign=[other, stranger])
    check(plan, tasks)
    assert plan.tasks[2:] == (other,) and plan.recorded == ()
    foreign, *others = plan.steps
    assert foreign == PlanStep(other.hash, FOREIGN, other.hash, ROUND)
    assert {(s.kind, s.source, s.programs) for s in others} == {(REUSE, other.hash, LENGTH)}
    assert f"{other.name}: another machine's, {ROUND}" in str(plan)
    assert "2 to reuse others, 0 to reuse records, 1 to try another machine's" in str(plan)
    # what this machine has recorded of the same operator needs no trial
    assert make_plan(tasks, CPU, [other], [other]) == make_plan(tasks, CPU, [other])


def test_a_task_that_another_machine_tuned_begins_there() -> None:
    task, other = matmul(64, 64, 64), matmul(128, 64, 64)
    elsewhere = replace(task, weight=0.0)
    (step,) = make_plan([task], CPU, foreign=[elsewhere]).steps
    assert step == PlanStep(task.hash, FOREIGN, task.hash, LENGTH)
    plan = make_plan([task, other], CPU, foreign=[elsewhere])
    check(plan, [task, other])
    assert plan.tasks == (task, other)
    assert [(s.task, s.kind, s.source) for s in plan.steps] == [
        (task.hash, FOREIGN, task.hash), (other.hash, REUSE, task.hash)
    ]  # fmt: skip


def test_a_search_as_cheap_as_a_reuse_is_preferred() -> None:
    tasks = [matmul(64, 64, 64), matmul(128, 64, 64)]
    plan = make_plan(tasks, CPU, costs=replace(Costs(), search=LENGTH - 4))
    assert all(s.kind == SEARCH for s in plan.steps)


def test_rules_that_a_source_lacks_forbid_reuse() -> None:
    """Winograd's form is for windows of three taps: a 1x1 convolution says nothing of it."""
    one, three = conv(28, 64, 1), conv(28, 64, 3, padding=1)
    plan = make_plan([one, three], CPU)
    check(plan, [one, three])
    assert [(s.task, s.source) for s in plan.steps] == [(three.hash, None), (one.hash, three.hash)]


def none_dominates() -> list[TuningTask]:
    return [matmul(256, 32, 32), matmul(32, 256, 32), matmul(32, 32, 256)]


def test_bridges_where_one_has_to_dominate() -> None:
    """Three operators of which none dominates another, and a bridge that serves all."""
    tasks = none_dominates()
    costs = replace(Costs(), dominated=True)
    plan = make_plan(tasks, CPU, costs=costs)
    check(plan, tasks)
    assert plan.considered == 1
    (bridge,) = plan.tasks[3:]
    assert bridge.name == "bridge_32x32x32"
    assert bridge.hash in {step.source for step in plan.steps}
    assert plan.steps[0].source is None
    without = make_plan(tasks, CPU, costs=costs, hops=0)
    assert (without.considered, without.tasks) == (0, tuple(tasks))
    assert without.programs - plan.programs > LENGTH, "one search for three, and a bridge's"


def test_where_no_bridge_can_pay_none_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen programs from anywhere: one search serves all without a bridge."""
    monkeypatch.setattr(plans, "bridge", lambda *_: pytest.fail("a bridge's DAG was built"))
    tasks = none_dominates()
    plan = make_plan(tasks, CPU)
    assert (plan.considered, plan.tasks) == (0, tuple(tasks))
    root = next(t for t in tasks if t.hash == plan.steps[0].task)
    known = [replace(root, weight=0.0)]
    assert make_plan(tasks, CPU, known).considered == 0
    assert make_plan(tasks, CPU, foreign=known).considered == 0


@pytest.mark.parametrize("seed", range(12))
def test_bridges_that_are_not_built_would_not_have_paid(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random products, some recorded here or elsewhere, searches of random lengths."""
    rng = np.random.default_rng(seed)
    shapes = np.unique(rng.choice([16, 32, 64, 128, 256], (6, 3)), axis=0).tolist()
    tasks = [matmul(*shape) for shape in rng.permutation(shapes).tolist()]
    some = [replace(task, weight=0.0) for task in tasks[: int(rng.integers(0, 3))]]
    recorded, foreign = some[:1], some[1:]
    costs = replace(Costs(), search=int(rng.integers(4, 160)), dominated=bool(rng.integers(0, 2)))
    wanted = tasks[int(rng.integers(0, 2)) :]
    plan = make_plan(wanted, CPU, recorded, foreign, costs=costs)
    check(plan, wanted)
    monkeypatch.setattr(plans._Planner, "_least", lambda *_: -1.0)
    every = make_plan(wanted, CPU, recorded, foreign, costs=costs)
    assert every.steps == plan.steps
    assert [task.hash for task in every.tasks] == [task.hash for task in plan.tasks]
    assert every.considered >= plan.considered


@pytest.mark.parametrize("target", ["opencl:pocl cores=2", "cuda:h100"])
def test_whole_reuses_cost_what_the_published_tuner_is_expected_to_measure(target: str) -> None:
    tasks = [matmul(32, 32, 32), matmul(64, 32, 32), matmul(64, 64, 32)]
    device = Target.parse(target)
    plan = make_plan(tasks, device, costs=COSTS[WHOLE])
    check(plan, tasks)
    by_hash = {t.hash: Member(t, Operator.of(t.dag), frozenset()) for t in tasks}
    reuses = [s for s in plan.steps if s.kind == REUSE]
    assert reuses
    edges = ReuseEdges(device, None, WHOLE)
    for step in reuses:
        assert step.source is not None
        expected = edges.programs(by_hash[step.task], by_hash[step.source])
        assert step.programs == round(expected) != LENGTH


def test_whole_reuses_that_cost_more_than_a_search_are_searches() -> None:
    tasks = [matmul(32, 32, 32), matmul(64, 32, 32), matmul(64, 64, 32)]
    plan = make_plan(tasks, Target.parse("cuda:h100"), costs=replace(COSTS[WHOLE], search=8))
    assert {s.kind for s in plan.steps} <= {SEARCH}


def test_families_that_hardly_matter_are_searched_as_ever() -> None:
    """Two small products beside large convolutions; without those they are all there is."""
    small = [matmul(8, 8, 8), matmul(16, 8, 8)]
    large = [conv(56, 64, 3), conv(28, 128, 3)]
    plan = make_plan([*small, *large], CPU)
    assert {s.task for s in plan.steps} == {task.hash for task in large}
    assert len(make_plan(small, CPU).steps) == 2


def test_a_network_and_the_same_plan_again() -> None:
    (model,) = parts_of([tw.load(str(light_resnet50()))], CPU)
    tasks = tasks_of(model)
    plan = make_plan(tasks, CPU)
    check(plan, tasks)
    assert plan.considered == 0, "none of 51 can pay"
    assert sum(s.kind == REUSE for s in plan.steps) >= 23
    assert plan.programs <= len(tasks) * Costs().search / 7
    assert str(make_plan(tasks, CPU)) == str(plan)


@pytest.mark.parametrize("target", ["opencl:pocl cores=2", "cuda:h100"])
def test_gpus(target: str) -> None:
    tasks = [conv(14, 32, 3), conv(28, 32, 3)]
    plan = make_plan(tasks, Target.parse(target))
    check(plan, tasks)
    assert [s.kind for s in plan.steps] == [SEARCH, REUSE]

"""The task scheduler on made-up latency curves: what it picks, and that it beats taking turns."""

import numpy as np
import pytest

from tilewright.ground.errors import InputError
from tilewright.search.objectives import (
    EarlyStopping,
    GeomeanSpeedup,
    LatencyRequirement,
    ObjectiveModel,
    TotalLatency,
)
from tilewright.search.task_scheduler import RoundRobin, TaskInfo, TaskScheduler, unit_trials

UNITS = 300


class Curves:
    """Tasks whose best latency falls by a noisy power law with the units spent on each."""

    def __init__(self, seed, tasks=24):
        rng = np.random.default_rng(seed)
        kinds = 6
        flops = np.exp(rng.normal(np.log(2e8), 1.0, tasks))
        kind = rng.integers(0, kinds, tasks)
        speed = np.exp(rng.normal(np.log(150e9), 0.3, kinds))[kind]
        floor = flops / speed / np.exp(rng.normal(0, 0.15, tasks))
        excess = np.exp(rng.normal(np.log(6), 0.7, tasks))[:, None]
        power = np.exp(rng.normal(np.log(1.2), 0.4, tasks))[:, None]
        noise = np.exp(0.25 * rng.standard_normal((tasks, UNITS)))
        curves = floor[:, None] * (1 + excess * (1.0 + np.arange(UNITS)) ** -power * noise)
        default = floor * (1 + 3 * excess[:, 0])
        self.latency = np.minimum.accumulate(np.minimum(curves, default[:, None]), axis=1)
        self.weights = tuple(rng.integers(1, 7, tasks).astype(float).tolist())
        self.tasks = [
            TaskInfo(f"t{i}", flops[i], f"kind{kind[i]}", default[i]) for i in range(tasks)
        ]

    def scheduler(self, objective=None, models=None, **options):
        everything = ObjectiveModel("all", tuple(range(len(self.tasks))), self.weights)
        return TaskScheduler(self.tasks, models or [everything], objective, **options)

    def spend(self, scheduler, units):
        """Tune for so many units; returns the tasks picked."""
        picked = []
        for _ in range(units):
            task = scheduler.next()
            picked.append(task)
            scheduler.tell(task, self.latency[task, scheduler.units[task]], 64)
        return picked

    def in_turns(self, units):
        """Latencies when every task gets the same share of so many units."""
        spent = np.full(len(self.tasks), units // len(self.tasks))
        spent[: units % len(self.tasks)] += 1
        return self.latency[np.arange(len(self.tasks)), spent - 1]


# ---- what is picked ------------------------------------------------------------------------------


@pytest.mark.parametrize(("units", "at_most"), [(72, 0.86), (144, 0.92)])
def test_beats_taking_turns_at_equal_budget(units, at_most):
    """Total latency after three and six units a task; ten networks of 24 tasks."""
    ratios = []
    for seed in range(10):
        curves = Curves(seed)
        scheduler = curves.scheduler(seed=seed)
        curves.spend(scheduler, units)
        ratios.append(scheduler.value / (curves.in_turns(units) @ curves.weights))
    assert np.mean(ratios) < at_most and max(ratios) < 1.0


def test_warms_up_with_one_unit_each_the_most_costly_first():
    curves = Curves(0)
    scheduler = curves.scheduler(epsilon=1.0)
    picked = curves.spend(scheduler, len(curves.tasks))
    assert sorted(picked) == list(range(len(curves.tasks)))
    alone = TaskScheduler(
        [
            TaskInfo("a", 1e9, default_latency_s=1.0),
            TaskInfo("b", 1e9, default_latency_s=3.0),
            TaskInfo("c", 1e9, default_latency_s=2.0),
        ],
        [ObjectiveModel("m", (0, 1, 2), (4.0, 1.0, 1.0))],
    )
    order = []
    for _ in range(3):
        order.append(alone.next())
        alone.tell(order[-1], 0.5, 64)
    assert order == [0, 1, 2]


def _after(curves, *, flops=(1e9, 1e9), structures=("", ""), **options):
    """A scheduler of two tasks of weight 1 that was told the latencies of `curves` in turn."""
    tasks = [TaskInfo(f"t{i}", flops[i], structures[i]) for i in range(2)]
    scheduler = TaskScheduler(
        tasks, [ObjectiveModel("m", (0, 1), (1.0, 1.0))], epsilon=0.0, **options
    )
    for task, curve in enumerate(curves):
        for latency in curve:
            scheduler.tell(task, latency, 64)
    return scheduler


def test_gain_is_the_formula_of_the_paper():
    scheduler = _after([[8.0, 6.0, 5.0, 4.5, 4.0], [3.0, 2.0]])
    expected = [0.2 * (6.0 - 4.0) / 3 + 0.8 * 4.0 / 5, 0.2 * 0.0 + 0.8 * 2.0 / 2]
    np.testing.assert_allclose(scheduler.gains(), expected)
    alike = _after([[8.0, 6.0, 5.0, 4.5, 4.0], [3.0, 2.0]], flops=(1e9, 4e9), structures="ss")
    expected[0] = 0.2 * (6.0 - 4.0) / 3 + 0.8 * (4.0 - 2.0 * 1e9 / (4e9 / 2.0))
    np.testing.assert_allclose(alike.gains(), expected)
    weighty = _after([[8.0], [4.0]], objective=lambda latencies: 10 * latencies[0])
    np.testing.assert_allclose(weighty.gains(), [10 * 0.8 * 8.0, 10 * 0.8 * 4.0], rtol=1e-6)


def test_similar_tasks_tell_what_can_be_reached():
    """Both look the same by themselves; a task like the second runs ten times as fast."""
    tasks = [TaskInfo("a", 1e9, "conv"), TaskInfo("b", 1e9, "gemm"), TaskInfo("c", 1e9, "gemm")]
    scheduler = TaskScheduler(tasks, [ObjectiveModel("m", (0, 1, 2), (1.0, 1.0, 1.0))], epsilon=0.0)
    for task, latency in ((0, 1.0), (1, 1.0), (2, 0.1)):
        for _ in range(10):
            scheduler.tell(task, latency, 64)
    assert scheduler.next() == 1


def test_leaves_a_task_that_stalls():
    scheduler = _after([[10.0, 9.0, 8.0] + [7.9] * 40, [1.0, 0.9, 0.8, 0.7]])
    assert scheduler.next() == 1


def test_now_and_then_picks_at_random():
    curves = Curves(3)
    never, often = (
        curves.spend(curves.scheduler(seed=1, epsilon=e), UNITS)[24:] for e in (0.0, 0.5)
    )
    assert min(np.bincount(often, minlength=24)) > min(np.bincount(never, minlength=24))


# ---- two models ----------------------------------------------------------------------------------


def test_requirement_with_two_models_stops_at_what_is_asked():
    """Both models share tasks 8 to 15; each is asked for what it reaches, one with ease."""
    curves = Curves(5)
    models = [
        ObjectiveModel("easy", tuple(range(16)), curves.weights[:16]),
        ObjectiveModel("hard", tuple(range(8, 24)), curves.weights[8:]),
    ]
    free = curves.scheduler(TotalLatency(), models)
    start = free.goal.model_latencies(free.best_latencies_s)
    curves.spend(free, 250)
    reached = free.goal.model_latencies(free.best_latencies_s)
    limits = (start[0] * 0.7, reached[1] * 1.1)
    scheduler = curves.scheduler(LatencyRequirement(limits), models)
    picked = []
    while not scheduler.done and len(picked) < 250:
        picked += curves.spend(scheduler, 1)
    assert scheduler.done and len(picked) < 250
    assert (scheduler.goal.model_latencies(scheduler.best_latencies_s) <= limits).all()
    spent = np.bincount(picked, minlength=24)
    assert spent[:8].mean() < 0.5 * spent[16:].mean(), "the easy model's own tasks got little"
    assert scheduler.next() in range(24), "a fallback for whoever goes on all the same"


def test_geomean_with_two_models_serves_the_quick_one_too():
    curves = Curves(6)
    slow = ObjectiveModel("slow", tuple(range(12)), tuple(50 * w for w in curves.weights[:12]))
    quick = ObjectiveModel("quick", tuple(range(12, 24)), curves.weights[12:])
    total, geomean = (
        curves.scheduler(objective, [slow, quick])
        for objective in (TotalLatency(), GeomeanSpeedup((1.0, 0.02)))
    )
    shares = [np.mean(np.array(curves.spend(s, 200)) >= 12) for s in (total, geomean)]
    assert shares[0] < 0.2 and 0.35 < shares[1] < 0.65
    values = [geomean.goal.value(s.best_latencies_s) for s in (total, geomean)]
    assert values[1] < values[0]


# ---- tasks that end, stall or fail ---------------------------------------------------------------


def test_exhausted_tasks_are_left_alone():
    curves = Curves(0)
    scheduler = curves.scheduler(epsilon=0.5)
    for task in range(1, 24):
        scheduler.exhausted(task)
    assert set(curves.spend(scheduler, 10)) == {0}
    scheduler.exhausted(0)
    assert scheduler.done
    with pytest.raises(InputError, match="no task has a program left"):
        scheduler.next()


def test_early_stopping_ends_the_run():
    curves = Curves(0)
    curves.latency = np.repeat(curves.latency[:, :1], UNITS, axis=1)
    scheduler = curves.scheduler(EarlyStopping(patience=2))
    picked = []
    while not scheduler.done:
        picked += curves.spend(scheduler, 1)
    assert np.bincount(picked).tolist() == [3] * 24


def test_a_task_without_a_valid_program_is_retried_and_blocks_nothing():
    curves = Curves(1)
    curves.tasks[4] = TaskInfo("broken", curves.tasks[4].flops, "kind", float("inf"))
    curves.latency[4] = np.inf
    scheduler = curves.scheduler(epsilon=0.0)
    picked = curves.spend(scheduler, 200)
    assert 2 <= picked.count(4) <= 40
    assert np.isfinite(scheduler.value) and np.isinf(scheduler.best_latencies_s[4])
    scheduler.tell(4, 0.001, 64)
    assert scheduler.best_latencies_s[4] == 0.001
    nothing = TaskScheduler([TaskInfo("a", 0.0)], [ObjectiveModel("m", (0,), (1.0,))])
    for _ in range(5):
        assert nothing.next() == 0
        nothing.tell(0, float("inf"), 64)


def test_a_unit_that_finds_nothing_better_keeps_the_best():
    scheduler = _after([[2.0, 3.0, 1.0], [1.0]])
    assert scheduler.best_latencies_s.tolist() == [1.0, 1.0]
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="latency of"):
            scheduler.tell(0, wrong, 64)


# ---- repeatable and resumable --------------------------------------------------------------------


def test_asking_twice_gives_the_same_task():
    curves = Curves(2)
    scheduler = curves.scheduler(epsilon=0.5)
    for _ in range(60):
        assert scheduler.next() == scheduler.next()
        curves.spend(scheduler, 1)


def test_same_seed_same_trajectory():
    curves = Curves(2)
    runs = [curves.spend(curves.scheduler(seed=s, epsilon=0.2), 150) for s in (7, 7, 8)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("stop", [0, 10, 24, 77])
def test_a_resumed_run_goes_on_as_the_uninterrupted_one(stop):
    curves = Curves(2)
    whole = curves.scheduler(seed=7, epsilon=0.2)
    picked = curves.spend(whole, 40)
    whole.exhausted(picked[-1])
    picked += curves.spend(whole, 80)
    resumed = curves.scheduler(seed=7, epsilon=0.2)
    for unit in whole.history[:stop]:
        resumed.tell(unit.task, unit.best_latency_s, unit.trials)
    if stop > 40:
        resumed.exhausted(picked[39])
    if stop <= 40:
        curves.spend(resumed, 40 - stop)
        resumed.exhausted(picked[39])
    curves.spend(resumed, 120 - len(resumed.history))
    assert [unit.task for unit in resumed.history] == picked
    assert resumed.history == whole.history


def test_round_robin_gives_all_tasks_the_same_and_skips_what_is_done():
    goal = LatencyRequirement((1e-4, 1e-4))
    models = [ObjectiveModel("a", (0, 1), (1, 1)), ObjectiveModel("b", (2,), (1,))]
    scheduler = RoundRobin([TaskInfo(n, 1e6) for n in "xyz"], models, goal)
    picked = []
    for _ in range(7):
        picked.append(scheduler.next())
        scheduler.tell(picked[-1], 1e-5 if picked[-1] == 2 else 1.0, 4)
    # b is quick enough once its task ran
    assert picked == [0, 1, 2, 0, 1, 0, 1]
    scheduler.exhausted(0)
    assert scheduler.next() == 1


def test_trials_that_make_nothing_better_are_counted():
    models = [ObjectiveModel("both", (0, 1), (1, 1))]
    scheduler = TaskScheduler([TaskInfo("x", 1e6, "", 1.0), TaskInfo("y", 1e6, "", 2.0)], models)
    counted = []
    # The sum is 3 s, then 2.999 (too little), 2.9, 2.9, 2.8, 2.7999.
    for task, latency in ((0, 0.999), (0, 0.9), (1, 2.5), (1, 1.9), (0, 0.8999)):
        scheduler.tell(task, latency, 4)
        counted.append(scheduler.fruitless_trials)
    assert counted == [4, 0, 4, 0, 4]
    again = TaskScheduler(scheduler.tasks, models)
    for unit in scheduler.history:
        again.tell(unit.task, unit.best_latency_s, unit.trials)
    assert again.fruitless_trials == 4
    # A figure instead of an estimate is no setback.
    scheduler.begin(1, 5.0)
    scheduler.tell(1, 4.9, 4)
    assert scheduler.fruitless_trials == 0


@pytest.mark.parametrize(
    ("budget", "tasks", "trials"),
    [(1000, 1, 64), (720, 25, 4), (10, 25, 4), (1200, 10, 20), (0, 0, 4)],
)
def test_unit_sizes(budget, tasks, trials):
    assert unit_trials(budget, tasks) == trials


# ---- several units at once -----------------------------------------------------------------------


def test_units_under_way_count_as_if_they_gained_nothing():
    """Tasks that cost the same take turns, though nothing is told in between."""
    models = [ObjectiveModel("all", (0, 1, 2), (1, 1, 1))]
    scheduler = TaskScheduler([TaskInfo(n, 1e6, "", 1.0) for n in "xyz"], models, epsilon=0.0)
    picked = []
    for _ in range(9):
        picked.append(scheduler.next())
        scheduler.expect(picked[-1], 8)
    assert sorted(picked[:3]) == sorted(picked[3:6]) == [0, 1, 2]
    assert scheduler.units.tolist() == [3, 3, 3]
    assert not scheduler.history and scheduler.fruitless_trials == 0
    for task in picked:
        scheduler.tell(task, 0.9, 8)
    assert scheduler.units.tolist() == [3, 3, 3] and len(scheduler.history) == 9


def test_a_told_unit_leaves_no_trace_of_having_been_expected():
    curves = Curves(2)
    plain, expected = (curves.scheduler(seed=5, epsilon=0.2) for _ in range(2))
    for _ in range(60):
        task = plain.next()
        assert expected.next() == task
        expected.expect(task, 64)
        curves.spend(plain, 1)
        unit = plain.history[-1]
        expected.tell(unit.task, unit.best_latency_s, unit.trials)
    assert expected.history == plain.history


def test_held_tasks_are_not_chosen():
    models = [ObjectiveModel("all", (0, 1), (1, 1))]
    for kind in (TaskScheduler, RoundRobin):
        scheduler = kind([TaskInfo(n, 1e6, "", 1.0) for n in "xy"], models)
        scheduler.held = frozenset({0})
        assert scheduler.ready and {scheduler.next() for _ in range(9)} == {1}
        scheduler.held = frozenset({0, 1})
        assert not scheduler.ready and not scheduler.done
        scheduler.held = frozenset()
        assert scheduler.ready

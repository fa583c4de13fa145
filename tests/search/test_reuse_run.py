"""Tuning runs by a plan, on a simulated machine: order, resuming, what is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from simulated_tuning import MACHINE, TARGET, SimulatedMachine
from tilewright.measure.measurer import MeasureResult
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import CARRIED, DEFAULT, FOREIGN, RECORDED, REUSE, SEARCH, Trial
from tilewright.search.objectives import ObjectiveModel, TotalLatency
from tilewright.search.reuse.correspondence import kin
from tilewright.search.reuse.edges import WHOLE
from tilewright.search.reuse.hierarchical import HierarchicalStrategy, WholeReuse
from tilewright.search.reuse.plan import COSTS as COSTS_OF
from tilewright.search.reuse.plan import Costs, make_plan
from tilewright.search.reuse.rounds import CHOICE as ROUND_CHOICE
from tilewright.search.reuse.rounds import LOADS, THREADS, UNROLL
from tilewright.search.reuse.run import PROGRAMS, WELL_KNOWN, Planned, PlanScheduler, well_known
from tilewright.search.reuse.strategy import LENGTH, ROUND, ReuseStrategy
from tilewright.search.strategies.table import STRATEGIES
from tilewright.search.task_scheduler import TaskInfo
from tilewright.search.tasks import TuningTask, infos_of
from tilewright.search.tuner import Budget, Tuner
from tilewright.space.rules import CPU_RULES
from tilewright.space.space import Space
from workloads import convolution, product

SEARCHED = 32
RULES_OF_NO_USE = CPU_RULES[-1:]
COSTS = Costs(search=SEARCHED)
LARGEST_ROUND = 16  # of these budgets; a step ends with a round


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path / "run.db") as opened:
        yield opened


def matmul(n: int, m: int, k: int, weight: float = 1.0) -> TuningTask:
    return TuningTask(f"matmul{n}x{m}x{k}", product(n, m, k), weight)


def relatives() -> list[TuningTask]:
    return [matmul(32, 32, 32), matmul(64, 32, 32), matmul(64, 64, 32)]


def tuner_of(
    tasks: list[TuningTask],
    database: Database,
    machine: SimulatedMachine,
    seed: int = 0,
    costs: Costs = COSTS,
    hops: int | None = 1,
    here: Machine = MACHINE,
    rest: int | None = None,
) -> tuple[Tuner, Planned]:
    planned = Planned.begin(tasks, database, here, TARGET, None, seed, costs, hops)

    def schedule(all_tasks, latencies, seed):
        numbers = tuple(range(len(tasks)))
        model = ObjectiveModel("m", numbers, tuple(t.weight for t in tasks))
        infos = infos_of(all_tasks, latencies)
        return planned.scheduler(infos, [model], TotalLatency(), rest=rest, seed=seed)

    tuner = Tuner(
        planned.plan.tasks, database, here, machine, TARGET, schedule, STRATEGIES["reuse"], seed,
        maker=planned.maker,
    )  # fmt: skip
    return tuner, planned


def searched(database: Database) -> list[tuple[str, str, str]]:
    """(workload, gene, origin) of all trials but default programs, in order."""
    trials = database.trials(machine=MACHINE.fingerprint)
    return [(t.workload_hash, t.gene.hash, t.origin) for t in trials if t.origin != DEFAULT]


def test_sources_come_first_and_the_rest_goes_by_gradients(database: Database) -> None:
    tasks = relatives()
    tuner, planned = tuner_of(tasks, database, SimulatedMachine())
    tuner.run(Budget(trials=SEARCHED + 2 * LENGTH + 40))
    order = [workload for workload, *_ in searched(database)]
    steps = planned.plan.steps
    assert [s.kind for s in steps] == [SEARCH, REUSE, REUSE]
    stretches = [(task, len(list(trials))) for task, trials in groupby(order)]
    for step, (task, trials) in zip(steps, stretches, strict=False):
        assert task == step.task
        assert step.programs <= trials
        assert step is steps[-1] or trials < step.programs + LARGEST_ROUND
    assert len(order) > sum(s.programs for s in steps)
    strategies = [search.strategy for search in tuner.searches]
    assert sum(isinstance(s, ReuseStrategy) for s in strategies) == 2
    for step in steps[1:]:
        origins = [origin for w, _, origin in searched(database) if w == step.task]
        assert CARRIED in origins[:4]


def test_the_records_say_who_reused_whom(database: Database) -> None:
    tuner, planned = tuner_of(relatives(), database, SimulatedMachine())
    tuner.run(Budget(trials=SEARCHED + 2 * LENGTH))
    reused = database.reused(MACHINE.fingerprint)
    assert {h: row.source_hash for h, row in reused.items()} == {
        s.task: s.source for s in planned.plan.steps if s.source is not None
    }
    for row in reused.values():
        (source, *_) = [database.trial(t) for t in row.trials]
        assert source is not None and source.workload_hash == row.source_hash


def test_a_killed_run_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """Killed in the search of the source, in the first reuse and in the second."""
    trials = SEARCHED + 2 * LENGTH + 8
    with Database.open(tmp_path / "whole.db") as whole:
        tuner_of(relatives(), whole, SimulatedMachine())[0].run(Budget(trials=trials))
        wanted = searched(whole)
    with Database.open(tmp_path / "killed.db") as killed:
        for stop_after in (9, SEARCHED, LENGTH):
            machine = SimulatedMachine(stop_after=stop_after)
            with pytest.raises(KeyboardInterrupt):
                tuner_of(relatives(), killed, machine)[0].run(Budget(trials=trials))
        before = len(searched(killed))
        assert SEARCHED + LENGTH < before < trials
        tuner, planned = tuner_of(relatives(), killed, machine := SimulatedMachine())
        tuner.run(Budget(trials=trials))
        assert searched(killed) == wanted
        assert [s.kind for s in planned.plan.steps] == [SEARCH, REUSE, REUSE]
        assert len(machine.measured) == len(wanted) - before


def test_a_recorded_workload_is_a_source_without_a_trial(database: Database) -> None:
    first = matmul(32, 32, 32)
    tuner, planned = tuner_of([first], database, SimulatedMachine())
    assert planned.plan.steps == ()
    tuner.run(Budget(trials=WELL_KNOWN + 8))
    assert [t.hash for t in well_known(database, MACHINE.fingerprint)] == [first.hash]
    other = matmul(64, 32, 32)
    tuner, planned = tuner_of([other], database, SimulatedMachine())
    assert [(s.kind, s.source) for s in planned.plan.steps] == [(RECORDED, first.hash)]
    tuner.run(Budget(trials=LENGTH))
    assert [row.source_hash for row in database.reused(MACHINE.fingerprint).values()] == [
        first.hash
    ]


def elsewhere(cores: int) -> Machine:
    return Machine.of("cpu", cpu="simulated", features="a, b", cores=cores, compiler="none")


def test_another_machines_programs_are_tried_first(database: Database) -> None:
    """Those of the nearest machine; of a task itself, and of a relative that nobody wants."""
    mine, other, stranger = matmul(32, 32, 32), matmul(64, 32, 32), matmul(64, 64, 32)
    for cores, seed in ((4, 1), (2, 2)):
        run, _ = tuner_of(
            [mine, stranger], database, SimulatedMachine(), seed, here=elsewhere(cores)
        )
        run.run(Budget(trials=SEARCHED + LENGTH + 40))
    begun = database.reused(MACHINE.fingerprint)
    assert not begun
    tuner, planned = tuner_of([mine, other], database, SimulatedMachine())
    kinds = {step.task: (step.kind, step.source) for step in planned.plan.steps}
    assert kinds == {mine.hash: (FOREIGN, mine.hash), other.hash: (REUSE, mine.hash)}
    tuner.run(Budget(trials=2 * LENGTH))
    (row,) = [r for r in database.reused(MACHINE.fingerprint).values() if r.kind == FOREIGN]
    best = database.best(mine.hash, elsewhere(2).fingerprint)
    assert best is not None and best.id in row.trials
    pinned = [database.trial(t) for t in row.trials]
    assert {t.machine for t in pinned if t} == {elsewhere(2).fingerprint}
    tried = [gene for w, gene, origin in searched(database) if w == mine.hash and origin == CARRIED]
    assert best.gene.hash in tried


def test_a_relative_that_another_machine_tuned_is_tried_for_the_others(database: Database) -> None:
    there = matmul(32, 32, 32)
    run, _ = tuner_of([there], database, SimulatedMachine(), here=elsewhere(2))
    run.run(Budget(trials=WELL_KNOWN + 8))
    tasks = [matmul(64, 32, 32), matmul(64, 64, 32)]
    tuner, planned = tuner_of(tasks, database, SimulatedMachine())
    assert [(s.kind, s.programs) for s in planned.plan.steps] == [
        (FOREIGN, ROUND), (REUSE, LENGTH), (REUSE, LENGTH)
    ]  # fmt: skip
    tuner.run(Budget(trials=planned.plan.programs))
    assert sum(workload == there.hash for workload, *_ in searched(database)) == ROUND
    assert not planned.left_out
    again, _ = tuner_of(tasks, database, machine := SimulatedMachine())
    again.run(Budget(trials=planned.plan.programs))
    assert not machine.measured


def test_a_reuse_takes_what_its_operator_can_have(database: Database) -> None:
    """A 3x3 convolution is best in Winograd's form, which says nothing to a 1x1 one: that takes the
    best of the others.
    """
    three, one = (
        TuningTask(f"conv{k}", convolution(1, 28, 64, 64, k, padding=k // 2)) for k in (3, 1)
    )
    _, planned = tuner_of([three, one], database, SimulatedMachine())
    source, target = planned.plan.steps
    assert (source.task, target.task, target.source) == (three.hash, one.hash, three.hash)
    there, here = (task.space(TARGET) for task in (three, one))
    common = {kin(sketch.rules) for sketch in here.sketches}
    programs = there.sample(np.random.default_rng(0), 64)
    is_common = [kin(there.sketches[k].rules) in common for k in programs.sketch]
    assert 0 < sum(is_common) < 64
    best_last = sorted(range(64), key=lambda i: is_common[i])
    genes = [there.gene(int(programs.sketch[i]), programs.rows[i]) for i in best_last]
    ids = database.add_trials(
        [
            Trial(three.hash, MACHINE.fingerprint, gene, 0, 0, (1e-3 * n,))
            for n, gene in enumerate(genes, 1)
        ]
    )
    (relative,) = planned.relatives(planned._rows[one.hash])
    (row,) = database.reused(MACHINE.fingerprint).values()
    assert set(row.trials) == set(ids[64 - sum(is_common) :][:PROGRAMS])
    assert len(relative.programs) == PROGRAMS


def test_a_plan_is_made_once(database: Database) -> None:
    """What is recorded later changes no plan that has begun; another seed plans anew."""
    tasks = relatives()
    _, planned = tuner_of(tasks, database, SimulatedMachine())
    only = tuner_of(tasks[:1], database, SimulatedMachine())[0]
    only.run(Budget(trials=WELL_KNOWN + 8))
    assert tuner_of(tasks, database, SimulatedMachine())[1].plan.steps == planned.plan.steps
    anew = tuner_of(tasks, database, SimulatedMachine(), seed=1)[1].plan
    assert [s.kind for s in anew.steps] == [RECORDED, RECORDED] or SEARCH not in {
        s.kind for s in anew.steps
    }


def plan_scheduler(allotments, more, is_over=lambda _: None, rest=None) -> PlanScheduler:
    infos = [TaskInfo(f"t{i}", 1e9, "s", 1e-3 * (i + 1)) for i in range(3)]
    model = ObjectiveModel("m", (0, 1, 2), (1.0, 1.0, 1.0))
    return PlanScheduler(
        allotments, is_over, more, infos, [model], TotalLatency(), rest=rest, seed=0
    )


def test_a_step_that_is_over_makes_room_for_the_next() -> None:
    scheduler = plan_scheduler([(2, 12), (1, 12), (0, 12)], dict, lambda task: task != 1 or None)
    chosen = []
    for _ in range(5):
        chosen.append(scheduler.next())
        scheduler.tell(chosen[-1], 1e-3, 4)
    assert chosen == [2, 1, 1, 1, 0]
    assert not scheduler.left


def test_a_plan_takes_fewer_programs_where_more_cannot_pay(database: Database) -> None:
    """Nothing is faster than untuned programs: a round of each reuse, then the gradients."""

    class Level(SimulatedMachine):
        def measure(self, task, default, genes, best_s, default_s=None):
            super().measure(task, default, genes, best_s, default_s)
            return [MeasureResult("ok", latencies_s=(1e-3,)) for _ in genes]

    tuner, planned = tuner_of([*relatives(), matmul(128, 64, 32)], database, Level())
    tuner.run(Budget(trials=SEARCHED + 2 * LENGTH))
    order = [(task, len(list(some))) for task, some in groupby(w for w, *_ in searched(database))]
    assert [n for _, n in order[1:3]] == [ROUND, ROUND]
    assert [task for task, _ in order[:4]] == [step.task for step in planned.plan.steps]


def test_who_ends_up_behind_is_searched_once_more() -> None:
    asked = []

    def more():
        asked.append(True)
        return {1: 5}

    scheduler = plan_scheduler([(2, 8), (1, 4)], more)
    chosen = []
    while len(chosen) < 6:
        task = scheduler.next()
        chosen.append(task)
        scheduler.tell(task, 1e-3, 4)
    assert chosen[:5] == [2, 2, 1, 1, 1]
    assert asked == [True]
    assert chosen[5] != 1, "the gradients say"


def test_no_two_steps_are_under_way() -> None:
    """Which programs a step reuses is known when those before it are."""
    scheduler = plan_scheduler([(2, 8), (1, 4)], dict, rest=8)
    for _ in range(2):
        assert scheduler.ready and scheduler.next() == 2
        scheduler.expect(2, 4)
    assert not scheduler.ready and not scheduler.done
    scheduler.tell(2, 1e-3, 4)
    assert not scheduler.ready
    scheduler.tell(2, 1e-3, 4)
    assert scheduler.ready and scheduler.next() == 1
    scheduler.held = frozenset({1})
    assert not scheduler.ready
    scheduler.held = frozenset()
    scheduler.expect(1, 4)
    scheduler.tell(1, 1e-3, 4)
    for _ in range(2):  # what is left is for the gradients
        assert scheduler.ready
        scheduler.expect(scheduler.next(), 4)
    assert not scheduler.ready


@pytest.mark.parametrize("lanes", [3])
def test_a_plan_on_several_machines_measures_each_program_once(
    database: Database, lanes: int
) -> None:
    machine = SimulatedMachine()
    tuner, planned = tuner_of([*relatives(), matmul(128, 64, 32)], database, machine)
    tuner.lanes, tuner.ledger = lanes, replace(tuner.ledger, lanes=lanes)
    tuner.run(Budget(trials=SEARCHED + 4 * LENGTH))
    assert tuner.trials == SEARCHED + 4 * LENGTH
    order = [task for task, _ in groupby(w for w, *_ in searched(database))]
    steps = [step.task for step in planned.plan.steps]
    assert list(dict.fromkeys(order))[: len(steps)] == steps
    # default programs are measured twice
    assert len(machine.measured) == len(list(database.trials())) + len(tuner.tasks)


def test_a_task_that_is_exhausted_ends_its_step() -> None:
    scheduler = plan_scheduler([(2, 8), (1, 4)], lambda: {2: 4, 1: 4})
    scheduler.exhausted(2)
    assert scheduler.next() == 1
    scheduler.tell(1, 1e-3, 4)
    assert scheduler.next() == 1, "behind; the other has nothing left"
    scheduler.exhausted(1)
    assert scheduler.next() == 0
    scheduler.exhausted(0)
    assert scheduler.done


def test_what_a_small_budget_leaves_out_is_named(database: Database) -> None:
    tasks = [*relatives(), matmul(512, 64, 32)]
    tuner, planned = tuner_of(tasks, database, SimulatedMachine())
    tuner.run(Budget(trials=SEARCHED + LENGTH))
    first, second, *others = planned.plan.steps
    assert first.kind == SEARCH
    assert second.task == tasks[-1].hash or first.task == tasks[-1].hash, "the heaviest first"
    names = {t.hash: t.name for t in tasks}
    assert planned.left_out == [names[s.task] for s in others]


def test_a_source_that_todays_rules_lack_gives_way_to_the_next(database: Database) -> None:
    """Its programs are records of other rules: what the tree has besides is reused."""
    tasks = relatives()
    tuner, planned = tuner_of(tasks, database, SimulatedMachine())
    tuner.run(Budget(trials=SEARCHED + LENGTH))
    first, second, third = planned.plan.steps
    row = planned._rows[third.task]
    strange = replace(row, source_hash=second.task)
    space = planned._spaces[second.task]
    planned._spaces[second.task] = Space(tasks[0].dag, TARGET, RULES_OF_NO_USE)
    trials = [database.trial(t) for t in planned._examples(strange)]
    assert {t.workload_hash for t in trials} == {first.task}
    planned._spaces[second.task] = space
    trials = [database.trial(t) for t in planned._examples(strange)]
    assert second.task in {t.workload_hash for t in trials}


# ---- the published tuner ------------------------------------------------------------------------


WHOLE_COSTS = replace(COSTS_OF[WHOLE], search=SEARCHED, fallback=0)


def pair() -> list[TuningTask]:
    return [matmul(32, 32, 32), matmul(64, 48, 32)]


def test_whole_reuses_end_when_all_is_measured_that_is_enumerated(database: Database) -> None:
    """Neither what the plan expects nor the budget's end of a step: the rounds' own end."""
    first, second = (step.task for step in make_plan(pair(), TARGET, costs=WHOLE_COSTS).steps)
    tuner, planned = tuner_of(pair(), database, SimulatedMachine(), costs=WHOLE_COSTS, rest=0)
    tuner.run(Budget())
    strategies = {search.task.hash: search.strategy for search in tuner.searches}
    whole = strategies[second]
    assert isinstance(whole, WholeReuse) and whole.is_over
    stretches = [(task, [*some]) for task, some in groupby(searched(database), lambda t: t[0])]
    assert [task for task, _ in stretches][:2] == [first, second]
    measured = stretches[1][1]
    assert {origin for *_, origin in measured} <= {THREADS, LOADS, UNROLL, ROUND_CHOICE}
    (step,) = (step for step in planned.plan.steps if step.task == second)
    assert len(measured) > LENGTH and len(measured) != step.programs
    assert planned.spent[second] == len(measured)
    relatives = whole.rounds.relatives()
    again = HierarchicalStrategy(whole.space, whole.extractor, whole.model, lambda: relatives)
    known = {t.gene: t.measured_s for t in database.trials(second, MACHINE.fingerprint)}
    while batch := again.ask(np.random.default_rng(7), 5):
        again.tell(batch, [known[c.gene] for c in batch])
    assert again.has_relatives


def test_a_killed_run_of_whole_reuses_goes_on(tmp_path: Path) -> None:
    with Database.open(tmp_path / "whole.db") as whole:
        tuner_of(pair(), whole, SimulatedMachine(), costs=WHOLE_COSTS, rest=0)[0].run(Budget())
        wanted = searched(whole)
    first = wanted[0][0]
    begun = sum(task == first for task, *_ in wanted)
    with Database.open(tmp_path / "killed.db") as killed:
        for stop_after in (begun + 4, 2):
            machine = SimulatedMachine(stop_after=stop_after)
            with pytest.raises(KeyboardInterrupt):
                tuner_of(pair(), killed, machine, costs=WHOLE_COSTS, rest=0)[0].run(Budget())
        assert begun < len(searched(killed)) < len(wanted)
        tuner_of(pair(), killed, SimulatedMachine(), costs=WHOLE_COSTS, rest=0)[0].run(Budget())
        assert searched(killed) == wanted


def test_ways_to_reuse_have_plans_of_their_own(database: Database) -> None:
    _, ranked = tuner_of(pair(), database, SimulatedMachine())
    _, whole = tuner_of(pair(), database, SimulatedMachine(), costs=WHOLE_COSTS)
    assert ranked.name != whole.name
    assert [s.programs for s in ranked.plan.steps] != [s.programs for s in whole.plan.steps]
    assert tuner_of(pair(), database, SimulatedMachine())[1].plan.steps == ranked.plan.steps


@pytest.mark.parametrize(
    ("over", "spent"), [(None, 8), (False, 24), (True, 4)], ids=["unknown", "later", "sooner"]
)
def test_a_step_ends_when_its_strategy_says(over: bool | None, spent: int) -> None:
    """As many programs as planned where it does not know."""
    told = []

    def is_over(task: int) -> bool | None:
        told.append(task)
        return over if over is not False else len(told) == 6

    scheduler = plan_scheduler([(2, 8), (1, 4)], dict, is_over)
    while scheduler.next() == 2:
        scheduler.tell(2, 1e-3, 4)
        assert len(told) < 10
    assert 4 * len(told) == spent


def test_the_rest_by_gradients_may_have_an_end() -> None:
    scheduler = plan_scheduler([(2, 4)], lambda: {1: 4}, rest=8)
    told = 0
    while not scheduler.done:
        scheduler.tell(scheduler.next(), 1e-3, 4)
        told += 4
    assert told == 4 + 4 + 8


def test_a_bridge_gets_its_step_and_nothing_else(database: Database) -> None:
    """Where none of two operators dominates, and only dominating ones may be reused."""
    tasks = [matmul(64, 32, 32), matmul(32, 64, 32)]
    costs = Costs(search=SEARCHED, default=1, dominated=True)
    without = tuner_of(tasks, database, SimulatedMachine(), 1, costs, hops=0)[1].plan
    assert [s.kind for s in without.steps] == [SEARCH, SEARCH]
    tuner, planned = tuner_of(tasks, database, SimulatedMachine(), 0, costs)
    *_, between = planned.plan.tasks
    assert between.hash == matmul(32, 32, 32).hash and between.weight == 0
    tuner.run(Budget(trials=SEARCHED + 1 + 2 * LENGTH + 40))
    order = [task for task, _ in groupby(workload for workload, *_ in searched(database))]
    assert order[:3] == [step.task for step in planned.plan.steps]
    assert between.hash in order[:2] and between.hash not in order[2:]

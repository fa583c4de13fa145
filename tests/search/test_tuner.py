"""The tuner on a simulated machine: budgets, records, resume, errors."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from simulated_tuning import MACHINE, TARGET, SimulatedMachine, make_scheduler, simulated
from tilewright.contract.gene import Gene
from tilewright.contract.surroundings import ALONE, Setting
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import RunError
from tilewright.measure.measurer import MeasureResult
from tilewright.records.database import Database
from tilewright.schedule.templates import ON_CPUS
from tilewright.search.confirmation import LUCK
from tilewright.search.strategies.table import STRATEGIES
from tilewright.search.tasks import TaskSearch, TuningTask
from tilewright.search.tuner import Budget, Progress, Tuner
from workloads import given

pytestmark = pytest.mark.usefixtures("brief_search")


WHOLE = 64


def make_tasks() -> list[TuningTask]:
    a, b = placeholder((64, 64), name="a"), placeholder((64, 64), name="b")
    x = placeholder((4, 256), name="x")
    return [
        TuningTask("gemm", ComputeDAG([ops.matmul(a, b)]), 2.0),
        TuningTask("softmax", ComputeDAG([ops.softmax(x)])),
    ]


def tuner(file: Path, machine: SimulatedMachine, seed: int = 3, **options: Any) -> Tuner:
    return Tuner(
        make_tasks(), Database.open(file), MACHINE, machine, TARGET, make_scheduler, seed=seed,
        **options,
    )  # fmt: skip


def test_a_copy_of_the_database_is_whole_at_any_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tilewright.search.tuner.CHECKPOINT_S", 0.0)
    one = tuner(tmp_path / "t.db", SimulatedMachine())
    counts: list[tuple[int, int]] = []

    def observe(progress: Progress) -> None:
        copied = shutil.copy(tmp_path / "t.db", tmp_path / f"copy{len(counts)}.db")
        with Database.open(copied, readonly=True) as copy:
            counts.append((copy.summary().trials, one.database.summary().trials))

    one.run(Budget(trials=6), observe)
    assert all(copied == recorded for copied, recorded in counts)
    assert counts[-1][0] >= 6


@dataclass(frozen=True)
class Ran:
    """A whole run of WHOLE trials."""

    file: Path
    machine: SimulatedMachine
    tuner: Tuner
    searches: Sequence[TaskSearch]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, brief_search: None) -> Ran:
    file, machine = tmp_path_factory.mktemp("ran") / "t.db", SimulatedMachine()
    one = tuner(file, machine)
    return Ran(file, machine, one, one.run(Budget(trials=WHOLE)))


def test_a_budget_in_trials_is_kept_and_everything_is_recorded(ran: Ran) -> None:
    one = ran.tuner
    assert one.trials == WHOLE
    assert sum(s.trials for s in ran.searches) == WHOLE
    recorded = list(one.database.trials())
    # and the two default programs, which the search may propose again
    assert WHOLE <= len(recorded) <= WHOLE + 2
    assert len({(t.workload_hash, t.gene) for t in recorded}) == len(recorded)
    assert "default" in (origins := {t.origin for t in recorded}) and len(origins) > 3
    for s in ran.searches:
        best = one.database.best(s.task.hash, MACHINE.fingerprint)
        assert best is not None
        assert best.measured_s == s.best_s


def test_a_run_records_how_long_it_took_and_where_its_time_went(ran: Ran) -> None:
    one = ran.tuner
    (run,) = one.database.runs()
    assert (run.machine, run.seed, run.strategy) == (MACHINE.fingerprint, 3, "evolution")
    shares = (run.search_s, run.train_s, run.build_s, run.run_s, run.other_s)
    assert shares == tuple(vars(one.shares).values())
    assert run.search_s > 0 and run.train_s > 0
    assert sum(shares) <= run.seconds
    times = [t.created_at for t in one.database.trials()]
    assert run.started_at <= min(times) and max(times) <= run.started_at + run.seconds


def test_failures_cost_a_trial_and_keep_their_message(ran: Ran) -> None:
    failed = [t for t in ran.tuner.database.trials() if not t.ok]
    assert failed
    assert sum(s.errors for s in ran.searches) == sum(t.origin != "default" for t in failed)
    assert {t.message for t in failed} == {"simulated crash"}


class SlowStart(SimulatedMachine):
    """Fails what it measures first, default programs; they would run when confirmed."""

    def measure(self, *given: Any) -> list[MeasureResult]:
        results = super().measure(*given)
        failure = MeasureResult("run", "Timeout", "simulated hang")
        return [failure] if len(self.measured) <= 2 * len(make_tasks()) else results


def test_a_default_program_that_failed_is_not_confirmed(tmp_path: Path) -> None:
    one = tuner(tmp_path / "t.db", SlowStart())
    searches = one.run(Budget(trials=48))
    assert [s.default_s for s in searches] == [None, None]
    defaults = [t for t in one.database.trials() if t.origin == "default"]
    assert [t.confirmed_s for t in defaults] == [(), ()]
    assert all(s.best_s for s in searches)


@dataclass
class MoodyMachine(SimulatedMachine):
    """Measures the first batch of candidates at half of what they take. Default programs run."""

    flattered: int = 0

    def measure(self, *given: Any) -> list[MeasureResult]:
        results = super().measure(*given)
        if given[2] == [given[1]]:  # the default program alone
            return [MeasureResult("ok", latencies_s=(taken(given[1]),))]
        if len(results) == 1 or self.flattered:
            return results
        self.flattered = len(results)
        return [replace(r, latencies_s=tuple(0.5 * s for s in r.latencies_s)) for r in results]

    def confirm(self, *given: Any) -> list[tuple[float, ...]]:
        return [(taken(gene),) for gene in given[2]]


def taken(gene: Gene) -> float:
    """Seconds; of a program that fails, a default one, twice what the quickest take."""
    return next(iter(simulated(gene.text).latencies_s), 2e-3)


def test_a_round_that_was_measured_too_fast_does_not_win(tmp_path: Path) -> None:
    machine = MoodyMachine()
    one = tuner(tmp_path / "t.db", machine)
    for search in one.run(Budget(trials=96)):
        trials = list(one.database.trials(search.task.hash))
        really = {t.gene: taken(t.gene) for t in trials if t.ok}
        assert search.best is not None
        assert really[search.best] <= min(really.values()) / LUCK
    assert machine.flattered >= 8


def test_patience_ends_a_run_and_is_kept_by_one_that_goes_on(tmp_path: Path) -> None:
    one = tuner(tmp_path / "t.db", SimulatedMachine())
    budget = Budget(trials=4000, patience=24)
    searches = one.run(budget)
    assert 24 <= one.trials < 1000
    again = tuner(tmp_path / "t.db", machine := SimulatedMachine())
    assert [s.best_s for s in again.run(budget)] == [s.best_s for s in searches]
    assert (again.trials, machine.measured) == (one.trials, [])


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(tmp_path: Path, ran: Ran) -> None:
    cut = SimulatedMachine(stop_after=10)
    with pytest.raises(KeyboardInterrupt):
        tuner(tmp_path / "cut.db", cut).run(Budget(trials=WHOLE))
    rest = SimulatedMachine()
    second = tuner(tmp_path / "cut.db", rest)
    second.run(Budget(trials=WHOLE))
    assert cut.measured + rest.measured == ran.machine.measured
    first, last = second.database.runs()
    assert first.started_at + first.seconds <= last.started_at


@pytest.mark.parametrize("strategy", [n for n, w in STRATEGIES.items() if not (w.reuse or w.short)])
def test_every_strategy_resumes_in_small_spaces(tmp_path: Path, strategy: str) -> None:
    """Where it proposes the recorded default program again, and runs out of programs."""
    tasks = [TuningTask(str(n), ComputeDAG([ops.relu(given(6, n))])) for n in (32, 48)]

    def measured(file: str, stop_after: int | None = None) -> list[str]:
        machine = SimulatedMachine(stop_after=stop_after)
        database = Database.open(tmp_path / file)
        one = Tuner(tasks, database, MACHINE, machine, TARGET, make_scheduler, STRATEGIES[strategy])
        with nullcontext() if stop_after is None else pytest.raises(KeyboardInterrupt):
            one.run(Budget(trials=48))
        return machine.measured

    whole = measured("whole.db")
    cut = measured("cut.db", 10) + measured("cut.db", 5)
    assert 15 <= len(cut) < len(whole) < 48
    assert cut + measured("cut.db") == whole


def test_another_budget_goes_on_from_what_is_recorded(tmp_path: Path, ran: Ran) -> None:
    """Its rounds are of another size; the recorded ones count all the same."""
    more, wanted = SimulatedMachine(), WHOLE + 32
    ran.tuner.database.checkpoint()
    one = tuner(Path(shutil.copy(ran.file, tmp_path / "t.db")), more)
    searches = one.run(Budget(trials=wanted))
    assert one.trials == wanted
    assert not set(ran.machine.measured) & set(more.measured)
    # beside those, the two default programs, measured twice, may have been proposed again
    assert wanted + 2 <= len(ran.machine.measured) + len(more.measured) <= wanted + 4
    assert sum(s.trials for s in searches) == wanted


def test_another_seed_searches_elsewhere(tmp_path: Path, ran: Ran) -> None:
    other = SimulatedMachine()
    tuner(tmp_path / "b.db", other, seed=4).run(Budget(trials=WHOLE))
    assert other.measured != ran.machine.measured
    assert other.measured[:2] == ran.machine.measured[:2], "the default programs"


def test_small_spaces_are_exhausted_and_the_run_ends(tmp_path: Path) -> None:
    tiny = TuningTask("tiny", ComputeDAG([ops.relu(placeholder((3,), name="x"))]))
    machine = SimulatedMachine()
    one = Tuner([tiny], Database.open(tmp_path / "t.db"), MACHINE, machine, TARGET, make_scheduler)
    searches = one.run(Budget(trials=100_000))
    assert searches[0].exhausted
    default, again, *others = machine.measured
    assert default == again and len({default, *others}) == 1 + len(others)


def test_a_machine_that_measures_nothing_stops_the_run(tmp_path: Path) -> None:
    class Broken(SimulatedMachine):
        def measure(self, *given: Any) -> list[MeasureResult]:
            raise RunError("no runner")

    with pytest.raises(RunError, match="no runner"):
        tuner(tmp_path / "t.db", Broken()).run(Budget(trials=8))


@pytest.mark.parametrize("setting", [ALONE, Setting(1 << 20)])
def test_a_task_is_the_same_programs_everywhere(tmp_path: Path, setting: Setting) -> None:
    """Where it runs alone, outputs that overflow the caches may be written past them."""
    dag = ComputeDAG([ops.relu(given(1 << 20, 16, name="x"), name="y")])
    task = TuningTask("relu", dag, setting=setting)
    with Database.open(tmp_path / "t.db") as database:
        tuner = Tuner([task], database, MACHINE, SimulatedMachine(), TARGET, make_scheduler)
        tuner.register()
        row = database.workload(task.hash)
    assert row is not None
    (search,) = tuner.searches
    for space in (search.space, task.space(TARGET), TuningTask.of(row).space(TARGET)):
        assert [s.producer for s in space.sketches] == [s.producer for s in search.space.sketches]
        assert ("y.streamed" in {d.name for d in space.decisions}) == setting.is_alone


class SoundMachine(SimulatedMachine):
    """Runs everything, in a hundredth of a second."""

    def measure(self, *given: Any) -> list[MeasureResult]:
        return [MeasureResult("ok", latencies_s=(0.01,)) for _ in super().measure(*given)]

    def confirm(self, *given: Any) -> list[tuple[float, ...]]:
        return [(0.01,) for _ in super().confirm(*given)]


@pytest.mark.parametrize("minutes", [None, 60.0])
def test_with_limited_time_small_tasks_wait_until_they_are_tuned(
    tmp_path: Path, minutes: float | None
) -> None:
    """Their default programs are not measured before the search begins, but estimated."""
    big = TuningTask("big", ComputeDAG([ops.matmul(given(256, 256, name="a"), given(256, 256))]))
    small = [TuningTask(f"s{n}", ComputeDAG([ops.relu(given(2, n))])) for n in (16, 32, 48)]
    with Database.open(tmp_path / "t.db") as database:
        machine = SoundMachine()
        one = Tuner([*small, big], database, MACHINE, machine, TARGET, make_scheduler)
        seen: list[list[float | None]] = []
        searches = one.run(
            Budget(trials=4, minutes=minutes),
            lambda p: seen.append([s.default_s for s in p.tasks]),
        )
        recorded = {t.workload_hash for t in database.trials()}
    assert one.trials == 4
    if minutes is None:
        assert recorded == {t.hash for t in one.tasks}
        return
    assert recorded == {big.hash}
    assert [s.expected_s is not None for s in searches] == [True, True, True, False]
    assert sum(s.expected_s or 0.0 for s in searches) < 0.1 * (searches[-1].default_s or 0.0)
    assert all(s[:3] == [None] * 3 for s in seen)


def test_a_small_task_is_measured_when_its_turn_comes(tmp_path: Path) -> None:
    big = TuningTask("big", ComputeDAG([ops.matmul(given(256, 256, name="a"), given(256, 256))]))
    small = TuningTask("small", ComputeDAG([ops.relu(given(2, 48))]))
    with Database.open(tmp_path / "t.db") as database:
        machine = SoundMachine()
        one = Tuner([small, big], database, MACHINE, machine, TARGET, make_scheduler)
        first, _ = one.run(Budget(trials=40, minutes=60.0))
        assert {t.workload_hash for t in database.trials()} == {small.hash, big.hash}
    assert first.trials and first.begun and first.expected_s is None
    assert first.best_s is not None and first.default_s is not None
    assert first.best_s <= first.default_s


def test_templates_are_all_measured_and_other_tasks_evolve(tmp_path: Path) -> None:
    """The default programs are those of a search without templates, and so is the softmax."""
    one = tuner(tmp_path / "t.db", SimulatedMachine(), way=STRATEGIES["templates"])
    gemm, softmax = one.run(Budget(trials=120))
    rows = sum(len(gemm.space.listed(k, 200)) for k in range(len(gemm.space.sketches))
               if gemm.space.sketches[k].is_listed)  # fmt: skip
    assert gemm.trials == rows and gemm.exhausted and softmax.trials == 120 - rows > 0
    usual = tuner(tmp_path / "u.db", SimulatedMachine()).run(Budget(trials=2))
    assert [s.default for s in usual] == [gemm.default, softmax.default]
    trials = one.database.trials(gemm.task.hash, MACHINE.fingerprint)
    genes = [t.gene.text for t in trials if t.origin != "default"]
    assert all(any(template.name in gene for template in ON_CPUS) for gene in genes)
    again = tuner(tmp_path / "t.db", SimulatedMachine(), way=STRATEGIES["templates"])
    again.run(Budget(trials=120))
    assert len(list(again.database.trials())) == len(list(one.database.trials()))

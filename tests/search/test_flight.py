"""Many rounds at once: on several machines nothing is lost, measured twice, or waited for."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from simulated_tuning import (
    MACHINE,
    TARGET,
    SimulatedMachine,
    make_scheduler,
    make_tasks,
    simulated,
)
from tilewright.contract.gene import Gene
from tilewright.measure.measurer import MeasureResult
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.search.flight import each
from tilewright.search.progress import Progress
from tilewright.search.strategies.table import STRATEGIES
from tilewright.search.tasks import AllFailedError, TuningTask
from tilewright.search.tuner import Budget, Tuner

TRIALS = 96


class ManyMachines(SimulatedMachine):
    """As many machines as threads ask; `together` of them wait for each other, once. It fails in
    the way of a run that is killed once `stop_after` were measured.
    """

    def __init__(self, together: int = 0, stop_after: int | None = None) -> None:
        super().__init__(stop_after=stop_after)
        self.meeting = threading.Barrier(together) if together else None
        self.rounds: set[str] = set()
        self.lock = threading.Lock()
        self.running: Counter[str] = Counter()
        self.met: list[Counter[str]] = []

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        with self.lock:
            self.running[task.name] += 1
            if default_s is not None:
                self.met.append(Counter(self.running))
        if self.meeting is not None and default_s is not None:
            self.meeting.wait(20)
            self.meeting = None
        with self.lock:
            self.running[task.name] -= 1
            return super().measure(task, default, genes, best_s, default_s)


def tuner(database: Database, machine: SimulatedMachine, lanes: int, seed: int = 0) -> Tuner:
    tasks = make_tasks()
    return Tuner(tasks, database, MACHINE, machine, TARGET, make_scheduler, seed=seed, lanes=lanes)


def genes(database: Database) -> list[str]:
    return [t.gene.hash for t in database.trials()]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("evolution", "f13da47ac51ac2e3fa22cf4ec9b7630611d76d659f9e68b164319490ea3d78b4"),
        ("random", "d15a26119e1f2a99b11dee500ac86cc46bcb5e8b8885ec725357626e593823f1"),
    ],
)
def test_one_machine_searches_as_it_always_did(
    strategy: str, expected: str, tmp_path: Path
) -> None:
    """Which programs are measured, in which order and why, is a function of the seed."""
    with Database.open(tmp_path / "t.db") as database:
        one = Tuner(
            make_tasks(), database, MACHINE, SimulatedMachine(), TARGET, make_scheduler,
            STRATEGIES[strategy], seed=3,
        )  # fmt: skip
        one.run(Budget(trials=TRIALS))
        rows = [
            (t.workload_hash, t.gene.text, t.round, t.origin, t.predicted)
            for t in database.trials()
        ]
    assert hashlib.sha256(repr(rows).encode()).hexdigest() == expected


@pytest.mark.parametrize("lanes", [2, 3, 8, 40])
def test_every_program_is_measured_once_and_the_budget_is_kept(lanes: int, tmp_path: Path) -> None:
    machine = ManyMachines()
    seen: list[Progress] = []
    with Database.open(tmp_path / "t.db") as database:
        one = tuner(database, machine, lanes)
        searches = one.run(Budget(trials=TRIALS), seen.append)
        recorded = list(database.trials())
    assert one.trials == TRIALS
    defaults = [t.gene.hash for t in recorded if t.origin == DEFAULT]
    measured = Counter(machine.measured)
    assert set(measured) == {t.gene.hash for t in recorded}
    assert {h for h, n in measured.items() if n > 1} <= set(defaults)
    assert sum(s.trials for s in searches) == TRIALS
    assert not any(s.under_way for s in searches)
    rounds = Counter((t.workload_hash, t.round) for t in recorded if t.origin != DEFAULT)
    for task, number in rounds:
        assert number < sum(t == task for t, _ in rounds) + 2  # no two rounds have one number
    told = [p.trials for p in seen if p.phase == "search"]
    assert told == sorted(told) and told[-1] == TRIALS
    best = {s.task.hash: s.best_s for s in searches}
    least = {
        task: min(t.measured_s for t in recorded if t.workload_hash == task and t.measured_s)
        for task in best
    }
    assert all(best[task] is not None and best[task] >= least[task] for task in best)


@pytest.mark.parametrize("lanes", [2, 6])
def test_machines_work_at_the_same_time_on_several_rounds(lanes: int, tmp_path: Path) -> None:
    machine = ManyMachines(together=lanes)
    with Database.open(tmp_path / "t.db") as database:
        tuner(database, machine, lanes).run(Budget(trials=TRIALS))
    assert max(sum(at_once.values()) for at_once in machine.met) >= lanes


@pytest.mark.parametrize(
    ("lanes", "then"),
    [(1, 4), (4, 1), *(pytest.param(n, n, marks=pytest.mark.thorough) for n in (1, 4))],
)
def test_a_run_that_ended_goes_on_with_more_or_fewer_machines(
    lanes: int, then: int, tmp_path: Path
) -> None:
    """However often it is killed: nothing recorded is measured again, and it comes to its end."""
    file = tmp_path / "t.db"
    for stop_after in (3, 20, 9):
        with Database.open(file) as database:
            before = set(genes(database))
            machine = ManyMachines(stop_after=stop_after)
            with pytest.raises(KeyboardInterrupt):
                tuner(database, machine, lanes).run(Budget(trials=TRIALS))
            assert not before & set(machine.measured)
            assert before < set(genes(database)) or stop_after == 3
    with Database.open(file) as database:
        before = set(genes(database))
        machine = ManyMachines()
        last = tuner(database, machine, then)
        last.run(Budget(trials=TRIALS))
        assert last.trials == TRIALS
        assert not before & set(machine.measured)
        assert before | set(machine.measured) == set(genes(database))
        assert len(genes(database)) == len(set(genes(database)))
        again = ManyMachines()
        tuner(database, again, then).run(Budget(trials=TRIALS))
        assert not set(again.measured) & before


def test_a_strategy_that_cannot_wait_has_one_round_at_a_time(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    class Strict:
        """Must be told what it asked for before it is asked again."""

        def __init__(self, space, extractor, model) -> None:  # type: ignore[no-untyped-def]
            self.inner = STRATEGIES["random"].make(space, extractor, model)
            self.open = False

        def ask(self, rng, n):  # type: ignore[no-untyped-def]
            assert not self.open
            batch = self.inner.ask(rng, n)
            self.open = bool(batch)
            asked["rounds"] += 1
            return batch

        def tell(self, batch, latencies) -> None:  # type: ignore[no-untyped-def]
            self.open = False
            self.inner.tell(batch, latencies)

    with Database.open(tmp_path / "t.db") as database:
        one = Tuner(
            make_tasks(), database, MACHINE, ManyMachines(), TARGET, make_scheduler,
            maker=lambda _: Strict, lanes=5,
        )  # fmt: skip
        one.run(Budget(trials=48))
    assert one.trials == 48 and asked["rounds"] > 3


def test_programs_that_no_machine_began_are_left_out_when_time_is_up(tmp_path: Path) -> None:
    released = threading.Event()

    class Slow(ManyMachines):
        def measure(self, task, default, genes, best_s, default_s=None):  # type: ignore[no-untyped-def]
            if default_s is not None:
                released.wait(20)
            return [simulated(gene.text) for gene in genes]

    with Database.open(tmp_path / "t.db") as database:
        one = tuner(database, Slow(), 2)
        one.started = 0.0

        def late(budget: Budget) -> float:
            """The search has time until the first shares are under way."""
            if any(s.under_way for s in one.searches):
                released.set()
            return 0.0 if released.is_set() else float("inf")

        one._search_until_s = late  # type: ignore[method-assign]
        searches = one.run(Budget(minutes=1.0))
        recorded = sum(t.origin != DEFAULT for t in database.trials())
    assert 0 < one.trials == sum(s.trials for s in searches)
    assert recorded <= one.trials


def test_each_gives_results_in_order_and_stops_asking_for_jobs() -> None:
    begun: list[int] = []

    def job(n: int) -> int:
        begun.append(n)
        return n * n

    for lanes in (1, 3):
        begun.clear()
        found = each(((n, lambda n=n: job(n)) for n in range(50)), lanes)  # type: ignore[misc]
        assert [next(found) for _ in range(4)] == [(n, n * n) for n in range(4)]
        found.close()
        assert len(begun) <= 4 + lanes


@pytest.mark.parametrize("most", [1, TRIALS])
def test_a_round_that_fails_alike_ends_the_run_and_a_share_does_not(
    most: int, tmp_path: Path
) -> None:
    failed: list[int] = []

    class Failing(ManyMachines):
        def measure(self, task, default, genes, best_s, default_s=None):  # type: ignore[no-untyped-def]
            with self.lock:
                is_search = list(genes) != [default] and task.name == "large"
                fails = is_search and len(failed) < most
                if fails:
                    failed.append(len(genes))
            if fails:
                results = [MeasureResult("run", "SIGSEGV", "crashed") for _ in genes]
                raise AllFailedError("all failed alike", results)
            return super().measure(task, default, genes, best_s, default_s)

    with Database.open(tmp_path / "t.db") as database:
        one = tuner(database, Failing(), 4)
        if most == 1:
            one.run(Budget(trials=TRIALS))
            assert one.trials == TRIALS
        else:
            with pytest.raises(AllFailedError, match="all failed alike"):
                one.run(Budget(trials=TRIALS))
        crashed = sum(t.error == "SIGSEGV" for t in database.trials())
    assert 0 < crashed <= sum(failed)

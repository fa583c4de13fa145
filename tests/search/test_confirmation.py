"""Speed-ups come from turns of one moment: what was measured on a busy machine is put right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from simulated_tuning import MACHINE, TARGET, make_scheduler
from tilewright.contract.gene import Gene
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.measure.measurer import MeasureResult
from tilewright.records.database import Database
from tilewright.search.confirmation import Confirmation
from tilewright.search.tasks import TaskSearch, TuningTask
from tilewright.search.tuner import Budget, InPlace, Tuner
from workloads import given

pytestmark = pytest.mark.usefixtures("brief_search")

DEFAULT_S = 1e-3


@dataclass
class BusyMachine:
    """The default program takes a millisecond, all others `share` of it. While searching, figures
    of the default program are `first` times that, of all others `then` times; when confirming,
    those of each call are the next of `slowness` times that.
    """

    share: float = 0.5
    first: float = 1.0
    then: float = 1.0
    slowness: Iterator[float] = field(default_factory=lambda: iter([]))
    confirmed: list[tuple[str, ...]] = field(default_factory=list)

    def measure(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene], *_: Any
    ) -> list[MeasureResult]:
        slow = {True: self.first, False: self.then}
        return [
            MeasureResult("ok", latencies_s=(slow[t == default] * self.really(t == default),))
            for t in genes
        ]

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> list[tuple[float, ...]]:
        self.confirmed.append(tuple(genes))
        slow = next(self.slowness, 1.0)
        return [(slow * self.really(t == default),) * 2 for t in genes]

    def really(self, is_default: bool) -> float:
        return DEFAULT_S if is_default else DEFAULT_S * self.share

    def close(self) -> None: ...


def tuned(
    file: Path, machine: BusyMachine, trials: int = 16, in_place: InPlace | None = None
) -> tuple[TaskSearch, Database]:
    task = TuningTask("gemm", ComputeDAG([ops.matmul(given(64, 64, name="a"), given(64, 64))]))
    database = Database.open(file)
    tuner = Tuner([task], database, MACHINE, machine, TARGET, make_scheduler, in_place=in_place)
    (search,) = tuner.run(Budget(trials=trials))
    return search, database


@pytest.mark.parametrize("first", [1.0, 3.0, 1 / 3])
@pytest.mark.parametrize("then", [1.0, 2.0, 0.1])
def test_the_speed_up_is_that_of_turns(tmp_path: Path, first: float, then: float) -> None:
    """Whatever the search took the default program and the others for."""
    machine = BusyMachine(first=first, then=then, slowness=iter([1.3] * 99))
    search, database = tuned(tmp_path / "t.db", machine)
    if then / 2 < first:  # else the default program seemed best throughout
        assert search.confirmed
        assert search.default_s is not None and search.best_s is not None
        assert search.default_s / search.best_s == pytest.approx(2.0)
    best = database.best(search.task.hash, MACHINE.fingerprint)
    assert best is not None and best.latency_s == search.best_s


def test_what_is_no_faster_in_turns_is_not_compiled_with(tmp_path: Path) -> None:
    search, database = tuned(tmp_path / "t.db", BusyMachine(share=1.1, then=0.2))
    assert search.confirmed
    assert search.best_s == search.default_s == DEFAULT_S
    assert search.best == search.default
    best = database.best(search.task.hash, MACHINE.fingerprint)
    assert best is not None and best.gene == search.default


@pytest.mark.parametrize("ratios", [(0.7, 0.6), (1.2, 0.9), (1.2, 1.1)])
def test_where_a_program_is_used_decides(tmp_path: Path, ratios: tuple[float, float]) -> None:
    """Among the confirmed ones and the default program."""
    placed: dict[Gene, float] = {}

    def in_place(
        defaults: Sequence[Gene | None], genes: Sequence[Sequence[Gene]]
    ) -> list[dict[Gene, float]]:
        found = dict(zip(genes[0], ratios, strict=True))
        placed.update(found)
        return [found]

    search, database = tuned(tmp_path / "t.db", BusyMachine(), in_place=in_place)
    assert len(placed) == 2 and search.default not in placed and search.confirmed
    least = min(*ratios, 1.0)
    assert search.best_s == pytest.approx(least * DEFAULT_S) and search.default_s == DEFAULT_S
    assert placed.get(search.best or search.default, 1.0) == least
    known = database.lookup(search.task.hash, MACHINE.fingerprint, list(placed))
    assert {g: t.latency_s for g, t in known.items()} == pytest.approx(
        {g: r * DEFAULT_S for g, r in placed.items()}
    )


def test_what_had_no_time_to_be_confirmed_is_seen_in_its_place(tmp_path: Path) -> None:
    class Late(BusyMachine):
        def confirm(
            self, task: TuningTask, default: Gene, genes: Sequence[Gene]
        ) -> list[tuple[float, ...]]:
            return [()] * len(genes)

    assert not tuned(tmp_path / "t.db", Late())[0].confirmed
    search, _ = tuned(
        tmp_path / "u.db", Late(), in_place=lambda _, genes: [dict.fromkeys(genes[0], 1.3)]
    )
    assert search.confirmed and search.best == search.default and search.best_s == DEFAULT_S


def test_a_network_that_cannot_be_run_changes_nothing(tmp_path: Path) -> None:
    search, _ = tuned(tmp_path / "t.db", BusyMachine(), in_place=lambda _, genes: [{}])
    assert search.best_s == DEFAULT_S / 2


def test_confirmations_of_different_moments_compare(tmp_path: Path) -> None:
    """The first finds all four times slower; a later one of a quiet moment puts that right."""
    search, database = tuned(tmp_path / "t.db", BusyMachine(slowness=iter([4.0] * 99)))
    assert search.default_s == pytest.approx(4 * DEFAULT_S)
    again, database = tuned(tmp_path / "t.db", BusyMachine(share=0.25), trials=32)
    assert again.default_s == pytest.approx(DEFAULT_S)
    confirmed = [t for t in database.trials() if t.confirmed_s]
    ratios = {round(DEFAULT_S / (t.latency_s or 1.0), 6) for t in confirmed}
    assert ratios == {1.0, 2.0, 4.0}
    once_more, _ = tuned(tmp_path / "t.db", BusyMachine(slowness=iter([9.0] * 99)), trials=32)
    assert once_more.default_s == pytest.approx(DEFAULT_S)


def test_without_time_nothing_is_confirmed_and_nothing_is_slower_than_untuned(
    tmp_path: Path,
) -> None:
    search, _ = tuned(tmp_path / "t.db", BusyMachine(first=2.0))
    search.confirmed = False
    machine = BusyMachine()
    with Database.open(tmp_path / "other.db") as database:
        Confirmation(database, MACHINE.fingerprint, machine).run([search], is_late=lambda: True)
    assert not machine.confirmed and not search.confirmed


def test_the_default_program_takes_part_in_every_confirmation(tmp_path: Path) -> None:
    machine = BusyMachine()
    search, _ = tuned(tmp_path / "t.db", machine)
    assert machine.confirmed
    assert {genes[0] for genes in machine.confirmed} == {search.default}
    assert all(len(set(genes)) == len(genes) for genes in machine.confirmed)

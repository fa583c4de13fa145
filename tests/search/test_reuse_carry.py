"""Programs for operators without records: whose, and when none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from simulated_tuning import MACHINE, TARGET, record_search
from tilewright.records.database import Database
from tilewright.search.reuse import carry
from tilewright.search.reuse.carry import Carrier
from tilewright.search.tasks import TuningTask
from tilewright.space.default import default_of
from workloads import convolution, product


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path / "run.db") as opened:
        yield opened


def matmul(n: int, m: int, k: int) -> TuningTask:
    return TuningTask(f"matmul{n}x{m}x{k}", product(n, m, k))


def search(database: Database, task: TuningTask, gain: float) -> None:
    record_search(database, MACHINE, TARGET, task, gain)


def carrier(database: Database) -> Carrier:
    return Carrier(database, MACHINE, TARGET)


def test_the_nearest_relatives_program_is_carried(database: Database) -> None:
    near, far = matmul(64, 64, 64), matmul(512, 512, 64)
    search(database, far, 2.0)
    search(database, near, 2.0)
    task = matmul(128, 64, 64)
    found = carrier(database).program(task)
    assert found is not None and found.source == near.name
    space = task.space(TARGET)
    program = space.row_of(found.gene)
    assert program is not None and space.valid(program).all()
    assert program.sketch[0] != default_of(space).sketch[0], "the relative's best are others"


def test_nothing_is_carried_that_promises_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = matmul(128, 64, 64)
    assert carrier(database).program(task) is None, "nobody is known"
    search(database, TuningTask("conv", convolution(1, 14, 16, 32, 3)), 2.0)
    assert carrier(database).program(task) is None, "of another family"
    search(database, matmul(64, 64, 64), 1.02)
    assert carrier(database).program(task) is None, "its search found nothing either"
    search(database, matmul(256, 64, 64), 2.0)
    assert carrier(database).program(task) is not None
    monkeypatch.setattr(carry, "WORTH", 1.9)
    assert carrier(database).program(task) is None, "the model expects less"

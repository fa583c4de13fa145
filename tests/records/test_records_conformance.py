"""What every backend must do alike: the suite, what it finds, and what takes a look inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text, update

from tilewright.ground.errors import RecordsError
from tilewright.records import Database, Trial, queries
from tilewright.records.tables import SCHEMA_VERSION, meta
from tilewright.testing.databases import (
    CEILINGS,
    MACHINE,
    OTHER_WORKLOAD,
    WORKLOAD,
    DatabaseSuite,
    trial,
)


class TestSqlite(DatabaseSuite):
    def make(self, folder: Path, **options: Any) -> Database:
        return Database.open(folder / "records.db", **options)


class TestPostgresql(DatabaseSuite):
    url: str

    @pytest.fixture(autouse=True)
    def _server(self, postgresql: str) -> None:
        self.url = postgresql

    def make(self, folder: Path, **options: Any) -> Database:
        return Database.open(self.url, **options)


def unconfirmed(self: Database, trial_id: int, latencies_s: Sequence[float]) -> None:
    """Forgets that a trial was confirmed."""


def one_by_one(self: Database, batch: Sequence[Trial]) -> list[int | None]:
    """Keeps a part of a batch."""
    return [id_ for one in batch for id_ in ADD_TRIALS(self, [one])]


ADD_TRIALS = Database.add_trials


@pytest.mark.parametrize(
    ("method", "wrong", "test"),
    [
        ("confirm", unconfirmed, "test_a_confirmation_decides_the_best_but_not_the_history"),
        ("add_trials", one_by_one, "test_a_batch_is_kept_whole_or_not_at_all"),
        ("rounds", lambda self, *_: [], "test_rounds_recall_the_history_in_order"),
        ("pin", lambda self, row: row, "test_what_reused_what_is_told_by_the_last_step_that_began"),
    ],
)
def test_the_suite_finds_a_wrong_database(
    method: str,
    wrong: Callable[..., Any],
    test: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with TestSqlite().make(tmp_path) as db:
        db.add_machine(MACHINE)
        for workload in (WORKLOAD, OTHER_WORKLOAD, replace(WORKLOAD, hash="w2")):
            db.add_workload(workload)
        monkeypatch.setattr(Database, method, wrong)
        with pytest.raises((AssertionError, IndexError)):
            getattr(TestSqlite(), test)(db)


def test_a_reader_sees_one_moment(db: Database, target: str) -> None:
    db.add_trials([trial(1)])
    with Database.open(target, readonly=True) as other, other._store.read() as connection:
        before = queries.summary(connection)
        db.add_trials([trial(2)])
        assert before.trials == 1 and queries.summary(connection) == before
        assert other.summary().trials == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flops_per_s": 0.0}, "positive finite rates"),
        ({"bytes_per_s": (1.0, float("inf"))}, "positive finite rates"),
        ({"sizes_bytes": (), "bytes_per_s": ()}, "positive finite rates"),
        ({"bytes_per_s": (1.0,)}, "one rate for each size"),
    ],
)
def test_ceilings_that_limit_nothing_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordsError, match=message):
        replace(CEILINGS, **changes)


def test_the_time_to_move_data_is_that_of_as_much_data() -> None:
    assert CEILINGS.seconds(1 << 10) == (1 << 10) / 5e11
    assert CEILINGS.seconds(1 << 19) == (1 << 19) / 5e11
    assert CEILINGS.seconds(1 << 21) == (1 << 21) / 1e11


def test_the_higher_ceilings_stay() -> None:
    busy = replace(CEILINGS, flops_per_s=1.0, bytes_per_s=(9e11, 1.0), measured_at=9.0)
    higher = replace(CEILINGS, bytes_per_s=(9e11, 1e11), measured_at=9.0)
    assert CEILINGS.raised_by(busy) == higher
    other = replace(busy, sizes_bytes=(1, 2))
    assert CEILINGS.raised_by(other) == other


@pytest.mark.parametrize(
    ("schema", "who"), [("999", "the Tilewright that wrote it"), ("3", r"Tilewright 0\.1\.0")]
)
def test_another_schema_is_refused(target: str, schema: str, who: str) -> None:
    """Whatever tables it has: first it is told who reads it."""
    with Database.open(target) as database, database._store.write() as connection:
        connection.execute(update(meta).values(value=schema))
        connection.execute(text("CREATE TABLE loads (machine TEXT)"))
    reads = f"reads schema {SCHEMA_VERSION}"
    said = rf"has schema {schema}, .* {reads}: use {who}.* to `export` it, then import that"
    for options in ({}, {"readonly": True}):
        with pytest.raises(RecordsError, match=said):
            Database.open(target, **options)


def test_a_writer_waits_only_so_long(target: str) -> None:
    with Database.open(target) as holder, holder._store.write():
        with pytest.raises(RecordsError, match="another process holds the write lock"):
            Database.open(target, timeout_s=0.05)
        with Database.open(target, readonly=True) as reader:
            assert reader.summary().trials == 0

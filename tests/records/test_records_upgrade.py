"""Databases and exports of older schemas are read, and become today's when they are written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import schema_one
from record_samples import OTHER_WORKLOAD, REUSED, gene, trial
from sqlalchemy import create_engine, make_url, update
from test_records_conformance import MACHINE, WORKLOAD

from tilewright.errors import RecordsError
from tilewright.gene import Gene
from tilewright.records import Database, Trial
from tilewright.records.connection import RecordStore
from tilewright.records.tables import meta, reuses
from tilewright.records.upgrade import gene_of_trace

GENES = tuple(map(gene_of_trace, schema_one.TRACES))
TRIALS = [
    Trial("w0", "m", GENES[0], 0, 1, (0.5,), origin="sample", created_at=1.0, confirmed_s=(0.25,),
          region_s=1e-6),
    Trial("w0", "m", GENES[1], 0, 1, origin="sample", created_at=1.0, stage="run",
          error="RunError"),
]  # fmt: skip


@pytest.fixture
def older(target: str) -> str:
    """A database of schema 1 on each kind of database."""
    is_url = "://" in target
    url = make_url(target).set(drivername="postgresql+psycopg") if is_url else f"sqlite:///{target}"
    engine = create_engine(url)
    with engine.begin() as connection:
        schema_one.fill(connection)
    engine.dispose()
    return target


def test_an_older_database_is_brought_up_to_date(older: str) -> None:
    with Database.open(older, create=False) as database:
        assert list(database.trials()) == TRIALS
        assert database.workloads()[0].between_bytes is None
        assert database.undecided("w0") == {1: GENES[0], 2: GENES[1]}
        database.rewrite({1: gene(4)})
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        database.add_workload(OTHER_WORKLOAD)
        assert database.add_plan([REUSED]) == [REUSED]
        (id_,) = database.add_trials([trial(9)])
        assert id_ is not None and id_ > 2
        assert (database.runs(), database.ceilings(), database.facts("run")) == ([], [], [])
    with Database.open(older, create=False, readonly=True) as database:
        assert [t.gene for t in database.trials()] == [gene(4), GENES[1], gene(9)]
        assert database.summary().schema == 3


def test_an_older_file_opened_for_reading_stays_as_it_is(older: str) -> None:
    if "://" in older:
        with pytest.raises(RecordsError, match="has schema 1, this Tilewright 3: tune into it"):
            Database.open(older, readonly=True)
        return
    before = Path(older).read_bytes()
    with Database.open(older, create=False, readonly=True) as database:
        assert list(database.trials()) == TRIALS
        assert database.name == older
        with pytest.raises(RecordsError, match="it was opened read-only"):
            database.add_machine(MACHINE)
    assert Path(older).read_bytes() == before


@pytest.fixture
def schema_two(target: str) -> str:
    """A database of schema 2, which lacks only the plans, on each kind of database."""
    with Database.open(target) as database:
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        database.add_workload(OTHER_WORKLOAD)
        database.add_trials([trial(1)])
        with database._store.write() as connection:
            reuses.drop(connection)
            connection.execute(update(meta).values(value="2"))
    return target


def test_a_database_without_plans_gets_them(
    schema_two: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_: RecordStore) -> None:
        pytest.fail("a large file would take long to be written anew")

    monkeypatch.setattr(RecordStore, "give_back", never)
    with Database.open(schema_two, create=False) as database:
        assert list(database.trials()) == [trial(1)]
        assert database.plan(MACHINE.fingerprint, "plan", 1) == []
        database.keep(REUSED)
    with Database.open(schema_two, create=False, readonly=True) as database:
        assert database.plan(MACHINE.fingerprint, "plan", 1) == [REUSED]
        assert database.summary().schema == 3


def test_a_file_without_plans_opened_for_reading_stays_as_it_is(schema_two: str) -> None:
    if "://" in schema_two:
        with pytest.raises(RecordsError, match="has schema 2, this Tilewright 3: tune into it"):
            Database.open(schema_two, readonly=True)
        return
    before = Path(schema_two).read_bytes()
    with Database.open(schema_two, create=False, readonly=True) as database:
        assert list(database.trials()) == [trial(1)]
        assert database.reused(MACHINE.fingerprint) == {}
        assert database.plan(MACHINE.fingerprint, "plan", 1) == []
    assert Path(schema_two).read_bytes() == before


def test_an_export_of_version_1_is_read(tmp_path: Path) -> None:
    with Database.open(tmp_path / "records.db") as database:
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        database.add_trials([trial(1, gene=GENES[0])])
        database.export(tmp_path / "new.jsonl")
    head, machine, workload, last = map(
        json.loads, (tmp_path / "new.jsonl").read_text("utf-8").splitlines()
    )
    head["version"] = 1
    del workload["between_bytes"], last["producer"], last["decisions"]
    last |= {"trace": schema_one.TRACES[0], "trace_hash": "t", "sketch_key": "tile", "row": [4]}
    source = {"record": "source", "nest": "for i"}
    older = tmp_path / "older.jsonl"
    lines = (head, machine, workload, last, source)
    older.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    with Database.open(tmp_path / "other.db") as database:
        database.import_(older)
        assert list(database.trials()) == [trial(1, gene=GENES[0])]
        assert next(database.trials()).gene.text == Gene(GENES[0].producer, "{}").text

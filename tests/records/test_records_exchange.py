"""Export and import: nothing lost, nothing doubled, nothing half done."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from tilewright.contract.gene import Gene
from tilewright.ground.errors import RecordsError
from tilewright.records import Database, ImportedRecords, ModelRow, ModelTask, Trial, WorkloadRow
from tilewright.records.tables import meta, metadata
from tilewright.testing.databases import (
    CEILINGS,
    MACHINE,
    OTHER_MACHINE,
    RUN,
    WORKLOAD,
    gene,
    trial,
)

words = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=5)
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
latencies = st.floats(min_value=0, exclude_min=True, allow_infinity=False)
times = st.floats(min_value=0, max_value=1e12)


@st.composite
def workload_rows(draw: st.DrawFn) -> WorkloadRow:
    extents = tuple(draw(st.lists(st.integers(1, 10**6), max_size=4)))
    flops = draw(st.integers(0, 2**63 - 1))
    between = draw(st.integers(0, 2**63 - 1))
    return WorkloadRow(draw(words), draw(texts), draw(texts), draw(words), extents, flops, between)


@st.composite
def trials_of(draw: st.DrawFn, workload: WorkloadRow) -> Trial:
    error = draw(st.none() | words)
    measured = draw(st.lists(latencies, min_size=0 if error else 1, max_size=3))
    return Trial(
        workload_hash=workload.hash,
        machine=draw(st.sampled_from([MACHINE, OTHER_MACHINE])).fingerprint,
        gene=Gene(draw(texts), draw(texts)),
        round=draw(st.integers(0, 2**63 - 1)),
        seed=draw(st.integers(0, 2**63 - 1)),
        latencies_s=tuple(measured),
        predicted=draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)),
        origin=draw(texts),
        stage=draw(texts),
        error=error,
        message=draw(texts),
        build_s=draw(times),
        run_s=draw(times),
        created_at=draw(times),
        confirmed_s=tuple(draw(st.lists(latencies, max_size=2))) if error is None else (),
        region_s=draw(st.none() | latencies),
        points_s=tuple(draw(st.lists(latencies, max_size=2))),
    )


@st.composite
def fillings(draw: st.DrawFn) -> Callable[[Database], None]:
    """Something to put into a database that holds nothing yet."""
    workloads = draw(st.lists(workload_rows(), min_size=1, max_size=3, unique_by=lambda w: w.hash))
    batch = draw(st.lists(st.sampled_from(workloads).flatmap(trials_of), max_size=8))
    tasks = draw(st.lists(st.sampled_from(workloads), max_size=3))
    model = ModelRow(draw(words), draw(texts), tuple(ModelTask(w.hash, 2) for w in tasks))
    started = draw(st.lists(times, max_size=3, unique=True))
    runs = [
        replace(RUN, started_at=at, seconds=draw(times), strategy=draw(texts)) for at in started
    ]
    limits = draw(st.none() | st.just(CEILINGS))

    def fill(database: Database) -> None:
        database.add_machine(MACHINE)
        database.add_machine(OTHER_MACHINE)
        for workload in workloads:
            database.add_workload(workload)
        database.add_trials(batch)
        database.add_model(model)
        for run in runs:
            database.keep(run)
        if limits is not None:
            database.keep(limits)

    return fill


def emptied(database: Database) -> Database:
    with database._store.write() as connection:
        for table in reversed(metadata.sorted_tables):
            if table is not meta:
                connection.execute(delete(table))
    return database


def lines(database: Database, folder: Path) -> list[str]:
    file = folder / "lines.jsonl"
    database.export(file)
    return file.read_text("utf-8").splitlines()


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(fill=fillings(), compressed=st.booleans())
def test_round_trip(target: str, fill: Callable[[Database], None], compressed: bool) -> None:
    with (
        TemporaryDirectory() as folder,
        Database.open(":memory:") as source,
        Database.open(target) as database,
    ):
        fill(source)
        file = Path(folder) / ("all.jsonl.gz" if compressed else "all.jsonl")
        stored = list(source.trials())
        assert source.export(file) == len(stored)
        emptied(database).import_(file)
        assert list(database.trials()) == stored
        assert sorted(lines(database, Path(folder))) == sorted(lines(source, Path(folder)))
        again = database.import_(file)
        assert again == ImportedRecords(known_trials=len(stored))


def test_a_file_is_readable_lines(db: Database, tmp_path: Path) -> None:
    db.add_trials([trial(1)])
    first, *rest = map(json.loads, lines(db, tmp_path))
    assert first == {"format": "tilewright-records", "version": 2}
    assert [line["record"] for line in rest] == ["machine", "workload", "trial"]
    assert Gene(rest[2]["producer"], rest[2]["decisions"]) == gene(1) and "id" not in rest[2]
    db.export(tmp_path / "small.jsonl.gz")
    with gzip.open(tmp_path / "small.jsonl.gz", "rt") as stream:
        assert len(stream.readlines()) == 4


def spoiled(line: str, **changes: object) -> str:
    values = {**json.loads(line), **changes}
    return json.dumps({name: value for name, value in values.items() if value != "absent"})


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: [*text[:3], text[3][:40]], "line 4: Invalid control character"),
        (lambda text: [*text[:3], "[1]"], "line 4: it is not an object whose record is one of"),
        (
            lambda text: [*text[:3], spoiled(text[3], producer=[1])],
            "line 4: 'producer' must be",
        ),
        (
            lambda text: [*text[:3], spoiled(text[3], confirmed_s="12")],
            "'confirmed_s' must be",
        ),
        (lambda text: [*text[:3], spoiled(text[3], decisions="absent")], "'decisions' must be"),
        (lambda text: [*text[:3], spoiled(text[3], region_s=0.0)], "not a positive finite"),
        (lambda text: [*text[:3], spoiled(text[3], extra=1)], "unknown fields: 'extra'"),
        (lambda text: [*text[:3], spoiled(text[3], latencies_s=[-1.0])], "not a positive finite"),
        (lambda text: [*text[:3], spoiled(text[3], latencies_s=[])], "neither a latency nor"),
        (lambda text: [*text[:3], spoiled(text[3], workload_hash="w9")], "workload w9"),
        (lambda text: text[1:], "is not an export of Tilewright records"),
        (lambda text: [], "is not an export of Tilewright records"),
        (lambda text: ["junk"], "is not an export of Tilewright records"),
        (lambda text: [spoiled(text[0], version=3)], "format version 3, this Tilewright reads 2"),
    ],
)
def test_a_broken_file_is_named_with_its_line(
    tmp_path: Path, spoil: Callable[[list[str]], list[str]], message: str
) -> None:
    with Database.open(tmp_path / "records.db") as database:
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        database.add_trials([trial(1)])
        text = lines(database, tmp_path)
        file = tmp_path / "broken.jsonl"
        file.write_text("".join(f"{line}\n" for line in spoil(text)), "utf-8")
        with pytest.raises(RecordsError, match=message) as caught:
            database.import_(file)
        assert "broken.jsonl" in str(caught.value)
        assert list(database.trials()) == [trial(1)]


def test_a_truncated_archive_keeps_the_batches_before(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl.gz"
    with Database.open(tmp_path / "whole.db") as whole, Database.open(tmp_path / "new.db") as new:
        whole.add_machine(MACHINE)
        whole.add_workload(WORKLOAD)
        whole.add_trials([trial(number) for number in range(3000)])
        whole.export(file)
        packed = file.read_bytes()
        file.write_bytes(packed[: len(packed) * 2 // 3])
        with pytest.raises(
            RecordsError, match=r"all\.jsonl\.gz, line \d+: .* export the file anew"
        ):
            new.import_(file)
        assert len(list(new.trials())) % 1000 == 0 and len(list(new.trials())) > 0
        file.write_bytes(packed)
        new.import_(file)
        assert list(new.trials()) == list(whole.trials())
        file.write_bytes(b"not gzip at all")
        with pytest.raises(RecordsError, match=r"all\.jsonl\.gz"):
            new.import_(file)


def test_an_export_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "all.jsonl"
    with Database.open(tmp_path / "records.db") as database:
        database.add_machine(MACHINE)
        database.export(file)
        before = file.read_bytes()

        def full(*_: object) -> str:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("tilewright.records.exchange._line", full)
        with pytest.raises(RecordsError, match=r"all\.jsonl: No space left on device: name a file"):
            database.export(file)
        assert file.read_bytes() == before
        assert sorted(path.suffix for path in tmp_path.glob("all*")) == [".jsonl"]
        monkeypatch.undo()
        with pytest.raises(RecordsError, match=r"cannot write .*nowhere does not exist"):
            database.export(tmp_path / "nowhere" / "all.jsonl")
        (tmp_path / "link").symlink_to(tmp_path / "records.db")
        for name in ("records.db", "records.db-wal", "link"):
            with pytest.raises(RecordsError, match=r"it is the database; name another file"):
                database.export(tmp_path / name)
        with pytest.raises(RecordsError, match=r"cannot import .*absent.* No such file"):
            database.import_(tmp_path / "absent.jsonl")

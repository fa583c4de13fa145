"""Databases and exports that somebody made by hand: refused in one line, in bounded time."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import tracemalloc
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.ground.errors import RecordsError
from tilewright.records import Database, ModelRow, ModelTask, exchange
from tilewright.records.tables import metadata
from tilewright.testing.databases import (
    CEILINGS,
    FACTS,
    LOAD,
    MACHINE,
    OTHER_WORKLOAD,
    REUSED,
    RUN,
    WORKLOAD,
    trial,
)

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"
LONGEST_ERROR = 700  # characters, the name of the file among them
FINGERPRINT = MACHINE.fingerprint


def filled(file: Path) -> Path:
    """A closed database with a row or more in each table."""
    with Database.open(file) as database:
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        database.add_workload(OTHER_WORKLOAD)
        database.add_model(ModelRow.of("net", (ModelTask("w0", 2),), "net.onnx"))
        (id_, *_) = database.add_trials([trial(number) for number in range(3)])
        for row in (RUN, LOAD, FACTS, CEILINGS):
            database.keep(row)
        database.add_plan([REUSED])
        assert id_ is not None
        database.pin(replace(REUSED, trials=(id_,)))
    return file


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return filled(tmp_path_factory.mktemp("whole") / "whole.db").read_bytes()


@pytest.fixture
def file(whole: bytes, tmp_path: Path) -> Path:
    file = tmp_path / "r.db"
    file.write_bytes(whole)
    return file


def change(file: Path, *statements: str) -> None:
    """Change a database behind our back, whatever its own rules say."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for statement in statements:
            connection.execute(statement)


def read_everything(database: Database) -> None:
    """Whatever a database can be asked."""
    for item in database.items():
        assert item is not None
    database.summary()
    database.plan(FINGERPRINT, "plan", 1)
    database.reused(FINGERPRINT)
    database.history(FINGERPRINT)
    database.rounds(FINGERPRINT)
    database.training_set(FINGERPRINT, include_failed=True)
    database.best("w0")
    database.measured(FINGERPRINT)
    database.lookup("w0", FINGERPRINT, [trial(0).gene])


def refused(file: Path, *parts: str, readonly: bool = True) -> str:
    """The error of opening and reading the file: one line that names it and has all parts."""
    with (
        pytest.raises(RecordsError) as caught,
        Database.open(file, create=not readonly, readonly=readonly) as database,
    ):
        read_everything(database)
    said = str(caught.value)
    assert str(file) in said and "\n" not in said and len(said) < LONGEST_ERROR
    assert all(part in said for part in parts), said
    return said


# ---- schemas -------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", sorted({*metadata.tables} - {"tilewright_meta"}))
def test_a_view_is_no_table(file: Path, table: str) -> None:
    columns = ", ".join(f"x AS {c.name}" for c in metadata.tables[table].columns)
    quoted = columns.replace("AS plan", 'AS "plan"')
    change(file, f"DROP TABLE {table}", f"CREATE VIEW {table} AS {ENDLESS} {quoted} FROM n")
    for readonly in (True, False):
        refused(file, f"view {table}", readonly=readonly)


def test_a_view_alone_is_no_empty_database(tmp_path: Path) -> None:
    file = tmp_path / "r.db"
    change(file, f"CREATE VIEW tilewright_meta AS {ENDLESS} x AS key, '4' AS value FROM n")
    for readonly in (True, False):
        refused(file, "view tilewright_meta", readonly=readonly)


TRIGGER = "CREATE TRIGGER more AFTER INSERT ON trials BEGIN DELETE FROM models; END"


def rewritten(old: str, new: str, table: str = "models") -> tuple[str, ...]:
    return (
        "PRAGMA writable_schema = 1",
        f"UPDATE sqlite_master SET sql = replace(sql, '{old}', '{new}') WHERE name = '{table}'",
    )


@pytest.mark.parametrize(
    ("statements", "part"),
    [
        ((TRIGGER,), "trigger more"),
        (("CREATE TABLE more (x)",), "table more"),
        (("CREATE VIEW more AS SELECT 1",), "view more"),
        (("CREATE INDEX more ON models (name)",), "index more"),
        (("CREATE INDEX more ON models (lower(name))",), "index more"),
        (("CREATE VIRTUAL TABLE more USING fts5(x)",), "table more"),
        (
            ("DROP TABLE facts", "CREATE VIRTUAL TABLE facts USING fts5(machine, kind)"),
            "table facts",
        ),
        (
            ("DROP INDEX trials_by_latency", "CREATE INDEX trials_by_latency ON trials (error)"),
            "index trials_by_latency",
        ),
        (("ALTER TABLE models ADD COLUMN more TEXT",), "more text in table models"),
        (
            ("ALTER TABLE models ADD COLUMN more TEXT AS (hex(zeroblob(1 << 30)))",),
            "in table models",
        ),
        (rewritten("name TEXT", "name TEXT CHECK (length(name) < 9)"), "check"),
        (rewritten("name TEXT", "name TEXT COLLATE nocase"), "collate nocase"),
        (rewritten("name TEXT", "name TEXT DEFAULT (random())"), "default(random())"),
        (rewritten("name TEXT NOT NULL", "name TEXT"), "name text in table models"),
        (("DROP TABLE models", "CREATE TABLE models (hash TEXT NOT NULL, name TEXT NOT NULL, "
          "PRIMARY KEY (hash)) WITHOUT ROWID"), "table models"),
        (rewritten("REFERENCES models (hash)", "REFERENCES models (hash) ON DELETE CASCADE",
                   "model_tasks"), "on delete cascade"),
    ],
)  # fmt: skip
def test_nothing_else_is_in_a_schema(file: Path, statements: tuple[str, ...], part: str) -> None:
    change(file, *statements)
    refused(file, part)
    refused(file, part, readonly=False)


def test_what_sqlite_adds_is_no_stranger(file: Path, tmp_path: Path) -> None:
    change(file, "ANALYZE", "VACUUM", "REINDEX")
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(file)) as old, closing(sqlite3.connect(copy)) as new:
        new.executescript("\n".join(old.iterdump()))
    for database_file in (file, copy):
        with Database.open(database_file, readonly=True) as database:
            read_everything(database)


# ---- cells ---------------------------------------------------------------------------------------

DEEP = "[" * 100_000
TEXTS = ("x'00ff'", "x'80'", f"'{DEEP}'", "'[NaN]'", "'[\"a\"]'", "'{}'", "'[[1]]'", "'[1e999]'")
NUMBERS = ("'many'", "x'01'", "9e999", "-9e999", "-1")
KINDS = {"TEXT": TEXTS, "BIGINT": NUMBERS, "INTEGER": NUMBERS, "DOUBLE": NUMBERS}
COLUMNS = [
    (table.name, column.name, (*KINDS[str(column.type)], "NULL"))
    for table in metadata.sorted_tables
    for column in table.columns
    if (table.name, column.name) != ("trials", "id")
]
VALUES = 2  # of each column, others for the next one: all of a kind in columns of that kind


@pytest.mark.parametrize("number", range(len(COLUMNS)))
def test_any_cell_may_hold_anything(whole: bytes, tmp_path: Path, number: int) -> None:
    table, column, values = COLUMNS[number]
    for turn in range(VALUES):
        value = values[(number * VALUES + turn) % len(values)]
        file = tmp_path / f"{turn}.db"
        file.write_bytes(whole)
        change(
            file,
            "PRAGMA writable_schema = 1",
            *rewritten(" NOT NULL", "/*______*/", table)[1:],
            "PRAGMA writable_schema = RESET",
            f'UPDATE "{table}" SET "{column}" = {value} WHERE rowid = 1',
            "PRAGMA writable_schema = 1",
            *rewritten("/*______*/", " NOT NULL", table)[1:],
        )
        try:
            with Database.open(file, readonly=True) as database:
                read_everything(database)
        except RecordsError as error:
            assert str(file) in str(error) and len(str(error)) < LONGEST_ERROR


def test_a_huge_cell_is_not_read(file: Path) -> None:
    change(file, "UPDATE workloads SET dag = CAST(zeroblob((1 << 25) + 1) AS TEXT) WHERE rowid = 1")
    refused(file, "larger than any of ours")


def test_what_is_named_is_there(file: Path) -> None:
    change(file, "DELETE FROM producers")
    refused(file, "no producer")


def test_a_trial_is_the_program_that_its_hash_names(file: Path) -> None:
    change(file, """UPDATE trials SET decisions = '{"C.i":[77]}' WHERE id = 1""")
    refused(file, "trial 1 is another program")


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["", "-wal", "-journal", "-shm"])
@pytest.mark.parametrize("readonly", [True, False])
def test_what_is_no_file_is_no_database(file: Path, part: str, readonly: bool) -> None:
    place = file.with_name(f"{file.name}{part}")
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    refused(file, "is no regular file: name another", readonly=readonly)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("/dev/zero", "no regular file"),
        ("/dev/null", "no regular file"),
        (".", "is a directory"),
        ("r.db", ""),  # a link to itself
    ],
)
def test_links_that_lead_elsewhere(tmp_path: Path, target: str, says: str) -> None:
    file = tmp_path / "r.db"
    file.symlink_to(target)
    for readonly in (True, False):
        refused(file, says, readonly=readonly)


def test_a_name_that_no_file_has() -> None:
    for readonly in (True, False):
        with pytest.raises(RecordsError, match="no file has such a name"):
            Database.open("r\0.db", readonly=readonly)


def test_a_truncated_file_is_refused_or_read(whole: bytes, tmp_path: Path) -> None:
    for end in range(1, len(whole) - 16384, len(whole) // 23):
        file = tmp_path / f"{end}.db"
        file.write_bytes(whole[:end])
        refused(file)


def test_pages_that_are_named_often_end(file: Path) -> None:
    """A page of a tree names the same child hundreds of times, six levels deep."""
    page = 16384
    data = bytearray(file.read_bytes())
    with closing(sqlite3.connect(file)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'trials'")
    leaf = bytes(data[(root[0] - 1) * page : root[0] * page])
    count, levels = 1000, 6
    for _ in range(levels):
        data += leaf
        leaf = inner_page(page, count, child=len(data) // page)
    data[(root[0] - 1) * page : root[0] * page] = leaf
    data[28:32] = (len(data) // page).to_bytes(4, "big")
    file.write_bytes(data)
    refused(file, "corrupt")


def inner_page(size: int, count: int, child: int) -> bytes:
    """An inner page of a table's tree, all of whose children are one page."""
    cell = child.to_bytes(4, "big") + b"\x7f"
    start = size - count * len(cell)
    places = b"".join((start + i * len(cell)).to_bytes(2, "big") for i in range(count))
    head = b"\x05\0\0" + count.to_bytes(2, "big") + start.to_bytes(2, "big") + b"\0"
    top = head + child.to_bytes(4, "big") + places
    return top + bytes(start - len(top)) + cell * count


# ---- exports -------------------------------------------------------------------------------------

HEADER = json.dumps({"format": exchange.FORMAT, "version": exchange.VERSION}).encode() + b"\n"


def bomb(file: Path, before: bytes, letter: bytes, count: int) -> None:
    """`before`, then `count` MiB of a letter."""
    with gzip.open(file, "wb", compresslevel=1) as stream:
        stream.write(before)
        for _ in range(count):
            stream.write(letter * (1 << 20))


@pytest.mark.parametrize("before", [b"", HEADER, HEADER + b'{"record":"'])
@pytest.mark.parametrize("letter", [b" ", b"[", b"9"])
def test_a_line_without_end_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes, letter: bytes
) -> None:
    monkeypatch.setattr(exchange, "LONGEST_LINE", 1 << 20)
    file = tmp_path / "bomb.jsonl.gz"
    bomb(file, before, letter, 64)
    with Database.open(":memory:") as database:
        tracemalloc.start()
        try:
            with pytest.raises(RecordsError, match="cannot import") as caught:
                database.import_(file)
            assert tracemalloc.get_traced_memory()[1] < 16 << 20
        finally:
            tracemalloc.stop()
    assert str(file) in str(caught.value) and len(str(caught.value)) < LONGEST_ERROR


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_an_export_is_a_file(tmp_path: Path, suffix: str) -> None:
    fifo, device, folder = (tmp_path / f"{n}{suffix}" for n in ("fifo", "device", "folder"))
    os.mkfifo(fifo)
    device.symlink_to("/dev/zero")
    folder.mkdir()
    with Database.open(":memory:") as database:
        for file in (fifo, device, folder):
            with pytest.raises(RecordsError, match="is no regular file"):
                database.import_(file)


BIG = [
    10**30,
    -(10**30),
    1e308 * 10,
    float("nan"),
    True,
    None,
    [],
    {},
    "",
    "\ud800",
    [[1]],
    "x" * 999,
]


def test_a_line_may_have_any_value_in_any_field(file: Path, tmp_path: Path) -> None:
    export = tmp_path / "e.jsonl"
    with Database.open(file, readonly=True) as database:
        database.export(export)
    lines = [json.loads(line) for line in export.read_text().splitlines()]
    number = 0
    with Database.open(":memory:") as target:
        target.import_(export)
        for index, line in enumerate(lines[1:], 1):
            for field in line:
                changed = [*lines[:index], {**line, field: BIG[number % len(BIG)]}]
                number += 1
                export.write_text("".join(json.dumps(x) + "\n" for x in changed))
                try:
                    target.import_(export)
                except RecordsError as error:
                    assert str(export) in str(error) and len(str(error)) < LONGEST_ERROR
        read_everything(target)

"""Broken files, full disks, missing rights and absent servers: named, and nothing lost."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import func, select

from tilewright.contract.gene import Gene
from tilewright.ground.errors import RecordsError
from tilewright.records import Database, Trial
from tilewright.testing.databases import MACHINE, WORKLOAD, trial

NOBODY = 65534


def filled(file: Path, count: int = 400) -> Path:
    """A closed database with some trials."""
    with Database.open(file) as database:
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        database.add_trials([trial(number) for number in range(count)])
    return file


def big_batches(size: int = 10) -> Iterator[list[Trial]]:
    """Batches of trials with producers of some kilobytes, without end."""
    number = 0
    while True:
        yield [trial(n, gene=Gene(f'["{"x" * 8000}{n}"]')) for n in range(number, number + size)]
        number += size


@contextmanager
def unprivileged() -> Iterator[Path]:
    """A new directory, and rights to read but not to write it (root may write anything)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    user = os.geteuid()
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        shutil.rmtree(folder)


def drop_rights(folder: Path) -> None:
    """Make a folder and its files read-only and become a user whom that binds."""
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(NOBODY)


def test_a_read_only_file_is_refused_for_writing_and_read_all_the_same() -> None:
    with unprivileged() as folder:
        file = filled(folder / "records.db")
        drop_rights(folder)
        with pytest.raises(RecordsError, match=r"records\.db: it cannot be written: give the file"):
            Database.open(file)
        with Database.open(file, readonly=True) as database:
            assert database.summary().trials == 400
        with pytest.raises(RecordsError, match=r"new\.db: the file cannot be opened: check"):
            Database.open(folder / "new.db")


def test_a_read_only_file_in_a_writable_directory_is_read() -> None:
    with unprivileged() as folder:
        file = filled(folder / "records.db")
        file.chmod(0o444)
        folder.chmod(0o777)
        if os.geteuid() == 0:
            os.seteuid(NOBODY)
        with Database.open(file, readonly=True) as database:
            assert database.summary().trials == 400
        with pytest.raises(RecordsError, match=r"records\.db: it cannot be written"):
            Database.open(file)


def test_a_reader_follows_a_writer(tmp_path: Path) -> None:
    file = filled(tmp_path / "records.db", count=1)
    with Database.open(file) as writer, Database.open(file, readonly=True) as reader:
        assert list(reader.trials()) == [trial(0)]
        writer.add_trials([trial(1)])
        assert list(reader.trials()) == [trial(0), trial(1)]


def test_a_copy_of_the_file_is_whole_after_a_checkpoint(tmp_path: Path) -> None:
    """Without it SQLite keeps rows beside the file until the last process closes it."""
    with Database.open(tmp_path / "records.db") as database:
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        database.add_trials([trial(i) for i in range(3)])
        database.checkpoint()
        shutil.copy(tmp_path / "records.db", tmp_path / "copy.db")
        with Database.open(tmp_path / "copy.db", readonly=True) as copy:
            assert copy.summary().trials == 3
            copy.checkpoint()  # nothing to do


def test_a_full_disk_keeps_what_was_committed(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a small disk")
    try:
        database = Database.open(disk / "records.db")
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        written = 0
        with pytest.raises(RecordsError, match=r"records\.db: the disk is full\. Everything comm"):
            for batch in big_batches():
                database.add_trials(batch)
                written += len(batch)
        assert written > 0 and len(list(database.trials())) == written
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        assert None not in database.add_trials([trial(10**6)])
        database.close()
        with Database.open(disk / "records.db") as reopened:
            assert len(list(reopened.trials())) == written + 1
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_file_size_limit_keeps_what_was_committed(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "records.db")
    database.add_machine(MACHINE)
    database.add_workload(WORKLOAD)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    written = 0
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, hard))
        with pytest.raises(RecordsError, match=r"(disk is full|refused to read or write)\. Every"):
            for batch in big_batches():
                database.add_trials(batch)
                written += len(batch)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert written > 0 and len(list(database.trials())) == written
    database.add_trials([trial(10**6)])
    database.close()
    with Database.open(tmp_path / "records.db") as reopened:
        assert len(list(reopened.trials())) == written + 1


def test_a_corrupt_page_is_named(tmp_path: Path) -> None:
    file = filled(tmp_path / "records.db")
    content = bytearray(file.read_bytes())
    for page in range(16384, len(content), 16384):
        content[page : page + 2000] = b"\xa5" * 2000
    file.write_bytes(content)
    with pytest.raises(RecordsError, match=r"records\.db: the file is corrupt: move it away"):
        Database.open(file).summary()


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    file = filled(tmp_path / "records.db")
    file.write_bytes(file.read_bytes()[:40_000])
    with pytest.raises(RecordsError, match=r"records\.db: the file is corrupt"):
        list(Database.open(file).trials())


def test_something_else_is_not_taken_for_a_database(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("what I wanted to tune\n" * 100)
    with pytest.raises(RecordsError, match=r"notes\.txt: the file is not a SQLite database: name"):
        Database.open(text)
    assert text.read_text().startswith("what I wanted")
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    before = other.read_bytes()
    with pytest.raises(RecordsError, match=r"belongs to another program \(its tables: songs\)"):
        Database.open(other)
    assert other.read_bytes() == before
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE tilewright_meta (key TEXT, value TEXT)")
        connection.execute("INSERT INTO tilewright_meta VALUES ('schema_version', 'old')")
        connection.commit()
    with pytest.raises(RecordsError, match="belongs to another program"):
        Database.open(other)


def test_wrong_names_are_explained(tmp_path: Path) -> None:
    with pytest.raises(RecordsError, match=r"directory .*missing does not exist: create it"):
        Database.open(tmp_path / "missing" / "records.db")
    with pytest.raises(RecordsError, match="is a directory: name a file in it"):
        Database.open(tmp_path)
    with pytest.raises(RecordsError, match=r"absent\.db does not exist: tune into it first"):
        Database.open(tmp_path / "absent.db", create=False)
    with pytest.raises(RecordsError, match="unknown URL scheme 'mysql': name a SQLite file, or"):
        Database.open("mysql://user@host/records")
    with pytest.raises(RecordsError, match="URL cannot be read"):
        Database.open("postgresql://host:notaport/records")
    assert list(tmp_path.iterdir()) == []


def test_odd_file_names_are_only_names(tmp_path: Path) -> None:
    file = filled(tmp_path / "a b?mode=ro#100%&.db", count=1)
    assert file.exists()
    with Database.open(f"sqlite:///{tmp_path / 'plain.db'}") as database:
        assert database.name == str(tmp_path / "plain.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name, "plain.db"]


def test_a_file_deleted_in_use_is_noticed(tmp_path: Path) -> None:
    file = filled(tmp_path / "records.db", count=1)
    with Database.open(file) as database:
        file.unlink()
        with pytest.raises(RecordsError, match="was deleted or moved while in use: put it back"):
            database.add_trials([trial(2)])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"latencies_s": ()}, "neither a latency nor an error"),
        ({"latencies_s": (0.0,)}, r"latency 0\.0 s is not a positive"),
        ({"latencies_s": (float("nan"),)}, "latency nan s is not"),
        ({"confirmed_s": (float("inf"),)}, r"confirmation of trial .*: latency inf"),
        ({"predicted": float("nan")}, "not finite"),
        ({"build_s": float("inf")}, "not finite"),
        ({"seed": -1}, "seed -1"),
        ({"seed": 2**63}, "must be from 0 to"),
    ],
)
def test_a_trial_that_cannot_be_stored_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(RecordsError, match=message):
        trial(1, **changes)


def test_an_absent_server_is_named_without_the_password() -> None:
    with pytest.raises(RecordsError, match=r"no connection\. Everything") as caught:
        Database.open("postgresql://me:secret@127.0.0.1:1/records")
    assert "secret" not in str(caught.value) and "127.0.0.1:1" in str(caught.value)


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(RecordsError, match=r"pip install 'tilewright\[postgresql\]'"):
        Database.open("postgresql://me@127.0.0.1:1/records")


def test_wrong_server_names_are_explained(postgresql: str) -> None:
    with pytest.raises(RecordsError, match=r'no connection\. .*database "nowhere" does not exist'):
        Database.open(postgresql.replace("/postgres?", "/nowhere?"))
    with pytest.raises(RecordsError, match=r'user, password.*role "stranger" does not exist'):
        Database.open(postgresql.replace("postgres@", "stranger@"))


def test_a_lost_connection_loses_one_batch(postgresql: str) -> None:
    with Database.open(postgresql) as database, Database.open(postgresql) as other:
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        database.add_trials([trial(1)])
        with (
            pytest.raises(RecordsError, match=r"Everything committed before is kept"),
            database._store.write() as connection,
        ):
            backend = connection.execute(select(func.pg_backend_pid())).scalar_one()
            with other._store.read() as killer:
                killer.execute(select(func.pg_terminate_backend(backend)))
            connection.execute(select(1))
        database.add_trials([trial(2)])  # connects anew
        assert list(database.trials()) == [trial(1), trial(2)]


def test_a_user_without_rights_is_told(postgresql: str) -> None:
    with Database.open(postgresql) as database, database._store.write() as connection:
        name = connection.execute(select(func.current_schema())).scalar_one()
        role = name.replace("test", "role")
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
        connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {name} TO {role}")
    try:
        with pytest.raises(RecordsError, match="permission denied: grant this user"):
            Database.open(postgresql.replace("postgres@", f"{role}@"))
    finally:
        with Database.open(postgresql) as database, database._store.write() as connection:
            connection.exec_driver_sql(f"DROP OWNED BY {role}")
            connection.exec_driver_sql(f"DROP ROLE {role}")

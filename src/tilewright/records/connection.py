"""From a path or URL to a checked connection, with one way to read and one way to write.

    store = connect("tuning.db", create=True, readonly=False, timeout_s=30.0)
    with store.write() as connection: ...      # one transaction, the only writer

Writers are serialised on both databases: SQLite by BEGIN IMMEDIATE, PostgreSQL by an advisory
lock. So row numbers are committed in order (a reader that asks for rows after the last one it saw
misses none), and two writers of the same rows cannot deadlock.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, func, inspect, select, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool, StaticPool

from tilewright.ground.errors import RecordsError
from tilewright.ground.files import database_files
from tilewright.records.faults import faults_named, sqlite_error_name
from tilewright.records.schema import foreign
from tilewright.records.tables import LONGEST_ROW, SCHEMA_KEY, SCHEMA_VERSION, meta, metadata

WRITER_LOCK = 0x74696C65  # any constant that all writers of a PostgreSQL database share
CONNECT_TIMEOUT_S = 10
PAGE_BYTES = 16384  # a producer takes some kilobytes: small pages would stay half empty
# Instructions of SQLite's machine, of which it does about 10⁸ a second. A row takes some tens in
# each of our queries, and some hundred bytes.
WORK_AT_ONCE, LEAST_WORK, WORK_PER_BYTE, WORK_PER_LINE = 10**6, 10**7, 5, 1000
READERS = dict.fromkeys("123", "Tilewright 0.1.0")
"""The versions that read schemas of the past."""
WAY_OUT = "name a SQLite file, or a URL like postgresql://user@host/database"


@dataclass(frozen=True, slots=True)
class RecordStore:
    """An open database: `name` is what errors call it (without a password)."""

    engine: Engine
    name: str
    readonly: bool
    timeout_s: float
    path: Path | None

    @property
    def dialect(self) -> str:
        """SQLAlchemy's name of the kind of database: "sqlite" or "postgresql"."""
        return self.engine.dialect.name

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent view; never waits for a writer."""
        with faults_named(self.name), self.engine.connect() as connection:
            if self.dialect == "postgresql":  # where each statement would see its own moment
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction as the only writer; committed if the block ends well, else undone.

        Raises RecordsError when opened read-only, when the file has gone, or when another writer
        holds the lock for longer than `timeout_s`.
        """
        if self.readonly:
            raise RecordsError(
                f"records database {self.name}: it was opened read-only: open it with "
                "readonly=False to write"
            )
        if self.path is not None and not self.path.exists():
            raise RecordsError(
                f"records database {self.name}: the file was deleted or moved while in use: put "
                "it back, or run the command again to start a new one"
            )
        writer = self.engine.execution_options(sqlite_begin="BEGIN IMMEDIATE")
        with faults_named(self.name), writer.begin() as connection:
            if self.dialect == "postgresql":
                milliseconds = f"{round(self.timeout_s * 1000)}ms"
                connection.execute(select(func.set_config("lock_timeout", milliseconds, True)))
                connection.execute(select(func.pg_advisory_xact_lock(WRITER_LOCK)))
            yield connection

    def give_back(self) -> None:
        """Make the file as small as what it holds; a server does that by itself."""
        if self.dialect == "sqlite":
            self._alone("VACUUM")

    def checkpoint(self) -> None:
        """Bring what SQLite's log holds into the file, as far as no reader still needs the log."""
        if self.path is not None and not self.readonly:
            self._alone("PRAGMA wal_checkpoint(PASSIVE)")

    def _alone(self, statement: str) -> None:
        """Run a statement of SQLite's that is in no transaction."""
        engine = self.engine.execution_options(sqlite_begin="")
        with faults_named(self.name), engine.connect() as connection:
            connection.exec_driver_sql(statement)


def connect(target: str | Path, *, create: bool, readonly: bool, timeout_s: float) -> RecordStore:
    """Open a SQLite file (path, sqlite:// URL, ":memory:") or a PostgreSQL URL.

    With `create` an absent file or an empty database gets the schema. Raises RecordsError, naming
    the database and the way out, for what is no database of this version's.
    """
    url = _url(target)
    name = url.database if url.drivername == "sqlite" else url.render_as_string(hide_password=True)
    create = create and not readonly
    if url.drivername == "sqlite":
        store = _sqlite(str(name), create, readonly, timeout_s)
    else:
        store = _postgresql(url, str(name), readonly, timeout_s)
    try:
        return _checked(store, create)
    except BaseException:
        store.engine.dispose()
        raise


def _url(target: str | Path) -> URL:
    text = str(target)
    if isinstance(target, Path) or "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise RecordsError(f"records database URL cannot be read ({error}): {WAY_OUT}") from error
    match url.get_backend_name():
        case "sqlite":
            return URL.create("sqlite", database=url.database or ":memory:")
        case "postgresql" | "postgres":
            return url.set(drivername="postgresql+psycopg")
        case scheme:
            raise RecordsError(f"records database: unknown URL scheme {scheme!r}: {WAY_OUT}")


def _sqlite(name: str, create: bool, readonly: bool, timeout_s: float) -> RecordStore:
    memory = name == ":memory:"
    path = None if memory else Path(name)
    if path is not None:
        _check_path(path, create)

    def open_file() -> sqlite3.Connection:
        mode = "ro" if readonly else ("rwc" if create else "rw")
        # A WAL database in a directory that cannot be written has no place for its shared
        # memory; without a log beside it nobody is writing, and the file can be read as it is.
        still = readonly and path is not None and not _writable(path.parent)
        still = still and not Path(f"{name}-wal").exists()
        uri = f"file:{quote(os.fsencode(name))}?mode={mode}{'&immutable=1' if still else ''}"
        return sqlite3.connect(
            ":memory:" if memory else uri,
            uri=not memory,
            timeout=timeout_s,
            isolation_level=None,  # transactions are begun by `_begin` below
            check_same_thread=False,
        )

    pool = StaticPool if memory else QueuePool
    engine = create_engine("sqlite://", creator=open_file, poolclass=pool)
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "before_cursor_execute", partial(_bound_work, path))
    return RecordStore(engine, name, readonly, timeout_s, path)


def _check_path(path: Path, create: bool) -> None:
    if "\0" in str(path):
        raise RecordsError(f"records database {str(path)!r}: no file has such a name")
    if path.is_dir():
        raise RecordsError(f"records database {path} is a directory: name a file in it")
    for part in database_files(path):
        if part.exists() and not part.is_file():  # which may have no end, or nobody at its other
            raise RecordsError(
                f"records database {path}: {part} is no regular file: name another file"
            )
    if not path.parent.is_dir():
        raise RecordsError(
            f"records database {path}: the directory {path.parent} does not exist: create it, or "
            "name another file"
        )
    if not create and not path.exists():
        raise RecordsError(
            f"records database {path} does not exist: tune into it first, or correct the name"
        )


def _writable(folder: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    return os.access(folder, os.W_OK, effective_ids=effective)


def _configure(connection: Any, _record: object) -> None:
    """Set what SQLite keeps per connection: first that a file may be anybody's.

    A killed process loses nothing under NORMAL. The size is that of a new file's pages.
    """
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_ROW)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")


def _begin(connection: Connection) -> None:
    statement = connection.get_execution_options().get("sqlite_begin", "BEGIN")
    if statement:
        connection.exec_driver_sql(statement)


def _bound_work(
    path: Path | None,
    _: Connection,
    cursor: sqlite3.Cursor,
    _statement: str,
    parameters: Sequence[Any],
    *_more: object,
) -> None:
    """Let one statement do only as much as a sound file of that size can need.

    A tree whose pages name one child again and again has rows without end. What SQLite calls every
    so often is an iterator, no Python code, in which Ctrl-C would arrive and be lost.
    """
    connection = cursor.connection
    if path is None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        size = pages * PAGE_BYTES
    else:
        size = sum(part.stat().st_size for part in database_files(path)[:2] if part.exists())
    work = LEAST_WORK + WORK_PER_BYTE * size + WORK_PER_LINE * len(parameters or ())
    turns = work // WORK_AT_ONCE
    connection.set_progress_handler(chain(repeat(0, turns), repeat(1)).__next__, WORK_AT_ONCE)


def _postgresql(url: URL, name: str, readonly: bool, timeout_s: float) -> RecordStore:
    try:
        engine = create_engine(
            url,
            pool_pre_ping=True,
            connect_args={"connect_timeout": CONNECT_TIMEOUT_S, "client_encoding": "utf8"},
            execution_options={"postgresql_readonly": True} if readonly else {},
        )
    except ModuleNotFoundError as error:
        raise RecordsError(
            f"records database {name} needs psycopg: pip install 'tilewright[postgresql]'"
        ) from error
    return RecordStore(engine, name, readonly, timeout_s, None)


def _checked(store: RecordStore, create: bool) -> RecordStore:
    """Find the schema and its version, or create it; a writable database must really be so."""
    with store.read() as connection:
        found = _schema_version(connection, store)
    if found is None and not create:
        raise RecordsError(
            f"records database {store.name} is empty: tune into it or import records first"
        )
    if store.readonly:
        return store
    if store.path is not None:
        _use_write_ahead_log(store)
    version = {"key": SCHEMA_KEY, "value": str(SCHEMA_VERSION)}
    with store.write() as connection:
        found = _schema_version(connection, store)  # another process may have been here meanwhile
        if found is None:
            metadata.create_all(connection)
            connection.execute(meta.insert(), version)
        # Only a write shows that we may write: now rather than after minutes of tuning.
        connection.execute(update(meta).where(meta.c.key == SCHEMA_KEY).values(version))
    return store


def _schema_version(connection: Connection, store: RecordStore) -> int | None:
    """The version found; None in an empty database; RecordsError if it is not one of ours."""
    tables = inspect(connection).get_table_names()
    is_file = store.dialect == "sqlite"
    part = foreign(connection) if is_file else None
    if not tables and part is None:
        return None
    text = None
    if meta.name in tables and not (is_file and foreign(connection, meta.name)):
        query = select(meta.c.value).where(meta.c.key == SCHEMA_KEY)
        text = connection.execute(query).scalar_one_or_none()
    if text is not None and text.isdecimal() and text != str(SCHEMA_VERSION):
        reader = READERS.get(text, "the Tilewright that wrote it (or a newer one)")
        raise RecordsError(
            f"records database {store.name} has schema {text}, this Tilewright reads schema "
            f"{SCHEMA_VERSION}: use {reader} to `export` it, then import that, or name another "
            "database"
        )
    if part is not None and (meta.name in tables or not tables):
        raise RecordsError(
            f"records database {store.name} belongs to another program, or was changed by one (it "
            f"has {part}): name another file, or import an export into a new one"
        )
    if text is None or not text.isdecimal():
        raise RecordsError(
            f"records database {store.name} belongs to another program (its tables: "
            f"{', '.join(sorted(tables)[:5])}): name an empty or new one"
        )
    return int(text)


def _use_write_ahead_log(store: RecordStore) -> None:
    """Let readers and a writer work at once. The mode is a lasting property of the file.

    The switch needs the file alone and SQLite does not wait for that, so two processes that
    create one database at once retry here. Some network file systems have no such log: there the
    file keeps its rollback journal, which is as safe, and readers wait for writers.
    """
    deadline = time.monotonic() + store.timeout_s
    engine = store.engine.execution_options(sqlite_begin="")
    with faults_named(store.name):
        while True:
            try:
                with engine.connect() as connection:
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                return
            except DBAPIError as error:
                busy = sqlite_error_name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
                if not busy or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

"""Database failures, told so that a user knows what broke and what to do.

    sqlite3.OperationalError: attempt to write a readonly database
    -> RecordsError: tuning.db cannot be written: give it and its directory write permission, …

SQLite names its errors (`sqlite_errorname`), PostgreSQL numbers them (`sqlstate`); the tables below
map the beginning of either to a cause and a way out, the first match counting. A server that was
not reached, or refused the user, gives no number, but says why in words, which are passed on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from tilewright.ground.errors import RecordsError
from tilewright.ground.process_limits import shortage
from tilewright.ground.text import one_line


class BadCellError(RecordsError):
    """What a database holds is none of what is ever written: `faults_named` says in which."""


SHOWN = 300  # characters of what a cell is said to hold
KEPT = "Everything committed before is kept"

SQLITE_FAULTS: tuple[tuple[str, str], ...] = (
    ("SQLITE_FULL", f"the disk is full. {KEPT}: free some space, then run the same command again"),
    (
        "SQLITE_READONLY",
        "it cannot be written: give the file and its directory write permission, or name another",
    ),
    (
        "SQLITE_CORRUPT",
        "the file is corrupt: move it away and import the last export, or salvage it with "
        "`sqlite3 FILE .recover | sqlite3 NEWFILE`",
    ),
    (
        "SQLITE_TOOBIG",
        "it has a row or a text that is larger than any of ours: move it away and import the last "
        "export",
    ),
    (
        "SQLITE_INTERRUPT",
        "the file is corrupt, what it holds has no end: move it away and import the last export",
    ),
    ("SQLITE_NOTADB", "the file is not a SQLite database: name another file"),
    (
        "SQLITE_CANTOPEN",
        "the file cannot be opened: check that its directory exists and may be read and written",
    ),
    (
        "SQLITE_BUSY",
        "another process holds the write lock: wait for it or stop it, then run the same "
        "command again",
    ),
    (
        "SQLITE_IOERR",
        f"the file system refused to read or write. {KEPT}: check the disk, its quota and the "
        "limit on file sizes, then run the same command again",
    ),
)

POSTGRESQL_FAULTS: tuple[tuple[str, str], ...] = (
    ("53100", f"the server's disk is full. {KEPT}: free some space, then run the same command"),
    ("25006", "the server or this connection is read-only: name a writable database"),
    ("42501", "permission denied: grant this user CREATE on the schema and write on its tables"),
    (
        "55P03",
        "another process holds the write lock: wait for it or stop it, then run the same "
        "command again",
    ),
    ("XX001", "the server reports a corrupt table: restore it, or import the last export"),
    ("XX002", "the server reports a corrupt index: REINDEX it"),
    ("57P", f"the server is going down or starting up. {KEPT}: run the same command again later"),
    ("08", f"the connection was lost. {KEPT}: check the server, then run the same command again"),
    (
        "",
        f"no connection. {KEPT}: check that the server runs and that the user, password, host, "
        "port and database of the URL are right",
    ),
)


@contextmanager
def faults_named(database: str) -> Iterator[None]:
    """Turn every SQLAlchemy error inside the block into a RecordsError that names `database`."""
    try:
        yield
    except BadCellError as error:
        raise RecordsError(
            f"records database {database} holds what Tilewright never writes "
            f"({one_line(error, SHOWN)}): move it away and import the last export"
        ) from error
    except (OverflowError, UnicodeEncodeError) as error:  # of a value on its way in
        raise RecordsError(f"records database {database} cannot hold a value: {error}") from error
    except DBAPIError as error:
        raise RecordsError(f"records database {database}: {_cause(error)}") from error
    except PoolTimeout as error:
        raise RecordsError(
            f"records database {database}: too many threads use it at once: use one Database a "
            "thread"
        ) from error
    except SQLAlchemyError as error:
        raise RecordsError(f"records database {database}: {error}") from error


def sqlite_error_name(error: DBAPIError) -> str:
    """SQLite's name of the error ("SQLITE_BUSY"); empty for another database's."""
    return getattr(error.orig, "sqlite_errorname", None) or ""


def _cause(error: DBAPIError) -> str:
    original = " ".join(str(error.orig).split())
    advice: str | None = None
    if name := sqlite_error_name(error):
        advice = next((text for key, text in SQLITE_FAULTS if name.startswith(key)), None)
    elif hasattr(error.orig, "sqlstate"):
        state = getattr(error.orig, "sqlstate", None) or ""
        advice = next((text for key, text in POSTGRESQL_FAULTS if _matches(state, key)), None)
    limit = shortage(_symptom(name))
    return f"{advice} ({original}){limit}" if advice else original


def _symptom(name: str) -> str:
    """What the system says of files now, where SQLite tells only that it failed at one."""
    if name.startswith("SQLITE_IOERR"):
        return "file too large"
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
        return ""
    except OSError as error:
        return str(error)


def _matches(state: str, key: str) -> bool:
    """The empty key stands for failures without a state: the server never answered."""
    return state.startswith(key) if key else not state

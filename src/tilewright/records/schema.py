"""That a SQLite file has the tables of records and nothing else, before anything is asked of it.

    foreign(connection)  ->  "view trials"           None: every part is one that we make

A database is a program: a table may be a view without end, columns and indexes may be computed,
triggers run at every write. So each part of the file's schema must be one that `tables.py` makes,
or SQLite by itself. What is compared is the text of each column and constraint, so that checks,
defaults and collations count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from tilewright.ground.text import one_line
from tilewright.records.tables import metadata

OWN_TABLES = {  # SQLite's, which it makes by itself or for ANALYZE
    "sqlite_sequence": ("name", "seq"),
    "sqlite_stat1": ("tbl", "idx", "stat"),
    "sqlite_stat4": ("tbl", "idx", "neq", "nlt", "ndlt", "sample"),
}
QUOTED = re.compile(r'"([a-z_]\w*)"')
TABLE = re.compile(r"create table (\w+)\((.*)\)")


def foreign(connection: Connection, of: str | None = None) -> str | None:
    """The first part of the schema (`of` one table) that is none of ours, as users know it."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master"
    for kind, name, table, text in connection.exec_driver_sql(query):
        if of is not None and of not in (name, table):
            continue
        if (part := _foreign_part(kind, name, table, text)) is not None:
            return one_line(part, 100)
    return None


def _foreign_part(kind: Any, name: Any, table: Any, text: Any) -> str | None:
    tables, indexes = _known()
    whole = f"{kind} {name}"
    if kind == "index" and text is None:  # of a key or a constraint
        return None if table in tables else whole
    if kind == "index":
        return None if _plain(str(text)) in indexes else whole
    found = TABLE.fullmatch(_plain(str(text)))
    if kind != "table" or name not in tables or not found or found[1] != name:
        return whole
    others = [part for part in _parts(found[2]) if part not in tables[name]]
    return f"{others[0]} in {whole}" if others else None


@cache
def _known() -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """What each table may have, and all indexes, as plain text."""
    tables: dict[str, frozenset[str]] = {}
    indexes = []
    dialect = sqlite.dialect()
    for name, table in metadata.tables.items():
        made = TABLE.fullmatch(_plain(str(CreateTable(table).compile(dialect=dialect))))
        assert made is not None
        tables[name] = frozenset(_parts(made[2]))
        indexes += [_plain(str(CreateIndex(i).compile(dialect=dialect))) for i in table.indexes]
    for name, parts in OWN_TABLES.items():
        tables[name] = frozenset(map(_plain, parts))
    return tables, frozenset(indexes)


def _plain(text: str) -> str:
    """SQL with the least spaces, in small letters, names without quotes."""
    text = QUOTED.sub(r"\1", " ".join(text.lower().split()))
    return re.sub(r" ?([(),]) ?", r"\1", text)


def _parts(text: str) -> Iterator[str]:
    """What commas separate outside parentheses."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]

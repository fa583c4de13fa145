"""Databases for the tests: each conformance test runs on every backend.

SQLite always; PostgreSQL where TILEWRIGHT_TEST_POSTGRESQL holds a server's URL.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tilewright.records import Database
from tilewright.testing.databases import MACHINE, WORKLOAD


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty database can be opened."""
    if request.param == "sqlite":
        return str(tmp_path / "records.db")
    url: str = request.getfixturevalue("postgresql")
    return url


@pytest.fixture
def db(target: str) -> Iterator[Database]:
    """An open database that knows MACHINE and WORKLOAD."""
    with Database.open(target) as database:
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        yield database

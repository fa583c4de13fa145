"""Databases for the tests: each conformance test runs on every backend.

SQLite always; PostgreSQL where TILEWRIGHT_TEST_POSTGRESQL holds a server's URL (each test gets a
schema of its own there, dropped at the end).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from record_samples import MACHINE, WORKLOAD
from sqlalchemy import create_engine, text

from tilewright.records import Database

SERVER = os.environ.get("TILEWRIGHT_TEST_POSTGRESQL", "")


@pytest.fixture
def postgresql() -> Iterator[str]:
    """URL of an empty schema on the test server."""
    if not SERVER:
        pytest.skip("TILEWRIGHT_TEST_POSTGRESQL names no server")
    schema = f"test_{uuid.uuid4().hex}"
    engine = create_engine(SERVER, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield f"{SERVER}{'&' if '?' in SERVER else '?'}options=-csearch_path%3D{schema}"
    with engine.connect() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


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

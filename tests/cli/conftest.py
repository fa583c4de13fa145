"""A small model, and a database that `tilewright tune` made of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import Result

from cli_models import TRIALS, cli, save_classifier


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="session")
def model(folder: Path) -> Path:
    return save_classifier(folder / "classifier.onnx")


@pytest.fixture(scope="session")
def tuned(folder: Path, model: Path) -> tuple[Path, Result]:
    """A database made by `tilewright tune`, and what that printed."""
    db = folder / "tuning.db"
    return db, cli("tune", model, "--trials", TRIALS, "--db", db)

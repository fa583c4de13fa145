"""Records of another machine: used where nothing better is known, and never silently."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import tilewright as tw
from cli_models import cli, save_classifier
from tilewright.front.machine import host_target, machine_of
from tilewright.records.database import Database
from tilewright.records.machine import Machine

pytestmark = pytest.mark.cpu

TRIALS = 3
NOTE = "no record of this machine; using one of another (cpu znver9 instead of"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classifier(tmp_path_factory.mktemp("foreign") / "classifier.onnx")


@pytest.fixture(scope="module")
def archive(model: Path) -> Path:
    """What `tilewright export` wrote on a machine with another CPU."""
    db, file = model.with_name("there.db"), model.with_name("records.jsonl")
    assert cli("tune", model, "--trials", TRIALS, "--db", db).exit_code == 0
    assert cli("export", file, "--db", db).exit_code == 0
    here = machine_of(host_target())
    there = Machine.of(
        "cpu", cpu="znver9", features=here.features, cores=here.cores, compiler=here.compiler
    )
    moved = file.read_text().replace(here.fingerprint, there.fingerprint)
    assert json.dumps(here.cpu) in moved
    file.write_text(moved.replace(json.dumps(here.cpu), json.dumps("znver9")))
    return file


@pytest.fixture
def db(archive: Path, tmp_path: Path) -> Path:
    """A database of this machine that took the other's records."""
    assert "new trials" in cli("records", tmp_path / "here.db", "--import", archive).output
    return tmp_path / "here.db"


def test_compile_warns_or_tells_whoever_listens(model: Path, db: Path) -> None:
    loaded = tw.load(model)
    with pytest.warns(
        UserWarning, match="1 of 1 programs were recorded on another machine.*znver9"
    ):
        tw.compile(loaded, db=db)
    notes: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tw.compile(loaded, db=db, notes=notes.append)
        tw.compile(loaded)
    assert len(notes) == 1 and NOTE in notes[0]


@pytest.mark.parametrize(
    "command", [("compile",), ("bench", "--seconds", 0, "--no-peer"), ("run",)]
)
def test_every_command_that_uses_records_prints_the_note(
    model: Path, db: Path, command: tuple[object, ...]
) -> None:
    result = cli(command[0], model, "--db", db, *command[1:])
    assert result.exit_code == 0, result.output
    assert f"note: t0_matmul_add_relu_2x40: {NOTE}" in " ".join(result.output.split())


def test_tuning_measures_anew_and_then_nothing_is_foreign(model: Path, db: Path) -> None:
    assert cli("tune", model, "--trials", TRIALS, "--db", db).exit_code == 0
    mine = machine_of(host_target()).fingerprint
    with Database.open(db, readonly=True) as database:
        counts = {line.machine: line.trials for line in database.summary().coverage}
    assert counts[mine] == TRIALS + 1 and len(counts) == 2
    assert NOTE not in cli("compile", model, "--db", db).output

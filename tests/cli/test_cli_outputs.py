"""What a command writes: nothing that is needed is replaced, and the file comes before the text."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from typer.testing import Result

import tilewright as tw
from cli_models import check_error, cli, save_classifier
from devices import tools


@pytest.fixture
def external(tmp_path: Path) -> Path:
    """A model that keeps its weights in weights.so."""
    model = onnx.load(save_classifier(tmp_path / "plain.onnx"))
    file = tmp_path / "external.onnx"
    onnx.save(model, file, save_as_external_data=True, location="weights.so", size_threshold=0)
    return file


def test_compile_replaces_nothing_that_it_reads(model: Path, external: Path) -> None:
    folder = external.parent
    shutil.copy(model, folder / "net.so")
    shutil.copy(model, folder / "tuning.so")
    (folder / "link.so").symlink_to(external)
    before = {f: f.read_bytes() for f in folder.iterdir()}
    for source, out, reason in (
        (folder / "net.so", "net.so", "it is the model"),
        (external, "link.so", "it is the model"),
        (external, "weights.so", "it is weights of the model"),
    ):
        check_error(cli("compile", source, "-o", folder / out), f"cannot write {folder}", reason)
    db = folder / "tuning.so"
    check_error(cli("compile", external, "--db", db, "-o", db), "it is the database")
    assert {f: f.read_bytes() for f in folder.iterdir()} == before


def test_a_header_that_is_not_ours_stays(model: Path, tmp_path: Path) -> None:
    header = tmp_path / "main.h"
    header.write_text("int mine;\n")
    check_error(cli("compile", model, "-o", tmp_path / "main.so"), "would replace", "main.h")
    assert header.read_text() == "int mine;\n"


def test_names_that_do_not_fit_are_refused_before_the_work(tmp_path: Path) -> None:
    """The model is none: whoever reads it first says that."""
    model = tmp_path / "none.onnx"
    model.write_bytes(b"")
    check_error(cli("compile", model, "-o", tmp_path / "net"), "ends in .so")
    check_error(cli("report", model, "-o", tmp_path / "report.pdf"), "ends in .html")
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.cpu
def test_run_replaces_nothing_that_it_reads(model: Path, tmp_path: Path) -> None:
    x = tmp_path / "x.npy"
    np.save(x, np.ones((2, 24), np.float32))
    check_error(cli("run", model, "--input", f"x={x}", "--output", x), "it is an input")
    twice = ("--input", f"x={x}", "--input", f"x={x}")
    check_error(cli("run", model, *twice), "input x is given twice")
    check_error(cli("run", model, "--output", tmp_path / "y.txt"), "ends in .npz or .npy")
    assert np.load(x).shape == (2, 24)


@pytest.mark.cpu
def test_a_full_disk_leaves_no_outputs(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.lib.format.write_array", full)
    result = cli("run", model, "--output", tmp_path / "y.npz")
    check_error(result, "y.npz: No space left on device")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.cpu
def test_databases_are_not_replaced(tuned: tuple[Path, Result], tmp_path: Path) -> None:
    db = tmp_path / "copy.db"
    shutil.copy(tuned[0], db)
    before = db.read_bytes()
    check_error(cli("export", db, "--db", db), "it is the database")
    check_error(cli("export", db, "--db", tuned[0]), "it is a SQLite database")
    assert db.read_bytes() == before


@pytest.mark.cpu
def test_devices_and_links_stay(tuned: tuple[Path, Result], tmp_path: Path) -> None:
    link, page = tmp_path / "link.html", tmp_path / "page.html"
    link.symlink_to(page)
    assert cli("report", tuned[0], "-o", link).exit_code == 0
    assert link.is_symlink() and "classifier" in page.read_text(encoding="utf-8")
    for command in (("report", tuned[0], "-o"), ("export", "--db", tuned[0])):
        assert cli(*command, os.devnull).exit_code == 0
    assert Path(os.devnull).is_char_device()


@pytest.mark.cpu
@tools("gcc")
def test_files_are_written_before_text(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped_reading(*_: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("tilewright.cli.compile.print_plan", stopped_reading)
    monkeypatch.setattr("tilewright.cli.run.describe", stopped_reading)
    assert cli("compile", model, "-o", tmp_path / "net.so").exit_code == 1
    assert cli("run", model, "--output", tmp_path / "y.npz").exit_code == 1
    assert sorted(f.name for f in tmp_path.iterdir()) == ["net.h", "net.so", "y.npz"]


@pytest.mark.cpu
@tools("gcc")
def test_names_that_are_no_text(tuned: tuple[Path, Result], tmp_path: Path) -> None:
    """A file's name is bytes, which need not be UTF-8."""
    odd = os.fsdecode(b"\xff")
    model = save_classifier(tmp_path / f"net{odd}.onnx")
    db = tmp_path / f"t{odd}.db"
    shutil.copy(tuned[0], db)
    done = cli("compile", model, "--db", db, "-o", tmp_path / f"lib{odd}.so")
    assert done.exit_code == 0, done.output
    assert "1 call of 1 kernel" in done.output and "1 default" not in done.output
    assert (tmp_path / "_.h").is_file()
    page = cli("report", db, "-o", tmp_path / f"{odd}.html")
    assert page.exit_code == 0, page.output
    assert tw.load(model).name == "net?"  # as the records have it

"""Notes on a model's records: one sentence for all kernels of which the same is true."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tilewright as tw
from cli_models import cli, save_products
from tilewright.cli.compile import template_lines
from tilewright.front.inspection import plan_of
from tilewright.front.kernels import notes_of
from tilewright.ground import log
from tilewright.records.database import Database
from tilewright.records.matching import RecordMatch
from tilewright.search.tasks import TuningTask


def tasks(n: int) -> list[TuningTask]:
    a = tw.placeholder((2, 2), name="a")
    dag = tw.Task([a, tw.operators.relu(a)]).dag
    return [TuningTask(f"t{i}", dag) for i in range(n)]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (["", "", ""], []),
        (["x", "", ""], ["t0: x"]),
        (["x", "x", ""], ["2 of 3 kernels: x"]),
        (["x", "y", "x"], ["2 of 3 kernels: x", "t1: y"]),
        (["x", "x", "x"], ["3 of 3 kernels: x"]),
    ],
)
def test_equal_notes_are_one(found: Sequence[str], told: list[str]) -> None:
    assert notes_of(tasks(3), [RecordMatch(None, False, note) for note in found]) == told


@pytest.mark.cpu
def test_every_listener_hears_one_note(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    db = tmp_path / "none.db"
    with Database.open(db):
        pass
    model = save_products(tmp_path / "products.onnx")
    loaded = tw.load(model, chains=False)
    note = f"2 of 2 kernels: no record in {db}, so untuned (tune longer)"
    heard: list[str] = []
    with caplog.at_level(logging.WARNING, log.name):
        tw.compile(loaded, db=db, notes=heard.append)
    assert heard == [note] == caplog.messages
    assert plan_of(loaded, db).notes == (note,)
    for command in ("compile", "run", "bench"):
        words = ("--seconds", 0, "--no-peer") if command == "bench" else ()
        result = cli(command, model, "--no-chains", "--db", db, *words)
        assert result.exit_code == 0, result.output
        assert result.output.count("no record") == 1
        assert "extents" not in result.output


@pytest.mark.cpu
def test_a_linker_is_missed_before_anything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled(*_: object, **__: object) -> None:
        raise AssertionError("compiled for nothing")

    monkeypatch.setattr("tilewright.front.kernels.build_all", compiled)
    monkeypatch.setattr("shutil.which", lambda _: None)
    model = save_products(tmp_path / "products.onnx")
    for target in ((), ("--target", "cpu:cortex-a72")):
        result = cli("compile", model, *target, "-o", tmp_path / "x.so")
        assert result.exit_code == 1
        assert "needs a C compiler; not found" in result.stderr
    result = cli("compile", model, "--target", "cuda:h100", "-o", tmp_path / "x.so")
    assert "cuda:h100 is no CPU: libraries are saved for CPUs only" in result.stderr


def test_templates_that_are_not_installed_are_one_line() -> None:
    lacking = "nvidia-cutlass is not installed; pip install"
    names = [f"t{i}" for i in range(9)]
    plan: Any = SimpleNamespace(
        verdicts={f"apart ({lacking})": names, "apart (too large)": names[:5]},
        untemplated={lacking: names, "no product": names[:2]},
    )
    lines = list(template_lines(plan, lacking))
    assert lines == [
        "Back to back, apart (too large): t0, t1, t2, t3 and 1 more",
        "Contractions that no template computes (no product): t0, t1",
        f"Templates are not tried: {lacking}",
    ]
    (line,) = template_lines(SimpleNamespace(verdicts={"x": ["a"]}, untemplated={}), None)  # type: ignore[arg-type]
    assert line == "Back to back, x: a"

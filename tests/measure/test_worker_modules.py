"""Workers take modules from where their client has them, never from the current directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tilewright.measure.pools import RunnerClient
from tilewright.measure.workers import worker_environment

PLANTED = ("numpy", "random", "json", "llvmlite", "tilewright")


@pytest.mark.cpu
@pytest.mark.parametrize("path", [None, "", os.pathsep])
def test_nothing_beside_the_model_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str | None
) -> None:
    for name in PLANTED:
        (tmp_path / f"{name}.py").write_text(
            f"import pathlib; pathlib.Path({str(tmp_path)!r}, '{name}.ran').touch()\n"
        )
    monkeypatch.chdir(tmp_path)
    if path is None:
        monkeypatch.delenv("PYTHONPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONPATH", path)
    with RunnerClient() as runner:
        assert runner.facts["cores"] >= 1
    assert list(tmp_path.glob("*.ran")) == []


def test_named_folders_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = os.pathsep.join(["", "/there", "here", ""])
    found = worker_environment({"PYTHONPATH": given, "A": "1"})
    folders = found["PYTHONPATH"].split(os.pathsep)
    assert folders[:2] == ["/there", str(tmp_path / "here")]
    assert "" not in folders and str(tmp_path) not in folders
    assert found["A"] == "1"

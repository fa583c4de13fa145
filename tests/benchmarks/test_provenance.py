"""Where results come from: one commit and one machine a file, and a clean one where they stay."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.commit import UNKNOWN, Origin, commit, number_of, origins
from benchmarks.comparison import Results
from benchmarks.provenance import kept_file, result_file

from benchmarks import commit as checkout
from benchmarks import provenance


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository of two commits, with a place for results."""
    monkeypatch.setattr(checkout, "REPOSITORY", tmp_path)
    monkeypatch.setattr(provenance, "RESULTS", tmp_path / "benchmarks" / "results")
    number_of.cache_clear()
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    git(tmp_path, "init", "--quiet")
    keep(tmp_path, "code.py", "1")
    keep(tmp_path, "code.py", "2")
    yield tmp_path
    number_of.cache_clear()


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def keep(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    git(folder, "add", name)
    git(folder, "commit", "--quiet", "--no-verify", "-m", name)


@pytest.mark.parametrize("name", ["benchmarks/results/a.json", "docs/performance.md"])
def test_keeping_a_result_is_no_other_state_of_the_code(folder: Path, name: str) -> None:
    before = commit()
    keep(folder, name, "{}")
    assert commit() == before and number_of(before) == 2 and number_of("HEAD") == 3
    (folder / name).write_text("{ }")
    assert commit() == before
    keep(folder, "code.py", "3")
    assert commit() != before and number_of(commit()) == 4
    (folder / "code.py").write_text("4")
    assert commit().endswith("-dirty") and number_of(commit()) == 4


@pytest.mark.parametrize("of", [result_file, kept_file])
def test_a_result_that_stays_is_of_a_commit(folder: Path, of: Callable[[str], Path]) -> None:
    stays, elsewhere = folder / "benchmarks" / "results" / "new.json", folder / "new.json"
    assert of(str(stays)) == stays
    (folder / "code.py").write_text("3")
    with pytest.raises(argparse.ArgumentTypeError, match=r"code\.py differ from it: commit them"):
        of(str(stays))
    with pytest.raises(argparse.ArgumentTypeError, match=r"code\.py"):
        of(str(folder / "docs" / ".." / "benchmarks" / "results" / "new.json"))
    assert of(str(elsewhere)) == elsewhere


def test_without_git_results_go_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "REPOSITORY", tmp_path)
    monkeypatch.setattr(provenance, "RESULTS", tmp_path / "results")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit() == UNKNOWN
    with pytest.raises(argparse.ArgumentTypeError, match="there is no git here"):
        result_file(str(tmp_path / "results" / "new.json"))
    assert result_file(str(tmp_path / "new.json")).name == "new.json"


@pytest.mark.parametrize("place", ["benchmarks/results/a.json", "a.json"])
@pytest.mark.parametrize("at", ["head", "part", "deep"])
def test_a_file_is_of_one_commit(folder: Path, place: str, at: str) -> None:
    def content(name: str) -> dict[str, Any]:
        part = {"commit": name}
        whole = {"machine": "a CPU", **part}
        return {
            "head": whole,
            "part": {"provenance": whole, "cases": [part]},
            "deep": {"targets": {"any": {"net": {"task": whole}}}},
        }[at]

    file = folder / place
    file.write_text(json.dumps(content(commit())))
    assert kept_file(str(file)) == file
    keep(folder, "code.py", "3")
    with pytest.raises(argparse.ArgumentTypeError, match="holds results of commit"):
        kept_file(str(file))
    assert result_file(str(file)) == file  # which would be written anew
    file.unlink()
    assert kept_file(str(file)) == file


def test_cases_of_two_machines_are_not_compared(tmp_path: Path) -> None:
    results = Results(tmp_path / "a.json")
    here, there = ({"machine": name, "commit": "abc"} for name in ("here", "there"))
    results.begin(provenance=there)
    results.begin(machine={"threads": 2}, provenance=here)  # nothing is measured yet
    results.put({"case": "a", "ratio_best_peer": None, "commit": "abc"})
    results.begin(provenance=here)
    assert results.head == {"machine": {"threads": 2}, "provenance": here}
    with pytest.raises(ValueError, match="cases of here and this is there"):
        results.begin(provenance=there)


def test_origins_are_those_of_parts_or_of_the_whole() -> None:
    head = {"machine": "a CPU", "commit": "abc"}
    assert origins(head) == {Origin("a CPU", "abc"): 1} == origins({"provenance": head})
    cases = [{"commit": "def"}, {"commit": "def"}, {"commit": "abc", "machine": "another"}]
    assert origins({"provenance": head, "cases": cases}) == {
        Origin("a CPU", "def"): 2,
        Origin("another", "abc"): 1,
    }
    assert not origins({"cases": []})

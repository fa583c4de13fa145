"""Hostile and odd model files: each is loaded or refused, in bounded time and memory."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile_graphs
import hostile_models
import pytest
from hostile_models import LOADED, REFUSED, Case, Folder

import tilewright as tw

WORKER = Path(__file__).with_name("hostile_worker.py")
PACKAGE = str(Path(tw.__file__).resolve().parents[1])
GROUPS: dict[str, Callable[[Folder], None]] = {
    "damaged": hostile_models.damaged,
    "bombs": hostile_models.bombs,
    "large": hostile_models.large,
    "graphs": hostile_graphs.graphs,
    "types": hostile_graphs.types,
    "attributes": hostile_graphs.attributes,
    "outside": hostile_graphs.outside,
}
FEWEST = {"damaged": 90, "bombs": 35, "graphs": 50, "types": 25, "attributes": 70, "outside": 20}
LONGEST_LINE = 1000


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "group",
    [
        pytest.param(g, marks=pytest.mark.thorough if g in ("bombs", "large") else ())
        for g in GROUPS
    ],
)
def test_every_file_is_loaded_or_refused(group: str, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    GROUPS[group](folder)
    assert len(folder.cases) >= FEWEST.get(group, 5)
    before = contents(tmp_path)
    results = load_all(folder)
    problems = [p for case in folder.cases if (p := problem(case, results[case.file]))]
    assert not problems, "\n".join(problems)
    assert contents(tmp_path) == before


def load_all(folder: Folder) -> dict[str, dict[str, Any]]:
    """What the worker says of each case; fails with the file that ended it."""
    cases = [[case.file, case.only_import] for case in folder.cases]
    done = subprocess.run(
        [sys.executable, WORKER, folder.path],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        cwd=folder.path,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": PACKAGE},
    )
    lines = done.stdout.splitlines()
    assert not done.returncode, f"{lines[-1:]} ended with {done.returncode}\n{done.stderr[-2000:]}"
    return {file: json.loads(line) for file, line in zip(lines[::2], lines[1::2], strict=True)}


def problem(case: Case, result: dict[str, Any]) -> str:
    """What is wrong with the outcome of a case; "" if nothing is."""
    lines = result["says"].splitlines()
    if not result["ours"]:
        return f"{case.file}: {result['error']}: {result['says'][:300]}"
    if (case.outcome == LOADED and result["error"]) or (
        case.outcome == REFUSED and not result["error"]
    ):
        return f"{case.file}: not {case.outcome}, but {result}"
    if case.says not in result["says"]:
        return f"{case.file}: does not say {case.says!r}, but {result['says']}"
    if lines[1:] and "things are not supported" not in lines[0]:
        return f"{case.file}: more than one line: {result['says']}"
    if max(map(len, lines), default=0) > LONGEST_LINE:
        return f"{case.file}: a line of {max(map(len, lines))} characters"
    told = [w for w in result["warnings"] if not w.startswith("UserWarning")]
    return f"{case.file}: {told}" if told else ""


def contents(folder: Path) -> dict[str, str]:
    """What is in a folder: for each name its kind, and for files what they hold."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        small = stat.S_ISREG(status.st_mode) and status.st_size < 1 << 24
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if small else ""
        found[str(path)] = f"{stat.filemode(status.st_mode)} {status.st_size} {digest}"
    return found

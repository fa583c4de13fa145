"""Kernels of a model, compiled in several processes: the same artifacts, errors and cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tilewright.build import default_gene
from tilewright.contract.gene import Gene
from tilewright.contract.surroundings import Setting
from tilewright.front import kernels
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.trace import gene_of
from tilewright.search.tasks import TuningTask
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import OPERATORS

TARGET = Target.parse("cpu:cortex-a72")
TASKS = [
    TuningTask(name, dag(), setting=Setting(i % 2))
    for i, (name, dag) in enumerate(OPERATORS.items())
]
GENES: list[Gene | None] = [None, None, *[gene_of(())] * (len(TASKS) - 2)]
"""Two default programs, one alone and one in a network; the rest as they are written."""

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two processors and an empty cache."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path))
    monkeypatch.delenv("TILEWRIGHT_SHOW", raising=False)
    monkeypatch.setattr(kernels, "available_cores", lambda: 2)
    return tmp_path


def bytes_of_all(genes: Sequence[Gene | None] = GENES) -> dict[str, bytes]:
    return {key: a.to_bytes() for key, a in kernels.build_all(TASKS, genes, TARGET).items()}


def emptied(cache: Path) -> int:
    """Removes what is in the cache; how many artifacts that was."""
    files = list(cache.rglob("*.artifact"))
    for file in files:
        file.unlink()
    return len(files)


def test_processes_compile_what_this_one_would(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(TASKS) >= kernels.WORTH_PROCESSES
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "compile_request", lambda _: pytest.fail("compiled by this process"))
        there = bytes_of_all()
        assert bytes_of_all() == there  # from the cache
    assert emptied(cache) == len(TASKS)
    monkeypatch.setattr(kernels, "WORTH_PROCESSES", len(TASKS) + 1)
    assert bytes_of_all() == there
    assert set(there) == {t.computation for t in TASKS}


def test_without_processes_this_one_compiles(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/no/such/python")
    assert len(bytes_of_all()) == len(TASKS) == emptied(cache)


def test_what_does_not_build_raises_its_own_error_and_the_rest_is_kept(cache: Path) -> None:
    other = default_gene(Space(TASKS[0].dag, TARGET))
    with pytest.raises(ScheduleError):
        bytes_of_all([*GENES[:-1], other])  # of another computation
    assert emptied(cache) == len(TASKS) - 1

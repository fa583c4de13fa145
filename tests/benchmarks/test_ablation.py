"""The ablation end to end on a simulated device: curves, resume, the template's space."""

from __future__ import annotations

import builtins
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.cases import CASES, Case, conv2d
from benchmarks.template_space import TEMPLATE_RULES
from simulated_device import simulate

from benchmarks import ablation
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.space.decisions import TileFactors
from tilewright.space.rules import CPU_RULES
from tilewright.space.space import Space
from tilewright.target import Target

TINY = Case("tiny", "C2D", (4, 4, 8, 16, 3, 1, 1), 1, conv2d)
VARIANTS = ["full", "no fine-tuning", "limited space", "beam search"]


@pytest.fixture(scope="module")
def batches() -> Iterator[list[int]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CASES, "tiny", TINY)
        yield simulate(patch)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, batches: list[int]) -> Path:
    """A folder with the records of a run of all variants, and its figures in `a.json`."""
    folder = tmp_path_factory.mktemp("ablation")
    batches.clear()
    assert run(folder, "--json", str(folder / "a.json")) == 0
    assert sum(batches) == 4 * 2 * (2 + 8), (
        "the default program, twice, and the trials of every run"
    )
    return folder


def run(folder: Path, *more: str, trials: int = 8) -> int:
    command = ["--case", "tiny", "--seeds", "2", "--trials", str(trials), "--folder", str(folder)]
    return ablation.main([*command, *more])


@pytest.mark.thorough
def test_every_variant_and_seed_has_a_curve(finished: Path) -> None:
    found: dict[str, Any] = json.loads((finished / "a.json").read_text())
    assert found["case"] == "tiny" and found["machine"] and found["commit"] and found["date"]
    assert list(found["variants"]) == VARIANTS
    for variant in found["variants"].values():
        curves = np.array([one["curve"] for one in variant["runs"]])
        assert curves.shape == (2, 8)
        assert (np.diff(curves, axis=1) >= 0).all() and (curves[:, -1] > 0).all()
        np.testing.assert_allclose(variant["median"], np.median(curves, axis=0))
        # a simulated program confirms what it measured
        assert [one["confirmed"] for one in variant["runs"]] == pytest.approx(list(curves[:, -1]))


def test_a_finished_run_is_read_and_a_short_one_goes_on(
    finished: Path, batches: list[int], tmp_path: Path
) -> None:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    first = json.loads((finished / "a.json").read_text())
    batches.clear()
    run(tmp_path, "--json", str(tmp_path / "b.json"))
    assert json.loads((tmp_path / "b.json").read_text())["variants"] == first["variants"]
    assert not batches
    run(tmp_path, "--seeds", "1", trials=12)
    assert sum(batches) == 4 * 4


def test_without_matplotlib_the_table_is_printed_all_the_same(
    finished: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    usual = builtins.__import__

    def refuse(name: str, *arguments: Any, **named: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError("No module named 'matplotlib'")
        return usual(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert run(finished, "--plot", str(finished / "a.png")) == 1
    text = capsys.readouterr().out
    assert all(name in text for name in VARIANTS)
    assert "tilewright[report]" in text


def test_curves_are_plotted(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = {"full": [ablation.Run(0, [1.0, 2.0], 2.0), ablation.Run(1, [1.5, 1.5], 1.5)]}
    ablation.plot(found, tmp_path / "a.svg", "tiny")
    assert "<svg" in (tmp_path / "a.svg").read_text()


def test_failures_and_an_exhausted_space_keep_the_best_so_far() -> None:
    curve = ablation.best_so_far([None, 4e-6, 8e-6, 1e-6], trials=6, flops=8000)
    assert curve.tolist() == [0.0, 2.0, 2.0, 8.0, 8.0, 8.0]


def test_the_template_is_one_sketch_of_few_choices(target: Target) -> None:
    dag = CASES[ablation.CASE].dag()
    limited, full = Space(dag, target, (*TEMPLATE_RULES, *CPU_RULES)), Space(dag, target)
    (sketch,) = limited.sketches
    assert len(full.sketches) > 1
    tiles = [d for d in sketch.decisions if isinstance(d, TileFactors)]
    assert tiles
    for tile in tiles:
        assert tile.table.shape[1] == 1, "one level for caches, one for registers"
        assert tile.table.max() <= 16
        assert (tile.extent % tile.table == 0).all()
    assert not [d for d in sketch.decisions if "location" in d.mutations]
    assert size(limited) < 1e-3 * size(full)


def size(space: Space) -> float:
    return sum(np.prod([float(len(d.table)) for d in s.decisions]) for s in space.sketches)


def test_programs_of_the_template_are_well_formed(target: Target) -> None:
    dag = TINY.dag()
    space = Space(dag, target, (*TEMPLATE_RULES, *CPU_RULES))
    population = space.sample(np.random.default_rng(0), 8)
    for sketch, row in zip(population.sketch, population.rows, strict=True):
        program = lower(State(dag).replay(space.trace(int(sketch), row)), "tiny").program
        verify(program)
        assert [tensor.name for tensor in program.inputs] == ["x"]

"""The ablations on a simulated device and a tiny network: curves, resume, the template's space."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.ablation import (
    ALONE,
    FIGURES,
    FULL,
    LIMITED,
    TOGETHER,
    Figure,
    Search,
    figures_of,
    speed_up,
    untuned_of,
)
from benchmarks.cases import CASES, Case, conv2d
from benchmarks.template_space import TEMPLATE_RULES
from simulated_device import simulate
from tiny_network import save_tiny

from benchmarks import ablation
from tilewright.contract.gene import Gene
from tilewright.nest.verify import verify
from tilewright.records.rows import Trial
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.search.task_scheduler import RoundRobin, TaskScheduler
from tilewright.space.decisions import TileFactors
from tilewright.space.rules import CPU_RULES
from tilewright.space.space import Space
from tilewright.target import Target

TINY = Case("tiny", "C2D", (4, 4, 8, 16, 3, 1, 1), 1, conv2d)


def run(folder: Path, *more: str) -> int:
    names = ["--networks", str(folder / "onnx"), "--folder", str(folder / "records")]
    return ablation.main(["--seeds", "1", "--trials", "16", *names, *more])


@pytest.mark.thorough
def test_every_search_has_a_curve_and_is_not_run_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    batches = simulate(monkeypatch)
    save_tiny(tmp_path / "onnx")
    monkeypatch.setitem(CASES, "tiny", TINY)
    figures = {"one": Figure(("tiny-b1",), TOGETHER[:2]), "alone": Figure(("tiny",), ALONE)}
    monkeypatch.setattr(ablation, "FIGURES", figures)
    file = tmp_path / "a.json"
    assert run(tmp_path, "--figures", "one,alone", "--json", str(file)) == 0
    found: dict[str, Any] = json.loads(file.read_text())
    assert list(found["figures"]) == ["one", "alone"]
    assert list(found["figures"]["one"]["variants"]) == ["full", "no task scheduler"]
    for figure in found["figures"].values():
        assert figure["commit"]
        for variant in figure["variants"].values():
            (one,) = variant["runs"]
            assert len(one["curve"]) == 16 and one["confirmed"] > 0
            assert (np.diff(one["curve"]) >= 0).all() and one["curve"][-1] > 0
    batches.clear()
    first = capsys.readouterr().out
    assert run(tmp_path, "--figures", "one") == 0
    assert not batches and capsys.readouterr().out.strip().splitlines()[-1] in first


def test_a_file_of_one_operator_names_it() -> None:
    one = {"case": "C2D", "variants": {}}
    assert figures_of(one) == {"C2D": one} and figures_of({"figures": {"a": one}}) == {"a": one}


def trial(task: str, seconds: float, origin: str = "tile", sure: float = 0.0) -> Trial:
    confirmed = (sure,) if sure else ()
    return Trial(task, "m", Gene("[]"), 0, 0, (seconds,), origin=origin, confirmed_s=confirmed)


def test_speed_is_relative_to_the_default_programs() -> None:
    measured = [
        trial("a", 4.0, "default"),
        trial("b", 1.0, "default"),
        trial("a", 2.0),
        trial("b", 2.0),
        trial("a", 1.0, sure=1.5),
    ]
    untuned = untuned_of(measured)
    assert untuned == {"a": 4.0, "b": 1.0}
    weights = [{"a": 1.0}, {"a": 1.0, "b": 2.0}]
    limited = Search.of(measured, LIMITED, 4)
    # of a alone 4/2, 4/2, 4/1; of both 6/inf, 6/6, 6/5
    steps = [0.0, 2**0.5, (4 * 1.2) ** 0.5, (4 * 1.2) ** 0.5]
    assert limited.curve(weights, untuned, 4) == pytest.approx(steps)
    # with the default programs b's takes 1 from the start: of both 6/4, 6/4, 6/3
    full = Search.of(measured, FULL, 4)
    steps = [(2 * 1.5) ** 0.5, (2 * 1.5) ** 0.5, (4 * 2) ** 0.5, (4 * 2) ** 0.5]
    assert full.curve(weights, untuned, 4) == pytest.approx(steps)


def test_the_best_programs_are_confirmed_ones() -> None:
    measured = [trial("a", 1.0), trial("a", 2.0, sure=1.5), trial("a", 3.0, sure=1.2)]
    measured += [trial("b", 1.0, "default"), trial("b", 2.0), trial("b", 3.0)]
    assert {w: t.measured_s for w, t in Search.of(measured, FULL, 5).best().items()} == {
        "a": 3.0,
        "b": 1.0,
    }
    assert Search.of(measured, LIMITED, 5).best()["b"].measured_s == 2.0
    assert "b" not in Search.of(measured[:3], LIMITED, 5).best()


def test_the_speed_up_of_networks_is_a_geometric_mean() -> None:
    weights = [{"a": 1.0}, {"a": 1.0, "b": 2.0}]
    before, after = {"a": 4.0, "b": 1.0}, {"a": 1.0, "b": 1.0}
    assert speed_up(weights, before, after) == pytest.approx((4 * 2) ** 0.5)
    assert speed_up(weights, before, {"a": 1.0}) == 0.0


def test_figures_compare_with_the_full_search() -> None:
    for figure in FIGURES.values():
        assert figure.variants[0] is FULL
    assert {v.scheduler for v in TOGETHER} == {TaskScheduler, RoundRobin}


def test_the_template_is_one_sketch_of_few_choices(target: Target) -> None:
    dag = CASES["C2D-3-b16"].dag()
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

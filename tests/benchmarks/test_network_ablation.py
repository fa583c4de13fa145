"""Figure 10 on a simulated device and a tiny network: curves, resume, the variants' spaces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.cases import CASES
from benchmarks.network_ablation import (
    FIGURES,
    FULL,
    LAYOUTS,
    SEARCHES,
    Figure,
    Search,
    speed_up,
    untuned_of,
)
from benchmarks.plain_layouts import PLAIN_LAYOUT_RULES
from simulated_device import simulate
from tiny_network import save_tiny

from benchmarks import network_ablation
from tilewright.contract.gene import Gene
from tilewright.records.rows import Trial
from tilewright.schedule.steps import LayoutRewrite
from tilewright.search.task_scheduler import RoundRobin, TaskScheduler
from tilewright.space.rules import CPU_RULES
from tilewright.space.space import Space
from tilewright.target import Target

LIMITED = next(v for v in SEARCHES if v.rules)


def run(folder: Path, *more: str) -> int:
    names = ["--networks", str(folder / "onnx"), "--folder", str(folder / "records")]
    return network_ablation.main(["--seeds", "1", "--trials", "16", *names, *more])


@pytest.mark.thorough
def test_every_search_has_a_curve_and_is_not_run_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    batches = simulate(monkeypatch)
    save_tiny(tmp_path / "onnx")
    figures = {
        "one": Figure(("tiny-b1",), SEARCHES[:2]),
        "layouts": Figure(("tiny-b1",), LAYOUTS),
    }
    monkeypatch.setattr(network_ablation, "FIGURES", figures)
    file = tmp_path / "a.json"
    assert run(tmp_path, "--figures", "one,layouts", "--json", str(file)) == 0
    found: dict[str, Any] = json.loads(file.read_text())
    assert list(found["figures"]) == ["one", "layouts"]
    assert list(found["figures"]["one"]["variants"]) == ["full", "no task scheduler"]
    for figure in found["figures"].values():
        assert figure["commit"]
        for variant in figure["variants"].values():
            (one,) = variant["runs"]
            assert len(one["curve"]) == 16 and one["confirmed"] > 0
            assert (np.diff(one["curve"]) >= 0).all() and one["curve"][-1] > 0
    same = [found["figures"][f]["variants"]["full"] for f in figures]
    assert same[0] == same[1], "one database"
    batches.clear()
    first = capsys.readouterr().out
    assert run(tmp_path, "--figures", "one") == 0
    assert not batches and capsys.readouterr().out.strip() in first


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
    assert {v.scheduler for v in SEARCHES} == {TaskScheduler, RoundRobin}


def test_plain_layouts_rewrite_no_constant(target: Target) -> None:
    dag = CASES["C2D-3-b1"].dag()
    spaces = {
        name: Space(dag, target, (*rules, *CPU_RULES))
        for name, rules in (("usual", ()), ("plain", PLAIN_LAYOUT_RULES))
    }
    rewriting = {}
    for name, space in spaces.items():
        population = space.sample(np.random.default_rng(0), 4)
        traces = [
            space.trace(int(sketch), row)
            for sketch, row in zip(population.sketch, population.rows, strict=True)
        ]
        rewriting[name] = {any(isinstance(s, LayoutRewrite) for s in t) for t in traces}
    assert rewriting == {"usual": {True}, "plain": {False}}
    assert len(spaces["plain"].sketches) == len(spaces["usual"].sketches)

"""Programs of a network's tasks are compared with the default ones in their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from cli_models import save_classifier, save_products
from tilewright.contract.artifact import Array
from tilewright.contract.gene import Gene
from tilewright.front.machine import host_target
from tilewright.front.models import Model, Task
from tilewright.front.places import Places
from tilewright.front.tuning_tasks import merged, parts_of
from tilewright.ground.errors import RunError
from tilewright.network.executor import Network
from tilewright.runtime.profile import KernelTime, Profile
from tilewright.space.default import default_gene

TARGET = host_target()


def model_of(file: Path) -> Model:
    """Two products, each in a kernel of its own."""
    return tw.load(save_products(file), chains=False)


def places_of(*models: Model | Task) -> Places | None:
    parts = parts_of(models, TARGET)
    tasks, groups = merged(parts)
    return Places.of(parts, groups, tasks, TARGET)


def programs(places: Places) -> tuple[list[Gene | None], list[list[Gene]]]:
    """Of each task the default program and two others."""
    rng = np.random.default_rng(0)
    defaults: list[Gene | None] = []
    others = []
    for task in places.tasks:
        space = task.space(TARGET)
        default, drawn = default_gene(space), space.sample(rng, 8)
        genes = [space.gene(*row) for row in zip(drawn.sketch, drawn.rows, strict=True)]
        defaults.append(default)
        others.append([g for g in genes if g != default][:2])
    return defaults, others


def take(monkeypatch: pytest.MonkeyPatch, *seconds: Mapping[str, float]) -> None:
    """Let the kernels of one network after the other take so long; they are run all the same."""
    known: list[Network] = []

    def profile(network: Network, inputs: Mapping[str, Array], runs: int) -> Profile:
        assert all(np.isfinite(y).all() for y in network(**inputs))
        if network not in known:
            known.append(network)
        times = seconds[known.index(network)]
        kernels = tuple(KernelTime(name, 1, s, 0) for name, s in times.items())
        return Profile(kernels, sum(times.values()), runs)

    monkeypatch.setattr(Network, "profile", profile)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    found = places_of(model_of(tmp_path / "m.onnx"))
    assert found is not None and len(found.tasks) == 2
    return found


def test_what_programs_take_in_their_places(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default ones first, then the first of each task, then the second."""
    first, second = (task.name for task in places.tasks)
    take(
        monkeypatch,
        {first: 2e-3, second: 2e-3},
        {first: 3e-3, second: 1e-3},
        {first: 1e-3, second: 2e-3},
    )
    defaults, (own, others) = programs(places)
    assert places.ratios(defaults, [own, others[:1]]) == [
        pytest.approx({own[0]: 1.5, own[1]: 0.5}),
        pytest.approx({others[0]: 0.5}),
    ]


def test_a_network_that_fails_says_nothing(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    def profile(*_: Any) -> Profile:
        raise RunError("refused")

    monkeypatch.setattr(Network, "profile", profile)
    assert places.ratios(*programs(places)) == [{}, {}]


def test_an_operator_has_no_place_and_neither_has_a_network_of_one(tmp_path: Path) -> None:
    a = tw.placeholder((8, 8), name="a")
    task = tw.Task([a, tw.compute((8, 8), lambda i, j: a[i, j] + 1.0, name="b")])
    assert places_of(task, tw.load(save_classifier(tmp_path / "one.onnx"))) is None


def test_a_network_is_not_loaded_three_times_where_it_hardly_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tilewright.front.places.memory_bytes", lambda: 12_000)
    assert places_of(model_of(tmp_path / "m.onnx")) is None


def test_a_run_asks_and_compiles_with_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, asked = model_of(tmp_path / "m.onnx"), []

    def ratios(
        _: Places, defaults: Sequence[Gene | None], genes: Sequence[Sequence[Gene]]
    ) -> list[dict[Gene, float]]:
        asked.append(genes)
        return [dict.fromkeys(own, 9.0) for own in genes]

    monkeypatch.setattr(Places, "ratios", ratios)
    result = tw.tune(model, trials=8, db=tmp_path / "t.db", progress=False)
    assert asked
    assert all(t.best_s == t.default_s for t in result.tasks)

"""The cost model's benchmark on records of a simulated device."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cost_model import Programs, Split
from simulated_device import simulate

import tilewright as tw
from benchmarks import cost_model
from tilewright.expr import operators as ops
from tilewright.expr.tensors import placeholder
from tilewright.front import machine
from tilewright.ground.errors import InputError
from tilewright.search.strategies.beam import undecided

TRIALS = 20


def tune(file: Path, trials: int = TRIALS, seed: int = 0) -> None:
    """Two tasks of `trials` each."""
    for size in (32, 48):
        a, b = placeholder((size, size), name="a"), placeholder((size, size), name="b")
        task = tw.Task([ops.matmul(a, b)], f"gemm{size}")
        tw.tune(task, trials=trials, db=file, seed=seed)


@pytest.fixture(scope="module", autouse=True)
def _simulated() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        simulate(patch)
        yield


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records of a tuning run, to read."""
    file = tmp_path_factory.mktemp("cost_model") / "a.db"
    tune(file)
    return file


@pytest.fixture
def tasks(records: Path) -> list[Programs]:
    return cost_model.load([records], machine.host_target())


def test_load_keeps_every_trial_once_in_order(records: Path, tasks: list[Programs]) -> None:
    assert [len(task) for task in tasks] == [TRIALS, TRIALS]
    for task in tasks:
        assert (np.diff(task.round) >= 0).all() and len(np.unique(task.round)) > 1
        assert (task.throughput > 0).any()
    assert any((task.throughput == 0).any() for task in tasks), "failed programs are kept"
    again = cost_model.load([records, records], machine.host_target())
    assert [len(task) for task in again] == [TRIALS, TRIALS]


def test_records_of_several_files_are_joined(records: Path, tmp_path: Path) -> None:
    tune(tmp_path / "b.db", seed=1)
    both = cost_model.load([records, tmp_path / "b.db"], machine.host_target())
    assert all(TRIALS < len(task) <= 2 * TRIALS for task in both)


def test_a_database_of_another_machine_is_refused(records: Path) -> None:
    other = machine.as_target("cpu:cortex-a72")
    with pytest.raises(InputError, match="tune on this machine"):
        cost_model.load([records], other)


def test_splits_test_each_program_as_they_say(tasks: list[Programs]) -> None:
    fifths = cost_model.random_fifths(tasks)
    assert (np.sum([split.test[0] for split in fifths], axis=0) == 1).all()
    (last,) = cost_model.last_fifth(tasks)
    assert np.flatnonzero(last.test[1]).tolist() == list(range(TRIALS - TRIALS // 5, TRIALS))
    first, second = cost_model.new_tasks(tasks)
    assert first.test[0].all() and not first.test[1].any()
    assert second.test[1].all() and not second.test[0].any()
    for split in (*fifths, last, first, second):
        for trained, tested in zip(split.train, split.test, strict=True):
            assert (trained != tested).all()


def test_predictions_stand_beside_shares_of_each_tasks_best(tasks: list[Programs]) -> None:
    everything = Split.testing([np.zeros(len(task), bool) for task in tasks])
    model = cost_model.train(tasks, everything)
    found = cost_model.predict(tasks, cost_model.last_fifth(tasks), [model])
    assert found.task.tolist() == [0] * 4 + [1] * 4
    expected = [task.throughput[-4:] / task.throughput.max() for task in tasks]
    np.testing.assert_allclose(found.truth, np.concatenate(expected))
    one = tasks[1].take(np.arange(TRIALS) == TRIALS - 1)
    alone = model.predict(one.features, one.owner, 1)
    known = tasks[1].throughput[:-4].max() / tasks[1].throughput.max()
    assert found.predicted[-1] == alone[0] * known


def test_a_partial_program_keeps_its_first_decisions(tasks: list[Programs]) -> None:
    space, population = tasks[0].space, tasks[0].population
    whole = cost_model.partial(space, population, 1.0)
    np.testing.assert_array_equal(space.canonical(whole).rows, population.rows)
    nothing = cost_model.partial(space, population, 0.0)
    np.testing.assert_array_equal(nothing.rows, np.tile(undecided(space), (TRIALS, 1)))
    half = cost_model.partial(space, population, 0.5)
    for sketch, at in space.groups(population):
        count = round(0.5 * len(sketch.decisions))
        for number, decision in enumerate(sketch.decisions):
            source = population.rows if number < count else nothing.rows
            columns = space.span(decision)
            np.testing.assert_array_equal(half.rows[at, columns], source[at, columns])


def test_the_whole_report(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    assert cost_model.main(["--db", str(records), "--json", str(file)]) == 0
    text = capsys.readouterr().out
    assert "40 programs of 2 tasks" in text and "the paper (random 20 %, all)" in text
    found = json.loads(file.read_text())
    assert found["machine"] and found["commit"] and found["date"]
    assert set(found["figure_11"]) == {
        f"{kind}, {which}"
        for kind in ("random 20 %", "last 20 %", "new task")
        for which in ("all", "without failed")
    }
    rates = [point["completion"] for point in found["figure_3"]]
    assert rates == pytest.approx(np.linspace(0, 1, 11))
    assert all(0 <= point["pairwise"] <= 1 for point in found["figure_3"])

"""Expressions with sizes, as a user writes and tunes them."""

from __future__ import annotations

from pathlib import Path

import pytest

import tilewright as tw
from tilewright.contract.sizes import Size
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var
from tilewright.front.models import Task
from tilewright.ground.errors import ExprError
from tilewright.records.database import Database
from tilewright.search.tasks import TuningTask
from tilewright.space.space import Space
from tilewright.target import Target

S = Var("S")


def rows(*sizes: Size) -> Task:
    x, w = tw.placeholder((S, 32), name="x"), tw.placeholder((32, 16), name="w")
    k = tw.reduce_axis(32, "k")
    y = tw.compute((S, 16), lambda i, j: tw.sum(x[i, k] * w[k, j], k), name="y")
    return Task([x, w, y], "rows", sizes)


def test_a_read_beyond_a_size_is_named() -> None:
    x = tw.placeholder((S, 8), name="x")
    y = tw.compute((S, 8), lambda i, j: x[i + 1, j], name="y")
    with pytest.raises(ExprError, match=r"x: index i \+ 1 of dimension 0 may be outside 0..S - 1"):
        Task([y], "y", (Size("S", 1, 9),))


def test_a_task_is_known_by_its_ranges_and_points() -> None:
    sizes = (
        Size("S", 1, 40),
        Size("S", 2, 40),
        Size("S", 1, 40, ((40, 1.0),)),
        Size("S", 1, 40, ((40, 2.0), (8, 1.0))),
    )
    assert len({TuningTask("t", rows(size).dag).hash for size in sizes}) == 4
    # Of a call: the mean of those of 40 and 8 rows.
    assert TuningTask("t", rows(sizes[-1]).dag).flops == 2 * 32 * 16 * (40 * 2 + 8) // 3


@pytest.mark.cpu
def test_tuned_for_a_range_and_found_again(tmp_path: Path) -> None:
    task, db = rows(Size("S", 1, 40)), tmp_path / "t.db"
    result = tw.tune(task, trials=2, db=db, progress=False)
    (found,) = result.tasks
    assert (found.trials, found.errors) == (2, 0)
    with Database.open(db) as database:
        trials = list(database.trials())
    assert all(t.ok for t in trials)
    again = tw.tune(task, trials=2, db=db, progress=False)
    with Database.open(db) as database:
        assert [t.id for t in database.trials()] == [t.id for t in trials]
    assert again.tasks[0].trials == 2


def test_a_sum_along_a_size_is_not_factored() -> None:
    """How many steps a part would have is no number."""
    x, k = tw.placeholder((8, S), name="x"), tw.reduce_axis(S, "k")
    y = tw.compute((8,), lambda i: tw.sum(x[i, k], k), name="y")
    dag, target = ComputeDAG([y], (Size("S", 1, 4000),)), Target.parse("cpu cores=2")
    names = [[s.name for s in Space(d, target).sketches] for d in (dag.heaviest, dag)]
    assert [any("rfactor" in name for name in found) for found in names] == [True, False]

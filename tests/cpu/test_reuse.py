"""Reuse end to end: one operator's records, another operator's dozen programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tilewright as tw
from tilewright.cli.app import app
from tilewright.expr import operators as ops
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.search.reuse.run import WELL_KNOWN
from tilewright.search.reuse.strategy import CARRIED, LENGTH
from workloads import given

pytestmark = pytest.mark.cpu


def product(n: int) -> tw.Task:
    c = ops.matmul(given(n, 48, name="a"), given(48, 32, name="b"))
    return tw.Task([c], f"product{n}")


def test_a_recorded_relative_saves_a_search(tmp_path: Path) -> None:
    db = tmp_path / "tuning.db"
    tw.tune(product(64), trials=WELL_KNOWN + 8, db=db, progress=False)
    plan = tw.plan(product(96), db=db)
    assert [s.programs for s in plan.steps] == [LENGTH]
    assert "product64: recorded" in str(plan)
    result = tw.tune(product(96), trials=LENGTH, db=db, reuse=True, progress=False)
    assert result.trials == LENGTH
    with Database.open(db, create=False, readonly=True) as records:
        hashes = {w.name: w.hash for w in records.workloads()}
        trials = [t for t in records.trials(hashes["product96"]) if t.origin != DEFAULT]
    assert trials[0].origin == CARRIED and all(t.ok for t in trials)
    shown = CliRunner().invoke(app, ["show", str(db), "product96", "--layer", "sketch"])
    assert "reused product64" in shown.output
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((96, 48), (48, 32)))
    assert np.allclose(tw.compile(product(96), db=db)(a, b), a @ b, atol=1e-4)


def test_reuse_and_another_strategy_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(tw.InputError, match="strategy='random'"):
        tw.tune(product(64), trials=4, db=tmp_path / "x.db", reuse=True, strategy="random")

"""Reuse end to end: one operator's records, another operator's dozen programs."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tilewright as tw
from made_up_latencies import simulate
from simulated_tuning import record_search
from tilewright.cli.app import app
from tilewright.contract.gene import Gene
from tilewright.expr import operators as ops
from tilewright.front.inspection import plan_of
from tilewright.front.machine import host_target, machine_of
from tilewright.front.tuning_tasks import tasks_of
from tilewright.records.database import Database
from tilewright.records.rows import CARRIED, DEFAULT
from tilewright.search.reuse.carry import Carried, Carrier
from tilewright.search.reuse.rounds import CHOICE, LOADS, THREADS, UNROLL
from tilewright.search.reuse.run import WELL_KNOWN
from tilewright.search.reuse.strategy import LENGTH
from workloads import given

pytestmark = pytest.mark.cpu


def product(n: int) -> tw.Task:
    c = ops.matmul(given(n, 48, name="a"), given(48, 32, name="b"))
    return tw.Task([c], f"product{n}")


@pytest.mark.thorough
def test_a_recorded_relative_saves_a_search(tmp_path: Path) -> None:
    db = tmp_path / "tuning.db"
    tw.tune(product(64), trials=WELL_KNOWN + 8, db=db, progress=False)
    plan = tw.plan(product(96), db=db)
    assert [s.programs for s in plan.steps] == [LENGTH]
    assert "product64: recorded" in str(plan)
    result = tw.tune(product(96), trials=LENGTH, db=db, strategy="reuse", progress=False)
    assert result.trials == LENGTH
    with Database.open(db, create=False, readonly=True) as records:
        hashes = {w.name: w.hash for w in records.workloads()}
        trials = [t for t in records.trials(hashes["product96"]) if t.origin != DEFAULT]
    assert trials[0].origin == CARRIED and all(t.ok for t in trials)
    shown = CliRunner().invoke(app, ["show", str(db), "product96", "--layer", "sketch"])
    assert "reused product64" in shown.output
    check(tw.compile(product(96), db=db))


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A database that holds a search of a relative, which made much of it."""
    target = host_target()
    (task,) = tasks_of(product(64))
    with Database.open(tmp_path / "tuning.db") as database:
        record_search(database, machine_of(target), target, task, 4.0)
    return tmp_path / "tuning.db"


def test_all_that_the_published_tuner_enumerates_is_measured(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a budget, to the plan's end; the same command then has nothing left to do."""
    simulate(monkeypatch)
    (step,) = tw.plan(product(96), db=recorded, strategy="reuse-all").steps
    assert step.programs > LENGTH == tw.plan(product(96), db=recorded).steps[0].programs
    with caplog.at_level(logging.INFO, logger="tilewright"):
        result = tw.tune(product(96), db=recorded, strategy="reuse-all", progress=False)
    told = f"reuse took {result.trials} of {step.programs} expected programs"
    assert told in caplog.messages
    with Database.open(recorded, create=False, readonly=True) as records:
        hashes = {w.name: w.hash for w in records.workloads()}
        trials = [t for t in records.trials(hashes["product96"]) if t.origin != DEFAULT]
    assert {THREADS, LOADS} <= {t.origin for t in trials} <= {THREADS, LOADS, UNROLL, CHOICE}
    assert result.trials == len(trials) > LENGTH
    again = tw.tune(product(96), db=recorded, strategy="reuse-all", progress=False)
    assert again.trials == result.trials


def check(function: Any) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((96, 48), (48, 32)))
    assert np.allclose(function(a, b), a @ b, atol=1e-4)


def test_a_task_without_records_takes_a_relatives_program(recorded: Path) -> None:
    notes: list[str] = []
    check(tw.compile(product(96), db=recorded, notes=notes.append))
    (note,) = notes
    assert note.startswith("product96: no record in ")
    assert note.endswith("; a program of another task serves, which was not measured for it")
    (kernel,) = plan_of(product(96), recorded).kernels
    assert (kernel.program, kernel.latency_s) == ("carried", None)


def test_a_relatives_program_that_does_not_build_is_let_go(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Carried(Gene('{"sketch":"?","steps":[["no_such_step"]]}', "{}"), "product64")
    monkeypatch.setattr(Carrier, "program", lambda *_: broken)
    notes: list[str] = []
    check(tw.compile(product(96), db=recorded, notes=notes.append))
    (note,) = notes
    assert "cannot be used" in note and note.endswith("using the default program")

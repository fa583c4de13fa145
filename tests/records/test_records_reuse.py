"""Plans of reuse: kept whole, begun once, right after upkeep, left out where ids mean nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from record_samples import (
    MACHINE,
    OTHER_MACHINE,
    OTHER_WORKLOAD,
    REUSED,
    WORKLOAD,
    trial,
)

from tilewright.ground.errors import RecordsError
from tilewright.records import Database, ModelRow, ModelTask, ReuseRow

HERE = MACHINE.fingerprint
KNOWN = replace(REUSED, position=0, workload_hash="w0", kind="recorded", source_hash=None)
LAST = replace(KNOWN, position=2, workload_hash="w2", kind="search", programs=128)
STEPS = [KNOWN, REUSED, LAST]


@pytest.fixture
def db(db: Database) -> Iterator[Database]:
    """One that knows the plan's workloads as well."""
    db.add_workload(OTHER_WORKLOAD)
    db.add_workload(replace(WORKLOAD, hash="w2", name="alone"))
    yield db


def ids(db: Database, *numbers: int, **changes: Any) -> tuple[int, ...]:
    """Of new trials."""
    return tuple(i for i in db.add_trials([trial(n, **changes) for n in numbers]) if i is not None)


def test_steps_come_back_in_their_order(db: Database) -> None:
    assert db.plan(HERE, "plan", 1) == []
    for step in reversed(STEPS):
        db.keep(step)
    db.add_machine(OTHER_MACHINE)
    others = {"machine": OTHER_MACHINE.fingerprint}, {"plan": "other"}, {"seed": 2}
    for change in others:
        db.keep(replace(REUSED, **change))  # type: ignore[arg-type]
    assert db.plan(HERE, "plan", 1) == STEPS
    assert db.plan(HERE, "plan", 2) == [replace(REUSED, seed=2)]
    db.keep(replace(REUSED, seconds=0.1 + 0.2))
    assert db.plan(HERE, "plan", 1)[1].seconds == 0.1 + 0.2


def test_a_plan_is_recorded_whole_by_the_first(db: Database) -> None:
    assert db.add_plan([]) == []
    with pytest.raises(RecordsError):
        db.add_plan([*STEPS, replace(REUSED, workload_hash="w9")])
    assert db.plan(HERE, "plan", 1) == []
    assert db.add_plan([LAST, REUSED, KNOWN]) == STEPS
    assert db.add_plan([replace(REUSED, programs=9)]) == STEPS
    with pytest.raises(RecordsError, match="steps of several plans are given as plan plan"):
        db.add_plan([REUSED, replace(LAST, seed=2)])


def test_a_step_begins_once(db: Database, target: str) -> None:
    db.add_plan(STEPS)
    first, second = ids(db, 1, 2), ids(db, 3)
    assert db.pin(REUSED) == REUSED, "nothing to reuse yet"
    with Database.open(target) as other:
        begun = db.pin(replace(REUSED, trials=first))
        assert begun == replace(REUSED, trials=first) and begun.begun_at > 1.7e9
        again = other.pin(replace(REUSED, trials=second))
        assert (again, again.begun_at) == (begun, begun.begun_at)
        assert other.plan(HERE, "plan", 1) == [KNOWN, begun, LAST]
    with pytest.raises(RecordsError, match="no step for w1 in plan nowhere: record the plan"):
        db.pin(replace(REUSED, plan="nowhere", trials=first))


def test_what_reused_what_is_told_by_the_last_step_that_began(db: Database) -> None:
    newer = replace(REUSED, plan="a newer one", source_hash="w2")
    for step in (*STEPS, newer):
        db.keep(step)
    assert db.reused(HERE) == {}
    late, early = ids(db, 1), ids(db, 2, workload_hash="w2")
    older = db.pin(replace(REUSED, trials=late))
    assert db.reused(HERE) == {"w1": older}
    begun = db.pin(replace(newer, trials=early))
    assert db.reused(HERE) == {"w1": begun} and db.reused("nobody") == {}


def test_what_has_gone_is_named_no_longer(db: Database) -> None:
    db.add_plan(STEPS)
    slow, fast, default = db.add_trials(
        [
            trial(1, latencies_s=(2.0,)),
            trial(2, latencies_s=(1.0,)),
            trial(3, latencies_s=(3.0,), origin="default"),
        ]
    )
    assert slow and fast and default
    db.pin(replace(REUSED, trials=(fast, slow)))
    db.prune(1)
    (step,) = db.reused(HERE).values()
    assert step.trials == (fast,) and step.begun_at
    db.add_model(ModelRow.of("net", (ModelTask("w0", 1),)))
    db.delete("w0")
    assert db.reused(HERE) == {} and db.plan(HERE, "plan", 1) == STEPS, "it may begin anew"
    assert db.plan(HERE, "plan", 1)[1].begun_at == 0.0


@pytest.mark.parametrize("gone", ["w0", "w1"])
def test_a_plan_goes_with_a_task_that_it_names(db: Database, gone: str) -> None:
    other = replace(LAST, plan="other")
    db.add_plan(STEPS)
    db.add_plan([other])
    ids(db, 1, workload_hash=gone)
    assert db.delete(gone) == 1
    assert db.workload(gone) is None
    assert db.plan(HERE, "plan", 1) == [] and db.plan(HERE, "other", 1) == [other]


def test_plans_stay_behind(db: Database, tmp_path: Path) -> None:
    db.add_plan(STEPS)
    db.pin(replace(REUSED, trials=ids(db, 1)))
    db.export(tmp_path / "all.jsonl")
    with Database.open(tmp_path / "imported.db") as imported:
        assert imported.import_(tmp_path / "all.jsonl").trials == 1
        assert imported.plan(HERE, "plan", 1) == []
    with Database.open(tmp_path / "merged.db") as merged:
        assert merged.merge(db).trials == 1
        assert merged.reused(HERE) == {}
        merged.add_plan([LAST])
        merged.merge(db)
        assert merged.plan(HERE, "plan", 1) == [LAST]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "bridge"}, "step 1 of plan plan is of kind 'bridge', which is none of"),
        ({"source_hash": None}, "a reuse needs a source workload"),
        ({"kind": "search"}, "a search has no source workload"),
        ({"kind": "recorded", "source_hash": None, "trials": (1,)}, r"trials \(1,\) of no source"),
        ({"position": -1}, "a number that is below 0"),
        ({"seed": 2**63}, "a number that is below 0"),
        ({"programs": -1}, "a number that is below 0"),
        ({"trials": (0,)}, "a number that is below 0"),
        ({"seconds": float("nan")}, "a time that is no length of time"),
        ({"begun_at": -1.0}, "a time that is no length of time"),
    ],
)
def test_what_is_no_step_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordsError, match=message):
        replace(REUSED, **changes)
    assert ReuseRow(HERE, "plan", 1, 0, "w0", "recorded", "w1", 0, 0.0).trials == ()

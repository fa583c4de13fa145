"""What a model is known by; and what a user may drop, merge and rename."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.ground.errors import RecordsError
from tilewright.records import Database, ModelRow, ModelTask
from tilewright.records.rows import program_kind, told_apart
from tilewright.testing.databases import (
    MACHINE,
    OTHER_MACHINE,
    OTHER_WORKLOAD,
    WORKLOAD,
    trial,
)

ONE, BOTH = (ModelTask("w0", 2),), (ModelTask("w0", 2), ModelTask("w1", 1))


def names(db: Database) -> list[str]:
    return [m.name for m in db.summary().models]


def test_two_files_of_one_name_are_two_models(db: Database) -> None:
    db.add_workload(OTHER_WORKLOAD)
    db.add_model(ModelRow.of("model", ONE, "a/model.onnx"))
    db.add_model(ModelRow.of("model", BOTH, "b/model.onnx"))
    assert names(db) == ["model (a/model.onnx)", "model (b/model.onnx)"] or names(db) == [
        "model (b/model.onnx)",
        "model (a/model.onnx)",
    ]
    assert sorted(len(m.tasks) for m in db.models()) == [1, 2]


def test_one_model_in_two_files_is_one_and_keeps_its_name(db: Database) -> None:
    db.add_model(ModelRow.of("net", ONE, "net.onnx"))
    db.add_model(ModelRow.of("copy", ONE, "copy.onnx"))
    assert names(db) == ["net"]
    assert db.models()[0].path == "copy.onnx"


def test_names_are_told_apart_by_what_differs() -> None:
    a, b, c = (ModelRow(f"{i}" * 64, "m", (), path) for i, path in enumerate(("p", "p", "")))
    assert [m.name for m in told_apart([a, b, c])] == [
        "m (p, 00000000)",
        "m (p, 11111111)",
        "m (22222222)",
    ]
    assert told_apart([a, replace(b, name="n")]) == [a, replace(b, name="n")]


def test_merging_databases(db: Database, tmp_path: Path) -> None:
    with Database.open(tmp_path / "other.db") as other:
        other.add_machine(MACHINE)
        other.add_machine(OTHER_MACHINE)
        other.add_workload(WORKLOAD)
        other.add_workload(OTHER_WORKLOAD)
        other.add_model(ModelRow.of("net", BOTH, "net.onnx"))
        other.add_trials([trial(1), trial(2)])
        db.add_trials([trial(1)])
        done = db.merge(other)
        assert (done.trials, done.known_trials, done.models, done.workloads) == (1, 1, 1, 1)
        assert db.models() == other.models()
        with pytest.raises(RecordsError, match="cannot be merged with itself"):
            other.merge(other)
    assert list(db.trials()) == [trial(1), trial(2)]


def test_a_summary_counts_default_programs_and_says_what_is_best(db: Database) -> None:
    db.add_workload(replace(OTHER_WORKLOAD, name="t10_conv"))
    db.add_workload(replace(OTHER_WORKLOAD, hash="w2", name="t2_conv"))
    db.add_trials(
        [
            trial(0, workload_hash="w1", origin="default", latencies_s=(2.0,)),
            trial(1, workload_hash="w1", latencies_s=(3.0,)),
            trial(0, workload_hash="w2", origin="default", latencies_s=(2.0,)),
            trial(1, workload_hash="w2", latencies_s=(1.0,)),
        ]
    )
    summary = db.summary()
    lines = [(c.name, c.trials, c.defaults, c.program) for c in summary.coverage]
    assert lines == [("t2_conv", 2, 1, "tuned"), ("t10_conv", 2, 1, "measured")]
    assert summary.defaults == 2
    assert [program_kind(o) for o in (None, "default", "crossover")] == [
        "default",
        "measured",
        "tuned",
    ]

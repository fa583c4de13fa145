"""What every backend must do alike."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from record_samples import (
    CEILINGS,
    MACHINE,
    OTHER_MACHINE,
    OTHER_WORKLOAD,
    RUN,
    WORKLOAD,
    failure,
    gene,
    number_of,
    trial,
)
from sqlalchemy import text, update

from tilewright.contract.gene import Gene
from tilewright.ground.errors import RecordsError
from tilewright.records import Database, ModelRow, ModelTask, Trial, queries
from tilewright.records.tables import SCHEMA_VERSION, meta


def test_trial_round_trip_keeps_every_field(db: Database) -> None:
    written = trial(
        3,
        gene=Gene('{"sketch":"‘∑’","steps":[]}', '{"a":[4611686018427387904],"b":0}'),
        latencies_s=(0.1 + 0.2, 1e-300, 5e-324),
        predicted=-1.5,
        origin="crossover",
        build_s=0.25,
        run_s=1.75,
        seed=2**63 - 1,
        confirmed_s=(0.5, 0.25),
        region_s=5e-7,
        points_s=(1e-3, 2e-3),
    )
    failed = failure(4, message="rejected: ‘∑’ is not a line\nof the IR", predicted=None)
    ids = db.add_trials([written, failed])
    assert list(db.trials()) == [written, failed]
    assert [stored.id for stored in db.trials()] == ids
    assert db.trial(ids[1] or 0) == failed
    assert db.trial(10**9) is None


def test_text_that_no_database_stores_is_replaced(db: Database) -> None:
    (id_,) = db.add_trials([failure(1, message="\0 \udcff \U0001f600")])
    stored = db.trial(id_ or 0)
    assert stored is not None and stored.message == "\ufffd \ufffd \U0001f600"


def test_duplicates_are_skipped_and_the_first_stays(db: Database) -> None:
    first = db.add_trials([trial(1), trial(2)])
    again = db.add_trials([trial(2, latencies_s=(9.0,)), trial(3), trial(3, seed=7), trial(1)])
    assert first[0] is not None and first[1] is not None
    assert [id_ is None for id_ in again] == [True, False, True, True]
    assert list(db.trials()) == [trial(1), trial(2), trial(3)]
    assert db.add_trials([]) == []


def test_same_gene_counts_once_per_workload_and_machine(db: Database) -> None:
    db.add_workload(OTHER_WORKLOAD)
    db.add_machine(OTHER_MACHINE)
    batch = [
        trial(1),
        trial(1, workload_hash=OTHER_WORKLOAD.hash),
        trial(1, machine=OTHER_MACHINE.fingerprint),
    ]
    assert None not in db.add_trials(batch)
    assert len(list(db.trials())) == 3


def test_a_batch_is_kept_whole_or_not_at_all(db: Database) -> None:
    with pytest.raises(
        RecordsError, match=r"workload nowhere, which is not in .*: record it before"
    ):
        db.add_trials([trial(1), trial(2, workload_hash="nowhere")])
    with pytest.raises(RecordsError, match=r"machine nobody, .*: record it before"):
        db.add_trials([trial(1, machine="nobody")])
    assert list(db.trials()) == []


def test_a_batch_larger_than_one_statement(db: Database) -> None:
    ids = db.add_trials([trial(number) for number in range(2500)])
    assert ids == sorted(id_ for id_ in ids if id_ is not None)
    stored = list(db.trials())
    assert stored == [trial(number) for number in range(2500)]
    found = db.lookup("w0", MACHINE.fingerprint, map(gene, range(5000)))
    assert len(found) == 2500 and found[gene(2400)] == trial(2400)


def test_workloads_and_machines(db: Database) -> None:
    relative = replace(OTHER_WORKLOAD, structure_hash=WORKLOAD.structure_hash)
    assert db.add_workload(relative) and db.add_machine(OTHER_MACHINE)
    assert not db.add_workload(replace(relative, name="again")) and not db.add_machine(MACHINE)
    assert db.workload(relative.hash) == relative
    assert db.workload("nowhere") is None
    assert db.workloads() == [relative, WORKLOAD]
    assert db.workloads(WORKLOAD.structure_hash) == [relative, WORKLOAD]
    assert db.workloads("s9") == []
    assert sorted(db.machines(), key=str) == sorted([MACHINE, OTHER_MACHINE], key=str)


def test_best_is_the_fastest_correct_trial(db: Database) -> None:
    db.add_machine(OTHER_MACHINE)
    assert db.best("w0", MACHINE.fingerprint) is None
    db.add_trials(
        [
            trial(1, latencies_s=(3.0, 1.0, 2.0)),
            trial(2, latencies_s=(1.5, 1.5, 9.0)),
            trial(3, latencies_s=(1.5,)),
            failure(4, latencies_s=(0.1,), stage="check", error="WrongAnswer"),
            trial(5, machine=OTHER_MACHINE.fingerprint, latencies_s=(1.0,)),
        ]
    )
    here, anywhere = db.best("w0", MACHINE.fingerprint), db.best("w0")
    assert here is not None and number_of(here) == 2 and here.latency_s == 1.5
    assert anywhere is not None and number_of(anywhere) == 5


def test_a_confirmation_decides_the_best_but_not_the_history(db: Database) -> None:
    fast, slow, failed = db.add_trials(
        [trial(1, latencies_s=(1.0,)), trial(2, latencies_s=(1.1,)), failure(3)]
    )
    assert db.best("w0", MACHINE.fingerprint, confirmed=True) is None
    db.confirm(fast or 0, [1.3, 1.2, 1.4])
    assert db.best("w0", MACHINE.fingerprint, confirmed=True) == db.trial(fast or 0)
    other = db.best("w0", MACHINE.fingerprint, confirmed=False)
    assert other is not None and other.id == slow
    assert db.best("w0", MACHINE.fingerprint) == db.trial(fast or 0), "its figure is to be believed"
    assert db.summary().coverage[0].best_s == 1.3
    db.confirm(slow or 0, [1.2])
    best = db.best("w0", MACHINE.fingerprint)
    assert best is not None and best.id == slow
    confirmed = db.trial(fast or 0)
    assert confirmed is not None
    assert (confirmed.latency_s, confirmed.measured_s) == (1.3, 1.0)
    assert db.rounds(MACHINE.fingerprint)[0].best_s == 1.0
    assert min(db.training_set(MACHINE.fingerprint)[0].latency_s) == 1.0
    for wrong in (failed or 0, 10**9):
        with pytest.raises(RecordsError, match=f"no successful trial {wrong} to confirm"):
            db.confirm(wrong, [1.0])
    with pytest.raises(RecordsError, match="holds no latency"):
        db.confirm(fast or 0, [])


def test_trials_are_read_in_order_while_others_are_written(db: Database) -> None:
    db.add_trials([trial(number) for number in range(1500)])
    seen: list[Trial] = []
    for number, stored in enumerate(db.trials("w0", MACHINE.fingerprint)):
        seen.append(stored)
        if number == 700:
            db.add_trials([trial(5000)])
    assert [number_of(stored) for stored in seen] == [*range(1500), 5000]
    last = seen[-2].id or 0
    assert [number_of(stored) for stored in db.trials(after=last)] == [5000]
    assert list(db.trials("w1")) == [] and list(db.trials(machine="nobody")) == []


def test_a_reader_sees_one_moment(db: Database, target: str) -> None:
    db.add_trials([trial(1)])
    with Database.open(target, readonly=True) as other, other._store.read() as connection:
        before = queries.summary(connection)
        db.add_trials([trial(2)])
        assert before.trials == 1 and queries.summary(connection) == before
        assert other.summary().trials == 2


def test_rounds_recall_the_history_in_order(db: Database) -> None:
    db.add_workload(OTHER_WORKLOAD)
    db.add_trials([trial(1, round=0), failure(2, round=0), trial(3, round=0, latencies_s=(0.5,))])
    db.add_trials([failure(1, workload_hash="w1", round=0)])
    db.add_trials([trial(4, round=1), trial(5, round=0, seed=9)])
    found = db.rounds(MACHINE.fingerprint)
    keys = [(r.workload_hash, r.seed, r.number, r.trials, r.failed) for r in found]
    assert keys == [
        ("w0", 1, 0, 3, 1),
        ("w1", 1, 0, 1, 1),
        ("w0", 1, 1, 1, 0),
        ("w0", 9, 0, 1, 0),
    ]
    assert found[0].best_s == trial(1).measured_s and found[1].best_s is None
    assert found[0].last_id - found[0].first_id == 2
    assert [r.workload_hash for r in db.rounds(MACHINE.fingerprint, "w1")] == ["w1"]
    assert db.rounds("nobody") == []


def test_training_set_groups_trials_by_workload_and_producer(db: Database) -> None:
    plain = gene(2, sketch="plain")
    db.add_trials(
        [
            trial(1, latencies_s=(0.5, 0.25, 1.0), round=3),
            trial(2, gene=plain),
            failure(3),
            trial(4, latencies_s=(2.0,), region_s=1e-6),
        ]
    )
    groups = db.training_set(MACHINE.fingerprint)
    assert [group.producer for group in groups] == [gene(1).producer, plain.producer]
    assert groups[0].decisions == (gene(1).decisions, gene(4).decisions)
    assert groups[0].latency_s.tolist() == [0.5, 2.0]
    assert groups[0].rounds.tolist() == [3, 0]
    np.testing.assert_array_equal(groups[0].region_s, [np.nan, 1e-6])
    with_failed = db.training_set(MACHINE.fingerprint, include_failed=True)[0]
    assert with_failed.decisions == tuple(gene(n).decisions for n in (1, 3, 4))
    assert with_failed.latency_s.tolist() == [0.5, np.inf, 2.0]
    assert np.all(np.diff(with_failed.ids) > 0)
    assert db.training_set("nobody") == []
    assert [g.producer for g in db.training_set(MACHINE.fingerprint, {"w0"})] == [
        group.producer for group in groups
    ]
    assert db.training_set(MACHINE.fingerprint, {"w1"}) == []
    assert (db.measured(MACHINE.fingerprint), db.measured("nobody")) == ({"w0"}, set())


def test_training_set_is_read_in_bulk(db: Database) -> None:
    producer = '["' + "x" * 2000 + '"]'
    texts = [f'{{"C":[{number}]}}' for number in range(10_000)]
    db.add_trials([trial(n, gene=Gene(producer, text)) for n, text in enumerate(texts)])
    (group,) = db.training_set(MACHINE.fingerprint)
    assert (group.producer, list(group.decisions)) == (producer, texts)


def test_models_are_replaced_as_a_whole(db: Database) -> None:
    db.add_workload(OTHER_WORKLOAD)
    db.add_model(ModelRow("m0", "net", (ModelTask("w1", 3), ModelTask("w0", 1))))
    db.add_model(ModelRow("m1", "another", ()))
    db.add_model(ModelRow("m0", "net", (ModelTask("w0", 2),)))
    assert db.models() == [
        ModelRow("m1", "another", ()),
        ModelRow("m0", "net", (ModelTask("w0", 2),)),
    ]
    with pytest.raises(RecordsError, match="'bad' names workload w9"):
        db.add_model(ModelRow("m0", "bad", (ModelTask("w9", 2),)))
    assert len(db.models()[1].tasks) == 1


def test_a_run_is_replaced_by_how_far_it_came(db: Database) -> None:
    assert db.runs() == []
    db.keep(replace(RUN, seconds=1.0))
    db.keep(RUN)
    db.keep(replace(RUN, started_at=RUN.started_at - 1))
    assert db.runs() == [replace(RUN, started_at=RUN.started_at - 1), RUN]
    with pytest.raises(RecordsError, match="no length of time"):
        replace(RUN, seconds=float("nan"))


def test_ceilings_are_one_row_a_machine(db: Database) -> None:
    assert db.ceilings() == []
    db.keep(replace(CEILINGS, flops_per_s=1.0))
    db.keep(CEILINGS)
    assert db.ceilings() == [CEILINGS]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flops_per_s": 0.0}, "positive finite rates"),
        ({"bytes_per_s": (1.0, float("inf"))}, "positive finite rates"),
        ({"sizes_bytes": (), "bytes_per_s": ()}, "positive finite rates"),
        ({"bytes_per_s": (1.0,)}, "one rate for each size"),
    ],
)
def test_ceilings_that_limit_nothing_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordsError, match=message):
        replace(CEILINGS, **changes)


def test_the_time_to_move_data_is_that_of_as_much_data() -> None:
    assert CEILINGS.seconds(1 << 10) == (1 << 10) / 5e11
    assert CEILINGS.seconds(1 << 19) == (1 << 19) / 5e11
    assert CEILINGS.seconds(1 << 21) == (1 << 21) / 1e11


def test_the_higher_ceilings_stay() -> None:
    busy = replace(CEILINGS, flops_per_s=1.0, bytes_per_s=(9e11, 1.0), measured_at=9.0)
    higher = replace(CEILINGS, bytes_per_s=(9e11, 1e11), measured_at=9.0)
    assert CEILINGS.raised_by(busy) == higher
    other = replace(busy, sizes_bytes=(1, 2))
    assert CEILINGS.raised_by(other) == other


def test_a_history_is_the_trials_without_their_genes(db: Database) -> None:
    db.add_machine(OTHER_MACHINE)
    ids = db.add_trials([trial(1), failure(2), trial(3, machine=OTHER_MACHINE.fingerprint)])
    db.confirm(ids[0] or 0, [0.5])
    first, second = db.history(MACHINE.fingerprint)
    (stored, failed, _) = db.trials()
    for line, whole in ((first, stored), (second, failed)):
        for field in fields(line):
            if field.name != "confirmed":
                assert getattr(line, field.name) == getattr(whole, field.name)
    assert (first.confirmed, second.confirmed) == (True, False)
    assert (first.latency_s, first.measured_s) == (0.5, trial(1).measured_s)


def test_summary_counts(db: Database) -> None:
    db.add_workload(OTHER_WORKLOAD)
    db.add_model(ModelRow("m0", "net", (ModelTask("w0", 1),)))
    db.add_trials(
        [
            trial(1),
            failure(2),
            failure(3),
            failure(4, stage="build", error="BuildError"),
            failure(1, workload_hash="w1"),
        ]
    )
    summary = db.summary()
    assert (summary.trials, summary.failed, summary.workloads) == (5, 4, 2)
    assert summary.machines == (MACHINE,) and summary.models[0].name == "net"
    lines = [(c.name, c.trials, c.failed, c.best_s) for c in summary.coverage]
    assert lines == [("conv2d", 1, 1, None), ("matmul", 4, 3, trial(1).latency_s)]
    assert summary.coverage[1].last_at == trial(4).created_at
    errors = [(e.stage, e.error, e.trials) for e in summary.errors]
    assert errors == [("run", "RunError", 3), ("build", "BuildError", 1)]


def test_reopening_finds_everything(target: str) -> None:
    with Database.open(target) as database:
        assert database.summary().trials == 0
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        database.add_trials([trial(1)])
    with Database.open(target, create=False) as database:
        assert list(database.trials()) == [trial(1)]
    with Database.open(target, readonly=True) as database:
        assert list(database.trials()) == [trial(1)]
        with pytest.raises(RecordsError, match="was opened read-only"):
            database.add_trials([trial(2)])


def test_an_empty_database_is_not_read(target: str) -> None:
    for options in ({"create": False}, {"readonly": True}):
        with pytest.raises(RecordsError, match=r"is empty|does not exist"):
            Database.open(target, **options)


@pytest.mark.parametrize(
    ("schema", "who"), [("999", "the Tilewright that wrote it"), ("3", r"Tilewright 0\.1\.0")]
)
def test_another_schema_is_refused(target: str, schema: str, who: str) -> None:
    """Whatever tables it has: first it is told who reads it."""
    with Database.open(target) as database, database._store.write() as connection:
        connection.execute(update(meta).values(value=schema))
        connection.execute(text("CREATE TABLE loads (machine TEXT)"))
    reads = f"reads schema {SCHEMA_VERSION}"
    said = rf"has schema {schema}, .* {reads}: use {who}.* to `export` it, then import that"
    for options in ({}, {"readonly": True}):
        with pytest.raises(RecordsError, match=said):
            Database.open(target, **options)


def test_a_writer_waits_only_so_long(target: str) -> None:
    with Database.open(target) as holder, holder._store.write():
        with pytest.raises(RecordsError, match="another process holds the write lock"):
            Database.open(target, timeout_s=0.05)
        with Database.open(target, readonly=True) as reader:
            assert reader.summary().trials == 0

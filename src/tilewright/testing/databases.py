"""What a place where records are kept must do, and sample rows to put there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.contract.gene import Gene
from tilewright.ground.errors import RecordsError
from tilewright.records import (
    CeilingsRow,
    Database,
    FactsRow,
    ImportedRecords,
    LoadRow,
    Machine,
    ModelRow,
    ModelTask,
    ReuseRow,
    RunRow,
    Trial,
    WorkloadRow,
)

MACHINE = Machine.of(
    "cpu", cpu="icelake-server", features="+avx2,+avx512f", cores=2, compiler="LLVM 22.1.0"
)
HERE = MACHINE.fingerprint
OTHER_MACHINE = Machine.of(
    "cpu", cpu="icelake-server", features="+avx2", cores=4, compiler="LLVM 22.1.0"
)
WORKLOAD = WorkloadRow("w0", "matmul", '{"stages":[]}', "s0", (512, 512, 512), 2 * 512**3)
OTHER_WORKLOAD = WorkloadRow("w1", "conv2d", '{"stages":[]}', "s1", (14, 14, 256), 10**9)
LOAD = LoadRow(HERE, 1_700_000_000.0, "busy for 80 % of the time: a program")
FACTS = FactsRow(HERE, "run", 1_700_000_000.0, {"command": "tune µ.onnx", "minutes": 2.5})
RUN = RunRow(HERE, 1_700_000_000.0, 1, "evolution", 60.5, 20.0, 5.0, 10.0, 15.0, 2.5)
REUSED = ReuseRow(HERE, "plan", 1, 1, "w1", "reuse", "w0", 12, 7.5)
CEILINGS = CeilingsRow(HERE, 4e11, (1 << 15, 1 << 20), (5e11, 1e11), 1.7e9)

KNOWN = replace(REUSED, position=0, workload_hash="w0", kind="recorded", source_hash=None)
LAST = replace(KNOWN, position=2, workload_hash="w2", kind="search", programs=128)
STEPS = [KNOWN, REUSED, LAST]
"""A plan."""


def gene(number: int, sketch: str = "tile") -> Gene:
    """Another one for each number; those of a hundred share a producer."""
    steps = f'[["split","C","i",["C.i#1",{number // 100}]]]'
    return Gene(f'{{"sketch":"{sketch}","steps":{steps}}}', f'{{"C.i":[{number}],"C.unroll":2}}')


def number_of(trial: Trial) -> int:
    """The number of a sample trial."""
    (tile,) = json.loads(trial.gene.decisions)["C.i"]
    return int(tile)


def trial(number: int, **changes: Any) -> Trial:
    """A distinct successful trial for each number."""
    sample = Trial(
        workload_hash=WORKLOAD.hash,
        machine=HERE,
        gene=gene(number),
        round=number // 7,
        seed=1,
        latencies_s=(0.001 + number * 1e-6,),
        predicted=0.5,
        origin="sample",
        created_at=1_700_000_000.0 + number,
    )
    return replace(sample, **changes)


def failure(number: int, **changes: Any) -> Trial:
    """A distinct failed trial for each number."""
    failed = {
        "latencies_s": (),
        "stage": "run",
        "error": "RunError",
        "message": "killed by SIGSEGV",
    }
    return trial(number, **{**failed, **changes})


def ids(db: Database, *numbers: int, **changes: Any) -> tuple[int, ...]:
    """Of new trials."""
    return tuple(i for i in db.add_trials([trial(n, **changes) for n in numbers]) if i is not None)


class DatabaseSuite:
    """For places where records are kept: `make` opens the one of a folder."""

    def make(self, folder: Path, **options: Any) -> Database:
        """With the options of `Database.open`: `create`, `readonly`, `timeout_s`."""
        raise NotImplementedError

    @pytest.fixture
    def db(self, tmp_path: Path) -> Iterator[Database]:
        """An open database that knows MACHINE and WORKLOAD."""
        with self.make(tmp_path) as database:
            database.add_machine(MACHINE)
            database.add_workload(WORKLOAD)
            yield database

    @pytest.fixture
    def planned(self, db: Database) -> Database:
        """One that knows the plan's workloads as well."""
        db.add_workload(OTHER_WORKLOAD)
        db.add_workload(replace(WORKLOAD, hash="w2", name="alone"))
        return db

    def test_text_that_no_database_stores_is_replaced(self, db: Database) -> None:
        (id_,) = db.add_trials([failure(1, message="\0 \udcff \U0001f600")])
        stored = db.trial(id_ or 0)
        assert stored is not None and stored.message == "\ufffd \ufffd \U0001f600"

    def test_reopening_finds_everything(self, tmp_path: Path) -> None:
        with self.make(tmp_path) as database:
            assert database.summary().trials == 0
            database.add_machine(MACHINE)
            database.add_workload(WORKLOAD)
            database.add_trials([trial(1)])
        with self.make(tmp_path, create=False) as database:
            assert list(database.trials()) == [trial(1)]
        with self.make(tmp_path, readonly=True) as database:
            assert list(database.trials()) == [trial(1)]
            with pytest.raises(RecordsError, match="was opened read-only"):
                database.add_trials([trial(2)])

    def test_an_empty_database_is_not_read(self, tmp_path: Path) -> None:
        for options in ({"create": False}, {"readonly": True}):
            with pytest.raises(RecordsError, match=r"is empty|does not exist"):
                self.make(tmp_path, **options)

    def test_trial_round_trip_keeps_every_field(self, db: Database) -> None:
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

    def test_duplicates_are_skipped_and_the_first_stays(self, db: Database) -> None:
        first = db.add_trials([trial(1), trial(2)])
        again = db.add_trials([trial(2, latencies_s=(9.0,)), trial(3), trial(3, seed=7), trial(1)])
        assert first[0] is not None and first[1] is not None
        assert [id_ is None for id_ in again] == [True, False, True, True]
        assert list(db.trials()) == [trial(1), trial(2), trial(3)]
        assert db.add_trials([]) == []

    def test_same_gene_counts_once_per_workload_and_machine(self, db: Database) -> None:
        db.add_workload(OTHER_WORKLOAD)
        db.add_machine(OTHER_MACHINE)
        batch = [
            trial(1),
            trial(1, workload_hash=OTHER_WORKLOAD.hash),
            trial(1, machine=OTHER_MACHINE.fingerprint),
        ]
        assert None not in db.add_trials(batch)
        assert len(list(db.trials())) == 3

    def test_a_batch_is_kept_whole_or_not_at_all(self, db: Database) -> None:
        with pytest.raises(
            RecordsError, match=r"workload nowhere, which is not in .*: record it before"
        ):
            db.add_trials([trial(1), trial(2, workload_hash="nowhere")])
        with pytest.raises(RecordsError, match=r"machine nobody, .*: record it before"):
            db.add_trials([trial(1, machine="nobody")])
        assert list(db.trials()) == []

    def test_a_batch_larger_than_one_statement(self, db: Database) -> None:
        ids = db.add_trials([trial(number) for number in range(2500)])
        assert ids == sorted(id_ for id_ in ids if id_ is not None)
        stored = list(db.trials())
        assert stored == [trial(number) for number in range(2500)]
        found = db.lookup("w0", HERE, map(gene, range(5000)))
        assert len(found) == 2500 and found[gene(2400)] == trial(2400)

    def test_workloads_and_machines(self, db: Database) -> None:
        relative = replace(OTHER_WORKLOAD, structure_hash=WORKLOAD.structure_hash)
        assert db.add_workload(relative) and db.add_machine(OTHER_MACHINE)
        assert not db.add_workload(replace(relative, name="again")) and not db.add_machine(MACHINE)
        assert db.workload(relative.hash) == relative
        assert db.workload("nowhere") is None
        assert db.workloads() == [relative, WORKLOAD]
        assert db.workloads(WORKLOAD.structure_hash) == [relative, WORKLOAD]
        assert db.workloads("s9") == []
        assert sorted(db.machines(), key=str) == sorted([MACHINE, OTHER_MACHINE], key=str)

    def test_best_is_the_fastest_correct_trial(self, db: Database) -> None:
        db.add_machine(OTHER_MACHINE)
        assert db.best("w0", HERE) is None
        db.add_trials(
            [
                trial(1, latencies_s=(3.0, 1.0, 2.0)),
                trial(2, latencies_s=(1.5, 1.5, 9.0)),
                trial(3, latencies_s=(1.5,)),
                failure(4, latencies_s=(0.1,), stage="check", error="WrongAnswer"),
                trial(5, machine=OTHER_MACHINE.fingerprint, latencies_s=(1.0,)),
            ]
        )
        here, anywhere = db.best("w0", HERE), db.best("w0")
        assert here is not None and number_of(here) == 2 and here.latency_s == 1.5
        assert anywhere is not None and number_of(anywhere) == 5

    def test_a_confirmation_decides_the_best_but_not_the_history(self, db: Database) -> None:
        fast, slow, failed = db.add_trials(
            [trial(1, latencies_s=(1.0,)), trial(2, latencies_s=(1.1,)), failure(3)]
        )
        assert db.best("w0", HERE, confirmed=True) is None
        db.confirm(fast or 0, [1.3, 1.2, 1.4])
        assert db.best("w0", HERE, confirmed=True) == db.trial(fast or 0)
        other = db.best("w0", HERE, confirmed=False)
        assert other is not None and other.id == slow
        assert db.best("w0", HERE) == db.trial(fast or 0), "its figure is to be believed"
        assert db.summary().coverage[0].best_s == 1.3
        db.confirm(slow or 0, [1.2])
        best = db.best("w0", HERE)
        assert best is not None and best.id == slow
        confirmed = db.trial(fast or 0)
        assert confirmed is not None
        assert (confirmed.latency_s, confirmed.measured_s) == (1.3, 1.0)
        assert db.rounds(HERE)[0].best_s == 1.0
        assert min(db.training_set(HERE)[0].latency_s) == 1.0
        for wrong in (failed or 0, 10**9):
            with pytest.raises(RecordsError, match=f"no successful trial {wrong} to confirm"):
                db.confirm(wrong, [1.0])
        with pytest.raises(RecordsError, match="holds no latency"):
            db.confirm(fast or 0, [])

    def test_trials_are_read_in_order_while_others_are_written(self, db: Database) -> None:
        db.add_trials([trial(number) for number in range(1500)])
        seen: list[Trial] = []
        for number, stored in enumerate(db.trials("w0", HERE)):
            seen.append(stored)
            if number == 700:
                db.add_trials([trial(5000)])
        assert [number_of(stored) for stored in seen] == [*range(1500), 5000]
        last = seen[-2].id or 0
        assert [number_of(stored) for stored in db.trials(after=last)] == [5000]
        assert list(db.trials("w1")) == [] and list(db.trials(machine="nobody")) == []

    def test_rounds_recall_the_history_in_order(self, db: Database) -> None:
        db.add_workload(OTHER_WORKLOAD)
        db.add_trials(
            [trial(1, round=0), failure(2, round=0), trial(3, round=0, latencies_s=(0.5,))]
        )
        db.add_trials([failure(1, workload_hash="w1", round=0)])
        db.add_trials([trial(4, round=1), trial(5, round=0, seed=9)])
        found = db.rounds(HERE)
        keys = [(r.workload_hash, r.seed, r.number, r.trials, r.failed) for r in found]
        assert keys == [
            ("w0", 1, 0, 3, 1),
            ("w1", 1, 0, 1, 1),
            ("w0", 1, 1, 1, 0),
            ("w0", 9, 0, 1, 0),
        ]
        assert found[0].best_s == trial(1).measured_s and found[1].best_s is None
        assert found[0].last_id - found[0].first_id == 2
        assert [r.workload_hash for r in db.rounds(HERE, "w1")] == ["w1"]
        assert db.rounds("nobody") == []

    def test_training_set_groups_trials_by_workload_and_producer(self, db: Database) -> None:
        plain = gene(2, sketch="plain")
        db.add_trials(
            [
                trial(1, latencies_s=(0.5, 0.25, 1.0), round=3),
                trial(2, gene=plain),
                failure(3),
                trial(4, latencies_s=(2.0,), region_s=1e-6),
            ]
        )
        groups = db.training_set(HERE)
        assert [group.producer for group in groups] == [gene(1).producer, plain.producer]
        assert groups[0].decisions == (gene(1).decisions, gene(4).decisions)
        assert groups[0].latency_s.tolist() == [0.5, 2.0]
        assert groups[0].rounds.tolist() == [3, 0]
        np.testing.assert_array_equal(groups[0].region_s, [np.nan, 1e-6])
        with_failed = db.training_set(HERE, include_failed=True)[0]
        assert with_failed.decisions == tuple(gene(n).decisions for n in (1, 3, 4))
        assert with_failed.latency_s.tolist() == [0.5, np.inf, 2.0]
        assert np.all(np.diff(with_failed.ids) > 0)
        assert db.training_set("nobody") == []
        assert [g.producer for g in db.training_set(HERE, {"w0"})] == [
            group.producer for group in groups
        ]
        assert db.training_set(HERE, {"w1"}) == []
        assert (db.measured(HERE), db.measured("nobody")) == ({"w0"}, set())

    def test_training_set_is_read_in_bulk(self, db: Database) -> None:
        producer = '["' + "x" * 2000 + '"]'
        texts = [f'{{"C":[{number}]}}' for number in range(10_000)]
        db.add_trials([trial(n, gene=Gene(producer, text)) for n, text in enumerate(texts)])
        (group,) = db.training_set(HERE)
        assert (group.producer, list(group.decisions)) == (producer, texts)

    def test_models_are_replaced_as_a_whole(self, db: Database) -> None:
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

    def test_a_run_is_replaced_by_how_far_it_came(self, db: Database) -> None:
        assert db.runs() == []
        db.keep(replace(RUN, seconds=1.0))
        db.keep(RUN)
        db.keep(replace(RUN, started_at=RUN.started_at - 1))
        assert db.runs() == [replace(RUN, started_at=RUN.started_at - 1), RUN]
        with pytest.raises(RecordsError, match="no length of time"):
            replace(RUN, seconds=float("nan"))

    def test_ceilings_are_one_row_a_machine(self, db: Database) -> None:
        assert db.ceilings() == []
        db.keep(replace(CEILINGS, flops_per_s=1.0))
        db.keep(CEILINGS)
        assert db.ceilings() == [CEILINGS]

    def test_a_history_is_the_trials_without_their_genes(self, db: Database) -> None:
        db.add_machine(OTHER_MACHINE)
        ids = db.add_trials([trial(1), failure(2), trial(3, machine=OTHER_MACHINE.fingerprint)])
        db.confirm(ids[0] or 0, [0.5])
        first, second = db.history(HERE)
        (stored, failed, _) = db.trials()
        for line, whole in ((first, stored), (second, failed)):
            for field in fields(line):
                if field.name != "confirmed":
                    assert getattr(line, field.name) == getattr(whole, field.name)
        assert (first.confirmed, second.confirmed) == (True, False)
        assert (first.latency_s, first.measured_s) == (0.5, trial(1).measured_s)

    def test_summary_counts(self, db: Database) -> None:
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

    def test_renaming(self, db: Database) -> None:
        model = ModelRow.of("model", (ModelTask("w0", 2),))
        db.add_model(model)
        db.rename(model.hash, "detector")
        db.add_model(model)
        assert [m.name for m in db.summary().models] == ["detector"], "tuning again keeps it"
        with pytest.raises(RecordsError, match="has no model abc to rename"):
            db.rename("abc", "x")

    def test_pruning_keeps_what_is_fast_confirmed_or_default(self, db: Database) -> None:
        default = trial(0, origin="default", latencies_s=(9.0,))
        again = trial(1, latencies_s=(8.0,))
        rest = [trial(n, latencies_s=(float(n),)) for n in (2, 3, 4, 5)]
        ids = db.add_trials([default, again, *rest, failure(6)])
        db.confirm(ids[1] or 0, [8.0])
        assert db.prune(2) == 4
        assert [t.gene for t in db.trials()] == [t.gene for t in (default, again, rest[0])]
        assert db.prune(2) == 0

    def test_deleting_a_task(self, db: Database) -> None:
        db.add_workload(OTHER_WORKLOAD)
        db.add_model(ModelRow.of("net", (ModelTask("w0", 2),)))
        db.add_trials([trial(1), trial(2, region_s=1e-6), trial(3, workload_hash="w1")])
        assert db.delete("w0") == 2
        assert [t.workload_hash for t in db.trials()] == ["w1"]
        assert [w.hash for w in db.workloads()] == [WORKLOAD.hash, OTHER_WORKLOAD.hash] or [
            w.hash for w in db.workloads()
        ] == [OTHER_WORKLOAD.hash, WORKLOAD.hash], "the model still has it"
        assert db.delete("w1") == 1
        assert [w.hash for w in db.workloads()] == [WORKLOAD.hash]

    def test_merging_keeps_what_is_there(self, db: Database, tmp_path: Path) -> None:
        file = tmp_path / "other.jsonl.gz"
        with Database.open(tmp_path / "other.db") as other:
            other.add_machine(MACHINE)
            other.add_workload(replace(WORKLOAD, name="renamed"))
            other.add_workload(OTHER_WORKLOAD)
            other.add_model(ModelRow("m0", "net", (ModelTask("w1", 2),)))
            other.add_trials([trial(1, latencies_s=(9.0,)), failure(2)])
            other.export(file)
        db.add_trials([trial(1)])
        counts = db.import_(file)
        assert counts == ImportedRecords(workloads=1, models=1, trials=1, known_trials=1)
        assert list(db.trials()) == [trial(1), failure(2)]
        assert db.workload("w0") == WORKLOAD

    def test_runs_and_ceilings_that_are_here_stay(self, db: Database, tmp_path: Path) -> None:
        file = tmp_path / "other.jsonl"
        with Database.open(tmp_path / "other.db") as other:
            other.add_machine(MACHINE)
            other.keep(replace(RUN, seconds=1.0))
            other.keep(replace(RUN, started_at=5.0))
            other.keep(replace(LOAD, reason="theirs"))
            other.keep(replace(LOAD, started_at=5.0))
            other.keep(replace(FACTS, facts={"command": "theirs"}))
            other.keep(replace(FACTS, kind="measured", facts={"tuned": 0.5}))
            other.keep(replace(CEILINGS, flops_per_s=1.0))
            other.export(file)
        db.keep(RUN)
        db.keep(LOAD)
        db.keep(FACTS)
        db.keep(CEILINGS)
        assert db.import_(file) == ImportedRecords(runs=1)
        assert db.runs() == [replace(RUN, started_at=5.0), RUN]
        assert db.loads() == [replace(LOAD, started_at=5.0), LOAD]
        assert db.facts("run") == [FACTS]
        assert db.facts("measured") == [replace(FACTS, kind="measured", facts={"tuned": 0.5})]
        assert db.ceilings() == [CEILINGS]

    def test_steps_come_back_in_their_order(self, planned: Database) -> None:
        assert planned.plan(HERE, "plan", 1) == []
        for step in reversed(STEPS):
            planned.keep(step)
        planned.add_machine(OTHER_MACHINE)
        others = {"machine": OTHER_MACHINE.fingerprint}, {"plan": "other"}, {"seed": 2}
        for change in others:
            planned.keep(replace(REUSED, **change))
        assert planned.plan(HERE, "plan", 1) == STEPS
        assert planned.plan(HERE, "plan", 2) == [replace(REUSED, seed=2)]
        planned.keep(replace(REUSED, seconds=0.1 + 0.2))
        assert planned.plan(HERE, "plan", 1)[1].seconds == 0.1 + 0.2

    def test_a_plan_is_recorded_whole_by_the_first(self, planned: Database) -> None:
        assert planned.add_plan([]) == []
        with pytest.raises(RecordsError):
            planned.add_plan([*STEPS, replace(REUSED, workload_hash="w9")])
        assert planned.plan(HERE, "plan", 1) == []
        assert planned.add_plan([LAST, REUSED, KNOWN]) == STEPS
        assert planned.add_plan([replace(REUSED, programs=9)]) == STEPS
        with pytest.raises(RecordsError, match="steps of several plans are given as plan plan"):
            planned.add_plan([REUSED, replace(LAST, seed=2)])

    def test_a_step_begins_once(self, planned: Database, tmp_path: Path) -> None:
        planned.add_plan(STEPS)
        first, second = ids(planned, 1, 2), ids(planned, 3)
        assert planned.pin(REUSED) == REUSED, "nothing to reuse yet"
        with self.make(tmp_path) as other:
            begun = planned.pin(replace(REUSED, trials=first))
            assert begun == replace(REUSED, trials=first) and begun.begun_at > 1.7e9
            again = other.pin(replace(REUSED, trials=second))
            assert (again, again.begun_at) == (begun, begun.begun_at)
            assert other.plan(HERE, "plan", 1) == [KNOWN, begun, LAST]
        with pytest.raises(RecordsError, match="no step for w1 in plan nowhere: record the plan"):
            planned.pin(replace(REUSED, plan="nowhere", trials=first))

    def test_what_reused_what_is_told_by_the_last_step_that_began(self, planned: Database) -> None:
        newer = replace(REUSED, plan="a newer one", source_hash="w2")
        for step in (*STEPS, newer):
            planned.keep(step)
        assert planned.reused(HERE) == {}
        late, early = ids(planned, 1), ids(planned, 2, workload_hash="w2")
        older = planned.pin(replace(REUSED, trials=late))
        assert planned.reused(HERE) == {"w1": older}
        begun = planned.pin(replace(newer, trials=early))
        assert planned.reused(HERE) == {"w1": begun} and planned.reused("nobody") == {}

    def test_what_has_gone_is_named_no_longer(self, planned: Database) -> None:
        planned.add_plan(STEPS)
        slow, fast, default = planned.add_trials(
            [
                trial(1, latencies_s=(2.0,)),
                trial(2, latencies_s=(1.0,)),
                trial(3, latencies_s=(3.0,), origin="default"),
            ]
        )
        assert slow and fast and default
        planned.pin(replace(REUSED, trials=(fast, slow)))
        planned.prune(1)
        (step,) = planned.reused(HERE).values()
        assert step.trials == (fast,) and step.begun_at
        planned.add_model(ModelRow.of("net", (ModelTask("w0", 1),)))
        planned.delete("w0")
        assert planned.reused(HERE) == {} and planned.plan(HERE, "plan", 1) == STEPS, (
            "it may begin anew"
        )
        assert planned.plan(HERE, "plan", 1)[1].begun_at == 0.0

    @pytest.mark.parametrize("gone", ["w0", "w1"])
    def test_a_plan_goes_with_a_task_that_it_names(self, planned: Database, gone: str) -> None:
        other = replace(LAST, plan="other")
        planned.add_plan(STEPS)
        planned.add_plan([other])
        ids(planned, 1, workload_hash=gone)
        assert planned.delete(gone) == 1
        assert planned.workload(gone) is None
        assert planned.plan(HERE, "plan", 1) == [] and planned.plan(HERE, "other", 1) == [other]

    def test_plans_stay_behind(self, planned: Database, tmp_path: Path) -> None:
        planned.add_plan(STEPS)
        planned.pin(replace(REUSED, trials=ids(planned, 1)))
        planned.export(tmp_path / "all.jsonl")
        with Database.open(tmp_path / "imported.planned") as imported:
            assert imported.import_(tmp_path / "all.jsonl").trials == 1
            assert imported.plan(HERE, "plan", 1) == []
        with Database.open(tmp_path / "merged.planned") as merged:
            assert merged.merge(planned).trials == 1
            assert merged.reused(HERE) == {}
            merged.add_plan([LAST])
            merged.merge(planned)
            assert merged.plan(HERE, "plan", 1) == [LAST]

"""Machines and what is done when no record fits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.ground.errors import RecordsError
from tilewright.records import Database, Machine, find_record
from tilewright.testing.databases import (
    MACHINE,
    OTHER_MACHINE,
    OTHER_WORKLOAD,
    WORKLOAD,
    failure,
    number_of,
    trial,
)

FACTS = {"cpu": "znver4", "features": "+avx2,+fma", "cores": 8, "compiler": "LLVM 22.1.0"}


def machine(**changes: object) -> Machine:
    return Machine.of("cpu", **{**FACTS, **changes})  # type: ignore[arg-type]


def test_the_fingerprint_depends_on_every_fact_and_no_spelling() -> None:
    assert machine() == machine(features=["fma", " +avx2", "-tbm", ""])
    assert machine().features == ("avx2", "fma")
    changed = [
        machine(cpu="znver5"),
        machine(features="+avx2"),
        machine(cores=4),
        machine(compiler="LLVM 23.0.0"),
        Machine.of("cuda", **FACTS),  # type: ignore[arg-type]
    ]
    assert len({m.fingerprint for m in [machine(), *changed]}) == 6
    # A change of the fingerprint would orphan every record.
    assert machine().fingerprint.startswith("eee4719b691dfd479")


@pytest.mark.parametrize("changes", [{"cores": 0}, {"cpu": ""}, {"compiler": ""}])
def test_incomplete_facts_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(RecordsError, match="a machine needs a kind, a cpu"):
        machine(**changes)


def test_differences_are_phrases() -> None:
    other = machine(cores=4, features="+avx512f,+fma")
    assert machine().differences(other) == (
        "cores 4 instead of 8",
        "without avx2",
        "with avx512f",
    )
    assert machine().differences(machine()) == ()
    assert str(machine()).startswith("znver4, 8 cores, LLVM 22.1.0 (")


def test_own_records_come_first(db: Database) -> None:
    db.add_machine(OTHER_MACHINE)
    db.add_trials([trial(1), trial(2, machine=OTHER_MACHINE.fingerprint, latencies_s=(1e-9,))])
    match = find_record(db, WORKLOAD, MACHINE)
    assert match.exact and match.note == ""
    assert match.trial is not None and number_of(match.trial) == 1


def test_else_the_nearest_machine_serves_and_is_named(db: Database) -> None:
    near = Machine.of("cpu", cpu=MACHINE.cpu, features=MACHINE.features, cores=8, compiler="x 1")
    far = Machine.of("cpu", cpu="other", features="", cores=1, compiler="x 1")
    gpu = replace(MACHINE, kind="cuda", fingerprint="gpu")
    for number, other in enumerate((far, near, gpu)):
        db.add_machine(other)
        db.add_trials([trial(number, machine=other.fingerprint)])
    match = find_record(db, WORKLOAD, MACHINE)
    assert not match.exact and match.trial is not None
    assert match.trial.machine == near.fingerprint
    assert match.note == (
        "no record of this machine; using one of another "
        "(cores 8 instead of 2; compiler x 1 instead of LLVM 22.1.0)"
    )


def test_nothing_found_says_why(db: Database) -> None:
    missing = f"no record in {db.name}, so untuned (tune longer)"
    other = find_record(db, OTHER_WORKLOAD, MACHINE)
    assert (other.note, other.detail) == (missing, "")
    larger = replace(WORKLOAD, hash="w2", extents=(1024, 1024, 1024))
    relative = find_record(db, larger, MACHINE)
    assert relative.note == missing, "extents are no words of a user"
    assert relative.detail == (
        "no record of extents [1024, 1024, 1024]; 1 of the same structure have others "
        "([512, 512, 512])"
    )
    db.add_trials([failure(1), failure(2)])
    match = find_record(db, WORKLOAD, MACHINE)
    assert match.trial is None and not match.exact
    assert match.note == "all 2 recorded trials failed on this machine"

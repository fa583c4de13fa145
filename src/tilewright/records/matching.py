"""The record to compile a task with, and an honest word when it is not quite the right one.

    match = find_record(db, workload, machine)
    match.trial        the trial to replay, or None
    match.note         "" or: "no record of this machine; using one of another (…)"

A program found on one machine runs on another of its kind, only perhaps not at its best. So a
task whose own records are missing takes the nearest machine's, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from tilewright.contract.gene import Gene
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import CARRIED, Trial, WorkloadRow, program_kind


@dataclass(frozen=True, slots=True)
class RecordMatch:
    """A trial found for a task; `exact` if of this very machine; `note` says what is amiss, in the
    same words for all tasks of which it is true, and `detail` what is so of this one.

    `refused` are the ids of better trials that could not be used. A task without a trial has a
    program that nobody has measured: `carried` from another, or the first that templates of the
    target offer, its default one. `unproved` are the templates that could compute it and are left
    out there, because none of their programs was ever right on this machine.
    """

    trial: Trial | None
    exact: bool
    note: str
    detail: str = ""
    refused: tuple[int, ...] = ()
    carried: Gene | None = None
    offered: Gene | None = None
    unproved: tuple[str, ...] = ()

    @property
    def gene(self) -> Gene | None:
        """The program to compile with; None is the default one of its space."""
        return self.carried or self.offered if self.trial is None else self.trial.gene

    @property
    def program(self) -> str:
        """What kind of program that is (see `program_kind`)."""
        if self.carried is not None:
            return CARRIED
        return program_kind(None if self.trial is None else self.trial.origin)


def find_record(
    database: Database,
    workload: WorkloadRow,
    machine: Machine,
    runs: Callable[[Trial], bool] = lambda _: True,
    without: Collection[int] = (),
) -> RecordMatch:
    """The best trial of `workload` on `machine`, else on the nearest machine of the same kind, of
    those whose ids are not in `without`.

    Nearest means fewest differing facts, then fewest differing features, then the faster trial.
    `runs` says of another machine's trial whether this one can run it at all.
    """
    own = database.best(workload.hash, machine.fingerprint, without=without)
    if own is not None:
        return RecordMatch(own, True, "")
    others = []
    too_large = False
    for other in others_like(database, machine):
        trial = database.best(workload.hash, other.fingerprint, without=without)
        if trial is not None and not runs(trial):
            too_large = True
        elif trial is not None:
            others.append((_distance(machine, other), trial.latency_s, other, trial))
    if too_large and not others:
        why = "programs recorded on other machines need more than this one has"
        return RecordMatch(None, False, why)
    if not others:
        return _missing(database, workload, machine)
    _, _, nearest, trial = min(others, key=lambda entry: entry[:2])
    why = "; ".join(machine.differences(nearest))
    note = f"no record of this machine; using one of another ({why})"
    return RecordMatch(trial, False, note)


def others_like(database: Database, machine: Machine) -> list[Machine]:
    """The other machines of the same kind that a database knows, the nearest first."""
    same_kind = (m for m in database.machines() if m.kind == machine.kind and m != machine)
    return sorted(same_kind, key=lambda other: _distance(machine, other))


def _distance(machine: Machine, other: Machine) -> tuple[int, int]:
    features = set(machine.features) ^ set(other.features)
    return len(machine.differences(other)), len(features)


def _missing(database: Database, workload: WorkloadRow, machine: Machine) -> RecordMatch:
    """Why no trial serves: all failed, other shapes only, or nothing at all."""
    failed = sum(round_.trials for round_ in database.rounds(machine.fingerprint, workload.hash))
    if failed:
        return RecordMatch(None, False, f"all {failed} recorded trials failed on this machine")
    note = f"no record in {database.name}, so untuned (tune longer)"
    relatives = [
        relative
        for relative in database.workloads(workload.structure_hash)
        if relative.hash != workload.hash
    ]
    if not relatives:
        return RecordMatch(None, False, note)
    shapes = ", ".join(str(list(relative.extents)) for relative in relatives[:3])
    return RecordMatch(
        None,
        False,
        note,
        f"no record of extents {list(workload.extents)}; {len(relatives)} of the same structure "
        f"have others ({shapes})",
    )

"""Targets as a user names them, and what the records hold of a machine.

target = as_target("opencl")                      the device that is here
machine_of(target)                                what makes latencies comparable
keep_ceilings(database, machine, target)          what it can do at best, measured
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tilewright.arguments import described
from tilewright.errors import TargetError
from tilewright.measure.ceilings import Traffic, working_sets
from tilewright.measure.ceilings import measure as measure_ceilings
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.records.rows import CeilingsRow
from tilewright.runtime.devices import target_at_hand
from tilewright.settings import Settings
from tilewright.target import CpuTarget, Target


def host_target() -> Target:
    """This machine, with as many threads as the settings allow."""
    target = Target.parse("cpu")
    threads = Settings.from_environment().threads
    return target if threads is None else replace(target, cores=threads)


def as_target(target: Any) -> Target:
    """A Target from what a user gives: None is this machine, "opencl" its device."""
    match target:
        case None:
            return host_target()
        case str():
            return target_at_hand(target)
        case Target():
            return target
    raise TargetError(
        f"a target is None (this machine), a Target or its name such as 'opencl', not "
        f"{described(target)}"
    )


def machine_of(target: Target) -> Machine:
    """The facts of a target that make latencies comparable."""
    return Machine.of(
        target.kind,
        cpu=target.name,
        features=target.facts,
        cores=target.cores,
        compiler=compiler_of(target),
    )


def compiler_of(target: Target) -> str:
    """Name and version of what makes a target's machine code."""
    compiler: Callable[[], str] = target.backend.compiler.load()
    return compiler()


def keep_ceilings(database: Database, machine: Machine, target: CpuTarget) -> None:
    """Record what this machine can do at best; takes a quarter of a second on a quiet one.

    Every run measures anew and the higher figures stay, for a busy moment spoils them.
    """
    sizes = working_sets(target)
    found = measure_ceilings(target, [Traffic(s, 0) for s in sizes], sweeps=3, empty_calls=1)
    rates = tuple(stream.traffic.total / stream.seconds for stream in found.streams)
    row = CeilingsRow(machine.fingerprint, found.fma_flops, sizes, rates)
    known = next((c for c in database.ceilings() if c.machine == machine.fingerprint), row)
    database.keep(known.raised_by(row))

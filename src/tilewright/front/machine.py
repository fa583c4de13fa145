"""Targets as a user names them, and what the records hold of a machine.

target = as_target("opencl")                      the device that is here
machine_of(target)                                what makes latencies comparable
keep_ceilings(database, machine, target)          what it can do at best, measured
keep_proofs(target, passed, failed, cache)        which templates were right on a GPU
math_of(target)                                   ("bfloat16", "tdpbf16ps is 15.6 times as fast …")

What programs are chosen by where nothing else is known is kept in files of the user's cache folder,
from where `as_target` takes it: a CPU's measured speeds, and the templates that may serve
unmeasured on a GPU because programs of theirs were right there.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.contract.arguments import described
from tilewright.ground.errors import TargetError
from tilewright.ground.files import own_bytes, replacing
from tilewright.ground.lazy import Lazy
from tilewright.ground.settings import Settings
from tilewright.runtime.devices import target_at_hand
from tilewright.target import CpuTarget, GpuTarget, Speeds, Target
from tilewright.target.dots import fastest
from tilewright.target.speeds import FLOAT32, published

if TYPE_CHECKING:
    from tilewright.measure import ceilings as limits
    from tilewright.measure.ceilings import Ceilings
    from tilewright.records import machine as machines
    from tilewright.records import rows
    from tilewright.records.database import Database
    from tilewright.records.machine import Machine
else:
    limits, machines = Lazy("tilewright.measure.ceilings"), Lazy("tilewright.records.machine")
    rows = Lazy("tilewright.records.rows")

SPEEDS_FILE, PROOFS_FILE = "speeds.json", "proved.json"
NOTABLE = 1.1  # times a kept figure
BFLOAT16 = "bfloat16"


def host_target() -> Target:
    """This machine, with as many threads as the settings allow."""
    target, settings = Target.parse("cpu"), Settings.from_environment()
    if settings.threads is not None:
        target = replace(target, cores=settings.threads)
    return with_kept(target, settings.cache)


def as_target(target: Any) -> Target:
    """A Target from what a user gives: None is this machine, "opencl" its device."""
    match target:
        case None:
            return host_target()
        case str():
            return with_kept(target_at_hand(target), Settings.from_environment().cache)
        case Target():
            return target
    raise TargetError(
        f"a target is None (this machine), a Target or its name such as 'opencl', not "
        f"{described(target)}"
    )


def machine_of(target: Target) -> Machine:
    """The facts of a target that make latencies comparable."""
    return machines.Machine.of(
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
    sizes, found = limits.working_sets(target), _measured(target)
    rates = tuple(stream.traffic.total / stream.seconds for stream in found.streams)
    row = rows.CeilingsRow(machine.fingerprint, found.fma_flops, sizes, rates)
    known = next((c for c in database.ceilings() if c.machine == machine.fingerprint), row)
    database.keep(known.raised_by(row))


def _measured(target: CpuTarget) -> Ceilings:
    """What this machine can do at best; its speeds are kept."""
    traffic = [limits.Traffic(size, 0) for size in limits.working_sets(target)]
    found = limits.measure(target, traffic, sweeps=3, empty_calls=1)
    keep_speeds(target, speeds_of(found, target), Settings.from_environment().cache)
    return found


def math_of(target: Target) -> tuple[str, str]:
    """What contractions had better multiply on a target, "bfloat16" where that is faster than
    "float32", and why. This machine's rates are measured if they are not known; of others the
    tables are asked.
    """
    if not isinstance(target, CpuTarget):
        return FLOAT32, f"rates of bfloat16 are known of CPUs, not of {target.kind}:{target.name}"
    narrow = fastest(target, BFLOAT16, BFLOAT16)
    if narrow is None:
        return FLOAT32, f"{target.name} has no instruction that multiplies bfloat16"
    is_known = target.speeds.gain(narrow[0]) is not None
    if not is_known and target == replace(Target.parse("cpu"), cores=target.cores):
        target = replace(target, measured=speeds_of(_measured(target), target))
        narrow, is_known = fastest(target, BFLOAT16, BFLOAT16) or narrow, True
    name, gain = narrow
    source = "measured" if is_known else "by its table"
    return (
        BFLOAT16 if gain > 1.0 else FLOAT32,
        f"{name} does {gain:.3g} times as many operations a second as float32 ({source})",
    )


def speeds_of(ceilings: Ceilings, target: CpuTarget) -> Speeds:
    """The target's speeds with what its cores read of memory and multiply at best, each of them
    where all do.

    Clock and caches stay as published: what the estimate counts is matched to those, and with
    ceilings in their place some default programs are slower.
    """
    size = limits.working_sets(target)[-1]
    rate = size / ceilings.seconds(limits.Traffic(size, 0)) / target.cores
    multiplied = ((FLOAT32, ceilings.fma_flops), *ceilings.rates)
    rates = tuple((name, flops / target.cores) for name, flops in multiplied)
    return replace(published(target.name), dram_bytes_per_s=rate, rates=rates)


def with_kept(target: Target, cache: Path) -> Target:
    """The target, with what was measured on it and is kept: a CPU's speeds (the published ones
    serve where nothing is, or something else), a GPU's templates that were right.
    """
    match target:
        case CpuTarget(measured=None):
            speeds = _speeds(cache).get(str(target))
            return target if speeds is None else replace(target, measured=speeds)
        case GpuTarget() if not target.proved:
            return replace(target, proved=_proofs(cache).get(str(target), frozenset()))
    return target


def keep_speeds(target: CpuTarget, found: Speeds, cache: Path) -> None:
    """Keep measured speeds for later runs, if any is clearly higher than before: what is chosen by
    them must not change with every run. A folder that cannot be written costs only that.
    """
    name = str(replace(target, measured=None))
    kept = _speeds(cache)
    higher = kept[name].raised_by(found) if name in kept else found
    if name in kept and not higher.exceeds(kept[name], NOTABLE):
        return
    _keep(cache / SPEEDS_FILE, {n: str(s) for n, s in {**kept, name: higher}.items()})


def keep_proofs(
    target: GpuTarget, passed: Iterable[str], failed: Iterable[str], cache: Path
) -> None:
    """Keep for later runs which templates had programs that passed the gate on a device; one that
    had a program which did not is no longer among them.
    """
    name = str(replace(target, proved=frozenset()))
    kept = _proofs(cache)
    known = kept.get(name, frozenset())
    proved = known.union(passed).difference(failed)
    if proved != known:
        _keep(cache / PROOFS_FILE, {n: sorted(p) for n, p in {**kept, name: proved}.items()})


def _keep(file: Path, known: Mapping[str, Any]) -> None:
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as part:
            part.write_text(json.dumps(known, indent=1))


def _speeds(cache: Path) -> dict[str, Speeds]:
    """Kept speeds by target; none of a file that holds something else."""
    with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError, TargetError):
        texts = json.loads(own_bytes(cache / SPEEDS_FILE))
        return {name: Speeds.parse(text) for name, text in texts.items()}
    return {}


def _proofs(cache: Path) -> dict[str, frozenset[str]]:
    """Kept names of templates by target; none of a file that holds something else."""
    with contextlib.suppress(OSError, ValueError):
        match json.loads((cache / PROOFS_FILE).read_text()):
            case dict() as known if all(isinstance(names, list) for names in known.values()):
                return {n: frozenset(p for p in v if isinstance(p, str)) for n, v in known.items()}
    return {}

"""Whether this machine can run what an artifact was compiled for.

    check_host(artifact)      raises RunError for another architecture or missing CPU features

An illegal instruction would kill the process, so the check comes before the first call.
"""

from __future__ import annotations

import ctypes
import functools
import platform
from collections.abc import Sequence

from tilewright.contract.artifact import Artifact
from tilewright.ground.errors import RunError
from tilewright.ground.lazy import llvm
from tilewright.runtime.symbols import elf_machine
from tilewright.target import CpuTarget, Target
from tilewright.target.cpu import host_features

# ELF machine numbers, by the names that `platform.machine()` uses on Linux.
MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64", 40: "arm", 3: "i386"}
# Where Linux tells of them: (argument of getauxval, bit).
HWCAP, HWCAP2 = 16, 26
ARM_HWCAPS = {
    "lse": (HWCAP, 8),
    "fullfp16": (HWCAP, 10),
    "rdm": (HWCAP, 12),
    "rcpc": (HWCAP, 15),
    "dotprod": (HWCAP, 20),
    "sve": (HWCAP, 22),
    "sve2": (HWCAP2, 1),
    "i8mm": (HWCAP2, 13),
    "bf16": (HWCAP2, 14),
}


def host_architecture() -> str:
    """ "x86_64", "aarch64", …"""
    machine = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)


@functools.cache
def _host_features() -> frozenset[str]:
    found = {name for name, on in host_features().items() if on}
    if host_architecture() == "aarch64":
        getauxval = ctypes.CDLL(None).getauxval
        getauxval.restype, getauxval.argtypes = ctypes.c_ulong, (ctypes.c_ulong,)
        found |= {n for n, (kind, bit) in ARM_HWCAPS.items() if getauxval(kind) >> bit & 1}
    return frozenset(found)


@functools.cache
def needed_features(target: str) -> frozenset[str]:
    """LLVM's names of the instruction sets that code for `target` may use."""
    parsed = Target.parse(target)
    if not isinstance(parsed, CpuTarget):
        raise RunError(f"compiled for {target.split()[0]}, which is no CPU")
    return parsed.instructions


def check_host(artifact: Artifact) -> None:
    """Raise RunError unless this machine can run `artifact`."""
    needs = needed_features(artifact.target)
    check_targets(artifact.entry, [(artifact.target, needs)], elf_machine(artifact.object_code))


def check_targets(
    what: str, alternatives: Sequence[tuple[str, frozenset[str]]], machine: int
) -> int:
    """Which of several alternatives this machine can run, the first: code for a target that needs
    instruction sets, LLVM's names; of an ELF machine number. Raises RunError for none.
    """
    host = host_architecture()
    built_for = MACHINES.get(machine, f"ELF machine {machine}")
    if built_for != host:
        raise RunError(
            f"{what} was compiled for {built_for}, this machine is {host}: compile for "
            f"target 'cpu', or run it on the board through its runner"
        )
    for number, (_, needs) in enumerate(alternatives):
        if needs <= _host_features():
            return number
    target, needs = alternatives[-1]  # which asks for least
    raise RunError(
        f"{what} was compiled for {target.split()[0]}; this CPU ({llvm.get_host_cpu_name()}) lacks "
        f"{', '.join(sorted(needs - _host_features()))}: compile for target 'cpu'"
    )

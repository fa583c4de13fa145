"""Whether this machine can run what an artifact was compiled for.

    check_host(artifact)      raises RunError for another architecture or missing CPU features

An illegal instruction would kill the process, so the check comes before the first call.
"""

from __future__ import annotations

import functools
import platform

from llvmlite import binding as llvm

from tilewright.errors import RunError
from tilewright.runtime.artifact import Artifact
from tilewright.runtime.symbols import elf_machine
from tilewright.target import Target

# ELF machine numbers, by the names that `platform.machine()` uses on Linux.
MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64", 40: "arm", 3: "i386"}
# What a register width means on x86, for targets given by a CPU's name alone.
X86_WIDTHS = {512: ("avx512f",), 256: ("avx2", "fma")}


def host_architecture() -> str:
    """ "x86_64", "aarch64", …"""
    machine = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)


@functools.cache
def _host_features() -> frozenset[str]:
    return frozenset(name for name, on in llvm.get_host_cpu_features().items() if on)


@functools.cache
def _needed_features(target: str) -> frozenset[str]:
    parsed = Target.parse(target)
    named = {word[1:] for word in parsed.features.split(",") if word.startswith("+")}
    if parsed.architecture == "x86_64":
        named.update(X86_WIDTHS.get(parsed.vector_bits, ()))
    return frozenset(named)


def check_host(artifact: Artifact) -> None:
    """Raise RunError unless this machine can run `artifact`."""
    host = host_architecture()
    number = elf_machine(artifact.object_code)
    built_for = MACHINES.get(number, f"ELF machine {number}")
    if built_for != host:
        raise RunError(
            f"{artifact.entry} was compiled for {built_for}, this machine is {host}: compile for "
            f"target 'cpu', or run it on the board through its runner"
        )
    lacking = sorted(_needed_features(artifact.target) - _host_features())
    if lacking:
        raise RunError(
            f"{artifact.entry} was compiled for {artifact.target.split()[0]}; this CPU "
            f"({llvm.get_host_cpu_name()}) lacks {', '.join(lacking)}: compile for target 'cpu'"
        )

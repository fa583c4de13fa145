"""Whether this machine can run what an artifact was compiled for.

    check_host(artifact)      raises RunError for another architecture or missing CPU features

An illegal instruction would kill the process, so the check comes before the first call.
"""

from __future__ import annotations

import ctypes
import functools
import platform

from tilewright.contract.artifact import Artifact
from tilewright.ground.errors import RunError
from tilewright.ground.lazy import llvm
from tilewright.runtime.symbols import elf_machine
from tilewright.target import CpuTarget, Target
from tilewright.target.cpu import host_features

# ELF machine numbers, by the names that `platform.machine()` uses on Linux.
MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64", 40: "arm", 3: "i386"}
# What a register width means on x86, for targets given by a CPU's name alone: the levels of the
# x86-64 ABI, less what compilers do not emit by themselves.
X86_V3 = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt")
X86_V4 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
X86_WIDTHS = {512: (*X86_V3, *X86_V4), 256: X86_V3}
# What a CPU's name means on AArch64, beyond the base architecture.
ARM_V8_2 = ("dotprod", "fullfp16", "lse", "rcpc", "rdm")
ARM_SVE = (*ARM_V8_2, "bf16", "i8mm", "sve")
ARM_CPUS = {
    **dict.fromkeys(("cortex-a55", "cortex-a75", "cortex-a76", "cortex-a77"), ARM_V8_2),
    **dict.fromkeys(("cortex-a78", "cortex-x1", "neoverse-e1", "neoverse-n1"), ARM_V8_2),
    "neoverse-v1": ARM_SVE,
    **dict.fromkeys(("cortex-a510", "cortex-a520", "cortex-a710"), (*ARM_SVE, "sve2")),
    **dict.fromkeys(("cortex-a715", "cortex-a720", "cortex-x2"), (*ARM_SVE, "sve2")),
    **dict.fromkeys(("cortex-x3", "cortex-x4"), (*ARM_SVE, "sve2")),
    **dict.fromkeys(("neoverse-n2", "neoverse-v2"), (*ARM_SVE, "sve2")),
}
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
    named = {word[1:] for word in parsed.features.split(",") if word.startswith("+")}
    if parsed.architecture == "x86_64":
        named.update(X86_WIDTHS.get(parsed.vector_bits, ()))
    else:
        named.update(ARM_CPUS.get(parsed.cpu, ()))
    return frozenset(named)


def check_host(artifact: Artifact) -> None:
    """Raise RunError unless this machine can run `artifact`."""
    check_target(artifact.entry, artifact.target, elf_machine(artifact.object_code))


def check_target(what: str, target: str, machine: int) -> None:
    """Raise RunError unless this machine can run code for `target`, of an ELF machine number."""
    host = host_architecture()
    built_for = MACHINES.get(machine, f"ELF machine {machine}")
    if built_for != host:
        raise RunError(
            f"{what} was compiled for {built_for}, this machine is {host}: compile for "
            f"target 'cpu', or run it on the board through its runner"
        )
    lacking = sorted(needed_features(target) - _host_features())
    if lacking:
        raise RunError(
            f"{what} was compiled for {target.split()[0]}; this CPU "
            f"({llvm.get_host_cpu_name()}) lacks {', '.join(lacking)}: compile for target 'cpu'"
        )

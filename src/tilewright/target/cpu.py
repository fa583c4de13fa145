"""CPUs: this machine, and named ones to build for."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from tilewright.ground.errors import TargetError
from tilewright.ground.lazy import llvm
from tilewright.target.backend import Backend, Part
from tilewright.target.base import KIB, MIB, SIZE_SUFFIXES, Target
from tilewright.target.speeds import Speeds, published

X86_TRIPLE = "x86_64-unknown-linux-gnu"
ARM_TRIPLE = "aarch64-unknown-linux-gnu"
APPLE_TRIPLE = "arm64-apple-macosx"
CACHE_FOLDER = Path("/sys/devices/system/cpu/cpu0/cache")
CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")
DEFAULT_CACHES = {1: 32 * KIB, 2: 512 * KIB, 3: 8 * MIB}
ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XTILEDATA = 158, 0x1023, 18  # of Linux on x86-64
SHUFFLED_STRIDE = 4
"""Lanes no more elements apart are read by contiguous loads and shuffled."""
TURNED_BYTES = 16
"""Of neighbours, that a transposed load takes from each lane's address on."""


@dataclass(frozen=True, slots=True)
class CpuTarget(Target):
    """Facts of a CPU.

    `name`, `triple` and `features` are LLVM's names. Sizes are in bytes: `l1_bytes` and `l2_bytes`
    a core, `l3_bytes` shared by all cores (0 when there is none). `cores` is the number of
    threads a parallel region uses. `measured`, where somebody did, is no part of what a target is:
    code for it does not depend on it, only which program is expected to be fast.
    """

    kind: ClassVar[str] = "cpu"
    spec_keys: ClassVar[Mapping[str, str]] = {
        "triple": "triple",
        "vector_bits": "vector_bits",
        "vector_registers": "vector_registers",
        "cores": "cores",
        "l1": "l1_bytes",
        "l2": "l2_bytes",
        "l3": "l3_bytes",
        "line": "line_bytes",
        "features": "features",
    }
    optional: ClassVar[frozenset[str]] = frozenset({"l3_bytes"})
    backend: ClassVar[Backend] = Backend(
        rules=Part("tilewright.space.rules:CPU_RULES"),
        estimate=Part("tilewright.cost.estimate:cpu_estimate"),
        usage=Part("tilewright.cost.usage:cpu_usage"),
        mutations={
            "tile": 0.80, "parallel": 0.06, "pragma": 0.04, "location": 0.05, "sketch": 0.05,
        },
        emitter=Part("tilewright.codegen.llvm.functions:compiled"),
        compiler=Part("tilewright.codegen.llvm.machine:compiler"),
        trial=Part("tilewright.measure.host_trial:HostTask"),
    )  # fmt: skip

    triple: str
    features: str
    vector_registers: int
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int
    measured: Speeds | None = field(default=None, compare=False)

    def __str__(self) -> str:
        words = Target.__str__(self)
        return words if self.measured is None else f"{words} speeds={self.measured}"

    @classmethod
    def with_facts(cls, name: str, given: dict[str, Any]) -> CpuTarget:
        """See `Target`; `speeds=` may be left out."""
        measured = given.pop("measured", None)
        found = super(CpuTarget, cls).with_facts(name, given)
        assert isinstance(found, CpuTarget)
        return replace(found, measured=measured)

    @classmethod
    def word(cls, word: str, spec: str) -> tuple[str, Any]:
        """See `Target`."""
        key, _, text = word.partition("=")
        if key == "speeds":
            return "measured", Speeds.parse(text)
        return super(CpuTarget, cls).word(word, spec)

    @property
    def speeds(self) -> Speeds:
        """As measured, or as published for the CPU of that name."""
        return self.measured or published(self.name)

    @property
    def cpu(self) -> str:
        """LLVM's name of the processor."""
        return self.name

    @property
    def architecture(self) -> str:
        """The first part of the triple: "x86_64", "aarch64" or "arm64"."""
        return self.triple.split("-", 1)[0]

    @property
    def facts(self) -> tuple[str, ...]:
        """LLVM's words for its instruction sets."""
        return tuple(self.features.split(","))

    @property
    def instructions(self) -> frozenset[str]:
        """LLVM's words for the instruction sets that code for it may use: what its name and its
        registers' width imply, as far as its features do not say otherwise.
        """
        bits = self.vector_bits if self.architecture == "x86_64" else 0
        return _instructions(self.name, self.facts, bits)

    @property
    def generation(self) -> str:
        return self.architecture

    @staticmethod
    def of(spec: str) -> CpuTarget:
        """The CPU that `spec` names. Raises TargetError for a target of another kind."""
        found = Target.parse(spec)
        if not isinstance(found, CpuTarget):
            raise TargetError(f"{spec.split()[0]} is no CPU; this works for CPUs only")
        return found

    @classmethod
    def named(cls, name: str) -> CpuTarget:
        """The CPU of that LLVM name, or this machine's."""
        return named_cpu(name) if name else host_cpu()


# What a register width means on x86, for targets given by a CPU's name alone: the levels of the
# x86-64 ABI, less what compilers do not emit by themselves.
X86_V3 = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt")
X86_V4 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
X86_WIDTHS = {512: (*X86_V3, *X86_V4), 256: X86_V3}
# What a CPU's name means beyond that, or beyond the base architecture on AArch64.
VNNI = ("avx512vnni",)
AMX = ("avx512vnni", "avx512bf16", "avxvnni", "amx-tile", "amx-int8", "amx-bf16")
ARM_V8_2 = ("dotprod", "fullfp16", "lse", "rcpc", "rdm")
ARM_SVE = (*ARM_V8_2, "bf16", "i8mm", "sve")
IMPLIED: Mapping[str, tuple[str, ...]] = {
    "alderlake": ("avxvnni",),
    **dict.fromkeys(("cascadelake", "icelake-server"), VNNI),
    **dict.fromkeys(("cooperlake", "znver4"), (*VNNI, "avx512bf16")),
    "znver5": (*VNNI, "avx512bf16", "avxvnni"),
    **dict.fromkeys(("sapphirerapids", "emeraldrapids", "graniterapids"), AMX),
    **dict.fromkeys(("cortex-a55", "cortex-a75", "cortex-a76", "cortex-a77"), ARM_V8_2),
    **dict.fromkeys(("cortex-a78", "cortex-x1", "neoverse-e1", "neoverse-n1"), ARM_V8_2),
    "neoverse-v1": ARM_SVE,
    **dict.fromkeys(("cortex-a510", "cortex-a520", "cortex-a710"), (*ARM_SVE, "sve2")),
    **dict.fromkeys(("cortex-a715", "cortex-a720", "cortex-x2"), (*ARM_SVE, "sve2")),
    **dict.fromkeys(("cortex-x3", "cortex-x4"), (*ARM_SVE, "sve2")),
    **dict.fromkeys(("neoverse-n2", "neoverse-v2"), (*ARM_SVE, "sve2")),
}


@functools.cache
def _instructions(name: str, words: tuple[str, ...], x86_bits: int) -> frozenset[str]:
    signs = {word[1:]: word[0] for word in words if word}
    implied = {*X86_WIDTHS.get(x86_bits, ()), *IMPLIED.get(name, ())} - signs.keys()
    return frozenset(implied | {word for word, sign in signs.items() if sign == "+"})


@dataclass(frozen=True, slots=True)
class CpuFamily:
    """What CPUs of one kind share: names, vector registers, caches (bytes a core; L3 shared)."""

    names: tuple[str, ...]
    triple: str
    vector_bits: int
    vector_registers: int
    cores: int
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int
    line_bytes: int = 64


# Named CPUs. Vector widths are those that pay (NEON's 128 bits on AArch64); caches and cores are
# typical of the parts sold, and a spec may override them.
FAMILIES = (
    CpuFamily(
        ("generic-aarch64", "cortex-a35", "cortex-a53", "cortex-a55", "cortex-a57", "cortex-a72"),
        ARM_TRIPLE, 128, 32, 4, 32 * KIB, 256 * KIB, 0,
    ),
    CpuFamily(
        ("cortex-a73", "cortex-a75", "cortex-a76", "cortex-a77", "cortex-a78", "cortex-a510",
         "cortex-a520", "cortex-a710", "cortex-a715", "cortex-a720", "cortex-x1", "cortex-x2",
         "cortex-x3", "cortex-x4"),
        ARM_TRIPLE, 128, 32, 4, 64 * KIB, 512 * KIB, 2 * MIB,
    ),
    CpuFamily(
        ("neoverse-e1", "neoverse-n1", "neoverse-n2", "neoverse-v1", "neoverse-v2"),
        ARM_TRIPLE, 128, 32, 16, 64 * KIB, 1 * MIB, 32 * MIB,
    ),
    CpuFamily(
        ("apple-m1", "apple-m2", "apple-m3", "apple-m4"),
        APPLE_TRIPLE, 128, 32, 4, 128 * KIB, 4 * MIB, 8 * MIB, line_bytes=128,
    ),
    CpuFamily(
        ("x86-64", "x86-64-v2", "nehalem", "westmere"),
        X86_TRIPLE, 128, 16, 4, 32 * KIB, 256 * KIB, 8 * MIB,
    ),
    CpuFamily(
        ("x86-64-v3", "haswell", "broadwell", "skylake", "alderlake"),
        X86_TRIPLE, 256, 16, 4, 32 * KIB, 256 * KIB, 8 * MIB,
    ),
    CpuFamily(
        ("znver1", "znver2", "znver3"),
        X86_TRIPLE, 256, 16, 8, 32 * KIB, 512 * KIB, 32 * MIB,
    ),
    CpuFamily(("znver4", "znver5"), X86_TRIPLE, 512, 32, 8, 32 * KIB, 1 * MIB, 32 * MIB),
    CpuFamily(
        ("x86-64-v4", "skylake-avx512", "cascadelake", "cooperlake"),
        X86_TRIPLE, 512, 32, 16, 32 * KIB, 1 * MIB, 22 * MIB,
    ),
    CpuFamily(
        ("icelake-server", "sapphirerapids", "emeraldrapids", "graniterapids"),
        X86_TRIPLE, 512, 32, 16, 48 * KIB, 2 * MIB, 48 * MIB,
    ),
)  # fmt: skip

# LLVM's name where ours says more.
LLVM_NAMES = {"generic-aarch64": "generic"}


def known_cpus() -> tuple[str, ...]:
    """Every name that may follow `cpu:`, in the table's order."""
    return tuple(name for family in FAMILIES for name in family.names)


def named_cpu(name: str) -> CpuTarget:
    """The target `cpu:name` from the table of families.

    Raises TargetError for an unknown name.
    """
    family = next((f for f in FAMILIES if name in f.names), None)
    if family is None:
        raise TargetError(
            f"unknown cpu {name!r}; known: {', '.join(known_cpus())}; or give every fact: "
            f"'cpu:<LLVM name> {CpuTarget.known_words()}'"
        )
    return CpuTarget(
        name=LLVM_NAMES.get(name, name),
        triple=family.triple,
        # The CPU's name implies its features; code is built for 512-bit registers where they pay.
        features="-prefer-256-bit" if family.vector_bits == 512 else "",
        vector_bits=family.vector_bits,
        vector_registers=family.vector_registers,
        cores=family.cores,
        l1_bytes=family.l1_bytes,
        l2_bytes=family.l2_bytes,
        l3_bytes=family.l3_bytes,
        line_bytes=family.line_bytes,
    )


def host_cpu() -> CpuTarget:
    """This machine. Vector width comes from the features, because virtual machines misname CPUs."""
    triple = llvm.get_default_triple()
    present = host_features()
    vector_bits, vector_registers = _vector_facts(triple, present)
    features = [("+" if on else "-") + name for name, on in sorted(present.items())]
    if vector_bits == 512:
        features.append("-prefer-256-bit")
    sizes, line_bytes = _caches(CACHE_FOLDER)
    return CpuTarget(
        name=llvm.get_host_cpu_name(),
        triple=triple,
        features=",".join(features),
        vector_bits=vector_bits,
        vector_registers=vector_registers,
        cores=available_cores(),
        l1_bytes=sizes[1],
        l2_bytes=sizes[2],
        l3_bytes=sizes[3],
        line_bytes=line_bytes,
    )


def host_features() -> dict[str, bool]:
    """LLVM's words for this machine's instruction sets, and whether this process may use them."""
    present: dict[str, bool] = dict(llvm.get_host_cpu_features())
    if present.get("amx-tile") and not _allows_tiles():
        present |= {name: False for name in present if name.startswith("amx-")}
    return present


@functools.cache
def _allows_tiles() -> bool:
    """Whether the kernel lets this process, its threads and its forks use tile registers: Linux
    does when it is asked, unless a thread has too small a stack for signals.
    """
    granted: int = ctypes.CDLL(None).syscall(ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XTILEDATA)
    return granted == 0


def _vector_facts(triple: str, present: dict[str, bool]) -> tuple[int, int]:
    """(bits, registers) of the vector file."""
    if not triple.startswith(("x86_64", "amd64")):
        return 128, 32
    if present.get("avx512f"):
        return 512, 32
    return (256, 16) if present.get("avx") else (128, 16)


def available_cpus() -> set[int]:
    """Numbers of the CPUs that this process may run on."""
    affinity = getattr(os, "sched_getaffinity", None)  # absent outside Linux
    return affinity(0) if affinity is not None else set(range(os.cpu_count() or 1))


def available_cores(cgroups: Path = CGROUPS, own: Path = OWN_CGROUP) -> int:
    """How many cores this process may use: those that it may run on, and no more than the time of
    its control group pays for (a container with 1.5 CPUs has two cores, the second half the time).
    """
    return max(1, min([len(available_cpus()), *(ceil(q) for q in _quotas(cgroups, own))]))


def memory_bytes() -> int:
    """How much memory this machine has."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _quotas(cgroups: Path, own: Path) -> Iterator[float]:
    """Cores whose time the control groups that this process is in may use, where limited."""
    for line in own.read_text().splitlines() if own.is_file() else ():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = cgroups / "cpu" if controllers else cgroups  # version 1 has a hierarchy for each
        group = PurePosixPath(path.lstrip("/"))
        # In a container, the group's name may be the one outside and the topmost folder its own.
        for folder in (group, *group.parents):
            if controllers:
                names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
                words = [_fact(top / folder / name) for name in names]
            else:
                words = _fact(top / folder / "cpu.max").split()
            if len(words) == 2 and all(word.isdecimal() for word in words):
                yield int(words[0]) / int(words[1])


def _caches(folder: Path) -> tuple[dict[int, int], int]:
    """Data cache bytes by level and the line size, as Linux reports them, else typical ones."""
    found: dict[int, int] = {}
    line_bytes = 64
    for index in sorted(folder.glob("index*")):
        facts = {key: _fact(index / key) for key in ("level", "type", "size")}
        if facts["type"] not in ("Data", "Unified") or not facts["level"].isdecimal():
            continue
        size = facts["size"]
        scale = SIZE_SUFFIXES.get(size[-1:], 1)
        digits = size[:-1] if scale > 1 else size
        if digits.isdecimal():
            found[int(facts["level"])] = int(digits) * scale
        line = _fact(index / "coherency_line_size")
        line_bytes = int(line) if line.isdecimal() else line_bytes
    if not found:
        return dict(DEFAULT_CACHES), line_bytes
    return {n: found.get(n, 0 if n == 3 else DEFAULT_CACHES[n]) for n in (1, 2, 3)}, line_bytes


def _fact(path: Path) -> str:
    """One word of /sys, empty where the kernel does not publish it."""
    return path.read_text().strip() if path.is_file() else ""

"""GPUs: CUDA devices and whatever speaks OpenCL.

    Target.parse("cuda:h200")              a device from the table: code can be built for it here
    Target.parse("opencl:pocl cores=2")    a CPU that runs OpenCL kernels (PoCL)

`runtime` reads the facts of the device at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tilewright.errors import TargetError
from tilewright.target.base import KIB, MIB, Target


@dataclass(frozen=True, slots=True)
class GpuTarget(Target):
    """Facts of a device that runs blocks of threads.

    `warp` threads of a block run in step. Limits of one block: `threads` in all, `shared_bytes`
    and `registers` (32 bits each, of all its threads; 0 where the device does not say). One thread
    has at most `thread_registers`. `l2_bytes` is the cache of all cores (0: none). `virtual` is
    the most virtual threads worth making of each.
    """

    warp: int
    threads: int
    shared_bytes: int
    registers: int
    thread_registers: int
    l2_bytes: int
    virtual: int


GPU_KEYS = {
    "cores": "cores",
    "warp": "warp",
    "threads": "threads",
    "shared": "shared_bytes",
    "registers": "registers",
    "thread_registers": "thread_registers",
    "l2": "l2_bytes",
    "vector_bits": "vector_bits",
    "line": "line_bytes",
    "virtual": "virtual",
}
OPTIONAL = frozenset({"registers", "l2_bytes"})


@dataclass(frozen=True, slots=True)
class CudaTarget(GpuTarget):
    """An NVIDIA GPU; `architecture` is the compute capability as the compiler calls it, `sm_90`."""

    kind: ClassVar[str] = "cuda"
    spec_keys: ClassVar[Mapping[str, str]] = {"architecture": "architecture", **GPU_KEYS}
    optional: ClassVar[frozenset[str]] = OPTIONAL

    architecture: str

    @classmethod
    def named(cls, name: str) -> CudaTarget:
        """A device of the table. Raises TargetError for another name."""
        if name not in CUDA_DEVICES:
            raise TargetError(_unknown("cuda", name, cls.known_words()))
        architecture, cores, l2_bytes = CUDA_DEVICES[name]
        return cls(
            name=name,
            cores=cores,
            vector_bits=128,
            line_bytes=128,
            warp=32,
            threads=1024,
            shared_bytes=48 * KIB,
            registers=64 * KIB,
            thread_registers=255,
            l2_bytes=l2_bytes,
            virtual=8,
            architecture=architecture,
        )


@dataclass(frozen=True, slots=True)
class OpenclTarget(GpuTarget):
    """A device with an OpenCL driver; a thread is a work-item, a block a work-group.

    `driver` is what a device that is at hand says of itself and of its driver, in one word: both
    decide how fast a program is.
    """

    kind: ClassVar[str] = "opencl"
    spec_keys: ClassVar[Mapping[str, str]] = {**GPU_KEYS, "driver": "driver"}
    optional: ClassVar[frozenset[str]] = OPTIONAL

    driver: str

    @classmethod
    def named(cls, name: str) -> OpenclTarget:
        """A device of the table. Raises TargetError for another name."""
        if name not in OPENCL_DEVICES:
            raise TargetError(_unknown("opencl", name, cls.known_words()))
        return OPENCL_DEVICES[name]


EMULATED = "emulated"

# Architecture, multiprocessors, bytes of the second cache. Shared memory is what a block has
# without asking for more.
CUDA_DEVICES = {
    "t4": ("sm_75", 40, 4 * MIB),
    "v100": ("sm_70", 80, 6 * MIB),
    "a100": ("sm_80", 108, 40 * MIB),
    "a10": ("sm_86", 72, 6 * MIB),
    "rtx3090": ("sm_86", 82, 6 * MIB),
    "l4": ("sm_89", 58, 48 * MIB),
    "rtx4090": ("sm_89", 128, 72 * MIB),
    "h100": ("sm_90", 132, 50 * MIB),
    "h200": ("sm_90", 132, 50 * MIB),
    # a CPU that runs CUDA source, for tests (`runtime.emulated`)
    "emulated": (EMULATED, 2, 1 * MIB),
}


def _opencl(
    name: str, cores: int, warp: int, threads: int, shared: int, l2: int, line: int, virtual: int
) -> OpenclTarget:
    return OpenclTarget(
        name=name,
        cores=cores,
        vector_bits=128,
        line_bytes=line,
        warp=warp,
        threads=threads,
        shared_bytes=shared,
        registers=0,
        thread_registers=64,
        l2_bytes=l2,
        virtual=virtual,
        driver="",
    )


OPENCL_DEVICES = {
    t.name: t
    for t in (
        _opencl("mali", 10, 16, 256, 32 * KIB, 1 * MIB, 64, 4),
        _opencl("adreno", 4, 64, 512, 32 * KIB, 1 * MIB, 64, 4),
        _opencl("intel", 24, 16, 256, 64 * KIB, 1 * MIB, 64, 4),
        _opencl("pocl", 4, 8, 256, 64 * KIB, 0, 64, 4),
    )
}


def known_gpus(kind: str) -> tuple[str, ...]:
    """Every name that may follow `cuda:` or `opencl:`."""
    return tuple(CUDA_DEVICES if kind == "cuda" else OPENCL_DEVICES)


def _unknown(kind: str, name: str, words: str) -> str:
    listed = ", ".join(known_gpus(kind))
    if not name:
        return f"{kind}: no device was asked for its facts; name one, {kind}:<name>: {listed}"
    return f"unknown {kind} device {name!r}; known: {listed}; or give every fact: {words}"

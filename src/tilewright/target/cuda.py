"""NVIDIA GPUs, programmed in CUDA C++.

    Target.parse("cuda:h200")       a device from the table: code can be built for it anywhere

`runtime.cuda` reads the facts of the device at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tilewright.target.backend import Backend, Part
from tilewright.target.base import KIB, MIB
from tilewright.target.gpu import (
    BLOCKS_BY_SHARED,
    BLOCKS_OF_CORE,
    GPU_KEYS,
    THREADS_OF_CORE,
    GpuTarget,
    Residency,
    gpu_backend,
)

CORE_KEYS = {
    "optin": "optin_bytes",
    "core_shared": "core_shared_bytes",
    "core_threads": "core_threads",
    "core_blocks": "core_blocks",
    "core_registers": "core_registers",
}


@dataclass(frozen=True, slots=True)
class CudaTarget(GpuTarget):
    """An NVIDIA GPU; `architecture` is the compute capability as the compiler calls it, `sm_90`.

    A block can have `optin_bytes` of shared memory when its launch asks for them; the `core_` facts
    are what the blocks of a multiprocessor share. A text without them means those of the
    architecture, and one with other figures keeps them.
    """

    kind: ClassVar[str] = "cuda"
    spec_keys: ClassVar[Mapping[str, str]] = {
        "architecture": "architecture",
        **GPU_KEYS,
        **CORE_KEYS,
    }
    backend: ClassVar[Backend] = gpu_backend(
        dialect=Part("tilewright.codegen.clike.cuda:Cuda"),
        device=Part("tilewright.runtime.cuda:CudaDevice"),
        compiler=Part("tilewright.runtime.nvrtc:compiler"),
        assembler=Part("tilewright.runtime.nvrtc:assembled"),
        templates=Part("tilewright.cutlass.genes:offered"),
        pairs=Part("tilewright.cutlass.genes:pair_refusal"),
        apart=True,
    )

    architecture: str
    optin_bytes: int
    core_shared_bytes: int
    core_threads: int
    core_blocks: int
    core_registers: int

    @property
    def generation(self) -> str:
        return self.architecture

    @property
    def has_tensor_cores(self) -> bool:
        return int("".join(filter(str.isdigit, self.architecture)) or 0) >= AMPERE

    @property
    def has_warpgroups(self) -> bool:
        return self.architecture.startswith("sm_90")

    @property
    def most_shared_bytes(self) -> int:
        return max(self.optin_bytes, self.shared_bytes)

    @property
    def residency(self) -> Residency:
        return Residency(
            self.core_threads,
            self.core_blocks,
            self.core_shared_bytes,
            RESERVED_BYTES if self.most_shared_bytes < self.core_shared_bytes else 0,
            self.core_registers,
        )

    @classmethod
    def implied(cls, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        if not {"architecture", "shared_bytes", "registers"} <= facts.keys():
            return {}
        return core_facts(facts["architecture"], facts["shared_bytes"], facts["registers"])

    @classmethod
    def known(cls) -> Mapping[str, CudaTarget]:
        return DEVICES


AMPERE = 80  # of sm_80


def core_facts(architecture: str, shared_bytes: int, registers: int) -> dict[str, Any]:
    """The facts of an architecture's multiprocessors, by field; of one that is not in the table
    cautious ones.
    """
    usual = (shared_bytes, BLOCKS_BY_SHARED * shared_bytes, THREADS_OF_CORE, BLOCKS_OF_CORE)
    figures = (*CORES.get(architecture, usual), registers)
    return dict(zip(CORE_KEYS.values(), figures, strict=True))


RESERVED_BYTES = KIB  # of shared memory, for each block, where one block cannot have everything
# CUDA C++ programming guide, technical specifications by compute capability: what a block can have
# when its launch asks for it, what a multiprocessor has, its threads and its blocks.
CORES: Mapping[str, tuple[int, int, int, int]] = {
    "sm_70": (96 * KIB, 96 * KIB, 2048, 32),
    "sm_75": (64 * KIB, 64 * KIB, 1024, 16),
    "sm_80": (163 * KIB, 164 * KIB, 2048, 32),
    "sm_86": (99 * KIB, 100 * KIB, 1536, 16),
    "sm_87": (163 * KIB, 164 * KIB, 1536, 16),
    "sm_89": (99 * KIB, 100 * KIB, 1536, 24),
    "sm_90": (227 * KIB, 228 * KIB, 2048, 32),
}
STATIC_BYTES = 48 * KIB  # of shared memory, that a block has without asking for more
REGISTERS = 64 * KIB  # of a block, and of a multiprocessor
LIMITS: Mapping[str, Any] = {
    "vector_bits": 128,
    "line_bytes": 128,
    "warp": 32,
    "threads": 1024,
    "shared_bytes": STATIC_BYTES,
    "registers": REGISTERS,
    "thread_registers": 255,
    "virtual": 8,
}
DEVICES = {
    name: CudaTarget(
        name=name, architecture=built, cores=cores, l2_bytes=l2, **LIMITS,
        **core_facts(built, STATIC_BYTES, REGISTERS),
    )
    for name, built, cores, l2 in (
        ("t4", "sm_75", 40, 4 * MIB),
        ("v100", "sm_70", 80, 6 * MIB),
        ("a100", "sm_80", 108, 40 * MIB),
        ("a10", "sm_86", 72, 6 * MIB),
        ("rtx3090", "sm_86", 82, 6 * MIB),
        ("l4", "sm_89", 58, 48 * MIB),
        ("rtx4090", "sm_89", 128, 72 * MIB),
        ("h100", "sm_90", 132, 50 * MIB),
        ("h200", "sm_90", 132, 50 * MIB),
    )
}  # fmt: skip

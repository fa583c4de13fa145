"""NVIDIA GPUs, programmed in CUDA C++.

    Target.parse("cuda:h200")       a device from the table: code can be built for it anywhere

`runtime.cuda` reads the facts of the device at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tilewright.target.backend import Backend, Part
from tilewright.target.base import KIB, MIB
from tilewright.target.gpu import GPU_KEYS, GpuTarget, gpu_backend


@dataclass(frozen=True, slots=True)
class CudaTarget(GpuTarget):
    """An NVIDIA GPU; `architecture` is the compute capability as the compiler calls it, `sm_90`."""

    kind: ClassVar[str] = "cuda"
    spec_keys: ClassVar[Mapping[str, str]] = {"architecture": "architecture", **GPU_KEYS}
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

    @property
    def generation(self) -> str:
        return self.architecture

    @property
    def has_tensor_cores(self) -> bool:
        return int("".join(filter(str.isdigit, self.architecture)) or 0) >= AMPERE

    @classmethod
    def known(cls) -> Mapping[str, CudaTarget]:
        return DEVICES


AMPERE = 80  # of sm_80
LIMITS = {
    "vector_bits": 128,
    "line_bytes": 128,
    "warp": 32,
    "threads": 1024,
    "shared_bytes": 48 * KIB,  # what a block has without asking for more
    "registers": 64 * KIB,
    "thread_registers": 255,
    "virtual": 8,
}
DEVICES = {
    name: CudaTarget(name=name, architecture=built, cores=cores, l2_bytes=l2, **LIMITS)
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
}

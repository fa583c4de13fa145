"""A CPU that runs CUDA source, for tests (`runtime.emulated`).

Target.parse("emulated")      a small GPU's limits; nothing of it is fast
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tilewright.target.backend import Backend, Part
from tilewright.target.base import MIB
from tilewright.target.cuda import LIMITS, core_facts
from tilewright.target.gpu import GpuTarget, gpu_backend

ARCHITECTURE = "sm_80"  # whose instructions and shared memory are emulated


@dataclass(frozen=True, slots=True)
class EmulatedTarget(GpuTarget):
    """An emulated GPU."""

    kind: ClassVar[str] = "emulated"
    usual: ClassVar[str] = "cuda-on-cpu"
    backend: ClassVar[Backend] = gpu_backend(
        dialect=Part("tilewright.codegen.clike.cuda:Cuda"),
        device=Part("tilewright.runtime.emulated:EmulatedDevice"),
        compiler=Part("tilewright.runtime.emulated:compiler"),
        templates=Part("tilewright.cutlass.genes:offered"),
        pairs=Part("tilewright.cutlass.genes:pair_refusal"),
    )

    @property
    def has_tensor_cores(self) -> bool:
        return True

    @property
    def has_warpgroups(self) -> bool:
        return True

    @property
    def most_shared_bytes(self) -> int:
        return int(core_facts(ARCHITECTURE, self.shared_bytes, self.registers)["optin_bytes"])

    @classmethod
    def known(cls) -> Mapping[str, EmulatedTarget]:
        return {CUDA_ON_CPU.name: CUDA_ON_CPU}


CUDA_ON_CPU = EmulatedTarget(
    name=EmulatedTarget.usual,
    cores=2,
    l2_bytes=1 * MIB,
    **LIMITS,
)

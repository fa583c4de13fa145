"""Whatever speaks OpenCL.

    Target.parse("opencl:mali")            a device from the table
    Target.parse("opencl:pocl cores=2")    a CPU that runs OpenCL kernels (PoCL)

`runtime.opencl` reads the facts of the device at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tilewright.target.backend import Backend, Part
from tilewright.target.base import KIB, MIB
from tilewright.target.gpu import GPU_KEYS, GpuTarget, gpu_backend


@dataclass(frozen=True, slots=True)
class OpenclTarget(GpuTarget):
    """A device with an OpenCL driver; a thread is a work-item, a block a work-group.

    `driver` is what a device that is at hand says of itself and of its driver, in one word: both
    decide how fast a program is.
    """

    kind: ClassVar[str] = "opencl"
    spec_keys: ClassVar[Mapping[str, str]] = {**GPU_KEYS, "driver": "driver"}
    backend: ClassVar[Backend] = gpu_backend(
        dialect=Part("tilewright.codegen.clike.opencl:OpenclC"),
        device=Part("tilewright.runtime.opencl:OpenclDevice"),
        compiler=Part("tilewright.runtime.opencl:compiler"),
    )

    driver: str

    @classmethod
    def known(cls) -> Mapping[str, OpenclTarget]:
        return DEVICES


LIMITS: Mapping[str, Any] = {
    "vector_bits": 128,
    "line_bytes": 64,
    "registers": 0,
    "thread_registers": 64,
    "virtual": 4,
}
DEVICES = {
    name: OpenclTarget(
        name=name, driver="", cores=cores, warp=warp, threads=threads, shared_bytes=shared,
        l2_bytes=l2, **LIMITS,
    )
    for name, cores, warp, threads, shared, l2 in (
        ("mali", 10, 16, 256, 32 * KIB, 1 * MIB),
        ("adreno", 4, 64, 512, 32 * KIB, 1 * MIB),
        ("intel", 24, 16, 256, 64 * KIB, 1 * MIB),
        ("pocl", 4, 8, 256, 64 * KIB, 0),
    )
}  # fmt: skip

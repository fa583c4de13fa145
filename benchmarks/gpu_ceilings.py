"""What a GPU can do at best: two small kernels, by the device's clock.

    ceilings = measure(device)
    ceilings.fma_flops           float32 operations a second of its plain (SIMT) units, a
                                 multiply-add as 2
    ceilings.seconds(traffic)    to read and write so many bytes
    ceilings.call_s              a run of a kernel that does nothing

    multiply-adds    16 independent sums a thread, as many steps as take a millisecond
    traffic          four floats a thread and step, blocks to fill the device or to take one step,
                     from the memory that holds as many bytes: runs follow one another, as in a
                     benchmark

Each figure is the best of several runs, because anything else that runs only takes away. Seconds
of traffic are those beyond an empty kernel's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.cases import Case
from benchmarks.ceilings import GB
from benchmarks.gpu_peaks import Peaks
from benchmarks.roofline import Bound, traffic_of
from tilewright.measure.ceilings import Traffic
from tilewright.runtime.device import Device
from tilewright.target import GpuTarget


@dataclass(frozen=True)
class GpuCeilings:
    """See the module's docstring; `streams` are seconds by traffic."""

    target: GpuTarget
    fma_flops: float
    call_s: float
    streams: dict[Traffic, float] = field(default_factory=dict)
    sides: tuple[str, ...] = ()

    def bound_of(self, case: Case) -> Bound:
        """The roofline of a case."""
        return Bound(
            flops_s=case.dag().useful_flops / self.fma_flops,
            loads_s=0.0,
            bytes_s=self.streams[traffic_of(case)],
            call_s=self.call_s,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        streams = [{"traffic": asdict(t), "seconds": s} for t, s in self.streams.items()]
        return {"fma_flops": self.fma_flops, "call_s": self.call_s, "streams": streams}

    def lines(self) -> list[str]:
        """The figures for people."""
        rate = max((t.total / s for t, s in self.streams.items() if s > 0), default=0.0)
        return [
            f"float32 multiply-adds {self.fma_flops / GB:.0f} GFLOP/s, traffic up to "
            f"{rate / GB:.0f} GB/s, an empty kernel {self.call_s * 1e6:.1f} µs"
        ]


def measure(device: Device, traffic: Iterable[Traffic]) -> GpuCeilings:
    """All ceilings of a device. Raises RunError when it has too little memory for some traffic."""
    target = device.target
    assert isinstance(target, GpuTarget)
    return GpuCeilings(target, *Peaks(device).measured(traffic))

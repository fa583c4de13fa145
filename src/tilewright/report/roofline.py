"""How fast a task could be at most, by the machine's recorded limits (Williams et al., 2009).

    roofline = Roofline(ceilings)                 or Roofline(None): no limits are known
    roofline.least_s(flops, least_bytes)          max(compute, memory) seconds

Compute is bounded by the rate of float32 multiply-adds, times what a task's instructions for fewer
bits gain on it; memory by reading every input and writing
every output once, at the rate at which as much data are read again and again. (The benchmarks'
`benchmarks.roofline` measures the very mix of each case; this is the quick version of it.)
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.records.rows import CeilingsRow


@dataclass(frozen=True, slots=True)
class Roofline:
    """The limits of one machine."""

    ceilings: CeilingsRow | None

    def compute_s(self, flops: int, gain: float = 1.0) -> float:
        """Seconds for so many operations, by an instruction so many times as fast as float32's."""
        return 0.0 if self.ceilings is None else flops / (gain * self.ceilings.flops_per_s)

    def memory_s(self, least_bytes: int) -> float:
        """Seconds to move so many bytes."""
        return 0.0 if self.ceilings is None else self.ceilings.seconds(least_bytes)

    def least_s(self, flops: int, least_bytes: int, gain: float = 1.0) -> float | None:
        """The least seconds of a task; None where limits, or both figures, are unknown."""
        return max(self.compute_s(flops, gain), self.memory_s(least_bytes)) or None

    def limit(self, flops: int, least_bytes: int, gain: float = 1.0) -> str:
        """Which of the two it is: "compute" or "memory"."""
        is_compute = self.compute_s(flops, gain) >= self.memory_s(least_bytes)
        return "compute" if is_compute else "memory"

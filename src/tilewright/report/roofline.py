"""How fast a task could be at most, by the machine's recorded limits (Williams et al., 2009).

    roofline = Roofline(ceilings)                 or Roofline(None): no limits are known
    roofline.least_s(flops, least_bytes)          max(compute, memory) seconds

Compute is bounded by the rate of float32 multiply-adds, memory by reading every input and writing
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

    def compute_s(self, flops: int) -> float:
        """Seconds for so many operations."""
        return 0.0 if self.ceilings is None else flops / self.ceilings.flops_per_s

    def memory_s(self, least_bytes: int) -> float:
        """Seconds to move so many bytes."""
        return 0.0 if self.ceilings is None else self.ceilings.seconds(least_bytes)

    def least_s(self, flops: int, least_bytes: int) -> float | None:
        """The least seconds of a task; None where limits, or both figures, are unknown."""
        return max(self.compute_s(flops), self.memory_s(least_bytes)) or None

    def limit(self, flops: int, least_bytes: int) -> str:
        """Which of the two it is: "compute" or "memory"."""
        return "compute" if self.compute_s(flops) >= self.memory_s(least_bytes) else "memory"

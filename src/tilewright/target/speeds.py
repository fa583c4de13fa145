"""How fast a CPU's core and the memory around it are.

    published("icelake-server").clock_hz          of a CPU that is only named
    Speeds.parse(str(speeds))                     equal to `speeds`, to four digits

This machine's traffic with memory is measured (`measure.ceilings`); `CpuTarget.measured` holds such
speeds.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from math import isfinite

from tilewright.ground.errors import TargetError


@dataclass(frozen=True, slots=True)
class Speeds:
    """Cycles a second, and bytes a second that one core of several busy ones reads of the second
    and the third cache level and of memory.
    """

    clock_hz: float
    l2_bytes_per_s: float
    l3_bytes_per_s: float
    dram_bytes_per_s: float

    def __str__(self) -> str:
        return ",".join(f"{x:.4g}" for x in astuple(self))

    @staticmethod
    def parse(text: str) -> Speeds:
        """From the words of `str`. Raises TargetError."""
        try:
            found = [float(word) for word in text.split(",")]
        except ValueError:
            found = []
        if len(found) != len(fields(Speeds)) or not all(isfinite(x) and x > 0 for x in found):
            names = ",".join(f.name for f in fields(Speeds))
            raise TargetError(f"speeds must be {names}, positive numbers, not {text!r}")
        return Speeds(*found)

    def raised_by(self, other: Speeds) -> Speeds:
        """The higher of all figures: whatever else runs only takes away."""
        return Speeds(*map(max, astuple(self), astuple(other)))


USUAL = Speeds(2.8e9, 120e9, 25e9, 12e9)
"""Of a server's core: none of LLVM's names tells how fast a part is clocked and how many channels
of memory its board has.
"""


def _core(clock_hz: float, dram_bytes_per_s: float) -> Speeds:
    """A core whose caches move the usual number of bytes a cycle."""
    faster = clock_hz / USUAL.clock_hz
    l2, l3 = faster * USUAL.l2_bytes_per_s, faster * USUAL.l3_bytes_per_s
    return Speeds(clock_hz, l2, l3, dram_bytes_per_s)


PUBLISHED = {
    "cortex-a53": _core(1.2e9, 3.6e9 / 4),  # of a Raspberry Pi 3, 4 and 5: four cores
    "cortex-a72": _core(1.5e9, 12.8e9 / 4),
    "cortex-a76": _core(2.4e9, 17.1e9 / 4),
    "apple-m1": _core(3.2e9, 68.3e9 / 4),  # four fast cores
    "apple-m2": _core(3.5e9, 102.4e9 / 4),
    "apple-m3": _core(4.05e9, 102.4e9 / 4),
    "apple-m4": _core(4.4e9, 120e9 / 4),
}
"""Makers' figures of clocks and memory by LLVM's name, where that tells the part."""


def published(name: str) -> Speeds:
    """The speeds of the CPU that LLVM calls so."""
    return PUBLISHED.get(name, USUAL)

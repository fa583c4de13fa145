"""How fast a CPU's core and the memory around it are.

    published("icelake-server").clock_hz          of a CPU that is only named
    Speeds.parse(str(speeds))                     equal to `speeds`, to four digits
    speeds.gain("vpdpbusd")                       4.0: how much faster than float32, where measured

This machine's traffic with memory and its instructions' rates are measured (`measure.ceilings`);
`CpuTarget.measured` holds such speeds.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from math import isfinite

from tilewright.ground.errors import TargetError


@dataclass(frozen=True, slots=True)
class Speeds:
    """Cycles a second, and bytes a second that one core of several busy ones reads of the second
    and the third cache level and of memory. `rates` are operations a second of a core by what does
    them, FLOAT32 or an instruction of `target.dots`; empty where nobody measured.
    """

    clock_hz: float
    l2_bytes_per_s: float
    l3_bytes_per_s: float
    dram_bytes_per_s: float
    rates: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        rates = (f"{name}:{rate:.4g}" for name, rate in self.rates)
        return ",".join([*(f"{x:.4g}" for x in astuple(self)[:PLAIN]), *rates])

    @staticmethod
    def parse(text: str) -> Speeds:
        """From the words of `str`. Raises TargetError."""
        words = [word.rpartition(":") for word in text.split(",")]
        names = [name for name, _, _ in words]
        try:
            found = [float(number) for _, _, number in words]
        except ValueError:
            found = []
        is_named = not any(names[:PLAIN]) and all(map(str.isidentifier, names[PLAIN:]))
        usable = len(found) >= PLAIN and is_named and all(isfinite(x) and x > 0 for x in found)
        if not usable or len(set(names[PLAIN:])) < len(names) - PLAIN:
            plain = ",".join(f.name for f in fields(Speeds)[:PLAIN])
            raise TargetError(
                f"speeds must be {plain}, then rates as name:rate, positive numbers, not {text!r}"
            )
        rates = zip(names[PLAIN:], found[PLAIN:], strict=True)
        clock, l2, l3, dram = found[:PLAIN]
        return Speeds(clock, l2, l3, dram, tuple(rates))

    def raised_by(self, other: Speeds) -> Speeds:
        """The higher of all figures: whatever else runs only takes away."""
        rates = dict(self.rates)
        rates |= {name: max(rate, rates.get(name, 0.0)) for name, rate in other.rates}
        clock, l2, l3, dram = map(max, astuple(self)[:PLAIN], astuple(other)[:PLAIN])
        return Speeds(clock, l2, l3, dram, tuple(rates.items()))

    def exceeds(self, other: Speeds, factor: float) -> bool:
        """Whether any figure is more than `factor` times the other's, or is none of the other's."""
        known = dict(other.rates)
        pairs = [*zip(astuple(self)[:PLAIN], astuple(other)[:PLAIN], strict=True)]
        pairs += [(rate, known.get(name, 0.0)) for name, rate in self.rates]
        return any(mine > factor * theirs for mine, theirs in pairs)

    def gain(self, instruction: str) -> float | None:
        """How many times as many operations as float32 multiply-adds it does a second; None where
        nobody measured.
        """
        rates = dict(self.rates)
        if instruction not in rates or FLOAT32 not in rates:
            return None
        return rates[instruction] / rates[FLOAT32]


FLOAT32 = "float32"
PLAIN = 4
"""Figures without a name."""


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

"""Which loaded values the registers still hold.

    for rw < 3 (unrolled): for y < 28 (unrolled):  acc[y] += x[y + rw] * w[rw]

Equal loads are one load. But where accumulators take most registers, x[1] cannot wait in one from
its use with rw = 0 to that with rw = 1: it would be stored on the stack and loaded from there. So
it is loaded again from where it is, which an arithmetic instruction does by itself, while its line
is likely to be in the first-level cache still.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WAY_BYTES = 4096
"""Addresses so far apart share a set of the first-level cache: a way is a page, mostly."""


@dataclass(slots=True)
class Residents:
    """The loads of one scope by key, each with the number of `fences` before it: `held` in
    registers, the one used last at the end, or `gone`. `lines` are their cache lines by the set
    that they fall in, `crowded` says that these do not stay there.
    """

    held: dict[object, int] = field(default_factory=dict)
    gone: dict[object, int] = field(default_factory=dict)
    fences: int = 0
    lines: dict[object, set[int]] = field(default_factory=dict)
    crowded: bool = False

    def use(self, key: object) -> bool:
        """Whether a value that was loaded before can be used (again)."""
        if key in self.held:
            self.held[key] = self.held.pop(key)
        return self.crowded or key not in self.gone

    def add(self, key: object, room: int) -> bool:
        """A load is written, for which the values of `room` loads can stay in registers.

        Returns whether a fence is needed before it: instruction selection makes one of equal loads
        unless something between them might write.
        """
        fence = self.gone.pop(key, -1) == self.fences
        self.fences += fence
        self.held[key] = self.fences
        if len(self.held) > room:
            oldest = next(iter(self.held))
            self.gone[oldest] = self.held.pop(oldest)
        return fence

    def place(self, base: object, offset: int, line_bytes: int, ways: int) -> None:
        """A load is `offset` bytes from `base`, a place in memory that is not known here."""
        line, sets = offset // line_bytes, WAY_BYTES // line_bytes
        lines = self.lines.setdefault((base, line % sets), set())
        lines.add(line)
        self.crowded |= len(lines) > ways

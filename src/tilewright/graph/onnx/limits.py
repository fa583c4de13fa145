"""How much an import may allocate: arrays that it computes from constants.

    allowance = Allowance(given=weights_bytes)
    allowance.refusal("its result", 8 << 30)  →  "its result takes 8.59 GB; arrays computed at …"
    allowance.used += array.nbytes

A model of a few hundred bytes can ask for any amount of memory (`Expand` to 10¹² elements, `Concat`
of a value with itself, forty times). Sizes are therefore asked for before arrays are made.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.ground.text import size
from tilewright.target import memory_bytes

ADDRESSABLE = 2**47
"""Bytes that one process can address; no array of a model is larger."""

MOST = 4 << 30
"""Bytes of all arrays computed at import, unless the machine has little memory."""

GROWTH_ONE, GROWTH_ALL = 8, 16
"""Results may have so many times the bytes of the constants that they are made of: weights stored
in 4 or 8 bits become floats, in more than one step."""


@dataclass
class Allowance:
    """What arrays computed at import may take; `used` bytes are taken.

    `given` are the bytes of the model's own weights.
    """

    given: int = 0
    used: int = 0

    def refusal(self, what: str, wanted: int, operands: int = 0) -> str:
        """Why no array of `wanted` bytes may be computed from `operands` bytes; "" if it may."""
        whole = base_allowance()
        one = whole // 2 + GROWTH_ONE * operands
        most = whole + GROWTH_ALL * self.given
        if wanted <= one and self.used + wanted <= most:
            return ""
        before = f", and {size(self.used)} are taken" if self.used else ""
        return (
            f"{what} takes {size(wanted)}; arrays that are computed at import may take "
            f"{size(one)} each and {size(most)} together{before}"
        )


def base_allowance() -> int:
    """Bytes of arrays computed at import, whatever the model's own weights take."""
    return min(MOST, memory_bytes() // 8)

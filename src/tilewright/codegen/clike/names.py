"""C identifiers for the names of loops and tensors.

names.new("C.local")     "C_local"; the next one like it is "C_local_2"
"""

from __future__ import annotations

import re

KEYWORDS = frozenset({"for", "if", "int", "float", "double", "half", "char", "short", "long", "in"})


class Names:
    """C identifiers for the names of loops and tensors, each its own."""

    def __init__(self) -> None:
        self._taken: set[str] = set(KEYWORDS)

    def new(self, name: str) -> str:
        """An identifier like `name`."""
        plain = re.sub(r"\W+", "_", name).strip("_") or "x"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        found, number = plain, 1
        while found in self._taken:
            number += 1
            found = f"{plain}_{number}"
        self._taken.add(found)
        return found

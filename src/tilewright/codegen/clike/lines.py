"""Lines of C with their indentation, and identifiers in them.

with out.scope("if (x)"):        if (x) {
    out.line("y = 1;")               y = 1;
                                 }
names.new("C.local")            "C_local"; the next one like it is "C_local_2"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

INDENT = "    "


@dataclass(slots=True)
class Lines:
    """The body of a function, line by line."""

    lines: list[str] = field(default_factory=list)
    depth: int = 1

    def line(self, text: str) -> None:
        self.lines.append(INDENT * self.depth + text)

    @contextmanager
    def scope(self, head: str) -> Iterator[None]:
        self.line(f"{head} {{".lstrip())
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    def taken(self) -> list[str]:
        """The lines so far, which are not kept."""
        found, self.lines = self.lines, []
        return found


KEYWORDS = frozenset({
    "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "const", "constant",
    "continue", "default", "delete", "do", "double", "else", "enum", "extern", "false", "float",
    "for", "friend", "global", "goto", "half", "if", "in", "inline", "int", "kernel", "local",
    "long", "namespace", "new", "not", "operator", "or", "private", "protected", "public",
    "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch",
    "template", "this", "throw", "true", "try", "typedef", "typename", "uint", "union",
    "unsigned", "ushort", "using", "virtual", "void", "volatile", "while",
})  # fmt: skip
"""Of C++ and of OpenCL C, as far as a model may use them for names."""


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

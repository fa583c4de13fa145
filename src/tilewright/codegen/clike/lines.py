"""Lines of C with their indentation.

with out.scope("if (x)"):        if (x) {
    out.line("y = 1;")               y = 1;
                                 }
"""

from __future__ import annotations

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

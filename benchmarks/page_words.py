"""What the sections of docs/performance.md share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
Content = Mapping[str, Any]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def origin(found: Content) -> str:
    """Machine, commit and day of a result."""
    return f"{found['machine']}; commit {found['commit']}; {found['date'][:10]}."


def ratio(value: float | None) -> str:
    """A cell of a table; empty where nothing was compared."""
    return "" if value is None else f"{value:.2f}"

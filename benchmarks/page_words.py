"""What the sections of docs/performance.md share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.commit import DIRTY, number_of, origins

Content = Mapping[str, Any]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def origin(found: Content) -> str:
    """Machine, commit and day of a result."""
    return f"{found['machine']}; commit {state(found['commit'])}; {found['date'][:10]}."


def state(commit: str) -> str:
    """A commit with its number, "40df0a5361c0 (number 625)", and whether the code was changed."""
    number = number_of(commit)
    where = "not in this repository" if number is None else f"number {number}"
    changed = " and uncommitted changes" if commit.endswith(DIRTY) else ""
    return f"{commit.removesuffix(DIRTY)} ({where}){changed}"


def mixture(found: Content) -> str:
    """What is to be said of a file whose parts come from several commits or machines; else ""."""
    counts = origins(found)
    if len(counts) < 2:
        return ""
    parts = [
        f"{number} of {one.machine}, commit {state(one.commit)}"
        for one, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    machines = len({one.machine for one in counts})
    what = "commits" if machines == 1 else f"commits and {machines} machines"
    return f"**This file mixes {what}**, so its means are of no one program: {'; '.join(parts)}.\n"


def budgets(entries: Sequence[Content]) -> str:
    """The trials of cases, which are no budget where they differ; "" where none has any."""
    counts = Counter(e["trials"] for e in entries if e.get("trials"))
    if not counts:
        return ""
    if len(counts) == 1:
        return f"Every case has {next(iter(counts))} trials. "
    parts = [f"{number} cases {trials}" for trials, number in sorted(counts.items())]
    return f"**Budgets differ**: of trials {', '.join(parts)}. "


def ratio(value: float | None) -> str:
    """A cell of a table; empty where nothing was compared."""
    return "" if value is None else f"{value:.2f}"

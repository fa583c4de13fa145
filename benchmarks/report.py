"""What a benchmark found, for people: tables and lines, in a terminal and in Markdown.

    parts = [Table(("case", "ours"), [("GMM", "1 ms")]), "A line."]
    show(console, parts)
    markdown(parts)
    told(results.summary())             the parts that a summary is

A benchmark says what it found once, as parts; it prints them, and `benchmarks.page` writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from benchmarks.commit import DIRTY, number_of, origins
from tilewright.ground.text import NONE

if TYPE_CHECKING:
    from rich.console import Console

Content: TypeAlias = Mapping[str, Any]


class Table(NamedTuple):
    """Rows under a head; the first column is text, the others are figures."""

    head: Sequence[str]
    rows: Iterable[Sequence[str]]


Part: TypeAlias = Table | str


def show(console: Console, parts: Iterable[Part]) -> None:
    """In a terminal."""
    from rich import table as rich_table  # whoever shows nothing needs no rich

    for part in parts:
        if isinstance(part, str):
            console.print(part, markup=False, highlight=False, soft_wrap=True)
            continue
        shown = rich_table.Table(box=None, header_style="bold", pad_edge=False)
        for number, heading in enumerate(part.head):
            shown.add_column(heading, justify="right" if number else "left")
        for row in part.rows:
            shown.add_row(*row)
        console.print(shown)


def markdown(parts: Iterable[Part]) -> str:
    """Paragraphs, each with an empty line behind it."""
    return "\n".join(part + "\n" if isinstance(part, str) else table(*part) for part in parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], others: str = "---:") -> str:
    """A Markdown table; `others` says how columns but the first are aligned."""
    lines = [head, ["---", *[others] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def told(summary: Content) -> list[Part]:
    """A summary: a list of its figures, and a table of what it has by name."""
    lines, tables = [], []
    for key, value in summary.items():
        what = key.replace("_", " ")
        if isinstance(value, Mapping) and "ratio" not in value:
            rows = {name: row for name, row in value.items() if isinstance(row, Mapping)}
            if rows and all("ratio" not in row for row in rows.values()):
                names = list(dict.fromkeys(name for row in rows.values() for name in row))
                cells = [[n, *(figure(row.get(k)) for k in names)] for n, row in rows.items()]
                tables.append(Table([what, *(n.replace("_", " ") for n in names)], cells))
                continue
            value = ", ".join(f"{name} {figure(one)}" for name, one in value.items())
        if value not in (None, "", [], ()):
            lines.append(f"- {what}: {figure(value)}")
    return [*tables, *(["\n".join(lines)] if lines else [])]


def figure(value: Any) -> str:
    """A cell: a number with two decimals, a case with its ratio, or words."""
    match value:
        case None:
            return NONE
        case float():
            return f"{value:.2f}"
        case {"ratio": ratio, "case": case}:
            return f"{ratio:.2f} ({case})"
        case [float(), float()]:
            return " to ".join(map(figure, value))
        case [*several]:
            return ", ".join(map(figure, several))
    return str(value)


# ---- where it comes from ------------------------------------------------------------------------


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
    return f"**This file mixes {what}**, so its means are of no one program: {'; '.join(parts)}."


def budgets(entries: Sequence[Content]) -> str:
    """The trials of cases, which are no budget where they differ; "" where none has any."""
    counts = Counter(e["trials"] for e in entries if e.get("trials"))
    if not counts:
        return ""
    if len(counts) == 1:
        return f"Every case has {next(iter(counts))} trials."
    parts = [f"{number} cases {trials}" for trials, number in sorted(counts.items())]
    return f"**Budgets differ**: of trials {', '.join(parts)}."

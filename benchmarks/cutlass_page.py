"""The sections of docs/performance.md about templates of CUTLASS."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from benchmarks.cutlass_offline import summary
from benchmarks.page_words import Content, origin, table


def cutlass_programs(found: Content) -> str:
    """Whether random programs are right."""
    names = sorted({row["template"] for row in found["programs"]})
    rows = []
    for name in names:
        mine = [row for row in found["programs"] if row["template"] == name]
        rows.append([name, str(len(mine)), str(sum(row["wrong"] > 0 for row in mine))])
    return (
        "## Random programs of CUTLASS's templates\n\n"
        "`python -m benchmarks.cutlass_programs`: random parameters of those that the conditions "
        "allow, ragged extents, random epilogues, both residences; run in the emulation and "
        f"compared with float64. A NaN counts as wrong. {origin(found)}\n\n"
        f"{table(['template', 'programs', 'wrong'], rows)}"
    )


def cutlass_offline(found: Content) -> str:
    """Whether short lists compile, and what that takes."""
    by_architecture: dict[str, dict[str, Any]] = defaultdict(dict)
    for key, row in found["rows"].items():
        by_architecture[key.partition(" ")[0]][key] = row
    head = ["architecture", "programs", "errors", "spills", "most registers", "CPU s", "MiB"]
    rows = [
        [name, *(str(figure) for figure in summary(mine).values())]
        for name, mine in sorted(by_architecture.items())
    ]
    return (
        "## Short lists of CUTLASS's templates\n\n"
        f"`python -m benchmarks.cutlass_offline`: every program compiled by {found['compiler']}, "
        "without a GPU, eight at a time. *Spills* are programs that keep something of a thread in "
        f"memory, *CPU s* is the mean of a program. {origin(found)}\n\n"
        f"{table(head, rows)}"
    )


def cutlass_referee(found: Content) -> str:
    """How good short lists are by NVIDIA's own heuristics."""
    head = ["GPU", "GEMMs", "within 5 %", "of those without split K", "median", "worst"]
    rows = [
        [
            name,
            str(figures["problems"]),
            f"{figures['near']:.0%}",
            f"{figures['near_without_split_k']:.0%}",
            f"{figures['median']:.2f}",
            f"{figures['worst']:.2f}",
        ]
        for name, figures in {**found["gpus"], "all": found["summary"]}.items()
    ]
    return (
        "## Short lists and NVIDIA's heuristics\n\n"
        "`python -m benchmarks.cutlass_referee`: the least estimate of our short list by "
        "nvidia-matmul-heuristics, over that of its own choice, which may split K between blocks; "
        f"a model's figures, no GPU's. {origin(found)}\n\n{table(head, rows)}"
    )

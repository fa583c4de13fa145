"""The sections of docs/performance.md about templates of CUTLASS and Bolt's figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from benchmarks.bolt_gpu import RATIOS
from benchmarks.cutlass_offline import summary
from benchmarks.page_words import Content, origin, table
from tilewright.ground.text import NONE, duration


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


TITLES = {
    "8a": "figure 8a", "8b": "figure 8b", "9": "figure 9", "table1": "table 1",
    "table2": "table 2", "table3": "table 3", "10": "figure 10",
}  # fmt: skip


def _after(rows: Mapping[str, Content]) -> str:
    """How much of *apart* is the kernel of bias and activation alone, by contraction."""
    kinds: dict[str, list[float]] = defaultdict(list)
    for name, row in rows.items():
        if row.get("after_s"):
            kinds[name.partition(" ")[0]].append(row["after_s"])
    if not kinds:
        return ""
    parts = [f"{duration(min(s))} to {duration(max(s))} after the {k}" for k, s in kinds.items()]
    return (
        "Figure 9's baseline is weak: that kernel, an untuned program which reads two bytes a "
        f"thread, takes {' and '.join(parts)}, several times what its traffic takes, so part of "
        "*of apart* is its slowness and not the fusion. "
    )


def bolt_gpu(found: Content) -> str:
    """What templates take on a GPU, beside libraries, our own sketches, and two kernels."""
    head = ["", "templates", *RATIOS.values()]
    rows = [
        [f"{TITLES[part]}: {name}", duration(row["templates_s"]), *_ratios(row)]
        for part, those in found["rows"].items()
        for name, row in those.items()
        if row["templates_s"]
    ]
    tuned = [
        f"{name} was tuned in {row['tuning_s']:.0f} s"
        for name, row in found["rows"].get("10", {}).items()
    ]
    return (
        "## Bolt's figures on a GPU\n\n"
        "`python -m benchmarks.bolt_gpu`: half precision; the fastest of the short list, checked "
        "against PyTorch (eager, in a graph; cuBLAS and cuDNN), and how many times faster it is. "
        "*SIMT* is the profile of our own sketches, which use no tensor cores. *Apart* is, by "
        "templates again: bias and activation by a kernel of their own (figure 9), the two "
        "contractions in a kernel each (tables 1 and 2), channels that are not padded (table 3). "
        f"{_after(found['rows'].get('9', {}))}{'; '.join(tuned)}{'. ' if tuned else ''}"
        f"{origin(found)}\n\n"
        f"{table(head, rows)}{_means(found['summary'])}"
    )


def _means(summary: Content) -> str:
    """The geometric means of each figure, and its worst row."""
    named = [f"{TITLES[part]} {_mean(figures)}" for part, figures in summary.items()]
    return f"\nOf PyTorch in the geometric mean: {', '.join(named)}.\n" if named else ""


def _mean(figures: Content) -> str:
    words = RATIOS["torch"]
    mean, worst = (figures[f"{words}, {what}"] for what in ("geometric mean", "worst"))
    return f"{mean:.2f} (worst {worst:.2f})"


def _ratios(row: Content) -> list[str]:
    others = (row.get(f"{name}_s") for name in RATIOS)
    return [f"{s / row['templates_s']:.2f}" if s else NONE for s in others]

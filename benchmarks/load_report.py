"""What latencies under load amount to: statistics, bars, tables.

figures(latencies)         {"median_s", "p95_s", "p99_s", "worst_s", "calls"}
bars(entries)              one Bar a demand and side of ours: met, or the cells that miss it
print_load(console, entries), print_bars(console, entries)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.peers.sides import OWN
from tilewright.ground.text import duration

Entry = Mapping[str, Any]
AGAINST = "onnxruntime"
# A figure, its name, and how many times the peer's it may be.
DEMANDS = (("median_s", "median", 1.0), ("p95_s", "95 %", 1.0), ("p99_s", "99 %", 1.2))
COLUMNS = {"median_s": "median", "p95_s": "95 %", "p99_s": "99 %", "worst_s": "worst"}
LEAST_CALLS = 100  # of both sides, for a 99th percentile to say more than the worst call does


def figures(latencies: Sequence[float]) -> dict[str, float]:
    """Of all calls of a cell; a percentile is a call that was made, none between two."""
    median, p95, p99 = np.percentile(latencies, (50, 95, 99), method="higher").tolist()
    return {
        "median_s": median,
        "p95_s": p95,
        "p99_s": p99,
        "worst_s": max(latencies),
        "calls": len(latencies),
    }


@dataclass(frozen=True, slots=True)
class Bar:
    """A demand on one side of ours: the cells compared, and those missed with our part of the
    peer's figure.
    """

    side: str
    what: str
    limit: float
    compared: int
    missed: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        times = "" if self.limit == 1 else f"{self.limit} times "
        head = f"{self.side}: {self.what} at most {times}{AGAINST}'s"
        if not self.compared:
            return f"{head}: no cell to compare"
        if not self.missed:
            return f"{head}: met in all {self.compared} cells"
        cells = ", ".join(f"{case} ({ratio:.2f})" for case, ratio in self.missed)
        return f"{head}: missed in {len(self.missed)} of {self.compared} cells: {cells}"


def bars(entries: Sequence[Entry]) -> list[Bar]:
    """Every demand on every side of ours, over the cells that have both it and the peer."""
    names = [n for n in OWN if any(n in e["sides"] for e in entries)]
    found = []
    for name in names:
        both = [e for e in entries if name in e["sides"] and AGAINST in e["sides"]]
        for key, what, limit in DEMANDS:
            fit = both if key != "p99_s" else [e for e in both if _many(e, name)]
            ratios = [(e["case"], e["sides"][name][key] / e["sides"][AGAINST][key]) for e in fit]
            missed = tuple((case, ratio) for case, ratio in ratios if ratio > limit)
            found.append(Bar(name, what, limit, len(fit), missed))
    return found


def _many(entry: Entry, name: str) -> bool:
    return all(entry["sides"][n]["calls"] >= LEAST_CALLS for n in (name, AGAINST))


def rows(entries: Iterable[Entry]) -> list[list[str]]:
    """A row for every side of every cell; the cell is named in its first row."""
    found = []
    for entry in entries:
        base = entry["sides"].get(AGAINST)
        for number, (name, one) in enumerate(entry["sides"].items()):
            parts = [
                f"{one[key] / base[key]:.2f}" if base and name in OWN else ""
                for key, _, _ in DEMANDS
            ]
            found.append(
                [
                    entry["case"] if number == 0 else "",
                    name,
                    *(duration(one[key]) for key in COLUMNS),
                    " ".join(parts).strip(),
                    str(one["calls"]),
                ]
            )
    return found


HEAD = ("cell", "side", *COLUMNS.values(), f"of {AGAINST}'s: median, 95 %, 99 %", "calls")


def print_load(console: Console, entries: Iterable[Entry]) -> None:
    """All cells."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for number, heading in enumerate(HEAD):
        table.add_column(heading, justify="left" if number < 2 else "right")
    for row in rows(entries):
        table.add_row(*row)
    console.print(table)


def print_bars(console: Console, entries: Sequence[Entry]) -> None:
    """A line a bar."""
    for bar in bars(entries):
        console.print(str(bar), markup=False, soft_wrap=True)

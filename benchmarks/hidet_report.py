"""Tables of Hidet's figures.

tables(entries)              what each figure is about, and a table: a line a case (18: a space)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median, quantiles
from typing import Any

from benchmarks.peers.meta_schedule import NAME as TVM
from benchmarks.peers.sides import OURS, PEERS, UNTUNED
from benchmarks.report import Part, Table
from tilewright.ground.text import NONE, duration

Rows = Mapping[str, Mapping[str, Any]]
Cells = tuple[Sequence[str], list[list[str]]]
TOLD = {
    "17": "wall seconds of tuning an operator by the search and by its profile, and by TVM's "
    "MetaSchedule where apache-tvm was installed (its releases no longer have Ansor's or "
    "AutoTVM's). *Its best* is what the tuner itself measured.",
    "18": "all rows of the CPU's template that time allowed, and the programs that a search of the "
    "sketches chose to measure; latencies as the searches measured them.",
    "19": "tiles may run over the end of an axis; *divisors* is the same search where they divide "
    "it, which leaves none for a prime.",
    "20": "batch sizes, tuned by the profile.",
    "21": "*after*: normalisation and ReLU in the convolution's kernel, or apart in a second one. "
    "*before*: normalisation and ReLU of its input, where the model is cut so. *apart / ours* is "
    "of the better of the tuned and the untuned program of either way.",
}
DIVISORS, APART, UNTUNED_APART = "divisors", "apart", "untuned, apart"
WAYS = ("search", "profile", TVM)
NEAR = 1.1  # times the best program's latency


def tables(entries: Iterable[Mapping[str, Any]]) -> list[Part]:
    """Every figure that has cases: its title, and a table."""
    figures: dict[str, dict[str, Mapping[str, Any]]] = {}
    for entry in entries:
        number, _, name = entry["case"].partition(":")
        figures.setdefault(number, {})[name] = entry
    found: list[Part] = []
    for number, rows in figures.items():
        found += [f"Figure {number}: {TOLD[number]}", Table(*TABLES[number](rows))]
    return found


def _costs(rows: Rows) -> Cells:
    head = ["case"]
    for way in WAYS:
        head += [f"{way}: trials", "s", "its best"]
    sides = (OURS, "profile", UNTUNED, *PEERS)
    lines = []
    for name, row in rows.items():
        cells = [name]
        for way in WAYS:
            one = row["ways"].get(way)
            cells += (
                [str(one["trials"]), f"{one['seconds']:.0f}", duration(one["best_s"])]
                if one
                else [NONE] * 3
            )
        lines.append([*cells, *(duration(row["seconds"].get(side)) for side in sides)])
    return [*head, *(f"in turns: {side}" for side in sides)], lines


def _distributions(rows: Rows) -> Cells:
    head = ["space", "programs", "failed", "best", "1st decile", "median", "9th decile"]
    head.append(f"within {NEAR:g} of the best of all")
    lines = []
    for name, row in rows.items():
        best = min(s for space in row["spaces"].values() for s in space["latencies_s"])
        for way, space in row["spaces"].items():
            ran = space["latencies_s"]
            deciles = quantiles(ran, n=10, method="inclusive") if len(ran) > 1 else ran * 9
            near = sum(s <= NEAR * best for s in ran) / max(len(ran), 1)
            figures = (min(ran), deciles[0], median(ran), deciles[8]) if ran else (None,) * 4
            counts = [str(len(ran)), str(space["failed"])]
            lines.append([f"{name}, {way}", *counts, *map(duration, figures), f"{near:.0%}"])
    return head, lines


def _sizes(rows: Rows) -> Cells:
    sides = [OURS, DIVISORS, UNTUNED, *PEERS]
    lines = []
    for name, row in sorted(rows.items(), key=lambda item: int(item[0].partition("-")[2])):
        rates = [f"{row['flops'] / s / 1e9:.0f}" if s else NONE for s in _of(row, sides)]
        lines.append([name, *rates])
    return ["GFLOP/s", *sides], lines


def _batches(rows: Rows) -> Cells:
    sides = (OURS, UNTUNED, *PEERS)
    lines = []
    for name, row in rows.items():
        seconds = row["seconds"]
        cells = [name, str(row["trials"]), *(duration(seconds.get(side)) for side in sides)]
        lines.append([*cells, _over(seconds, PEERS, [OURS])])
    return ("network", "trials", *sides, "best peer / ours"), lines


def _kernels(rows: Rows) -> Cells:
    sides = (OURS, UNTUNED, APART, UNTUNED_APART, *PEERS)
    lines = []
    for name, row in rows.items():
        seconds = row["seconds"]
        fused = row["kind"] if row["is_fused"] else f"{row['kind']}, not fused"
        cells = [name, fused, *(duration(seconds.get(side)) for side in sides)]
        ways = _over(seconds, [APART, UNTUNED_APART], [OURS, UNTUNED])
        lines.append([*cells, ways, _over(seconds, PEERS, [OURS])])
    return ("layer", "fused", *sides, "apart / ours", "best peer / ours"), lines


def _of(row: Mapping[str, Any], sides: Sequence[str]) -> list[float | None]:
    """Seconds by side; None of one that did not take part."""
    return [row["seconds"].get(side) for side in sides]


def _over(seconds: Mapping[str, float], sides: Sequence[str], own: Sequence[str]) -> str:
    """The best of some sides in terms of the best of ours."""
    others, mine = ([seconds[s] for s in those if s in seconds] for those in (sides, own))
    return f"{min(others) / min(mine):.2f}" if others else NONE


TABLES = {"17": _costs, "18": _distributions, "19": _sizes, "20": _batches, "21": _kernels}

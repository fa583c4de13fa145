"""Tables and pictures of Hidet's figures.

table_of("19", {"GEMM-2039": row, ...})      the head and the lines
lines_of("19", {"GEMM-2039": row})           sentences for people
draw("19", rows, Path("hidet.json"))         hidet-19.png beside it; nothing without matplotlib
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.peers.meta_schedule import NAME as TVM
from benchmarks.peers.sides import OURS, PEERS, UNTUNED
from tilewright.ground.text import NONE, duration

Rows = Mapping[str, Mapping[str, Any]]
Table = tuple[Sequence[str], list[list[str]]]
TITLES = {
    "17": "What tuning costs",
    "18": "How good the programs of a space are",
    "19": "Products of consecutive sizes",
    "20": "Batch sizes",
    "21": "In one kernel and apart",
}
DIVISORS, APART, UNTUNED_APART = "divisors", "apart", "untuned, apart"
WAYS = ("search", "profile", TVM)
NEAR = 1.1  # times the best program's latency


def table_of(number: str, rows: Rows) -> Table:
    """A figure as a table: its head, and a line a case (18: a space)."""
    return TABLES[number](rows)


def lines_of(number: str, rows: Rows) -> list[str]:
    """A line a row."""
    head, lines = table_of(number, rows)
    return [
        f"figure {number}, {line[0]}: "
        + ", ".join(f"{what} {cell}" for what, cell in zip(head[1:], line[1:], strict=True))
        for line in lines
    ]


def _costs(rows: Rows) -> Table:
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


def _distributions(rows: Rows) -> Table:
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


def _sizes(rows: Rows) -> Table:
    sides = [OURS, DIVISORS, UNTUNED, *PEERS]
    lines = []
    for name, row in sorted(rows.items(), key=lambda item: int(item[0].partition("-")[2])):
        rates = [f"{row['flops'] / s / 1e9:.0f}" if s else NONE for s in _of(row, sides)]
        lines.append([name, *rates])
    return ["GFLOP/s", *sides], lines


def _batches(rows: Rows) -> Table:
    sides = (OURS, UNTUNED, *PEERS)
    lines = []
    for name, row in rows.items():
        seconds = row["seconds"]
        cells = [name, str(row["trials"]), *(duration(seconds.get(side)) for side in sides)]
        lines.append([*cells, _over(seconds, PEERS, [OURS])])
    return ("network", "trials", *sides, "best peer / ours"), lines


def _kernels(rows: Rows) -> Table:
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


# ---- pictures -----------------------------------------------------------------------------------


def picture_of(number: str, file: Path) -> Path:
    """Where the picture of a figure is."""
    return file.with_name(f"{file.stem}-{number}.png")


def draw(number: str, rows: Rows, file: Path) -> None:
    """The figure so far, beside the JSON file."""
    if importlib.util.find_spec("matplotlib") is None:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
    if number == "18":
        _draw_spaces(axes, rows)
    elif number == "19":
        _draw_sizes(axes, rows)
    else:
        _draw_bars(axes, number, rows)
    axes.set_title(TITLES[number])
    axes.legend()
    figure.savefig(picture_of(number, file))
    pyplot.close(figure)


def _draw_spaces(axes: Any, rows: Rows) -> None:
    """How many of a space's programs take at most so long."""
    for name, row in rows.items():
        for way, space in row["spaces"].items():
            ran = space["latencies_s"]
            shares = [(i + 1) / len(ran) for i in range(len(ran))]
            axes.step([1e6 * s for s in ran], shares, where="post", label=f"{name}, {way}")
    axes.set(xscale="log", xlabel="µs", ylabel="share of the programs that ran")


def _draw_sizes(axes: Any, rows: Rows) -> None:
    """Rates by size."""
    points = sorted((int(name.partition("-")[2]), row) for name, row in rows.items())
    for side in (OURS, DIVISORS, *PEERS):
        timed = [(n, row["flops"], *_of(row, [side])) for n, row in points]
        found = [(n, flops / seconds / 1e9) for n, flops, seconds in timed if seconds]
        if found:
            axes.plot(*zip(*found, strict=True), marker="o", label=side)
    axes.set(xlabel="rows, columns and depth", ylabel="GFLOP/s", ylim=(0, None))


def _draw_bars(axes: Any, number: str, rows: Rows) -> None:
    """Seconds of tuning by way (17), else of a call by side, relative to ours."""
    if number == "17":
        bars = {
            name: {w: one["seconds"] for w, one in r["ways"].items()} for name, r in rows.items()
        }
        axes.set_ylabel("s of tuning")
    else:
        bars = {
            name: {side: s / row["seconds"][OURS] for side, s in row["seconds"].items()}
            for name, row in rows.items()
        }
        axes.set_ylabel("time of a call, relative to ours")
    series = list(dict.fromkeys(side for row in bars.values() for side in row))
    width = 0.8 / max(len(series), 1)
    for i, side in enumerate(series):
        places = [n + i * width for n in range(len(bars))]
        axes.bar(places, [row.get(side, 0.0) for row in bars.values()], width, label=side)
    axes.set_xticks([n + 0.4 for n in range(len(bars))], bars, rotation=30, ha="right")

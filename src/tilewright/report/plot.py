"""Parts of Plotly figures, as plain data, in one look: dark on white, few colours.

framed([lines([1, 2], [3, 4], "best")], "trial", "latency (ms)", log="y")
-> {"data": [{"type": "scatter", "mode": "lines", …}], "layout": {…}}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Figure = dict[str, Any]
Array = NDArray[Any]

BLUE, ORANGE, GREEN, RED, GREY, PALE = (
    "#1f5fbf", "#d9730d", "#1a7f4b", "#c0392b", "#6b7280", "#b9c2cf",
)  # fmt: skip
PALETTE = (BLUE, ORANGE, GREEN, "#7b3fa0", "#0e8a9c", "#a0522d")
DIGITS = 4  # of what is drawn; tables hold the exact figures


def scale_of(latencies: Sequence[float]) -> tuple[float, str]:
    """By what seconds are multiplied to be read, and the unit."""
    least = min((s for s in latencies if s > 0), default=1.0)
    for limit, scale, unit in ((1.0, 1.0, "s"), (1e-3, 1e3, "ms"), (1e-6, 1e6, "µs")):
        if least >= limit:
            return scale, unit
    return 1e9, "ns"


def framed(data: list[Figure], x_title: str, y_title: str, log: str = "", **layout: Any) -> Figure:
    axes = {
        axis: {
            "title": {"text": title, "standoff": 8, "font": {"size": 13}},
            "gridcolor": "#e8ebf0",
            "linecolor": "#c9d0da",
            "zeroline": False,
            "automargin": True,
            "type": "log" if axis in log else "linear",
            # 1, 2 and 5 of every decade, written out
            **({"dtick": "D2", "tickformat": ",~r"} if axis in log else {}),
        }
        for axis, title in (("x", x_title), ("y", y_title))
    }
    return {
        "data": data,
        "layout": {
            "xaxis": axes["x"],
            "yaxis": axes["y"],
            "height": 340,
            "margin": {"l": 55, "r": 20, "t": 56 if layout.get("showlegend") else 15, "b": 45},
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": "#1f2937"},
            "paper_bgcolor": "#ffffff",
            "plot_bgcolor": "#ffffff",
            "hovermode": "closest",
            "showlegend": False,
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            **layout,
        },
    }


def lines(x: ArrayLike, y: ArrayLike, name: str, **more: Any) -> Figure:
    """A line through points."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": numbers(x),
        "y": numbers(y),
        "name": name,
        **more,
    }


def dots(x: ArrayLike, y: ArrayLike, **more: Any) -> Figure:
    """Points; say how they look with `marker`."""
    return {"type": "scatter", "mode": "markers", "x": numbers(x), "y": numbers(y), **more}


def numbers(values: ArrayLike) -> list[float | int]:
    """Plain numbers of a few significant digits, which keep the page small."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return [int(v) for v in array]
    return [float(f"{v:.{DIGITS}g}") for v in array]


def thinned(numbers: Array, most: int) -> Array:
    """At most so many of them, evenly."""
    if len(numbers) <= most:
        return numbers
    kept: Array = numbers[np.linspace(0, len(numbers) - 1, most).astype(int)]
    return kept


def shortened(name: str, most: int = 26) -> str:
    """A name that fits beside a plot."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def binary_size(size: int) -> str:
    """Bytes in powers of 1024, as caches are counted."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size //= 1024
    return f"{size:.0f} GiB"

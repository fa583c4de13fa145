"""Parts of Plotly figures, as plain data, in one look: few colours on the page's own ground.

framed([lines([1, 2], [3, 4], "best")], "trial", "latency (ms)", log="y")
-> {"data": [{"type": "scatter", "mode": "lines", …}], "layout": {…}}

Colours are names of the style sheet (`var(--blue)`), which has a light and a dark value of each;
the page's script puts the value in before it draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilewright.ground.text import DURATIONS

Figure = dict[str, Any]
Array = NDArray[Any]

INK, LINE, GROUND = "var(--ink)", "var(--line)", "var(--ground)"
BLUE, ORANGE, GREEN, RED, GREY, PALE = (
    f"var(--{name})" for name in ("blue", "orange", "green", "red", "grey", "faint")
)
PALETTE = (BLUE, ORANGE, GREEN, "var(--purple)", "var(--teal)", "var(--brown)")
DIGITS = 4  # of what is drawn; tables hold the exact figures
WIDE = 8.0  # times the least value: from there on an axis is logarithmic
MOST_TICKS = 9
AIR = 0.03  # of a decade, beyond the outer ticks


def scale_of(latencies: Sequence[float]) -> tuple[float, str]:
    """By what seconds are multiplied to be read, and the unit."""
    least = min((s for s in latencies if s > 0), default=1.0)
    length, unit = next((u for u in DURATIONS if least >= u[0]), DURATIONS[-1])
    return 1.0 / length, unit


def framed(data: list[Figure], x_title: str, y_title: str, log: str = "", **layout: Any) -> Figure:
    """A figure of some traces. The axes named in `log` ("x", "y", "xy") are logarithmic, with
    labels at both ends of what is drawn.
    """
    axes = {
        axis: {
            "title": {"text": title, "standoff": 8, "font": {"size": 13}},
            "gridcolor": LINE,
            "linecolor": LINE,
            "zeroline": False,
            "automargin": True,
            "type": "linear",
            **(_decades(_drawn(data, axis)) if axis in log else {}),
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
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": INK},
            "paper_bgcolor": GROUND,
            "plot_bgcolor": GROUND,
            "hoverlabel": {"bgcolor": GROUND, "bordercolor": LINE, "font": {"color": INK}},
            "hovermode": "closest",
            "showlegend": False,
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            **layout,
        },
    }


def from_zero(data: list[Figure], x_title: str, y_title: str, **layout: Any) -> Figure:
    """A figure whose y axis begins at 0, so that a tenth less looks like a tenth less; where
    values differ too much for that, it is logarithmic.
    """
    values = _drawn(data, "y")
    if len(values) and values.max() > WIDE * values.min():
        return framed(data, x_title, y_title, log="y", **layout)
    figure = framed(data, x_title, y_title, **layout)
    figure["layout"]["yaxis"]["rangemode"] = "tozero"
    return figure


def _drawn(data: Sequence[Figure], axis: str) -> NDArray[np.float64]:
    """The positive values of all traces along an axis."""
    values = np.array([v for trace in data for v in trace[axis]], np.float64)
    return values[values > 0]


def _decades(values: NDArray[np.float64]) -> Figure:
    """A logarithmic axis around some values, with labels at 1, 2 and 5 of each decade, or, where
    those would be many, at its beginning only.
    """
    if not len(values):
        return {"type": "log"}
    low, high = float(values.min()), float(values.max())
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    fine = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
    first = max((tick for tick in fine if tick <= low * 1.0001), default=fine[0])
    last = min((tick for tick in fine if tick >= high * 0.9999), default=fine[-1])
    ticks = [tick for tick in fine if first <= tick <= last]
    if len(ticks) > MOST_TICKS:
        ticks = [tick for tick in ticks if tick in (fine[::3])]
    return {
        "type": "log",
        "tickvals": numbers(ticks),
        "ticktext": [f"{tick:,.6g}" for tick in ticks],
        "range": [round(log10(first) - AIR, 4), round(log10(last) + AIR, 4)],
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


def binary_size(size: int) -> str:
    """Bytes in powers of 1024, as caches are counted."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size //= 1024
    return f"{size:.0f} GiB"

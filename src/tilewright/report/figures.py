"""The page's plots, as Plotly figures in plain data: {"data": [...], "layout": {...}}.

    figures = overview(history)               {"time": …, "trials": …, "rounds": …, …}
    figures |= of_task(history.tasks[0])      {"curve-3f2a…": …, "model-3f2a…": …}

Latencies are drawn in the unit that suits their size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.ground.text import clock, duration
from tilewright.records.rows import DEFAULT
from tilewright.report.history import Curve, History, ModelHistory
from tilewright.report.plot import (
    BLUE,
    GREY,
    GROUND,
    INK,
    ORANGE,
    PALE,
    PALETTE,
    RED,
    Array,
    Figure,
    binary_size,
    dots,
    framed,
    from_zero,
    lines,
    numbers,
    scale_of,
    thinned,
)
from tilewright.report.tasks import TaskHistory
from tilewright.report.words import origin_words

FEW_MODELS = 3  # more are drawn as speed-ups, which can be compared
SHOWN_TASKS = 24  # in plots with one line a task
MOST_POINTS = 4000  # of the scatter of all tasks: a browser draws so many at once
TASK_POINTS = 2000  # of one task's plots
GIGA = 1e9

# How rounds are drawn, by what they brought; what is drawn later covers the earlier.
ROUNDS: dict[str, Figure] = {
    "untuned program": {"size": 7, "color": GROUND, "line": {"width": 1.5, "color": GREY}},
    "nothing better found": {"size": 7, "color": PALE},
    "a better program found": {"size": 9, "color": BLUE},
}


def overview(history: History) -> dict[str, Figure]:
    """The plots about the whole run."""
    return _with_data(
        time=best_latency(history, "time"),
        trials=best_latency(history, "trials"),
        rounds=rounds(history),
        roofline=roofline(history),
        model=predictions(history.tasks, MOST_POINTS, by_task=True),
    )


def of_task(task: TaskHistory) -> dict[str, Figure]:
    """The plots about one task."""
    found = _with_data(
        curve=task_curve(task), model=predictions([task], TASK_POINTS, by_task=False)
    )
    return {f"{name}-{task.key}": figure for name, figure in found.items()}


def _with_data(**figures: Figure) -> dict[str, Figure]:
    """Those that show something."""
    return {name: figure for name, figure in figures.items() if figure["data"]}


# ---- latency ------------------------------------------------------------------------------------


def best_latency(history: History, over: str) -> Figure:
    """Best latency of every model over "time" (minutes) or "trials"."""
    models = [m for m in history.models if len(m.curve.at_s)]
    if len(models) > FEW_MODELS:
        return _speedups(history, models, over)
    data: list[Figure] = []
    scale, unit = scale_of([m.best_s or 0.0 for m in models])
    for model, colour in zip(models, PALETTE, strict=False):
        x, y = _steps(model.curve, over, history, model.trials)
        line = {"shape": "hv", "color": colour, "width": 2.5}
        data.append(lines(x, y * scale, model.name, line=line, hovertemplate=_hover(unit, over)))
        if model.default_s is not None and len(x):
            dash = {"color": colour, "width": 1, "dash": "dot"}
            ends = [0.0, float(x[-1])]
            level = [model.default_s * scale] * 2
            name = f"{model.name}, untuned"
            data.append(lines(ends, level, name, line=dash, hoverinfo="name+y", showlegend=False))
    legend = {"showlegend": len(models) > 1}
    return from_zero(data, _over(over), f"estimated latency ({unit})", **legend)


def _speedups(history: History, models: Sequence[ModelHistory], over: str) -> Figure:
    """How many times faster than untuned each model is, and their geometric mean."""
    known = [m for m in models if m.speedup is not None]
    data = []
    for model in known:
        x, y = _steps(model.curve, over, history, model.trials)
        line = {"shape": "hv", "color": PALE, "width": 1}
        data.append(lines(x, (model.default_s or 0.0) / y, model.name, line=line, showlegend=False))
    if known:
        x, y = _mean_speedup(known, over)
        end = max(float(line["x"][-1]) for line in data)
        x, y = np.append(x, end), np.append(y, y[-1])
        line = {"shape": "hv", "color": BLUE, "width": 3}
        name = f"geometric mean of {len(known)} models"
        data.append(lines(x, y, name, line=line, hovertemplate="%{y:.2f}×<extra>mean</extra>"))
    return from_zero(data, _over(over), "times faster than untuned", showlegend=True)


def _mean_speedup(models: Sequence[ModelHistory], over: str) -> tuple[Array, Array]:
    """The geometric mean; over time, a model that has not begun counts as 1."""
    xs, gains = [], []
    for model in models:
        curve = model.curve
        logs = np.log((model.default_s or 0.0) / curve.latency_s)
        xs.append(curve.at_s / 60 if over == "time" else curve.trials.astype(float))
        gains.append(np.diff(logs, prepend=0.0))
    x, gain = np.concatenate(xs), np.concatenate(gains)
    order = np.argsort(x, kind="stable")
    return x[order], np.exp(np.cumsum(gain[order]) / len(models))


def _steps(curve: Curve, over: str, history: History, trials: int) -> tuple[Array, Array]:
    """A curve's corners, drawn on to the end of its tuning."""
    if over == "time":
        x, end = curve.at_s / 60, history.clock.total / 60
    else:
        x, end = curve.trials.astype(float), float(trials)
    return np.append(x, end), np.append(curve.latency_s, curve.latency_s[-1])


def _hover(unit: str, over: str) -> str:
    x = "%{x:.2f} min" if over == "time" else "trial %{x}"
    return f"%{{y}} {unit} at {x}<extra>%{{fullData.name}}</extra>"


def _over(over: str) -> str:
    return "minutes of tuning" if over == "time" else "trials"


def task_curve(task: TaskHistory) -> Figure:
    """Every trial of a task, the best so far, and its untuned program."""
    ok = np.flatnonzero(np.isfinite(task.latency_s))
    if not len(ok):
        return {"data": [], "layout": {}}
    scale, unit = scale_of([task.best_s or 0.0])
    shown = thinned(ok, TASK_POINTS)
    text = [
        f"{origin_words(task.lines[i].origin)}, after {clock(task.at_s[i])} of tuning"
        for i in shown
    ]
    data = [
        dots(
            shown + 1,
            task.latency_s[shown] * scale,
            name="trials",
            text=text,
            hovertemplate=f"trial %{{x}}: %{{y}} {unit}<br>%{{text}}<extra></extra>",
            marker={"size": 5, "color": PALE},
        )
    ]
    corners = task.improvements
    x = np.append(corners + 1, len(task.lines))
    y = np.append(task.latency_s[corners], task.latency_s.min()) * scale
    line = {"shape": "hv", "color": BLUE, "width": 2.5}
    data.append(lines(x, y, "best so far", line=line, hoverinfo="skip"))
    if task.default_s is not None:
        level = [task.default_s * scale] * 2
        dash = {"color": ORANGE, "width": 1.5, "dash": "dot"}
        data.append(lines([1, len(task.lines)], level, "untuned", line=dash, hoverinfo="name+y"))
    failed = np.flatnonzero(~np.isfinite(task.latency_s))
    if len(failed):
        slowest = float(np.max(task.latency_s[ok]) * scale)
        cross = {"size": 7, "symbol": "x-thin", "line": {"width": 1.5, "color": RED}}
        hover = "trial %{x} failed<extra></extra>"
        level = [slowest] * len(failed)
        data.append(dots(failed + 1, level, name="failed", marker=cross, hovertemplate=hover))
    return from_zero(data, "trial", f"latency ({unit})", showlegend=True)


# ---- time ---------------------------------------------------------------------------------------


def rounds(history: History) -> Figure:
    """When each of the longest tasks had its rounds, and which of them found a better program."""
    tasks = sorted(history.tasks, key=lambda t: -t.given_s)[:SHOWN_TASKS]
    found: dict[str, list[tuple[float, int, str]]] = {look: [] for look in ROUNDS}
    for y, task in enumerate(tasks):
        better = set(task.improvements.tolist())
        members: dict[tuple[str, int, int], list[int]] = {}
        for i, line in enumerate(task.lines):
            kind = "untuned program" if line.origin == DEFAULT else ""
            members.setdefault((kind, line.seed, line.round), []).append(i)
        for (kind, _, number), trials in members.items():
            text = f"{task.name}: {kind or f'round {number}, {len(trials)} trials'}"
            is_better = not better.isdisjoint(trials)
            look = kind or ("a better program found" if is_better else "nothing better found")
            found[look].append((float(task.at_s[trials[0]]) / 60, y, text))
    data = [
        dots(
            [x for x, _, _ in points],
            [y for _, y, _ in points],
            name=look,
            text=[text for _, _, text in points],
            hovertemplate="%{text}<extra></extra>",
            marker={"symbol": "square", **ROUNDS[look]},
        )
        for look, points in found.items()
        if points
    ]
    figure = framed(data, "minutes of tuning", "", showlegend=True)
    layout = figure["layout"]
    layout["xaxis"]["rangemode"] = "tozero"
    layout["height"] = 90 + 21 * max(len(tasks), 4)
    layout["margin"]["l"] = 10
    layout["yaxis"] |= {
        "tickvals": list(range(len(tasks))),
        "ticktext": [t.name for t in tasks],  # the page's script shortens what has no room
        "range": [len(tasks) - 0.4, -0.6],  # the first on top
        "automargin": True,
        "showgrid": False,
    }
    return figure


# ---- roofline and cost model --------------------------------------------------------------------


WINNERS: dict[bool, Figure] = {
    False: {"name": "tuned", "marker": {"size": 9, "color": BLUE}},
    True: {
        "name": "tuned, in Winograd's form",
        "marker": {"size": 10, "color": BLUE, "symbol": "diamond"},
    },
}


def roofline(history: History) -> Figure:
    """GFLOP/s of every task over its operations a byte, under the machine's limits.

    A program in Winograd's form counts with its own operations, an untuned one with those of the
    math.
    """
    tasks = [t for t in history.tasks if t.least_bytes and t.workload.flops and t.best_s]
    if not tasks:
        return {"data": [], "layout": {}}
    best = [_point(t, t.flops, t.best_s) for t in tasks]
    untuned = [_point(t, t.workload.flops, t.default_s) for t in tasks if t.default_s]
    intensities = np.array([x for x, _ in [*best, *untuned]])
    data = _limits(history, intensities, max(y for _, y in best))
    for task, end in zip(tasks, best, strict=True):
        if task.default_s:
            begin = _point(task, task.workload.flops, task.default_s)
            x, y = zip(begin, end, strict=True)
            link = lines(x, y, "", line={"color": PALE, "width": 1})
            data.append({**link, "showlegend": False, "hoverinfo": "skip"})
    data.append(
        dots(
            [x for x, _ in untuned],
            [y for _, y in untuned],
            name="untuned",
            marker={"size": 6, "color": GROUND, "line": {"width": 1.5, "color": ORANGE}},
            hovertemplate="untuned: %{y:.1f} GFLOP/s<extra></extra>",
        )
    )
    for is_winograd, look in WINNERS.items():
        numbered = [i for i, task in enumerate(tasks) if task.is_winograd is is_winograd]
        if numbered:
            data.append(
                dots(
                    [best[i][0] for i in numbered],
                    [best[i][1] for i in numbered],
                    text=[_reached(tasks[i]) for i in numbered],
                    customdata=[tasks[i].key for i in numbered],
                    hovertemplate="%{text}<br>%{y:.1f} GFLOP/s, %{x:.2f} FLOP/byte<extra></extra>",
                    **look,
                )
            )
    figure = framed(data, "operations a byte", "GFLOP/s", log="xy", showlegend=True)
    figure["layout"]["height"] = 440
    return figure


def _point(task: TaskHistory, flops: int, seconds: float | None) -> tuple[float, float]:
    """Operations a byte, and GFLOP/s."""
    return flops / task.least_bytes, flops / GIGA / (seconds or 1.0)


def _reached(task: TaskHistory) -> str:
    share = task.roofline_fraction
    text = f"{task.name}: {duration(task.best_s)}"
    return text if share is None else f"{text}, {share:.0%} of its roofline"


def _limits(history: History, x: Array, fastest: float) -> list[Figure]:
    """Lines of the measured limits; without any, the fastest task."""
    left, right = float(x.min()) / 2, float(x.max()) * 2
    if history.ceilings is None:
        line = {"color": GREY, "width": 1.5, "dash": "dash"}
        return [lines([left, right], [fastest] * 2, "the fastest task seen", line=line)]
    float_peak = history.ceilings.flops_per_s / GIGA
    line = {"color": INK, "width": 2}
    data, peak = [], float_peak
    for gain in sorted({1.0, *(task.gain for task in history.tasks)}):
        peak = gain * float_peak
        what = "multiply-adds" if gain == 1.0 else f"{gain:.3g} times that, of fewer bits"
        name = f"{what}: {peak:.0f} GFLOP/s"
        data.append(lines([left, right], [peak, peak], name, line=line, hoverinfo="name"))
    sizes, rates = history.ceilings.sizes_bytes, history.ceilings.bytes_per_s
    dashes = ("dot", "dashdot", "dash", "longdash")
    for size, rate, dash in zip(sizes, rates, dashes, strict=False):
        bandwidth = rate / GIGA
        end = min(right, peak / bandwidth)
        if end <= left:
            continue
        name = f"{binary_size(size)}: {bandwidth:.0f} GB/s"
        ends = [bandwidth * left, bandwidth * end]
        line = {"color": GREY, "width": 1.5, "dash": dash}
        data.append(lines([left, end], ends, name, line=line, hoverinfo="name"))
    return data


def predictions(tasks: Sequence[TaskHistory], most: int, by_task: bool) -> Figure:
    """What the cost model predicted before a trial, and what was measured."""
    parts = [(task, *task.predicted) for task in tasks]
    score = np.concatenate([part[1] for part in parts]) if parts else np.zeros(0)
    if not len(score):
        return {"data": [], "layout": {}}
    share = np.concatenate([part[2] for part in parts])
    place = np.concatenate([part[3] / max(len(part[0].lines) - 1, 1) for part in parts])
    names = [task.name for task, scores, _, _ in parts for _ in scores]
    order = np.concatenate([part[3] for part in parts]) + 1
    shown = thinned(np.arange(len(score)), most)
    marker = {
        "size": 4 if by_task else 6,
        "opacity": 0.6,
        "color": numbers(place[shown]),
        "cmin": 0,
        "cmax": 1,
        "colorscale": [[0, ORANGE], [1, BLUE]],
        "colorbar": {
            "thickness": 10,
            "tickvals": [0, 1],
            "ticktext": ["first", "last"],
            "title": {"text": "trial", "side": "right"},
        },
    }
    scatter = dots(
        score[shown],
        share[shown],
        text=[(f"{names[i]}, " if by_task else "") + f"trial {order[i]}" for i in shown],
        hovertemplate="%{text}<br>predicted %{x}, measured %{y}<extra></extra>",
        marker=marker,
    )
    figure = framed([scatter], "predicted score", "measured speed / best speed")
    figure["layout"]["yaxis"]["rangemode"] = "tozero"
    return figure

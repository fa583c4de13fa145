"""Bars with words beside them, which the page draws as plain elements: they need no script, fit
any width and print.

    gains(history)     where the network's time goes, and how much of it is above the limits
    latencies(model)   untuned, tuned, and measured as a whole
    given(history)     seconds of tuning by task

A bar's parts are shares of the longest bar: Bar("conv", (("least", 0.6), ("gap", 0.4)), ("3 ms",)).
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.ground.text import NONE, clock, count, duration
from tilewright.report.history import Cost, History, ModelHistory

MOST = 16  # bars; the rest is one more
PART = 1e-4  # of a bar, that is drawn


@dataclass(frozen=True, slots=True)
class Bar:
    """`parts` are kinds (classes of the style sheet) and lengths from 0 to 1; `cells` what stands
    behind; `key` the task that it is about.
    """

    label: str
    parts: tuple[tuple[str, float], ...]
    cells: tuple[str, ...]
    key: str = ""


def latencies(model: ModelHistory) -> list[Bar]:
    """What the model takes, by estimate and by the clock."""
    rows = [
        ("untuned, sum of its kernels", "untuned", model.default_s),
        ("tuned, sum of its kernels", "tuned", model.best_s),
        *((_measured(name), _kind(name), seconds) for name, seconds in model.measured.items()),
    ]
    longest = max((seconds for _, _, seconds in rows if seconds), default=1.0)
    return [
        Bar(label, ((kind, seconds / longest),), (duration(seconds),))
        for label, kind, seconds in rows
        if seconds is not None
    ]


def _measured(program: str) -> str:
    return f"{program}, measured as a whole"


def _kind(program: str) -> str:
    return program if program in ("untuned", "tuned") else "peer"


def gains(history: History) -> list[Bar]:
    """Every kernel's calls of one run: what the machine's limits demand, and what is above them.

    The largest gap comes first; without known limits, what takes longest.
    """
    costs = history.costs
    total = sum(cost.seconds for cost in costs)
    longest = max((cost.seconds for cost in costs), default=0.0)
    gaps = sum(cost.gap_s or 0.0 for cost in costs)
    bars, passed = [], 0.0
    for cost in costs[:MOST]:
        passed += cost.gap_s or 0.0
        cells = (
            duration(cost.seconds),
            _share(cost.seconds, total),
            "none" if cost.gap_s == 0.0 else duration(cost.gap_s),
            _share(passed, gaps),
        )
        bars.append(Bar(cost.task.name, _parts(cost, longest), cells, cost.task.key))
    if rest := costs[MOST:]:
        seconds, gap_s = sum(c.seconds for c in rest), sum(c.gap_s or 0.0 for c in rest)
        end = (duration(seconds), _share(seconds, total), duration(gap_s or None))
        label = count(len(rest), "more kernel")
        bars.append(Bar(label, (), (*end, _share(gaps, gaps))))
    return bars


def _parts(cost: Cost, longest: float) -> tuple[tuple[str, float], ...]:
    if cost.gap_s is None:
        return (("tuned", cost.seconds / longest),)
    least_s = cost.seconds - cost.gap_s
    parts = (("least", least_s / longest), ("gap", cost.gap_s / longest))
    return tuple((kind, length) for kind, length in parts if length > PART)


def given(history: History) -> list[Bar]:
    """Seconds of tuning by task, most first, then what was no task's own time."""
    tasks = sorted(history.tasks, key=lambda task: -task.given_s)
    rows = [
        (task.name, task.given_s, count(len(task.lines), "trial"), task.key)
        for task in tasks[:MOST]
    ]
    if more := tasks[MOST:]:
        seconds = sum(task.given_s for task in more)
        trials = sum(len(task.lines) for task in more)
        rows.append((count(len(more), "more task"), seconds, count(trials, "trial"), ""))
    rest = history.clock.total - sum(task.given_s for task in tasks)
    if rest > 0.005 * history.clock.total:
        rows.append(("measuring the best again, preparing", rest, "", ""))
    longest = max((seconds for _, seconds, _, _ in rows), default=0.0) or 1.0
    return [
        Bar(name, (("tuned" if key else "other", seconds / longest),), (clock(seconds), text), key)
        for name, seconds, text, key in rows
    ]


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else NONE

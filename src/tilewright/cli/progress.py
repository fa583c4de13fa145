"""The progress of a tuning run: a live table on a terminal, plain lines elsewhere.

    with display(console) as show:
        tune(model, observe=show)
    show.last                          the newest snapshot, also after an interrupt

The tuner calls the display after every round. It copies what it shows, so that the terminal may be
redrawn meanwhile (once a second: a busy core would disturb the measurements).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tilewright.search.tuner import Progress
from tilewright.text import NONE, clock, count, duration, factor, rate

LINE_S = 5.0  # between plain lines
MARGIN = 9  # lines of the terminal that are not rows of the table


@dataclass(frozen=True, slots=True)
class Row:
    """One task; latencies of one call in seconds."""

    name: str
    weight: float
    flops: int
    default_s: float | None
    best_s: float | None
    trials: int
    errors: int

    @property
    def share_s(self) -> float:
        """What the task adds to the estimated latency, infinite while nothing ran."""
        return float("inf") if self.best_s is None else self.weight * self.best_s


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A `Progress` at one moment. `taken` is on the monotonic clock."""

    rows: tuple[Row, ...]
    current: int
    trials: int
    elapsed_s: float
    minutes: float | None
    budget_trials: int | None
    shares: dict[str, float]
    phase: str
    taken: float

    @staticmethod
    def of(progress: Progress) -> Snapshot:
        """Copy what is shown."""
        rows = tuple(
            Row(s.task.name, s.task.weight, s.task.flops, s.default_s, s.best_s, s.trials, s.errors)
            for s in progress.searches
        )
        return Snapshot(
            rows=rows,
            current=progress.current,
            trials=progress.trials,
            elapsed_s=progress.elapsed_s,
            minutes=progress.budget.minutes,
            budget_trials=progress.budget.trials,
            shares=dict(vars(progress.shares)),
            phase=progress.phase,
            taken=time.monotonic(),
        )

    @property
    def best_s(self) -> float | None:
        """Estimated latency of everything: the weighted sum; None while a task has not run."""
        return _total([(r.weight, r.best_s) for r in self.rows])

    @property
    def default_s(self) -> float | None:
        """The same with default programs."""
        return _total([(r.weight, r.default_s) for r in self.rows])

    @property
    def errors(self) -> int:
        """Failed trials."""
        return sum(r.errors for r in self.rows)

    @property
    def left_s(self) -> float | None:
        """Expected seconds to go when the snapshot was taken; None where it cannot be known."""
        by_time = None if self.minutes is None else self.minutes * 60 - self.elapsed_s
        by_trials = None
        if self.budget_trials is not None and self.trials:
            rest = self.budget_trials - self.trials
            by_trials = self.elapsed_s / self.trials * rest
        known = [max(0.0, left) for left in (by_time, by_trials) if left is not None]
        return min(known, default=None)


def _total(parts: list[tuple[float, float | None]]) -> float | None:
    known = [weight * seconds for weight, seconds in parts if seconds is not None]
    return sum(known) if len(known) == len(parts) else None


class Display(Protocol):
    """What `tune` observes with."""

    last: Snapshot | None

    def __call__(self, progress: Progress) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def display(console: Console) -> Display:
    """The display that suits where the output goes."""
    return LiveTable(console) if console.is_terminal else PlainLines(console)


class LiveTable:
    """A table that redraws itself in place."""

    def __init__(self, console: Console) -> None:
        self.last: Snapshot | None = None
        self._console = console
        self._live = Live(
            console=console,
            refresh_per_second=1,
            get_renderable=self._render,
            transient=True,
            vertical_overflow="crop",
        )

    def __call__(self, progress: Progress) -> None:
        self.last = Snapshot.of(progress)
        self._live.refresh()

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def _render(self) -> RenderableType:
        if self.last is None:
            return Text("Preparing the search spaces …", style="dim")
        return Group(
            task_table(self.last, max(3, self._console.height - MARGIN)),
            Text(summary_line(self.last), style="bold"),
            Text(state_line(self.last, time.monotonic() - self.last.taken)),
            Text(share_line(self.last), style="dim"),
        )


class PlainLines:
    """One line every few seconds, for logs."""

    def __init__(self, console: Console) -> None:
        self.last: Snapshot | None = None
        self._console = console
        self._printed = float("-inf")
        self._phase = ""

    def __call__(self, progress: Progress) -> None:
        self.last = snapshot = Snapshot.of(progress)
        if snapshot.taken - self._printed < LINE_S and snapshot.phase == self._phase:
            return
        self._printed, self._phase = snapshot.taken, snapshot.phase
        line = f"{clock(snapshot.elapsed_s):>6}  {state_line(snapshot, 0.0, ticking=False)}"
        if snapshot.best_s is not None:
            line += f"; {summary_line(snapshot)}"
        self._console.print(line, highlight=False, soft_wrap=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None


def task_table(snapshot: Snapshot, limit: int | None = None) -> Table:
    """One row a task, those that cost most first; the rest beyond `limit` in one row."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("task", overflow="ellipsis", no_wrap=True, max_width=44)
    for heading in ("calls", "GFLOP/s", "untuned", "best", "faster", "trials", "errors"):
        table.add_column(heading, justify="right", no_wrap=True)
    order = sorted(range(len(snapshot.rows)), key=lambda i: -snapshot.rows[i].share_s)
    shown = order if limit is None else order[:limit]
    for i in shown:
        row = snapshot.rows[i]
        style = "cyan" if i == snapshot.current and limit is not None else None
        table.add_row(*_cells(row), style=style)
    if len(shown) < len(order):
        table.add_row(f"… and {count(len(order) - len(shown), 'more task')}", style="dim")
    return table


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.weight:g}",
        rate(row.flops, row.best_s),
        duration(row.default_s),
        duration(row.best_s),
        factor(row.default_s, row.best_s),
        str(row.trials),
        str(row.errors) if row.errors else NONE,
    )


def summary_line(snapshot: Snapshot) -> str:
    """`estimated latency 41.0 ms (untuned 74.2 ms, 1.81x)`."""
    best, default = snapshot.best_s, snapshot.default_s
    if best is None:
        ran = sum(r.best_s is not None for r in snapshot.rows)
        return f"estimated latency: {ran} of {count(len(snapshot.rows), 'task')} measured"
    line = f"estimated latency {duration(best)}"
    if default is not None:
        line += f" (untuned {duration(default)}, {factor(default, best)})"
    return line


def state_line(snapshot: Snapshot, since_s: float, ticking: bool = True) -> str:
    """Phase, task, trials and time; `since_s` is the snapshot's age."""
    parts = [snapshot.phase, snapshot.rows[snapshot.current].name]
    trials = str(snapshot.trials)
    if snapshot.budget_trials is not None:
        trials += f" of {snapshot.budget_trials}"
    parts.append(f"{trials} trials")
    if snapshot.errors:
        parts.append(f"{count(snapshot.errors, 'error')}")
    if ticking:
        parts.append(clock(snapshot.elapsed_s + since_s))
    if snapshot.left_s is not None:
        parts.append(f"{clock(max(0.0, snapshot.left_s - since_s))} left")
    return " · ".join(parts)


def share_line(snapshot: Snapshot) -> str:
    """Where the wall time went, in percent."""
    total = sum(snapshot.shares.values())
    if total <= 0:
        return ""
    parts = (f"{name} {100 * s / total:.0f} %" for name, s in snapshot.shares.items() if s > 0)
    return f"time: {' · '.join(parts)}"

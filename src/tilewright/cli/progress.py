"""The progress of a tuning run: a live table on a terminal, plain lines elsewhere.

    with display(console) as show:
        tune(model, callbacks=[show])
    show.last                          the newest snapshot, also after an interrupt

The tuner calls the display after every round. It copies what it shows, so that the terminal may be
redrawn meanwhile (once a second: a busy core would disturb the measurements).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tilewright.search.progress import Progress, TaskResult
from tilewright.text import NONE, clock, count, duration, factor, rate

LINE_S = 5.0  # between plain lines
MARGIN = 10  # lines of the terminal that are not rows of the table


@dataclass(frozen=True, slots=True)
class Row:
    """One task; latencies of one call in seconds.

    `confirmed`: both are of turns that the two programs took. `expected_s` is what its default
    program is taken for while it was not measured.
    """

    name: str
    weight: float
    flops: int
    default_s: float | None
    best_s: float | None
    trials: int
    errors: int
    confirmed: bool = False
    expected_s: float | None = None

    @staticmethod
    def of(task: TaskResult) -> Row:
        """As it stands."""
        return Row(
            name=task.name,
            weight=task.weight,
            flops=task.flops,
            default_s=task.default_s,
            best_s=task.best_s,
            trials=task.trials,
            errors=task.errors,
            confirmed=task.confirmed,
            expected_s=task.expected_s,
        )

    @property
    def untuned_s(self) -> float | None:
        """What it adds to the untuned latency, a call."""
        return self.expected_s if self.default_s is None else self.default_s

    @property
    def sure_s(self) -> float | None:
        """What it takes for sure: unconfirmed programs are taken for no better than untuned."""
        return self.best_s if self.confirmed or self.untuned_s is None else self.untuned_s

    @property
    def hoped_s(self) -> float | None:
        """What it takes by unconfirmed figures, too."""
        return self.expected_s if self.best_s is None else self.best_s

    @property
    def share_s(self) -> float:
        """What the task adds to the estimated latency, infinite while nothing is known."""
        return float("inf") if self.hoped_s is None else self.weight * self.hoped_s


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
    default_programs_s: float = 0.0
    load: str = ""
    busy: str = ""

    @staticmethod
    def of(progress: Progress) -> Snapshot:
        """Copy what is shown."""
        rows = tuple(map(Row.of, progress.tasks))
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
            default_programs_s=progress.default_programs_s,
            load=progress.load,
            busy=progress.busy,
        )

    @property
    def confirmed(self) -> bool:
        """Whether there are figures of turns."""
        return any(r.confirmed for r in self.rows)

    @property
    def best_s(self) -> float | None:
        """Estimated latency of everything: the weighted sum; None while nothing is known of a task.
        What is not confirmed counts as untuned, once there are confirmed figures.
        """
        figures = [r.sure_s if self.confirmed else r.hoped_s for r in self.rows]
        return self._total(figures)

    @property
    def default_s(self) -> float | None:
        """The same with default programs."""
        return self._total([r.untuned_s for r in self.rows])

    def _total(self, figures: Sequence[float | None]) -> float | None:
        known = [r.weight * s for r, s in zip(self.rows, figures, strict=True) if s is not None]
        return sum(known) if len(known) == len(figures) else None

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


class Display(Protocol):
    """What `tune` calls back."""

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
            Text(load_line(self.last), style="yellow"),
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
        if snapshot.load:
            line += f"; {load_line(snapshot)}"
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
        factor(row.default_s, row.best_s) if row.confirmed else NONE,
        str(row.trials),
        str(row.errors) if row.errors else NONE,
    )


def summary_line(snapshot: Snapshot) -> str:
    """`estimated latency 41.0 ms (untuned 74.2 ms, 1.81x)`; while nothing is confirmed, without
    the factor: figures of different moments do not compare.
    """
    best, default = snapshot.best_s, snapshot.default_s
    if best is None:
        ran = sum(r.hoped_s is not None for r in snapshot.rows)
        return f"estimated latency: {ran} of {count(len(snapshot.rows), 'task')} measured"
    if not snapshot.confirmed:
        untuned = "" if default is None else f"untuned {duration(default)}, "
        return f"estimated latency {duration(best)} ({untuned}not confirmed yet)"
    line = f"estimated latency {duration(best)}"
    if default is not None:
        line += f" (untuned {duration(default)}, {factor(default, best)})"
    return line


def doubt_line(snapshot: Snapshot) -> str:
    """What is not confirmed, or not even measured, and what that is in the estimated latency."""
    total = snapshot.default_s or 0.0
    parts = []
    for rows, state in (
        ([r for r in snapshot.rows if r.default_s and not r.confirmed], "not confirmed"),
        ([r for r in snapshot.rows if not r.default_s and r.expected_s], "not measured"),
    ):
        share = sum(r.weight * (r.untuned_s or 0.0) for r in rows) / total if total else 0.0
        if rows:
            parts.append(f"{count(len(rows), 'task')} {state} ({share:.0%} of the untuned latency)")
    counted = ": counted as untuned" if snapshot.confirmed else ""
    return ", ".join(parts) + counted if parts else ""


def load_line(snapshot: Snapshot) -> str:
    """That the machine is busy, and why."""
    return f"busy machine: {snapshot.load}" if snapshot.load else ""


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

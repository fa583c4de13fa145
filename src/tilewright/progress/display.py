"""Where progress goes: a live table on a terminal or in a notebook, plain lines elsewhere.

    with display(console) as show:
        tune(model, callbacks=[show], progress=False)
    show.last                          the newest snapshot, also after an interrupt

The terminal is redrawn once a second at most: a busy core would disturb the measurements.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from tilewright.progress.lines import (
    doubt_line,
    end_line,
    load_line,
    share_line,
    state_line,
    summary_line,
)
from tilewright.progress.snapshot import Snapshot
from tilewright.progress.table import TaskTable
from tilewright.search.progress import Callback, Progress
from tilewright.text import LOG_WIDTH, clock

LINE_S = 5.0  # between plain lines
LEAST_ROWS = 3  # of the table, on however low a terminal


class Display(ABC):
    """What `tune` calls back; `last` is what it told last."""

    def __init__(self, console: Console) -> None:
        self.last: Snapshot | None = None
        self._console = console

    @abstractmethod
    def __call__(self, progress: Progress) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def redraws(console: Console) -> bool:
    """Whether what was printed can be drawn anew in its place."""
    return console.is_terminal or (console.is_jupyter and find_spec("ipywidgets") is not None)


def display(console: Console) -> Display:
    """The display that suits where the output goes."""
    return LiveTable(console) if redraws(console) else PlainLines(console)


@contextmanager
def showing(wanted: bool | None, observe: Callback) -> Iterator[Callback]:
    """An observer that tells another one, shows the run on standard error and sums it up there.

    `wanted` None: only if somebody looks, on a terminal or in a notebook.
    """
    console = Console(stderr=True, highlight=False, emoji=False)
    is_seen = console.is_terminal or console.is_jupyter
    if not (is_seen if wanted is None else wanted):
        yield observe
        return
    if not is_seen:
        console = Console(stderr=True, highlight=False, emoji=False, width=LOG_WIDTH)
    show = display(console)

    def both(progress: Progress) -> None:
        show(progress)
        observe(progress)

    try:
        with show:
            yield both
    finally:
        if show.last is not None:
            print_summary(console, show.last)


def print_summary(console: Console, snapshot: Snapshot) -> None:
    """What a run reached."""
    console.print(TaskTable(snapshot))
    console.print(summary_line(snapshot), style="bold")
    if doubt := doubt_line(snapshot):
        console.print(doubt, highlight=False)
    if snapshot.busy:
        console.print(f"The machine was {snapshot.busy}.", style="yellow", highlight=False)
    console.print(end_line(snapshot))


class LiveTable(Display):
    """A table that redraws itself in place."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
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

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _render(self) -> RenderableType:
        if self.last is None:
            return Text("Preparing the search spaces …", style="dim")
        return live_view(self.last, self._console, time.monotonic() - self.last.taken)


def live_view(snapshot: Snapshot, console: Console, since_s: float) -> RenderableType:
    """The table with as many tasks as leave room for the lines below; those break at words."""
    lines = [
        Text(summary_line(snapshot), style="bold"),
        Text(state_line(snapshot, since_s)),
        Text(share_line(snapshot), style="dim"),
        Text(load_line(snapshot), style="yellow"),
    ]
    shown = [line for line in lines if line.plain]
    below = sum(len(line.wrap(console, console.width)) for line in shown)
    around = 3  # headings, the tasks that do not fit, the cursor's line
    return Group(TaskTable(snapshot, max(LEAST_ROWS, console.height - below - around)), *shown)


class PlainLines(Display):
    """One line every few seconds, for logs."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
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

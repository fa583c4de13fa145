"""Where progress goes: a live table on a terminal or in a notebook, plain lines elsewhere.

    with display(console) as show:
        tune(model, callbacks=[show], progress=False)
    show.last                          the newest snapshot, also after an interrupt

The terminal is redrawn once a second at most: a busy core would disturb the measurements.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from tilewright.ground.text import LOG_WIDTH, clock, sentence
from tilewright.progress.lines import (
    doubt_line,
    end_line,
    fault_lines,
    load_line,
    share_line,
    state_line,
    summary_line,
)
from tilewright.progress.snapshot import Snapshot
from tilewright.progress.table import TaskTable
from tilewright.search.progress import Callback, Progress

LINE_S = 5.0  # between plain lines
PREPARING = "preparing the search spaces"
LEAST_ROWS = 3  # of the table, on however low a terminal


class Display(ABC):
    """What `tune` calls back; `last` is what it told last."""

    def __init__(self, console: Console) -> None:
        self.last: Snapshot | None = None
        self._console = console
        self._begun = time.monotonic()

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
    console.print(TaskTable(snapshot.tasks))
    console.print(summary_line(snapshot), style="bold")
    for line in fault_lines(snapshot):
        console.print(line, highlight=False, soft_wrap=True)
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
            since_s = time.monotonic() - self._begun
            return Text(f"{sentence(PREPARING)} · {clock(since_s)}", style="dim")
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
    rows = max(LEAST_ROWS, console.height - below - around)
    return Group(TaskTable(snapshot.tasks, rows, snapshot.current), *shown)


class PlainLines(Display):
    """One line every few seconds, for logs, whether there is news or not."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._printed = float("-inf")
        self._phase = ""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="tilewright-lines", daemon=True)
        self._fault: OSError | SystemExit | None = None

    def __call__(self, progress: Progress) -> None:
        if self._fault is not None:
            raise self._fault
        self.last = snapshot = Snapshot.of(progress)
        if snapshot.phase != self._phase or snapshot.taken - self._printed >= LINE_S:
            self._print()

    def __enter__(self) -> Self:
        self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._ticker.join()

    def _tick(self) -> None:
        wait_s = LINE_S
        while not self._ended.wait(wait_s):
            wait_s = self._printed + LINE_S - time.monotonic()
            if wait_s > 0:
                continue
            try:
                self._print()
            # The reader has gone, for which Rich exits: the run ends when it next has news.
            except (OSError, SystemExit) as error:
                self._fault = error
                return
            wait_s = LINE_S

    def _print(self) -> None:
        with self._lock:
            snapshot, self._printed = self.last, time.monotonic()
            if snapshot is None:
                line = f"{clock(self._printed - self._begun):>6}  {PREPARING}"
            else:
                self._phase, since_s = snapshot.phase, self._printed - snapshot.taken
                line = f"{clock(snapshot.elapsed_s + since_s):>6}  "
                line += state_line(snapshot, since_s, ticking=False)
                if snapshot.best_s is not None:
                    line += f"; {summary_line(snapshot)}"
                if snapshot.load:
                    line += f"; {load_line(snapshot)}"
            self._console.print(line, highlight=False, soft_wrap=True)

"""The table of tasks, which fits any width: names give way first, then whole columns.

    task                    calls  GFLOP/s  untuned     best  faster  trials  errors
    conv_add_re…64_256_1x1      3     61.2   512 µs   423 µs   1.21x      48       –

A number is never cut: half of one tells something else. Of many tasks those that cost
most are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from tilewright.ground.text import NONE, count, duration, factor, rate, shortened
from tilewright.search.progress import TaskResult

COLUMNS: tuple[tuple[str, Callable[[TaskResult], str]], ...] = (
    ("calls", lambda row: f"{row.weight:g}"),
    ("GFLOP/s", lambda row: rate(row.flops, row.best_s)),
    ("untuned", lambda row: duration(row.default_s)),
    ("best", lambda row: duration(row.best_s)),
    ("faster", lambda row: factor(row.default_s, row.best_s) if row.confirmed else NONE),
    ("trials", lambda row: str(row.trials)),
    ("errors", lambda row: str(row.errors) if row.errors else NONE),
)
GIVEN_UP = ("errors", "GFLOP/s", "calls", "trials", "untuned", "faster")  # in this order
LEAST_NAME = 16  # columns of a name, before a column of numbers is given up for it
GAP = 2


MOST = 16  # tasks; the rest is one line


@dataclass(frozen=True, slots=True)
class TaskTable:
    """One row a task, those that cost most first, and the rest beyond `limit` in one line. That of
    the task at `current` is marked.
    """

    tasks: Sequence[TaskResult]
    limit: int = MOST
    current: int | None = None

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        rows = self.tasks
        order = sorted(range(len(rows)), key=lambda i: -rows[i].share_s)
        shown, rest = order[: self.limit], order[self.limit :]
        yield self._table([rows[i] for i in shown], shown, options.max_width)
        if rest:
            part, whole = (sum(rows[i].share_s for i in some) for some in (rest, order))
            share = f", {part / whole:.0%} of the latency" if 0.0 < whole < inf else ""
            yield Text(f"… and {count(len(rest), 'more task')}{share}", style="dim")

    def _table(self, rows: Sequence[TaskResult], numbers: Sequence[int], width: int) -> Table:
        cells = [{heading: text(row) for heading, text in COLUMNS} for row in rows]
        widths = {
            heading: max(map(cell_len, [heading, *(line[heading] for line in cells)]))
            for heading, _ in COLUMNS
        }
        for heading in GIVEN_UP:
            if _left(width, widths) >= LEAST_NAME:
                break
            del widths[heading]
        longest = max((cell_len(row.name) for row in rows), default=0)
        name_width = max(4, min(longest, _left(width, widths)))
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("task", no_wrap=True, width=name_width)
        for heading, wide in widths.items():
            table.add_column(heading, justify="right", no_wrap=True, width=wide)
        for row, line, number in zip(rows, cells, numbers, strict=True):
            is_current = number == self.current
            numbers_shown = (line[heading] for heading in widths)
            name = Text(shortened(row.name, name_width))
            table.add_row(name, *numbers_shown, style="cyan" if is_current else None)
        return table


def _left(width: int, widths: dict[str, int]) -> int:
    """Columns that are left for names beside those of numbers."""
    return width - sum(GAP + wide for wide in widths.values())

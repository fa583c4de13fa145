"""How many kernels of how many are compiled: a line on a terminal that is gone at the end, plain
lines elsewhere.

with shown(None) as told:
    told(12, 54)                compiling: 12 of 54 kernels
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from tilewright.ground.text import LOG_WIDTH, count
from tilewright.progress.display import LINE_S, redraws


@contextmanager
def shown(wanted: bool | None) -> Iterator[Callable[[int, int], None]]:
    """What hears how far it is and shows that on standard error; `wanted` None: only if somebody
    looks, on a terminal or in a notebook.
    """
    console = Console(stderr=True, highlight=False, emoji=False)
    is_seen = console.is_terminal or console.is_jupyter
    if not (is_seen if wanted is None else wanted):
        yield lambda done, total: None
    elif redraws(console):
        with console.status("compiling") as status:
            yield lambda done, total: status.update(_line(done, total))
    else:
        yield _PlainLines(Console(stderr=True, highlight=False, emoji=False, width=LOG_WIDTH))


def _line(done: int, total: int) -> str:
    return f"compiling: {done} of {count(total, 'kernel')}"


class _PlainLines:
    """One line every few seconds; none for what takes no longer."""

    def __init__(self, console: Console) -> None:
        self._console, self._printed = console, time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._printed >= LINE_S:
            self._printed = time.monotonic()
            self._console.print(_line(done, total))

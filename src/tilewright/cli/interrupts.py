"""Signals that end a command: SIGTERM and a hang-up are what Ctrl-C is, a KeyboardInterrupt.

with interruptible():
    ...
except KeyboardInterrupt as interrupt:
    exit_status(interrupt)          130 after Ctrl-C, 143 after SIGTERM, 129 after a hang-up
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Interrupt(KeyboardInterrupt):
    """A signal that ends the command."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise Interrupt in the main thread when one of SIGNALS comes, unless it is ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {n: signal.getsignal(n) for n in SIGNALS}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:  # a command under nohup ignores hang-ups
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_status(interrupt: KeyboardInterrupt) -> int:
    """As a shell has it: 128 and the number of the signal."""
    return 128 + (interrupt.number if isinstance(interrupt, Interrupt) else signal.SIGINT)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupt(number)

"""Where the commands print: results to standard output, complaints to standard error."""

from __future__ import annotations

from typing import Any

from rich.console import Console

FAILED = 1  # the exit status after an error of ours
LOG_WIDTH = 132  # columns when the output is no terminal


def output() -> Console:
    """A console on standard output."""
    console = _console()
    return console if console.is_terminal else _console(width=LOG_WIDTH)


def complain(message: str) -> None:
    """One message on standard error, never cut or coloured apart from its first word."""
    console = _console(stderr=True, soft_wrap=True)
    console.print("error: ", style="bold red", end="")
    console.print(message, markup=False)


def remark(message: str) -> None:
    """One note on standard error."""
    console = _console(stderr=True, soft_wrap=True)
    console.print(f"note: {message}", markup=False)


def _console(**options: Any) -> Console:
    """One that shows text as it is: of `opencl:mali:` Rich would make a flag."""
    return Console(highlight=False, emoji=False, **options)

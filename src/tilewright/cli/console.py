"""Where the commands print: results to standard output, complaints to standard error."""

from __future__ import annotations

from rich.console import Console

FAILED = 1  # the exit status after an error of ours
LOG_WIDTH = 132  # columns when the output is no terminal


def output() -> Console:
    """A console on standard output."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=LOG_WIDTH)


def complain(message: str) -> None:
    """One message on standard error, never cut or coloured apart from its first word."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print("error: ", style="bold red", end="")
    console.print(message, markup=False)


def remark(message: str) -> None:
    """One note on standard error."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(f"note: {message}", markup=False)

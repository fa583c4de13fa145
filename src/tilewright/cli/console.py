"""Where the commands print: results to standard output, complaints to standard error."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from rich.console import Console

FAILED = 1  # the exit status after an error of ours
LOG_WIDTH = 132  # columns when the output is no terminal


def output(quiet: bool = False) -> Console:
    """A console on standard output; a quiet one prints nothing."""
    console = _console(quiet=quiet)
    return console if console.is_terminal else _console(width=LOG_WIDTH, quiet=quiet)


def print_json(value: object) -> None:
    """One JSON value on standard output. What is not finite becomes null."""
    sys.stdout.write(json.dumps(_finite(value), indent=2) + "\n")


def _finite(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _finite(one) for name, one in value.items()}
        case list() | tuple():
            return [_finite(one) for one in value]
    return value


def complain(message: str) -> None:
    """One message on standard error, never cut or coloured apart from its first word."""
    console = _console(stderr=True, soft_wrap=True)
    console.print("error: ", style="bold red", end="")
    console.print(message)


def remark(message: str) -> None:
    """One note on standard error."""
    console = _console(stderr=True, soft_wrap=True)
    console.print(f"note: {message}")


def _console(**options: Any) -> Console:
    """One that shows text as it is: of `opencl:mali:` Rich would make a flag, and `[demo]` would be
    a style.
    """
    return Console(highlight=False, emoji=False, markup=False, **options)

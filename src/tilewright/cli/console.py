"""Where the commands print: results to standard output, complaints to standard error.

What is printed never fails for want of a character: where the encoding of the output lacks one, a
plain one stands for it. What a name or a message has of control characters is shown as escapes.
"""

from __future__ import annotations

import codecs
import io
import json
import math
import os
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from tilewright.ground.text import LOG_WIDTH, harmless

FAILED = 1  # the exit status after an error of ours
OUTPUT = "standard output"  # as messages call it
SIMPLE = "tilewright-simple"  # the error handler of encodings
SIMPLER = str.maketrans(
    {"µ": "u", "–": "-", "—": "-", "·": "-", "×": "x", "…": ".", "─": "-", "²": "2", "°": "o"}
)


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


def tolerate_encodings() -> None:
    """Let standard output and standard error take any text, whatever their encodings are."""
    codecs.register_error(SIMPLE, _simpler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=SIMPLE)


def output_fault() -> str | None:
    """Why standard output cannot take what is left for it, told once; None where all is well."""
    if sys.stdout is None or sys.stdout.closed:
        return None
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        give_up_output()
    except OSError as error:
        give_up_output()
        return f"{OUTPUT}: {error.strerror or error}"
    return None


def give_up_output() -> None:
    """Let standard output swallow what is in its buffer and what comes."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def _simpler(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that an encoding lacks; escapes for bytes of a file's name."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end].translate(SIMPLER)
    escaped = lacking.encode("ascii", "backslashreplace").decode()
    return escaped, error.end


class _Console(Console):
    """One that shows text as it is: of `:mali:` Rich would make a flag, of `[demo]` nothing."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; an error over it names the output."""
        try:
            super().print(*objects, **options)
        except OSError as error:
            if error.filename is None and not self.stderr:
                error.filename = OUTPUT
                give_up_output()
            raise

    def render_str(self, text: str, **options: Any) -> Text:
        """Text without what a terminal would obey."""
        return super().render_str(harmless(text), **options)


def _console(**options: Any) -> Console:
    return _Console(highlight=False, emoji=False, markup=False, **options)

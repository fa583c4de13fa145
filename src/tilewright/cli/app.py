"""All commands together, and what their errors become.

An error of ours is a message on standard error and exit status 1, wrong usage 2, a signal that ends
a command 128 and its number (Ctrl-C 130). Any other exception is a defect, and said to be one.
"""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer

import tilewright as tw
from tilewright.cli.advise import advise
from tilewright.cli.bench import bench
from tilewright.cli.cache import cache
from tilewright.cli.compile import compile
from tilewright.cli.console import (
    FAILED,
    OUTPUT,
    complain,
    give_up_output,
    output_fault,
    remark,
    tolerate_encodings,
)
from tilewright.cli.help import PlainCommand, PlainGroup
from tilewright.cli.interrupts import exit_status, interruptible
from tilewright.cli.ops import ops
from tilewright.cli.plan import plan
from tilewright.cli.records import export, records
from tilewright.cli.report import report
from tilewright.cli.run import run
from tilewright.cli.show import show
from tilewright.cli.tune import tune
from tilewright.ground.errors import TilewrightError, VerifyError
from tilewright.ground.process_limits import shortage

SHOWN_ERROR = 500  # characters


TRACEBACK = "--traceback"
# What typer itself raises and reports, wrong usage among it.
REPORTED: tuple[type[Exception], ...] = (
    typer.Exit,
    typer.Abort,
    *(c for c in typer.BadParameter.__mro__ if issubclass(c, Exception) and c is not Exception),
)


class Commands(PlainGroup):
    """The command group: every error of a command becomes one line."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line."""
        tolerate_encodings()
        try:
            return super().main(*args, **options)
        except OSError as error:  # not of a command, so of help that could not be printed
            if TRACEBACK in sys.argv:
                raise
            give_up_output()
            error.filename = error.filename or OUTPUT
            complain(explanation(error))
            sys.exit(FAILED)
        finally:
            if fault := output_fault():
                complain(fault)
                sys.exit(FAILED)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take --traceback wherever it stands."""
        end = args.index("--") if "--" in args else len(args)
        if TRACEBACK in args[:end]:
            args = [TRACEBACK, *(a for a in args[:end] if a != TRACEBACK), *args[end:]]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; warnings of what it uses are notes."""
        try:
            with interruptible(), warnings.catch_warnings():
                warnings.showwarning = lambda message, *_, **__: remark(str(message))
                return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise typer.Exit(exit_status(interrupt)) from None
        except Exception as error:
            if isinstance(error, (*REPORTED, BrokenPipeError)):
                raise
            if ctx.params["traceback"]:
                raise
            complain(explanation(error))
            raise typer.Exit(FAILED) from None


def explanation(error: Exception) -> str:
    """What ended a command, in one line; of an error that nobody raised on purpose, that it is a
    defect.
    """
    match error:
        case VerifyError():
            text = str(error)
        case TilewrightError():
            return str(error)
        case MemoryError():
            text = f"out of memory: {error}" if str(error) else "out of memory"
            return f"{text}{shortage(error)}"
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            return f"{place}{error.strerror or error}".removesuffix(".") + shortage(error)
        case RuntimeError() if found := shortage(error):
            return f"{error}{found}"
        case _:
            text = f"{type(error).__name__}: {' '.join(str(error).split())[:SHOWN_ERROR]}"
    return (
        f"{text} (this is a defect of Tilewright, please report it; the same command with "
        f"{TRACEBACK} shows where it arose)"
    )


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tilewright {tw.__version__}")
        raise typer.Exit


@app.callback()
def options(
    traceback: Annotated[
        bool, typer.Option(TRACEBACK, help="Show where in the code an error arose.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Tilewright makes neural networks and tensor programs fast on this very machine.

    It cuts an ONNX model into kernels, searches for fast programs of each one by measuring them,
    and compiles the best. Start with: tilewright tune MODEL.onnx
    """


for command in (tune, plan, compile, run, bench, advise, show, report, records, export, ops, cache):
    app.command(cls=PlainCommand)(command)

"""All commands together, and what their errors become.

An error of ours is a message on standard error and exit status 1, wrong usage 2, Ctrl-C 130. Any
other exception is a bug and shows its traceback.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

import tilewright as tw
from tilewright.cli.bench import bench
from tilewright.cli.compile import compile
from tilewright.cli.console import FAILED, complain
from tilewright.cli.help import PlainCommand, PlainGroup
from tilewright.cli.ops import ops
from tilewright.cli.records import export, records
from tilewright.cli.report import report
from tilewright.cli.run import run
from tilewright.cli.show import show
from tilewright.cli.tune import INTERRUPTED, tune
from tilewright.errors import TilewrightError


class Commands(PlainGroup):
    """The command group, which reports errors of ours."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except TilewrightError as error:
            if ctx.params["traceback"]:
                raise
            complain(str(error))
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None


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
        bool, typer.Option("--traceback", help="Show where in the code an error arose.")
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


for command in (tune, compile, run, bench, show, report, records, export, ops):
    app.command(cls=PlainCommand)(command)

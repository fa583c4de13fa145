"""`tilewright ops`: which ONNX operators are supported, and why others are not."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from tilewright.cli.console import output
from tilewright.cli.parts import inspection
from tilewright.ground.errors import InputError


def ops(
    filter: Annotated[
        str, typer.Argument(metavar="TEXT", help="Only operators whose name contains this.")
    ] = "",
) -> None:
    """List the ONNX operators that models may use, and those that they may not.

    "kernels": computed by kernels of its own. "by its definition": as ONNX defines it in terms of
    others. "control flow": loops and branches. "at import": what it decides must be known when a
    model is loaded.

    Example: tilewright ops Reduce
    """
    console = output()
    found = [o for o in inspection.onnx_operators() if filter.lower() in o.name.lower()]
    if not found:
        raise InputError(f"no ONNX operator's name contains {filter!r}")
    for title, mine in (
        ("supported", [o for o in found if o.how]),
        ("not supported", [o for o in found if not o.how]),
    ):
        if not mine:
            continue
        table = Table(box=None, header_style="bold", pad_edge=False)
        for heading in (f"{title} ({len(mine)})", "opsets", "how", "limits"):
            table.add_column(heading)
        for o in mine:
            opsets = f"{o.first}-{o.last}" if o.first <= o.last else f"up to {o.last}"
            table.add_row(o.name, opsets, o.how, o.note)
        console.print(table)
        console.print()

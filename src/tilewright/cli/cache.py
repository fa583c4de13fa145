"""`tilewright cache`: what is kept of compiled kernels, and how much."""

from __future__ import annotations

from typing import Annotated

import typer

from tilewright.cli.console import output
from tilewright.inspection import artifact_cache
from tilewright.text import count, parse_size, size


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all of it.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            parser=_size,
            metavar="SIZE",
            help="Remove what was used longest ago, down to so much: 500MB, 2GB.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show where compiled kernels are kept, how many they are and how large; or remove some.

    A kernel that was compiled once is read from there. TILEWRIGHT_CACHE names another folder,
    TILEWRIGHT_CACHE_LIMIT another limit; what was used longest ago goes first.

    Example: tilewright cache --limit 500MB
    """
    console = output()
    found = artifact_cache()
    if clear or limit is not None:
        gone = found.trim(0 if clear else limit)
        console.print(f"Removed {count(gone.files, 'kernel')} ({size(gone.bytes)}).")
    usage = found.usage()
    console.print(
        f"{found.folder}: {count(usage.files, 'kernel')}, {size(usage.bytes)} of at most "
        f"{size(found.limit)}.",
        soft_wrap=True,
    )

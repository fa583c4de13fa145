"""`tilewright cache`: what is kept of compiled kernels and networks, and how much."""

from __future__ import annotations

from typing import Annotated

import typer

from tilewright.cli.console import output
from tilewright.contract.cache import ArtifactCache, CacheUsage
from tilewright.ground.text import parse_size, size


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _entries(usage: CacheUsage) -> str:
    return f"{usage.files} {'entry' if usage.files == 1 else 'entries'}"


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
    """Show where compiled kernels and networks are kept, how many and how large; or remove some.

    What was compiled once is read from there: a kernel, and a whole network with its packed
    weights, unless it takes more than half of the limit. TILEWRIGHT_CACHE names another folder,
    TILEWRIGHT_CACHE_LIMIT another limit; what was used longest ago goes first.

    Example: tilewright cache --limit 500MB
    """
    console = output()
    found = ArtifactCache.of_user()
    if clear or limit is not None:
        gone = found.trim(0 if clear else limit)
        console.print(f"Removed {_entries(gone)} ({size(gone.bytes)}).")
    usage = found.usage()
    console.print(
        f"{found.folder}: {_entries(usage)}, {size(usage.bytes)} of at most {size(found.limit)}.",
        soft_wrap=True,
    )

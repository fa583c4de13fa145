"""The option --reuse, which may stand without a mode: `--reuse MODEL` is `--reuse=ranked MODEL`."""

from __future__ import annotations

from typing import Any

from tilewright.cli.help import PlainCommand
from tilewright.contract.arguments import MODES

REUSE = "--reuse"


class ReuseCommand(PlainCommand):
    """A command with that option, which means the first mode where none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the mode."""
        end = args.index("--") if "--" in args else len(args)
        following = [*args[1:end], ""]
        named = [
            f"{REUSE}={MODES[0]}" if word == REUSE and after not in MODES else word
            for word, after in zip(args[:end], following, strict=False)
        ]
        return super().parse_args(ctx, [*named, *args[end:]])

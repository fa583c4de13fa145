"""Help texts in plain words: `MODEL...`, not `{MODEL}... <list[Path]>`; flags without a type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption


class PlainCommand(TyperCommand):
    """A command whose help names no types of the source."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, `--help` among them."""
        return _made_plain(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """A group of commands whose help names none of its options'."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, `--help` among them."""
        return _made_plain(super().get_params(ctx))


def _made_plain(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        match parameter:
            case TyperArgument():
                name = f"{parameter.display_name_raw}{'...' if parameter.nargs != 1 else ''}"
                usage = name if parameter.required else f"[{name}]"
                vars(parameter)["display_type_rich"] = _always("")
                vars(parameter)["_usage_display_name"] = _always(usage)
            case TyperOption(is_flag=True):
                vars(parameter)["display_type_rich"] = _always("")
    return parameters


def _always(text: str) -> Callable[..., str]:
    return lambda *_, **__: text

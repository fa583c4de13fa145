"""Help texts in plain words: `MODEL...`, not `{MODEL}... <list[Path]>`; flags without a type."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption


class PlainCommand(TyperCommand):
    """A command whose help names no types of the source."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _make_plain(self.params)


class PlainGroup(TyperGroup):
    """A group of commands whose help names none of its options'."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        _make_plain(self.params)


def _make_plain(parameters: Iterable[object]) -> None:
    for parameter in parameters:
        match parameter:
            case TyperArgument():
                name = f"{parameter.display_name_raw}{'...' if parameter.nargs != 1 else ''}"
                usage = name if parameter.required else f"[{name}]"
                vars(parameter)["display_type_rich"] = _always("")
                vars(parameter)["_usage_display_name"] = _always(usage)
            case TyperOption(is_flag=True):
                vars(parameter)["display_type_rich"] = _always("")


def _always(text: str) -> Callable[..., str]:
    return lambda *_, **__: text

"""Every exception Tilewright raises on purpose.

A message names the rule that was broken, the place and the values, and what the user can do.
`VerifyError` is a bug of ours and is never caught; the others may be handled by a caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class TilewrightError(Exception):
    """Base of all of them."""


class ExprError(TilewrightError):
    """A tensor expression is not well formed (wrong arity, unknown axis, mixed dtypes)."""


class ScheduleError(TilewrightError):
    """An illegal schedule step; a search may reject the candidate."""


class VerifyError(TilewrightError):
    """A program breaks an invariant of its layer: a bug in Tilewright."""


class BuildError(TilewrightError):
    """A program could not be compiled."""


class RunError(TilewrightError):
    """A compiled program crashed, hung or could not be loaded."""


class WrongAnswer(TilewrightError):
    """A program ran but its output differs from the reference."""


class InputError(TilewrightError):
    """An array given by the user has the wrong shape, dtype or name."""


class TargetError(TilewrightError):
    """An unknown or unavailable target."""


class RecordsError(TilewrightError):
    """The records database cannot be opened, read or written."""


class UnsupportedModel(TilewrightError):
    """A model uses an operator, type or shape that the importer cannot take.

    `refused` has the reasons by the names of the nodes and inputs that cannot be taken, where these
    are known: {"node_7": "TopK: unknown operator"}. `unknown_inputs` are the model's inputs that
    would have to be given as constants, `unsized` those whose shapes have to be given, `open` the
    dimensions that have a name, but no value, `unlimited` the values that need a limit; the text
    ends with how.
    """

    def __init__(
        self,
        message: str,
        refused: Mapping[str, str] | None = None,
        unknown_inputs: tuple[str, ...] = (),
        unsized: tuple[str, ...] = (),
        open: tuple[str, ...] = (),
        unlimited: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.refused = dict(refused or {})
        self.unknown_inputs = unknown_inputs
        self.unsized = unsized
        self.open = open
        self.unlimited = unlimited

    def about(self, subject: str) -> UnsupportedModel:
        """The same error, whose text begins with what it is about."""
        return UnsupportedModel(
            f"{subject}: {self.message}",
            self.refused,
            self.unknown_inputs,
            self.unsized,
            self.open,
            self.unlimited,
        )

    def advised(self, ways: Sequence[str]) -> str:
        """The text, with what a caller may give in the terms of whom the caller asked."""
        if not ways:
            return self.message
        stop = "\nGive " if "\n" in self.message else "; give "
        return f"{self.message}{stop}{', '.join(ways)}"

    def __str__(self) -> str:
        sizes = {**dict.fromkeys(self.open, "…"), **dict.fromkeys(self.unsized, "(…)")}
        values = dict.fromkeys(self.unknown_inputs, "…")
        limits = dict.fromkeys(self.unlimited, "…")
        parts = {"shapes": sizes, "limits": limits, "constants": values}
        return self.advised(
            [
                f"{keyword}={{{', '.join(f'{name!r}: {value}' for name, value in given.items())}}}"
                for keyword, given in parts.items()
                if given
            ]
        )

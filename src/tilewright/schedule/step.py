"""The base of all transform steps: a frozen value with JSON form.

`apply(state)` checks legality (ScheduleError), then rewrites. Extents may be ints or expressions
over decision variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilewright.expr.nodes import Extent
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.state import State


@dataclass(frozen=True, slots=True)
class Step:
    """Base of all steps. `suits_forms`: it may be applied to a stage that has a form."""

    name: ClassVar[str]
    suits_forms: ClassVar[bool] = False

    def apply(self, state: State) -> None:
        """Rewrite `state`; raises ScheduleError when the step is illegal there."""
        raise ScheduleError(f"{type(self).__name__} cannot be applied")


def extent_int(e: Extent) -> int:
    """The int behind an extent; ScheduleError where a decision is unbound."""
    value = getattr(e, "value", e)
    if not isinstance(value, int):
        raise ScheduleError(f"the extent {e} still depends on decisions")
    return value

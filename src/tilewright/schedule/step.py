"""The base of all transform steps: a frozen value with JSON form.

`apply(state)` checks legality (ScheduleError), then rewrites. Extents may be ints or expressions
over decision variables; `bind` turns the latter into ints.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from tilewright.errors import ScheduleError
from tilewright.expr.nodes import Expr, Extent, Operand, as_expr, substitute
from tilewright.expr.simplify import simplify
from tilewright.schedule.state import State


@dataclass(frozen=True, slots=True)
class Step:
    """Base of all steps."""

    name: ClassVar[str]

    def apply(self, state: State) -> None:
        """Rewrite `state`; raises ScheduleError when the step is illegal there."""
        raise ScheduleError(f"{type(self).__name__} cannot be applied")

    def bind(self, values: dict[str, int]) -> Step:
        """The step with its decision variables replaced by ints."""
        exprs: dict[str, Expr] = {n: as_expr(v) for n, v in values.items()}
        changed = {f.name: _bind(getattr(self, f.name), exprs) for f in fields(self)}
        return replace(self, **changed)


def _bind(value: Any, values: dict[str, Expr]) -> Any:
    if isinstance(value, tuple):
        return tuple(_bind(v, values) for v in value)
    if isinstance(value, Operand):
        return extent_int(simplify(substitute(as_expr(value), values)))
    return value


def extent_int(e: Extent) -> int:
    """The int behind an extent; ScheduleError where a decision is unbound."""
    value = getattr(e, "value", e)
    if not isinstance(value, int):
        raise ScheduleError(f"the extent {e} still depends on decisions")
    return value

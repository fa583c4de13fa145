"""The step that gives a stage one of the forms (`schedule/forms`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tilewright.expr.tensors import Compute
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.forms import FORMS, Formed
from tilewright.schedule.state import InForm, Stage, State, Step


@dataclass(frozen=True, slots=True)
class UseForm(Step):
    """Compute a stage by the form of that name, with vectors of so many `lanes`.

    It stays at the root and keeps no loops but those around the form, which may be parallel.
    """

    name: ClassVar[str] = "form"
    stage: str
    form: str
    lanes: int

    def apply(self, state: State) -> None:
        if self.form not in FORMS:
            raise ScheduleError(f"no form {self.form!r}; known: {', '.join(FORMS)}")
        stage = state[self.stage]
        found = taken(state, stage, self.form)
        if found is None or self.lanes < 1:
            raise ScheduleError(f"{self.stage} cannot be computed as {self.form}")
        formed, source, gone = found
        for name in gone:
            del state.stages[name]
        stage.tensor = replace(stage.tensor, source=source)
        others = [a.name for a in source.axes if a.name not in formed.outer]
        stage.groups = [[a] for a in formed.outer]
        stage.groups.append([*others, *(a.name for a in source.reduce_axes)])
        stage.form = InForm(self.form, self.lanes, len(formed.outer))


def taken(state: State, stage: Stage, form: str) -> tuple[Formed, Compute, tuple[str, ...]] | None:
    """How a form computes a stage that no step has changed yet, as what it understands it, and
    which other stages it replaces; None where it does not.
    """
    seen = FORMS[form].seen(state, stage) if state.is_untouched(stage) else None
    if seen is None:
        return None
    source, gone = seen
    formed = FORMS[form].match(source)
    return None if formed is None else (formed, source, gone)

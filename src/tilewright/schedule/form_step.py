"""The step that gives a stage one of the forms (`schedule/forms`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tilewright.errors import ScheduleError
from tilewright.expr.tensors import Compute
from tilewright.schedule.forms import FORMS
from tilewright.schedule.state import InForm, Stage, State
from tilewright.schedule.step import Step


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
        source, gone = found
        formed = FORMS[self.form].match(source)
        if formed is None:
            raise ScheduleError(f"{self.stage} cannot be computed as {self.form}")
        for name in gone:
            del state.stages[name]
        stage.tensor = replace(stage.tensor, source=source)
        others = [a.name for a in source.axes if a.name not in formed.outer]
        stage.groups = [[a] for a in formed.outer]
        stage.groups.append([*others, *(a.name for a in source.reduce_axes)])
        stage.form = InForm(self.form, self.lanes, len(formed.outer))


def taken(state: State, stage: Stage, form: str) -> tuple[Compute, tuple[str, ...]] | None:
    """What a form makes of a stage that no step has changed yet, and which others it replaces."""
    if stage.form or stage.relations or stage.attach is not None or state.attached(stage.name):
        return None
    return FORMS[form].taken(state, stage)

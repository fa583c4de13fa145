"""The step that computes a DAG by a template (`schedule/templates`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Const, Extent
from tilewright.ground.errors import ScheduleError
from tilewright.nest.bind import bind
from tilewright.nest.nodes import Program
from tilewright.schedule.layout import Layout
from tilewright.schedule.state import State
from tilewright.schedule.step import Step
from tilewright.schedule.templates import TEMPLATES, Template
from tilewright.schedule.templates.anchor import Anchor, anchor_of


@dataclass(frozen=True, slots=True)
class Templated:
    """A template with what it computes and its numbers."""

    template: Template
    anchor: Anchor
    numbers: dict[str, Extent]

    @property
    def layouts(self) -> dict[str, Layout]:
        """How its constants are packed; those not listed are as given."""
        return self.template.layouts(self.anchor, self.numbers)

    def program(self, name: str) -> Program:
        """The program, of which nothing is left open where the numbers are ints."""
        dag, layouts = self.anchor.dag, self.layouts
        body = self.anchor.fused(self.template.body(self.anchor, self.numbers))
        constants = tuple(
            replace(c, shape=layouts[c.name].packed_shape) if c.name in layouts else c
            for c in dag.constants
        )
        found = Program(name, dag.inputs, constants, dag.tables, dag.outputs, body)
        return bind(found, {}) if self.is_concrete else found

    @property
    def is_concrete(self) -> bool:
        return all(isinstance(n, int) for n in self.numbers.values())


@dataclass(frozen=True, slots=True)
class UseTemplate(Step):
    """Compute everything by the template of that name, whose parameters have these `values` in
    order. It is the only step of its schedule.
    """

    name: ClassVar[str] = "template"
    template: str
    values: tuple[Extent, ...]

    def apply(self, state: State) -> None:
        found = TEMPLATES.get(self.template)
        if found is None:
            raise ScheduleError(
                f"no template {self.template!r}; known: {', '.join(TEMPLATES)}. Records of another "
                "version of it name a program that is there no more"
            )
        if state.trace:
            raise ScheduleError(f"{self.template} is the only step of a schedule")
        if len(self.values) != len(found.options):
            raise ScheduleError(f"{self.template} has the parameters {', '.join(found.options)}")
        anchor = matched(state, found)
        numbers = dict(zip(found.options, self.values, strict=True))
        for parameter, value in numbers.items():
            if isinstance(value, int) and value not in found.options[parameter]:
                listed = ", ".join(map(str, found.options[parameter]))
                raise ScheduleError(f"{self.template}: {parameter} is one of {listed}, not {value}")
        state.templated = Templated(found, anchor, numbers)
        if state.templated.is_concrete:
            for condition in map(simplify, found.legal(anchor, numbers)):
                if not (isinstance(condition, Const) and condition.value):
                    raise ScheduleError(f"{self.template} has no program of {numbers}")


_analysed = lru_cache(maxsize=8)(anchor_of)  # every template asks, and several times


def matched(state: State, template: Template) -> Anchor:
    """What a template computes of a state. Raises ScheduleError, which says why, if nothing."""
    anchor = _analysed(state.dag)
    if isinstance(anchor, NoMatch):
        raise ScheduleError(f"{template.name}: {anchor.reason}")
    refusal = template.refusal(anchor)
    if refusal:
        raise ScheduleError(f"{template.name}: {refusal}")
    return anchor

"""The usual space without rewritten constants: every weight stays in its logical layout.

    tune(model, rules=PLAIN_LAYOUT_RULES)

The rule stands in front of the usual ones and turns the derivation into one that leaves
`LayoutRewrite` steps out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from tilewright.schedule.steps import LayoutRewrite, Step
from tilewright.space.derivation import Derivation, Rule, Verdict


@dataclass
class PlainLayouts(Derivation):
    """A derivation in which constants keep their layout."""

    def apply(self, *steps: Step) -> None:
        super().apply(*(step for step in steps if not isinstance(step, LayoutRewrite)))


def _is_usual(d: Derivation) -> Verdict:
    return Verdict.NO if isinstance(d, PlainLayouts) else Verdict.ONLY


def _keep_layouts(d: Derivation) -> list[Derivation]:
    return [PlainLayouts(**{field.name: getattr(d, field.name) for field in fields(d)})]


PLAIN_LAYOUT_RULES = (Rule("plain_layouts", _is_usual, _keep_layouts),)

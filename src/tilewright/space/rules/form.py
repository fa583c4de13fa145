"""Compute by a form what would take (elements) x (terms) otherwise (`schedule/forms`).

    y[i] = Σ_{k <= i} x[k]    ->    one sum that runs along i

Vectors do so many terms at once that short ranges are better off as they are: there the form is one
of the sketches. Where there are more terms than a vector could make up for, it is the only one.
"""

from __future__ import annotations

from tilewright.schedule.form_step import taken
from tilewright.schedule.forms import FORMS
from tilewright.schedule.state import extent_int
from tilewright.schedule.steps import UseForm
from tilewright.space.derivation import Derivation, Rule, Verdict

GREATEST_GAIN = 8  # of a vector's lane over a step of a form, which goes through memory


def _form(d: Derivation) -> str | None:
    """The first form that takes the working stage."""
    return next((name for name in FORMS if taken(d.state, d.working, name)), None)


def _has_form(d: Derivation) -> Verdict:
    if _form(d) is None:
        return Verdict.NO
    terms = max(extent_int(a.extent) for a in d.working.compute.reduce_axes)
    lanes = d.target.lanes(d.working.tensor.dtype)
    return Verdict.ONLY if terms > GREATEST_GAIN * lanes else Verdict.APPLY


def _use(d: Derivation) -> list[Derivation]:
    form = _form(d)
    assert form is not None
    name = d.working.name
    d.apply(UseForm(name, form, d.target.lanes(d.working.tensor.dtype)))
    d.variant = (*d.variant, f"{name}: {form}")
    return [d.advance()]


IN_FORM = Rule("form", _has_form, _use)

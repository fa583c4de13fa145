"""Compute a contraction by templates (`schedule/templates`): each is a sketch of its own.

    C[i, j] = Σ_k A[i, k]·B[k, j]    ->    template matmul.tensor_cores.1, block_m, block_n, …

What is before and after the contraction becomes a part of the template's program. Its parameters
are decisions like others, of few values each, so that all of them can be tried.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.errors import ScheduleError
from tilewright.schedule.template_step import UseTemplate, matched
from tilewright.schedule.templates import ORDINARY, WITH_TENSOR_CORES, WITH_WARPGROUPS, Template
from tilewright.space.decisions import Choice, variables
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.target import GpuTarget, Target


def _offered(d: Derivation) -> list[Template]:
    """The templates that compute the whole DAG on the target."""
    return [t for t in _of_target(d.target) if not d.state.trace and _takes(d, t)]


def _of_target(target: Target) -> Sequence[Template]:
    if not isinstance(target, GpuTarget):
        return ()
    return (
        *(WITH_WARPGROUPS if target.has_warpgroups else ()),
        *(WITH_TENSOR_CORES if target.has_tensor_cores else ()),
        *ORDINARY,
    )


def _takes(d: Derivation, template: Template) -> bool:
    try:
        matched(d.state, template)
    except ScheduleError:
        return False
    return True


def _can_use(d: Derivation) -> Verdict:
    is_start = d.stage is not None and d.stage == list(d.state.stages)[-1] and not d.applied
    return Verdict.APPLY if is_start and _offered(d) else Verdict.NO


def _use(d: Derivation) -> list[Derivation]:
    return [_with(d.fork(), template) for template in _offered(d)]


def _with(d: Derivation, template: Template) -> Derivation:
    anchor = matched(d.state, template)
    stage, short = anchor.groups.stage.name, template.name.split(".")[1]
    numbers = {
        parameter: variables(
            d.decide(Choice(f"{stage}.{short}.{parameter}", stage, "tile", options, ordered=True))
        )[0]
        for parameter, options in template.options.items()
    }
    d.apply(UseTemplate(template.name, tuple(numbers.values())))
    d.constraints += [
        *template.legal(anchor, numbers),
        *template.promising(anchor, numbers, d.target),
    ]
    d.variant = (*d.variant, template.name)
    d.stage = None
    return d


TEMPLATE = Rule("template", _can_use, _use)
"""Must come first: a template is a whole schedule."""

"""Compute a contraction by templates (`schedule/templates`): each is a sketch of its own.

    C[i, j] = Σ_k A[i, k]·B[k, j]    ->    template matmul.tensor_cores.1, block_m, block_n, …

What is before and after the contraction becomes a part of the template's program. The rows of
parameters that are worth a try on the target are one decision: they are few, and can all be tried.
Where a parameter changes the nest's structure, there is a sketch for each of its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Extent
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.state import State
from tilewright.schedule.template_step import UseTemplate, matched
from tilewright.schedule.templates import (
    ON_CPUS,
    ORDINARY,
    WITH_TENSOR_CORES,
    WITH_WARPGROUPS,
    Template,
)
from tilewright.schedule.templates.template import Row
from tilewright.space.decisions import Rows, variables
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.target import CpuTarget, GpuTarget, Target


def unproved(dag: ComputeDAG, target: Target) -> list[str]:
    """The names of templates that compute a DAG, but do not serve unmeasured on a target."""
    state, waiting = State(dag), [t for t in _of_target(target) if not t.serves_unmeasured(target)]
    return [t.name for t in waiting if _takes(state, t)]


def _offered(d: Derivation) -> list[Template]:
    """The templates that compute the whole DAG on the target."""
    return [t for t in _of_target(d.target) if not d.state.trace and _takes(d.state, t)]


def _of_target(target: Target) -> Sequence[Template]:
    if not isinstance(target, GpuTarget):
        return ON_CPUS if isinstance(target, CpuTarget) else ()
    return (
        *(WITH_WARPGROUPS if target.has_warpgroups else ()),
        *(WITH_TENSOR_CORES if target.has_tensor_cores else ()),
        *ORDINARY,
    )


def _takes(state: State, template: Template) -> bool:
    try:
        matched(state, template)
    except ScheduleError:
        return False
    return True


def _can_use(d: Derivation) -> Verdict:
    is_start = d.stage is not None and d.stage == list(d.state.stages)[-1] and not d.applied
    return Verdict.APPLY if is_start and _offered(d) else Verdict.NO


def _use(d: Derivation) -> list[Derivation]:
    return [one for template in _offered(d) for one in _structures(d, template)]


def _structures(d: Derivation, template: Template) -> Iterator[Derivation]:
    """A sketch for every value of the structural parameters."""
    anchor = matched(d.state, template)
    found: dict[Row, list[Row]] = {}
    names = list(template.options)
    for row in template.rows(anchor, d.target):
        numbers = dict(zip(names, row, strict=True))
        fixed = tuple(numbers.pop(name) for name in template.structural)
        found.setdefault(fixed, []).append(tuple(numbers.values()))
    for values, rows in found.items():
        yield _with(d.fork(), template, dict(zip(template.structural, values, strict=True)), rows)


def _with(
    d: Derivation, template: Template, fixed: Mapping[str, int], rows: Sequence[Row]
) -> Derivation:
    anchor = matched(d.state, template)
    stage, short = anchor.groups.stage.name, template.name.split(".")[1]
    named = ".".join([stage, short, *(f"{name}={value}" for name, value in fixed.items())])
    free = [name for name in template.options if name not in fixed]
    decision = d.decide(Rows(named, stage, tuple(rows)))
    numbers: dict[str, Extent] = dict(fixed)
    numbers.update(zip(free, variables(decision), strict=True))
    d.apply(UseTemplate(template.name, tuple(numbers[name] for name in template.options)))
    d.variant = (*d.variant, template.name, *(f"{name} {value}" for name, value in fixed.items()))
    d.stage = None
    return d


TEMPLATE = Rule("template", _can_use, _use)
"""Must come first: a template is a whole schedule."""

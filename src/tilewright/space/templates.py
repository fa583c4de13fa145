"""Templates (`schedule/templates`) as producers of a space, beside the sketches.

    C[i, j] = Σ_k A[i, k]·B[k, j]    ->    template matmul.tensor_cores.1, block_m, block_n, …

What is before and after the contraction becomes a part of the template's program. The rows of
parameters that are worth a try on the target are one decision: they are few, and can all be tried.
Where a parameter changes the nest's structure, there is a producer for each of its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Extent
from tilewright.nest.nodes import Program
from tilewright.schedule.producers import Instance, instance_of, matched, takes
from tilewright.schedule.state import Stage, State
from tilewright.schedule.templates import Template, templates_of
from tilewright.schedule.templates.template import Row
from tilewright.space.candidate_space import CandidateSpace, Producer
from tilewright.space.decisions import Rows, variables
from tilewright.target import Target

BY_TEMPLATE = "template"
"""What stands for the rules of a sketch."""


@dataclass(frozen=True, kw_only=True)
class TemplateProducer(Producer):
    """A template, of whose numbers some are decisions."""

    is_listed = True
    instance: Instance

    @property
    def serves_unmeasured(self) -> bool:
        return self.instance.template.serves_unmeasured(self.target)

    @property
    def producer(self) -> str:
        """Its name and numbers, the decisions free."""
        return self.instance.producer

    @cached_property
    def stages(self) -> Mapping[str, Stage]:
        """Those of the DAG: nothing is scheduled."""
        return State(self.instance.anchor.dag).stages

    @cached_property
    def program(self) -> Program:
        """The symbolic loop nest."""
        return self.instance.lowered(self.name).program


def placed(
    space: CandidateSpace, dag: ComputeDAG, templates: Iterable[Template]
) -> Iterator[TemplateProducer]:
    """Those of some templates that compute a DAG as producers of a space, one for every value of a
    template's structural parameters.
    """
    for template in templates:
        if not takes(dag, template):
            continue
        anchor = matched(dag, template)
        found: dict[Row, list[Row]] = {}
        for row in template.rows(anchor, space.target):
            numbers = dict(zip(template.options, row, strict=True))
            values = tuple(numbers.pop(name) for name in template.structural)
            found.setdefault(values, []).append(tuple(numbers.values()))
        stage, short = anchor.groups.stage.name, template.name.split(".")[1]
        for values, rows in found.items():
            fixed = dict(zip(template.structural, values, strict=True))
            named = ".".join([stage, short, *(f"{name}={value}" for name, value in fixed.items())])
            decision = Rows(named, stage, tuple(rows))
            chosen = iter(variables(decision))
            given: list[Extent] = [
                fixed[n] if n in fixed else next(chosen) for n in template.options
            ]
            yield TemplateProducer(
                target=space.target,
                rules=(BY_TEMPLATE,),
                variant=(template.name, *(f"{name} {value}" for name, value in fixed.items())),
                decisions=(decision,),
                columns=space.place((decision,)),
                instance=instance_of(dag, template.name, given),
            )


def unproved(dag: ComputeDAG, target: Target) -> list[str]:
    """The names of templates that compute a DAG, but do not serve unmeasured on a target."""
    every = templates_of(target, asked=True)
    return [t.name for t in every if not t.serves_unmeasured(target) and takes(dag, t)]

"""A gene's program: what makes it, a schedule or a template, the producer's first key says.

    lowered_of(dag, gene, "gemm")                      its loop nest, and how constants are packed
    template_gene("matmul.threads.1", (32, …))         the gene of a template with its numbers

A template's producer is its name and its numbers, which are ints or decisions of the gene:
`{"template":"matmul.threads.1","numbers":[32,"C.threads#1",…]}`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from tilewright.contract.gene import Gene, compact, parsed
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Const, Extent
from tilewright.ground.errors import ScheduleError
from tilewright.nest.bind import bind
from tilewright.nest.nodes import Program
from tilewright.schedule.by_size import genes_of, joined
from tilewright.schedule.lower import Lowered, lower
from tilewright.schedule.state import State
from tilewright.schedule.templates import TEMPLATES, Template
from tilewright.schedule.templates.anchor import Anchor, anchor_of
from tilewright.schedule.trace import plain, read_extents, read_steps, sketch_from_json


@dataclass(frozen=True, slots=True)
class Instance:
    """A template with what it computes and its numbers."""

    template: Template
    anchor: Anchor
    numbers: Mapping[str, Extent]

    @property
    def producer(self) -> str:
        """What a gene says of it: JSON text."""
        return template_gene(self.template.name, tuple(self.numbers.values())).producer

    def lowered(self, name: str) -> Lowered:
        """The program, of which nothing is left open where the numbers are ints."""
        dag, layouts = self.anchor.dag, self.template.layouts(self.anchor, self.numbers)
        body = self.anchor.fused(self.template.body(self.anchor, self.numbers))
        constants = tuple(
            replace(c, shape=layouts[c.name].packed_shape) if c.name in layouts else c
            for c in dag.constants
        )
        found = Program(name, dag.inputs, constants, dag.tables, dag.outputs, body)
        return Lowered(bind(found, {}) if self.is_concrete else found, layouts)

    @property
    def is_concrete(self) -> bool:
        return all(isinstance(n, int) for n in self.numbers.values())


def template_gene(name: str, numbers: tuple[Extent, ...]) -> Gene:
    """The gene of a template with such numbers, without decisions."""
    return Gene(compact({"template": name, "numbers": plain(numbers)}))


def instance_of(dag: ComputeDAG, name: str, values: Sequence[Extent]) -> Instance:
    """The template of that name, whose parameters have these `values` in order. Raises
    ScheduleError, which says why, where it has no such program.
    """
    template = TEMPLATES.get(name)
    if template is None:
        raise ScheduleError(
            f"no template {name!r}; known: {', '.join(TEMPLATES)}. Records of another "
            "version of it name a program that is there no more"
        )
    if len(values) != len(template.options):
        raise ScheduleError(f"{name} has the parameters {', '.join(template.options)}")
    found = Instance(
        template, matched(dag, template), dict(zip(template.options, values, strict=True))
    )
    for parameter, value in found.numbers.items():
        if isinstance(value, int) and value not in template.options[parameter]:
            listed = ", ".join(map(str, template.options[parameter]))
            raise ScheduleError(f"{name}: {parameter} is one of {listed}, not {value}")
    if found.is_concrete:
        for condition in map(simplify, template.legal(found.anchor, found.numbers)):
            if not (isinstance(condition, Const) and condition.value):
                raise ScheduleError(f"{name} has no program of {found.numbers}")
    return found


_analysed = lru_cache(maxsize=8)(anchor_of)  # every template asks, and several times


def matched(dag: ComputeDAG, template: Template) -> Anchor:
    """What a template computes of a DAG. Raises ScheduleError, which says why, if nothing."""
    if dag.sizes:
        raise ScheduleError(f"{template.name} is for numbers, not for sizes")
    anchor = _analysed(dag)
    if isinstance(anchor, NoMatch):
        raise ScheduleError(f"{template.name}: {anchor.reason}")
    refusal = template.refusal(anchor)
    if refusal:
        raise ScheduleError(f"{template.name}: {refusal}")
    return anchor


def takes(dag: ComputeDAG, template: Template) -> bool:
    """Whether a template computes a DAG."""
    try:
        matched(dag, template)
    except ScheduleError:
        return False
    return True


def maker_of(
    dag: ComputeDAG, gene: Gene, values: Mapping[str, Extent] | None = None
) -> Callable[[str], Lowered]:
    """What makes a gene's program when it is given a name; with `values` (variables, say) instead
    of its decisions'. Raises ScheduleError for a text that no search writes, and for what does not
    fit the DAG.
    """
    chosen = gene.values if values is None else values
    match parsed(gene.producer, "the producer is"):
        case {"template": str() as template, "numbers": numbers}:
            return instance_of(dag, template, read_extents(numbers, chosen)).lowered
        case {"by_size": str() as size, "below": below, "programs": programs}:
            bounds, genes = genes_of(below, programs)
            makers = [maker_of(dag, one) for one in genes]
            return lambda name: joined(size, bounds, [make(name) for make in makers])
    _, rows = sketch_from_json(gene.producer)
    return partial(lower, State(dag).replay(read_steps(rows, chosen)))


def lowered_of(dag: ComputeDAG, gene: Gene, name: str) -> Lowered:
    """The program of a gene. Raises ScheduleError."""
    return maker_of(dag, gene)(name)

"""One program in its four printed forms: sketch, trace, loop nest and LLVM IR. A template's program
has its parameters for a trace; a vendor's has these for a sketch, too, and CUDA C++ for IR.

    layers = Layers(dag, gene, target, "gemm")
    print(layers.text("nest"))

Nothing but the math and the gene is needed: every form is made anew from them, so the program of
any record can be read, whenever it was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from tilewright.codegen import compile_program
from tilewright.contract.gene import Gene
from tilewright.cutlass import Native, native_of
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var
from tilewright.ground.errors import InputError
from tilewright.ground.settings import LAYERS
from tilewright.nest.nodes import Program
from tilewright.nest.print import program_text
from tilewright.schedule.by_size import programs_of
from tilewright.schedule.producers import lowered_of, maker_of
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step
from tilewright.schedule.trace import sketch_from_json, steps_of, template_of
from tilewright.space.chains import chains
from tilewright.space.predicates import has_data_reuse
from tilewright.target import Target

PLAIN = "plain loops"  # what a sketch of no rule is called


@dataclass(frozen=True)
class Layers:
    """A program's printed forms. Raises ScheduleError for a gene that does not fit the DAG."""

    dag: ComputeDAG
    gene: Gene
    target: Target
    name: str

    def text(self, layer: str) -> str:
        """The form named by one of `settings.LAYERS`. Raises InputError for another name."""
        if layer not in LAYERS:
            raise InputError(f"unknown layer {layer!r}; known: {', '.join(LAYERS)}")
        return str(getattr(self, layer))

    @cached_property
    def native(self) -> Native | None:
        """The template's program; None where loops are scheduled."""
        return native_of(self.dag, self.gene, self.target) if self.gene.key == "native" else None

    @cached_property
    def by_size(self) -> dict[str, Layers]:
        """The programs of ranges of a size, by the range; none where there is one program."""
        return {w: replace(self, gene=gene) for w, gene in programs_of(self.gene) if w}

    def _each(self, form: Callable[[Layers], str]) -> str:
        """A form of each program, under its range."""
        return "".join(f"where {where}\n{form(part)}" for where, part in self.by_size.items())

    @cached_property
    def steps(self) -> list[Step]:
        """The concrete transform steps; a template has none, nor have programs by size together."""
        return [] if self.by_size or template_of(self.gene) else steps_of(self.gene)

    @cached_property
    def decisions(self) -> list[tuple[str, int]]:
        """The decisions made here, of programs by size one after the other."""
        parts = self.by_size.values()
        return [d for p in parts for d in p.decisions] or list(self.gene.values.items())

    @cached_property
    def sketch(self) -> str:
        """The sketch the program comes from: the decisions made here, and the nest without them."""
        if self.by_size:
            return self._each(lambda part: part.sketch)
        values = self.gene.values
        kind = "sketch" if template_of(self.gene) is None else "template"
        text = f"{kind} {self.sketch_name}\ndecisions\n{self._decided}"
        if self.native is not None:
            return text
        free = {variable: Var(variable) for variable in values}
        # A sketch is of numbers: of the sizes at their most.
        symbolic = maker_of(self.dag.heaviest, self.gene, free)(self.name).program
        return f"{text}\n{program_text(symbolic)}"

    @property
    def sketch_name(self) -> str:
        """What the sketch, or the template, is called; of programs by size `a where S < 32; …`."""
        if self.by_size:
            return "; ".join(f"{p.sketch_name} where {where}" for where, p in self.by_size.items())
        return template_of(self.gene) or sketch_from_json(self.gene.producer)[0] or PLAIN

    @property
    def _decided(self) -> str:
        return "".join(f"  {variable} = {value}\n" for variable, value in self.gene.values.items())

    @cached_property
    def chained(self) -> dict[str, tuple[str, bool]]:
        """Contractions that read another's results: its name, and whether it is computed in the
        same loops.
        """
        if self.by_size:
            return {k: v for part in self.by_size.values() for k, v in part.chained.items()}
        found = {}
        whole, done = State(self.dag.heaviest), State(self.dag).replay(self.steps)
        for stage in filter(has_data_reuse, whole.stages.values()):
            for source in next((c.sources for c in chains(whole, stage)), ()):
                is_one = _outermost(done, source) == _outermost(done, stage.name)
                found[stage.name] = source, is_one
        return found

    @cached_property
    def trace(self) -> str:
        """The transform steps, one a line, as Python writes them; a template's decisions."""
        if self.by_size:
            return self._each(lambda part: part.trace)
        return "".join(f"{step}\n" for step in self.steps) or self._decided

    @cached_property
    def nest(self) -> str:
        """The loop nest that code is generated from."""
        if self.native is not None:
            return "A template has no loop nest.\n"
        return program_text(self._program)

    @cached_property
    def ir(self) -> str:
        """The LLVM IR for the target."""
        if self.native is not None:
            return self.native.program(self.name).text
        return compile_program(self._program, self.target).ir

    @cached_property
    def _program(self) -> Program:
        return lowered_of(self.dag, self.gene, self.name).program


def _outermost(state: State, name: str) -> str:
    """The stage in whose loops all of a stage is computed: itself, at the root."""
    while (at := state[name].attach) is not None:
        name = at.target
    return name

"""One program in its four printed forms: sketch, trace, loop nest and LLVM IR.

    layers = Layers(dag, trace, target, "gemm")
    print(layers.text("nest"))

Nothing but the math and the trace is needed: every form is made anew from them, so the program of
any record can be read, whenever it was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from tilewright.codegen import compile_program
from tilewright.errors import InputError
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var
from tilewright.nest.nodes import Program
from tilewright.nest.print import program_text
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step
from tilewright.setting import ALONE, AMONG_OTHERS
from tilewright.settings import LAYERS
from tilewright.space.space import Sketch, Space
from tilewright.target import Target


@dataclass(frozen=True)
class Layers:
    """A program's printed forms. Raises ScheduleError for a trace that does not fit the DAG."""

    dag: ComputeDAG
    steps: Sequence[Step]
    target: Target
    name: str

    def text(self, layer: str) -> str:
        """The form named by one of `settings.LAYERS`. Raises InputError for another name."""
        if layer not in LAYERS:
            raise InputError(f"unknown layer {layer!r}; known: {', '.join(LAYERS)}")
        return str(getattr(self, layer))

    @cached_property
    def sketch(self) -> str:
        """The sketch the program comes from: the decisions made here, and the nest without them."""
        if self.decided is None:
            return "No sketch of this version's standard rules gives this program.\n"
        sketch, values = self.decided
        listed = "".join(f"  {name} = {value}\n" for name, value in values.items())
        nest = program_text(sketch.lowered.program)
        return f"sketch {sketch.name or 'plain loops'}\ndecisions\n{listed}\n{nest}"

    @cached_property
    def decided(self) -> tuple[Sketch, dict[str, int]] | None:
        """The sketch the program comes from and its decisions; None if no standard one fits."""
        for setting in (AMONG_OTHERS, ALONE):
            for sketch in Space(self.dag, self.target, setting=setting).sketches:
                values = decisions_of(sketch, self.steps)
                if values is not None:
                    return sketch, values
        return None

    @cached_property
    def trace(self) -> str:
        """The transform steps, one a line, as Python writes them."""
        return "".join(f"{step}\n" for step in self.steps)

    @cached_property
    def nest(self) -> str:
        """The loop nest that code is generated from."""
        return program_text(self._program)

    @cached_property
    def ir(self) -> str:
        """The LLVM IR for the target."""
        return compile_program(self._program, self.target).ir

    @cached_property
    def _program(self) -> Program:
        return lower(State(self.dag).replay(self.steps), self.name).program


def decisions_of(sketch: Sketch, trace: Sequence[Step]) -> dict[str, int] | None:
    """The values of a sketch's decision variables that give `trace`; None if none do."""
    if [type(s) for s in sketch.state.trace] != [type(s) for s in trace]:
        return None
    values: dict[str, int] = {}
    for free, bound in zip(sketch.state.trace, trace, strict=True):
        for field in fields(free):
            _unify(getattr(free, field.name), getattr(bound, field.name), values)
    known = {v: values[v] for v in sketch.variables if v in values}
    if len(known) < len(sketch.variables):
        return None
    return known if [s.bind(known) for s in sketch.state.trace] == list(trace) else None


def _unify(free: Any, bound: Any, values: dict[str, int]) -> None:
    """Note the value of every decision variable in `free` that stands alone."""
    if isinstance(free, Var) and isinstance(bound, int):
        values.setdefault(free.name, bound)
    elif isinstance(free, tuple) and isinstance(bound, tuple):
        for a, b in zip(free, bound, strict=False):
            _unify(a, b, values)

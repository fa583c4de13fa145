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
from tilewright.expr.nodes import Operand
from tilewright.nest.print import program_text
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step
from tilewright.settings import LAYERS
from tilewright.space.space import Sketch, Space
from tilewright.target import Target


@dataclass(frozen=True)
class Layers:
    """A program's printed forms. Raises ScheduleError for a trace that does not fit the DAG."""

    dag: ComputeDAG
    trace: Sequence[Step]
    target: Target
    name: str

    def text(self, layer: str) -> str:
        """One of LAYERS, ending in a newline. Raises InputError for another name."""
        if layer not in LAYERS:
            raise InputError(f"unknown layer {layer!r}; known: {', '.join(LAYERS)}")
        return str(getattr(self, layer))

    @cached_property
    def trace_text(self) -> str:
        """The transform steps, one a line, as Python writes them."""
        return "".join(f"{step}\n" for step in self.trace)

    @cached_property
    def nest(self) -> str:
        """The loop nest that code is generated from."""
        return program_text(lower(self._state, self.name).program)

    @cached_property
    def ir(self) -> str:
        """The LLVM IR for `target`."""
        return compile_program(lower(self._state, self.name).program, self.target).ir

    @cached_property
    def sketch(self) -> str:
        """The sketch the program comes from: its decisions, and its nest with them left open."""
        sketch = sketch_of(Space(self.dag, self.target), self.trace)
        if sketch is None:
            return "No sketch of the standard rules gives this program.\n"
        nest = program_text(sketch.lowered.program)
        values = bindings(sketch, self.trace) or {}
        shown = "".join(f"  {name} = {value}\n" for name, value in values.items())
        return f"{sketch.name} ({sketch.key})\n\ndecisions here:\n{shown}\n{nest}"

    @property
    def _state(self) -> State:
        return State(self.dag).replay(self.trace)


def sketch_of(space: Space, trace: Sequence[Step]) -> Sketch | None:
    """The sketch of `space` that some decisions turn into `trace`; None if there is none."""
    return next((s for s in space.sketches if bindings(s, trace) is not None), None)

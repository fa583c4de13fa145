"""The int64 values of a call of a network with sizes, at the beginning of its scratch.

    values = CallValues(graph)
    values.number((S + 1) // 2)      CallValue(1); 4 is 4
    values.params(call.sizes)        the first of values side by side, as a kernel takes them
    values.derived                   what is computed of the sizes before a call

Sizes come first, which the native call finds in the shapes of inputs, or the network on its way.
"""

from __future__ import annotations

from tilewright.contract.artifact import BufferSpec, StateSpec, aligned
from tilewright.contract.sizes import Size, Sizes
from tilewright.expr.nodes import Expr, Extent, Shape, Var, as_expr
from tilewright.expr.sizes import least, most
from tilewright.expr.tensors import canonical
from tilewright.expr.text import extent_text
from tilewright.graph.ir import Graph, State, Value
from tilewright.ground.errors import BuildError
from tilewright.network.entry import CallValue
from tilewright.network.memory import stored_shape_of


class CallValues:
    """Numbers all values that a network's calls have."""

    def __init__(self, graph: Graph) -> None:
        """Raises BuildError for a size that is the extent of no input, and not computed."""
        self.sizes = graph.sizes
        self.all: list[Expr] = [Var(s.name) for s in self.sizes]
        found = [e for v in graph.inputs for e in v.extents]
        for s, variable in zip(self.sizes, self.all, strict=True):
            if canonical(variable * s.step) not in found and not s.computed:
                raise BuildError(f"{graph.name}: no input has the size {s.name} for an extent")
        for value in (*graph.inputs, *graph.outputs, *(s.grown for s in graph.states)):
            for extent in value.extents:
                self.number(extent)

    @property
    def bytes(self) -> int:
        """How many bytes of scratch they take."""
        return aligned(8 * len(self.all))

    @property
    def derived(self) -> tuple[Expr, ...]:
        """All but the sizes."""
        return tuple(self.all[len(self.sizes) :])

    @property
    def ranges(self) -> Sizes:
        """The same with their bounds."""
        ends = ((e, least(e, self.sizes), most(e, self.sizes)) for e in self.derived)
        return tuple(Size(extent_text(e), max(0, low), max(1, high)) for e, low, high in ends)

    def number(self, extent: Extent) -> int | CallValue:
        """An extent: itself, or where its value is."""
        extent = canonical(extent)
        if isinstance(extent, int):
            return extent
        if extent not in self.all:
            self.all.append(extent)
        return CallValue(self.all.index(extent))

    def params(self, sizes: Shape) -> CallValue | None:
        """Where the values of a kernel's sizes lie side by side."""
        wanted = [as_expr(e) for e in sizes]
        count = len(wanted)
        if not wanted:
            return None
        starts = (i for i in range(len(self.all)) if self.all[i : i + count] == wanted)
        start = next(starts, len(self.all))
        if start == len(self.all):
            self.all += wanted
        return CallValue(start)


def spec_of_value(name: str, value: Value, sizes: Sizes) -> BufferSpec:
    """The array that a caller gives or gets for a value."""
    shape = tuple(most(e, sizes) for e in value.extents)
    varying = tuple("" if isinstance(e, int) else extent_text(e) for e in value.extents)
    return BufferSpec(name, shape, value.dtype, varying if any(varying) else ())


def spec_of_state(state: State, sizes: Sizes) -> StateSpec:
    """What a caller keeps for a state."""
    length = state.grown.extents[state.axis]
    shape = stored_shape_of(state.grown, sizes)
    return StateSpec(state.result, state.axis, extent_text(length), most(length, sizes), shape)

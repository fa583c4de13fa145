"""Dimensions that vary: what torch.compile captures with SymInts, and what torch.export bounds.

    ranges = TracedRanges(graph)           of a captured graph, or a piece of one
    ranges.dimensions                      (TracedDimension(2, 1, "s27", 2, 512), …)
    ranges.make_room(args)                 then ranges.limits are {"s27": 512}
    named_ranges(program, proto)           {"x_1": (2, 512)}

Dynamo gives equal expressions to extents that its guards hold equal. A dimension without an upper
bound of its own is taken to be at most twice what was met first; a greater one makes that twice the
greater one, MOST_GROWTHS times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import onnx
import torch
from torch import fx
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.reference import PythonReferenceAnalysis
from torch.utils._sympy.value_ranges import bound_sympy

from tilewright.contract.arguments import Range

if TYPE_CHECKING:
    from tilewright.graph.torch.importing import Exported

MOST_GROWTHS = 4
UNBOUNDED = 2**31  # what PyTorch has for bounds that nobody gave is at least this

Place: TypeAlias = tuple[int, int]
"""The position of an argument, and one of its dimensions."""
Orders: TypeAlias = Mapping[int, tuple[int, ...]]
"""Orders of dimensions, by the positions of arguments."""


class TracedEnds(NamedTuple):
    """A `Range` whose most is None where nothing bounds it."""

    least: int
    most: int | None
    points: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class TracedDimension:
    """A dimension of a tensor that is an argument; those of one `name` have one extent."""

    position: int
    dim: int
    name: str
    ends: TracedEnds

    @property
    def place(self) -> Place:
        """Where it is."""
        return self.position, self.dim


class TracedRanges:
    """What networks of one captured graph are made for."""

    def __init__(self, graph: Any) -> None:
        nodes = graph.graph.find_nodes(op="placeholder")
        values = [n.meta.get("example_value") for n in nodes]
        self._expressions: dict[int, Any] = {
            i: expr for i, v in enumerate(values) if (expr := _expression(v)) is not None
        }
        self.dimensions = tuple(
            TracedDimension(i, d, str(expr), _ends(extent.node.shape_env.bound_sympy(expr)))
            for i, v in enumerate(values)
            if isinstance(v, torch.Tensor)
            for d, extent in enumerate(v.shape)
            if (expr := _expression(extent)) is not None
        )
        self.places = {d.name: d.place for d in reversed(self.dimensions)}
        self.numbers = frozenset(i for i, e in self._expressions.items() if self._is_told(e))
        self.masks: dict[int, frozenset[int]] = {
            i: frozenset(d.dim for d in self.dimensions if d.position == i)
            for i in {d.position for d in self.dimensions}
        }
        self.measured = frozenset(position for position, _ in self.places.values())
        self.limits: dict[str, int] = {}
        self.growths = 0

    def _is_told(self, expression: Any) -> bool:
        """Whether the extents of dimensions say what a whole number is."""
        if str(expression) in self.places:
            return True
        return all(str(s) in self.places for s in expression.free_symbols)

    def make_room(self, args: Sequence[Any]) -> bool:
        """Whether the limits hold these arguments, if need be after they have grown."""
        met = {d.name: int(args[d.position].shape[d.dim]) for d in self.dimensions}
        room = {d.name: d.ends.most or 2 * met[d.name] for d in self.dimensions}
        beyond = {n: room[n] for n, v in met.items() if v > self.limits.get(n, -1)}
        if beyond and self.limits:
            self.growths += 1
        if beyond and self.growths <= MOST_GROWTHS:
            self.limits |= beyond
        return all(v <= self.limits.get(n, -1) for n, v in met.items())

    @property
    def guessed(self) -> list[TracedDimension]:
        """Dimensions, one of each name, whose most nobody gave."""
        first = {d.name: d for d in reversed(self.dimensions)}
        return [d for d in self.dimensions if d is first[d.name] and d.ends.most is None]

    def told(self, inputs: Sequence[int], orders: Orders) -> tuple[dict[int, Any] | None, ...]:
        """How torch.export is told which dimensions vary, of arguments at these positions, some
        with their dimensions in another order.
        """
        found: list[dict[int, TracedEnds]] = [{} for _ in inputs]
        for d in self.dimensions:
            if d.position in inputs:
                found[inputs.index(d.position)][_axis(d, orders)] = d.ends
        return tuple(map(dynamic, found))

    def bounds(
        self, exported: Exported, inputs: Sequence[int], orders: Orders
    ) -> tuple[dict[str, tuple[Range]], dict[Place, Range]]:
        """The ranges of the exported model's dimensions, by name and by the arguments that have
        them: within the limits.
        """
        names: dict[Place, str] = {}
        found: dict[str, Range] = {}
        for d in self.dimensions:
            if d.position in inputs:
                shape = exported.proto.graph.input[inputs.index(d.position)].type.tensor_type.shape
                name = names[d.place] = shape.dim[_axis(d, orders)].dim_param
                ends, limit = (
                    found.get(name, exported.ranges.get(name, d.ends)),
                    self.limits[d.name],
                )
                most = limit if ends.most is None else min(ends.most, limit)
                found[name] = Range(ends.least, most)
        return {n: (r,) for n, r in found.items()}, {p: found[n] for p, n in names.items()}

    def number(self, position: int, tensors: Mapping[int, fx.Node]) -> Any:
        """The whole number that is the argument at a position, of extents of `tensors`, which are
        arguments by position: nodes that are appended to their graph.
        """
        expression = self._expressions[position]
        if str(expression) in self.places:
            return self._extent(self.places[str(expression)], tensors).node
        known = {s: self._extent(self.places[str(s)], tensors) for s in expression.free_symbols}
        return sympy_interp(PythonReferenceAnalysis, known, expression).node

    def _extent(self, place: Place, tensors: Mapping[int, fx.Node]) -> fx.Proxy:
        node = tensors[place[0]]
        size = node.graph.call_method("size", (node, place[1]))
        return fx.Proxy(size, fx.proxy.GraphAppendingTracer(node.graph))


def _axis(dimension: TracedDimension, orders: Orders) -> int:
    """Where a dimension is in the order that its argument is taken in."""
    order = orders.get(dimension.position)
    return dimension.dim if order is None else order.index(dimension.dim)


def _expression(number: Any) -> Any:
    """What is known of a whole number; None for one that does not vary."""
    if not isinstance(number, torch.SymInt):
        return None
    expr = number.node.expr
    return None if expr.is_number else expr


def _ends(bounds: Any) -> TracedEnds:
    """Of extents, which are at least 0."""
    least = max(0, int(bounds.lower)) if bounds.lower > -int_oo else 0
    return TracedEnds(least, int(bounds.upper) if bounds.upper < UNBOUNDED else None)


def named_ranges(program: Any, proto: onnx.ModelProto) -> dict[str, TracedEnds]:
    """The ranges that an ExportedProgram gives to dimensions of its inputs, by their names in the
    ONNX model made of it, which they get here: that of the first input that has each, and the
    dimension's number. 0 is no extent.
    """
    nodes = {n.name: n for n in program.graph.find_nodes(op="placeholder")}
    names: dict[str, str] = {}
    found: dict[str, TracedEnds] = {}
    for info in proto.graph.input:
        for position, dim in enumerate(info.type.tensor_type.shape.dim):
            if not dim.dim_param:
                continue
            symbol = dim.dim_param
            dim.dim_param = names.setdefault(symbol, f"{info.name}_{position}")
            node = nodes.get(info.name)
            expr = None if node is None else _expression(node.meta["val"].shape[position])
            if str(expr) == symbol:  # torch names dimensions by what it knows of them
                ends = _ends(bound_sympy(expr, program.range_constraints))
                found[dim.dim_param] = ends._replace(least=max(1, ends.least))
    return found


def dynamic(ends: Mapping[int, TracedEnds]) -> dict[int, Any] | None:
    """How torch.export is told that dimensions of a tensor vary; None where none does."""
    dims = torch.export.Dim
    return {d: dims.DYNAMIC(min=e.least, max=e.most) for d, e in ends.items()} or None

"""What a form is: loops that compute a stage in less work than its math takes term by term.

A reduction that asks of every term whether it counts for an element takes (elements) x (terms).
Where its expression shows an order in which each term is touched once, a form is that order as a
loop nest: `match` reads it off the expression, `nest` writes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from tilewright.expr.dtypes import DType
from tilewright.expr.index.extents import ceildiv, plain
from tilewright.expr.nodes import (
    Axis,
    Const,
    Expr,
    Extent,
    Reduce,
    Select,
    Shape,
    Tensor,
    Var,
    as_expr,
)
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import conjuncts
from tilewright.nest.nodes import For, If, Kind, Node

if TYPE_CHECKING:
    from tilewright.schedule.state import Stage, State

Values = Mapping[str, Expr]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a form is written: the storage of its stage, and how the stage's math is said there.

    `lowered` gives an expression over its `axes` for values of some of them, the others being the
    loops around. `lanes` are those of a vector.
    """

    tensor: Tensor
    axes: tuple[Axis, ...]
    lowered: Callable[[Expr, Values], Expr]
    lanes: int

    def element(self, at: Values) -> tuple[Expr, ...]:
        """The indices of the stage's element for those values of axes."""
        return tuple(self.lowered(a.var, at) for a in self.axes)

    def storage(self, name: str, shape: Shape, dtype: DType) -> Tensor:
        """A tensor that only this form knows."""
        return Tensor(f"{self.tensor.name}.{name}", shape, dtype)

    def loop(self, name: str, extent: Extent, body: Callable[[Expr], Node]) -> Node:
        """A loop of that name, one iteration after the other."""
        var = Var(f"{self.tensor.name}.{name}")
        return body(as_expr(0)) if plain(extent) == 1 else For(var, plain(extent), body(var))

    def along_lanes(self, name: str, extent: Extent, body: Callable[[Expr], Node]) -> Node:
        """The same, many iterations at a time."""
        extent = plain(extent)
        if extent == 1:
            return body(as_expr(0))
        lane = Var(f"{self.tensor.name}.{name}.lane")
        if isinstance(extent, int) and extent <= self.lanes:
            return For(lane, extent, body(lane), Kind.VECTOR)
        outer = Var(f"{self.tensor.name}.{name}")
        value = outer * self.lanes + lane
        fits = isinstance(extent, int) and extent % self.lanes == 0
        inner = body(value) if fits else If(value < extent, body(value))
        vector = For(lane, self.lanes, inner, Kind.VECTOR)
        return For(outer, ceildiv(extent, self.lanes), vector)

    def over(
        self, what: str, axes: tuple[Axis, ...], body: Callable[[Values], Node], *, lanes: bool
    ) -> Node:
        """Loops over whole axes of the stage, the last of them along `lanes`."""

        def inside(at: Values, rest: tuple[Axis, ...]) -> Node:
            if not rest:
                return body(at)
            axis, *more = rest
            run = self.along_lanes if lanes and not more else self.loop
            return run(
                f"{what}.{axis.name}",
                axis.extent,
                lambda i: inside({**at, axis.name: i}, tuple(more)),
            )

        return inside({}, axes)


class Formed(Protocol):
    """A stage's math as a form understands it."""

    @property
    def outer(self) -> tuple[str, ...]:
        """Axes around the form, outermost first, whose iterations have nothing to do with each
        other.
        """

    def nest(self, place: Place) -> Node:
        """What is done inside the loops over `outer`."""


class Form(ABC):
    """A row of the table of forms."""

    name: ClassVar[str]

    @abstractmethod
    def match(self, source: Compute) -> Formed | None:
        """How the form computes that; None where it does not."""

    def seen(self, state: State, stage: Stage) -> tuple[Compute, tuple[str, ...]] | None:
        """What `match` is asked about a stage, and other stages that are in it then; None for one
        that is not the form's.
        """
        return stage.compute, ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """`op` over one axis of the terms for which all conditions hold; others count as `rest`."""

    op: str
    over: Axis
    conditions: tuple[Expr, ...]
    value: Expr
    rest: Const

    @staticmethod
    def of(source: Compute) -> Chosen | None:
        """The reading of a reduction; None for another expression."""
        match source.body:
            case Reduce(op, (over,), Select(cond, value, Const() as rest)):
                return Chosen(op, over, tuple(conjuncts(cond, in_order=True)), value, rest)
        return None

    @property
    def is_neutral(self) -> bool:
        """Whether what does not count changes nothing."""
        return self.rest.value == self.value.dtype.neutral(self.op)

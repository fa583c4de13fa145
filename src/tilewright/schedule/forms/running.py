"""Prefixes: y[i] = Σ_{k <= i} x[k] is one sum that runs along the axis.

    for i:  total = total + x[i];  y[i] = total

Sums, products and extrema, from the front or from the end, with the element itself or without.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.expr.index.extents import plain
from tilewright.expr.nodes import Axis, Binary, Const, Expr, Read, Var, as_expr, cast
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import free_vars, substitute
from tilewright.nest.nodes import Node, Store, allocated, seq
from tilewright.schedule.forms.form import Chosen, Form, Place, Values

SWAPPED = {"gt": "lt", "ge": "le"}


@dataclass(frozen=True, slots=True)
class Prefixes:
    """`op` of `value`, an expression over `over`, up to each place of `along`.

    `backwards`: from the last element on. `exclusive`: without the element itself.
    """

    axes: tuple[Axis, ...]
    along: Axis
    over: str
    op: str
    value: Expr
    start: Const
    backwards: bool
    exclusive: bool

    @property
    def outer(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.axes[: self.axes.index(self.along)])

    def nest(self, place: Place) -> Node:
        axes = self.axes[self.axes.index(self.along) + 1 :]
        shape = tuple(plain(a.extent) for a in axes) or (1,)
        total = place.storage("total", shape, self.value.dtype)

        def here(at: Values) -> tuple[Expr, ...]:
            return tuple(at[a.name] for a in axes) or (as_expr(0),)

        def first(at: Values) -> Node:
            return Store(total, here(at), self.start, initial=True)

        def step(i: Expr) -> Node:
            place_of = as_expr(plain(self.along.extent)) - 1 - i if self.backwards else i

            def grown(at: Values) -> Node:
                value = substitute(self.value, {self.over: Var(self.along.name)})
                value = place.lowered(value, {**at, self.along.name: place_of})
                return Store(total, here(at), value, self.op)

            def kept(at: Values) -> Node:
                target = place.element({**at, self.along.name: place_of})
                value = cast(place.tensor.dtype.compute, Read(total, here(at)))
                return Store(place.tensor, target, value)

            grow = place.over("grown", axes, grown, lanes=True)
            keep = place.over("kept", axes, kept, lanes=True)
            return seq(keep, grow) if self.exclusive else seq(grow, keep)

        start = place.over("first", axes, first, lanes=True)
        run = place.loop(self.along.name, self.along.extent, step)
        return allocated(total, seq(start, run))


class Running(Form):
    """The form of prefixes."""

    name = "running"

    def match(self, source: Compute) -> Prefixes | None:
        found = Chosen.of(source)
        if found is None or not found.is_neutral or len(found.conditions) != 1:
            return None
        (test,) = found.conditions
        if not isinstance(test, Binary):
            return None
        op, a, b = test.op, test.a, test.b
        if op in SWAPPED:
            op, a, b = SWAPPED[op], b, a
        if op not in ("lt", "le") or not isinstance(a, Var) or not isinstance(b, Var):
            return None
        backwards = b.name == found.over.name
        along = next((x for x in source.axes if x.name == (a if backwards else b).name), None)
        terms = (b if backwards else a).name
        if along is None or terms != found.over.name or along.extent != found.over.extent:
            return None
        if along.name in free_vars(found.value):
            return None
        return Prefixes(
            source.axes, along, terms, found.op, found.value, found.rest, backwards, op == "lt"
        )

"""Terms that say which element they are for: y[i] = Σ_k select(e(k) == i, x[k], 0).

    for i:  y[i] = 0
    for k:  if e(k) is an element:  y[e(k)] += x[k]

One or more axes may be named so. Terms whose place is no element are left out, as the math does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.expr.dtypes import INT64
from tilewright.expr.index.extents import plain
from tilewright.expr.index.intervals import Interval, interval
from tilewright.expr.nodes import (
    Axis,
    Binary,
    Const,
    Expr,
    Extent,
    Read,
    Tensor,
    Var,
    as_expr,
    cast,
)
from tilewright.expr.operators.shapes import clamped
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import free_vars
from tilewright.nest.nodes import If, Node, Store, allocated, seq
from tilewright.schedule.forms.form import Chosen, Form, Place, Values


@dataclass(frozen=True, slots=True)
class Places:
    """`op` of `value` at the place that `named` says for some axes. `tests` are conditions and
    names of such axes, in the order in which the one may be asked only where the others hold.
    """

    axes: tuple[Axis, ...]
    over: Axis
    op: str
    named: Mapping[str, Expr]
    tests: tuple[Expr | str, ...]
    value: Expr
    rest: Const

    @property
    def outer(self) -> tuple[str, ...]:
        first = next(n for n, a in enumerate(self.axes) if a.name in self.named)
        return tuple(a.name for a in self.axes[:first])

    def nest(self, place: Place) -> Node:
        axes = self.axes[len(self.outer) :]
        inner = tuple(a for a in axes if a.name not in self.named)
        conditions = [t for t in self.tests if not isinstance(t, str)]
        decided = {n for e in (*self.named.values(), *conditions) for n in free_vars(e)}
        spots = place.storage("place", (len(self.named),), INT64)

        def first(at: Values) -> Node:
            return Store(place.tensor, place.element(at), self.rest, initial=True)

        def update(at: Values) -> Node:
            spot = {
                name: clamped(Read(spots, (as_expr(n),)), self._extent(name))
                for n, name in enumerate(self.named)
            }
            value = cast(place.tensor.dtype.compute, place.lowered(self.value, at))
            return Store(place.tensor, place.element({**at, **spot}), value, self.op)

        def term(k: Expr) -> Node:
            here: Values = {self.over.name: k}
            if decided & {a.name for a in inner}:
                return place.over(
                    "term",
                    inner,
                    lambda at: self._tested(place, spots, {**at, **here}, update({**at, **here})),
                    lanes=False,
                )
            row = place.over("term", inner, lambda at: update({**at, **here}), lanes=True)
            return self._tested(place, spots, here, row)

        start = place.over("first", axes, first, lanes=True)
        run = place.loop(self.over.name, self.over.extent, term)
        return seq(start, allocated(spots, run))

    def _tested(self, place: Place, spots: Tensor, at: Values, node: Node) -> Node:
        """`node` where all tests hold, the places found on the way."""
        numbers = {name: n for n, name in enumerate(self.named)}
        for test in reversed(self.tests):
            if isinstance(test, str):
                spot = Read(spots, (as_expr(numbers[test]),))
                inside = If((spot >= 0) & (spot < self._extent(test)), node)
                found = place.lowered(self.named[test], at)
                node = seq(Store(spots, spot.indices, found), inside)
            else:
                node = If(place.lowered(test, at), node)
        return node

    def _extent(self, name: str) -> Extent:
        return plain(next(a.extent for a in self.axes if a.name == name))


class Scattered(Form):
    """The form of terms with a place."""

    name = "scattered"

    def match(self, source: Compute) -> Places | None:
        found = Chosen.of(source)
        if found is None or not _may_start(found):
            return None
        named: dict[str, Expr] = {}
        tests: list[Expr | str] = []
        for test in found.conditions:
            axis, place = _named(test, source.axes)
            if axis is None or axis in named:
                tests.append(test)
            else:
                named[axis] = place
                tests.append(axis)
        conditions = [t for t in tests if not isinstance(t, str)]
        read = {n for e in (*named.values(), *conditions, found.value) for n in free_vars(e)}
        if not named or read & named.keys():
            return None
        return Places(
            source.axes, found.over, found.op, named, tuple(tests), found.value, found.rest
        )


def _may_start(found: Chosen) -> bool:
    """Whether an element that starts from what others count ends as if they did: it changes
    nothing, or is at most what any term is.
    """
    if found.is_neutral:
        return True
    extent = plain(found.over.extent)
    steps = Interval(0, extent - 1 if isinstance(extent, int) else None)
    reach, rest = interval(found.value, {found.over.name: steps}), found.rest.value
    if found.op == "max":
        return reach.lo is not None and rest <= reach.lo
    return found.op == "min" and reach.hi is not None and rest >= reach.hi


def _named(test: Expr, axes: tuple[Axis, ...]) -> tuple[str | None, Expr]:
    """The axis of which a condition says the place, and that place."""
    names = {a.name for a in axes}
    match test:
        case Binary("eq", Var(name), place) | Binary("eq", place, Var(name)) if name in names:
            return name, place
    return None, test

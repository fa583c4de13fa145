"""Terms that say which element they are for: y[i] = Σ_k select(e(k) == i, x[k], 0).

    for i:  y[i] = 0
    for k:  if e(k) is an element:  y[e(k)] += x[k]

One or more axes may be named so. Terms whose place is no element are left out, as the math does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.expr.intervals import Interval, interval
from tilewright.expr.nodes import Axis, Binary, Const, Expr, Var, cast, free_vars
from tilewright.expr.tensors import Compute
from tilewright.nest.nodes import If, Node, Store, seq
from tilewright.schedule.forms.form import Chosen, Place, Values, within
from tilewright.schedule.state import Stage, State
from tilewright.schedule.step import extent_int


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
        extents = {a.name: extent_int(a.extent) for a in axes}
        dtype = place.tensor.dtype.compute
        conditions = [t for t in self.tests if not isinstance(t, str)]
        decided = {n for e in (*self.named.values(), *conditions) for n in free_vars(e)}

        def first(at: Values) -> Node:
            return Store(place.tensor, place.element(at), self.rest, initial=True)

        def term(at: Values) -> Node:
            spots = {name: place.lowered(e, at) for name, e in self.named.items()}
            sure = {name: within(spot, extents[name]) for name, spot in spots.items()}
            value = cast(dtype, place.lowered(self.value, at))
            node: Node = Store(place.tensor, place.element({**at, **sure}), value, self.op)
            for test in reversed(self.tests):
                if isinstance(test, str):
                    node = If((spots[test] >= 0) & (spots[test] < extents[test]), node)
                else:
                    node = If(place.lowered(test, at), node)
            return node

        lanes = not inner or inner[-1].name not in decided
        start = place.over("first", axes, first, lanes=True)
        run = place.loop(
            self.over.name,
            extent_int(self.over.extent),
            lambda k: place.over(
                "term", inner, lambda at: term({**at, self.over.name: k}), lanes=lanes
            ),
        )
        return seq(start, run)


class Scattered:
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

    def taken(self, state: State, stage: Stage) -> tuple[Compute, tuple[str, ...]] | None:
        return (stage.compute, ()) if self.match(stage.compute) is not None else None


def _may_start(found: Chosen) -> bool:
    """Whether an element that starts from what others count ends as if they did: it changes
    nothing, or is at most what any term is.
    """
    if found.is_neutral:
        return True
    steps = Interval(0, extent_int(found.over.extent) - 1)
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

"""The first of an order: y[r] = the j of which r others come before, r < count.

    rank[j] = Σ_l (key[l] < key[j]) | ((key[l] == key[j]) & (l < j))
    y[r] = max_j select(rank[j] == r, j, 0)

Integer keys are sorted digit by digit from the last one on (LSD radix sort: for each digit, how
many have which, where those of each begin, and a move that keeps the order of equal ones). Where
few of many are wanted, blocks of neighbours are asked first: with t the count-th best of the
blocks' best keys, at least `count` keys are no worse than t, fewer than `count` blocks have a
better one, and what is not among these cannot be wanted. Only they are sorted, and as many of those
equal to t as can be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tilewright.expr.dtypes import INT32, INT64, DType
from tilewright.expr.nodes import (
    Axis,
    Binary,
    Cast,
    Expr,
    Read,
    Reduce,
    Tensor,
    Var,
    as_expr,
    call,
    cast,
    const,
)
from tilewright.expr.operators.indexing import before
from tilewright.expr.operators.shapes import clamped
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import substitute
from tilewright.nest.nodes import For, If, Kind, Node, Store, allocated, seq
from tilewright.schedule.forms.form import Chosen, Form, Place
from tilewright.schedule.state import Stage, State, extent_int

BLOCKS = (16, 8, 4)  # neighbours asked together, the first of which there are enough
RANKED = "form.ranked"
MOST_DIGITS = 11  # bits of a digit: its counts stay near
KEY_STEPS = 4  # counts that take as long as a key


@dataclass(frozen=True, slots=True)
class First:
    """The places of the first elements along `over` in the order of `key`; `ranked` counts them."""

    axes: tuple[Axis, ...]
    ranked: Axis
    over: Axis
    key: Expr
    largest: bool

    @property
    def outer(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.axes if a != self.ranked)

    def nest(self, place: Place) -> Node:
        extent, count = extent_int(self.over.extent), extent_int(self.ranked.extent)
        key = place.storage("key", (extent,), self.key.dtype)
        sorting = _Sorting(place, self.key.dtype)

        def ordered(j: Expr) -> Node:
            value = place.lowered(self.key, {self.over.name: j})
            return Store(key, (j,), _reversed(value) if self.largest else value)

        def told(ids: Tensor) -> Node:
            def one(r: Expr) -> Node:
                value = cast(place.tensor.dtype.compute, Read(ids, (r,)))
                return Store(place.tensor, place.element({self.ranked.name: r}), value)

            return place.along_lanes("first", count, one)

        length = next((b for b in BLOCKS if -(-extent // b) >= 2 * count), None)
        if length is None:
            body = sorting.all_of(key, told)
        else:
            body = sorting.best_of(key, count, length, told)
        return allocated(key, seq(place.along_lanes("keyed", extent, ordered), body))


@dataclass(frozen=True, slots=True)
class _Sorting:
    """Writes the sorting of keys of one type, smallest first."""

    place: Place
    dtype: DType

    def all_of(self, key: Tensor, then: Callable[[Tensor], Node]) -> Node:
        """Sort all; `then` is given their places in order."""
        (extent,) = map(extent_int, key.shape)
        ids = self.place.storage("id", (extent,), INT32)

        def numbered(j: Expr) -> Node:
            return Store(ids, (j,), cast(INT32, j))

        first = self.place.along_lanes("numbered", extent, numbered)
        rest = self.sorted("sort", (key, ids), None, lambda t: then(t[1]))
        return allocated(ids, seq(first, rest))

    def best_of(self, key: Tensor, count: int, length: int, then: Callable[[Tensor], Node]) -> Node:
        """Sort what may be among the first `count`, found by blocks of `length`."""
        (extent,) = map(extent_int, key.shape)
        blocks, most = -(-extent // length), min(extent, length * (count - 1) + count)
        best = self.place.storage("best", (blocks,), self.dtype)
        copy = self.place.storage("ranked", (blocks,), self.dtype)
        keys = self.place.storage("kept", (most,), self.dtype)
        ids = self.place.storage("kept_id", (most,), INT32)
        found = self.place.storage("found", (1,), INT64)
        equal = self.place.storage("equal", (1,), INT64)
        limit = self.place.storage("limit", (1,), self.dtype)
        zero = (as_expr(0),)

        def block(b: Expr) -> Node:
            first = Store(best, (b,), const(self.dtype.neutral("min"), self.dtype), initial=True)
            lane = Var(f"{self.place.tensor.name}.block.lane")
            at = b * length + lane
            least: Node = Store(best, (b,), Read(key, (at,)), "min")
            if extent % length:
                least = If(at < extent, least)
            return seq(
                first,
                For(lane, length, least, Kind.VECTOR),
                Store(copy, (b,), Read(best, (b,))),
            )

        def gathered(b: Expr) -> Node:
            def one(e: Expr) -> Node:
                at = b * length + e
                own, last, ties = Read(key, (at,)), Read(limit, zero), Read(equal, zero)
                spot = (clamped(Read(found, zero), most),)
                keep = seq(
                    Store(keys, spot, own),
                    Store(ids, spot, cast(INT32, at)),
                    Store(found, zero, as_expr(1), "sum"),
                    Store(equal, zero, cast(INT64, own.eq(last)), "sum"),
                )
                test = (own < last) | (own.eq(last) & (ties < count))
                kept = If(test, keep)
                return If(at < extent, kept) if extent % length else kept

            inside = self.place.loop("of_block", length, one)
            return If(Read(best, (b,)) <= Read(limit, zero), inside)

        def limited(tensors: tuple[Tensor, ...]) -> Node:
            return Store(limit, zero, Read(tensors[0], (as_expr(count - 1),)))

        body = seq(
            self.place.loop("block", blocks, block),
            self.sorted("ranks", (copy,), None, limited),
            Store(found, zero, as_expr(0)),
            Store(equal, zero, as_expr(0)),
            self.place.loop("gathered", blocks, gathered),
            self.sorted("sort", (keys, ids), Read(found, zero), lambda t: then(t[1])),
        )
        for tensor in (limit, equal, found, ids, keys, copy, best):
            body = allocated(tensor, body)
        return body

    def sorted(
        self,
        name: str,
        given: tuple[Tensor, ...],
        count: Expr | None,
        then: Callable[[tuple[Tensor, ...]], Node],
    ) -> Node:
        """Sort the first tensor, and the others along with it; `then` is given them. `count` says
        how many elements there are, if not all.
        """
        (extent,) = map(extent_int, given[0].shape)
        width = min(range(1, MOST_DIGITS + 1), key=lambda w: self._steps(extent, w))
        other = tuple(replace(t, name=f"{t.name}.{name}") for t in given)
        starts = self.place.storage(f"{name}.start", (1 << width,), INT64)
        following = self.place.storage(f"{name}.next", (2,), INT64)
        nodes: list[Node] = []
        source, target = given, other
        for shift in range(0, self.dtype.bits, width):
            label = f"{name}.{shift}"
            nodes.append(self._pass(label, shift, width, source, target, count, starts, following))
            source, target = target, source
        body = seq(*nodes, then(source))
        for tensor in (following, starts, *other):
            body = allocated(tensor, body)
        return body

    def _steps(self, extent: int, width: int) -> int:
        """What a sort takes by digits of so many bits: a key is counted and moved, each time at a
        place that memory says, and takes as long as some counts.
        """
        return -(-self.dtype.bits // width) * ((1 << width) + KEY_STEPS * extent)

    def _pass(
        self,
        label: str,
        shift: int,
        width: int,
        source: tuple[Tensor, ...],
        target: tuple[Tensor, ...],
        count: Expr | None,
        starts: Tensor,
        following: Tensor,
    ) -> Node:
        """Sort by one digit, equal ones staying in order."""
        (extent,) = map(extent_int, source[0].shape)
        place, zero, one = self.place, (as_expr(0),), (as_expr(1),)

        def each(what: str, body: Callable[[Expr], Node]) -> Node:
            return place.loop(
                f"{label}.{what}",
                extent,
                lambda p: body(p) if count is None else If(p < count, body(p)),
            )

        def digit(p: Expr) -> tuple[Expr, ...]:
            return (self._digit(Read(source[0], (p,)), shift, width),)

        def begin(d: Expr) -> Node:
            return seq(
                Store(following, one, Read(starts, (d,))),
                Store(starts, (d,), Read(following, zero)),
                Store(following, zero, Read(following, one), "sum"),
            )

        def move(p: Expr) -> Node:
            spot = (clamped(Read(starts, digit(p)), extent),)
            moved = [Store(t, spot, Read(s, (p,))) for s, t in zip(source, target, strict=True)]
            return seq(*moved, Store(starts, digit(p), as_expr(1), "sum"))

        bins = 1 << min(width, self.dtype.bits - shift)
        return seq(
            place.along_lanes(f"{label}.none", bins, lambda d: Store(starts, (d,), as_expr(0))),
            each("count", lambda p: Store(starts, digit(p), as_expr(1), "sum")),
            Store(following, zero, as_expr(0)),
            place.loop(f"{label}.begin", bins, begin),
            each("move", move),
        )

    def _digit(self, key: Expr, shift: int, width: int) -> Expr:
        """The bits from `shift` on as a number; the last ones of a signed key count from the least
        number on.
        """
        bits = min(width, self.dtype.bits - shift)
        is_last = shift + bits == self.dtype.bits
        part = call("shr", key, const(shift, self.dtype)) if shift else key
        found = cast(INT64, part)
        if is_last and self.dtype.kind == "int":
            found = found + (1 << (bits - 1))
        elif not is_last:
            found = call("bitand", found, const((1 << bits) - 1, INT64))
        return clamped(found, 1 << bits)


def _reversed(key: Expr) -> Expr:
    """An integer that comes later the larger the key is."""
    return call("bitxor", key, const(key.dtype.wrapped(-1), key.dtype))


class Selected(Form):
    """The form of the first of an order.

    What it understands is "max" (or "min") of the keys over an axis, standing for their order from
    the largest (or smallest) on, with a hint that names the axis of results.
    """

    name = "selected"

    def match(self, source: Compute) -> First | None:
        match source.body:
            case Reduce("max" | "min" as op, (over,), key) if key.dtype.kind in ("int", "uint"):
                ranked = next((a for a in source.axes if a.name == source.hint(RANKED)), None)
                if ranked is not None:
                    return First(source.axes, ranked, over, key, op == "max")
        return None

    def seen(self, state: State, stage: Stage) -> tuple[Compute, tuple[str, ...]] | None:
        source, found = stage.compute, Chosen.of(stage.compute)
        if found is None or found.op != "max" or found.value != found.over.var:
            return None
        if found.rest.value != 0:
            return None
        match found.conditions:
            case (Binary("eq", Read(rank, where), Var(name)),):
                pass
            case _:
                return None
        along = next((n for n, a in enumerate(source.axes) if a.name == name), None)
        if along is None or where != _at(source.axes, along, found.over):
            return None
        if rank.name not in state.stages or state.is_output(rank.name):
            return None
        ranking = state[rank.name]
        if len(state.consumers(rank.name)) != 1 or not state.is_untouched(ranking):
            return None
        key = _ranked_key(ranking.compute, along)
        if key is None:
            return None
        value, largest = key
        axes = {a.name: i for a, i in zip(ranking.compute.axes, where, strict=True)}
        body = Reduce("max" if largest else "min", (found.over,), substitute(value, axes))
        return replace(source, body=body, hints=((RANKED, name),)), (rank.name,)


def _at(axes: tuple[Axis, ...], along: int, over: Axis) -> tuple[Expr, ...]:
    return tuple((over if n == along else a).var for n, a in enumerate(axes))


def _ranked_key(source: Compute, along: int) -> tuple[Expr, bool] | None:
    """The key, over the stage's axes, by which a stage ranks elements, and whether the largest come
    first.
    """
    own = source.axes[along]
    match source.body:
        case Reduce("sum", (over,), Cast(_, Binary("or", Binary(op, _, key), _) as test)):
            other, largest = substitute(key, {own.name: over.var}), op == "gt"
            expected = before(other, key, over.var, own.var, largest=largest)
            return (key, largest) if test == expected and over.extent == own.extent else None
    return None

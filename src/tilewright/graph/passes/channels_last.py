"""Remove transposes: carry each along as a note until an operator needs the real layout.

    transpose(conv(transpose(x)))        t0 = transpose(x); t1 = conv(t0)
    relu, add, concat, pool …       →    relu, add, concat, pool … all channels-last
    transpose(conv(transpose(…)))        the result, transposed back once

Importers wrap channels-last operators in transposes (NCHW → NHWC → NCHW). Here every old value
is a `TransposedView`: a new value and the permutation that turns it into the old one. An operator
that works in any layout (elementwise, concat, reductions, pads, slices, reshapes of whole groups of
dimensions) takes its operands in the layout they have, and its attributes are permuted instead.
Constants are transposed at once. What remains is one transpose at an image input, one before an
output that is an image, and those that really move data (a channel shuffle).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from tilewright.expr.nodes import Shape
from tilewright.expr.operators.shapes import matching_groups
from tilewright.expr.sizes import most
from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Graph, Node, Value
from tilewright.graph.ops import ELEMENTWISE

Permutation = tuple[int, ...]


def identity(rank: int) -> Permutation:
    return tuple(range(rank))


def inverse(permutation: Permutation) -> Permutation:
    return tuple(permutation.index(d) for d in range(len(permutation)))


@dataclass(frozen=True, slots=True)
class TransposedView:
    """old = transpose(value, permutation): old dimension d is dimension permutation[d] of value."""

    value: Value
    permutation: Permutation

    @property
    def plain(self) -> bool:
        return self.permutation == identity(self.value.rank)


def plain(value: Value) -> TransposedView:
    """A value as it lies."""
    return TransposedView(value, identity(value.rank))


def channels_last(graph: Graph) -> Graph:
    """`graph` with its transposes carried forward, cancelled or absorbed (see the module)."""
    return _ChannelsLast(graph).run()


class _ChannelsLast:
    def __init__(self, graph: Graph) -> None:
        self.rewriter = Rewriter(graph)
        self.builder = self.rewriter.builder
        self.layouts: dict[Value, TransposedView] = {
            v: plain(new) for v, new in self.rewriter.values.items()
        }
        self.made: dict[tuple[Value, Permutation], Value] = {}

    def run(self) -> Graph:
        graph = self.rewriter.graph
        for node in graph.nodes:
            layout = self.rewrite(node) if node.control is None else None
            if layout is not None:
                self.layouts[node.output] = layout
                continue
            results = self.builder.again(node, [self.real(v) for v in node.inputs])
            self.layouts.update(zip(node.outputs, map(plain, results), strict=True))
        for value in graph.outputs:
            self.rewriter.replace(value, self.real(value))
        return self.rewriter.finish()

    def layout(self, old: Value) -> TransposedView:
        return self.layouts.get(old) or plain(old)

    def real(self, old: Value) -> Value:
        """`old` itself, transposed where it is only a note so far."""
        layout = self.layout(old)
        return self.transposed(layout.value, layout.permutation)

    def transposed(self, x: Value, permutation: Permutation) -> Value:
        """A transpose, emitted once however often it is asked for.

        One that moves only dimensions of extent 1 moves no data: it is a reshape.
        """
        key = (x, permutation)
        if key not in self.made:
            order = [p for p in permutation if x.extents[p] != 1]
            if order == sorted(order):
                self.made[key] = self.builder.reshape(x, [x.extents[p] for p in permutation])
            else:
                self.made[key] = self.builder.transpose(x, permutation)
        return self.made[key]

    def rewrite(self, node: Node) -> TransposedView | None:
        """The output where `node` can work in the layouts that its operands have."""
        if node.op in ELEMENTWISE or node.op == "concat":
            return self.broadcast(node)
        first = self.layout(node.inputs[0])
        if node.op == "transpose":
            order: Any = node.attributes["permutation"]
            return TransposedView(first.value, tuple(first.permutation[p] for p in order))
        if first.plain:
            return None
        if node.op == "reshape":
            return self.reshape(node, first)
        if node.op not in RULES or len(node.inputs) != 1:
            return None
        changes, permutation = RULES[node.op](node, first.permutation)
        return TransposedView(self.builder.copy(node, [first.value], **changes), permutation)

    def broadcast(self, node: Node) -> TransposedView:
        """Operands that meet element by element: all in the layout that moves least data."""
        rank = node.output.rank
        layouts = [self.layout(v) for v in node.inputs if v.rank == rank and not v.is_constant]
        choices = dict.fromkeys([x.permutation for x in layouts if not x.plain])
        permutation = min([*choices, identity(rank)], key=lambda p: self.cost(layouts, p))
        operands = [self.operand(v, permutation) for v in node.inputs]
        changes: dict[str, Any] = {}
        if node.op == "concat":
            axis: Any = node.attributes["axis"]
            changes["axis"] = permutation[axis]
        return TransposedView(self.builder.copy(node, operands, **changes), permutation)

    def cost(self, layouts: Sequence[TransposedView], permutation: Permutation) -> int:
        """Elements to be transposed so that all operands have the layout of `permutation`."""
        total = 0
        for layout in layouts:
            key = (layout.value, _between(layout.permutation, permutation))
            if layout.permutation != permutation and key not in self.made:
                total += prod(most(e, self.builder.sizes) for e in layout.value.extents)
        return total

    def operand(self, old: Value, permutation: Permutation) -> Value:
        """`old` such that it broadcasts in the layout that `permutation` undoes."""
        if permutation == identity(len(permutation)):
            return self.real(old)
        if old.is_constant and old.elements == 1:
            return old
        rank = len(permutation)
        back = inverse(permutation)
        if old.rank == rank:
            layout = self.layout(old)
            return self.transposed(layout.value, _between(layout.permutation, permutation))
        widened = self.builder.reshape(self.real(old), (1,) * (rank - old.rank) + old.extents)
        return self.transposed(widened, back)

    def reshape(self, node: Node, layout: TransposedView) -> TransposedView:
        """Groups of dimensions are reshaped where they stand; their order stays a note.

        A transpose is emitted only where a merged group's dimensions are not in its order.
        """
        old, target = node.inputs[0].extents, node.output.extents
        where = layout.permutation
        # Each group goes where its innermost dimension is, so that rows stay rows.
        groups = sorted(matching_groups(old, target), key=lambda g: max(where[d] for d in g[0]))
        order = [where[d] for source, _ in groups for d in source]
        units = [d for d in range(layout.value.rank) if d not in order]
        arranged = self.transposed(layout.value, (*units, *order))
        owner = _unit_owners(target)
        placed = list(owner[None])
        for _, result in groups:
            for d in result:
                placed += [d, *owner[d]]
        value = self.builder.reshape(arranged, [target[d] for d in placed], name=node.output.name)
        return TransposedView(value, inverse(tuple(placed)))


def _between(have: Permutation, want: Permutation) -> Permutation:
    """The permutation that turns a value noted with `have` into one noted with `want`."""
    return tuple(have[d] for d in inverse(want))


def _unit_owners(shape: Shape) -> dict[int | None, list[int]]:
    """Which dimension each one of extent 1 follows: the last larger one before it."""
    owners: dict[int | None, list[int]] = {None: []}
    last: int | None = None
    for d, n in enumerate(shape):
        if n == 1:
            owners[last].append(d)
        else:
            last = d
            owners[d] = []
    return owners


Rule = Callable[[Node, Permutation], tuple[dict[str, Any], Permutation]]


def _along_axis(node: Node, where: Permutation) -> tuple[dict[str, Any], Permutation]:
    axis: Any = node.attributes["axis"]
    return {"axis": where[axis]}, where


def _per_dimension(name: str) -> Rule:
    """An attribute with one entry a dimension."""

    def rule(node: Node, where: Permutation) -> tuple[dict[str, Any], Permutation]:
        entries: Any = node.attributes[name]
        return {name: tuple(entries[d] for d in inverse(where))}, where

    return rule


def _slice(node: Node, where: Permutation) -> tuple[dict[str, Any], Permutation]:
    axes: Any = node.attributes["axes"]
    return {"axes": tuple(where[a] for a in axes)}, where


def _reduction(node: Node, where: Permutation) -> tuple[dict[str, Any], Permutation]:
    listed: Any = node.attributes.get("axes") or (node.attributes["axis"],)
    axes = sorted(where[a] for a in listed)
    changes = {"axes": tuple(axes)} if "axes" in node.attributes else {"axis": axes[0]}
    if node.attributes["keepdims"]:
        return changes, where
    kept = [p for p in where if p not in axes]
    return changes, tuple(sorted(kept).index(p) for p in kept)


REDUCTIONS = (
    *("argmax", "argmin", "reduce_l1", "reduce_l2", "reduce_logsumexp", "reduce_max"),
    *("reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "reduce_sum_square"),
)
# Operators of one operand that work in any layout: how attributes and the layout change.
RULES: dict[str, Rule] = {
    "softmax": _along_axis,
    "log_softmax": _along_axis,
    "pad": _per_dimension("pads"),
    "tile": _per_dimension("repeats"),
    "strided_slice": _slice,
    **dict.fromkeys(REDUCTIONS, _reduction),
}

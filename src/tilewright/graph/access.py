"""What may be fused with what, read off the math of a node; no operator is known by name.

    math = NodeMath.of(node)
    math.reduces                     a stage sums (or takes a maximum …) over other elements
    math.is_view()                   the same elements in the same order: no kernel is needed
    math.moves                       elements are only moved or filled in, without arithmetic
    math.is_elementwise_in(value)    output element i depends on element i of `value` alone
    math.rows([value])               so many leading indices go through every stage unchanged

The stages of a node are its compute tensors, producers first; a *read* is one access of a stage to
a tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from tilewright.contract.sizes import Sizes
from tilewright.expr.access import MIN_REUSE, affine_index, is_expensive, is_movement
from tilewright.expr.contraction.groups import narrow_factors
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.index.intervals import Interval
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import (
    Axis,
    Binary,
    Call,
    Const,
    Expr,
    Read,
    Reduce,
    Shape,
    Tensor,
    Var,
    as_expr,
)
from tilewright.expr.operators.elementwise import Value as Operand
from tilewright.expr.reference import compute_of, extents_of, sizes
from tilewright.expr.sizes import most, ranges_of, stored_extents, stored_shape
from tilewright.expr.tensors import Compute, placeholder
from tilewright.expr.traversal import free_vars, reads, substitute, walk
from tilewright.expr.written import Definition, written
from tilewright.graph.ir import Node, Value
from tilewright.graph.ops import lower, operands

LIGHT_SUM = 256  # terms of a sum; see NodeMath.is_light


@dataclass(frozen=True)
class NodeMath:
    """A node's stages over placeholders for its operands."""

    node: Node
    operands: tuple[Operand, ...]
    output: Tensor

    @staticmethod
    def of(node: Node) -> NodeMath:
        """The math of `node` by itself."""
        made: dict[Value, Tensor] = {}

        def tensor(i: int, value: Value) -> Tensor:
            if value not in made:
                made[value] = placeholder(value.extents, DTYPES[value.dtype], name=f"x{i}")
            return made[value]

        given = operands(node.op, node.inputs, tensor)
        return NodeMath(node, tuple(given), lower(node.op, given, node.attributes, "y"))

    @cached_property
    def stages(self) -> tuple[Tensor, ...]:
        """The node's compute tensors, producers first."""
        found: dict[int, Tensor] = {}

        def visit(t: Tensor) -> None:
            if isinstance(t.source, Compute) and id(t) not in found:
                for r in reads(t.source.body):
                    visit(r.tensor)
                found[id(t)] = t

        visit(self.output)
        return tuple(found.values())

    @cached_property
    def reductions(self) -> int:
        """How many stages reduce."""
        return sum(isinstance(body_of(t), Reduce) for t in self.stages)

    @property
    def reduces(self) -> bool:
        return self.reductions > 0

    @cached_property
    def moves(self) -> bool:
        """Whether every output element is an element of an operand, or a fill value."""
        return not self.reduces and all(is_movement(body_of(t)) for t in self.stages)

    @cached_property
    def is_expensive(self) -> bool:
        """Whether an element takes a function like exp."""
        return any(is_expensive(compute_of(t)) for t in self.stages)

    @cached_property
    def is_slight(self) -> bool:
        """Whether an element costs no more than loading it would: sums, products, conversions."""
        parts = (x for t in self.stages for x in walk(body_of(t)))
        return not any(
            isinstance(x, (Call, Reduce))
            or (isinstance(x, Binary) and x.op in ("div", "floordiv", "mod"))
            for x in parts
        )

    def is_view(self, sizes: Sizes = ()) -> bool:
        """Whether the output is its one operand, row by row, under another shape: each element
        lies where it did in memory, of which arrays over `sizes` have as much as they may need.
        """
        if len(self.stages) != 1 or len(self.node.inputs) != 1:
            return False
        body = body_of(self.output)
        operand = self.operands[0]
        if not isinstance(body, Read) or not isinstance(operand, Tensor):
            return False
        if operand.dtype != self.output.dtype:
            return False  # a conversion of storage: float16 is computed in float32
        if prod(stored_shape(operand, sizes)) != prod(stored_shape(self.output, sizes)):
            return False
        theirs, ours = (stored_extents(t, sizes) for t in (operand, self.output))
        axes = compute_of(self.output).axes
        ranges = {a.name: Interval(0, most(a.extent, sizes) - 1) for a in axes} | ranges_of(sizes)
        return Simplifier(ranges).equal(
            linear(body.indices, theirs), linear([a.var for a in axes], ours)
        )

    def operand(self, value: Value) -> Tensor | None:
        """The placeholder that stands for `value`."""
        at = self.node.inputs.index(value)
        found = self.operands[at]
        return found if isinstance(found, Tensor) else None

    def element_reads(self, value: Value) -> list[tuple[Tensor, Read]]:
        """(stage, read) of `value` by reductions and the output, through all other stages."""
        tensor = self.operand(value)
        kept = [t for t in self.stages if isinstance(body_of(t), Reduce) or t is self.output]
        return [
            (stage, r)
            for stage in kept
            for r in _reads_through(body_of(stage))
            if r.tensor is tensor
        ]

    def is_elementwise_in(self, value: Value) -> bool:
        """Whether the shapes agree and output element i reads `value` at i only."""
        if self.reduces or value.shape != self.node.output.shape:
            return False
        axes = tuple(a.var for a in compute_of(self.output).axes)
        units = {a.name: as_expr(0) for a in compute_of(self.output).axes if a.extent == 1}
        wanted = tuple(substitute(v, units) for v in axes)
        found = [r for _, r in self.element_reads(value)]
        return bool(found) and all(
            tuple(substitute(i, units) for i in r.indices) == wanted for r in found
        )

    def reads_once(self, value: Value) -> bool:
        """Whether evaluating the node reads every element of `value` at most about once.

        Then an arithmetic producer may be computed at the read, without being repeated.
        """
        found = self.element_reads(value)
        if len(found) != 1:
            return False
        compute = compute_of(found[0][0])
        return prod(sizes((*compute.axes, *compute.reduce_axes))) <= value.elements

    def picks(self, value: Value) -> bool:
        """Whether every read of `value` takes another element for each output element: `concat`,
        `pad` and slices do.
        """
        found = self.element_reads(value)
        return bool(found) and all(_is_one_to_one(stage, read) for stage, read in found)

    def takes_along_axes(self, value: Value) -> bool:
        """Whether each index of every read of `value` is an axis: of a product, not of a window."""
        found = self.element_reads(value)
        return all(isinstance(i, Var | Const) for _, read in found for i in read.indices)

    def reads_through(self, value: Value, views: Sequence[NodeMath]) -> bool:
        """Whether `value`, which `views` make one after the other, may be read in their operand's
        place: not by dots of narrow numbers (`target/dots.py`), unless its indices stay linear.
        """
        for stage, read in self.element_reads(value):
            compute, indices = compute_of(stage), read.indices
            if not isinstance(compute.body, Reduce) or narrow_factors(compute.body.body) is None:
                continue
            for view in reversed(views):
                axes = (a.name for a in compute_of(view.output).axes)
                at = dict(zip(axes, indices, strict=True))
                (inner,) = reads(body_of(view.output))
                indices = tuple(substitute(i, at) for i in inner.indices)
            extents = extents_of((*compute.axes, *compute.reduce_axes))
            simplifier = Simplifier({n: Interval(0, e - 1) for n, e in extents.items()})
            if any(affine_index(i, extents, simplifier) is None for i in indices):
                return False
        return True

    def rows(self, values: Sequence[Value]) -> int:
        """How many leading dimensions every stage reads `values` and other stages at unchanged.

        softmax(x[b, i, j]) over j: 2. Row (b, i) of the output then needs row (b, i) of `values`
        alone, and all stages can be computed a row at a time.
        """
        followed = {t.name for v in values if (t := self.operand(v)) is not None}
        followed.update(t.name for t in self.stages)
        found = self.output.rank
        for stage in self.stages:
            axes = compute_of(stage).axes
            for read in reads(body_of(stage)):
                if read.tensor.name in followed:
                    found = min(found, _leading(axes, read))
        return found

    def streams(self, values: Sequence[Value]) -> bool:
        """Whether no stage takes more steps than the largest of `values` has elements."""
        return self.steps <= max(v.elements for v in values)

    @cached_property
    def steps(self) -> int:
        """Iterations of the stage that has most."""
        computes = map(compute_of, self.stages)
        return max(prod(sizes((*c.axes, *c.reduce_axes))) for c in computes)

    def written(self, known: Mapping[Value, Definition]) -> tuple[Definition | None, bool]:
        """The output with the definitions `known` of operands written into it, None where it is a
        reduction's; and whether every stage is then small enough to be worked on.
        """
        pairs = zip(self.node.inputs, self.operands, strict=True)
        inside = {id(t): known[v] for v, t in pairs if v in known}
        found = []
        for stage in self.stages:
            size = written(body_of(stage), lambda t: inside.get(id(t)))
            found.append(size)
            if not isinstance(body_of(stage), Reduce):
                inside[id(stage)] = tuple(a.name for a in compute_of(stage).axes), size
        return inside.get(id(self.output)), all(size.fits for size in found)

    @cached_property
    def is_light(self) -> bool:
        """Whether an element costs so little that storing and loading it again would show.

        A long sum hides that, and its tiles should not be bound to whole rows.
        """
        return self.streams(self.node.inputs) or all(
            prod(sizes(compute_of(t).reduce_axes)) <= LIGHT_SUM for t in self.stages
        )

    @cached_property
    def reuses(self) -> bool:
        """Whether elements are used so often that copying them first pays: a contraction."""
        return self.steps >= MIN_REUSE * max(v.elements for v in self.node.inputs)

    def vectors_along(self, value: Value) -> bool:
        """Whether neighbours along the output's last axis read neighbours of `value`.

        If not, the value is read element by element (broadcast), and its layout hardly matters.
        """
        return any(axis.name in free_vars(index) for axis, index in self._innermost(value))

    def keeps_rows(self, value: Value) -> bool:
        """Whether the output's last axis runs along the last axis of `value` (pads, slices)."""
        splits = [(a.name, Simplifier().affine(i, [a.name])) for a, i in self._innermost(value)]
        return all(s is not None and s[0].get(name) == as_expr(1) for name, s in splits)

    def _innermost(self, value: Value) -> Iterator[tuple[Axis, Expr]]:
        """The last axis of each stage that reads `value`, and the last index there; both of
        dimensions that are larger than 1.
        """
        for stage, read in self.element_reads(value):
            axes = [a for a in compute_of(stage).axes if a.extent != 1]
            moving = [i for i, n in zip(read.indices, value.shape, strict=True) if n != 1]
            if axes and moving:
                yield axes[-1], moving[-1]


def _is_one_to_one(stage: Tensor, read: Read) -> bool:
    """Whether no two points of the stage read the same element: each axis moves an index alone."""
    compute = compute_of(stage)
    axes = [a for a in (*compute.axes, *compute.reduce_axes) if a.extent != 1]
    left = {a.name for a in axes}
    for index in read.indices:
        split = Simplifier().affine(index, [a.name for a in axes])
        if split is None or len(split[0]) > 1 or not left.issuperset(split[0]):
            return False
        left.difference_update(split[0])
    return not left


def _leading(axes: Sequence[Axis], read: Read) -> int:
    """How many of the first indices of `read` are the axes at their places."""
    count = 0
    for axis, index, extent in zip(axes, read.indices, read.tensor.shape, strict=False):
        if index != axis.var and not axis.extent == extent == 1:
            break
        count += 1
    return count


def body_of(tensor: Tensor) -> Expr:
    """The expression of a stage."""
    return compute_of(tensor).body


def linear(indices: Sequence[Expr], shape: Shape) -> Expr:
    """The row-major position of an element."""
    position = as_expr(0)
    for i, n in zip(indices, shape, strict=True):
        position = position * n + i
    return position


def _reads_through(e: Expr) -> Iterator[Read]:
    """Reads in `e`; a read of a stage without a reduction is followed to what that reads."""
    for r in reads(e):
        source = r.tensor.source
        if isinstance(source, Compute) and not isinstance(source.body, Reduce):
            values = {a.name: i for a, i in zip(source.axes, r.indices, strict=True)}
            yield from _reads_through(substitute(source.body, values))
        else:
            yield r

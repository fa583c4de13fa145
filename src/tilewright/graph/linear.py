"""Whole numbers as a run-time value times a known number, plus another one.

    linear(builder, end, 0)  →  Linear(root=(start, 0), factor=1, offset=4)    where end = start + 4

So the distance of two may be known where neither is: an extent between ends that data decide.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Node, Value


@dataclass(frozen=True, slots=True)
class ScaledElement:
    """`factor` times an element of a value, of which `root` has the value and the position in it,
    plus `offset`; without a root it is the offset alone.
    """

    root: tuple[Value, int] | None
    factor: int
    offset: int

    def steps_to(self, end: ScaledElement, step: int) -> int | None:
        """How many numbers there are from this one on, by `step`, before `end`; None if unknown."""
        if (self.root, self.factor) != (end.root, end.factor) or not step:
            return None
        return max(0, -((self.offset - end.offset) // step))

    def plus(self, other: ScaledElement, sign: int) -> ScaledElement | None:
        """The sum, or the difference; None if it has two roots."""
        if None not in (self.root, other.root) and self.root != other.root:
            return None
        factor = self.factor + sign * other.factor
        root = (self.root or other.root) if factor else None
        return ScaledElement(root, factor, self.offset + sign * other.offset)

    def times(self, other: ScaledElement) -> ScaledElement | None:
        """The product; None if both are unknown."""
        if other.root is not None:
            return other.times(self) if self.root is None else None
        by = other.offset
        return ScaledElement(self.root if by else None, self.factor * by, self.offset * by)


def linear(builder: GraphBuilder, value: Value, at: int) -> ScaledElement:
    """Element number `at` of a value of whole numbers, through what computes it in `builder`."""
    if value.constant is not None:
        return ScaledElement(None, 0, int(value.constant.reshape(-1)[at]))
    found = _computed(builder, builder.maker(value), at)
    return ScaledElement((value, at), 1, 0) if found is None else found


def _computed(builder: GraphBuilder, node: Node | None, at: int) -> ScaledElement | None:
    """What `node` makes of its inputs, if that is linear."""

    def of(value: Value) -> ScaledElement:
        return linear(builder, value, at if value.elements > 1 else 0)

    match node:
        case Node(op="reshape", inputs=(x,)):
            return linear(builder, x, at)
        case Node(op="cast_to", inputs=(x,)) if x.dtype in ("int32", "int64"):
            return linear(builder, x, at)
        case Node(op="concat", inputs=parts) if node.output.rank == 1:
            for part in parts:
                if at < part.elements:
                    return linear(builder, part, at)
                at -= part.elements
        case Node(op="add" | "subtract" as op, inputs=(a, b)) if _fit(node):
            return of(a).plus(of(b), 1 if op == "add" else -1)
        case Node(op="multiply", inputs=(a, b)) if _fit(node):
            return of(a).times(of(b))
    return None


def _fit(node: Node) -> bool:
    """Whether elements meet by their position, or one meets all."""
    return all(v.elements in (1, node.output.elements) for v in node.inputs)

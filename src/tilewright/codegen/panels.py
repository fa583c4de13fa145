"""What an allocation is filled with: the part of another tensor, one element from one.

alloc pad: [1, 6, 58, 8] at [0, 4 * h, 0, 0]:
  pad[0, 4 * h + i, w, c] = select(…, relu(x[0, 4 * h + i - 1, w - 1, c]), 0)
filled(alloc, {"x"})  ->  x from [0, 4 * h - 1, -1, 0] on, [1, 6, 58, 8] elements of each index
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Const, Expr, Read, Tensor, as_expr
from tilewright.expr.traversal import reads
from tilewright.nest.nodes import Alloc, Node, Store, bodies


@dataclass(frozen=True, slots=True)
class TensorPart:
    """Of a tensor: from the element `start` on, so many along each dimension."""

    tensor: Tensor
    start: tuple[Expr, ...]
    spans: tuple[int, ...]


def filled(node: Alloc, names: Collection[str]) -> list[TensorPart]:
    """The parts of tensors with these names that the elements of an allocation are made of."""
    found: dict[str, TensorPart] = {}
    for store in _stores(node.body, node.tensor.name):
        for read in reads(store.value):
            name = read.tensor.name
            if name in names and name not in found:
                part = _part(node, store, read)
                if part is not None:
                    found[name] = part
    return list(found.values())


def _part(node: Alloc, store: Store, read: Read) -> TensorPart | None:
    """What all iterations of a store read; None where an index of it is not one of the store's,
    shifted.
    """
    start, spans = [], []
    for index in read.indices:
        at = _shifted(index, store.indices)
        if at is None:
            return None
        dimension, shift = at
        span = 1 if dimension is None else node.tensor.shape[dimension]
        if not isinstance(span, int):
            return None
        start.append(as_expr(shift) if dimension is None else node.offset[dimension] + shift)
        spans.append(span)
    return TensorPart(read.tensor, tuple(start), tuple(spans))


def _shifted(index: Expr, others: tuple[Expr, ...]) -> tuple[int | None, int] | None:
    """Which of `others` an index is, and what must be added to that; no other for a number."""
    if isinstance(index, Const):
        return None, int(index.value)
    for d, other in enumerate(others):
        apart = simplify(index - other)
        if isinstance(apart, Const):
            return d, int(apart.value)
    return None


def _stores(node: Node, name: str) -> Iterator[Store]:
    """What is stored to a tensor, but not added up there."""
    if isinstance(node, Store) and node.tensor.name == name and node.reduce is None:
        yield node
    for body in bodies(node):
        yield from _stores(body, name)

"""ONNX's sequences of tensors.

    SequenceAt(SequenceInsert(SequenceConstruct(a, b), c, 1), 1)  →  c
    SequenceAt(SplitToSequence(x), i)                             →  a row of x

Where lengths and positions are known, they exist at import only. One of as many equal tensors as
sizes say is an array of them (`Rows`), and so is one of more than a few parts of a tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tilewright.expr.index.extents import mul
from tilewright.expr.operators.shapes import number
from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.call import MOST_PARTS, Items, Known, OperatorCall, Rows, Translator

FEW = range(5)  # parts that are values of their own


def construct(call: OperatorCall, *items: Value) -> Sequence[Known]:
    return [items]


def empty(call: OperatorCall) -> Sequence[Known]:
    return [()]


def _position(call: OperatorCall, at: Value | None, length: int, default: int) -> int:
    place = call.number(at, "position", default)
    if not -length <= place <= length:
        call.reject(f"position {place} of a sequence of {length}")
    return place if place >= 0 else place + length


def insert(
    call: OperatorCall, items: Items | Rows, value: Value, at: Value | None = None
) -> Sequence[Known]:
    if isinstance(items, Rows):
        if at is None:
            return [replace(items, more=(*items.more, value))]
        items = items.items(call.builder)
    place = _position(call, at, len(items), len(items))
    return [(*items[:place], value, *items[place:])]


def erase(call: OperatorCall, items: Items, at: Value | None = None) -> Sequence[Known]:
    place = _position(call, at, len(items), len(items) - 1)
    return [(*items[:place], *items[place + 1 :])]


def item(call: OperatorCall, items: Items | Rows, at: Value) -> Value:
    """Of equal types it may be chosen when it runs."""
    if isinstance(items, Rows):
        rows, index = items.array(call.builder), call.builder.reshape(at, ())
        call.check_indices(index, rows.extents[:1], rows)
        count = rows.extents[0]
        if at.is_constant and isinstance(count, int):
            return call.builder.take(rows, _position(call, at, count, 0), name=call.name)
        return call.emit("gather", rows, index, axis=0)
    if not at.is_constant and len({(v.extents, v.dtype) for v in items}) == 1:
        whole = call.builder.stacked(items, 0)
        return call.emit("gather", whole, call.builder.reshape(at, ()), axis=0)
    place = _position(call, at, len(items), 0)
    if place == len(items):
        call.reject(f"position {place} of a sequence of {len(items)}")
    return items[place]


def length(call: OperatorCall, items: Items | Rows) -> Value:
    if isinstance(items, Rows):
        return call.number_of(items.array(call.builder).extents[0])
    return call.literal(np.int64(len(items)))


def concat(call: OperatorCall, items: Items | Rows, *, axis: int, new_axis: bool = False) -> Value:
    """Joined along a dimension, or along a new one."""
    if isinstance(items, Rows):
        rows = items.array(call.builder)
        axis = call.axis(axis, rows.rank - 1 + new_axis)
        order = list(range(1, rows.rank))
        order.insert(axis, 0)
        moved = call.builder.transpose(rows, order)
        if new_axis:
            return moved
        whole, joined = moved.extents, mul(*moved.extents[axis : axis + 2])
        return call.builder.reshape(moved, (*whole[:axis], joined, *whole[axis + 2 :]))
    if not items:
        call.reject("the sequence is empty")
    axis = call.axis(axis, items[0].rank + new_axis)
    return call.builder.stacked(items, axis, call.name) if new_axis else call.joined(items, axis)


def split(
    call: OperatorCall,
    x: Value,
    given: Value | None = None,
    *,
    axis: int = 0,
    keepdims: bool = True,
) -> Sequence[Known]:
    """Parts of given sizes, or single slices, which may lose their dimension."""
    axis = call.axis(axis, x.rank)
    sizes = call.constant(given, "split")
    if (sizes is None or (sizes.shape == () and sizes == 1)) and x.extents[axis] not in FEW:
        rows = call.builder.transpose(x, [axis, *(d for d in range(x.rank) if d != axis)])
        if given is not None or keepdims:
            kept = (*x.extents[:axis], 1, *x.extents[axis + 1 :])
            rows = call.builder.reshape(rows, (x.extents[axis], *kept))
        return [Rows(rows)]
    if sizes is None or sizes.ndim == 0:
        size = 1 if sizes is None else int(sizes)
        extent = number(x.extents[axis], f"a split of {x.name}")
        if size < 1 or extent > MOST_PARTS * size:
            call.reject(f"parts of size {size} of {extent} elements: {MOST_PARTS} at most are made")
        sizes = np.array([min(size, extent - low) for low in range(0, extent, size)], np.int64)
    ends = np.cumsum(sizes).tolist()
    parts = [call.cut(x, axis, low, high) for low, high in pairwise([0, *ends])]
    if given is None and not keepdims:
        shape = (*x.extents[:axis], *x.extents[axis + 1 :])
        parts = [call.builder.reshape(p, shape) for p in parts]
    return [tuple(parts)]


SEQUENCES: dict[str, Translator] = {
    "ConcatFromSequence": concat,
    "SequenceAt": item,
    "SequenceConstruct": construct,
    "SequenceEmpty": empty,
    "SequenceErase": erase,
    "SequenceInsert": insert,
    "SequenceLength": length,
    "SplitToSequence": split,
}

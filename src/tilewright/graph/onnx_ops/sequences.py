"""ONNX's sequences of tensors: their lengths and positions are known, so they exist at import only.

SequenceAt(SequenceInsert(SequenceConstruct(a, b), c, 1), 1)  →  c
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.graph.ir import Value
from tilewright.graph.onnx_ops.call import Call, Known, Translator
from tilewright.graph.onnx_ops.recurrent_cells import cut

MOST_PARTS = 1 << 14  # of one tensor: a sequence exists at import only


def construct(call: Call) -> Sequence[Known]:
    return [tuple(call.input(i) for i in range(len(call.inputs)))]


def empty(call: Call) -> Sequence[Known]:
    return [()]


def _position(call: Call, at: int, length: int, default: int) -> int:
    given = call.constant(at, "position")
    place = default if given is None else int(given.item())
    if not -length <= place <= length:
        call.reject(f"position {place} of a sequence of {length}")
    return place if place >= 0 else place + length


def insert(call: Call) -> Sequence[Known]:
    items, value = call.sequence(0), call.input(1)
    place = _position(call, 2, len(items), len(items))
    return [(*items[:place], value, *items[place:])]


def erase(call: Call) -> Sequence[Known]:
    items = call.sequence(0)
    place = _position(call, 1, len(items), len(items) - 1)
    return [(*items[:place], *items[place + 1 :])]


def at(call: Call) -> Value:
    items = call.sequence(0)
    place = _position(call, 1, len(items), 0)
    if place == len(items):
        call.reject(f"position {place} of a sequence of {len(items)}")
    return items[place]


def length(call: Call) -> Value:
    return call.literal(np.int64(len(call.sequence(0))))


def concat(call: Call) -> Value:
    """Joined along a dimension, or along a new one."""
    items = call.sequence(0)
    if not items:
        call.reject("the sequence is empty")
    new = bool(call.attribute("new_axis", 0))
    axis = call.axis(0, items[0].rank + new)
    if new:
        items = tuple(call.builder.reshape(v, (*v.shape[:axis], 1, *v.shape[axis:])) for v in items)
    return items[0] if len(items) == 1 else call.emit("concat", *items, axis=axis)


def split(call: Call) -> Sequence[Known]:
    """Parts of given sizes, or single slices, which may lose their dimension."""
    x = call.input(0)
    axis = call.axis(0, x.rank)
    given, extent = call.constant(1, "split"), x.shape[axis]
    if given is None or given.ndim == 0:
        size = 1 if given is None else int(given)
        if size < 1 or extent > MOST_PARTS * size:
            call.reject(f"parts of size {size} of {extent} elements: {MOST_PARTS} at most are made")
    if given is None:
        sizes = [1] * extent
    elif given.ndim == 0:
        sizes = [min(size, extent - low) for low in range(0, extent, size)]
    else:
        sizes = [int(n) for n in given]
    ends = np.cumsum(sizes).tolist()
    pairs = zip(ends, sizes, strict=True)
    parts = [cut(call, x, axis, end - size, end) for end, size in pairs]
    if given is None and not call.attribute("keepdims", 1):
        shape = (*x.shape[:axis], *x.shape[axis + 1 :])
        parts = [call.builder.reshape(p, shape) for p in parts]
    return [tuple(parts)]


SEQUENCES: dict[str, Translator] = {
    "ConcatFromSequence": concat,
    "SequenceAt": at,
    "SequenceConstruct": construct,
    "SequenceEmpty": empty,
    "SequenceErase": erase,
    "SequenceInsert": insert,
    "SequenceLength": length,
    "SplitToSequence": split,
}

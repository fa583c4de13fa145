"""ONNX operators whose results are as large as data say: library functions find what there is, and
how much, and kernels do the rest with as many.

    Compress(x, c)      nonzero(c) → positions int64 [1, count];  gather(x, positions)
    Range(0, n, 1)      number(n) → a size;  as much of a constant 0, 1, 2, …

The number is a size of the graph from there on, from 0 to a most that operands give, or the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tilewright.expr.dtypes import dtype
from tilewright.expr.index.extents import ceildiv, maximum, product, sub
from tilewright.expr.nodes import Extent
from tilewright.expr.operators.shapes import Unequal, number
from tilewright.expr.sizes import most, simplified
from tilewright.expr.text import extent_text
from tilewright.graph.ir import Selection, Value
from tilewright.graph.onnx.ops.call import (
    Given,
    OperatorCall,
    Rejected,
    Translator,
    known_only,
    numpy_dtype,
)
from tilewright.graph.selections import ITEMS

TOP_BIT = np.uint64(1 << 63)


def non_zero(call: OperatorCall, x: Value) -> Value:
    """Positions [rank, count] of what is not 0, row by row; of a scalar those of a vector."""
    if not x.rank:
        x = call.builder.reshape(x, (1,))
    if x.dtype != "bool":
        x = call.emit("not_equal", x, call.literal(0, x))
    return _where(call, x)


def _where(call: OperatorCall, condition: Value) -> Value:
    """Where a bool array holds: int64 [rank, count]."""
    _, (found,) = call.builder.select(
        "nonzero",
        [condition],
        lambda count: [(condition.rank, count)],
        _elements(call, condition),
        call.name,
    )
    return found


def _elements(call: OperatorCall, x: Value) -> int:
    """The most elements that `x` may have."""
    return prod(most(e, call.builder.sizes) for e in x.extents)


def _flat(call: OperatorCall, x: Value) -> Value:
    return call.builder.reshape(x, (product(x.extents),))


def compress(call: OperatorCall, x: Value, condition: Value, *, axis: int | None = None) -> Value:
    """The elements (or slices along `axis`) where a condition holds."""
    x = _flat(call, x) if axis is None else x
    axis = call.axis(axis or 0, x.rank)
    extent, known = x.extents[axis], condition.constant
    if (condition.rank, condition.dtype) != (1, "bool"):
        call.reject(f"its condition is a vector of bools, not {condition}")
    if known is not None:
        chosen = call.literal(np.flatnonzero(known))
        call.check_indices(chosen, (extent,), x)
        if not chosen.elements:
            return call.empty((*x.shape[:axis], 0, *x.shape[axis + 1 :]), x)
        return call.emit("gather", x, chosen, axis=axis)
    if isinstance(extent, int) and most(condition.extents[0], call.builder.sizes) > extent:
        call.reject(f"its condition {condition} is longer than {x} along dimension {axis}")
    positions = call.builder.reshape(found := _where(call, condition), found.extents[1:])
    return call.emit("gather", x, positions, axis=axis)


def non_max_suppression(
    call: OperatorCall,
    boxes: Value,
    scores: Value,
    most_of_class: Value | None = None,
    overlap: Value | None = None,
    threshold: Value | None = None,
    *,
    center_point_box: int = 0,
) -> Value:
    """(batch, class, box) of the boxes that are left, the best of each class first."""
    given = [(v.rank, v.dtype) for v in (boxes, scores)]
    wrong = f"boxes are float32[batch, n, 4], scores [batch, class, n], not {boxes}, {scores}"
    if given != [(3, "float32")] * 2 or boxes.extents[2] != 4:
        call.reject(wrong)
    for a, b in ((boxes.extents[0], scores.extents[0]), (boxes.extents[1], scores.extents[2])):
        if a != b:
            raise Unequal(wrong, a, b)
    if most_of_class is None:
        return call.literal(np.empty((0, 3), np.int64))
    n = most(scores.extents[2], call.builder.sizes)
    each = n
    if most_of_class.constant is not None:
        each = max(0, min(n, int(most_of_class.constant.item())))
    classes = prod(most(e, call.builder.sizes) for e in scores.extents[:2])
    if not each * classes:
        return call.literal(np.empty((0, 3), np.int64))
    limits = [
        call.cast(call.builder.reshape(v, ()), kind)
        for v, kind in (
            (most_of_class, "int64"),
            (call.literal(np.float32(0)) if overlap is None else overlap, "float32"),
            (call.literal(np.float32(np.nan)) if threshold is None else threshold, "float32"),
        )
    ]
    _, (found,) = call.builder.select(
        "suppress",
        [boxes, scores, *limits],
        lambda count: [(count, 3)],
        each * classes,
        call.name,
        (center_point_box,),
    )
    return found


def _items(call: OperatorCall, x: Value) -> tuple[Value, int]:
    """`x` as one of ITEMS in the same order, and as which."""
    if numpy_dtype(x).kind not in "iub":
        wide = "float64" if x.dtype == "float64" else "float32"
        return call.cast(x, wide), ITEMS.index(wide)
    if x.dtype == "uint64":
        x = call.emit("add", x, call.literal(TOP_BIT))  # so that its order is that of int64
    return call.cast(x, "int64"), ITEMS.index("int64")


def unique(
    call: OperatorCall, x: Value, *, axis: int | None = None, sorted: bool = True
) -> Sequence[Value]:
    """Elements, or slices along `axis`, that differ; where each is first, which each was, how often
    each is there.
    """
    x = _flat(call, x) if axis is None else x
    axis = call.axis(axis or 0, x.rank)
    front = call.builder.transpose(x, (axis, *(d for d in range(x.rank) if d != axis)))
    rows, items = _items(call, front)
    n, *rest = rows.extents
    rows = call.builder.reshape(rows, (n, product(rest)))
    _, (first, which, often) = call.builder.select(
        "unique",
        [rows],
        lambda count: [(count,), (n,), (count,)],
        most(n, call.builder.sizes),
        call.name,
        (items, int(sorted)),
    )
    return call.emit("gather", x, first, axis=axis), first, which, often


def top_k(
    call: OperatorCall, x: Value, k: Given, *, axis: int = -1, largest: bool = True
) -> Sequence[Value]:
    """Values and int64 indices, in order (also where `sorted` is 0)."""
    axis = call.axis(axis, x.rank)
    count = _count(call, k, x.extents[axis])
    if count == 0:
        shape = (*x.shape[:axis], 0, *x.shape[axis + 1 :])
        return call.empty(shape, x), call.literal(np.empty(shape, np.int64))
    if isinstance(count, int) and not x.varies:
        indices = call.emit("top_indices", x, k=count, axis=axis, largest=largest)
    else:
        indices = _top_rows(call, x, count, axis, largest)
    return call.emit("gather_elements", x, indices, axis=axis), indices


def _count(call: OperatorCall, k: Given, extent: Extent) -> Extent:
    """How many of so many elements."""
    bound = most(extent, call.builder.sizes)
    if not isinstance(k, Value) or k.is_constant:
        count = int(call.known(k, "k").item())
        if not 0 <= count <= bound:
            call.reject(f"its k is {count}, of {extent_text(extent)} elements")
        return count
    if call.depends(k):
        return call.extents(k, "k")[0]
    return call.size(k, bound, f"k is not in 0..{extent_text(extent)}", extent)


def _top_rows(call: OperatorCall, x: Value, count: Extent, axis: int, largest: bool) -> Value:
    """The indices along `axis` that a library function finds, row by row."""
    order = (*(d for d in range(x.rank) if d != axis), axis)
    keys, items = _items(call, call.builder.transpose(x, order))
    *outer, n = keys.extents
    rows = product(outer)
    (found,) = call.builder.control(
        Selection(
            "top_k",
            (Value(call.name, (rows, count), "int64"),),
            (items, int(largest), count),
            limit=n,
            reason=f"{call.op_type} ({call.name}): k is not in 0..{extent_text(n)}",
        ),
        [call.builder.reshape(keys, (rows, n))],
        call.name,
    )
    placed = call.builder.reshape(found, (*outer, count))
    return call.builder.transpose(placed, [order.index(d) for d in range(x.rank)])


def element(call: OperatorCall, given: Given, at: int) -> Value:
    """Element number `at` of a vector, int64 []."""
    if not isinstance(given, Value):
        return call.literal(np.int64(np.asarray(given).reshape(-1)[at]))
    flat = call.builder.reshape(given, (given.elements,))
    return call.cast(call.builder.reshape(call.builder.cut(flat, 0, at, at + 1), ()), "int64")


def slice_between(call: OperatorCall, x: Value, start: Value, end: Value, axis: int) -> Value:
    """`x[start:end]` along `axis`, of which data decide how many there are."""
    extent = x.extents[axis]
    whole, zero = call.number_of(extent), call.literal(np.int64(0))

    def within(i: Value) -> Value:
        from_end = call.emit("add", i, whole)
        i = call.emit("where", call.emit("less", i, zero), from_end, i)
        return call.emit("minimum", call.emit("maximum", i, zero), whole)

    first = within(start)
    wanted = call.emit("maximum", call.emit("subtract", within(end), first), zero)
    count = call.size(wanted, most(extent, call.builder.sizes))
    at = call.emit("add", call.steps(count), first)
    return call.emit("gather", x, at, axis=axis)


def scatter_rows(call: OperatorCall, x: Value, indices: Value, updates: Value) -> Value:
    """ScatterND of arrays with sizes: indices [n, depth] are rows of `x`, whose first `depth`
    dimensions become one, updates [n, *the others].
    """
    count, depth = indices.extents
    depth, reshape = number(depth, indices.name), call.builder.reshape
    rows, width = (product(part) for part in (x.extents[:depth], x.extents[depth:]))
    (found,) = call.builder.control(
        Selection("scatter", (Value(call.name, (rows, width), x.dtype),), (dtype(x.dtype).bytes,)),
        [
            reshape(x, (rows, width)),
            _rows_of(call, indices, x.extents[:depth]),
            reshape(updates, (count, width)),
        ],
        call.name,
    )
    return reshape(found, x.extents)


def _rows_of(call: OperatorCall, indices: Value, extents: Sequence[Extent]) -> Value:
    """The numbers of the rows that indices [n, depth] into dimensions of these extents are for,
    int64 [n]; negative where one is outside.
    """
    zero, at = call.literal(np.int64(0)), call.cast(indices, "int64")
    row, inside = zero, call.literal(np.array(True))
    for d, extent in enumerate(extents):
        column = call.builder.reshape(call.cut(at, 1, d, d + 1), indices.extents[:1])
        whole = call.number_of(extent)
        from_end = call.emit("add", column, whole)
        column = call.emit("where", call.emit("less", column, zero), from_end, column)
        for test in (call.emit("less", column, whole), call.emit("greater_equal", column, zero)):
            inside = call.emit("logical_and", inside, test)
        row = call.emit("add", call.emit("multiply", row, whole), column)
    return call.emit("where", inside, row, call.literal(np.int64(-1)))


def range_(call: OperatorCall, start: Value, limit: Value, delta: Value) -> Value:
    """As many numbers as are known, though the first may not be; else as many as data say."""
    if call.depends(start, limit) and delta.constant is not None:
        return _counted(call, start, limit, int(delta.constant.item()))
    if numpy_dtype(start).kind in "iu" and delta.constant is not None:
        (first,), (end,) = call.numbers(start, "start"), call.numbers(limit, "limit")
        step = int(delta.constant.item())
        count = first.steps_to(end, step)
        if count:
            return call.cast(call.progression(first, count, step), start.dtype)
        if count is None:
            return _steps_of(call, start, limit, delta)
    if all(v.is_constant for v in (start, limit, delta)):
        return known_only(call, start, limit, delta)
    return _steps_of(call, start, limit, delta)


def _counted(call: OperatorCall, start: Value, limit: Value, step: int) -> Value:
    """Of as many integers as sizes say: the beginning of so many as there may be, and the first."""
    (first,), (end,) = call.extents(start, "start"), call.extents(limit, "limit")
    sizes = call.builder.sizes
    if step < 1:
        call.reject(f"steps of {step} to a limit over sizes")
    count = simplified(maximum(ceildiv(sub(end, first), step), 0), sizes)
    steps = call.steps(count, start)
    if step != 1:
        steps = call.emit("multiply", steps, call.literal(step, start))
    return call.emit("add", steps, start)


def _steps_of(call: OperatorCall, start: Value, limit: Value, delta: Value) -> Value:
    """`start`, `start + delta`, …, of which data decide how many there are."""
    longest = call.limits.get(call.name)
    if longest is None:
        open_ = next(v for v in (limit, start, delta) if not v.is_constant)
        reason = f"how many elements {call.name} has depends on data"
        raise Rejected(reason, open_, call.name)
    start, limit, delta = (call.builder.reshape(v, ()) for v in (start, limit, delta))
    distance = call.cast(call.emit("subtract", limit, start), "float64")
    steps = call.emit("divide", distance, call.cast(delta, "float64"))
    least = call.literal(np.float64(0))
    wanted = call.cast(call.emit("maximum", call.emit("ceil", steps), least), "int64")
    reason = f"it has more than the {longest} elements that {call.limit_of(call.name)} allows"
    count = call.size(wanted, longest, reason)
    numbers = call.emit("multiply", call.steps(count, start), delta)
    return call.emit("add", numbers, start)


SELECTION: dict[str, Translator] = {
    "Compress": compress,
    "NonMaxSuppression": non_max_suppression,
    "NonZero": non_zero,
    "Range": range_,
    "TopK": top_k,
    "Unique": unique,
}

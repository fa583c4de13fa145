"""ONNX operators that gather, scatter, sort and count along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper

from tilewright.expr.index.extents import product
from tilewright.expr.operators.shapes import number
from tilewright.expr.sizes import least
from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.call import OperatorCall, Translator, known_only, numpy_dtype
from tilewright.graph.onnx.ops.selection import scatter_rows


def gather_nd(call: OperatorCall, x: Value, indices: Value, *, batch_dims: int = 0) -> Value:
    depth = number(indices.extents[-1], indices.name)
    call.check_indices(indices, x.extents[batch_dims : batch_dims + depth], x)
    return call.emit("gather_nd", x, indices, batch_dims=batch_dims)


def scatter_elements(
    call: OperatorCall,
    x: Value,
    indices: Value,
    updates: Value,
    *,
    axis: int = 0,
    reduction: str = "none",
) -> Value:
    axis = call.axis(axis, x.rank)
    call.check_indices(indices, (x.extents[axis],), x)
    return call.emit("scatter_elements", x, indices, updates, axis=axis, reduction=reduction)


def scatter_nd(
    call: OperatorCall, x: Value, indices: Value, updates: Value, *, reduction: str = "none"
) -> Value:
    """Indices [*q, depth] and updates [*q, *rest] become [n, depth] and [n, *rest]."""
    outer, depth = indices.extents[:-1], number(indices.extents[-1], indices.name)
    call.check_indices(indices, x.extents[:depth], x)
    at = call.builder.reshape(indices, (product(outer), depth))
    rows = call.builder.reshape(updates, (product(outer), *x.extents[depth:]))
    if reduction == "none" and any(v.varies for v in (x, at, rows)):
        return scatter_rows(call, x, at, rows)
    return call.emit("scatter_nd", x, at, rows, reduction=reduction)


def tensor_scatter(
    call: OperatorCall,
    x: Value,
    update: Value,
    places: Value | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Value:
    """Writes into a cache at a place given for each batch; the beginning when none is given."""
    starts = places or call.literal(np.zeros(x.shape[0], np.int64))
    axis = call.axis(axis, x.rank)
    if starts.constant is not None and starts.elements and mode != "circular":
        low, high = int(starts.constant.min()), int(starts.constant.max())
        if low < 0 or high + update.shape[axis] > x.shape[axis]:
            call.reject(f"it writes {update} at {low} to {high}, outside of {x}")
    return call.emit("write_slice", x, update, starts, axis=axis, circular=mode == "circular")


def one_hot(
    call: OperatorCall, indices: Value, depth: Value, values: Value, *, axis: int = -1
) -> Value:
    """Indices against 0 .. depth - 1 along a new axis; negative ones count from the end."""
    count = int(call.known(depth, "depth").item())
    axis = call.axis(axis, indices.rank + 1)
    indices = call.cast(indices, "int64")
    low = call.emit("less", indices, call.literal(np.int64(0)))
    wrapped = call.emit("add", indices, call.literal(np.int64(count)))
    index = call.emit("where", low, wrapped, indices)
    column = call.builder.reshape(index, (*index.extents[:axis], 1, *index.extents[axis:]))
    steps = np.arange(*call.table(count)).reshape((count,) + (1,) * (index.rank - axis))
    hot = call.emit("equal", column, call.literal(steps))
    off, on = (call.builder.reshape(call.cut(values, 0, i, i + 1), ()) for i in (0, 1))
    return call.emit("where", hot, on, off)


def hardmax(call: OperatorCall, x: Value, *, axis: int | None = None) -> Value:
    """1 at the first maximum along `axis`, 0 elsewhere; before opset 13 from `axis` on."""
    older = call.opset < 13
    axis = call.axis((1 if older else -1) if axis is None else axis, x.rank)
    flat = x
    if older:
        flat = call.builder.reshape(x, (product(x.extents[:axis]), product(x.extents[axis:])))
        axis = 1
    top = call.emit("argmax", flat, axis=axis, keepdims=True, select_last=False)
    steps = np.arange(*call.table(number(flat.extents[axis], flat.name))).reshape(
        (-1,) + (1,) * (flat.rank - axis - 1)
    )
    hot = call.emit("equal", top, call.literal(steps))
    return call.builder.reshape(call.cast(hot, x.dtype), x.extents)


def trilu(call: OperatorCall, x: Value, k: Value | None = None, *, upper: bool = True) -> Value:
    if k is None or k.is_constant:
        return call.emit("triangle", x, offset=call.number(k, "k", 0), upper=upper)
    rows, columns = call.table(*x.shape[-2:])
    ahead = call.literal(np.arange(columns) - np.arange(rows)[:, None], k)
    kept = call.emit("greater_equal" if upper else "less_equal", ahead, call.builder.reshape(k, ()))
    return call.emit("where", kept, x, call.literal(0, x))


def cumulative(product: bool) -> Translator:
    def translate(
        call: OperatorCall, x: Value, axis: Value, *, exclusive: bool = False, reverse: bool = False
    ) -> Value:
        at = call.axis(int(call.known(axis, "axis").item()), x.rank)
        options = {"product": product, "exclusive": exclusive, "reverse": reverse}
        return call.emit("cumulative", x, axis=at, **options)

    return translate


def reverse_sequence(
    call: OperatorCall, x: Value, lengths: Value, *, batch_axis: int = 1, time_axis: int = 0
) -> Value:
    known, longest = lengths.constant, x.extents[time_axis]
    most_known = least(longest, call.builder.sizes)
    if known is not None and not ((known >= 0) & (known <= most_known)).all():
        call.reject(f"its lengths {known} are not within the {longest} elements of {x}")
    return call.emit("reverse_sequence", x, lengths, batch_axis=batch_axis, time_axis=time_axis)


def eye_like(call: OperatorCall, x: Value, *, dtype: int | None = None, k: int = 0) -> Value:
    kind = numpy_dtype(x) if dtype is None else onnx.helper.tensor_dtype_to_np_dtype(dtype)
    if x.rank != 2:
        call.reject(f"its input {x} is no matrix")
    rows, columns = call.table(*x.shape)
    return call.literal(np.eye(rows, columns, k=k, dtype=kind))


def tf_idf(
    call: OperatorCall,
    x: Value,
    *,
    mode: str,
    min_gram_length: int,
    max_gram_length: int,
    max_skip_count: int,
    ngram_counts: Sequence[int],
    ngram_indexes: Sequence[int],
    pool_int64s: Sequence[int] = (),
    weights: Sequence[float] = (),
) -> Value:
    """Counts of the n-grams of a pool of integers; every gram has a column of the result."""
    pool = pool_int64s
    if not pool:
        call.reject("a pool of strings is not supported")
    rows = call.builder.reshape(x, (1, x.elements)) if x.rank < 2 else x
    parts, number, columns = [], 0, list(ngram_indexes)
    used: list[int] = []
    for n, (low, high) in enumerate(pairwise([*ngram_counts, len(pool)]), start=1):
        grams = np.array(pool[low:high], np.int64).reshape(-1, n)
        mine, number = columns[number : number + len(grams)], number + len(grams)
        if min_gram_length <= n <= max_gram_length and len(grams):
            table = call.literal(grams)
            parts.append(call.emit("count_grams", rows, table, skips=max_skip_count))
            used += mine
    if not parts or min(columns) < 0:
        call.reject("no gram of its pool has the lengths asked for, and a column of the result")
    width = max(columns) + 1
    place = np.zeros(call.table(len(used), width), np.float32)
    place[np.arange(len(used)), used] = 1
    y = call.emit("matmul", call.joined(parts, 1), call.literal(place))
    if mode == "IDF":
        y = call.emit("minimum", y, call.literal(np.float32(1)))
    if mode != "TF" and weights:
        scale = np.zeros(width, np.float32)
        scale[columns] = np.array(weights, np.float32)
        y = call.emit("multiply", y, call.literal(scale))
    return call.builder.reshape(y, (*x.shape[:-1], width))


def constant_of_shape(call: OperatorCall, shape: Value, *, value: Any = None) -> Value:
    """One number, of a shape that is not known."""
    if shape.is_constant:
        return known_only(call, shape)
    array = np.zeros(1, np.float32) if value is None else onnx.numpy_helper.to_array(value)
    wanted = call.limited(shape, "shape")
    return call.emit("broadcast_to", call.literal(array.reshape(())), shape=wanted)


INDEXING: dict[str, Translator] = {
    "ConstantOfShape": constant_of_shape,
    "CumProd": cumulative(product=True),
    "CumSum": cumulative(product=False),
    "Det": "determinant",
    "EyeLike": eye_like,
    "GatherND": gather_nd,
    "Hardmax": hardmax,
    "MelWeightMatrix": known_only,
    "OneHot": one_hot,
    "ReverseSequence": reverse_sequence,
    "Scatter": scatter_elements,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "TensorScatter": tensor_scatter,
    "TfIdfVectorizer": tf_idf,
    "Trilu": trilu,
}

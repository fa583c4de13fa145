"""ONNX operators that gather, scatter, sort and count along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np
import onnx

from tilewright.graph.ir import Array, Value
from tilewright.graph.onnx_ops.call import Call, Translator, numpy_dtype


def gather_nd(call: Call) -> Value:
    x, indices = call.input(0), call.input(1)
    batch = int(call.attribute("batch_dims", 0))
    call.check_indices(indices, x.shape[batch : batch + indices.shape[-1]], x)
    return call.emit("gather_nd", x, indices, batch_dims=batch)


def scatter_elements(call: Call) -> Value:
    x, axis = call.input(0), call.axis(0, call.input(0).rank)
    call.check_indices(call.input(1), (x.shape[axis],), x)
    return call.emit(
        "scatter_elements",
        x,
        call.input(1),
        call.input(2),
        axis=axis,
        reduction=call.attribute("reduction", b"none").decode(),
    )


def scatter_nd(call: Call) -> Value:
    """Indices [*q, depth] and updates [*q, *rest] become [n, depth] and [n, *rest]."""
    x, indices, updates = call.input(0), call.input(1), call.input(2)
    *outer, depth = indices.shape
    call.check_indices(indices, x.shape[:depth], x)
    reduction = call.attribute("reduction", b"none").decode()
    return call.emit(
        "scatter_nd",
        x,
        call.builder.reshape(indices, (prod(outer), depth)),
        call.builder.reshape(updates, (prod(outer), *x.shape[depth:])),
        reduction=reduction,
    )


def tensor_scatter(call: Call) -> Value:
    """Writes into a cache at a place given for each batch; the beginning when none is given."""
    x, update = call.input(0), call.input(1)
    starts = call.optional(2) or call.literal(np.zeros(x.shape[0], np.int64))
    mode = call.attribute("mode", b"linear").decode()
    axis = call.axis(-2, x.rank)
    if starts.constant is not None and starts.elements and mode != "circular":
        low, high = int(starts.constant.min()), int(starts.constant.max())
        if low < 0 or high + update.shape[axis] > x.shape[axis]:
            call.reject(f"it writes {update} at {low} to {high}, outside of {x}")
    return call.emit("write_slice", x, update, starts, axis=axis, circular=mode == "circular")


def one_hot(call: Call) -> Value:
    """Indices against 0 .. depth - 1 along a new axis; negative ones count from the end."""
    indices, values = call.input(0), call.input(2)
    depth = int(call.known(1, "depth").item())
    axis = call.normal_axis(int(call.attribute("axis", -1)), indices.rank + 1)
    if indices.dtype != "int64":
        indices = call.emit("cast_to", indices, dtype="int64")
    low = call.emit("less", indices, call.literal(np.int64(0)))
    wrapped = call.emit("add", indices, call.literal(np.int64(depth)))
    index = call.emit("where", low, wrapped, indices)
    column = call.builder.reshape(index, (*index.shape[:axis], 1, *index.shape[axis:]))
    steps = np.arange(*call.table(depth)).reshape((depth,) + (1,) * (index.rank - axis))
    hot = call.emit("equal", column, call.literal(steps))
    off, on = (call.element(values, i) for i in (0, 1))
    return call.emit("where", hot, on, off)


def hardmax(call: Call) -> Value:
    """1 at the first maximum along `axis`, 0 elsewhere; before opset 13 from `axis` on."""
    x = call.input(0)
    axis = call.axis(-1 if call.opset >= 13 else 1, x.rank)
    flat = x
    if call.opset < 13:
        flat = call.builder.reshape(x, (prod(x.shape[:axis]), prod(x.shape[axis:])))
        axis = 1
    top = call.emit("argmax", flat, axis=axis, keepdims=True, select_last=False)
    steps = np.arange(*call.table(flat.shape[axis])).reshape((-1,) + (1,) * (flat.rank - axis - 1))
    hot = call.emit("equal", top, call.literal(steps))
    return call.builder.reshape(call.emit("cast_to", hot, dtype=x.dtype), x.shape)


def top_k(call: Call) -> Sequence[Value]:
    """Values and int64 indices, in order (also where `sorted` is 0)."""
    x = call.input(0)
    known = call.constant(1, "k") if len(call.inputs) > 1 else None
    k = int(call.attribute("k", 0)) if known is None else int(known.item())
    axis = call.axis(-1, x.rank)
    if k == 0:
        shape = (*x.shape[:axis], 0, *x.shape[axis + 1 :])
        return call.empty(shape, x), call.literal(np.empty(shape, np.int64))
    largest = bool(call.attribute("largest", 1))
    indices = call.emit("top_indices", x, k=k, axis=axis, largest=largest)
    return call.emit("gather_elements", x, indices, axis=axis), indices


def trilu(call: Call) -> Value:
    offset = call.constant(1, "k")
    return call.emit(
        "triangle",
        call.input(0),
        offset=0 if offset is None else int(offset.item()),
        upper=bool(call.attribute("upper", 1)),
    )


def cumulative(product: bool) -> Translator:
    def translate(call: Call) -> Value:
        x = call.input(0)
        return call.emit(
            "cumulative",
            x,
            axis=call.normal_axis(int(call.known(1, "axis").item()), x.rank),
            product=product,
            exclusive=bool(call.attribute("exclusive", 0)),
            reverse=bool(call.attribute("reverse", 0)),
        )

    return translate


def reverse_sequence(call: Call) -> Value:
    x, lengths = call.input(0), call.input(1)
    longest = x.shape[int(call.attribute("time_axis", 0))]
    if (
        lengths.constant is not None
        and not ((lengths.constant >= 0) & (lengths.constant <= longest)).all()
    ):
        call.reject(f"its lengths {lengths.constant} are not within the {longest} elements of {x}")
    return call.emit(
        "reverse_sequence",
        x,
        lengths,
        batch_axis=int(call.attribute("batch_axis", 1)),
        time_axis=int(call.attribute("time_axis", 0)),
    )


def compress(call: Call) -> Value:
    """The elements (or slices along `axis`) where a condition holds that is known at import."""
    x = call.input(0)
    chosen = call.literal(np.flatnonzero(call.known(1, "condition")))
    if call.attribute("axis") is None:
        x = call.builder.reshape(x, (x.elements,))
    axis = call.axis(0, x.rank)
    call.check_indices(chosen, (x.shape[axis],), x)
    if not chosen.elements:
        return call.empty((*x.shape[:axis], 0, *x.shape[axis + 1 :]), x)
    return call.emit("gather", x, chosen, axis=axis)


def eye_like(call: Call) -> Value:
    x = call.input(0)
    number = call.attribute("dtype")
    kind = numpy_dtype(x) if number is None else onnx.helper.tensor_dtype_to_np_dtype(number)
    if x.rank != 2:
        call.reject(f"its input {x} is no matrix")
    rows, columns = call.table(*x.shape)
    return call.literal(np.eye(rows, columns, k=int(call.attribute("k", 0)), dtype=kind))


def tf_idf(call: Call) -> Value:
    """Counts of the n-grams of a pool of integers; every gram has a column of the result."""
    x = call.input(0)
    pool = call.attribute("pool_int64s")
    if not pool:
        call.reject("a pool of strings is not supported")
    least, most = (int(call.attribute(f"{m}_gram_length")) for m in ("min", "max"))
    rows = call.builder.reshape(x, (1, x.elements)) if x.rank < 2 else x
    parts, number, columns = [], 0, list(call.attribute("ngram_indexes"))
    used: list[int] = []
    starts = [*call.attribute("ngram_counts"), len(pool)]
    for n, (low, high) in enumerate(pairwise(starts), start=1):
        grams = np.array(pool[low:high], np.int64).reshape(-1, n)
        mine, number = columns[number : number + len(grams)], number + len(grams)
        if least <= n <= most and len(grams):
            skips = int(call.attribute("max_skip_count"))
            parts.append(call.emit("count_grams", rows, call.literal(grams), skips=skips))
            used += mine
    if not parts or min(columns) < 0:
        call.reject("no gram of its pool has the lengths asked for, and a column of the result")
    width = max(columns) + 1
    place = np.zeros(call.table(len(used), width), np.float32)
    place[np.arange(len(used)), used] = 1
    counts = parts[0] if len(parts) == 1 else call.emit("concat", *parts, axis=1)
    y = call.emit("matmul", counts, call.literal(place))
    mode, weights = call.attribute("mode").decode(), call.attribute("weights")
    if mode == "IDF":
        y = call.emit("minimum", y, call.literal(np.float32(1)))
    if mode != "TF" and weights:
        scale = np.zeros(width, np.float32)
        scale[columns] = np.array(weights, np.float32)
        y = call.emit("multiply", y, call.literal(scale))
    return call.builder.reshape(y, (*x.shape[:-1], width))


def determinant(call: Call) -> Value:
    return call.emit("determinant", call.input(0))


def known_only(call: Call) -> Value:
    """Operators whose inputs decide the shape of the result: they are evaluated at import."""
    values: list[Array | None] = [call.constant(i, f"input {i}") for i in range(len(call.inputs))]
    call.reject(f"it could not be evaluated on {values}")


INDEXING: dict[str, Translator] = {
    "Compress": compress,
    "ConstantOfShape": known_only,
    "CumProd": cumulative(product=True),
    "CumSum": cumulative(product=False),
    "Det": determinant,
    "EyeLike": eye_like,
    "GatherND": gather_nd,
    "Hardmax": hardmax,
    "MelWeightMatrix": known_only,
    "OneHot": one_hot,
    "Range": known_only,
    "ReverseSequence": reverse_sequence,
    "Scatter": scatter_elements,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "TensorScatter": tensor_scatter,
    "TfIdfVectorizer": tf_idf,
    "TopK": top_k,
    "Trilu": trilu,
}

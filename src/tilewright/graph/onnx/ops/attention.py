"""onnxruntime's attention operators: heads, masks, rotary positions, and outputs for a cache.

    scores = q kᵀ · scale + masks          [batch, heads, queries, keys]
    y = softmax(scores) v                  [batch, queries, heads · v's head size]

Masks are integers there, and what is left out gets a large negative number instead of -∞. Keys and
values of earlier calls are put before those of this one; a buffer that is longer than what there is
of them is not taken: a *state* is one in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import ml_dtypes
import numpy as np

from tilewright.expr.index.extents import add, mul, sub
from tilewright.expr.nodes import Extent
from tilewright.expr.operators.shapes import Unequal, number
from tilewright.expr.tensors import canonical
from tilewright.expr.text import extent_text
from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.call import Known, OperatorCall, numpy_dtype
from tilewright.graph.onnx.ops.quantised import matmul

LENGTHS = (
    "seqlens_k is not the position of the last new element: past_key and past_value must have as "
    "many rows as there are"
)
LEFT_OUT = -10000.0  # what onnxruntime adds to a score that its mask leaves out


@dataclass(frozen=True, slots=True)
class Scores:
    """What is done to products of queries and keys: `added` broadcast to them, after a soft limit;
    `causal` keys are at most as far on as their query, and less than `window` behind it, if that is
    positive. `sink` [heads] is a score without a value.
    """

    scale: float
    added: tuple[Value, ...] = ()
    causal: bool = False
    window: int = -1
    softcap: float = 0.0
    sink: Value | None = None


def attend(call: OperatorCall, q: Value, k: Value, v: Value, how: Scores) -> tuple[Value, Value]:
    """The result [batch, queries, heads · size] and the scores, for q, k, v [batch, heads, ..].

    Where q has more heads than k and v, several of them next to each other share one of these:
    their rows are multiplied together.
    """
    batch, heads, queries, size = q.extents
    shared, keys = k.extents[1], k.extents[2]
    reshape, each = call.builder.reshape, number(heads, q.name) // number(shared, k.name)
    if each > 1 and not isinstance(queries, int):
        return _attend_in_turns(call, q, k, v, how)
    rows = reshape(q, (batch, shared, heads // shared * queries, size))
    scores = call.emit("matmul", rows, call.builder.transpose(k, (0, 1, 3, 2)))
    scores = _scored(call, reshape(scores, (batch, heads, queries, keys)), size, how, how.added)
    if how.causal and (queries != 1 or how.window > 0):
        scores = _kept_ones(call, scores, _seen(call, queries, keys, how.window))
    shares = _softmax(call, scores, how.sink, (1, heads, 1, 1))
    shares = reshape(shares, (batch, shared, heads // shared * queries, keys))
    y = reshape(call.emit("matmul", shares, v), (batch, heads, queries, v.extents[3]))
    y = call.builder.transpose(y, (0, 2, 1, 3))
    return reshape(y, (batch, queries, heads * v.extents[3])), scores


def _attend_in_turns(
    call: OperatorCall, q: Value, k: Value, v: Value, how: Scores
) -> tuple[Value, Value]:
    """The same of as many queries as a size says, whose heads take turns: so that no row's number
    is divided by the size. Scores are [batch, shared, queries, each, keys].
    """
    batch, heads, queries, size = q.extents
    shared, keys = k.extents[1], k.extents[2]
    reshape, each = call.builder.reshape, number(heads, q.name) // number(shared, k.name)

    def in_turns(x: Value) -> Value:
        first, count, rows, width = x.extents
        if count == 1:
            return reshape(x, (first, 1, rows, 1, width))
        apart = reshape(x, (first, shared, each, rows, width))
        return call.builder.transpose(apart, (0, 1, 3, 2, 4))

    together = (batch, shared, canonical(mul(queries, each)))
    rows = reshape(in_turns(q), (*together, size))
    scores = call.emit("matmul", rows, call.builder.transpose(k, (0, 1, 3, 2)))
    scores = reshape(scores, (batch, shared, queries, each, keys))
    scores = _scored(call, scores, size, how, [in_turns(bias) for bias in how.added])
    if how.causal:
        seen = _seen(call, queries, keys, how.window)
        scores = _kept_ones(call, scores, reshape(seen, (queries, 1, keys)))
    shares = _softmax(call, scores, how.sink, (1, shared, 1, each, 1))
    y = call.emit("matmul", reshape(shares, (*together, keys)), v)
    y = reshape(y, (batch, shared, queries, each, v.extents[3]))
    y = call.builder.transpose(y, (0, 2, 1, 3, 4))
    return reshape(y, (batch, queries, heads * v.extents[3])), scores


def _scored(
    call: OperatorCall, scores: Value, size: Extent, how: Scores, added: Sequence[Value]
) -> Value:
    """Products, scaled, within a soft limit, and what is added to them."""
    scale = how.scale or 1 / sqrt(number(size, "a head"))
    scores = call.emit("multiply", scores, call.literal(scale, scores))
    if how.softcap:
        limit = call.literal(how.softcap, scores)
        scores = call.emit("multiply", call.emit("tanh", call.emit("divide", scores, limit)), limit)
    for bias in added:
        scores = call.emit("add", scores, bias)
    return scores


def _kept_ones(call: OperatorCall, scores: Value, kept: Value) -> Value:
    """`scores` where a key is kept, as low as they can be elsewhere."""
    limits = ml_dtypes.finfo(numpy_dtype(scores))  # type: ignore[no-untyped-call]
    return call.emit("where", kept, scores, call.literal(limits.min, scores))


def _seen(call: OperatorCall, queries: Extent, keys: Extent, window: int) -> Value:
    """Which keys [queries, keys] come no later than their query, nor too far before it."""
    if isinstance(queries, int) and isinstance(keys, int):
        call.table(queries, keys)
        ahead = np.arange(keys) - np.arange(keys - queries, keys)[:, None]
        return call.literal((ahead <= 0) & ((ahead > -window) if window > 0 else True))
    first = canonical(sub(keys, queries))
    ends = call.steps(keys)
    places = call.cut(ends, 0, first, keys)
    distance = call.emit("subtract", ends, call.builder.reshape(places, (queries, 1)))
    kept = call.emit("less_equal", distance, call.literal(0, distance))
    if window <= 0:
        return kept
    near = call.emit("greater", distance, call.literal(-window, distance))
    return call.emit("logical_and", kept, near)


def _softmax(
    call: OperatorCall, scores: Value, sink: Value | None, shape: tuple[Extent, ...]
) -> Value:
    """Along the last dimension, with a score more that is a head's own; they have this shape."""
    last = scores.rank - 1
    if sink is None:
        return call.emit("softmax", scores, axis=last)
    column = call.builder.reshape(call.cast(sink, scores.dtype), shape)
    column = call.emit("broadcast_to", column, shape=(*scores.extents[:-1], 1))
    whole = call.emit("softmax", call.joined([scores, column], last), axis=last)
    return call.cut(whole, last, 0, scores.extents[-1])


def split_heads(call: OperatorCall, x: Value, count: int) -> Value:
    """[batch, length, heads · size] → [batch, heads, length, size]."""
    batch, length, width = x.extents
    x = call.builder.reshape(x, (batch, length, count, width // count))
    return call.builder.transpose(x, (0, 2, 1, 3))


def mask_of(call: OperatorCall, mask: Value, like: Value, keys: Extent, low: float) -> Value:
    """What is added to scores: `low` where an integer `mask` leaves keys out.

    A mask is [batch, keys], [batch, queries, keys], or one of the keys' ends [batch], after which
    their beginnings may follow.
    """
    batch = like.extents[0]
    reshape = call.builder.reshape
    if mask.rank == 1 and mask.extents[0] in (batch, canonical(mul(batch, 2))):
        steps = call.steps(keys, mask)
        ends = reshape(call.cut(mask, 0, 0, batch), (batch, 1, 1, 1))
        kept = call.emit("less", steps, ends)
        if mask.extents[0] != batch:
            starts = reshape(call.cut(mask, 0, batch, canonical(mul(batch, 2))), (batch, 1, 1, 1))
            kept = call.emit("logical_and", kept, call.emit("greater_equal", steps, starts))
    elif mask.rank in (2, 3):
        shape = (mask.extents[0], 1, *((1,) if mask.rank == 2 else ()), *mask.extents[1:])
        kept = call.emit("greater", reshape(mask, shape), call.literal(0, mask))
    else:
        call.reject(f"a mask {mask} is not supported")
    return call.emit("where", kept, call.literal(0.0, like), call.literal(low, like))


def _refuse(call: OperatorCall, **given: object) -> None:
    """Refuse inputs and options that are given."""
    for name, value in given.items():
        if value is not None and value is not False:
            call.reject(f"its {name} is not supported")


def _some(past: Value | None) -> Value | None:
    """What is there of earlier calls, if there may be any."""
    return None if past is not None and 0 in past.extents else past


def _after(call: OperatorCall, past: Value | None, x: Value) -> Value:
    """`x` after what is there of earlier calls; both [batch, heads, length, size]."""
    return x if past is None else call.joined([past, x], 2)


def attention(
    call: OperatorCall,
    x: Value,
    weights: Value,
    bias: Value | None = None,
    mask: Value | None = None,
    past: Value | None = None,
    attention_bias: Value | None = None,
    past_sequence_length: Value | None = None,
    *,
    num_heads: int,
    unidirectional: bool = False,
    qkv_hidden_sizes: Sequence[int] = (),
    scale: float = 0.0,
    mask_filter_value: float = LEFT_OUT,
    do_rotary: bool = False,
    past_present_share_buffer: bool = False,
) -> Sequence[Known]:
    """Self-attention with its projection; the keys and values are one output, [2, ...]."""
    _refuse(
        call,
        past_sequence_length=past_sequence_length,
        do_rotary=do_rotary,
        past_present_share_buffer=past_present_share_buffer,
    )
    total = matmul(call, x, weights)
    total = total if bias is None else call.emit("add", total, bias)
    sizes = qkv_hidden_sizes or (weights.shape[1] // 3,) * 3
    parts, low = [], 0
    for size in sizes:
        part = call.cut(total, 2, low, low + size)
        parts.append(split_heads(call, part, num_heads))
        low += size
    q, k, v = parts
    past = _some(past)
    if past is not None:
        k, v = (_after(call, call.builder.take(past, i), p) for i, p in enumerate((k, v)))
    added = [] if attention_bias is None else [attention_bias]
    if mask is not None:
        added.append(mask_of(call, mask, q, k.extents[2], mask_filter_value))
    y, _scores = attend(call, q, k, v, Scores(scale, tuple(added), unidirectional))
    if not any(call.used_outputs[1:]):
        return [y]
    return [y, call.builder.stacked([k, v], 0)]


def multi_head_attention(
    call: OperatorCall,
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    bias: Value | None = None,
    mask: Value | None = None,
    attention_bias: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    past_sequence_length: Value | None = None,
    cache_indirection: Value | None = None,
    *,
    num_heads: int,
    unidirectional: bool = False,
    scale: float = 0.0,
    mask_filter_value: float = LEFT_OUT,
) -> Sequence[Known]:
    """Queries, keys and values apart, [batch, length, width], or packed as [.., heads, 3 (or 2),
    size]; keys and values may come in heads already, [batch, heads, length, size].
    """
    _refuse(call, past_sequence_length=past_sequence_length, cache_indirection=cache_indirection)
    given = [p for p in (query, key, value) if p is not None]
    parts = [part for p in given for part in _unpacked(call, p)]
    if len(parts) != 3:
        call.reject(f"it has {len(parts)} of query, key and value")
    low: Extent = 0
    for i, part in enumerate(parts):
        if part.rank == 4:
            continue
        width = part.extents[2]
        if bias is not None:
            part = call.emit("add", part, call.cut(bias, 0, low, low + width))
        parts[i] = split_heads(call, part, num_heads)
        low += width
    pasts = map(_some, (past_key, past_value))
    q, (k, v) = parts[0], (_after(call, p, x) for p, x in zip(pasts, parts[1:], strict=True))
    added = [] if attention_bias is None else [attention_bias]
    if mask is not None:
        added.append(mask_of(call, mask, q, k.extents[2], mask_filter_value))
    y, scores = attend(call, q, k, v, Scores(scale, tuple(added), unidirectional))
    return [y, k, v, scores]


def _unpacked(call: OperatorCall, x: Value) -> list[Value]:
    """[batch, length, heads, parts, size] → the parts, [batch, length, heads · size]."""
    if x.rank != 5:
        return [x]
    batch, length, heads, count, size = x.extents
    parts = (call.builder.take(x, i, 3) for i in range(number(count, x.name)))
    return [call.builder.reshape(p, (batch, length, heads * size)) for p in parts]


def rotary_embedding(
    call: OperatorCall,
    x: Value,
    positions: Value,
    cos: Value,
    sin: Value,
    *,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    interleaved: bool = False,
    is_packed_batching: bool = False,
    scale: float = 1.0,
) -> Value:
    """Of [batch, length, heads · size] or [batch, heads, length, size]; one position is that of
    the first element of every sequence.
    """
    _refuse(call, is_packed_batching=is_packed_batching)
    if scale != 1.0:
        call.reject(f"scale {scale} is not supported")
    heads = x
    if x.rank == 3:
        width = number(x.extents[2], x.name)
        size = width // num_heads if rotary_embedding_dim else 2 * cos.shape[1]
        heads = split_heads(call, x, width // size)
    if not positions.varies and positions.elements == 1:
        steps = call.steps(heads.extents[2], positions)
        positions = call.emit("add", call.builder.reshape(positions, (1, 1)), steps)
    turned = rotated(call, heads, positions, cos, sin, interleaved)
    if x.rank == 4:
        return turned
    return call.builder.reshape(call.builder.transpose(turned, (0, 2, 1, 3)), x.extents)


def rotated(
    call: OperatorCall, x: Value, positions: Value, cos: Value, sin: Value, interleaved: bool
) -> Value:
    """`x` [batch, heads, length, size], turned pair by pair by the angles at `positions` [batch or
    1, length] of tables [most, pairs]. Pairs are neighbours if `interleaved`, else they lie half of
    what is turned apart; elements beyond twice the pairs stay as they are.
    """
    batch, heads, length, size = x.extents
    pairs, reshape = cos.shape[1], call.builder.reshape
    call.check_indices(positions, cos.shape[:1], cos)
    at = (positions.extents[0], 1, length, pairs)
    c, s = (reshape(call.emit("gather", t, positions, axis=0), at) for t in (cos, sin))
    part = call.cut(x, 3, 0, 2 * pairs)
    if interleaved:
        part = reshape(part, (batch, heads, length, pairs, 2))
        a, b = (call.builder.take(part, i, 4) for i in (0, 1))
    else:
        a, b = (call.cut(part, 3, low, low + pairs) for low in (0, pairs))

    def product(u: Value, v: Value) -> Value:
        return call.emit("multiply", u, v)

    first = call.emit("subtract", product(a, c), product(b, s))
    second = call.emit("add", product(a, s), product(b, c))
    if interleaved:
        whole = call.builder.stacked([first, second], 4)
        whole = reshape(whole, (batch, heads, length, 2 * pairs))
    else:
        whole = call.joined([first, second], 3)
    rest = [call.cut(x, 3, 2 * pairs, size)] if size > 2 * pairs else []
    return call.joined([whole, *rest], 3)


def group_query_attention(
    call: OperatorCall,
    query: Value,
    key: Value | None = None,
    value: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    lengths: Value | None = None,
    total_length: Value | None = None,
    cos: Value | None = None,
    sin: Value | None = None,
    positions: Value | None = None,
    attention_bias: Value | None = None,
    head_sink: Value | None = None,
    k_scale: Value | None = None,
    v_scale: Value | None = None,
    q_norm_weight: Value | None = None,
    k_norm_weight: Value | None = None,
    *,
    num_heads: int,
    kv_num_heads: int,
    scale: float = 0.0,
    softcap: float = 0.0,
    do_rotary: bool = False,
    rotary_interleaved: bool = False,
    local_window_size: int = -1,
    smooth_softmax: int = 0,
    causal: bool = True,
) -> Sequence[Known]:
    """Causal attention over the elements of this call, after those of earlier ones.

    Of sequences that are shorter than the others, the results behind their ends mean nothing. With
    earlier calls they have to be equally long, all that there is of them: others end the run.
    """
    _refuse(
        call, k_scale=k_scale, v_scale=v_scale, q_norm_weight=q_norm_weight,
        k_norm_weight=k_norm_weight,
    )  # fmt: skip
    pasts, there = [_some(past_key), _some(past_value)], None
    if pasts[0] is not None:
        total = canonical(add(pasts[0].extents[2], query.extents[1]))
        _check_total(call, total_length, total)
        there = _checked_ends(call, lengths, query.extents[0], total)
    call.only_output(3)
    if key is None or value is None:
        size = query.extents[2] // (num_heads + 2 * kv_num_heads)
        ends = np.cumsum([0, num_heads * size, kv_num_heads * size, kv_num_heads * size]).tolist()
        parts = [call.cut(query, 2, low, high) for low, high in pairwise(ends)]
    else:
        parts = [query, key, value]
    counts = (num_heads, kv_num_heads, kv_num_heads)
    q, k, v = (split_heads(call, p, n) for p, n in zip(parts, counts, strict=True))
    if do_rotary:
        if cos is None or sin is None:
            call.reject("its cos_cache or sin_cache is missing")
        if positions is None:
            positions, there = _places(call, q.extents[2], cos, there), None
        q, k = (rotated(call, x, positions, cos, sin, rotary_interleaved) for x in (q, k))
    k, v = (_after(call, past, x) for past, x in zip(pasts, (k, v), strict=True))
    sink = head_sink
    if sink is None and smooth_softmax > 0:
        sink = call.literal(np.zeros(num_heads), q)
    added = [] if attention_bias is None else [attention_bias]
    if there is not None:  # what is checked has to be read
        added.append(mask_of(call, there, q, k.extents[2], LEFT_OUT))
    how = Scores(scale, tuple(added), causal, local_window_size, softcap, sink)
    return [attend(call, q, k, v, how)[0], k, v]


def _check_total(call: OperatorCall, total: Value | None, wanted: Extent) -> None:
    """Refuse a total length, as far as it is known, that is not that of past and new elements."""
    if total is None or not (total.is_constant or call.depends(total)):
        return
    (found,) = call.extents(total, "total_sequence_length")
    if canonical(found) != wanted:
        said = f"its total_sequence_length is {extent_text(found)}, and past and new elements are "
        raise Unequal(f"{said}{extent_text(wanted)}", found, wanted)


def _checked_ends(call: OperatorCall, lengths: Value | None, batch: Extent, total: Extent) -> Value:
    """How many elements each sequence has [batch], int64: `total`, or the run ends."""
    if lengths is None:
        call.reject("its seqlens_k is missing")
    last = call.builder.checked(lengths, canonical(sub(total, 1)), f"{call.op_type}: {LENGTHS}")
    flat = call.builder.reshape(call.cast(last, "int64"), (batch,))
    return call.emit("add", flat, call.literal(1, flat))


def _places(call: OperatorCall, queries: Extent, cos: Value, ends: Value | None) -> Value:
    """The positions of the elements of this call [batch or 1, length]: those from 0 on, or the last
    ones of so many.
    """
    steps = call.steps(queries, rows=cos)
    if ends is None:
        return call.builder.reshape(steps, (1, queries))
    first = call.emit("subtract", ends, call.number_of(queries))
    return call.emit("add", call.builder.reshape(first, (*first.extents, 1)), steps)

"""Products with weights of few bits whose activations are rounded to bytes, where that is allowed.

    packed_dense(x, words, scale)   →   q = byte_words(x, step)
                                        byte_dense(q, step, byte_totals(q), scale, *words)

A step is a 127th of the largest of CHUNK elements. A model may allow it (`accuracy_level`), and a
user may (`math="int8"`).
"""

from __future__ import annotations

import numpy as np

from tilewright.graph.builder import GraphBuilder, Rewriter
from tilewright.graph.ir import Array, Graph, Value

CHUNK = 32
"""Numbers of a sum in int32: it is exact as a float32."""

WORD = 32  # bits


def rounded(graph: Graph) -> Graph:
    """`graph` with such products where weights are constant."""
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        result = None
        if node.op == "packed_dense":
            x, words, scale, *zeros = rewriter.operands(node)
            zero = zeros[0].constant if zeros else None
            if words.constant is not None and (zero is not None or not zeros):
                bits, signed = node.attributes["bits"], bool(node.attributes["signed"])
                assert isinstance(bits, int), "it is a number"
                known = words.constant, scale, zero, bits, signed
                result = byte_product(rewriter.builder, x, *known)
        if result is None:
            rewriter.keep(node)
        else:
            rewriter.replace(node.output, result)
    return rewriter.finish()


def byte_product(
    b: GraphBuilder,
    x: Value,
    words: Array,
    scale: Value,
    zero: Array | None,
    bits: int,
    signed: bool,
) -> Value | None:
    """What `packed_dense` gives of these operands, but for the rounding of `x`; None where blocks
    of weights are no whole chunks of words.
    """
    octets = np.ascontiguousarray(words).view(np.uint8)
    columns, blocks, size = octets.shape
    length = size * 8 // bits
    if size * 8 % WORD or (length > CHUNK and length % CHUNK):
        return None
    middle = 1 << (bits - 1)
    lowest = np.full((columns, blocks), middle if signed else 0)
    if signed:  # the highest bit of each number turned, all are unsigned
        octets = octets ^ np.uint8(sum(middle << i for i in range(0, 8, bits)))
    if zero is not None:
        lowest = lowest + zero
    chunk = min(length, CHUNK)
    turned = in_turns(octets.view("<u4"), bits).reshape(columns, blocks, -1, chunk * bits // WORD)
    listed = [np.ascontiguousarray(turned[..., v]) for v in range(turned.shape[-1])]
    kind, given = x.dtype, x if x.dtype == "float32" else b.emit("cast_to", x, dtype="float32")
    whole = b.reshape(given, (*x.extents[:-1], blocks * turned.shape[2], chunk))
    largest = b.emit("absolute", whole)
    largest = b.emit("reduce_max", largest, axes=(whole.rank - 1,), keepdims=False)
    step = b.emit("multiply", largest, b.constant("step", np.array(1 / 127, np.float32)))
    q = b.emit("byte_words", given, step)
    zeros = [] if (lowest == middle).all() else [_table(lowest)]
    tables = [b.constant("words", array) for array in (*listed, *zeros)]
    operands = (q, step, b.emit("byte_totals", q), scale, *tables)
    y = b.emit("byte_dense", *operands, bits=bits, middle=middle)
    return y if kind == "float32" else b.emit("cast_to", y, dtype=kind)


def _table(zeros: Array) -> Array:
    """Zero points in few bytes."""
    if zeros.dtype.kind == "f":
        return zeros.astype(np.float32)
    narrow = np.int8 if zeros.min() >= -128 and zeros.max() < 128 else np.int32
    return zeros.astype(np.uint8 if zeros.min() >= 0 and zeros.max() < 256 else narrow)


def in_turns(words: Array, bits: int) -> Array:
    """Numbers in words of 32 bits, the first in the lowest bits, such that the lowest of each byte
    are the first four of them, those above these the next four.
    """
    found = np.zeros_like(words)
    for k in range(WORD // bits):
        number = (words >> np.uint32(k * bits)) & np.uint32((1 << bits) - 1)
        found |= number << np.uint32(8 * (k % 4) + bits * (k // 4))
    return found

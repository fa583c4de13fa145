"""Products of activations that are rounded to bytes by weights of few bits, in whole sums.

    q = byte_words(x, step)             x / step, rounded, four to a word
    t = byte_totals(q)                  their sums
    y = byte_dense(q, step, t, words, scale, bits=4)

Each chunk of a row has a step of its own. Numbers of a chunk are multiplied as bytes and added up in
int32, and their sum is scaled once: that is what accuracy_level 4 of ONNX's MatMulNBits allows.
"""

from __future__ import annotations

from typing import Any

from tilewright.expr.dtypes import FLOAT32, INT32
from tilewright.expr.nodes import Expr, Tensor, call, cast, const, select
from tilewright.expr.operators.shapes import number, numbers, with_axes
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ExprError

WORD = 4  # bytes
BYTE = 8  # bits
ONES = 0x01010101


def byte_words(x: Tensor, step: Tensor, *, name: str = "byte_words") -> Tensor:
    """`x` [..., k] over `step` [..., chunks], rounded to signed bytes, in int32 words of four
    [..., chunks, words]; 0 where a step is 0. No element is more than 127.5 steps.

    Raises ExprError for a k that is not so many chunks of whole words.
    """
    chunks, depth = number(step.shape[-1], name), number(x.shape[-1], name)
    words, rest = divmod(depth, chunks * WORD)
    if rest or x.shape[:-1] != step.shape[:-1]:
        raise ExprError(f"{name}: {x.shape} is not {step.shape} chunks of words")

    def body(*index: Any) -> Expr:
        *rows, chunk, word = index
        size = cast(FLOAT32, step[(*rows, chunk)])
        found: Any = None
        for n in range(WORD):
            value = cast(FLOAT32, x[(*rows, (chunk * words + word) * WORD + n)])
            steps = select(size > 0, value / size, const(0.0, FLOAT32))
            whole = call("bitand", cast(INT32, call("round", steps)), 255)
            placed = call("shl", whole, BYTE * n)
            found = placed if found is None else call("bitor", found, placed)
        return found

    return compute((*step.shape, words), body, name=name, dtype=INT32)


def byte_totals(q: Tensor, *, name: str = "byte_totals") -> Tensor:
    """The sums of the signed bytes in words [..., words], int32."""
    word = reduce_axis(q.shape[-1], "word")
    zero, ones = const(0, INT32), const(ONES, INT32)

    def body(*index: Any) -> Expr:
        return sum_over(call("dot4", zero, ones, q[(*index, word)]), word)

    return compute(q.shape[:-1], body, name=name, dtype=INT32)


def byte_dense(
    q: Tensor,
    step: Tensor,
    total: Tensor,
    words: Tensor,
    scale: Tensor,
    zero: Tensor | None = None,
    *,
    bits: int,
    middle: int = 0,
    name: str = "byte_dense",
) -> Tensor:
    """Bytes `q` [..., chunks, w], their `step` and `total` [..., chunks], times weights of `bits`
    bits, (n - zero) * scale; `zero` is `middle` where there is no table of them.

    `words` [columns, chunks, v], uint32, hold the unsigned numbers n of a column: the lowest bits of
    the four bytes of a word are the first four, the bits above those the next four. `scale` and
    `zero` are [columns, blocks], of as many chunks each. Raises ExprError for shapes that do not fit.
    """
    columns, chunks, length = numbers(words.shape, name)
    blocks, pieces = number(scale.shape[-1], name), BYTE // bits
    *outer, own, count = q.shape
    tables = [t.shape for t in (scale, zero) if t is not None]
    each, rest = divmod(chunks, blocks)
    fits = (own, count) == (chunks, length * pieces) and not rest
    if words.dtype.name != "uint32" or not fits or any(t != (columns, blocks) for t in tables):
        raise ExprError(f"{name}: {q.shape} times {words}, scaled by {tables}, do not fit")
    block, part = reduce_axis(blocks, "block"), reduce_axis(each, "part")
    mask = ((1 << bits) - 1) * ONES

    def body(*index: Any) -> Expr:
        *rows, j = index
        chunk = block * each + part
        found: Expr = const(0, INT32)
        for v in range(length):
            word = words[j, chunk, v]
            for p in range(pieces):
                numbers_of = call("shr", word, p * bits) if p else word
                numbers_of = call("bitand", numbers_of, mask) if pieces > 1 else numbers_of
                byte = q[(*rows, chunk, v * pieces + p)]
                found = call("dot4", found, cast(INT32, numbers_of), byte)
        lowest: Any = float(middle) if zero is None else cast(FLOAT32, zero[j, block])
        real = cast(FLOAT32, found) - lowest * cast(FLOAT32, total[(*rows, chunk)])
        each_step = cast(FLOAT32, step[(*rows, chunk)])
        return sum_over(real * cast(FLOAT32, scale[j, block]) * each_step, (block, part))

    names = ["i"] if len(outer) == 1 else [f"i{d}" for d in range(len(outer))]
    shape = (*outer, columns)
    return compute(shape, with_axes([*names, "j"], body), name=name, dtype=FLOAT32)

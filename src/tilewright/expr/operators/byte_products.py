"""Products of activations that are rounded to bytes by weights of few bits, in whole sums.

    q = byte_words(x, step)             x / step, rounded, four to a word
    t = byte_totals(q)                  their sums
    y = byte_dense(q, step, t, scale, *words, bits=4, middle=8)

Each chunk of a row has a step of its own. Numbers of a chunk are multiplied as bytes and added up
in int32, and their sum is scaled once: that is what accuracy_level 4 of ONNX's MatMulNBits allows.
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
        found: Expr = const(0, INT32)
        for n in reversed(range(WORD)):
            value = cast(FLOAT32, x[(*rows, (chunk * words + word) * WORD + n)])
            steps = select(size > 0, value / size, const(0.0, FLOAT32))
            whole = call("bitand", cast(INT32, call("round", steps)), 255)
            found = call("bitor", call("shl", found, BYTE), whole) if n < WORD - 1 else whole
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
    scale: Tensor,
    *tables: Tensor,
    bits: int,
    middle: int = 0,
    name: str = "byte_dense",
) -> Tensor:
    """Bytes `q` [..., chunks, w], their `step` and `total` [..., chunks], times weights of `bits`
    bits, (n - zero) * scale, all [columns, blocks, ...] of as many chunks each.

    `tables` are first the words of a chunk, one after the other, uint32 [columns, blocks, chunks of
    a block], so that each has a layout of its own: the lowest bits of the four bytes of a word are
    the first four unsigned numbers n, the bits above those the next four. Then, if there is one
    more, zero [columns, blocks], else that is `middle`. Raises ExprError for what does not fit.
    """
    *outer, chunks, count = q.shape
    pieces = BYTE // bits
    length = number(count, name) // pieces
    words, zeros = tables[:length], tables[length:]
    columns, blocks = numbers(scale.shape, name)
    each = number(chunks, name) // blocks
    whole = len(words) == length and all(w.shape == (columns, blocks, each) for w in words)
    alike = len(zeros) < 2 and all(z.shape == scale.shape for z in zeros)
    if not whole or not alike or any(w.dtype.name != "uint32" for w in words):
        shapes = [t.shape for t in (scale, *tables)]
        raise ExprError(f"{name}: {q.shape} bytes and {shapes} do not fit")
    block, part = reduce_axis(blocks, "block"), reduce_axis(each, "part")
    mask = ((1 << bits) - 1) * ONES

    def body(*index: Any) -> Expr:
        *rows, j = index
        chunk = (*rows, block * each + part)
        found: Expr = const(0, INT32)
        for v, table in enumerate(words):
            word = table[j, block, part]
            for p in range(pieces):
                shifted = call("shr", word, p * bits) if p else word
                four = call("bitand", shifted, mask) if pieces > 1 else shifted
                found = call("dot4", found, cast(INT32, four), q[(*chunk, v * pieces + p)])
        lowest: Any = cast(FLOAT32, zeros[0][j, block]) if zeros else float(middle)
        real = cast(FLOAT32, found) - lowest * cast(FLOAT32, total[chunk])
        return sum_over(
            real * cast(FLOAT32, scale[j, block]) * cast(FLOAT32, step[chunk]), (block, part)
        )

    names = ["i"] if len(outer) == 1 else [f"i{d}" for d in range(len(outer))]
    shape = (*outer, columns)
    return compute(shape, with_axes([*names, "j"], body), name=name, dtype=FLOAT32)

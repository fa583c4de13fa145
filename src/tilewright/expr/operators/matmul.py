"""Matrix products: one reduction stage, then the bias where there is one.

    matmul(a, b)            [m, k] x [k, n] -> [m, n]
    batch_matmul(a, b)      [..., m, k] x [..., k, n] -> [..., m, n], batches broadcast
    dense(x, w, bias)       [..., k] x [k, n] + [n] -> [..., n]
    packed_dense(x, w, s)   [..., k] x [n, blocks, words] -> [..., n], weights of few bits

Products of narrow integers are summed in int32, which is the result's dtype.
"""

from __future__ import annotations

from typing import Any

from tilewright.expr.dtypes import DTYPES, FLOAT32
from tilewright.expr.index.extents import product
from tilewright.expr.nodes import Expr, Extent, Tensor, as_expr, call, cast
from tilewright.expr.operators.shapes import (
    Unequal,
    accumulated,
    broadcast_read,
    broadcast_shapes,
    numbers,
    sum_dtype,
    with_axes,
)
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.expr.text import extent_text, shape_text
from tilewright.ground.errors import ExprError


def matmul(
    a: Tensor,
    b: Tensor,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    name: str = "matmul",
) -> Tensor:
    """`a @ b` of two matrices; `transpose_a` says that `a` is stored [k, m], `b` as [n, k].

    Raises ExprError when an operand is not a matrix or the reduced extents differ.
    """
    if a.rank != 2 or b.rank != 2:
        raise ExprError(f"{name}: matmul needs two matrices, got {a.shape} and {b.shape}")
    return batch_matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=name)


def batch_matmul(
    a: Tensor,
    b: Tensor,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    dtype: str | None = None,
    name: str = "batch_matmul",
) -> Tensor:
    """`a @ b` over leading batch dimensions, which broadcast as NumPy's do.

    `transpose_a` says that `a` is stored [..., k, m], `transpose_b` that `b` is [..., n, k]; the
    sums are stored as `dtype`.
    Raises ExprError when an operand has no matrix or the reduced extents differ.
    """
    if a.rank < 2 or b.rank < 2:
        raise ExprError(f"{name}: batch_matmul needs matrices, got {a.shape} and {b.shape}")
    (*batch_a, rows, depth), (*batch_b, depth_b, columns) = a.shape, b.shape
    if transpose_a:
        rows, depth = depth, rows
    if transpose_b:
        depth_b, columns = columns, depth_b
    if depth != depth_b:
        raise _depths(name, a, b, depth, depth_b)
    batch = broadcast_shapes(tuple(batch_a), tuple(batch_b))
    k = reduce_axis(depth, "k")

    def body(*index: Any) -> Expr:
        *outer, i, j = index
        left = broadcast_read(a, [*outer, *((k, i) if transpose_a else (i, k))])
        right = broadcast_read(b, [*outer, *((j, k) if transpose_b else (k, j))])
        return sum_over(accumulated(left) * accumulated(right), k)

    names = [f"b{d}" for d in range(len(batch))] if len(batch) > 1 else ["b"] * len(batch)
    shape = (*batch, rows, columns)
    kind = sum_dtype(a, b, wanted=dtype)
    return compute(shape, with_axes([*names, "i", "j"], body), name=name, dtype=kind)


def _depths(name: str, a: Tensor, b: Tensor, depth: Extent, other: Extent) -> Unequal:
    shapes = f"{shape_text(a.shape)} and {shape_text(b.shape)}"
    over = f"{extent_text(depth)} and {extent_text(other)}"
    return Unequal(f"{name}: {shapes} reduce over {over}", depth, other)


def dense(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    transpose_w: bool = False,
    dtype: str | None = None,
    name: str = "dense",
) -> Tensor:
    """`x @ w + bias` over the last dimension of `x`, stored as `dtype`; `transpose_w` says `w` is
    stored [n, k].

    Raises ExprError when the reduced extents differ or `bias` is not [n].
    """
    if w.rank != 2 or x.rank < 1:
        raise ExprError(f"{name}: dense needs [..., k] and a matrix, got {x.shape} and {w.shape}")
    *outer, depth = x.shape
    columns, depth_w = w.shape if transpose_w else w.shape[::-1]
    if depth != depth_w:
        raise _depths(name, x, w, depth, depth_w)
    k = reduce_axis(depth, "k")

    def body(*index: Any) -> Expr:
        *rows, j = index
        weight = w[j, k] if transpose_w else w[k, j]
        return sum_over(accumulated(x[(*rows, k)]) * accumulated(weight), k)

    names = ["i"] if len(outer) == 1 else [f"i{d}" for d in range(len(outer))]
    y = compute(
        (*outer, columns),
        with_axes([*names, "j"], body),
        name=name if bias is None else f"{name}_sum",
        dtype=sum_dtype(x, w, wanted=dtype),
    )
    return y if bias is None else add_bias(y, bias, name=name)


MANY_ROWS = 4
"""Rows from which on weights are scaled, once for a tile of them; of fewer, the sums of words."""


def packed_dense(
    x: Tensor,
    words: Tensor,
    scale: Tensor,
    zero: Tensor | None = None,
    *,
    bits: int,
    signed: bool,
    name: str = "packed_dense",
) -> Tensor:
    """`x` [..., k] times weights of `bits` bits, (q - zero) * scale, summed in float32.

    `words` [n, blocks, w] are unsigned integers that hold the numbers q of a column one after the
    other, the first in the lowest bits; a block of them has one `scale` [n, blocks] and one `zero`.
    Raises ExprError when words hold no whole number of q, or not k of them.
    """
    columns, blocks, length = numbers(words.shape, name)
    *outer, depth = x.shape
    per, rest = divmod(words.dtype.bits, bits)
    tables = [t.shape for t in (scale, zero) if t is not None]
    if words.dtype.kind != "uint" or rest or any(t != (columns, blocks) for t in tables):
        raise ExprError(f"{name}: {words} and {tables} are no weights of {bits} bits in blocks")
    if depth != blocks * length * per:
        raise ExprError(f"{name}: {x.shape} and {blocks} blocks of {length * per} do not fit")
    kind = DTYPES[f"{'int' if signed else 'uint'}{words.dtype.bits}"]
    block, word = reduce_axis(blocks, "block"), reduce_axis(length, "word")
    above = words.dtype.bits - bits
    over, pieces = [block, word], list[Any](range(per))
    rows = product(outer)
    many = per == 1 or not isinstance(rows, int) or rows >= MANY_ROWS
    if many:
        over.append(reduce_axis(per, "piece"))
        pieces = over[2:]

    def number(j: Any, piece: Any) -> Expr:
        q: Expr = words[j, block, word]
        low = cast(q.dtype, as_expr(piece * bits))
        if above and signed:
            q = call("shr", cast(kind, call("shl", q, above - low)), above)
        elif above:
            q = call("bitand", call("shr", q, low), (1 << bits) - 1)
        real = cast(FLOAT32, cast(kind, q))
        return real if zero is None else real - cast(FLOAT32, zero[j, block])

    def body(*index: Any) -> Expr:
        *rows, j = index

        def factor(piece: Any) -> Expr:
            return cast(FLOAT32, x[(*rows, (block * length + word) * per + piece)])

        each = cast(FLOAT32, scale[j, block])
        if many:
            return sum_over(factor(pieces[0]) * (number(j, pieces[0]) * each), over)
        total = factor(0) * number(j, 0)
        for piece in pieces[1:]:
            total = call("fma", factor(piece), number(j, piece), total)
        return sum_over(total * each, over)

    names = ["i"] if len(outer) == 1 else [f"i{d}" for d in range(len(outer))]
    return compute((*outer, columns), with_axes([*names, "j"], body), name=name, dtype=x.dtype)


def add_bias(x: Tensor, bias: Tensor, *, name: str) -> Tensor:
    """`x + bias` along the last dimension.

    Raises ExprError when `bias` is not one value per last index.
    """
    if bias.shape != x.shape[-1:]:
        raise ExprError(f"{name}: the bias has shape {bias.shape}, not {x.shape[-1:]}")

    def body(*index: Any) -> Expr:
        return x[index] + cast(x.dtype, bias[index[-1]])

    source = x.source
    names = [a.name for a in getattr(source, "axes", ())]
    return compute(x.shape, with_axes(names, body), name=name, dtype=x.dtype)

"""Winograd convolution F(m x m, 3 x 3), m = 2 or 4 (Lavin and Gray, 2015), channels last.

    conv2d_winograd(x, w, padding=1)            w: [3, 3, c, o], transformed in a stage
    conv2d_winograd_transformed(x, u)           u: [m + 2, m + 2, c, o], transformed before

Stages: pad, pack tiles, transform the data (Bᵀ d B), one matrix product for each of the (m + 2)²
positions, transform back (Aᵀ y A), unpack. The matrices are tables: part of the math.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.errors import ExprError
from tilewright.expr.nodes import Expr, Tensor
from tilewright.expr.operators.convolution import pad_spatial
from tilewright.expr.operators.matmul import add_bias
from tilewright.expr.operators.shapes import Padding, extents, padding_pairs, with_axes
from tilewright.expr.tensors import compute, reduce_axis, table
from tilewright.expr.tensors import sum as sum_over
from tilewright.expr.winograd import MATRICES, TAPS, Matrices


def conv2d_winograd(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    padding: Padding = 0,
    tile: int = 4,
    name: str = "winograd",
) -> Tensor:
    """`conv2d(x, w)` of stride 1 with a 3 x 3 kernel by Winograd's algorithm.

    `tile` (2 or 4) is the output tile's side; 4 needs fewer products and loses about two digits
    more. Raises ExprError for another kernel, tile or dtype.
    """
    u = winograd_weights(w, tile=tile, name=f"{name}_weights")
    return conv2d_winograd_transformed(x, u, bias, padding=padding, tile=tile, name=name)


def winograd_weights(w: Tensor, *, tile: int = 4, name: str = "winograd_weights") -> Tensor:
    """G w Gᵀ for every pair of channels: [3, 3, c, o] -> [tile + 2, tile + 2, c, o]."""
    matrices = _matrices(tile, name)
    if w.rank != 4 or extents(w)[:2] != (TAPS, TAPS) or not w.dtype.is_float:
        raise ExprError(f"{name}: needs float weights [3, 3, c, o], got {w.dtype} {w.shape}")
    g = _table(matrices.kernel, w, f"{name}_g")
    rows, columns = reduce_axis(TAPS, "rh"), reduce_axis(TAPS, "rw")

    def body(a: Any, b: Any, c: Any, o: Any) -> Expr:
        product = w[rows, columns, c, o] * g[a, rows] * g[b, columns]
        return sum_over(product, (rows, columns))

    return compute((tile + 2, tile + 2, *extents(w)[2:]), body, name=name, dtype=w.dtype)


def conv2d_winograd_transformed(
    x: Tensor,
    u: Tensor,
    bias: Tensor | None = None,
    *,
    padding: Padding = 0,
    tile: int = 4,
    name: str = "winograd",
) -> Tensor:
    """`conv2d_winograd` with weights that `winograd_weights` has already transformed."""
    matrices = _matrices(tile, name)
    side = tile + TAPS - 1
    if x.rank != 4 or u.rank != 4 or extents(u)[:3] != (side, side, extents(x)[3]):
        raise ExprError(f"{name}: input {x.shape} and transformed weights {u.shape} do not fit")
    batch, height, width, channels = extents(x)
    (top, bottom), (left, right) = padding_pairs(padding, 2)
    out = (height + top + bottom - TAPS + 1, width + left + right - TAPS + 1)
    if min(out) < 1:
        raise ExprError(f"{name}: a 3 x 3 kernel does not fit {x.shape} padded by {padding!r}")
    down, across = -(-out[0] // tile), -(-out[1] // tile)
    # The last tiles may reach past the output; the padding gives them data to read.
    pads = (
        (top, bottom + down * tile - out[0]),
        (left, right + across * tile - out[1]),
    )
    padded = pad_spatial(x, pads, name=f"{name}_pad")

    def pack(a: Any, b: Any, p: Any, c: Any) -> Expr:
        row, column = (p // across) % down, p % across
        return padded[p // (down * across), row * tile + a, column * tile + b, c]

    tiles = (side, side, batch * down * across, channels)
    packed = compute(tiles, pack, name=f"{name}_tiles", dtype=x.dtype)
    products = _batched_product(packed, u, matrices, name)
    inverse = _transform(products, _table(matrices.inverse, x, f"{name}_a"), f"{name}_inverse")

    def unpack(n: Any, h: Any, w: Any, c: Any) -> Expr:
        at = (n * down + h // tile) * across + w // tile
        return inverse[h % tile, w % tile, at, c]

    unpacked = name if bias is None else f"{name}_unpack"
    y = compute((batch, *out, extents(u)[3]), unpack, name=unpacked, dtype=x.dtype)
    return y if bias is None else add_bias(y, bias, name=name)


def _batched_product(packed: Tensor, u: Tensor, matrices: Matrices, name: str) -> Tensor:
    """Σ over channels of the transformed tiles and weights, one matrix product a position."""
    data = _transform(packed, _table(matrices.data, packed, f"{name}_b"), f"{name}_data")
    side, _, tiles, channels = extents(data)
    k = reduce_axis(channels, "rc")
    shape = (side, side, tiles, extents(u)[3])

    def body(a: Any, b: Any, p: Any, o: Any) -> Expr:
        return sum_over(data[a, b, p, k] * u[a, b, k, o], k)

    return compute(shape, body, name=f"{name}_product", dtype=data.dtype)


def _transform(x: Tensor, matrix: Tensor, name: str) -> Tensor:
    """Mᵀ x M over the first two dimensions of `x`."""
    inner, outer = extents(matrix)
    rows, columns = reduce_axis(inner, "ra"), reduce_axis(inner, "rb")

    def body(a: Any, b: Any, p: Any, c: Any) -> Expr:
        product = x[rows, columns, p, c] * matrix[rows, a] * matrix[columns, b]
        return sum_over(product, (rows, columns))

    shape = (outer, outer, *extents(x)[2:])
    return compute(shape, with_axes(("a", "b", "p", "c"), body), name=name, dtype=x.dtype)


def _table(matrix: np.ndarray[Any, Any], like: Tensor, name: str) -> Tensor:
    return table(matrix.astype(like.dtype.compute.numpy), name=name)


def _matrices(tile: int, name: str) -> Matrices:
    if tile not in MATRICES:
        raise ExprError(f"{name}: tile {tile}; Winograd tables exist for {sorted(MATRICES)}")
    return MATRICES[tile]
